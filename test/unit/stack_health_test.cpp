// What the daemon finds wrong with data, through the whole stack in simulated time.
#include <map>

#include "app/lidarctl/diagnosis.h"
#include "test/support/harness.h"
#include "test/support/message_log.h"
#include "test/support/stack_bench.h"

using namespace std::chrono_literals;
using test::MessageLog;
using test::StackBench;

TEST_GROUP(StackHealth) {
  MessageLog log{std::size_t{48} << 20};

  // Events of the kind "check", by sensor.
  std::map<std::string, std::vector<lidarctl::Diagnosis>> findings() {
    std::map<std::string, std::vector<lidarctl::Diagnosis>> all;
    for (const auto& m : log.on("/lidard/events")) {
      for (auto& [name, d] : lidarctl::diagnoses(log.bytes_of(m))) {
        if (d.values["event"] == "check") all[name].push_back(d);
      }
    }
    return all;
  }
  lidarctl::Diagnosis state(const char* sensor) {
    return lidarctl::diagnoses(log.bytes_of(log.on("/diagnostics").back())).at(sensor);
  }
};

TEST(StackHealth, SoundSensorsGiveNoFinding) {
  StackBench bench(test::demo_stack(), log);
  bench.run_for(15s);
  for (const auto& [name, events] : findings()) FAIL((name + ": " + events[0].message).c_str());
  const lidarctl::Diagnosis imu = state("imu");
  CHECK_EQUAL(0, imu.count("check.accel"));
  CHECK_TRUE(imu.values.contains("check.very_late") && imu.values.contains("check.message_gaps"));
  CHECK_TRUE(imu.level == app::Level::ok);
}

TEST(StackHealth, ASensorWhoseDataMakeNoSenseIsNamedOncePerTenSecondsAndCheck) {
  StackBench::Faults faults(4);
  faults[3] = {"wrong@3+14"};
  StackBench bench(test::demo_stack(), log, nullptr, faults);
  bench.run_for(16s);
  auto all = findings();
  CHECK_EQUAL(1, all.size());
  CHECK_TRUE(all.contains("imu"));
  std::size_t accel = 0;
  for (auto& event : all["imu"]) accel += event.values["check"] == "accel";
  CHECK_EQUAL(2, accel);  // at once, and 10 s later
  CHECK_TRUE(all["imu"][0].message.find("|accel|") != std::string::npos);
  const lidarctl::Diagnosis imu = state("imu");
  CHECK_TRUE(imu.count("check.accel") > 100);
  CHECK_TRUE(imu.level != app::Level::ok);
  CHECK_TRUE(state("rear").level == app::Level::ok);
}

TEST(StackHealth, ARateThatIsNotAskedForIsNamed) {
  StackBench::Faults faults(4);
  faults[3] = {"drop@2%30"};
  StackBench bench(test::demo_stack(), log, nullptr, faults);
  bench.run_for(13s);
  auto all = findings();
  std::size_t told = 0;
  for (auto& event : all["imu"]) {
    if (event.values["check"] != "rate") continue;
    ++told;
    STRCMP_CONTAINS(" Hz, 100 Hz were asked for", event.message.c_str());
  }
  CHECK_EQUAL(1, told);  // not with every window of 5 s
  CHECK_EQUAL(2, state("imu").count("check.rate"));
}

TEST(StackHealth, AStallIsAGapAndItsEndIsLate) {
  StackBench::Faults faults(4);
  faults[1] = {"stall@5+0.2"};
  StackBench bench(test::demo_stack(), log, nullptr, faults);
  bench.run_for(8s);
  auto all = findings();
  CHECK_TRUE(all.contains("rear"));
  CHECK_EQUAL(1, all.size());
  CHECK_TRUE(state("rear").count("check.late") > 0);
  CHECK_EQUAL(0, state("rear").count("check.gap"));  // what came late was measured in time
}

TEST_GROUP(StackHealthMemory) {
  test::AllocationCounter counter;  // outlives all that is taken
  MessageLog log{std::size_t{48} << 20};
};

TEST(StackHealthMemory, FindingsAreToldWithoutAllocating) {
  StackBench::Faults faults(4);
  faults[3] = {"wrong@3"};
  StackBench bench(test::demo_stack(), log, nullptr, faults);
  bench.run_for(2s);
  bench.counter = &counter;
  bench.run_for(4s);
  CHECK_EQUAL(0, bench.allocations);
  CHECK_TRUE(bench.account(3).checks.finding(app::Check::accel).count > 0);
}
