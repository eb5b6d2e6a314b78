#include "hal/tty_sysfs.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "hal/serial_tty.h"
#include "test/support/harness.h"

namespace fs = std::filesystem;

TEST_GROUP(TtySysfs) {
  fs::path root = fs::temp_directory_path() / ("lidard_sysfs_" + std::to_string(::getpid()));

  void teardown() override { fs::remove_all(root); }

  void device(const char* name, const char* where, const char* type) {
    fs::create_directories(root / "class/tty" / name);
    fs::create_directories(root / where);
    fs::create_directory_symlink(root / where, root / "class/tty" / name / "device");
    if (type != nullptr) std::ofstream(root / "class/tty" / name / "type") << type << '\n';
  }
  void timer(const char* where, const char* ms) {
    std::ofstream(root / where / "latency_timer") << ms << '\n';
  }
};

TEST(TtySysfs, KnowsATrueUart) {
  device("ttyAMA0", "devices/platform/soc/fe201000.serial", "32");
  CHECK_TRUE(hal::is_true_uart(root.c_str(), "/dev/ttyAMA0"));
}

TEST(TtySysfs, TakesNoUsbAdapterForAUart) {
  device("ttyUSB0", "devices/pci/usb1/1-1/1-1:1.0/ttyUSB0", nullptr);
  device("ttyS4", "devices/pci/usb1/1-2/1-2:1.0/serial", "4");
  CHECK_FALSE(hal::is_true_uart(root.c_str(), "/dev/ttyUSB0"));
  CHECK_FALSE(hal::is_true_uart(root.c_str(), "/dev/ttyS4"));
}

TEST(TtySysfs, TakesNoEmptyPortOrPtyForAUart) {
  device("ttyS1", "devices/platform/serial8250", "0");
  CHECK_FALSE(hal::is_true_uart(root.c_str(), "/dev/ttyS1"));
  CHECK_FALSE(hal::is_true_uart(root.c_str(), "/dev/pts/3"));
}

TEST(TtySysfs, KnowsADeviceThatIsUsbItself) {
  const auto driven = [&](const char* name, const char* where, const char* driver) {
    device(name, where, nullptr);
    fs::create_directories(root / driver);
    fs::create_directory_symlink(root / driver, root / where / "driver");
  };
  driven("ttyACM0", "devices/pci/usb1/1-1/1-1:1.0", "bus/usb/drivers/cdc_acm");
  driven("ttyUSB1", "devices/pci/usb1/1-2/1-2:1.0/ttyUSB1", "bus/usb-serial/drivers/ftdi_sio");
  CHECK_TRUE(hal::is_usb_itself(root.c_str(), "/dev/ttyACM0"));
  CHECK_FALSE(hal::is_usb_itself(root.c_str(), "/dev/ttyUSB1"));
  CHECK_FALSE(hal::is_usb_itself(root.c_str(), "/dev/pts/3"));
}

TEST(TtySysfs, SetsTheLatencyTimerToOneMillisecond) {
  device("ttyUSB0", "devices/usb1/ttyUSB0", nullptr);
  timer("devices/usb1/ttyUSB0", "16");
  LONGS_EQUAL(1, hal::lower_latency_timer(root.c_str(), "/dev/ttyUSB0"));
}

TEST(TtySysfs, TellsALatencyTimerThatCannotBeSet) {
  if (::geteuid() == 0) return;  // root may write anything
  device("ttyUSB0", "devices/usb1/ttyUSB0", nullptr);
  timer("devices/usb1/ttyUSB0", "16");
  fs::permissions(root / "devices/usb1/ttyUSB0/latency_timer", fs::perms::owner_read);
  LONGS_EQUAL(16, hal::lower_latency_timer(root.c_str(), "/dev/ttyUSB0"));
}

TEST(TtySysfs, NamesATimerThatCannotBeSetAndTheRemedy) {
  device("ttyUSB0", "devices/usb1/ttyUSB0", nullptr);
  // A number that even root cannot write.
  fs::create_symlink("/proc/uptime", root / "devices/usb1/ttyUSB0/latency_timer");
  hal::PortStats stats;
  hal::lower_latency(-1, root.c_str(), "/dev/ttyUSB0", stats);
  CHECK_TRUE(stats.adapter_timer_ms > 1);
  CHECK_FALSE(stats.low_latency);
  STRCMP_CONTAINS("echo 1 > /sys/bus/usb-serial/devices/ttyUSB0/latency_timer", stats.note.c_str());
}

TEST(TtySysfs, KnowsNoLatencyTimerWhereThereIsNone) {
  LONGS_EQUAL(0, hal::lower_latency_timer(root.c_str(), "/dev/ttyACM0"));
}
