#include "app/lidarctl/serial_ports.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "hal/open_error.h"
#include "hal/tty_sysfs.h"

namespace lidarctl {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string target_of(const fs::path& link) {
  std::error_code error;
  const fs::path real = fs::canonical(link, error);
  return error ? std::string() : real.string();
}

// The USB device above the interface that the port belongs to.
void describe_usb(const std::string& device, SerialPort& port) {
  for (fs::path at = device; at.has_relative_path(); at = at.parent_path()) {
    port.vendor_id = first_line(at / "idVendor");
    if (port.vendor_id.empty()) continue;
    port.product_id = first_line(at / "idProduct");
    port.vendor = first_line(at / "manufacturer");
    port.product = first_line(at / "product");
    port.serial_number = first_line(at / "serial");
    return;
  }
}

template <class OnLink>
void each_link(const fs::path& folder, OnLink&& on_link) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_symlink(error)) on_link(entry.path());
  }
}

void find_links(const fs::path& dev, SerialPort& port) {
  const std::string real = target_of(port.path);
  if (real.empty()) return;
  const auto find = [&real](const fs::path& folder, std::string& into) {
    each_link(folder, [&](const fs::path& link) {
      if (target_of(link) == real) into = link.string();
    });
  };
  find(dev / "serial/by-id", port.by_id);
  find(dev / "serial/by-path", port.by_path);
  each_link(dev, [&](const fs::path& link) {
    if (target_of(link) == real) port.other_links.push_back(link.string());
  });
  std::ranges::sort(port.other_links);
  port.holder = hal::find_holder(real.c_str()).c_str();
}

}  // namespace

const std::string& SerialPort::best_name() const {
  if (!other_links.empty()) return other_links.front();
  if (!by_id.empty() && !serial_number.empty()) return by_id;
  return !by_path.empty() ? by_path : path;
}

std::vector<SerialPort> serial_ports(const std::string& sysfs, const std::string& dev) {
  std::vector<SerialPort> ports;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(sysfs) / "class/tty", error)) {
    const std::string name = entry.path().filename(), device = target_of(entry.path() / "device");
    if (device.empty()) continue;  // a console
    SerialPort port;
    port.path = (fs::path(dev) / name).string();
    port.driver = fs::path(target_of(entry.path() / "device/driver")).filename();
    describe_usb(device, port);
    const bool is_real =
        !port.vendor_id.empty() || hal::is_true_uart(sysfs.c_str(), port.path.c_str());
    if (!is_real) continue;
    find_links(dev, port);
    ports.push_back(std::move(port));
  }
  std::ranges::sort(ports, {}, &SerialPort::path);
  return ports;
}

}  // namespace lidarctl
