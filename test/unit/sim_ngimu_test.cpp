#include "test/sim/ngimu.h"

#include <cmath>

#include "test/sim/osc.h"
#include "test/sim/wire.h"
#include "test/support/harness.h"
#include "test/unit/sim_fixture.h"

using namespace sim::osc;
using sim_test::Bench;
using sim_test::bytes_of;
using sim_test::hex_of;

namespace {

double number(const Message& m, std::size_t i) {
  return static_cast<double>(std::get<float>(m.arguments.at(i)));
}

std::vector<Message> ask(Bench& bench, const Message& asked) {
  bench.out.clear();
  bench.model->receive(sim::Channel::data, sim::osc::bytes_of(asked), bench.now, bench.out);
  std::vector<Message> answers;
  for (const sim::Frame& frame : bench.out.frames) {
    for (Message& m : messages_in(frame.bytes)) answers.push_back(std::move(m));
  }
  bench.out.clear();
  return answers;
}

}  // namespace

TEST_GROUP(SimNgimu){};

TEST(SimNgimu, MessagesAreTheVendors) {
  STRCMP_EQUAL("2F 72 61 74 65 2F 73 65 6E 73 6F 72 73 00 00 00 2C 66 00 00 42 48 00 00",
               hex_of(sim::osc::bytes_of({"/rate/sensors", {50.0F}})).c_str());
  STRCMP_EQUAL("2F 69 64 65 6E 74 69 66 79 00 00 00 2C 00 00 00",
               hex_of(sim::osc::bytes_of({"/identify", {}})).c_str());
  const Message quaternion{"/quaternion", {0.70710677F, 0.0F, 0.0F, 0.70710677F}};
  STRCMP_EQUAL(
      "23 62 75 6E 64 6C 65 00 E9 3C 7F 00 40 00 00 00 00 00 00 24 2F 71 75 61 74 65 72 6E "
      "69 6F 6E 00 2C 66 66 66 66 00 00 00 3F 35 04 F3 00 00 00 00 00 00 00 00 3F 35 04 F3",
      hex_of(bundle(0xE93C'7F00'4000'0000, {sim::osc::bytes_of(quaternion)})).c_str());
}

TEST(SimNgimu, SlipHidesItsEnds) {
  const sim::ByteVector packet = bytes_of("01 C0 02 DB 03");
  STRCMP_EQUAL("01 DB DC 02 DB DD 03 C0", hex_of(slip(packet)).c_str());
  SlipReader reader;
  std::optional<sim::ByteVector> read;
  for (const std::byte b : slip(packet)) read = reader.add(b);
  CHECK_TRUE(read == packet);
}

TEST(SimNgimu, ALevelSensorLooksEastAndSendsTheInverse) {
  Bench bench("ngimu", {{"motion", "rest"}, {"extras", "off"}, {"date_s", "3913056000"}});
  bench.run_for(0.0205);
  CHECK_EQUAL(2, bench.out.frames.size());
  CHECK_EQUAL(84, bench.out.frames[0].bytes.size());
  CHECK_EQUAL(0xE93C7F00, sim::get_be(bench.out.frames[0].bytes, 8, 4));
  CHECK_EQUAL(85'899'345, sim::get_be(bench.out.frames[0].bytes, 12, 4));  // 20 ms
  const Message sensors = messages_in(bench.out.frames[0].bytes).at(0);
  STRCMP_EQUAL("/sensors", sensors.address.c_str());
  CHECK_EQUAL(10, sensors.arguments.size());
  DOUBLES_EQUAL(1, number(sensors, 5), 1e-6);
  DOUBLES_EQUAL(21, number(sensors, 7), 1e-5);  // North is to the left
  DOUBLES_EQUAL(1013.25, number(sensors, 9), 1e-3);
  const Message attitude = messages_in(bench.out.frames[1].bytes).at(0);
  DOUBLES_EQUAL(std::sqrt(0.5), number(attitude, 0), 1e-6);
  DOUBLES_EQUAL(std::sqrt(0.5), number(attitude, 3), 1e-6);
  DOUBLES_EQUAL(3'913'056'000.02, static_cast<double>(bench.out.imus[0].device_ns) * 1e-9, 1e-6);
}

TEST(SimNgimu, MessagesOfASampleShareABundleWhereTheyAreToldTo) {
  for (const char* way : {"together", "nested"}) {
    Bench bench("ngimu", {{"extras", "off"}, {"bundles", way}});
    bench.run_for(0.0205);
    CHECK_EQUAL(1, bench.out.frames.size());
    CHECK_EQUAL(2, messages_in(bench.out.frames[0].bytes).size());
  }
}

TEST(SimNgimu, RatesAreWrittenReadAndLostWithThePower) {
  Bench bench("ngimu", {{"extras", "off"}});
  auto answers = ask(bench, {"/rate/sensors", {100.0F}});
  CHECK_EQUAL(1, answers.size());
  DOUBLES_EQUAL(100, number(answers[0], 0), 0);
  ask(bench, {"/rate/quaternion", {std::int32_t{0}}});
  answers = ask(bench, {"/rate/quaternion", {}});
  DOUBLES_EQUAL(0, number(answers.at(0), 0), 0);
  bench.run_for(1.0);
  CHECK_EQUAL(100, bench.out.frames.size());
  CHECK_EQUAL(0, ask(bench, {"/no/such", {}}).size());
  STRCMP_EQUAL("/identify", ask(bench, {"/identify", {}}).at(0).address.c_str());
  bench.out.clear();
  bench.model->power_up(bench.now, bench.out);
  bench.run_for(1.0);
  CHECK_EQUAL(100, bench.out.frames.size());  // 50 each
  ask(bench, {"/sleep", {}});
  bench.run_for(1.0);
  CHECK_EQUAL(0, bench.out.frames.size());
  Bench mute("ngimu", {{"commands", "mute"}});
  CHECK_EQUAL(0, ask(mute, {"/identify", {}}).size());
}

TEST(SimNgimu, OnALineItSpeaksInSlip) {
  Bench bench("ngimu", {{"link", "serial"}, {"extras", "off"}});
  bench.run_for(0.0205);
  CHECK_TRUE(bench.out.frames[0].bytes.back() == std::byte{0xC0});
  CHECK_EQUAL(115200, bench.model->baud());
  bench.out.clear();
  const sim::ByteVector asked = slip(sim::osc::bytes_of({"/rate/sensors", {}}));
  bench.model->receive(sim::Channel::data, asked, bench.now, bench.out);
  CHECK_EQUAL(1, bench.out.frames.size());
}

TEST(SimNgimu, TrapsAndOtherMessagesComeBetweenTheSamples) {
  Bench bench("ngimu", {{"traps", "on"}});
  bench.run_for(2.0);
  CHECK_EQUAL(100, bench.out.imus.size());
  CHECK_EQUAL(200 + 2 * 7 + 2 * 3, bench.out.frames.size());
}

TEST(SimNgimu, AFalsifiedBundleIsABundle) {
  Bench bench("ngimu");
  bench.run_for(0.0205);
  sim::ByteVector frame = bench.out.frames[0].bytes;
  sim::Random random(3);
  bench.model->falsify(frame, random);
  CHECK_FALSE(frame == bench.out.frames[0].bytes);
  CHECK_EQUAL(1, messages_in(frame).size());
}
