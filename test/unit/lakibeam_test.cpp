// Datagrams of a Lakibeam decoded, from their description.
#include "drivers/lakibeam/lakibeam.h"

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
using test::blocks::kUnused;
using test::blocks::lakibeam;
using test::blocks::LakibeamStream;

namespace {
constexpr double kDeg = std::numbers::pi / 180;
}

TEST_GROUP(Lakibeam) {
  test::PacketLog log;
  Options options{Lakibeam::options()};
  std::unique_ptr<DeviceDecoder<Lakibeam>> decoder;
  hal::Time now{1000s}, base{1000s};

  void setup() override { stamp("first"); }
  void stamp(const char* beam) {
    CHECK_TRUE(static_cast<bool>(options.set("stamp", beam)));
    open();
  }
  void open() {
    log = {};
    decoder = std::make_unique<DeviceDecoder<Lakibeam>>(options, 0, log);
  }
  void feed(const Stream& datagram, hal::Duration after = 6667us) {
    decoder->feed({datagram, now += after, {}, 0, true});
  }
  // The device's next datagram, when it was sent.
  void feed(LakibeamStream & device) {
    const Stream datagram = device.next();
    now = base + hal::from_seconds(device.us() * 1e-6);
    feed(datagram, 0us);
  }
  // Datagrams of a device, each at the instant its last beam was measured.
  std::uint64_t lost_of(const std::vector<Stream>& datagrams) {
    Lakibeam device(options);
    Decoded out;
    std::uint64_t lost = 0;
    hal::Time at{1000s};
    for (const Stream& datagram : datagrams) {
      out.clear();
      device.decode({datagram, at, at}, out);
      lost += out.lost();
      at += 6667us;
    }
    out.clear();
    device.finish(out);
    return lost + out.lost();
  }
  static std::size_t beams_in(const test::PacketLog& log) {
    std::size_t beams = 0;
    for (const auto& slice : log.beams) beams += slice.size();
    return beams;
  }
  static std::vector<float> angles_in(const test::PacketLog& log) {
    std::vector<float> angles;
    for (const auto& slice : log.beams)
      for (const Beam& beam : slice) angles.push_back(beam.angle);
    return angles;
  }
};

// The worked example.
TEST(Lakibeam, TheAzimuthIsOfTheFirstPointAndTheOthersLieEvenlyUpToTheNextBlock) {
  Stream datagram = lakibeam(even(9000, 400), 123'456);
  test::blocks::put(datagram, 0, 4, 2345, 87);
  test::blocks::put(datagram, 0, 10, 2350, 88);
  feed(datagram);
  LONGS_EQUAL(1, log.slices.size());
  LONGLONGS_EQUAL(123'456'000, *log.slices[0].device_ns);
  const std::vector<Beam>& beams = log.beams[0];
  LONGS_EQUAL(192, beams.size());
  DOUBLES_EQUAL(-90.0 * kDeg, beams[0].angle, 1e-6);
  DOUBLES_EQUAL(2.345, beams[0].range, 1e-6);
  DOUBLES_EQUAL(87, beams[0].intensity, 0);
  DOUBLES_EQUAL(-89.75 * kDeg, beams[1].angle, 1e-6);
  DOUBLES_EQUAL(2.350, beams[1].range, 1e-6);
  DOUBLES_EQUAL(88, beams[1].intensity, 0);
  // The last block takes the difference before it.
  DOUBLES_EQUAL((-90.0 + 44.0 + 3.75) * kDeg, beams[191].angle, 1e-6);
  DOUBLES_EQUAL(1.191, beams[191].range, 1e-6);
  CHECK_TRUE(log.slices[0].has_intensity && log.slices[0].echoes.empty());
}

TEST(Lakibeam, FineStepsAreOfATenthOfADegree) {
  feed(lakibeam(even(18'000, 160), 5));
  DOUBLES_EQUAL(0.1 * kDeg, log.beams.at(0)[1].angle - log.beams[0][0].angle, 1e-6);
  DOUBLES_EQUAL((11 * 1.6 + 1.5) * kDeg, log.beams[0][191].angle, 1e-6);
}

TEST(Lakibeam, ASecondReturnIsAnEcho) {
  feed(lakibeam(even(9000, 400), 123'456, true));
  const ScanSlice& slice = log.slices.at(0);
  LONGS_EQUAL(192, slice.echoes.size());
  for (std::size_t i = 0; i < 192; ++i) {
    DOUBLES_EQUAL(1.0 + 0.001 * static_cast<double>(i), slice.beams[i].range, 1e-6);
    DOUBLES_EQUAL(1.5 + 0.001 * static_cast<double>(i), slice.echoes[i].range, 1e-6);
    DOUBLES_EQUAL(50.0 + static_cast<double>(i % 16), slice.echoes[i].intensity, 0);
  }
}

TEST(Lakibeam, TheBlindZoneIsNotInterpolatedAcross) {
  // 308, 312, 316, then 44 on.
  feed(lakibeam({30'800, 31'200, 31'600, 4400, 4800, 5200, 5600, 6000, 6400, 6800, 7200, 7600},
                1'000'000));
  LONGS_EQUAL(2, log.slices.size());
  LONGS_EQUAL(48, log.beams[0].size());
  DOUBLES_EQUAL((136.0 + 3.75) * kDeg, log.beams[0][47].angle, 1e-6);
  DOUBLES_EQUAL(-136.0 * kDeg, log.beams[1][0].angle, 1e-6);
  CHECK_FALSE(log.slices[0].starts_turn);
  CHECK_TRUE(log.slices[1].starts_turn);
  // 20 turns a second, until it is known better: 88 + 8 degrees later.
  DOUBLES_EQUAL(0.05 * 96 / 360, hal::to_seconds(log.slices[1].first - log.slices[0].first), 1e-6);
}

TEST(Lakibeam, UnusedBlocksAreNoBeamsAndStretchNothing) {
  feed(lakibeam({10'000, 10'400, kUnused, 11'200, kUnused, kUnused, kUnused, kUnused, kUnused,
                 kUnused, 14'000, kUnused},
                7));
  LONGS_EQUAL(3, log.slices.size());
  LONGS_EQUAL(32, log.beams[0].size());
  DOUBLES_EQUAL((104.0 - 180 + 3.75) * kDeg, log.beams[0][31].angle, 1e-6);
  LONGS_EQUAL(16, log.beams[1].size());
  DOUBLES_EQUAL((112.0 - 180 + 3.75) * kDeg, log.beams[1][15].angle, 1e-6);
  DOUBLES_EQUAL((140.0 - 180 + 3.75) * kDeg, log.beams[2][15].angle, 1e-6);
  DOUBLES_EQUAL(1.0 + 0.16, log.beams[2][0].range, 1e-6);
}

TEST(Lakibeam, ADatagramOfUnusedBlocksGivesNothing) {
  test::blocks::Azimuths none{};
  none.fill(kUnused);
  feed(lakibeam(none, 7));
  LONGS_EQUAL(0, log.slices.size());
  LONGS_EQUAL(0, decoder->stats().undecodable);
  LONGS_EQUAL(1, decoder->stats().framing.frames);
}

TEST(Lakibeam, AzimuthsThatMakeNoSenseAreNotGuessed) {
  feed(lakibeam(even(9000, 400), 1));
  test::blocks::Azimuths wrong = even(13'800, 400);
  wrong[5] = 36'001;
  feed(lakibeam(wrong, 2));
  feed(lakibeam({100, 50, 0, 35'950, 35'900, 1, 2, 3, 4, 5, 6, 7}, 3));
  LONGS_EQUAL(1, log.slices.size());
  LONGS_EQUAL(2, decoder->stats().undecodable);
}

TEST(Lakibeam, ATurnIs69BlocksWhetherBlindOnesAreSentOrNot) {
  for (const bool sends_blind : {false, true}) {
    open();
    LakibeamStream device(20, sends_blind);
    std::vector<Stream> datagrams;
    for (int i = 0; i < 230; ++i) datagrams.push_back(device.next());  // 40 turns, or 30
    for (const Stream& d : datagrams) feed(d);
    const auto turns = std::ranges::count(log.slices, true, &ScanSlice::starts_turn);
    if (!sends_blind) {
      LONGS_EQUAL(40 * 69 * 16, beams_in(log));
      LONGS_EQUAL(39, turns);
    } else {
      LONGS_EQUAL(30, turns);
    }
    LONGS_EQUAL(0, lost_of(datagrams));
  }
}

TEST(Lakibeam, StampsTellTheSpeed) {
  for (const double hz : {10.0, 20.0, 25.0, 30.0}) {
    open();
    LakibeamStream device(hz);
    for (int i = 0; i < 60; ++i) feed(device);
    const double step_ns = 1e9 / hz / 1440;
    DOUBLES_EQUAL(step_ns, static_cast<double>(log.slices.back().step.count()), 3e-4 * step_ns);
  }
}

TEST(Lakibeam, ANewSpeedIsFollowed) {
  LakibeamStream slow(10);
  for (int i = 0; i < 30; ++i) feed(slow.next(), 13'333us);
  LakibeamStream fast(30, false, slow.us());
  for (int i = 0; i < 30; ++i) feed(fast);
  DOUBLES_EQUAL(1e9 / 30 / 1440, static_cast<double>(log.slices.back().step.count()), 10);
}

TEST(Lakibeam, TimeGoesOnWhereItsStampWraps) {
  LakibeamStream device(20, false, 4'294'967'296.0 - 50'000);
  for (int i = 0; i < 20; ++i) feed(device);
  std::size_t wrapped = 0;
  for (std::size_t i = 1; i < log.slices.size(); ++i) {
    CHECK_TRUE(log.slices[i].first > log.slices[i - 1].last());
    CHECK_TRUE(*log.slices[i].device_ns >= *log.slices[i - 1].device_ns);
    wrapped += *log.slices[i].device_ns > 4'294'967'296'000;
  }
  CHECK_TRUE(wrapped > 5);
}

TEST(Lakibeam, ATimeOfZeroIsTheTimeBeforeAndTheAngleSince) {
  LakibeamStream device(20);
  for (int i = 0; i < 40; ++i) {
    Stream datagram = device.next();
    now = base + hal::from_seconds(device.us() * 1e-6);
    if (i > 5 && i % 3 == 0) {
      test::blocks::set16(datagram, 1200, 0);
      test::blocks::set16(datagram, 1202, 0);
    }
    feed(datagram, 0us);
    DOUBLES_EQUAL(device.stamp_us(), static_cast<double>(*log.slices.back().device_ns) * 1e-3, 8);
  }
}

TEST(Lakibeam, ADeviceThatNeverTellsTheTimeIsStampedByArrival) {
  LakibeamStream device(20);
  for (int i = 0; i < 40; ++i) {
    Stream datagram = device.next();
    test::blocks::set16(datagram, 1200, 0);
    test::blocks::set16(datagram, 1202, 0);
    now = base + hal::from_seconds(device.us() * 1e-6);
    feed(datagram, 0us);
    CHECK_FALSE(log.slices.back().device_ns.has_value());
  }
  for (std::size_t i = 1; i < log.slices.size(); ++i)
    CHECK_TRUE(log.slices[i].first > log.slices[i - 1].first);
  CHECK_TRUE(now - log.slices.back().last() < 1us);
}

TEST(Lakibeam, TheStampMayBeOfTheLastBeam) {
  stamp("last");
  feed(lakibeam(even(9000, 400), 123'456));
  CHECK_TRUE(log.slices.at(0).last() <= now && log.slices[0].last() > now - 40us);
  CHECK_TRUE(log.slices[0].first < now - 6ms);
}

TEST(Lakibeam, LostDatagramsAreCountedFromTheAngle) {
  for (const bool sends_blind : {false, true}) {
    LakibeamStream device(20, sends_blind);
    std::vector<Stream> datagrams;
    for (int i = 0; i < 24; ++i) datagrams.push_back(device.next());
    device.next();
    for (int i = 0; i < 9; ++i) datagrams.push_back(device.next());
    device.next(), device.next(), device.next();
    datagrams.push_back(device.next());
    LONGS_EQUAL(4, lost_of(datagrams));
  }
}

TEST(Lakibeam, WholeTurnsThatAreLostAreSeenByTheirTime) {
  LakibeamStream device(20);
  std::vector<Stream> datagrams;
  for (int i = 0; i < 24; ++i) datagrams.push_back(device.next());
  for (int i = 0; i < 100; ++i) device.next();
  for (int i = 0; i < 24; ++i) datagrams.push_back(device.next());
  LONGS_EQUAL(100, lost_of(datagrams));
}

TEST(Lakibeam, WhatComesTwiceIsDeliveredOnceAndNothingIsLost) {
  LakibeamStream device(20);
  std::vector<Stream> datagrams;
  for (int i = 0; i < 60; ++i) datagrams.insert(datagrams.end(), 2, device.next());
  for (const Stream& d : datagrams) feed(d, 3900us);
  LONGS_EQUAL(60 * 192, beams_in(log));
  LONGS_EQUAL(0, lost_of(datagrams));
}

TEST(Lakibeam, WhatWasOvertakenIsDeliveredInOrderWhetherItTellsTheTimeOrNot) {
  for (const bool sends_blind : {false, true})
    for (const bool tells_time : {true, false}) {
      open();
      LakibeamStream device(20, sends_blind);
      std::vector<Stream> sent;
      for (int i = 0; i < 120; ++i) sent.push_back(device.next());
      if (!tells_time)
        for (Stream& d : sent) test::blocks::set16(d, 1200, 0), test::blocks::set16(d, 1202, 0);
      for (const Stream& d : sent) feed(d, 6667us);
      const std::size_t all = beams_in(log);
      const std::vector<float> angles = angles_in(log);
      open();
      for (std::size_t i = 12; i + 4 < 120; i += 7)
        std::swap(sent[i], sent[i + 1 + (tells_time ? i % 3 : 0)]);
      for (const Stream& d : sent) feed(d, 6667us);
      decoder->finish();
      LONGS_EQUAL(all, beams_in(log));
      CHECK_TRUE(angles == angles_in(log));  // each has beams of its own
      for (std::size_t i = 1; i < log.slices.size(); ++i)
        CHECK_TRUE(log.slices[i].first > log.slices[i - 1].first);
      if (tells_time) LONGS_EQUAL(0, lost_of(sent));
    }
}

TEST(Lakibeam, WhatIsLostIsWaitedForByThreeOthersAndCountedOnce) {
  LakibeamStream device(20);
  for (int i = 0; i < 30; ++i) feed(device);
  device.next();
  for (int i = 0; i < 3; ++i) feed(device);
  const std::size_t before = beams_in(log);
  feed(device);
  LONGS_EQUAL(before + 4 * 192, beams_in(log));
}

TEST(Lakibeam, ADatagramThatMakesNoSenseIsNotLostToo) {
  LakibeamStream device(20);
  std::vector<Stream> datagrams;
  for (int i = 0; i < 40; ++i) datagrams.push_back(device.next());
  test::blocks::set16(datagrams[20], 302, 36'001);
  for (const Stream& d : datagrams) feed(d);
  LONGS_EQUAL(39 * 192, beams_in(log));
  LONGS_EQUAL(1, decoder->stats().undecodable);
  LONGS_EQUAL(0, lost_of(datagrams));
}

// Blocks that follow no other are packets of their own.
TEST(Lakibeam, DatagramsInPiecesThatWaitAreAllDelivered) {
  const auto pieces = [](unsigned from, std::uint32_t us) {
    test::blocks::Azimuths a{};
    for (unsigned k = 0; k < 12; ++k) a[k] = (from + k * 1500) % 36'000;
    return lakibeam(a, us);
  };
  feed(lakibeam(even(9000, 400), 1'000'000));
  for (unsigned k = 2; k < 6; ++k) feed(pieces(k * 1800 % 36'000, 1'000'000 + k * 25'000));
  decoder->finish();
  LONGS_EQUAL(5 * 192, beams_in(log));
}

TEST(Lakibeam, ADeviceThatRestartsIsFollowed) {
  LakibeamStream device(20, false, 60e6);
  for (int i = 0; i < 30; ++i) feed(device);
  const std::size_t before = beams_in(log);
  device.restart(100'000);
  base = now + 2s;
  for (int i = 0; i < 30; ++i) feed(device);
  LONGS_EQUAL(before + 30 * 192, beams_in(log));
  LONGLONGS_EQUAL(0, static_cast<long long>(decoder->stats().undecodable));
}

TEST(Lakibeam, ItsDatagramsAreFoundInGarbageHoweverTheyAreSplit) {
  test::check_garbage_and_splits(Lakibeam::Framing{},
                                 {lakibeam(even(9000, 400), 1), lakibeam(even(100, 160), 2, true)});
}

TEST(Lakibeam, DamagedDatagramsHideNothingOfOthers) {
  LakibeamStream device(20);
  test::Random random(3);
  std::vector<Stream> datagrams, whole;
  for (int i = 0; i < 600; ++i) {
    datagrams.push_back(device.next());
    Stream& d = datagrams.back();
    switch (random.below(30)) {
      case 0:
        d.resize(random.below(1206));
        break;
      case 1:
        d[100 * random.below(12) + random.below(2)] ^= std::byte{0x10};
        break;
      case 2:
        d.resize(1206 + random.below(300)), whole.push_back(Stream(d.begin(), d.begin() + 1206));
        break;
      default:
        whole.push_back(d);
    }
  }
  CHECK_TRUE(whole.size() < 590);
  StreamFramer<Lakibeam::Framing> framer;
  Lakibeam::Framing framing;
  std::vector<Stream> out;
  for (const Stream& d : datagrams)
    framer.feed(framing, {d, now, {}, 0, true},
                [&](const Frame& f) { out.emplace_back(f.bytes.begin(), f.bytes.end()); });
  CHECK_TRUE(out == whole);
  LONGS_EQUAL(framer.stats().bytes, framer.stats().frame_bytes + framer.stats().garbage_bytes);
}

TEST(Lakibeam, AnotherMakersDatagramsOfTheSameSizeAreNotItsOwn) {
  const Stream foreign = test::blocks::n301(even(9000, 60), 1, true);
  LONGS_EQUAL(kNotAFrame, Lakibeam::Framing::measure(foreign));
  DOUBLES_EQUAL(0, Lakibeam::likeness(foreign), 0);
  DOUBLES_EQUAL(1, Lakibeam::likeness(lakibeam(even(9000, 400), 1)), 0);
}

TEST(Lakibeam, TwoOfThemDoNotMeetAndNothingIsAllocated) {
  test::PacketLog other_log;
  const auto other = std::make_unique<DeviceDecoder<Lakibeam>>(options, 0, other_log);
  LakibeamStream one(20), two(30, true);
  std::vector<Stream> first, second;
  for (int i = 0; i < 50; ++i) first.push_back(one.next()), second.push_back(two.next());
  for (int i = 0; i < 50; ++i) feed(first[i]), other->feed({second[i], now, {}, 0, true});
  const auto together = std::move(log);
  open();
  for (const Stream& d : first) feed(d);
  LONGS_EQUAL(together.slices.size(), log.slices.size());
  for (std::size_t i = 0; i < log.slices.size(); ++i) {
    LONGLONGS_EQUAL(*together.slices[i].device_ns, *log.slices[i].device_ns);
    LONGLONGS_EQUAL(together.slices[i].step.count(), log.slices[i].step.count());
    LONGS_EQUAL(together.beams[i].size(), log.beams[i].size());
  }
  test::PacketCounter counter;
  const auto quiet = std::make_unique<DeviceDecoder<Lakibeam>>(options, 0, counter);
  const test::AllocationCounter allocations;
  for (const Stream& d : first) quiet->feed({d, now += 6667us, {}, 0, true});
  LONGS_EQUAL(0, allocations.count());
  CHECK_TRUE(counter.packets >= 50);
}

TEST(Lakibeam, SeesTheRoomOfItsSimulatorInEveryMannerOfIt) {
  const sim::Options manners[] = {{},
                                  {{"blind", "unused"}},
                                  {{"mode", "fine"}, {"returns", "2"}},
                                  {{"stamps", "off"}},
                                  {{"stamp", "first"}}};
  for (const sim::Options& manner : manners) {
    const char* const name = manner.empty() ? "default" : manner.begin()->second.c_str();
    const char* const beam = manner.contains("stamp") ? "first" : "last";
    test::SimLine line("lakibeam", manner, {{"stamp", beam}}, 0);
    CHECK_TRUE_TEXT(line.until_streaming() < 200ms, name);
    line.run_for(3s);
    CHECK_TRUE_TEXT(line.health().balances(), name);
    LONGS_EQUAL_TEXT(0, line.health().lost, name);
    LONGS_EQUAL_TEXT(0, line.health().undecodable, name);
    std::size_t turns = 0;
    for (std::size_t i = 0; i < line.log.slices.size(); ++i) {
      turns += line.log.slices[i].starts_turn;
      if (i > 0) CHECK_TRUE_TEXT(line.log.slices[i].first > line.log.slices[i - 1].first, name);
      CHECK_EQUAL_TEXT(manner.contains("returns"), !line.log.echoes[i].empty(), name);
      for (const Beam& b : line.log.beams[i]) {
        const double range = sim::Room::range(double{b.angle});
        if (b.range > 0 && range > 0) DOUBLES_EQUAL_TEXT(range, b.range, 5e-3, name);
      }
    }
    DOUBLES_EQUAL_TEXT(60, static_cast<double>(turns), 4, name);
  }
}

TEST(Lakibeam, ComesBackAfterALossOfPower) {
  test::SimLine line("lakibeam", {}, {}, 0, {}, {"off@2+2"});
  line.run_for(4s);
  CHECK_FALSE(line.health().state == State::streaming);
  CHECK_TRUE(line.until_streaming() <= 1s);
}
