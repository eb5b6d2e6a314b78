#include "test/sim/ximu3.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "test/sim/wire.h"
#include "test/sim/ximu3_messages.h"
#include "test/support/harness.h"
#include "test/unit/sim_fixture.h"

using namespace sim::ximu3;
using sim_test::Bench;
using sim_test::hex_of;

namespace {

std::string text_of(const sim::Frame& frame) {
  std::string text;
  for (const std::byte b : frame.bytes) text += static_cast<char>(b);
  return text;
}

std::string ask(Bench& bench, const std::string& line, const char* end = "\r\n") {
  bench.out.clear();
  const std::string request = line + end;
  bench.model->receive(sim::Channel::data, std::as_bytes(std::span(request)), bench.now, bench.out);
  std::string answer;
  for (const sim::Frame& frame : bench.out.frames) answer += text_of(frame);
  bench.out.clear();
  return answer;
}

std::size_t count(const Bench& bench, char letter) {
  return static_cast<std::size_t>(std::ranges::count_if(bench.out.frames, [&](const sim::Frame& f) {
    return (sim::u8_at(f.bytes, 0) & 0x7F) == static_cast<unsigned>(letter);
  }));
}

}  // namespace

TEST_GROUP(SimXimu3){};

TEST(SimXimu3, MessagesAreTheVendors) {
  const std::array inertial{0.5, -1.25, 10.0, 0.01, -0.02, 1.0};
  STRCMP_EQUAL(
      "C9 60 E3 16 00 00 00 00 00 00 00 00 3F 00 00 A0 BF 00 00 20 41 DB DC D7 23 3C DB DC "
      "D7 A3 BC 00 00 80 3F 0A",
      hex_of(message(Style::binary, 'I', 1'500'000, inertial)).c_str());
  STRCMP_EQUAL("I,1500000,0.5000,-1.2500,10.0000,0.0100,-0.0200,1.0000\r\n",
               text_of({{}, {}, message(Style::ascii, 'I', 1'500'000, inertial)}).c_str());
  STRCMP_EQUAL("D4 6A E3 16 00 00 00 00 00 00 00 C8 41 0A",
               hex_of(message(Style::binary, 'T', 1'500'010, std::array{25.0})).c_str());
  const std::array unit{1.0, 0.0, 0.0, 0.0};
  STRCMP_EQUAL("D1 40 42 0F 00 00 00 00 00 00 00 80 3F 00 00 00 00 00 00 00 00 00 00 00 00 0A",
               hex_of(message(Style::binary, 'Q', 1'000'000, unit)).c_str());
}

TEST(SimXimu3, ALevelSensorMeasuresOneGUpAndLooksEast) {
  Bench bench("ximu3", {{"motion", "rest"}, {"mode", "ascii"}, {"extras", "off"}});
  bench.run_for(0.0205);
  CHECK_EQUAL(2, bench.out.frames.size());
  STRCMP_EQUAL("I,20000,0.0000,0.0000,0.0000,0.0000,0.0000,1.0000\r\n",
               text_of(bench.out.frames[0]).c_str());
  // East is a quarter turn to the right of North.
  STRCMP_EQUAL("Q,20000,0.7071,0.0000,0.0000,-0.7071\r\n", text_of(bench.out.frames[1]).c_str());
  CHECK_EQUAL(20'000'000, bench.out.imus[0].device_ns);
  Bench enu("ximu3", {{"motion", "rest"}, {"mode", "ascii"}, {"extras", "off"}, {"world", "enu"}});
  enu.run_for(0.0205);
  STRCMP_EQUAL("Q,20000,1.0000,0.0000,0.0000,0.0000\r\n", text_of(enu.out.frames[1]).c_str());
  Bench ned("ximu3", {{"motion", "rest"}, {"mode", "ascii"}, {"extras", "off"}, {"world", "ned"}});
  ned.run_for(0.0205);
  STRCMP_EQUAL("I,20000,0.0000,0.0000,0.0000,0.0000,0.0000,-1.0000\r\n",
               text_of(ned.out.frames[0]).c_str());
  STRCMP_EQUAL("Q,20000,0.7071,0.0000,0.0000,0.7071\r\n", text_of(ned.out.frames[1]).c_str());
}

TEST(SimXimu3, TheAttitudeIsToldInFiveWays) {
  for (const auto& [word, letter] : {std::pair{"matrix", 'R'},
                                     {"euler", 'A'},
                                     {"linear", 'L'},
                                     {"earth", 'E'},
                                     {"quaternion", 'Q'}}) {
    Bench bench("ximu3", {{"attitude", word}});
    bench.run_for(1.0);
    CHECK_EQUAL(50, count(bench, letter));
    CHECK_EQUAL(50, count(bench, 'I'));
    CHECK_EQUAL(20, count(bench, 'M'));
    CHECK_EQUAL(1, count(bench, 'T'));
  }
}

TEST(SimXimu3, CommandsAreJsonAndKeysAreReadGenerously) {
  Bench bench("ximu3");
  STRCMP_EQUAL(
      "{\"ping\":{\"interface\":\"USB\",\"name\":\"x-IMU3\",\"sn\":\"0123456789ABCDEF\"}}\r\n",
      ask(bench, "{\"ping\":null}").c_str());
  STRCMP_EQUAL("{\"Serial Number\":\"0123456789ABCDEF\"}\r\n",
               ask(bench, "{\"Serial Number\" : null}", "\n").c_str());
  STRCMP_EQUAL("{\"ahrs_axes_convention\":0}\r\n",
               ask(bench, "{\"ahrs_axes_convention\":null}").c_str());
  STRCMP_CONTAINS("\"error\"", ask(bench, "{\"axes_convention\":null}").c_str());
  STRCMP_CONTAINS("\"error\"", ask(bench, "{\"inertial_message_rate_divisor\":-1}").c_str());
  STRCMP_CONTAINS("\"error\"", ask(bench, "{\"serial_number\":\"1\"}").c_str());
  STRCMP_CONTAINS("\"error\"", ask(bench, "nonsense").c_str());
  Bench old("ximu3", {{"firmware", "old"}});
  STRCMP_EQUAL("{\"axes_convention\":0}\r\n", ask(old, "{\"axes_convention\":null}").c_str());
  Bench mute("ximu3", {{"commands", "mute"}});
  STRCMP_EQUAL("", ask(mute, "{\"ping\":null}").c_str());
  Bench refuses("ximu3", {{"commands", "refused"}});
  STRCMP_CONTAINS("\"error\"", ask(refuses, "{\"ahrs_message_rate_divisor\":4}").c_str());
}

TEST(SimXimu3, WhatIsWrittenIsInForceWhenItIsAppliedAndKeptWhenItIsSaved) {
  Bench bench("ximu3", {{"streaming", "off"}, {"extras", "off"}});
  ask(bench, "{\"inertial_message_rate_divisor\":4}");
  bench.run_for(1.0);
  CHECK_EQUAL(0, bench.out.frames.size());
  STRCMP_EQUAL("{\"apply\":null}\r\n", ask(bench, "{\"apply\":null}").c_str());
  bench.run_for(1.0);
  CHECK_EQUAL(100, bench.out.frames.size());
  bench.out.clear();
  bench.model->power_up(bench.now, bench.out);
  bench.run_for(1.0);
  CHECK_EQUAL(0, bench.out.frames.size());
  ask(bench, "{\"inertial_message_rate_divisor\":4}");
  ask(bench, "{\"save\":null}");
  bench.model->power_up(bench.now, bench.out);
  bench.run_for(1.0);
  CHECK_EQUAL(100, bench.out.frames.size());
  ask(bench, "{\"shutdown\":null}");
  bench.run_for(1.0);
  CHECK_EQUAL(0, bench.out.frames.size());
}

TEST(SimXimu3, MessagesOfAnInstantMayShareADatagram) {
  Bench bench("ximu3", {{"bundle", "on"}, {"announce", "on"}});
  bench.run_for(1.0);
  CHECK_EQUAL(50, bench.out.imus.size());
  CHECK_TRUE(bench.out.frames.size() < 70);
}

TEST(SimXimu3, AFalsifiedMessageIsAMessage) {
  Bench bench("ximu3", {{"extras", "off"}});
  bench.run_for(0.0205);
  sim::ByteVector frame = bench.out.frames[0].bytes;
  sim::Random random(3);
  bench.model->falsify(frame, random);
  CHECK_FALSE(frame == bench.out.frames[0].bytes);
  CHECK_EQUAL(0xC9, sim::u8_at(frame, 0));
  CHECK_EQUAL(0x0A, sim::u8_at(frame, frame.size() - 1));
}

TEST(SimXimu3, ARateIsAWholePartOfFourHundred) {
  const sim::ModelRow& row = *sim::find_model("ximu3");
  sim::DeviceClock clock{1};
  const auto settings = *sim::Settings::check(row.options, {});
  CHECK_FALSE(static_cast<bool>(row.make({settings, clock, 300.0, 1})));
  CHECK_TRUE(static_cast<bool>(row.make({settings, clock, 100.0, 1})));
}
