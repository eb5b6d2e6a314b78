#include "app/lidarctl/serial_ports.h"

#include <filesystem>
#include <fstream>

#include "test/support/harness.h"
#include "test/support/temp_dir.h"

namespace fs = std::filesystem;
using lidarctl::SerialPort;

// A made-up /sys and /dev.
TEST_GROUP(SerialPorts) {
  test::TempDir dir;
  fs::path sys = fs::path(dir.path()) / "sys", dev = fs::path(dir.path()) / "dev";

  void setup() override {
    fs::create_directories(sys / "class/tty/console");
    fs::create_directories(dev / "serial/by-id");
    fs::create_directories(dev / "serial/by-path");
  }
  void put(const fs::path& file, const char* text) { std::ofstream(file) << text << '\n'; }
  void tty(const std::string& name, const std::string& device, const std::string& driver) {
    fs::create_directories(sys / device);
    fs::create_directories(sys / "bus/drivers" / driver);
    fs::create_directory_symlink(sys / "bus/drivers" / driver, sys / device / "driver");
    fs::create_directories(sys / "class/tty" / name);
    fs::create_directory_symlink(sys / device, sys / "class/tty" / name / "device");
    put(dev / name, "");
  }
  void usb(const std::string& name, const std::string& device, const char* serial) {
    tty(name, device + "/1-1:1.0/" + name, "cp210x");
    put(sys / device / "idVendor", "10c4");
    put(sys / device / "idProduct", "ea60");
    put(sys / device / "manufacturer", "Silicon Labs");
    put(sys / device / "product", "CP2102 USB to UART Bridge Controller");
    if (serial != nullptr) put(sys / device / "serial", serial);
  }
  std::vector<SerialPort> ports() { return lidarctl::serial_ports(sys, dev); }
};

TEST(SerialPorts, AnAdapterIsToldByWhatItSaysOfItself) {
  usb("ttyUSB0", "devices/pci0/usb1/1-1", "0001");
  const auto all = ports();
  LONGS_EQUAL(1, all.size());
  const SerialPort& p = all[0];
  CHECK_EQUAL((dev / "ttyUSB0").string(), p.path);
  STRCMP_EQUAL("cp210x", p.driver.c_str());
  STRCMP_EQUAL("10c4", p.vendor_id.c_str());
  STRCMP_EQUAL("ea60", p.product_id.c_str());
  STRCMP_EQUAL("Silicon Labs", p.vendor.c_str());
  STRCMP_EQUAL("CP2102 USB to UART Bridge Controller", p.product.c_str());
  STRCMP_EQUAL("0001", p.serial_number.c_str());
  CHECK_TRUE(p.by_id.empty() && p.other_links.empty() && p.holder.empty());
  CHECK_EQUAL(p.path, p.best_name());
}

TEST(SerialPorts, TheNameThatStaysIsTheBest) {
  usb("ttyUSB0", "devices/pci0/usb1/1-1", "0001");
  usb("ttyUSB1", "devices/pci0/usb1/1-2", nullptr);
  for (const int i : {0, 1}) {
    const std::string n = std::to_string(i);
    fs::create_symlink("../../ttyUSB" + n, dev / "serial/by-id" / ("usb-Silicon_Labs-" + n));
    fs::create_symlink("../../ttyUSB" + n, dev / "serial/by-path" / ("pci-0-usb-" + n));
  }
  auto all = ports();
  LONGS_EQUAL(2, all.size());
  CHECK_EQUAL((dev / "serial/by-id/usb-Silicon_Labs-0").string(), all[0].best_name());
  CHECK_EQUAL((dev / "serial/by-path/pci-0-usb-1").string(), all[1].best_name());  // no number
  fs::create_symlink("ttyUSB1", dev / "lidar0");
  all = ports();
  CHECK_EQUAL((dev / "lidar0").string(), all[1].best_name());
}

TEST(SerialPorts, PortsOfTheBoardAreShownWhereThereIsHardware) {
  tty("ttyAMA0", "devices/platform/soc/fe201000.serial", "uart-pl011");
  put(sys / "class/tty/ttyAMA0/type", "32");
  tty("ttyS1", "devices/platform/serial8250", "serial8250");
  put(sys / "class/tty/ttyS1/type", "0");
  const auto all = ports();
  LONGS_EQUAL(1, all.size());
  STRCMP_EQUAL("uart-pl011", all[0].driver.c_str());
  CHECK_TRUE(all[0].vendor_id.empty());
}

TEST(SerialPorts, WhoHoldsAPortIsNamed) {
  usb("ttyUSB0", "devices/pci0/usb1/1-1", "0001");
  const std::ifstream held(dev / "ttyUSB0");
  CHECK_TRUE(ports().at(0).holder.find("(pid ") != std::string::npos);
}

TEST(SerialPorts, NoSysfsIsNoPort) {
  LONGS_EQUAL(0, lidarctl::serial_ports("/nowhere", dev).size());
}
