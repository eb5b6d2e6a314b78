// Clouds of several lidars in one, as the programs see them.
#include "test/support/harness.h"
#include "test/system/bench.h"

TEST_GROUP(SystemMerged) { test::Bench bench; };

TEST(SystemMerged, MonitorAndStampsKnowTheMergedCloud) {
  const auto front = bench.simulate_pty("front", "rplidar");
  const auto rear = bench.simulate_pty("rear", "ldrobot");
  const auto daemon = bench.lidard(
      bench.configure(bench.serial("front", "rplidar") + bench.serial("rear", "ldrobot"),
                      "merged: {around: {sensors: [front, rear]}}\n"));
  const test::Ran monitor =
      bench.lidarctl({"monitor", "--socket", bench.socket(), "--for", "6", "--verify"});
  LONGS_EQUAL_TEXT(0, monitor.status, monitor.out.c_str());
  CHECK_TEXT(test::contains(monitor.out, "around"), monitor.out.c_str());
  const test::Ran stamps = bench.lidarctl({"stamps", bench.socket(), "--for", "3"});
  CHECK_TEXT(test::contains(stamps.out, "around"), stamps.out.c_str());
}
