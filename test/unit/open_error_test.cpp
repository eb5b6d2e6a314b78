#include "hal/open_error.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "test/support/harness.h"
#include "test/support/loop.h"

using hal::Errc;
using hal::Error;

TEST_GROUP(OpenError) {
  std::string path =
      (std::filesystem::temp_directory_path() / ("lidard_open_error_" + std::to_string(::getpid())))
          .string();
  void teardown() override { std::filesystem::remove(path); }
};

TEST(OpenError, TellsADanglingLinkFromAMissingPort) {
  std::filesystem::create_symlink("../../ttyUSB7", path);
  const Error error = hal::explain_open_error(path.c_str(), path.c_str(), ENOENT);
  CHECK_TRUE(error.code == Errc::not_found);
  STRCMP_CONTAINS("dangling link to ../../ttyUSB7", error.detail.c_str());
}

TEST(OpenError, NamesOwnerGroupModeAndTheGroupToJoin) {
  std::ofstream(path).put('x');
  if (::chown(path.c_str(), 0, 20) != 0) return;  // wants root; 20 is dialout in Debian
  ::chmod(path.c_str(), 0660);
  const Error error = hal::explain_open_error("/dev/lidar0", path.c_str(), EACCES);
  CHECK_TRUE(error.code == Errc::permission);
  STRCMP_CONTAINS("/dev/lidar0: owner root, group dialout, mode 0660", error.detail.c_str());
  STRCMP_CONTAINS("add the user to group dialout", error.detail.c_str());
}

TEST(OpenError, AsksForAUdevRuleWhereNoGroupWouldHelp) {
  std::ofstream(path).put('x');
  ::chmod(path.c_str(), 0600);
  const Error error = hal::explain_open_error("/dev/lidar0", path.c_str(), EACCES);
  STRCMP_CONTAINS("mode 0600", error.detail.c_str());
  STRCMP_CONTAINS("udev rule", error.detail.c_str());
}

TEST(OpenError, TellsARefusalOfTheServiceManager) {
  std::ofstream(path).put('x');
  const Error error = hal::explain_open_error("/dev/lidar0", path.c_str(), EPERM);
  CHECK_TRUE(error.code == Errc::permission);
  STRCMP_CONTAINS("DeviceAllow", error.detail.c_str());
}

TEST(OpenError, FindsTheProcessThatHoldsADevice) {
  const test::Pty pty;
  const std::string own = "(pid " + std::to_string(::getpid()) + ")";
  STRCMP_CONTAINS(own.c_str(), hal::find_holder(pty.path.c_str()).c_str());
}

TEST(OpenError, FindsNoHolderOfAFreeDevice) {
  STRCMP_EQUAL("", hal::find_holder("/dev/lidard_no_such_port").c_str());
}

TEST(OpenError, ALongEntryHidesNoOtherOne) {
  std::ofstream(path) << "many:x:7:" << std::string(9000, 'a')
                      << ":b:20:\nempty::8:\nlast:x:20:me\n";
  STRCMP_EQUAL("many", hal::name_of(path.c_str(), 7).c_str());
  STRCMP_EQUAL("empty", hal::name_of(path.c_str(), 8).c_str());
  STRCMP_EQUAL("last", hal::name_of(path.c_str(), 20).c_str());
  STRCMP_EQUAL("21", hal::name_of(path.c_str(), 21).c_str());
}
