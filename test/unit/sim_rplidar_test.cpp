// What the simulated RPLIDAR answers, request by request.
#include "test/unit/sim_rplidar_bench.h"

using rplidar_test::bytes;
using rplidar_test::check_bytes;
using sim::ByteVector;
using namespace std::chrono_literals;

TEST_GROUP_BASE(SimRplidar, rplidar_test::RplidarBench){};

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

TEST(SimRplidar, AnAddressOfTheWrongLengthIsRefused) {
  power_up({{"model", "S2E"}});
  const ByteVector answer = ask(bytes({0xA5, 0x85, 8, 0xC0, 0xCC, 1, 0, 10, 0, 0, 5, 0x2A}));
  LONGS_EQUAL(15, answer.size());
  CHECK_TRUE(answer[11] != std::byte{});
}
