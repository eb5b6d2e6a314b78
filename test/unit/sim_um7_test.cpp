#include <bit>
#include <cmath>
#include <limits>

#include "test/sim/room.h"
#include "test/sim/um7_data.h"
#include "test/sim/um7_packet.h"
#include "test/sim/wire.h"
#include "test/support/harness.h"
#include "test/unit/sim_fixture.h"

using sim::um7::Packet;
using sim_test::Bench;
using sim_test::bytes_of;
using sim_test::hex_of;

namespace {

std::string request(unsigned type, unsigned address, sim::um7::Registers data = {}) {
  return hex_of(sim::um7::packet_bytes({type, address, std::move(data)}));
}
std::string write(unsigned address, std::uint32_t value) { return request(0x80, address, {value}); }
// The one packet that answers.
Packet ask(Bench& bench, const std::string& hex) {
  const auto answers = bench.ask(hex);
  CHECK_EQUAL(1, answers.size());
  sim::um7::Parser parser;
  parser.add(bytes_of(answers.at(0)), sim_test::kStart);
  return parser.next().value_or(Packet{});
}
double f32(std::uint32_t v) { return std::bit_cast<float>(v); }
std::vector<Packet> packets_in(const sim::Output& out) {
  sim::um7::Parser parser;
  std::vector<Packet> all;
  for (const sim::Frame& frame : out.frames) {
    parser.add(frame.bytes, sim_test::kStart);
    while (const auto packet = parser.next()) all.push_back(*packet);
  }
  return all;
}

}  // namespace

TEST_GROUP(SimUm7){};

TEST(SimUm7, TheWorkedExamplesComeOutByteForByte) {
  STRCMP_EQUAL("73 6E 70 00 AA 01 FB", request(0, 0xAA).c_str());
  STRCMP_EQUAL("73 6E 70 00 AD 01 FE", request(0, 0xAD).c_str());
  STRCMP_EQUAL("73 6E 70 80 00 50 00 00 00 02 21", write(0, 0x50000000).c_str());
  sim::um7::Sample sample;
  sample.seconds = 1.5F;
  sample.motion.gyro = {sim::radians(0.572958), sim::radians(1.145916), sim::radians(-1.718873)};
  sample.motion.accel = {0.01 * 9.80665, 0.02 * 9.80665, 1.0003 * 9.80665};
  sample.motion.mag = {0.2 * 47.85e-6, 0.0, -0.45 * 47.85e-6};
  const auto bytes = sim::um7::broadcast_bytes(sim::um7::Broadcast::all_processed, sample);
  STRCMP_EQUAL(
      "73 6E 70 F0 61 3F 12 AD 60 BF 92 AD 60 3F DC 04 08 3F C0 00 00 3C 23 D7 0A BC A3 D7 0A "
      "BF 80 09 D5 3F C0 00 00 3E 4C CC CD 00 00 00 00 3E E6 66 66 3F C0 00 00 14 32",
      hex_of(bytes).c_str());
  // Nose to the East: heading 90 degrees.
  STRCMP_EQUAL("73 6E 70 CC 6D 52 48 00 00 00 00 52 48 3F C0 00 00 04 BD",
               hex_of(sim::um7::broadcast_bytes(sim::um7::Broadcast::quaternion, sample)).c_str());
}

TEST(SimUm7, ARegisterIsWrittenAcknowledgedAndRead) {
  Bench bench("um7");
  const Packet acknowledged = ask(bench, write(4, 100));
  CHECK_EQUAL(0, acknowledged.type);
  CHECK_EQUAL(4, acknowledged.address);
  const Packet read = ask(bench, request(0, 4));
  CHECK_EQUAL(0x80, read.type);
  CHECK_EQUAL(100, read.data.at(0));
}

TEST(SimUm7, SeveralRegistersGoInABatch) {
  Bench bench("um7");
  ask(bench, request(0xC0 | 2 << 2, 3, {7, 8}));
  const Packet read = ask(bench, request(0x40 | 3 << 2, 3));
  CHECK_EQUAL(0xC0 | 3 << 2, read.type);
  CHECK_EQUAL(3, read.data.size());
  CHECK_EQUAL(8, read.data.at(1));
}

TEST(SimUm7, WhatCannotBeWrittenFails) {
  Bench bench("um7");
  CHECK_EQUAL(1, ask(bench, write(97, 1)).type);
  CHECK_EQUAL(1, ask(bench, request(0, 0xC7)).type);
}

TEST(SimUm7, DamagedRequestsAndJunkAreNotAnswered) {
  Bench bench("um7");
  CHECK_EQUAL(0, bench.ask("73 6E 70 00 AA 01 FC").size());
  CHECK_EQUAL(1, bench.ask("73 73 73 73 73 73 6E 73 6E 73 6E 73 73 6E 70 00 AA 01 FB").size());
  CHECK_EQUAL(0, bench.ask("73 6E 70 12 45").size());
  bench.run_for(0.2);
  CHECK_EQUAL(1, bench.ask("73 6E 70 00 AA 01 FB").size());
}

TEST(SimUm7, BroadcastsGoAtTheRatesOfTheirRegisters) {
  Bench bench("um7", {{"found", "silent"}});
  bench.run_for(1.0);
  CHECK_EQUAL(0, bench.out.frames.size());
  bench.ask(write(4, 100)), bench.ask(write(5, 50U << 24));
  bench.run_for(1.0);
  std::size_t processed = 0, attitudes = 0;
  for (const Packet& packet : packets_in(bench.out)) {
    processed += packet.address == 97;
    attitudes += packet.address == 109;
  }
  CHECK_EQUAL(100, processed);
  CHECK_EQUAL(50, attitudes);
  CHECK_EQUAL(100, bench.out.imus.size());
  bench.ask(write(4, 0)), bench.ask(write(5, 0));
  bench.run_for(1.0);
  CHECK_EQUAL(0, bench.out.frames.size());
}

TEST(SimUm7, WhatGoesAtOneRateIsOfOneInstant) {
  Bench bench("um7", {{"found", "silent"}});
  bench.ask(write(4, 120));
  bench.run_for(0.0051);
  bench.ask(write(5, 120U << 24));
  bench.run_for(1.0);
  const auto all = packets_in(bench.out);
  CHECK_EQUAL(240, all.size());
  for (std::size_t i = 1; i < all.size(); i += 2) CHECK_EQUAL(all[i - 1].data[3], all[i].data[2]);
}

TEST(SimUm7, AtRestTheAxesAreForwardRightDown) {
  Bench bench("um7", {{"found", "streaming"}, {"motion", "rest"}});
  bench.run_for(0.01);
  const auto all = packets_in(bench.out);
  CHECK_EQUAL(2, all.size());
  DOUBLES_EQUAL(-1.0, f32(all[0].data[6]), 1e-6);
  CHECK_EQUAL(0x52480000, all[1].data[0]);
  CHECK_EQUAL(0x00005248, all[1].data[1]);
}

TEST(SimUm7, TheTruthIsTheSampleAndItsStampIsCutToAFloat) {
  Bench bench("um7", {{"found", "streaming"}}, 200.0);
  bench.run_for(40.0);
  const auto all = packets_in(bench.out);
  CHECK_EQUAL(16'000, all.size());
  for (std::size_t i = 7000; i < 8000; ++i) {
    const sim::ImuTruth& truth = bench.out.imus[i];
    const Packet& packet = all[2 * i];
    DOUBLES_EQUAL(truth.gyro[2], -f32(packet.data[2]) * sim::radians(1), 1e-6);
    DOUBLES_EQUAL(static_cast<double>(truth.device_ns), f32(packet.data[3]) * 1e9, 1.0);
    const auto off = truth.at - sim_test::kStart - hal::Duration(truth.device_ns);
    CHECK_TRUE(off >= hal::Duration(-2) && off < hal::Duration(4000));
  }
}

TEST(SimUm7, OnlyWhatWasCommittedOutlivesAPowerCycle) {
  Bench bench("um7", {{"found", "silent"}});
  bench.ask(write(4, 100));
  bench.model->power_up(bench.now, bench.out);
  CHECK_EQUAL(0, ask(bench, request(0, 4)).data.at(0));
  bench.ask(write(4, 100));
  CHECK_EQUAL(0, ask(bench, request(0, 0xAB)).type);
  bench.model->power_up(bench.now, bench.out);
  CHECK_EQUAL(100, ask(bench, request(0, 4)).data.at(0));
  ask(bench, request(0, 0xAC));
  CHECK_EQUAL(0, ask(bench, request(0, 4)).data.at(0));
}

TEST(SimUm7, ANewBaudRateHoldsAfterTheAnswer) {
  Bench bench("um7", {{"baud", "57600"}});
  CHECK_EQUAL(57'600, bench.model->baud());
  bench.ask(write(0, 0xB0000000));
  CHECK_EQUAL(57'600, bench.model->baud());
  bench.run_for(0.1);
  CHECK_EQUAL(921'600, bench.model->baud());
  bench.ask(write(0, 0xF0000000));
  bench.run_for(0.1);
  CHECK_EQUAL(921'600, bench.model->baud());
}

TEST(SimUm7, HealthIsToldWhereItIsWantedAndWhenItIsAsked) {
  Bench bench("um7", {{"found", "silent"}, {"health", "8"}});
  CHECK_EQUAL(8, ask(bench, request(0, 85)).data.at(0));
  bench.ask(write(6, 4U << 16));
  bench.run_for(3.0);
  const auto all = packets_in(bench.out);
  CHECK_EQUAL(3, all.size());
  CHECK_EQUAL(85, all[0].address);
  CHECK_EQUAL(8, all[0].data[0]);
}

TEST(SimUm7, AnotherMessageSetIsRawDataWithTextInBetween) {
  Bench bench("um7", {{"found", "raw"}});
  bench.run_for(2.0);
  std::string text;
  for (const sim::Frame& frame : bench.out.frames) text += static_cast<char>(frame.bytes[0]);
  CHECK_TRUE(text.find('$') != std::string::npos);
  std::size_t raw = 0, angles = 0;
  for (const Packet& packet : packets_in(bench.out)) {
    raw += packet.address == 86 && packet.data.size() == 11;
    angles += packet.address == 112;
  }
  CHECK_EQUAL(200, raw);
  CHECK_EQUAL(200, angles);
}

TEST(SimUm7, AFalsifiedPacketHasNonsenseUnderAGoodSum) {
  Bench bench("um7", {{"found", "streaming"}});
  bench.run_for(0.01);
  sim::ByteVector frame = bench.out.frames[0].bytes;
  sim::Random random(3);
  bench.model->falsify(frame, random);
  sim::um7::Parser parser;
  parser.add(frame, sim_test::kStart);
  const double x = f32(parser.next().value_or(Packet{}).data.at(0));
  CHECK_TRUE(std::isnan(x) || x > 1e8);
}

TEST(SimUm7, ARateThatIsNoWholeNumberIsRefused) {
  const sim::ModelRow& row = *sim::find_model("um7");
  const sim::Settings settings = *sim::Settings::check(row.options, {});
  sim::DeviceClock clock(1);
  CHECK_FALSE(static_cast<bool>(row.make({settings, clock, 300.0, 1})));
  CHECK_TRUE(static_cast<bool>(row.make({settings, clock, 255.0, 1})));
}
