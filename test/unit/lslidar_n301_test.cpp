// Datagrams of an LSLIDAR N301 decoded, from their description.
#include "drivers/lslidar_n301/lslidar_n301.h"

#include <cmath>
#include <memory>
#include <numbers>

#include "drivers/decoder.h"
#include "test/sim/room.h"
#include "test/support/allocation_counter.h"
#include "test/support/block_datagrams.h"
#include "test/support/framing_properties.h"
#include "test/support/packet_log.h"
#include "test/support/sim_line.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::Stream;
using test::blocks::even;
using test::blocks::n301;

namespace {

constexpr double kDeg = std::numbers::pi / 180;

void date(Stream& s, bool is_17) {  // 2026-03-04 05:06:07
  for (std::size_t k = 0; k < 12; ++k) {
    const std::size_t day = 100 * k + (is_17 ? 49 : 94), time = 100 * k + 97;
    for (unsigned i = 0; i < 3; ++i) s[day + i] = static_cast<std::byte>(i == 0 ? 26 : 2 + i);
    for (unsigned i = 0; i < 3; ++i) s[time + i] = static_cast<std::byte>(5 + i);
  }
}

}  // namespace

TEST_GROUP(LslidarN301) {
  test::PacketLog log;
  Options options{LslidarN301::options()};
  std::unique_ptr<DeviceDecoder<LslidarN301>> decoder;
  hal::Time now{1000s};

  void setup() override { set("stamp", "first"); }
  void open() {
    log = {};
    decoder = std::make_unique<DeviceDecoder<LslidarN301>>(options, 0, log);
  }
  void set(std::string_view key, std::string_view value) {
    CHECK_TRUE(static_cast<bool>(options.set(key, value)));
    open();
  }
  void feed(const Stream& datagram, hal::Duration after = 2ms) {
    decoder->feed({datagram, now += after, {}, 0, true});
  }
  // Datagram i of a device that turns at 10 Hz: 7.2 degrees and 2 ms each.
  static Stream of(unsigned i, bool is_17 = true) {
    return n301(even(i * 720 % 36'000, 60), i * 2000 % 1'000'000, is_17);
  }
  template <class Claim>
  std::uint64_t sum_over(const std::vector<Stream>& datagrams, Claim claim) {
    LslidarN301 device(options);
    Decoded out;
    std::uint64_t sum = 0;
    hal::Time at{1000s};
    for (const Stream& datagram : datagrams) {
      out.clear();
      device.decode({datagram, at += 2ms, at}, out);
      sum += static_cast<std::uint64_t>(claim(out));
    }
    out.clear();
    device.finish(out);
    return sum + static_cast<std::uint64_t>(claim(out));
  }
};

// The worked example.
TEST(LslidarN301, APointIsFourMillimetresAndClockwise) {
  Stream datagram = n301(even(18'000, 60), 1000, true);
  test::blocks::put(datagram, 0, 4, 0x04E2, 0x42);
  test::blocks::put(datagram, 0, 7, 0x04E3, 0x43);
  feed(datagram);
  const std::vector<Beam>& beams = log.beams.at(0);
  LONGS_EQUAL(360, beams.size());
  DOUBLES_EQUAL(-180.0 * kDeg, beams[0].angle, 1e-6);
  DOUBLES_EQUAL(5.000, beams[0].range, 1e-6);
  DOUBLES_EQUAL(66, beams[0].intensity, 0);
  DOUBLES_EQUAL(-180.02 * kDeg, beams[1].angle, 1e-6);
  DOUBLES_EQUAL(5.004, beams[1].range, 1e-6);
  DOUBLES_EQUAL(67, beams[1].intensity, 0);
  // The second group, and the last block.
  DOUBLES_EQUAL(-180.30 * kDeg, beams[15].angle, 1e-6);
  DOUBLES_EQUAL(1015 * 4e-3, beams[15].range, 1e-6);
  DOUBLES_EQUAL(-187.18 * kDeg, beams[359].angle, 1e-6);
  DOUBLES_EQUAL((1000 + 1100 + 29) * 4e-3, beams[359].range, 1e-5);
  LONGLONGS_EQUAL(1'000'000, *log.slices[0].device_ns);
}

TEST(LslidarN301, Protocol16HasTwoPointsOfTwoMillimetresInABlock) {
  set("protocol", "1.6");
  Stream datagram = n301(even(18'000, 60), 1000, false);
  test::blocks::put(datagram, 0, 4, 0x04E2, 0x42);
  feed(datagram);
  const std::vector<Beam>& beams = log.beams.at(0);
  LONGS_EQUAL(24, beams.size());
  DOUBLES_EQUAL(2.500, beams[0].range, 1e-6);
  DOUBLES_EQUAL(66, beams[0].intensity, 0);
  DOUBLES_EQUAL(-180.30 * kDeg, beams[1].angle, 1e-6);
  DOUBLES_EQUAL(2.030, beams[1].range, 1e-6);
  DOUBLES_EQUAL(-186.90 * kDeg, beams[23].angle, 1e-6);
}

TEST(LslidarN301, ATurnStartsWhereTheAzimuthFalls) {
  for (unsigned i = 0; i < 500; ++i) feed(of(i));
  std::size_t turns = 0;
  for (std::size_t i = 0; i < log.slices.size(); ++i) {
    CHECK_EQUAL(i % 50 == 0 && i > 0, log.slices[i].starts_turn);
    turns += log.slices[i].starts_turn;
  }
  LONGS_EQUAL(9, turns);
  LONGS_EQUAL(500, log.slices.size());
}

TEST(LslidarN301, ATurnMayStartWithinADatagram) {
  feed(n301(even(35'000, 60), 1000, true));
  feed(n301(even(35'720, 60), 3000, true));
  LONGS_EQUAL(2, log.slices.size());
  LONGS_EQUAL(360, log.beams[1].size());
  CHECK_FALSE(log.slices[0].starts_turn);
  CHECK_TRUE(log.slices[1].starts_turn);
  DOUBLES_EQUAL(-4.38 * kDeg, std::remainder(double{log.beams[1][359].angle}, 360 * kDeg), 1e-5);
}

TEST(LslidarN301, TimeGoesOnWhereTheSecondEnds) {
  for (unsigned i = 480; i < 1100; ++i) feed(of(i));
  for (std::size_t i = 1; i < log.slices.size(); ++i) {
    LONGLONGS_EQUAL(2'000'000, *log.slices[i].device_ns - *log.slices[i - 1].device_ns);
    CHECK_TRUE(log.slices[i].first > log.slices[i - 1].last());
  }
  DOUBLES_EQUAL(2e6 / 360, static_cast<double>(log.slices.back().step.count()), 2);
}

TEST(LslidarN301, WithSatellitesItTellsTheDate) {
  for (const bool is_17 : {true, false}) {
    set("protocol", is_17 ? "1.7" : "1.6");
    Stream datagram = n301(even(18'000, 60), 250'000, is_17);
    date(datagram, is_17);
    LslidarN301 device(options);
    Decoded out;
    device.decode({datagram, now, now}, out);
    CHECK_TRUE(out.items()[0].timing.source == Timing::Source::utc);
    LONGLONGS_EQUAL(1'772'600'767'250'000'000, out.items()[0].timing.raw_ns);
    Stream nobodys = n301(even(18'720, 60), 252'000, is_17);
    date(nobodys, is_17);
    nobodys[is_17 ? 50 : 95] = std::byte{13};
    out.clear();
    device.decode({nobodys, now + 2ms, now + 2ms}, out);
    CHECK_TRUE(out.items()[0].timing.source == Timing::Source::clock);
    LONGLONGS_EQUAL(252'000'000, out.items()[0].timing.raw_ns);
  }
}

TEST(LslidarN301, LostDatagramsAreCountedFromTheAngleAndTheTime) {
  std::vector<Stream> datagrams;
  for (unsigned i = 0; i < 400; ++i) {
    if (i % 10 == 7 || (i >= 100 && i < 260)) continue;
    datagrams.push_back(of(i));
  }
  LONGS_EQUAL(24 + 160, sum_over(datagrams, [](const Decoded& d) { return d.lost(); }));
}

TEST(LslidarN301, WhatComesTwiceOrTooLateIsDropped) {
  for (unsigned i = 0; i < 100; ++i) {
    feed(of(i), 1ms);
    feed(of(i % 5 == 4 ? i - 1 : i), 1ms);
  }
  LONGS_EQUAL(100, log.slices.size());
}

TEST(LslidarN301, DatagramsThatWaitForAnOvertakenOneKeepBeamsOfTheirOwn) {
  const auto angles = [&] {
    std::vector<float> all;
    for (const auto& slice : log.beams)
      for (const Beam& beam : slice) all.push_back(beam.angle);
    return all;
  };
  for (unsigned i = 0; i < 100; ++i) feed(of(i));
  decoder->finish();
  const std::vector<float> in_order = angles();
  open();
  for (unsigned i = 0; i < 100; ++i) {  // 20, 22, 21 and so on
    const unsigned place = i % 10;
    feed(of(i < 20 || place == 0 || place > 2 ? i : place == 1 ? i + 1 : i - 1));
  }
  decoder->finish();
  CHECK_TRUE(in_order == angles());
}

TEST(LslidarN301, TheOtherProtocolIsToldAsAFaultWhenItIsNoChance) {
  for (const bool is_17 : {true, false}) {
    set("protocol", is_17 ? "1.7" : "1.6");
    std::vector<Stream> right, wrong;
    for (unsigned i = 0; i < 200; ++i)
      right.push_back(of(i, is_17)), wrong.push_back(of(i, !is_17));
    const auto is_fault = [](const Decoded& d) { return !d.fault().empty(); };
    LONGS_EQUAL(0, sum_over(right, is_fault));
    LONGS_EQUAL(151, sum_over(wrong, is_fault));
  }
  LslidarN301 device(options);
  Decoded out;
  for (unsigned i = 0; i < 60; ++i) {
    out.clear();
    device.decode({of(i), now += 2ms, now}, out);
  }
  STRCMP_EQUAL("its blocks look like protocol 1.7: set protocol", out.fault().c_str());
}

TEST(LslidarN301, ItsDatagramsAreFoundInGarbageHoweverTheyAreSplit) {
  test::check_garbage_and_splits(LslidarN301::Framing{}, {of(3), of(4), of(5, false)});
}

TEST(LslidarN301, ALakibeamsDatagramsAreNotItsOwn) {
  const Stream foreign = test::blocks::lakibeam(even(9000, 400), 1);
  LONGS_EQUAL(kNotAFrame, LslidarN301::Framing::measure(foreign));
  DOUBLES_EQUAL(0, LslidarN301::likeness(foreign), 0);
  DOUBLES_EQUAL(1, LslidarN301::likeness(of(1)), 0);
}

TEST(LslidarN301, NothingIsAllocated) {
  std::vector<Stream> datagrams;
  for (unsigned i = 0; i < 100; ++i) datagrams.push_back(of(i));
  test::PacketCounter counter;
  const auto quiet = std::make_unique<DeviceDecoder<LslidarN301>>(options, 0, counter);
  const test::AllocationCounter allocations;
  for (const Stream& d : datagrams) quiet->feed({d, now += 2ms, {}, 0, true});
  LONGS_EQUAL(0, allocations.count());
  LONGS_EQUAL(100, counter.packets);
}

TEST(LslidarN301, SeesTheRoomOfItsSimulator) {
  for (const char* const protocol : {"1.7", "1.6"}) {
    for (const char* const unix_s : {"0", "1700000000"}) {
      test::SimLine line("lslidar_n301", {{"protocol", protocol}, {"unix_s", unix_s}},
                         {{"protocol", protocol}}, 0);
      CHECK_TRUE_TEXT(line.until_streaming() < 200ms, protocol);
      line.run_for(3s);
      CHECK_TRUE_TEXT(line.health().balances() && line.health().cause == Cause::none, protocol);
      LONGS_EQUAL_TEXT(0, line.health().lost, protocol);
      std::size_t turns = 0;
      for (std::size_t i = 0; i < line.log.slices.size(); ++i) {
        turns += line.log.slices[i].starts_turn;
        for (const Beam& b : line.log.beams[i]) {
          const double range = sim::Room::range(double{b.angle});
          if (b.range > 0 && range > 0) DOUBLES_EQUAL_TEXT(range, b.range, 5e-3, protocol);
        }
      }
      DOUBLES_EQUAL_TEXT(30, static_cast<double>(turns), 2, protocol);
    }
  }
}

TEST(LslidarN301, TheSimulatorOfTheOtherProtocolIsToldAsAFault) {
  test::SimLine line("lslidar_n301", {{"protocol", "1.6"}}, {}, 0);
  line.run_for(2s);
  CHECK_TRUE(line.health().cause == Cause::device_fault);
}
