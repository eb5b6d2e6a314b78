#include <bit>
#include <cmath>
#include <map>

#include "test/sim/room.h"
#include "test/sim/wire.h"
#include "test/sim/xsens_data.h"
#include "test/sim/xsens_wire.h"
#include "test/support/harness.h"
#include "test/unit/sim_fixture.h"

using sim::xsens::Message;
using sim_test::Bench;

namespace {

constexpr const char* kGoToConfig = "FA FF 30 00 D1";
constexpr const char* kGoToMeasurement = "FA FF 10 00 F1";
constexpr const char* kRecommended =
    "FA FF C0 18 10 20 FF FF 10 60 FF FF 20 10 00 64 40 20 00 64 80 20 00 64 E0 20 FF FF 33";

std::string ask(Bench& bench, const std::string& request) {
  const auto answers = bench.ask(request);
  CHECK_EQUAL(1, answers.size());
  return answers[0];
}
std::string message(unsigned id, const char* data) {
  return sim_test::hex_of(sim::xsens::bytes_of({0xFF, id, sim_test::bytes_of(data)}));
}

Message parsed(const sim::ByteVector& bytes) {
  sim::xsens::Parser parser;
  Message m;
  parser.add(bytes, sim_test::kStart);
  CHECK_TRUE(parser.next(m));
  return m;
}
std::map<unsigned, sim::ByteVector> items_of(const sim::ByteVector& bytes) {
  const Message m = parsed(bytes);
  CHECK_EQUAL(0x36, m.id);
  std::map<unsigned, sim::ByteVector> items;
  for (std::size_t at = 0; at + 3 <= m.data.size();) {
    const auto n = static_cast<std::ptrdiff_t>(sim::u8_at(m.data, at + 2));
    const auto begin = m.data.begin() + static_cast<std::ptrdiff_t>(at) + 3;
    items[static_cast<unsigned>(sim::get_be(m.data, at, 2))] = sim::ByteVector(begin, begin + n);
    at += 3 + static_cast<std::size_t>(n);
  }
  return items;
}
double f32_at(const sim::ByteVector& b, std::size_t at) {
  return static_cast<double>(
      std::bit_cast<float>(static_cast<std::uint32_t>(sim::get_be(b, at, 4))));
}

sim::ByteVector item(unsigned id, const sim::xsens::Sample& sample) {
  sim::ByteVector bytes;
  sim::xsens::put_item(bytes, {id, 100}, sample);
  return bytes;
}

}  // namespace

TEST_GROUP(SimXsens){// In config state.
                     static void configure(Bench & bench){
                         STRCMP_EQUAL("FA FF 31 00 D0", ask(bench, kGoToConfig).c_str());
}
}
;

TEST(SimXsens, ItWakesUpAndMeasuresWhereNobodyAnswers) {
  Bench bench("xsens");
  bench.run_for(0.55);
  CHECK_EQUAL(1, bench.out.frames.size());
  STRCMP_EQUAL("FA FF 3E 00 C3", sim_test::hex_of(bench.out.frames[0].bytes).c_str());
  bench.run_for(0.2);
  CHECK_EQUAL(0x0D, parsed(bench.out.frames[1].bytes).id);
  CHECK_EQUAL(118, parsed(bench.out.frames[1].bytes).data.size());
  CHECK_EQUAL(0x36, parsed(bench.out.frames[2].bytes).id);
}

TEST(SimXsens, AnsweringItsWakeUpLeadsToTheConfigState) {
  Bench bench("xsens");
  bench.run_for(0.15);
  CHECK_EQUAL(0, bench.ask("FA FF 3F 00 C2").size());
  bench.run_for(2);
  CHECK_EQUAL(0, bench.out.frames.size());
  STRCMP_EQUAL("FA FF 11 00 F0", ask(bench, kGoToMeasurement).c_str());
}

TEST(SimXsens, TheDialogueIsTheVendorsByteForByte) {
  Bench bench("xsens", {{"streaming", "on"}});
  configure(bench);
  STRCMP_EQUAL("FA FF 01 04 03 68 0D 12 72", ask(bench, "FA FF 00 00 01").c_str());
  STRCMP_EQUAL(
      "FA FF C1 18 10 20 FF FF 10 60 FF FF 20 10 00 64 40 20 00 64 80 20 00 64 E0 20 FF FF 32",
      ask(bench, kRecommended).c_str());
  CHECK_EQUAL(20, parsed(sim_test::bytes_of(ask(bench, "FA FF 1C 00 E5"))).data.size());
  CHECK_EQUAL(11, parsed(sim_test::bytes_of(ask(bench, "FA FF 12 00 EF"))).data.size());
  for (const unsigned id : {0x1EU, 0x02U, 0x0CU, 0x62U, 0x8EU, 0xC0U, 0x18U}) {
    const Message m = parsed(sim_test::bytes_of(ask(bench, message(id, ""))));
    CHECK_EQUAL(id + 1, m.id);
  }
  STRCMP_EQUAL("FA FF 11 00 F0", ask(bench, kGoToMeasurement).c_str());
}

TEST(SimXsens, ADeviceOfTheOneOr600SeriesHasALongIdentifier) {
  Bench bench("xsens", {{"model", "MTi-630"}});
  CHECK_EQUAL(8, parsed(sim_test::bytes_of(ask(bench, "FA FF 00 00 01"))).data.size());
}

TEST(SimXsens, WhileItMeasuresOnlyFewMessagesAreLegal) {
  Bench bench("xsens", {{"streaming", "on"}});
  STRCMP_EQUAL("FA FF 42 01 04 BA", ask(bench, "FA FF C0 00 41").c_str());
  CHECK_EQUAL(0x01, parsed(sim_test::bytes_of(ask(bench, "FA FF 00 00 01"))).id);
  CHECK_EQUAL(0, bench.ask("FA FF 30 00 D2").size());  // a wrong sum
}

TEST(SimXsens, WhatItCannotMeasureIsABadParameter) {
  Bench imu("xsens", {{"model", "MTi-100"}});
  configure(imu);
  STRCMP_EQUAL("FA FF 42 01 21 9D", ask(imu, kRecommended).c_str());
  STRCMP_EQUAL("FA FF 42 01 21 9D", ask(imu, message(0xC0, "12 34 00 64")).c_str());
  STRCMP_EQUAL("FA FF 42 01 20 9E", ask(imu, message(0x18, "55")).c_str());
}

TEST(SimXsens, RatesAreLoweredToWhatItHas) {
  Bench bench("xsens");
  configure(bench);
  const Message m = parsed(sim_test::bytes_of(
      ask(bench, message(0xC0, "40 20 01 2C 80 20 FF FF C0 20 01 90 08 10 00 00 30 10 00 C8"))));
  CHECK_TRUE(m.data ==
             sim_test::bytes_of("40 20 00 C8 80 20 01 90 C0 20 00 64 08 10 00 01 30 10 00 32"));
}

TEST(SimXsens, AMessageIsThatOfTheProtocol) {
  sim::xsens::Sample s;
  s.counter = 7, s.fine = 15'000, s.status = 3;
  const double h = std::sqrt(0.5);
  s.motion.orientation = {h, 0, 0, h};
  s.motion.accel = {0.1, -0.2, 9.81};
  s.motion.gyro = {0.01, -0.02, 0.03};
  sim::ByteVector data;
  for (const unsigned id : {0x1020U, 0x1060U, 0x2010U, 0x4020U, 0x8020U, 0xE020U})
    sim::xsens::put_item(data, {id, 100}, s);
  STRCMP_EQUAL(
      "FA FF 36 44 10 20 02 00 07 10 60 04 00 00 3A 98 20 10 10 3F 35 04 F3 00 00 00 00 00 00 00 "
      "00 3F 35 04 "
      "F3 40 20 0C 3D CC CC CD BE 4C CC CD 41 1C F5 C3 80 20 0C 3C 23 D7 0A BC A3 D7 0A 3C F5 C2 "
      "8F E0 20 04 "
      "00 00 00 03 77",
      sim_test::hex_of(sim::xsens::bytes_of({0xFF, 0x36, data})).c_str());
  STRCMP_EQUAL("40 21 0C 00 01 99 9A FF FC CC CD 00 9C F5 C3",
               sim_test::hex_of(item(0x4021, s)).c_str());
  STRCMP_EQUAL("80 22 12 02 8F 5C 29 00 00 FA E1 47 AE FF FF 07 AE 14 7B 00 00",
               sim_test::hex_of(item(0x8022, s)).c_str());
}

TEST(SimXsens, AttitudesAreOfTheWorldThatIsAskedFor) {
  sim::xsens::Sample s;  // level, nose to the East
  const auto is = [&](unsigned id, double w, double x, double y, double z) {
    const auto bytes = item(id, s);
    const double expected[] = {w, x, y, z};
    for (std::size_t i = 0; i < 4; ++i) DOUBLES_EQUAL(expected[i], f32_at(bytes, 3 + 4 * i), 1e-6);
  };
  const double h = std::sqrt(0.5);
  is(0x2010, 1, 0, 0, 0);
  is(0x2014, 0, h, h, 0);
  is(0x2018, h, 0, 0, -h);
}

TEST(SimXsens, TheFirstMessageIsOfAPartOfAnInterval) {
  Bench bench("xsens", {{"streaming", "on"}, {"motion", "rest"}});
  bench.run_for(0.0251);
  auto first = items_of(bench.out.frames[0].bytes), second = items_of(bench.out.frames[1].bytes);
  DOUBLES_EQUAL(7.355, f32_at(first[0x4020], 8), 1e-3);
  CHECK_FALSE(first.contains(0x2010));
  DOUBLES_EQUAL(9.80665, f32_at(second[0x4020], 8), 1e-5);
  CHECK_TRUE(second.contains(0x2010));
  CHECK_EQUAL(1, sim::get_be(second[0x1020], 0, 2));
  CHECK_EQUAL(200, sim::get_be(second[0x1060], 0, 4));
  CHECK_EQUAL(1, bench.out.imus.size());
}

TEST(SimXsens, ItemsComeWhenTheyAreDue) {
  Bench bench("xsens", {{"streaming", "on"}, {"defect", "off"}});
  configure(bench);
  ask(bench, message(0xC0, "10 60 FF FF 40 20 00 C8 80 20 00 64 08 10 00 01"));
  ask(bench, kGoToMeasurement);
  bench.run_for(1.0001);
  std::map<unsigned, int> seen;
  for (const auto& frame : bench.out.frames)
    for (const auto& [id, data] : items_of(frame.bytes)) ++seen[id];
  CHECK_EQUAL(200, seen[0x1060]);
  CHECK_EQUAL(200, seen[0x4020]);
  CHECK_EQUAL(100, seen[0x8020]);
  CHECK_EQUAL(1, seen[0x0810]);
  CHECK_EQUAL(100, bench.out.imus.size());
}

TEST(SimXsens, TheReceiversMessagesAreOlder) {
  Bench bench("xsens", {{"model", "MTi-G-710"}, {"gnss", "on"}, {"streaming", "on"}});
  bench.run_for(5);
  int messages = 0;
  std::uint64_t newest = 0;
  unsigned counter = 0;
  for (const auto& frame : bench.out.frames) {
    auto items = items_of(frame.bytes);
    CHECK_EQUAL(counter, sim::get_be(items[0x1020], 0, 2));
    ++counter;
    const std::uint64_t fine = sim::get_be(items[0x1060], 0, 4);
    if (items.contains(0x7010)) {
      ++messages;
      CHECK_EQUAL(newest < 24'900 ? 0 : newest - 24'900, fine);
    } else {
      newest = fine;
    }
  }
  CHECK_EQUAL(20, messages);
}

TEST(SimXsens, MoreThanTheLineCarriesIsAnOverflow) {
  Bench bench("xsens", {{"streaming", "on"}}, 400);
  bench.run_for(3);
  int errors = 0;
  for (const auto& frame : bench.out.frames) errors += parsed(frame.bytes).id == 0x42;
  CHECK_EQUAL(4, errors);
  CHECK_TRUE(bench.out.imus.size() > 450 && bench.out.imus.size() < 500);
}

TEST(SimXsens, TheLinesRateChangesWithAReset) {
  Bench bench("xsens");
  configure(bench);
  STRCMP_EQUAL("FA FF 19 00 E8", ask(bench, message(0x18, "80")).c_str());
  CHECK_EQUAL(115200, bench.model->baud());
  STRCMP_EQUAL("FA FF 41 00 C0", ask(bench, "FA FF 40 00 C1").c_str());
  bench.run_for(0.3);
  CHECK_EQUAL(921600, bench.model->baud());
  STRCMP_EQUAL("FA FF 3E 00 C3", sim_test::hex_of(bench.out.frames[0].bytes).c_str());
}

TEST(SimXsens, SettingsSurviveALossOfPower) {
  Bench bench("xsens", {{"streaming", "on"}, {"defect", "off"}});
  configure(bench);
  ask(bench, message(0xC0, "40 20 00 32"));
  bench.model->power_up(bench.now, bench.out);
  bench.run_for(1.0001);
  CHECK_EQUAL(50, bench.out.frames.size());
}

TEST(SimXsens, LongMessagesHaveALongLength) {
  const auto bytes = sim::xsens::bytes_of({0xFF, 0x36, sim::ByteVector(300)});
  CHECK_EQUAL(307, bytes.size());
  CHECK_EQUAL(300, parsed(bytes).data.size());
  CHECK_EQUAL(0xFF, sim::u8_at(bytes, 3));
}
