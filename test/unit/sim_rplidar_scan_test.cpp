// How scans of the simulated RPLIDAR start and end: modes, motor, health, restarts.
#include "test/unit/sim_rplidar_bench.h"

#include <algorithm>
#include <string>

using rplidar_test::bytes;
using rplidar_test::check_bytes;
using sim::ByteVector;
using namespace std::chrono_literals;

TEST_GROUP_BASE(SimRplidarScan, rplidar_test::RplidarBench){};

TEST(SimRplidarScan, ABadHealthRefusesScansUntilReset) {
  power_up({{"health", "2"}, {"banner", "off"}});
  check_bytes({}, ask(kScan));
  check_bytes({}, ask(bytes({0xA5, 0x82, 0x05, 0, 0, 0, 0, 0, 0x22})));
  ask(kReset);
  run_for(1s);
  check_bytes(bytes({0xA5, 0x5A, 0x03, 0, 0, 0, 0x06, 0, 0, 0}), ask(kHealth));
  LONGS_EQUAL(7, ask(kScan).size());
}

TEST(SimRplidarScan, ForceScanWorksWithABadHealth) {
  power_up({{"health", "2"}});
  check_bytes(bytes({0xA5, 0x5A, 0x05, 0, 0, 0x40, 0x81}), ask(kForceScan));
}

TEST(SimRplidarScan, ExpressRequestsSelectTheirMode) {
  power_up({});
  check_bytes(bytes({0xA5, 0x5A, 0x84, 0, 0, 0x40, 0x84}),
              ask(bytes({0xA5, 0x82, 0x05, 3, 0, 0, 0, 0, 0x21})));
  ask(kStop);
  check_bytes(bytes({0xA5, 0x5A, 0x54, 0, 0, 0x40, 0x82}),
              ask(bytes({0xA5, 0x82, 0x05, 0, 0, 0, 0, 0, 0x22})));
  ask(kStop);
  check_bytes({}, ask(bytes({0xA5, 0x82, 0x05, 9, 0, 0, 0, 0, 0x2B})));
}

TEST(SimRplidarScan, LegacyExpressOfAModelWithoutItIsItsTypicalMode) {
  power_up({{"model", "S2"}});
  check_bytes(bytes({0xA5, 0x5A, 0x54, 0, 0, 0x40, 0x85}),
              ask(bytes({0xA5, 0x82, 0x05, 0, 0, 0, 0, 0, 0x22})));
}

TEST(SimRplidarScan, AScanCarriesNothingButPacketsUntilStop) {
  power_up({});
  ask(kScan);
  check_bytes({}, ask(kInfo));
  run_for(100ms);
  const std::size_t nodes = out.frames.size();
  LONGS_EQUAL(197, nodes);  // one in 508 us
  ask(kStop);
  run_for(100ms);
  LONGS_EQUAL(0, out.frames.size());
  LONGS_EQUAL(27, ask(kInfo).size());
}

TEST(SimRplidarScan, AnotherScanRequestStartsAnew) {
  power_up({});
  ask(kScan);
  run_for(10ms);
  LONGS_EQUAL(7, ask(bytes({0xA5, 0x82, 0x05, 3, 0, 0, 0, 0, 0x21})).size());
  run_for(13ms);
  LONGS_EQUAL(1, out.frames.size());
  LONGS_EQUAL(132, out.frames[0].bytes.size());
}

TEST(SimRplidarScan, AnA1PrintsItsBannerAfterResetAndIsReadyFourMillisecondsLater) {
  power_up({});
  ask(kScan);
  const hal::Time asked = now;
  ask(kReset);
  check_bytes({}, ask(kHealth));
  run_for(672ms);
  const std::string text = "RP LIDAR System.\r\nFirmware Ver 1.29 - rtm, HW Ver 7\r\nModel: 18\r\n";
  LONGS_EQUAL(1, out.frames.size());
  CHECK_TRUE(out.frames[0].at == asked + 670ms);
  LONGS_EQUAL(64, said().size());
  MEMCMP_EQUAL(text.data(), said().data(), 64);
  check_bytes({}, ask(kHealth));
  run_for(2ms);
  LONGS_EQUAL(10, ask(kHealth).size());
}

TEST(SimRplidarScan, OtherModelsRestartInSilenceUnlessTold) {
  power_up({{"model", "S2"}});
  ask(kReset);
  run_for(1s);
  LONGS_EQUAL(0, out.frames.size());
  power_up({{"model", "S2"}, {"banner", "on"}});
  run_for(1s);
  LONGS_EQUAL(1, out.frames.size());
}

TEST(SimRplidarScan, LosingPowerEndsTheScan) {
  power_up({{"streaming", "on"}});
  run_for(100ms);
  CHECK_TRUE(out.frames.size() > 5);
  out.clear();
  device->power_up(now, out);
  run_for(660ms);
  LONGS_EQUAL(0, out.frames.size());
  run_for(20ms);
  LONGS_EQUAL(64, said().size());
  LONGS_EQUAL(10, ask(kHealth).size());
}

TEST(SimRplidarScan, ADeviceFoundStreamingSendsNoDescriptorAndNoFirstFlag) {
  power_up({{"streaming", "on"}});
  run_for(13ms);
  LONGS_EQUAL(1, out.frames.size());
  LONGS_EQUAL(132, out.frames[0].bytes.size());
  LONGS_EQUAL(0, std::to_integer<int>(out.frames[0].bytes[3] >> 7));
}

TEST(SimRplidarScan, APwmMotorStandsUntilToldToTurn) {
  power_up({{"model", "A2"}});
  LONGS_EQUAL(7, ask(kScan).size());
  run_for(100ms);
  LONGS_EQUAL(0, out.frames.size());
  ask(bytes({0xA5, 0xF0, 0x02, 0x94, 0x02, 0xC1}));
  run_for(100ms);
  CHECK_TRUE(out.frames.size() > 100);
  ask(bytes({0xA5, 0xF0, 0x02, 0, 0, 0x57}));
  run_for(100ms);
  CHECK_TRUE(out.frames.size() <= 1);
}

TEST(SimRplidarScan, ForceScanSamplesWhileTheMotorStands) {
  power_up({{"model", "A2"}});
  ask(kForceScan);
  run_for(100ms);
  CHECK_TRUE(out.frames.size() > 100);
  DOUBLES_EQUAL(out.scans.front().beams[0].angle, out.scans.back().beams[0].angle, 0.0);
}

TEST(SimRplidarScan, AnRpmCommandSetsTheSpeed) {
  power_up({{"model", "S2"}});
  ask(bytes({0xA5, 0xA8, 0x02, 0x2C, 0x01, 0x22}));  // 300 rpm
  ask(kScan);
  run_for(1s);
  const auto starts = std::count_if(out.frames.begin(), out.frames.end(), [](const auto& f) {
    return (f.bytes[0] & std::byte{1}) != std::byte{};
  });
  LONGS_EQUAL(5, starts);
  ask(bytes({0xA5, 0xA8, 0x02, 0, 0, 0x0F}));
  run_for(100ms);
  CHECK_TRUE(out.frames.size() <= 1);
}

TEST(SimRplidarScan, AnAssertedDtrStopsTheMotorOfAnA1) {
  power_up({});
  ask(kScan);
  device->set_dtr(true, now);
  run_for(100ms);
  CHECK_TRUE(out.frames.size() <= 1);
  device->set_dtr(false, now);
  run_for(100ms);
  CHECK_TRUE(out.frames.size() > 100);
}

TEST(SimRplidarScan, TheFirstCapsuleAfterAStandingMotorStillCarriesTheFirstFlag) {
  power_up({{"model", "A2"}});
  ask(bytes({0xA5, 0x82, 0x05, 3, 0, 0, 0, 0, 0x21}));
  run_for(50ms);
  ask(bytes({0xA5, 0xF0, 0x02, 0x94, 0x02, 0xC1}));
  run_for(50ms);
  LONGS_EQUAL(1, std::to_integer<int>(out.frames[0].bytes[3] >> 7));
  LONGS_EQUAL(0, std::to_integer<int>(out.frames[1].bytes[3] >> 7));
}

TEST(SimRplidarScan, AnEthernetModelSendsFortyStandardNodesTogether) {
  power_up({{"model", "S2E"}});
  ask(kScan);
  run_for(9ms);
  LONGS_EQUAL(1, out.frames.size());
  LONGS_EQUAL(200, out.frames[0].bytes.size());
  LONGS_EQUAL(40, out.scans[0].beams.size());
  CHECK_TRUE(out.frames[0].at == out.scans[0].beams[39].at);
}

TEST(SimRplidarScan, AResetForgetsHalfARequest) {
  power_up({});
  ask(bytes({0xA5, 0x40, 0xA5}));
  run_for(1s);
  check_bytes({}, ask(bytes({0x52})));
  LONGS_EQUAL(10, ask(kHealth).size());
}
