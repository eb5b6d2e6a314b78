#include "hal/tty_sysfs.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

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

TEST(TtySysfs, KnowsNoLatencyTimerWhereThereIsNone) {
  LONGS_EQUAL(0, hal::lower_latency_timer(root.c_str(), "/dev/ttyACM0"));
}
