#include "drivers/coin_d4/coin_d4.h"

#include <cmath>
#include <numbers>

#include "drivers/decoder.h"
#include "drivers/recognise.h"
#include "drivers/wire.h"
#include "test/sim/room.h"
#include "test/support/framing_properties.h"
#include "test/support/hex.h"
#include "test/support/sim_line.h"
#include "test/unit/sim_fixture.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::SimLine;
using test::Stream;

namespace {

constexpr double kDeg = std::numbers::pi / 180;

// Of a device that streams, without its answers.
std::vector<Stream> packets(double seconds, const sim::Options& set = {}) {
  sim::Options all = set;
  all["running"] = "on";
  sim_test::Bench device("coin_d4", all);
  device.run_for(seconds);
  std::vector<Stream> out;
  for (const sim::Frame& frame : device.out.frames) out.push_back(frame.bytes);
  return out;
}

// As far as an angle of 1/64 degree tells.
bool is_true(const Beam& beam) {
  return std::ranges::any_of(std::array{-1, 0, 1}, [&](int side) {
    const double range = sim::Room::range(double{beam.angle} + side * kDeg / 64);
    return std::abs(range - double{beam.range}) < 0.01;
  });
}

// A packet of which the check is made to agree by its last intensity and distance.
Stream sealed(Stream p) {
  unsigned check = 0;
  for (std::size_t i = 0; i < 8; i += 2) check ^= wire::u16(p, i);
  for (std::size_t i = 10; i < p.size(); i += 3) check ^= wire::u8(p, i) ^ wire::u16(p, i + 1);
  p[8] = static_cast<std::byte>(check);
  p[9] = static_cast<std::byte>(check >> 8);
  return p;
}

}  // namespace

TEST_GROUP(CoinD4) {
  test::ManualClock clock;
  Options options{CoinD4::options()};
  test::PacketLog log;
  DeviceDecoder<CoinD4> decoder{options, 0, log};

  void feed(const Stream& bytes) { decoder.feed({bytes, clock.advance(5ms)}); }
  static void is_well(SimLine & line) {
    line.run_for(1s);
    const std::size_t from = line.log.slices.size();
    line.run_for(4s);
    CHECK_TRUE(line.health().state == State::streaming);
    CHECK_TRUE(line.health().balances());
    std::size_t turns = 0;
    for (std::size_t i = from; i < line.log.slices.size(); ++i) {
      turns += line.log.slices[i].starts_turn;
      for (const Beam& beam : line.log.beams[i]) {
        CHECK_TRUE(is_true(beam));
      }
    }
    CHECK_TRUE(turns == 20 || turns == 21);
  }
};

TEST(CoinD4, DecodesTheRecordedSamples) {
  Stream p = hex("AA 55 00 19 CB 6F 77 76 87 55 50 03 00 2C 2B 0A");
  p.resize(85);
  feed(sealed(p));
  LONGS_EQUAL(1, log.slices.size());
  LONGS_EQUAL(25, log.beams[0].size());
  DOUBLES_EQUAL(-223.578, log.beams[0][0].angle / kDeg, 1e-3);
  DOUBLES_EQUAL(0, log.beams[0][0].range, 0);
  DOUBLES_EQUAL(0x50, log.beams[0][0].intensity, 0);
  DOUBLES_EQUAL(-223.578 - 13.344 / 24, log.beams[0][1].angle / kDeg, 1e-3);
  DOUBLES_EQUAL(0.650, log.beams[0][1].range, 1e-6);
  DOUBLES_EQUAL(44, log.beams[0][1].intensity, 0);
  DOUBLES_EQUAL(-236.922, log.beams[0][24].angle / kDeg, 1e-3);
}

TEST(CoinD4, TheRecordedStartIsFramedToTheLastByte) {
  Stream start = hex("A5 5A 14 00 E3 02 01 43 4F 49 4E 2D 44 34");
  start.resize(27);
  test::append(start, hex("A5 5A 00 00 80 01 81"));
  test::append(start, packets(0.01)[0]);
  feed(start);
  LONGS_EQUAL(3, decoder.stats().framing.frames);
  LONGS_EQUAL(0, decoder.stats().framing.garbage_bytes);
  LONGS_EQUAL(1, log.slices.size());
}

TEST(CoinD4, MoreThan25SamplesAreNoPacket) {
  Stream p = hex("AA 55 00 1A CB 6F 77 76 00 00");
  p.resize(10 + 3 * 26);
  feed(sealed(p));
  LONGS_EQUAL(0, decoder.stats().framing.frames);
}

TEST(CoinD4, AnglesBeyondTheTurnMakeNoSense) {
  Stream p = hex("AA 55 00 02 01 B5 03 B5 00 00 01 02 03 04 05 06");
  feed(sealed(p));
  LONGS_EQUAL(1, decoder.stats().undecodable);
}

TEST(CoinD4, EveryPacketShowsTheRoom) {
  for (const Stream& p : packets(0.99)) feed(p);
  LONGS_EQUAL(decoder.stats().framing.frames, decoder.stats().packets);
  std::size_t none = 0, all = 0;
  for (const auto& beams : log.beams) {
    for (const Beam& beam : beams) {
      CHECK_TRUE(is_true(beam));
      none += beam.range == 0;
      ++all;
    }
  }
  CHECK_TRUE(none > all / 50 && none < all / 20);  // 10 of 360 degrees
  LONGS_EQUAL(5, std::ranges::count(log.slices, true, &ScanSlice::starts_turn));
}

TEST(CoinD4, FramesAreFoundInGarbageHoweverTheyAreSplit) {
  const auto all = packets(0.2);
  test::check_garbage_and_splits(CoinD4Framing{}, {all[0], all[1], all[26], all[9]});
}

TEST(CoinD4, ATornFrameHidesNothing) {
  const auto all = packets(0.2);
  test::check_torn_frames(CoinD4Framing{}, all[3], all[4]);
}

TEST(CoinD4, NoBitFlipPassesAndNeighboursDoNotSuffer) {
  const auto all = packets(0.2);
  test::check_bit_flips(CoinD4Framing{}, all[5], all[4], all[6]);
}

TEST(CoinD4, EveryIntactPacketOfADamagedStreamIsDelivered) {
  test::check_damaged_stream(CoinD4Framing{}, packets(5));
}

TEST(CoinD4, NothingIsAllocatedWhileDecoding) {
  test::PacketCounter counter;
  DeviceDecoder<CoinD4> quiet{options, 115'200, counter};
  const auto all = packets(1);
  quiet.feed({all[0], clock.now()});
  const test::AllocationCounter allocations;
  for (const Stream& p : all) quiet.feed({p, clock.advance(7ms)});
  LONGS_EQUAL(0, allocations.count());
  LONGS_EQUAL(all.size() + 1, counter.packets);
}

TEST(CoinD4, TwoAtOnceDoNotMeet) {
  test::PacketLog alone, other;
  DeviceDecoder<CoinD4> first{options, 0, alone}, second{options, 0, other};
  const auto mine = packets(1), theirs = packets(1, {{"rpm", "437"}});
  hal::Time now{1000s};
  for (const Stream& p : mine) first.feed({p, now += 5ms});
  now = hal::Time{1000s};
  for (std::size_t i = 0; i < mine.size(); ++i) {
    decoder.feed({mine[i], now += 5ms});
    if (i < theirs.size()) second.feed({theirs[i], now});
  }
  LONGS_EQUAL(alone.slices.size(), log.slices.size());
  for (std::size_t i = 0; i < log.slices.size(); ++i) {
    CHECK_TRUE(log.slices[i].first == alone.slices[i].first);
    CHECK_TRUE(log.slices[i].starts_turn == alone.slices[i].starts_turn);
    CHECK_TRUE(log.beams[i][0].angle == alone.beams[i][0].angle);
  }
}

TEST(CoinD4, IsRecognisedBeforeItsRelatives) {
  Stream all;
  for (const Stream& p : packets(0.2)) test::append(all, p);
  STRCMP_EQUAL("coin_d4", std::string(recognise(all).driver).c_str());
}

TEST(CoinD4, SlicesBeginInOrder) {
  SimLine line("coin_d4", {}, {}, 115200);
  line.run_for(5s);
  for (std::size_t i = 1; i < line.log.slices.size(); ++i) {
    CHECK_TRUE(line.log.slices[i].first > line.log.slices[i - 1].first);
  }
}

TEST(CoinD4, IsStartedAndNamed) {
  SimLine line("coin_d4", {}, {}, 115200);
  CHECK_TRUE(line.until_streaming() < 200ms);
  STRCMP_EQUAL("COIN-D4", line.health().about.c_str());
  is_well(line);
}

TEST(CoinD4, IsTakenOverWhileItStreamsAndInTheMiddleOfAFrame) {
  for (const std::size_t cut : {0U, 1U, 2U, 9U, 11U, 40U}) {
    SimLine line("coin_d4", {{"running", "on"}}, {}, 115200, 1234567us);
    line.port->lose(cut);
    CHECK_TRUE(line.until_streaming() < 200ms);
    STRCMP_EQUAL("COIN-D4", line.health().about.c_str());
    is_well(line);
  }
}

TEST(CoinD4, IsFoundAtItsOtherRate) {
  for (const char* running : {"off", "on"}) {
    SimLine line("coin_d4", {{"baud", "230400"}, {"running", running}}, {}, 115200);
    line.port->baud = 115200;
    CHECK_TRUE(line.until_streaming() < 2s);
    LONGS_EQUAL(230400, line.health().baud);
    is_well(line);
  }
}

TEST(CoinD4, ALossOfPowerIsSurvivedWithinASecondOfTheDevice) {
  SimLine line("coin_d4", {}, {}, 115200, {}, {"off@2+2"});
  line.run_for(3s);
  CHECK_TRUE(line.health().state != State::streaming);
  line.run_for(1s);
  CHECK_TRUE(line.until_streaming() <= 1s);
  is_well(line);
}

TEST(CoinD4, TheRateOfTheSamplesIsMeasured) {
  SimLine line("coin_d4", {}, {}, 115200);
  line.run_for(4s);
  DOUBLES_EQUAL(1e9 / 3240, static_cast<double>(line.log.slices.back().step.count()), 1);
}

// While the rate is only assumed, the arrival bounds a stamp; what was counted then is not held
// against what is counted by the measured rate.
TEST(CoinD4, NoStampIsFarOffBeforeAndAfterTheRateIsMeasured) {
  SimLine line("coin_d4", {{"running", "on"}}, {}, 115200);
  line.run_for(12s);
  hal::Duration worst{};
  std::size_t t = 0;
  for (const ScanSlice& slice : line.log.slices) {
    const auto off = [&](std::size_t i) { return abs(line.truth.beams[i].at - slice.last()); };
    while (t + 1 < line.truth.beams.size() && off(t + 1) <= off(t)) ++t;
    const auto& beams = line.log.beams[static_cast<std::size_t>(&slice - line.log.slices.data())];
    std::size_t true_one = t;  // the beam of this angle that is nearest in time
    hal::Duration nearest = 1s;
    for (std::size_t i = t > 700 ? t - 700 : 0; i < std::min(t + 700, line.truth.beams.size());
         ++i) {
      const double apart = std::abs(
          std::remainder(line.truth.beams[i].angle - double{beams.back().angle}, sim::kTurn));
      if (apart < 0.1 * kDeg && off(i) < nearest) nearest = off(i), true_one = i;
    }
    worst = std::max(worst, off(true_one));
  }
  CHECK_TRUE(line.log.slices.size() > 1000);
  CHECK_TRUE_TEXT(worst < 1ms,
                  StringFromFormat("%.3f ms", hal::to_seconds(worst) * 1e3).asCharString());
}

TEST(CoinD4, IsSilentAfterTheStop) {
  SimLine line("coin_d4", {}, {}, 115200);
  line.run_for(1s);
  line.stop();
  CHECK_TRUE(line.health().state == State::idle);
  const std::size_t said = line.truth.beams.size();
  line.run_for(1s);
  LONGS_EQUAL(said, line.truth.beams.size());
}

TEST(CoinD4, SilenceIsToldWithinTwoSeconds) {
  SimLine line("coin_d4", {}, {}, 115200, {}, {"off@0+100"});
  line.run_for(2s);
  CHECK_TRUE(line.health().cause == Cause::no_bytes);
}
