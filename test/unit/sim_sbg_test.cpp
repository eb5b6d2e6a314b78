#include "test/sim/sbg.h"

#include <bit>
#include <cmath>

#include "test/sim/room.h"
#include "test/sim/sbg_logs.h"
#include "test/sim/wire.h"
#include "test/support/harness.h"
#include "test/unit/sim_fixture.h"

using sim::sbg::Message;
using sim_test::Bench;
using sim_test::bytes_of;
using sim_test::hex_of;
using namespace std::chrono_literals;

namespace {

const char* const kInfo = "FF 5A 04 10 00 00 79 F7 33";
const char* const kShortAt100 = "FF 5A 1E 10 05 00 00 2C 00 02 00 4D A4 33";
const char* const kAckOfOutput = "FF 5A 00 10 04 00 1E 10 00 00 13 4D 33";
const char* const kSave = "FF 5A 01 10 01 00 01 B0 83 33";

std::vector<Message> messages_of(const std::vector<sim::Frame>& frames) {
  sim::sbg::Parser parser;
  for (const sim::Frame& f : frames) parser.add(f.bytes, sim_test::kStart);
  std::vector<Message> all;
  while (auto m = parser.next()) all.push_back(*m);
  return all;
}

std::string command(unsigned id, std::initializer_list<unsigned> data) {
  Message m{id, 0x10, {}};
  for (const unsigned d : data) sim::put8(m.data, d);
  return hex_of(sim::sbg::frame_bytes(m));
}

double f32_at(hal::Bytes b, std::size_t at) {
  return static_cast<double>(
      std::bit_cast<float>(static_cast<std::uint32_t>(sim::get_le(b, at, 4))));
}

sim::sbg::Sample worked_sample() {
  sim::sbg::Sample s;
  s.device_ns = 1'500'000'000;
  s.motion.accel = {0.1, 0.2, 9.81};
  s.motion.gyro = {0.01, 0.02, -0.03};
  return s;
}

void check_log(const char* expected, unsigned id, const sim::sbg::Sample& s) {
  STRCMP_EQUAL(expected, hex_of(sim::sbg::frame_bytes(sim::sbg::log(id, 0, s))).c_str());
}

}  // namespace

TEST_GROUP(SimSbg){// Of the answer to a command: what it acknowledges, and the error.
                   static void check_error(Bench & bench, const std::string& asked,
                                           unsigned error){const auto answers = bench.ask(asked);
CHECK_EQUAL(1, answers.size());
const auto bytes = bytes_of(answers[0]);
CHECK_EQUAL(0, sim::u8_at(bytes, 2));
CHECK_EQUAL(sim::u8_at(bytes_of(asked), 2), sim::u8_at(bytes, 6));
CHECK_EQUAL(error, sim::get_le(bytes, 8, 2));
}
}
;

TEST(SimSbg, TheWorkedLogsComeOutByteForByte) {
  auto s = worked_sample();
  s.device_ns = 1'000'000'000;
  check_log(
      "FF 5A 2C 00 20 00 40 42 0F 00 FF 03 9A 99 01 00 CD CC FC FF 3D 0A 63 FF 71 3D 0A 00 "
      "1F 85 EB FF 52 B8 1E 00 80 19 3E A4 33",
      44, s);
  s.device_ns = 2'000'000'000;
  s.motion.gyro[2] = -40.0;  // beyond the fine scale
  check_log(
      "FF 5A 2C 00 20 00 80 84 1E 00 FF 07 9A 99 01 00 CD CC FC FF 3D 0A 63 FF A2 E0 01 00 "
      "BD 3E FC FF 30 DF 55 1D 80 19 E6 C7 33",
      44, s);
  s = worked_sample();  // nose to the East
  check_log(
      "FF 5A 07 00 24 00 60 E3 16 00 F3 04 35 3F 00 00 00 00 00 00 00 00 F3 04 35 3F 0A D7 "
      "23 3C 0A D7 23 3C 0A D7 A3 3C 32 00 00 00 07 E6 33",
      7, s);
  // The worked one says that it is out of range; else the same.
  const Message data = sim::sbg::log(3, 0, s);
  STRCMP_EQUAL(
      "CD CC CC 3D CD CC 4C BE C3 F5 1C C1 0A D7 23 3C 0A D7 A3 BC 8F C2 F5 3C 00 00 CC 41 "
      "CD CC CC 3D CD CC 4C BE C3 F5 1C C1 0A D7 23 3C 0A D7 A3 BC 8F C2 F5 3C",
      hex_of(hal::Bytes(data.data).subspan(6)).c_str());
}

TEST(SimSbg, AnglesAreThoseOfTheWorkedLog) {
  auto s = worked_sample();
  // NED roll 0.1, pitch -0.2, heading East: ENU roll 0.1, pitch 0.2, yaw 0.
  const double r = 0.05, p = 0.1;
  s.motion.orientation = {std::cos(r) * std::cos(p), std::sin(r) * std::cos(p),
                          std::cos(r) * std::sin(p), -std::sin(r) * std::sin(p)};
  const Message m = sim::sbg::log(6, 0, s);
  CHECK_EQUAL(32, m.data.size());
  DOUBLES_EQUAL(0.1, f32_at(m.data, 4), 1e-6);
  DOUBLES_EQUAL(-0.2, f32_at(m.data, 8), 1e-6);
  DOUBLES_EQUAL(sim::kTurn / 4, f32_at(m.data, 12), 1e-6);
  CHECK_EQUAL(0x32, sim::get_le(m.data, 28, 4));
}

TEST(SimSbg, NewerFirmwareAppendsFields) {
  auto s = worked_sample();
  s.has_new_fields = true;
  CHECK_EQUAL(40, sim::sbg::log(6, 0, s).data.size());
  CHECK_EQUAL(44, sim::sbg::log(7, 0, s).data.size());
  CHECK_EQUAL(33, sim::sbg::log(2, 0, s).data.size());
  s.has_new_fields = false;
  CHECK_EQUAL(21, sim::sbg::log(2, 0, s).data.size());
}

TEST(SimSbg, TheDateIsThatOfItsStamp) {
  auto s = worked_sample();
  s.unix_ns = 1'700'000'000'250'000'000;  // 2023-11-14 22:13:20.25
  const Message m = sim::sbg::log(2, 0, s);
  CHECK_EQUAL(1 | 3 << 1 | 1 << 5 | 2 << 6, sim::get_le(m.data, 4, 2));
  CHECK_EQUAL(2023, sim::get_le(m.data, 6, 2));
  CHECK_EQUAL(11, sim::u8_at(m.data, 8));
  CHECK_EQUAL(14, sim::u8_at(m.data, 9));
  CHECK_EQUAL(22, sim::u8_at(m.data, 10));
  CHECK_EQUAL(13, sim::u8_at(m.data, 11));
  CHECK_EQUAL(20, sim::u8_at(m.data, 12));
  CHECK_EQUAL(250'000'000, sim::get_le(m.data, 13, 4));
}

TEST(SimSbg, TheWorkedCommandsAreAnsweredByteForByte) {
  Bench bench("sbg", {{"streaming", "off"}});
  const auto answers = bench.ask(kShortAt100);
  CHECK_EQUAL(1, answers.size());
  STRCMP_EQUAL(kAckOfOutput, answers[0].c_str());
  CHECK_EQUAL(1, bench.ask(kInfo).size());
  CHECK_EQUAL(kInfo, command(4, {}));
  CHECK_EQUAL(kSave, command(1, {1}));
}

TEST(SimSbg, WhatIsToldIsSentAndReadBack) {
  Bench bench("sbg", {{"streaming", "off"}, {"extras", "off"}});
  bench.run_for(1.0);
  CHECK_EQUAL(0, bench.out.frames.size());
  bench.ask(kShortAt100);
  STRCMP_EQUAL(command(30, {0, 44, 0, 2, 0}).c_str(),
               bench.ask(command(30, {0, 44, 0}))[0].c_str());
  bench.run_for(1.0);
  CHECK_EQUAL(100, bench.out.frames.size());
  CHECK_EQUAL(100, bench.out.imus.size());
  for (const unsigned mode : {1001U, 1004U, 4U, 10001U}) {
    bench.out.clear();
    check_error(bench, command(30, {0, 44, 0, mode & 0xFF, mode >> 8}), 0);
    bench.run_for(1.0);
    const double hz = mode == 10001 ? 200 : mode > 1000 ? 1000.0 / (mode - 1000) : 200.0 / mode;
    DOUBLES_EQUAL(hz, static_cast<double>(bench.out.frames.size()), 1e-9);
  }
  check_error(bench, command(30, {0, 44, 0, 0, 0}), 0);
  bench.out.clear();
  bench.run_for(1.0);
  CHECK_EQUAL(0, bench.out.frames.size());
}

TEST(SimSbg, WhatCannotBeIsRefusedWithItsCode) {
  Bench bench("sbg");
  check_error(bench, command(30, {0, 99, 0, 2, 0}), 9);  // no such log
  check_error(bench, command(30, {7, 44, 0, 2, 0}), 9);  // no such port
  check_error(bench, command(30, {0, 44, 0, 3, 0}), 9);  // no such mode
  check_error(bench, command(30, {0, 44}), 9);
  check_error(bench, command(1, {3}), 9);
  check_error(bench, command(77, {}), 9);
  CHECK_EQUAL(0, bench.ask("FF 5A 04 10 00 00 79 F8 33").size());  // bad CRC
  CHECK_EQUAL(0, bench.ask("FF 5A 04 10 00 00 79 F7 34").size());  // bad end
  Bench refusing("sbg", {{"commands", "refused"}});
  check_error(refusing, kShortAt100, 10);
  CHECK_EQUAL(1, refusing.ask(kInfo).size());
  Bench mute("sbg", {{"commands", "mute"}});
  CHECK_EQUAL(0, mute.ask(kInfo).size() + mute.ask(kShortAt100).size());
}

TEST(SimSbg, OnlyWhatWasSavedOutlivesAReboot) {
  Bench bench("sbg", {{"streaming", "off"}, {"extras", "off"}});
  bench.ask(kShortAt100);
  check_error(bench, command(1, {0}), 0);
  bench.run_for(0.4);
  CHECK_EQUAL(0, bench.ask(kInfo).size());  // it boots
  bench.run_for(0.6);
  CHECK_EQUAL(0, bench.out.frames.size());
  bench.ask(kShortAt100);
  check_error(bench, kSave, 0);
  check_error(bench, command(1, {0}), 0);
  bench.out.clear();
  bench.run_for(0.514);
  CHECK_EQUAL(1, bench.out.frames.size());
  CHECK_EQUAL(10'000'000, bench.out.imus[0].device_ns);  // its clock began anew
  check_error(bench, command(1, {2}), 0);                // as it left the factory
  bench.out.clear();
  bench.run_for(1.0);
  CHECK_EQUAL(0, bench.out.frames.size());
}

TEST(SimSbg, ItIsFoundStreamingLogsOfOneClockAmongOtherThings) {
  Bench bench("sbg");
  bench.run_for(2.0);
  unsigned shorts = 0, quaternions = 0, utc = 0, angles = 0, pages = 0, status = 0;
  const auto messages = messages_of(bench.out.frames);
  std::size_t i = 0;
  for (const Message& m : messages) {
    if (m.cls == 0 && m.id == 44) {
      CHECK_EQUAL(bench.out.imus.at(i).device_ns / 1000,
                  static_cast<std::int64_t>(sim::get_le(m.data, 0, 4)));
      ++shorts, ++i;
    }
    quaternions += m.cls == 0 && m.id == 7;
    utc += m.cls == 0 && m.id == 2;
    angles += m.cls == 0 && m.id == 6;
    status += m.cls == 0 && m.id == 1;
    pages += m.cls == 0x80;
  }
  CHECK_EQUAL(200, shorts);
  CHECK_EQUAL(200, quaternions);
  CHECK_EQUAL(2, utc);
  CHECK_EQUAL(2, status);
  CHECK_EQUAL(20, angles);
  CHECK_EQUAL(2, pages);
  CHECK_EQUAL(messages.size() + 2, bench.out.frames.size());  // and two sentences
}

TEST(SimSbg, EachInertialLogTellsTheTruth) {
  const auto check = [](const char* log, double accel_unit, double gyro_unit, double tolerance) {
    Bench bench("sbg", {{"log", log}, {"extras", "off"}});
    bench.run_for(1.0);
    std::size_t n = 0;
    for (const Message& m : messages_of(bench.out.frames)) {
      if (!sim::sbg::is_inertial(m.id, m.cls)) continue;
      const sim::ImuTruth& truth = bench.out.imus.at(n++);
      const double sign[] = {1, -1, -1};
      for (std::size_t k = 0; k < 3; ++k) {
        double accel = 0, gyro = 0;
        if (m.cls == 1) {
          accel = static_cast<std::int16_t>(sim::get_le(m.data, 6 + 2 * k, 2)) * accel_unit;
          gyro = static_cast<std::int16_t>(sim::get_le(m.data, 12 + 2 * k, 2)) * gyro_unit;
        } else if (m.id == 3) {
          accel = f32_at(m.data, 6 + 4 * k), gyro = f32_at(m.data, 18 + 4 * k);
        } else {
          accel = static_cast<std::int32_t>(sim::get_le(m.data, 6 + 4 * k, 4)) * accel_unit;
          gyro = static_cast<std::int32_t>(sim::get_le(m.data, 18 + 4 * k, 4)) * gyro_unit;
        }
        DOUBLES_EQUAL(truth.accel[k], sign[k] * accel, tolerance);
        DOUBLES_EQUAL(truth.gyro[k], sign[k] * gyro, tolerance);
      }
    }
    CHECK_EQUAL(100, n);
  };
  check("short", 1.0 / 1048576, 1.0 / 67108864, 1e-6);
  check("data", 1, 1, 1e-6);
  check("fast", 0.01, 0.001, 6e-3);
}

TEST(SimSbg, UntilItHasSettledItsAttitudeIsMarked) {
  Bench bench("sbg", {{"settle_s", "1"}});
  bench.run_for(2.0);
  unsigned valid = 0, invalid = 0;
  for (const Message& m : messages_of(bench.out.frames)) {
    if (m.cls != 0 || m.id != 7) continue;
    const bool is_valid = (sim::get_le(m.data, 32, 4) & 0x30) != 0;
    valid += is_valid, invalid += !is_valid;
    if (!is_valid) DOUBLES_EQUAL(1.0, f32_at(m.data, 4), 1e-9);
  }
  CHECK_EQUAL(99, invalid);
  CHECK_EQUAL(101, valid);
}

TEST(SimSbg, BundledLogsOfAnInstantAreOneDatagram) {
  Bench bench("sbg", {{"bundle", "on"}, {"extras", "off"}});
  bench.run_for(1.0);
  CHECK_EQUAL(100, bench.out.frames.size());
  CHECK_EQUAL(201, messages_of(bench.out.frames).size());
}

TEST(SimSbg, ItsStampsWrapAt32Bits) {
  Bench bench("sbg");
  CHECK_TRUE(bench.model->clock_period() == 4'294'967'296us);
}

TEST(SimSbg, APartialCommandIsForgottenAfterSilence) {
  Bench bench("sbg", {{"streaming", "off"}, {"extras", "off"}});
  CHECK_EQUAL(0, bench.ask("FF 5A 04 10 00").size());
  CHECK_EQUAL(1, bench.ask("00 79 F7 33").size());
  CHECK_EQUAL(0, bench.ask("FF 5A 04 10 00").size());
  bench.run_for(0.2);
  CHECK_EQUAL(0, bench.ask("00 79 F7 33").size());
}

TEST(SimSbg, AFalsifiedLogHasAGoodCheck) {
  for (const char* log : {"short", "data", "fast"}) {
    Bench bench("sbg", {{"log", log}, {"extras", "off"}});
    bench.run_for(0.011);
    sim::Random random(3);
    for (const sim::Frame& f : bench.out.frames) {
      sim::Frame other = f;
      bench.model->falsify(other.bytes, random);
      CHECK_EQUAL(1, messages_of({other}).size());
      CHECK_FALSE(other.bytes == f.bytes);
    }
  }
}

TEST(SimSbg, ARateThatItDoesNotHaveIsRefused) {
  const sim::ModelRow& row = *sim::find_model("sbg");
  const sim::Settings settings = *sim::Settings::check(row.options, {});
  sim::DeviceClock clock(1);
  CHECK_FALSE(static_cast<bool>(row.make({settings, clock, 300.0, 1})));
  CHECK_TRUE(static_cast<bool>(row.make({settings, clock, 500.0, 1})));
  CHECK_TRUE(static_cast<bool>(row.make({settings, clock, 25.0, 1})));
}
