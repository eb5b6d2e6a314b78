#include "hal/tty_sysfs.h"

#include <fcntl.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "hal/text.h"
#include "hal/unique_fd.h"

namespace hal {
namespace {

using Path = Text<512>;

Path attribute(const char* sysfs, const char* tty, const char* name) {
  const char* const slash = std::strrchr(tty, '/');
  return Path::of("%s/class/tty/%s/%s", sysfs, slash != nullptr ? slash + 1 : tty, name);
}

int read_number(const Path& path) {  // 0: no such attribute
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 16> text{};
  if (!fd || ::read(fd.get(), text.data(), text.size() - 1) <= 0) return 0;
  return std::atoi(text.data());
}

}  // namespace

bool is_true_uart(const char* sysfs, const char* tty) {
  // Only the serial core has this attribute; 0 is a port without hardware.
  if (read_number(attribute(sysfs, tty, "type")) <= 0) return false;
  std::array<char, PATH_MAX> device{};
  if (::realpath(attribute(sysfs, tty, "device").c_str(), device.data()) == nullptr) return false;
  return std::strstr(device.data(), "/usb") == nullptr;
}

bool is_usb_itself(const char* sysfs, const char* tty) {
  std::array<char, PATH_MAX> driver{};
  const Path link = attribute(sysfs, tty, "device/driver");
  if (::realpath(link.c_str(), driver.data()) == nullptr) return false;
  const char* const name = std::strrchr(driver.data(), '/');
  return name != nullptr && std::strcmp(name, "/cdc_acm") == 0;
}

int lower_latency_timer(const char* sysfs, const char* tty) {
  const Path path = attribute(sysfs, tty, "device/latency_timer");
  const int ms = read_number(path);
  if (ms <= 1) return ms;
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd || ::write(fd.get(), "1\n", 2) != 2) return ms;
  return read_number(path);
}

}  // namespace hal
