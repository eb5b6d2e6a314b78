#include "test/sim/anpp.h"

#include <bit>
#include <cmath>

#include "test/sim/anpp_data.h"
#include "test/sim/wire.h"
#include "test/support/harness.h"
#include "test/unit/sim_fixture.h"

using sim::anpp::Packet;
using sim_test::Bench;
using sim_test::bytes_of;
using sim_test::hex_of;

namespace {

const char* const kTimer = "A6 B4 04 88 1A 00 01 E8 03";
const char* const kPeriods = "5C B5 11 E7 F7 00 01 15 0A 00 00 00 1C 0A 00 00 00 28 0A 00 00 00";
const char* const kAskInfo = "9A 01 01 93 D1 03";

std::string command(unsigned id, std::initializer_list<unsigned> data) {
  Packet p{id, {}};
  for (const unsigned d : data) sim::put8(p.data, d);
  return hex_of(sim::anpp::packet_bytes(p));
}

std::vector<Packet> packets_of(const std::vector<sim::Frame>& frames) {
  sim::anpp::Parser parser;
  for (const sim::Frame& f : frames) parser.add(f.bytes, sim_test::kStart);
  std::vector<Packet> all;
  Packet p;
  for (auto found = parser.next(p); found != sim::anpp::Parser::Found::nothing;
       found = parser.next(p)) {
    CHECK_TRUE(found == sim::anpp::Parser::Found::packet);
    all.push_back(p);
  }
  return all;
}

double f32_at(hal::Bytes b, std::size_t at) {
  return static_cast<double>(
      std::bit_cast<float>(static_cast<std::uint32_t>(sim::get_le(b, at, 4))));
}

// Of an acknowledgement, its result; of anything else 99.
unsigned result_of(Bench& bench, const std::string& asked) {
  const auto answers = bench.ask(asked);
  CHECK_EQUAL(1, answers.size());
  const auto bytes = bytes_of(answers[0]);
  if (sim::u8_at(bytes, 1) != 0) return 99;
  CHECK_EQUAL(sim::u8_at(bytes_of(asked), 1), sim::u8_at(bytes, 5));
  return sim::u8_at(bytes, 8);
}

}  // namespace

TEST_GROUP(SimAnpp){static void check_packet(const char* expected, unsigned id,
                                             const sim::anpp::Sample& s){
    STRCMP_EQUAL(expected, hex_of(sim::anpp::packet_bytes(sim::anpp::data_packet(id, s))).c_str());
}
}
;

TEST(SimAnpp, TheWorkedPacketsComeOutByteForByte) {
  sim::anpp::Sample s;
  s.unix_ns = 1'700'000'000'500'000'000;
  s.motion.accel = {0.1, 0.2, 9.81};
  s.motion.gyro = {0.01, 0.02, -0.03};
  s.motion.mag = {200e-7, 50e-7, -400e-7};
  check_packet("90 15 08 4D 06 00 F1 53 65 20 A1 07 00", 21, s);
  check_packet(
      "60 1C 30 2D 27 CD CC CC 3D CD CC 4C BE C3 F5 1C C1 0A D7 23 3C 0A D7 A3 BC 8F C2 F5 "
      "3C 00 00 48 43 00 00 48 C2 00 00 C8 43 00 00 C8 41 80 E6 C5 47 00 00 C8 41",
      28, s);
  check_packet("41 28 10 4D 3A F3 04 35 3F 00 00 00 00 00 00 00 00 F3 04 35 3F", 40, s);
  check_packet("1D 2A 0C B5 F8 0A D7 23 3C 0A D7 A3 BC 8F C2 F5 3C", 42, s);
  CHECK_EQUAL(100, sim::anpp::data_packet(20, s).data.size());
  const auto digits = bytes_of("30 31 32 33 34 35 36");
  CHECK_EQUAL(0x88A7, sim::anpp::crc_of(digits));
}

TEST(SimAnpp, TheWorkedCommandsMakeDataFlow) {
  Bench bench("anpp");
  STRCMP_EQUAL(kAskInfo, command(1, {3}).c_str());
  CHECK_EQUAL(24 + 5, bytes_of(bench.ask(kAskInfo).at(0)).size());
  bench.run_for(1.0);
  CHECK_EQUAL(0, bench.out.frames.size());
  CHECK_EQUAL(0, result_of(bench, kTimer));
  CHECK_EQUAL(0, result_of(bench, kPeriods));
  bench.run_for(1.0);
  const auto packets = packets_of(bench.out.frames);
  CHECK_EQUAL(300, packets.size());
  CHECK_EQUAL(100, bench.out.imus.size());
  for (std::size_t i = 0; i < 300; ++i) {
    const unsigned ids[] = {21, 28, 40};
    CHECK_EQUAL(ids[i % 3], packets[i].id);
  }
}

TEST(SimAnpp, AnAcknowledgementNamesTheCheckOfWhatItAcknowledges) {
  Bench bench("anpp");
  const auto answer = bytes_of(bench.ask(kTimer).at(0));
  CHECK_EQUAL(0x1A88, sim::get_le(answer, 6, 2));
}

TEST(SimAnpp, SettingsAreReadBack) {
  Bench bench("anpp");
  bench.ask(kTimer), bench.ask(kPeriods);
  STRCMP_EQUAL(command(180, {0, 0, 0xE8, 3}).c_str(), bench.ask(command(1, {180})).at(0).c_str());
  STRCMP_EQUAL(command(181, {0, 0, 21, 10, 0, 0, 0, 28, 10, 0, 0, 0, 40, 10, 0, 0, 0}).c_str(),
               bench.ask(command(1, {181})).at(0).c_str());
  CHECK_EQUAL(1, bench.ask(command(1, {28})).size());
  CHECK_EQUAL(2, bench.ask(command(1, {21, 49})).size());
}

TEST(SimAnpp, WhatCannotBeIsRefusedWithItsResult) {
  Bench bench("anpp", {{"lacks", "49"}});
  CHECK_EQUAL(3, result_of(bench, command(180, {0, 0, 0xE7, 3})));
  CHECK_EQUAL(2, result_of(bench, command(180, {0, 0, 1})));
  CHECK_EQUAL(2, result_of(bench, command(181, {0, 1, 21})));
  CHECK_EQUAL(3, result_of(bench, command(181, {0, 1, 99, 1, 0, 0, 0})));
  CHECK_EQUAL(3, result_of(bench, command(181, {0, 1, 49, 1, 0, 0, 0})));
  CHECK_EQUAL(6, result_of(bench, command(77, {})));
  CHECK_EQUAL(6, result_of(bench, command(1, {49})));
  CHECK_EQUAL(2, result_of(bench, command(5, {})));
  auto damaged = bytes_of(kTimer);
  damaged.back() ^= std::byte{1};
  const auto answer = bytes_of(bench.ask(hex_of(damaged)).at(0));
  CHECK_EQUAL(1, sim::u8_at(answer, 8));
  Bench mute("anpp", {{"commands", "mute"}});
  CHECK_EQUAL(0, mute.ask(kTimer).size() + mute.ask(kAskInfo).size());
}

TEST(SimAnpp, APeriodOfZeroTurnsAPacketOffAndOthersStay) {
  Bench bench("anpp", {{"streaming", "on"}});
  CHECK_EQUAL(0, result_of(bench, command(181, {0, 0, 40, 0, 0, 0, 0})));
  bench.run_for(0.1);
  for (const Packet& p : packets_of(bench.out.frames)) CHECK_FALSE(p.id == 40);
  CHECK_EQUAL(30, bench.out.frames.size());
  CHECK_EQUAL(0, result_of(bench, command(181, {0, 1})));
  bench.out.clear();
  bench.run_for(0.1);
  CHECK_EQUAL(0, bench.out.frames.size());
}

TEST(SimAnpp, OnlyWhatIsPermanentOutlivesAReset) {
  Bench bench("anpp");
  CHECK_EQUAL(0, result_of(bench, kPeriods));
  CHECK_EQUAL(0, result_of(bench, command(5, {0x7E, 0x7A, 5, 0x21})));
  bench.run_for(0.4);
  CHECK_EQUAL(0, bench.ask(kAskInfo).size());  // it boots
  bench.run_for(0.6);
  CHECK_EQUAL(0, bench.out.frames.size());
  CHECK_EQUAL(0, result_of(bench, command(181, {1, 1, 28, 10, 0, 0, 0})));
  CHECK_EQUAL(0, result_of(bench, command(5, {0x7E, 0x7A, 5, 0x21})));
  bench.out.clear();
  bench.run_for(0.514);
  CHECK_EQUAL(1, bench.out.frames.size());
  CHECK_EQUAL(10'000'000, bench.out.imus[0].device_ns);  // its clock began anew
}

TEST(SimAnpp, ANewBaudRateHoldsAfterTheReply) {
  Bench bench("anpp");
  Packet p{182, {}};
  sim::put8(p.data, 0);
  for (int i = 0; i < 4; ++i) sim::put_le(p.data, 921'600, 4);
  CHECK_EQUAL(0, result_of(bench, hex_of(sim::anpp::packet_bytes(p))));
  CHECK_EQUAL(115200, bench.model->baud());
  bench.run_for(0.1);
  CHECK_EQUAL(921600, bench.model->baud());
}

TEST(SimAnpp, TheTruthIsTheSampleInForwardLeftUpAtItsRunningTime) {
  Bench bench("anpp", {{"streaming", "on"}}, 200.0);
  bench.run_for(1.0);
  CHECK_EQUAL(200, bench.out.imus.size());
  std::size_t raw = 0, times = 0;
  const double sign[] = {1, -1, -1};
  for (const Packet& p : packets_of(bench.out.frames)) {
    if (p.id == 28) {
      const sim::ImuTruth& truth = bench.out.imus.at(raw++);
      for (std::size_t k = 0; k < 3; ++k) {
        DOUBLES_EQUAL(truth.accel[k], sign[k] * f32_at(p.data, 4 * k), 1e-5);
        DOUBLES_EQUAL(truth.gyro[k], sign[k] * f32_at(p.data, 12 + 4 * k), 1e-6);
      }
    }
    if (p.id == 49) {
      CHECK_EQUAL(bench.out.imus.at(times).device_ns / 1000,
                  static_cast<std::int64_t>(sim::get_le(p.data, 0, 4) * 1'000'000 +
                                            sim::get_le(p.data, 4, 4)));
      ++times;
    }
  }
  CHECK_EQUAL(200, raw);
  CHECK_EQUAL(200, times);
}

TEST(SimAnpp, ItsUnixTimeJumpsWhenItLearnsTheDateItsRunningTimeDoesNot) {
  Bench bench("anpp", {{"streaming", "on"}, {"utc_at_s", "1"}});
  bench.run_for(2.0);
  std::uint64_t before = 0, first_known = 0;
  for (const Packet& p : packets_of(bench.out.frames)) {
    if (p.id != 21) continue;
    const std::uint64_t s = sim::get_le(p.data, 0, 4);
    if (s < 1'000'000'000) before = s;
    if (s > 1'000'000'000 && first_known == 0) first_known = s;
  }
  CHECK_EQUAL(946'684'800, before);
  CHECK_EQUAL(1'700'000'001, first_known);
}

TEST(SimAnpp, ItsStateHasItsFaultsAndNoGravity) {
  Bench bench("anpp", {{"streaming", "state"}, {"system_status", "2"}, {"settle_s", "1"}});
  bench.run_for(2.0);
  CHECK_EQUAL(0, bench.out.imus.size());
  const auto packets = packets_of(bench.out.frames);
  CHECK_EQUAL(80, packets.size());
  CHECK_EQUAL(20, packets[0].id);
  CHECK_EQUAL(2, sim::get_le(packets[0].data, 0, 2));
  CHECK_EQUAL(0, sim::get_le(packets[0].data, 2, 2));
  CHECK_EQUAL(5, sim::get_le(packets[78].data, 2, 2));
  for (std::size_t k = 0; k < 3; ++k) DOUBLES_EQUAL(0, f32_at(packets[0].data, 48 + 4 * k), 1e-6);
  DOUBLES_EQUAL(1, f32_at(packets[0].data, 60), 1e-6);
}

TEST(SimAnpp, BundledPacketsOfAnInstantAreOneDatagram) {
  Bench bench("anpp", {{"streaming", "on"}, {"bundle", "on"}});
  bench.run_for(1.0);
  CHECK_EQUAL(100, bench.out.frames.size());
  CHECK_EQUAL(401, packets_of(bench.out.frames).size());
}

TEST(SimAnpp, AFalsifiedPacketHasGoodChecks) {
  Bench bench("anpp", {{"streaming", "on"}});
  bench.run_for(0.011);
  sim::Random random(3);
  for (sim::Frame f : bench.out.frames) {
    const sim::ByteVector before = f.bytes;
    bench.model->falsify(f.bytes, random);
    const auto packets = packets_of({f});
    CHECK_EQUAL(1, packets.size());
    CHECK_EQUAL(packets[0].id == 28 || packets[0].id == 40, f.bytes != before);
  }
}

TEST(SimAnpp, ARateThatIsNoDivisorIsRefused) {
  const sim::ModelRow& row = *sim::find_model("anpp");
  const sim::Settings settings = *sim::Settings::check(row.options, {});
  sim::DeviceClock clock(1);
  CHECK_FALSE(static_cast<bool>(row.make({settings, clock, 300.0, 1})));
  CHECK_TRUE(static_cast<bool>(row.make({settings, clock, 250.0, 1})));
}
