#include "drivers/bluesea/bluesea.h"

#include <cmath>
#include <numbers>

#include "drivers/decoder.h"
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

struct Layout {
  const char *format, *body;
};
constexpr Layout kKinds[] = {{"CE", "3"}, {"CE", "2"}, {"CF", "3"}, {"DF", "3"},
                             {"C7", "3"}, {"AA", "3"}, {"99", "3"}};

sim::Options as(const Layout& kind, const sim::Options& more = {}) {
  sim::Options set = more;
  set["format"] = kind.format;
  set["body"] = kind.body;
  return set;
}
std::string name_of(const Layout& kind) { return std::string(kind.format) + " " + kind.body; }

// Of a device that streams.
std::vector<Stream> packets(double seconds, const Layout& kind, const sim::Options& more = {}) {
  sim::Options set = as(kind, more);
  set["running"] = "on";
  sim_test::Bench device("bluesea", set);
  device.run_for(seconds);
  std::vector<Stream> out;
  for (const sim::Frame& frame : device.out.frames) out.push_back(frame.bytes);
  return out;
}

bool is_true(const Beam& beam, double within) {
  return std::ranges::any_of(std::array{-1, 0, 1}, [&](int side) {
    const double range = sim::Room::range(double{beam.angle} + side * kDeg / 100);
    return std::abs(range - double{beam.range}) < within;
  });
}

}  // namespace

TEST_GROUP(Bluesea) {
  test::ManualClock clock;
  Options options{Bluesea::options()};
  test::PacketLog log;
  std::unique_ptr<DeviceDecoder<Bluesea>> decoder;

  void setup() override { open(); }
  void open() {
    log = {};
    decoder = std::make_unique<DeviceDecoder<Bluesea>>(options, 0, log);
  }
  void feed(const Stream& bytes) { decoder->feed({bytes, clock.advance(10ms)}); }
  void beam_is(std::size_t i, double clockwise_deg, double mm, double energy) {
    const Beam& beam = log.beams.at(0).at(i);
    DOUBLES_EQUAL(-clockwise_deg, beam.angle / kDeg, 1e-3);
    DOUBLES_EQUAL(mm / 1000, beam.range, 1e-6);
    DOUBLES_EQUAL(energy, beam.intensity, 0);
  }
  static void is_well(SimLine & line, const char* what) {
    line.run_for(1s);
    const std::size_t from = line.log.slices.size();
    line.run_for(2s);
    CHECK_TRUE_TEXT(line.health().state == State::streaming, what);
    CHECK_TRUE_TEXT(line.health().balances(), what);
    std::size_t turns = 0;
    for (std::size_t i = from; i < line.log.slices.size(); ++i) {
      turns += line.log.slices[i].starts_turn;
      CHECK_TRUE_TEXT(line.log.slices[i].first > line.log.slices[i - 1].first, what);
      for (const Beam& beam : line.log.beams[i]) CHECK_TRUE_TEXT(is_true(beam, 0.01), what);
    }
    CHECK_TRUE_TEXT(turns == 20 || turns == 21, what);
  }
};

TEST(Bluesea, WhatAStallHeldBackIsNoLostTurn) {
  for (const Layout& kind : kKinds) {
    SimLine line("bluesea", as(kind), {}, 768000, {}, {"stall@3"});
    line.run_for(6s);
    std::size_t strange = 0;
    for (std::size_t i = 1; i < line.log.slices.size(); ++i) {
      const auto apart = line.log.slices[i].first - line.log.slices[i - 1].first;
      strange += apart < 7ms || apart > 13ms;  // of nominally 10 ms
    }
    CHECK_EQUAL_TEXT(0, strange, name_of(kind).c_str());
  }
}

TEST(Bluesea, DecodesTheWorkedCE) {
  feed(hex("ce fa 04 00 b6 0d 64 e8 03 65 f2 03 66 fc 03 67 06 04 2c 1f"));
  beam_is(0, 351, 1000, 100);
  beam_is(1, 360, 1010, 101);
  beam_is(2, 369, 1020, 102);
  beam_is(3, 378, 1030, 103);
}

TEST(Bluesea, TheOptionsItWasMadeOfMayChangeOrGo) {
  CHECK_TRUE(static_cast<bool>(options.set("unit", "mm")));
  open();
  CHECK_TRUE(static_cast<bool>(options.set("unit", "cm")));
  feed(hex("ce fa 04 00 b6 0d 64 e8 03 65 f2 03 66 fc 03 67 06 04 2c 1f"));
  beam_is(0, 351, 1000, 100);
}

TEST(Bluesea, DecodesTheWorkedCF) {
  feed(hex("cf fa 04 00 84 03 68 01 64 e8 03 65 f2 03 66 fc 03 67 06 04 62 16"));
  beam_is(0, 90, 1000, 100);
  beam_is(3, 117, 1030, 103);
}

TEST(Bluesea, DecodesTheWorkedC7) {
  feed(
      hex("c7fa 0300 0300 0000 a08c0000 40190100 01000000 87d61200 07000000 "
          "dc05 de05 0000 0000 "
          "e02e c05d 32 33 00 4715"));
  beam_is(0, 36, 1500, 50);
  beam_is(1, 48, 1502, 51);
  beam_is(2, 60, 0, 0);
  CHECK_TRUE(log.slices[0].device_ns == 1'234'567'000'000);
}

TEST(Bluesea, DecodesTheWorked99) {
  feed(
      hex("99fa 0200 6400 e803 01000000 87d61200 07000000 "
          "000000000000000000000000 d007 d507 50 51 "
          "35eb"));
  beam_is(0, 36, 2000, 0x50);
  beam_is(1, 36.36, 2005, 0x51);
}

TEST(Bluesea, EveryFormatShowsTheRoomAndAccountsForEveryByte) {
  for (const Layout& kind : kKinds) {
    for (const char* parts : {"1", "4"}) {
      open();
      for (const Stream& p : packets(0.995, kind, {{"parts", parts}, {"status", "on"}})) feed(p);
      const std::string name = name_of(kind);
      LONGS_EQUAL_TEXT(0, decoder->stats().framing.garbage_bytes, name.c_str());
      LONGS_EQUAL_TEXT(0, decoder->stats().undecodable, name.c_str());
      std::size_t beams = 0;
      for (const auto& slice : log.beams) {
        beams += slice.size();
        for (const Beam& beam : slice) CHECK_TRUE_TEXT(is_true(beam, 0.002), name.c_str());
      }
      CHECK_TRUE_TEXT(beams >= 9800, name.c_str());
      LONGS_EQUAL_TEXT(9, std::ranges::count(log.slices, true, &ScanSlice::starts_turn),
                       name.c_str());
    }
  }
}

TEST(Bluesea, CentimetresAreToldByFlagsOrByTheUser) {
  for (const Layout& kind : kKinds) {
    const bool tells = std::string_view("C7 AA 99").find(kind.format) != std::string_view::npos;
    Options chosen(Bluesea::options());
    if (!tells) CHECK_TRUE(static_cast<bool>(chosen.set("unit", "cm")));
    options = chosen;
    open();
    for (const Stream& p : packets(0.2, kind, {{"unit", "cm"}})) feed(p);
    for (const auto& slice : log.beams) {
      for (const Beam& beam : slice) CHECK_TRUE_TEXT(is_true(beam, 0.01), kind.format);
    }
  }
}

TEST(Bluesea, RepliesAlarmsAndStatusAreFrames) {
  feed(hex("CE CE 00 07 53 54 00 00 00 00 45 44"));
  Stream text;
  for (const char c : std::string("PRODUCT SN:123\r\nSET LiDAR mm\r\n")) {
    text.push_back(static_cast<std::byte>(c));
  }
  feed(text);
  LONGS_EQUAL(4, decoder->stats().framing.frames);
  LONGS_EQUAL(0, decoder->stats().framing.garbage_bytes);
}

TEST(Bluesea, FramesAreFoundInGarbageHoweverTheyAreSplit) {
  for (const Layout& kind : kKinds) {
    const auto all = packets(0.2, kind);
    test::check_garbage_and_splits(BlueseaFraming{}, {all[0], all[1], all[9]});
  }
}

TEST(Bluesea, EveryIntactPacketOfADamagedStreamIsDelivered) {
  for (const Layout& kind : kKinds) test::check_damaged_stream(BlueseaFraming{}, packets(3, kind));
}

TEST(Bluesea, NoBitFlipPassesAndTornFramesHideNothing) {
  for (const Layout& kind : kKinds) {
    const auto all = packets(0.2, kind, {{"points", "8"}});
    // The first of a kind tells how many bytes a point has.
    BlueseaFraming knows;
    knows.measure(all[0]);
    CHECK_TRUE(knows.intact(all[0]));
    test::check_bit_flips(knows, all[5], all[4], all[6]);
    test::check_torn_frames(knows, all[3], all[7]);
  }
}

TEST(Bluesea, NothingIsAllocatedWhileDecoding) {
  for (const Layout& kind : kKinds) {
    test::PacketCounter counter;
    DeviceDecoder<Bluesea> quiet{options, 768'000, counter};
    const auto all = packets(0.5, kind);
    quiet.feed({all[0], clock.now()});
    const test::AllocationCounter allocations;
    for (std::size_t i = 1; i < all.size(); ++i) quiet.feed({all[i], clock.advance(10ms)});
    LONGS_EQUAL(0, allocations.count());
    LONGS_EQUAL(all.size(), counter.packets);
  }
}

TEST(Bluesea, TwoAtOnceDoNotMeet) {
  test::PacketLog alone, other;
  DeviceDecoder<Bluesea> first{options, 0, alone}, second{options, 0, other};
  const auto mine = packets(1, kKinds[0]), theirs = packets(1, kKinds[4]);
  hal::Time now{1000s};
  for (const Stream& p : mine) first.feed({p, now += 10ms});
  now = hal::Time{1000s};
  for (std::size_t i = 0; i < mine.size(); ++i) {
    decoder->feed({mine[i], now += 10ms});
    if (i < theirs.size()) second.feed({theirs[i], now});
  }
  LONGS_EQUAL(alone.slices.size(), log.slices.size());
  for (std::size_t i = 0; i < log.slices.size(); ++i) {
    CHECK_TRUE(log.slices[i].first == alone.slices[i].first);
  }
}

TEST(Bluesea, IsStartedFromSilenceStreamingAtAnotherRateAndInTheMiddleOfAFrame) {
  for (const Layout& kind : kKinds) {
    const std::string name = name_of(kind);
    for (const char* running : {"off", "on"}) {
      for (const std::size_t cut : {0U, 1U, 9U}) {
        SimLine line("bluesea", as(kind, {{"running", running}}), {}, 768'000, 123'456us);
        line.port->baud = 768'000;
        line.port->lose(cut);
        CHECK_TRUE_TEXT(line.until_streaming() < 1s, name.c_str());
        if (cut == 0) {
          STRCMP_EQUAL("LDS-50C-2, 2026010100000000007, 1.0", line.health().about.c_str());
        }
        is_well(line, name.c_str());
      }
    }
    SimLine line("bluesea", as(kind), {}, 230'400);
    line.port->baud = 230'400;
    CHECK_TRUE_TEXT(line.until_streaming() < 3s, name.c_str());
    LONGS_EQUAL(768'000, line.health().baud);
    is_well(line, name.c_str());
  }
}

TEST(Bluesea, ALossOfPowerIsSurvivedWithinASecondOfTheDevice) {
  SimLine line("bluesea", {}, {}, 768'000, {}, {"off@2+2"});
  line.run_for(4s);
  CHECK_TRUE(line.until_streaming() <= 1s);
  is_well(line, "power");
}

TEST(Bluesea, ASpeedIsSetAndSeenInTheStep) {
  SimLine line("bluesea", {}, {{"rpm", "900"}}, 768'000);
  line.run_for(3s);
  DOUBLES_EQUAL(66'667, static_cast<double>(line.log.slices.back().step.count()), 70);
}

TEST(Bluesea, PartsOfAFanFollowEachOther) {
  for (const char* format : {"C7", "AA", "99"}) {
    SimLine line("bluesea", {{"format", format}, {"parts", "4"}}, {}, 768'000);
    line.run_for(5s);
    const std::size_t from = line.log.slices.size();
    line.run_for(1s);
    for (std::size_t i = from; i < line.log.slices.size(); ++i) {
      const ScanSlice &before = line.log.slices[i - 1], &slice = line.log.slices[i];
      const auto off = slice.first - before.last() - slice.step;
      CHECK_TRUE_TEXT(std::chrono::abs(off) < 1us, format);
    }
  }
}

TEST(Bluesea, IntensitiesCanBeLeftOut) {
  SimLine line("bluesea", as(kKinds[1]), {{"intensity", "false"}}, 768'000);
  line.run_for(1s);
  CHECK_FALSE(line.log.slices.back().has_intensity);
}

TEST(Bluesea, FramesOfCommandsAreThoseOfTheDescription) {
  for (const char* const worked :
       {"4c48 4300 0100 0800 4c53544152480000 171a0003",
        "4c48 4300 0200 0800 4c56455253480000 6d81968a",
        "4c48 414b 0300 2000 87d61200 00000000 00000000 00000000 00000000 00000000 00000000 "
        "00000000 17dc4aec"}) {
    const Stream frame = hex(worked);
    BlueseaFraming framing;
    LONGS_EQUAL(frame.size(), framing.measure(frame));
    CHECK_TRUE(framing.intact(frame));
    Stream damaged = frame;
    damaged[9] ^= std::byte{1};
    CHECK_FALSE(framing.intact(damaged));
  }
}

TEST(Bluesea, IsStartedByUdpKeptAliveAndStopped) {
  for (const char* running : {"off", "on"}) {
    for (const char* format : {"C7", "AA", "99"}) {
      SimLine line("bluesea", {{"format", format}, {"parts", "2"}, {"running", running}}, {}, 0);
      CHECK_TRUE_TEXT(line.until_streaming() < 1s, format);
      STRCMP_EQUAL("1.0", line.health().about.c_str());
      is_well(line, format);
      LONGS_EQUAL(0, line.health().framing.garbage_bytes);
      CHECK_TRUE(line.health().silent_frames >= 2);  // answers to what keeps it alive
      line.stop();
      const std::size_t said = line.truth.beams.size();
      line.run_for(1s);
      LONGS_EQUAL(said, line.truth.beams.size());
    }
  }
}

TEST(Bluesea, ByUdpASpeedIsSetOrRefused) {
  SimLine line("bluesea", {{"format", "C7"}}, {{"rpm", "900"}}, 0);
  line.run_for(3s);
  DOUBLES_EQUAL(66'667, static_cast<double>(line.log.slices.back().step.count()), 70);
}

TEST(Bluesea, IsSilentAfterTheStop) {
  SimLine line("bluesea", {}, {}, 768'000);
  line.run_for(1s);
  line.stop();
  CHECK_TRUE(line.health().state == State::idle);
  const std::size_t said = line.truth.beams.size();
  line.run_for(1s);
  LONGS_EQUAL(said, line.truth.beams.size());
}
