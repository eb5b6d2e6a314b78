// The dialogue of the simulated RPLIDAR, request by request, in simulated time.
#include "test/support/harness.h"

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>

#include "test/sim/rplidar_model.h"

using namespace std::chrono_literals;
using sim::ByteVector;

namespace {

ByteVector bytes(std::initializer_list<unsigned> values) {
  ByteVector out;
  for (const unsigned v : values) out.push_back(static_cast<std::byte>(v));
  return out;
}

void check_bytes(const ByteVector& expected, const ByteVector& actual) {
  LONGS_EQUAL(expected.size(), actual.size());
  MEMCMP_EQUAL(expected.data(), actual.data(), expected.size());
}

const ByteVector kStop = bytes({0xA5, 0x25}), kScan = bytes({0xA5, 0x20}),
                 kForceScan = bytes({0xA5, 0x21}), kReset = bytes({0xA5, 0x40}),
                 kInfo = bytes({0xA5, 0x50}), kHealth = bytes({0xA5, 0x52});

}  // namespace

TEST_GROUP(SimRplidar) {
  sim::DeviceClock clock{1};
  std::unique_ptr<sim::DeviceModel> device;
  hal::Time now = hal::from_ns(1'000'000'000);
  sim::Output out;

  void power_up(const sim::Options& options, std::uint64_t seed = 1) {
    const auto settings = sim::Settings::check(sim::rplidar::options(), options);
    CHECK_TRUE(static_cast<bool>(settings));
    device = std::move(*sim::rplidar::make({*settings, clock, 0.0, seed}));
    clock.restart(now);
    device->power_up(now, out);
  }
  // What the device answers at once, in one piece.
  ByteVector ask(const ByteVector& request) {
    out.clear();
    device->receive(sim::Channel::data, request, now, out);
    return said();
  }
  ByteVector said() const {
    ByteVector all;
    for (const sim::Frame& f : out.frames) all.insert(all.end(), f.bytes.begin(), f.bytes.end());
    return all;
  }
  void run_for(hal::Duration d) {
    out.clear();
    const hal::Time end = now + d;
    for (hal::Time next = device->advance(now, out); next <= end;
         next = device->advance(now, out)) {
      CHECK_TRUE(next > now);
      now = next;
    }
    now = end;
  }
};

TEST(SimRplidar, AnA1SaysWhoItIs) {
  power_up({});
  const ByteVector answer = ask(kInfo);
  LONGS_EQUAL(27, answer.size());
  const ByteVector head(answer.begin(), answer.begin() + 11);
  check_bytes(bytes({0xA5, 0x5A, 0x14, 0, 0, 0, 0x04, 0x18, 0x1D, 0x01, 0x07}), head);
  LONGS_EQUAL(115200, device->baud());
}

TEST(SimRplidar, TwoSeedsAreTwoSerialNumbers) {
  power_up({}, 1);
  const ByteVector one = ask(kInfo);
  power_up({}, 2);
  CHECK_FALSE(one == ask(kInfo));
}

TEST(SimRplidar, EveryModelSpeaksAtItsNativeRate) {
  const std::initializer_list<std::pair<const char*, unsigned>> rates = {
      {"A1", 115200},  {"A2", 115200}, {"A3", 256000}, {"S1", 256000}, {"S2", 1000000},
      {"S3", 1000000}, {"C1", 460800}, {"S2E", 0},     {"T1", 0}};
  for (const auto& [model, baud] : rates) {
    power_up({{"model", model}});
    LONGS_EQUAL(baud, device->baud());
    LONGS_EQUAL(27, ask(kInfo).size());
  }
}

TEST(SimRplidar, HealthAndItsCodeAreAsConfigured) {
  power_up({});
  check_bytes(bytes({0xA5, 0x5A, 0x03, 0, 0, 0, 0x06, 0, 0, 0}), ask(kHealth));
  power_up({{"health", "1"}, {"health_code", "513"}});
  check_bytes(bytes({0xA5, 0x5A, 0x03, 0, 0, 0, 0x06, 1, 1, 2}), ask(kHealth));
}

TEST(SimRplidar, ABadHealthRefusesScansUntilReset) {
  power_up({{"health", "2"}, {"banner", "off"}});
  check_bytes({}, ask(kScan));
  check_bytes({}, ask(bytes({0xA5, 0x82, 0x05, 0, 0, 0, 0, 0, 0x22})));
  ask(kReset);
  run_for(1s);
  check_bytes(bytes({0xA5, 0x5A, 0x03, 0, 0, 0, 0x06, 0, 0, 0}), ask(kHealth));
  LONGS_EQUAL(7, ask(kScan).size());
}

TEST(SimRplidar, ForceScanWorksWithABadHealth) {
  power_up({{"health", "2"}});
  check_bytes(bytes({0xA5, 0x5A, 0x05, 0, 0, 0x40, 0x81}), ask(kForceScan));
}

TEST(SimRplidar, SampleRatesAreThoseOfTheModes) {
  power_up({});
  check_bytes(bytes({0xA5, 0x5A, 0x04, 0, 0, 0, 0x15, 0xFC, 0x01, 0xFE, 0x00}),
              ask(bytes({0xA5, 0x59})));
}

TEST(SimRplidar, TheUnnamedRequestIsAnsweredAsARealA1Did) {
  power_up({});
  check_bytes(bytes({0xA5, 0x5A, 0x0F, 0, 0, 0,    0x14, 0, 0, 0x61, 0,
                     0,    0,    0xA0, 0, 0, 0x0C, 0,    4, 0, 0x28, 0x1D}),
              ask(bytes({0xA5, 0x79})));
}

TEST(SimRplidar, PerModeConfigurationIsThatOfARealA1) {
  power_up({});
  check_bytes(bytes({0xA5, 0x5A, 8, 0, 0, 0, 0x20, 0x71, 0, 0, 0, 0x00, 0x7F, 0, 0}),
              ask(bytes({0xA5, 0x84, 0x06, 0x71, 0, 0, 0, 3, 0, 0x55})));
  check_bytes(bytes({0xA5, 0x5A, 8, 0, 0, 0, 0x20, 0x74, 0, 0, 0, 0x00, 0x0C, 0, 0}),
              ask(bytes({0xA5, 0x84, 0x06, 0x74, 0, 0, 0, 3, 0, 0x50})));
  check_bytes(bytes({0xA5, 0x5A, 5, 0, 0, 0, 0x20, 0x75, 0, 0, 0, 0x84}),
              ask(bytes({0xA5, 0x84, 0x06, 0x75, 0, 0, 0, 3, 0, 0x51})));
  check_bytes(bytes({0xA5, 0x5A, 0x10, 0,    0,    0,    0x20, 0x7F, 0,    0,    0, 0x53,
                     0x65, 0x6E, 0x73, 0x69, 0x74, 0x69, 0x76, 0x69, 0x74, 0x79, 0}),
              ask(bytes({0xA5, 0x84, 0x06, 0x7F, 0, 0, 0, 3, 0, 0x5B})));
}

TEST(SimRplidar, CommonConfigurationIsAnswered) {
  power_up({});
  check_bytes(bytes({0xA5, 0x5A, 6, 0, 0, 0, 0x20, 0x7C, 0, 0, 0, 3, 0}),
              ask(bytes({0xA5, 0x84, 0x04, 0x7C, 0, 0, 0, 0x59})));
  check_bytes(bytes({0xA5, 0x5A, 6, 0, 0, 0, 0x20, 0x70, 0, 0, 0, 5, 0}),
              ask(bytes({0xA5, 0x84, 0x04, 0x70, 0, 0, 0, 0x55})));
  check_bytes(bytes({0xA5, 0x5A, 8, 0, 0, 0, 0x20, 0x01, 0, 0, 0, 0xB6, 0x01, 0x94, 0x02}),
              ask(bytes({0xA5, 0x84, 0x04, 0x01, 0, 0, 0, 0x24})));
}

TEST(SimRplidar, UnsupportedConfigurationIsAnsweredEmpty) {
  power_up({});
  const auto only_type = [](unsigned type) {
    return bytes({0xA5, 0x5A, 4, 0, 0, 0, 0x20, type, 0, 0, 0});
  };
  check_bytes(only_type(0x04), ask(bytes({0xA5, 0x84, 0x04, 0x04, 0, 0, 0, 0x21})));
  check_bytes(only_type(0x79), ask(bytes({0xA5, 0x84, 0x04, 0x79, 0, 0, 0, 0x5C})));
  check_bytes(only_type(0x33), ask(bytes({0xA5, 0x84, 0x04, 0x33, 0, 0, 0, 0x16})));
  // A mode that does not exist, and a per-mode type asked without a mode.
  check_bytes(only_type(0x75), ask(bytes({0xA5, 0x84, 0x06, 0x75, 0, 0, 0, 9, 0, 0x5B})));
  check_bytes(only_type(0x75), ask(bytes({0xA5, 0x84, 0x04, 0x75, 0, 0, 0, 0x50})));
}

TEST(SimRplidar, AnEthernetModelHasAddressesAndKeepsAChangedOne) {
  power_up({{"model", "S2E"}});
  const ByteVector ask_address = bytes({0xA5, 0x84, 0x04, 0xC0, 0xCC, 0x01, 0x00, 0x28});
  check_bytes(bytes({0xA5, 0x5A, 16, 0,   0,   0,   0x20, 0xC0, 0xCC, 1,  0, 192,
                     168,  11,   2,  255, 255, 255, 0,    192,  168,  11, 1}),
              ask(ask_address));
  ByteVector change =
      bytes({0xA5, 0x85, 16, 0xC0, 0xCC, 1, 0, 10, 0, 0, 5, 255, 0, 0, 0, 10, 0, 0, 1});
  std::byte check{};
  for (const std::byte b : change) check ^= b;
  change.push_back(check);
  check_bytes(bytes({0xA5, 0x5A, 8, 0, 0, 0, 0x21, 0xC0, 0xCC, 1, 0, 0, 0, 0, 0}), ask(change));
  LONGS_EQUAL(10, std::to_integer<int>(ask(ask_address)[11]));
  LONGS_EQUAL(17, ask(bytes({0xA5, 0x84, 0x04, 0x79, 0, 0, 0, 0x5C})).size());  // MAC
}

TEST(SimRplidar, SettingWhatCannotBeSetIsRefused) {
  power_up({});
  const ByteVector answer = ask(bytes({0xA5, 0x85, 0x06, 0x7C, 0, 0, 0, 1, 0, 0x5B}));
  LONGS_EQUAL(15, answer.size());
  LONGS_EQUAL(0x21, std::to_integer<int>(answer[6]));
  CHECK_TRUE(answer[11] != std::byte{});
}

TEST(SimRplidar, OnlyAnAccessoryBoardSaysThatItHasPwm) {
  const ByteVector flag = bytes({0xA5, 0xFF, 0x04, 0, 0, 0, 0, 0x5E});
  power_up({{"model", "A2"}});
  check_bytes(bytes({0xA5, 0x5A, 4, 0, 0, 0, 0xFF, 1, 0, 0, 0}), ask(flag));
  power_up({{"model", "A1"}});
  check_bytes(bytes({0xA5, 0x5A, 4, 0, 0, 0, 0xFF, 0, 0, 0, 0}), ask(flag));
}

TEST(SimRplidar, ABadChecksumIsIgnored) {
  power_up({});
  check_bytes({}, ask(bytes({0xA5, 0x84, 0x04, 0x7C, 0, 0, 0, 0x58})));
  LONGS_EQUAL(13, ask(bytes({0xA5, 0x84, 0x04, 0x7C, 0, 0, 0, 0x59})).size());
}

TEST(SimRplidar, ARequestInsideABadOneIsFound) {
  power_up({});
  LONGS_EQUAL(10, ask(bytes({0xA5, 0x84, 0x02, 0xA5, 0x52, 0x00})).size());
}

TEST(SimRplidar, GarbageBetweenRequestsIsSkipped) {
  power_up({});
  LONGS_EQUAL(20, ask(bytes({0x00, 0xFF, 0xA5, 0x13, 0xA5, 0xA5, 0x52, 0x41, 0x41, 0xA5, 0x82, 0xF0,
                             0xA5, 0x52}))
                      .size());
}

TEST(SimRplidar, ARequestMayArriveByteByByte) {
  power_up({});
  const ByteVector request = bytes({0xA5, 0x84, 0x04, 0x7C, 0, 0, 0, 0x59});
  for (std::size_t i = 0; i + 1 < request.size(); ++i) check_bytes({}, ask({request[i]}));
  LONGS_EQUAL(13, ask({request.back()}).size());
}

TEST(SimRplidar, SeveralRequestsInOneReadAreAnsweredInOrder) {
  power_up({});
  ByteVector both = kHealth;
  both.insert(both.end(), kInfo.begin(), kInfo.end());
  const ByteVector answer = ask(both);
  LONGS_EQUAL(37, answer.size());
  LONGS_EQUAL(0x06, std::to_integer<int>(answer[6]));
  LONGS_EQUAL(0x04, std::to_integer<int>(answer[16]));
}

TEST(SimRplidar, ANewBaudRateIsAcceptedInSilence) {
  power_up({});
  check_bytes({}, ask(bytes({0xA5, 0x90, 8, 0x5F, 0x5F, 0, 0xC2, 1, 0, 0, 0, 0xFE})));
  LONGS_EQUAL(10, ask(kHealth).size());
}

TEST(SimRplidar, ExpressRequestsSelectTheirMode) {
  power_up({});
  check_bytes(bytes({0xA5, 0x5A, 0x84, 0, 0, 0x40, 0x84}),
              ask(bytes({0xA5, 0x82, 0x05, 3, 0, 0, 0, 0, 0x21})));
  ask(kStop);
  check_bytes(bytes({0xA5, 0x5A, 0x54, 0, 0, 0x40, 0x82}),
              ask(bytes({0xA5, 0x82, 0x05, 0, 0, 0, 0, 0, 0x22})));
  ask(kStop);
  check_bytes({}, ask(bytes({0xA5, 0x82, 0x05, 9, 0, 0, 0, 0, 0x2B})));
}

TEST(SimRplidar, LegacyExpressOfAModelWithoutItIsItsTypicalMode) {
  power_up({{"model", "S2"}});
  check_bytes(bytes({0xA5, 0x5A, 0x54, 0, 0, 0x40, 0x85}),
              ask(bytes({0xA5, 0x82, 0x05, 0, 0, 0, 0, 0, 0x22})));
}

TEST(SimRplidar, AScanCarriesNothingButPacketsUntilStop) {
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

TEST(SimRplidar, AnotherScanRequestStartsAnew) {
  power_up({});
  ask(kScan);
  run_for(10ms);
  LONGS_EQUAL(7, ask(bytes({0xA5, 0x82, 0x05, 3, 0, 0, 0, 0, 0x21})).size());
  run_for(13ms);
  LONGS_EQUAL(1, out.frames.size());
  LONGS_EQUAL(132, out.frames[0].bytes.size());
}

TEST(SimRplidar, AnA1PrintsItsBannerAfterResetAndIsReadyFourMillisecondsLater) {
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

TEST(SimRplidar, OtherModelsRestartInSilenceUnlessTold) {
  power_up({{"model", "S2"}});
  ask(kReset);
  run_for(1s);
  LONGS_EQUAL(0, out.frames.size());
  power_up({{"model", "S2"}, {"banner", "on"}});
  run_for(1s);
  LONGS_EQUAL(1, out.frames.size());
}

TEST(SimRplidar, LosingPowerEndsTheScan) {
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

TEST(SimRplidar, ADeviceFoundStreamingSendsNoDescriptorAndNoFirstFlag) {
  power_up({{"streaming", "on"}});
  run_for(13ms);
  LONGS_EQUAL(1, out.frames.size());
  LONGS_EQUAL(132, out.frames[0].bytes.size());
  LONGS_EQUAL(0, std::to_integer<int>(out.frames[0].bytes[3] >> 7));
}

TEST(SimRplidar, APwmMotorStandsUntilToldToTurn) {
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

TEST(SimRplidar, ForceScanSamplesWhileTheMotorStands) {
  power_up({{"model", "A2"}});
  ask(kForceScan);
  run_for(100ms);
  CHECK_TRUE(out.frames.size() > 100);
  DOUBLES_EQUAL(out.scans.front().beams[0].angle, out.scans.back().beams[0].angle, 0.0);
}

TEST(SimRplidar, AnRpmCommandSetsTheSpeed) {
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

TEST(SimRplidar, AnAssertedDtrStopsTheMotorOfAnA1) {
  power_up({});
  ask(kScan);
  device->set_dtr(true, now);
  run_for(100ms);
  CHECK_TRUE(out.frames.size() <= 1);
  device->set_dtr(false, now);
  run_for(100ms);
  CHECK_TRUE(out.frames.size() > 100);
}

TEST(SimRplidar, TheFirstCapsuleAfterAStandingMotorStillCarriesTheFirstFlag) {
  power_up({{"model", "A2"}});
  ask(bytes({0xA5, 0x82, 0x05, 3, 0, 0, 0, 0, 0x21}));
  run_for(50ms);
  ask(bytes({0xA5, 0xF0, 0x02, 0x94, 0x02, 0xC1}));
  run_for(50ms);
  LONGS_EQUAL(1, std::to_integer<int>(out.frames[0].bytes[3] >> 7));
  LONGS_EQUAL(0, std::to_integer<int>(out.frames[1].bytes[3] >> 7));
}

TEST(SimRplidar, AnEthernetModelSendsFortyStandardNodesTogether) {
  power_up({{"model", "S2E"}});
  ask(kScan);
  run_for(9ms);
  LONGS_EQUAL(1, out.frames.size());
  LONGS_EQUAL(200, out.frames[0].bytes.size());
  LONGS_EQUAL(40, out.scans[0].beams.size());
  CHECK_TRUE(out.frames[0].at == out.scans[0].beams[39].at);
}

TEST(SimRplidar, TheDesiredSpeedIsAlwaysWithinItsLimits) {
  power_up({{"model", "S2"}, {"rpm", "1500"}});
  check_bytes(bytes({0xA5, 0x5A, 6, 0, 0, 0, 0x20, 0x05, 0, 0, 0, 0xDC, 0x05}),
              ask(bytes({0xA5, 0x84, 0x04, 0x05, 0, 0, 0, 0x20})));
  check_bytes(bytes({0xA5, 0x5A, 6, 0, 0, 0, 0x20, 0x04, 0, 0, 0, 0xC8, 0x00}),
              ask(bytes({0xA5, 0x84, 0x04, 0x04, 0, 0, 0, 0x21})));
}

TEST(SimRplidar, ARateThatNoRplidarReachesIsRefused) {
  const auto settings = sim::Settings::check(sim::rplidar::options(), {});
  CHECK_TRUE(static_cast<bool>(sim::rplidar::make({*settings, clock, 33.0, 1})));
  CHECK_FALSE(static_cast<bool>(sim::rplidar::make({*settings, clock, 34.0, 1})));
}
