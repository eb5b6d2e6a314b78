// Scan data of Pepperl+Fuchs lidars: real packets, packets as described, and what networks do.
#include "drivers/pepperl_fuchs/pepperl_fuchs.h"

#include <cmath>
#include <fstream>
#include <iterator>
#include <numbers>
#include <string>

#include "test/support/allocation_counter.h"
#include "test/support/framing_properties.h"
#include "test/support/hex.h"
#include "test/support/packet_log.h"
#include "test/support/places.h"
#include "test/support/sim_line.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::Stream;

namespace {

constexpr double kDeg = std::numbers::pi / 180;

struct Sent {
  unsigned type = 0x43, header = 76, scan = 0, number = 1, layer = 0;
  std::uint64_t stamp = std::uint64_t{5} << 32;
  std::uint32_t status = 0, mhz = 40'000;
  unsigned in_scan = 3600, first_index = 0;
  std::int32_t first = -1'800'000, increment = 1000;
  std::vector<std::uint32_t> mm{1000, 2000, 3000};
  std::vector<unsigned> amplitude{100, 200, 300};

  Stream bytes() const {
    Stream to;
    const auto put = [&to](std::uint64_t v, int n) {
      for (int i = 0; i < n; ++i) to.push_back(static_cast<std::byte>(v >> (8 * i)));
    };
    const std::size_t size = header + mm.size() * (type == 0x42 ? 6 : 4);
    put(0xA25C, 2), put(type, 2), put(size, 4), put(header, 2), put(scan, 2), put(number, 2);
    if (type == 0x3143) put(layer, 2), put(45'000, 4);
    put(stamp, 8), put(0, 8), put(status, 4), put(mhz, 4), put(in_scan, 2), put(mm.size(), 2);
    put(first_index, 2), put(static_cast<std::uint32_t>(first), 4);
    put(static_cast<std::uint32_t>(increment), 4);
    to.resize(header);
    for (std::size_t i = 0; i < mm.size(); ++i) {
      if (type == 0x41) put(mm[i], 4);
      if (type == 0x42) put(mm[i], 4), put(amplitude[i], 2);
      if (type == 0x43 || type == 0x3143) put((mm[i] & 0xFFFFF) | amplitude[i] << 20, 4);
    }
    return to;
  }
};

// Packet `k` of an endless stream, 10 packets of 3 points in a scan of a 40th of a second.
Sent numbered(unsigned k) {
  Sent p;
  p.in_scan = 30;
  p.increment = 120'000;
  p.scan = k / 10 % 65536;
  p.number = k % 10 + 1;
  p.first_index = k % 10 * 3;
  p.first = -1'800'000 + std::int32_t(p.first_index) * 120'000;
  p.stamp = (std::uint64_t{5} << 32) + std::uint64_t{k} * (std::uint64_t{1} << 32) / 400;
  p.mm = {k + 100, k + 101, k + 102};
  return p;
}

struct Run {
  explicit Run(const Options& options = Options(PepperlFuchs::options())) : device(options) {}

  // As one datagram.
  void take(const Stream& bytes) {
    framer.feed(device.framing(Channel::data), {bytes, now, {}, 0, true}, [&](const Frame& frame) {
      decoded.clear();
      device.decode(frame, decoded);
      note();
    });
    now += 2ms;
  }
  void finish() {
    decoded.clear();
    device.finish(decoded);
    note();
  }
  void note() {
    lost += decoded.lost();
    undecodable += decoded.is_undecodable();
    if (!decoded.fault().empty()) fault = decoded.fault().c_str();
    for (Decoded::Item& item : decoded.items()) {
      auto& slice = std::get<ScanSlice>(item.packet);
      slice.device_ns = item.timing.raw_ns;
      log.on_packet(0, item.packet, now);
    }
  }
  void take(const Sent& packet) { take(packet.bytes()); }
  // The numbers of the packets that came out, by their distances.
  std::vector<unsigned> numbers() const {
    std::vector<unsigned> all;
    for (const auto& beams : log.beams) {
      all.push_back(unsigned(std::lround(beams[0].range * 1000)) - 100);
    }
    return all;
  }

  PepperlFuchs device;
  StreamFramer<pepperl::Framing> framer;
  Decoded decoded;
  test::PacketLog log;
  hal::Time now{1000s};
  std::uint64_t lost = 0, undecodable = 0;
  std::string fault;
};

Options with(std::string_view key, std::string_view value) {
  Options options(PepperlFuchs::options());
  CHECK_TRUE(static_cast<bool>(options.set(key, value)));
  return options;
}

Stream captured(const char* name) {
  std::ifstream file(test::in_captures(std::string("pepperl-fuchs/") + name), std::ios::binary);
  Stream all;
  for (std::istreambuf_iterator<char> at(file), end; at != end; ++at) {
    all.push_back(static_cast<std::byte>(*at));
  }
  return all;
}

using Numbers = std::vector<unsigned>;

// The driver and the simulated device, and both connections between them.
struct Line : test::SimLine {
  Line(const sim::Options& device, const Set& options, int baud,
       const std::vector<const char*>& faults = {})
      : SimLine("pepperl_fuchs", device, options, baud, {}, faults, true) {}
};

}  // namespace

TEST_GROUP(PepperlFuchs){};

TEST(PepperlFuchs, EveryPointOfTheRealPacketsIsRead) {
  for (const char* name : {"dump_r2000_C", "dump_r2000_C_large_first8"}) {
    Run run;
    const Stream all = captured((std::string(name) + ".bin").c_str());
    if (all.empty()) {
      UT_PRINT("no captures: skipped");
      return;
    }
    run.take(all);
    std::ifstream csv(test::in_captures(std::string("pepperl-fuchs/") + name + ".points.csv"));
    std::string line;
    std::getline(csv, line);
    std::size_t points = 0;
    while (std::getline(csv, line)) {
      unsigned packet = 0, i = 0, mm = 0, amplitude = 0;
      LONGS_EQUAL(4, std::sscanf(line.c_str(), "%u,%u,%u,%u", &packet, &i, &mm, &amplitude));
      const Beam& beam = run.log.beams.at(packet).at(i);
      const bool returns = mm != 0xFFFFF && amplitude >= 32;
      DOUBLES_EQUAL(returns ? mm * 1e-3 : 0.0, beam.range, 1e-6);
      LONGS_EQUAL(amplitude, beam.intensity);
      DOUBLES_EQUAL((-180.0 + (332 * packet + i) * 360.0 / 5040) * kDeg, beam.angle, 2e-6);
      ++points;
    }
    LONGS_EQUAL(all.size() / 1404 * 332, points);
    LONGS_EQUAL(all.size() / 1404, run.log.slices.size());
    LONGS_EQUAL(5'663'554'167, *run.log.slices[0].device_ns / 1000);
    for (std::size_t k = 0; k < run.log.slices.size(); ++k) {
      CHECK_EQUAL(k == 0, run.log.slices[k].starts_turn);
      LONGS_EQUAL(4960, run.log.slices[k].step.count());
    }
    LONGS_EQUAL(0, run.lost);
  }
}

TEST(PepperlFuchs, EveryTypeOfPacketIsRead) {
  for (const unsigned type : {0x41U, 0x42U, 0x43U, 0x3143U}) {
    for (const unsigned header : {52U, 60U, 76U}) {
      Run run;
      Sent p;
      p.type = type;
      p.header = type == 0x3143 ? header + 32 : header;
      p.mm = {651, 0xFFFF'FFFF, 4000, 5000};
      p.amplitude = {351, 0, 6, 31};
      run.take(p);
      LONGS_EQUAL(1, run.log.slices.size());
      const auto& beams = run.log.beams[0];
      LONGS_EQUAL(4, beams.size());
      DOUBLES_EQUAL(0.651, beams[0].range, 1e-6);
      DOUBLES_EQUAL(0, beams[1].range, 0);
      DOUBLES_EQUAL(type == 0x41 ? 4.0 : 0.0, beams[2].range, 1e-6);
      DOUBLES_EQUAL(type == 0x41 ? 5.0 : 0.0, beams[3].range, 1e-6);
      DOUBLES_EQUAL(-180 * kDeg, beams[0].angle, 1e-6);
      DOUBLES_EQUAL(-179.7 * kDeg, beams[3].angle, 1e-6);
      CHECK_EQUAL(type != 0x41, run.log.slices[0].has_intensity);
      if (type != 0x41) LONGS_EQUAL(351, beams[0].intensity);
      LONGS_EQUAL(5'000'000'000, *run.log.slices[0].device_ns);
      LONGS_EQUAL(6944, run.log.slices[0].step.count());
    }
  }
}

TEST(PepperlFuchs, AClockwiseTurnHasFallingAngles) {
  Run run;
  Sent p;
  p.increment = -1000;
  p.first = 1'800'000;
  run.take(p);
  DOUBLES_EQUAL(179.8 * kDeg, run.log.beams[0][2].angle, 1e-6);
  LONGS_EQUAL(6944, run.log.slices[0].step.count());
}

TEST(PepperlFuchs, APartOfACircleIsSteppedAsTold) {
  Run run;
  Sent p;
  p.in_scan = 1000;
  p.first = -500'000;
  p.increment = 1001;
  run.take(p);
  DOUBLES_EQUAL((-50 + 0.2002) * kDeg, run.log.beams[0][2].angle, 1e-6);
}

TEST(PepperlFuchs, FieldsThatContradictEachOtherAreNoMeasurement) {
  const auto refused = [](auto&& change) {
    Run run;
    Sent p;
    change(p);
    run.take(p);
    return run.log.slices.empty() && run.undecodable == 1;
  };
  CHECK_TRUE(refused([](Sent& p) { p.first_index = 3598; }));
  CHECK_TRUE(refused([](Sent& p) { p.in_scan = 0; }));
  CHECK_TRUE(refused([](Sent& p) { p.mhz = 0; }));
  CHECK_TRUE(refused([](Sent& p) { p.increment = 0; }));
  CHECK_TRUE(refused([](Sent& p) { p.increment = 3'600'001; }));
  CHECK_TRUE(refused([](Sent& p) { p.first = 100'000'000; }));
  CHECK_TRUE(refused([](Sent& p) { p.number = 0; }));
  CHECK_TRUE(refused([](Sent& p) { p.mm.clear(); }));
}

TEST(PepperlFuchs, ErrorsOfTheStatusAreFaultsAndMeasurementsGoOn) {
  Run run;
  Sent p;
  p.status = 1U << 17 | 1U << 30;
  run.take(p);
  STRCMP_EQUAL("status 40020000: lens error: clean or replace the window", run.fault.c_str());
  LONGS_EQUAL(1, run.log.slices.size());
}

TEST(PepperlFuchs, OneLayerCanBeChosen) {
  Run run(with("layer", "2"));
  for (unsigned k = 0; k < 8; ++k) {
    Sent p;
    p.type = 0x3143;
    p.header = 84;
    p.in_scan = 3;
    p.first = -500'000;
    p.layer = k % 4;
    p.scan = k;
    p.stamp += k * (std::uint64_t{1} << 32) / 40;
    run.take(p);
  }
  LONGS_EQUAL(2, run.log.slices.size());
  CHECK_TRUE(run.log.slices[1].starts_turn);
  LONGS_EQUAL(0, run.lost);
}

TEST(PepperlFuchs, SwappedAndRepeatedPacketsComeOutOnceInOrder) {
  Run run;
  for (const unsigned k : {0U, 1U, 3U, 2U, 2U, 4U, 8U, 6U, 7U, 5U, 5U, 9U, 11U, 10U, 12U, 9U}) {
    run.take(numbered(k));
  }
  CHECK_TRUE((run.numbers() == Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  LONGS_EQUAL(0, run.lost);
  for (std::size_t k = 0; k < 13; ++k) CHECK_EQUAL(k % 10 == 0, run.log.slices[k].starts_turn);
}

TEST(PepperlFuchs, WhatDoesNotComeIsCountedAndWaitedForABoundedTime) {
  Run run;
  for (const unsigned k : {0U, 1U, 4U, 5U, 6U, 7U}) run.take(numbered(k));
  CHECK_TRUE((run.numbers() == Numbers{0, 1}));
  run.take(numbered(8));
  CHECK_TRUE((run.numbers() == Numbers{0, 1, 4, 5, 6, 7, 8}));
  LONGS_EQUAL(2, run.lost);
  run.take(numbered(3));  // too late
  run.take(numbered(12));
  run.now += 100ms;
  run.take(numbered(53));
  CHECK_TRUE((run.numbers() == Numbers{0, 1, 4, 5, 6, 7, 8, 12}));
  LONGS_EQUAL(2, run.lost);  // no scan was seen to its end: how long they are is not known
}

TEST(PepperlFuchs, LossesAreCountedOverScansAndTheWrapOfTheirNumbers) {
  Run run;
  const unsigned last = 655'359;
  for (const unsigned k : {last - 1, last}) run.take(numbered(k));
  run.take(numbered(last + 15));
  for (unsigned k = 16; k < 20; ++k) run.take(numbered(last + k));
  LONGS_EQUAL(14, run.lost);
  LONGS_EQUAL(7, run.log.slices.size());
}

TEST(PepperlFuchs, AClockThatBeginsAnewIsFollowedAtOnce) {
  Run run;
  for (unsigned k = 4000; k < 4004; ++k) run.take(numbered(k));
  for (unsigned k = 0; k < 3; ++k) run.take(numbered(k));
  CHECK_TRUE((run.numbers() == Numbers{4000, 4001, 4002, 4003, 0, 1, 2}));
  LONGS_EQUAL(0, run.lost);
}

TEST(PepperlFuchs, WhatWaitsIsGivenWhenItsClockBeginsAnewAndAtTheEnd) {
  Run run;
  for (const unsigned k : {4000U, 4001U, 4003U, 4004U, 0U, 2U}) run.take(numbered(k));
  CHECK_TRUE((run.numbers() == Numbers{4000, 4001, 4003, 4004, 0}));
  LONGS_EQUAL(1, run.lost);
  run.finish();
  CHECK_TRUE((run.numbers() == Numbers{4000, 4001, 4003, 4004, 0, 2}));
  LONGS_EQUAL(2, run.lost);
}

TEST(PepperlFuchs, ASecondHandleThatIsStillServedDoublesNothing) {
  Run run;
  for (unsigned k = 0; k < 40; ++k) {
    Sent other = numbered(k);
    other.scan += 700;
    run.take(numbered(k));
    run.take(other);
  }
  LONGS_EQUAL(40, run.log.slices.size());
  LONGS_EQUAL(0, run.lost);
}

TEST(PepperlFuchs, EveryPacketThatArrivesOfADamagedStreamComesOutOnceInOrder) {
  test::Random random(4711);
  Run run;
  std::vector<Sent> held;
  std::size_t arrived = 0, dropped = 0;
  for (unsigned k = 0; k < 20'000; ++k) {
    const Sent p = numbered(k);
    if (k > 20 && random.below(10) == 0) {
      ++dropped;
      continue;
    }
    ++arrived;
    if (held.empty() && random.below(10) == 0) {
      held.push_back(p);
      continue;
    }
    run.take(p);
    if (random.below(10) == 0) run.take(p);
    for (const Sent& late : held) run.take(late);
    held.clear();
  }
  const Numbers numbers = run.numbers();
  CHECK_TRUE(std::ranges::is_sorted(numbers));
  CHECK_TRUE(std::ranges::adjacent_find(numbers) == numbers.end());
  CHECK_TRUE(arrived - numbers.size() <= 5);  // that still wait
  CHECK_TRUE(dropped - run.lost <= 5);
  CHECK_TRUE(run.lost <= dropped);
}

TEST(PepperlFuchs, ATruncatedDatagramTakesNothingFromTheNext) {
  Run run;
  const Stream whole = numbered(0).bytes();
  for (std::size_t n = 1; n < whole.size(); ++n)
    run.take(Stream(whole.begin(), whole.begin() + std::ptrdiff_t(n)));
  for (unsigned k = 0; k < 5; ++k) run.take(numbered(k));
  LONGS_EQUAL(5, run.log.slices.size());
  LONGS_EQUAL(0, run.framer.pending());
}

TEST(PepperlFuchs, FramingHoldsHoweverBytesAreSplitAndWhateverLiesBetween) {
  std::vector<Stream> good;
  for (unsigned k = 0; k < 12; ++k) good.push_back(numbered(k).bytes());
  test::check_garbage_and_splits(pepperl::Framing{}, good);
}

TEST(PepperlFuchs, TwoDevicesInTurnGiveWhatEachGivesAlone) {
  Run a, b, alone;
  for (unsigned k = 0; k < 50; ++k) {
    a.take(numbered(k));
    b.take(numbered(k + 7));
    alone.take(numbered(k));
  }
  CHECK_TRUE(a.numbers() == alone.numbers());
  LONGS_EQUAL(50, b.log.slices.size());
}

TEST(PepperlFuchs, NothingIsAllocatedPerPacket) {
  PepperlFuchs device{Options(PepperlFuchs::options())};
  Decoded decoded;
  std::vector<Stream> packets;
  for (unsigned k = 0; k < 200; ++k) packets.push_back(numbered(k % 7 == 3 ? k + 1 : k).bytes());
  const test::AllocationCounter allocations;
  for (const Stream& packet : packets) {
    decoded.clear();
    device.decode({packet, {}, {}, 0, Channel::data}, decoded);
  }
  LONGS_EQUAL(0, allocations.count());
}

// With the simulator: every beam of the truth, through the dialogue and over either transport.
TEST(PepperlFuchs, TheSimulatedRoomComesThroughWhateverTheTransportAndTheType) {
  const struct {
    sim::Options device;
    test::SimLine::Set options;
    int baud;
  } kRows[] = {
      {{{"model", "R2000"}}, {}, 0},
      {{{"model", "R2000"}, {"http", "split"}, {"numbers", "strings"}}, {{"packet_type", "B"}}, 0},
      {{{"model", "R2000"}, {"http", "no_length"}, {"header", "52"}}, {{"packet_type", "A"}}, 0},
      {{{"model", "R2000"}, {"first_scan", "65530"}, {"weak", "5"}}, {}, test::SimLine::kTcp},
      {{{"model", "R2300"}, {"layers", "1"}}, {}, 0},
      {{{"model", "R2300"}}, {}, test::SimLine::kTcp},
  };
  for (const auto& row : kRows) {
    Line line(row.device, row.options, row.baud);
    line.run_for(2s);
    STRCMP_EQUAL("", line.health().why.c_str());
    CHECK_TRUE(line.health().state == State::streaming);
    CHECK_TRUE(line.health().balances());
    LONGS_EQUAL(0, line.health().lost);
    std::size_t i = line.truth.beams.size();
    for (const auto& beams : line.log.beams) i -= beams.size();
    const std::size_t late = i;  // sent before it was wanted
    CHECK_TRUE(late <= 700);
    i = 0;
    for (const auto& beams : line.log.beams) {
      for (const Beam& beam : beams) {
        const sim::TrueBeam& truth = line.truth.beams.at(i++);
        DOUBLES_EQUAL(0, std::remainder(truth.angle - double{beam.angle}, 2 * std::numbers::pi),
                      2e-6);
        DOUBLES_EQUAL(truth.range, beam.range, 0.000501);
      }
    }
  }
}

TEST(PepperlFuchs, SettingsAreMadeInTheOrderThatFitsAndReadBack) {
  Line line({{"model", "R2000"}}, {{"scan_frequency", "50"}, {"samples_per_scan", "5040"}}, 0);
  line.run_for(2s);
  STRCMP_EQUAL("OMD30M-R2000-B23-V1V1D, serial 40000012345678, 50 Hz, 5040 points",
               line.health().about.c_str());
  Line slow({{"model", "R2000"}}, {{"scan_frequency", "10"}, {"samples_per_scan", "25200"}}, 0);
  slow.run_for(2s);
  CHECK_TRUE(slow.health().state == State::streaming);
  STRCMP_EQUAL("OMD30M-R2000-B23-V1V1D, serial 40000012345678, 10 Hz, 25200 points",
               slow.health().about.c_str());
}

TEST(PepperlFuchs, WhatTheDeviceRefusesIsToldInItsWords) {
  const auto why = [](const sim::Options& device, const test::SimLine::Set& options) {
    Line line(device, options, 0);
    line.wait_for([&] { return line.health().faults > 0; }, 5s);
    CHECK_TRUE(line.health().cause == Cause::refused);
    return std::string(line.health().why.c_str());
  };
  STRCMP_EQUAL(
      "the device refused 'set samples_per_scan': error 210: value out of range "
      "'samples_per_scan' (see the model's manual for what it knows)",
      why({}, {{"samples_per_scan", "20000"}}).c_str());
  STRCMP_CONTAINS("'read settings back': samples_per_scan 20000 was asked, it keeps 7200",
                  why({{"settings", "adjust"}}, {{"samples_per_scan", "20000"}}).c_str());
  STRCMP_CONTAINS("'request handle': error 240: no more connections (others",
                  why({{"taken", "3"}}, {}).c_str());
  STRCMP_CONTAINS("'request handle': error 200: invalid value 'packet_type'",
                  why({{"model", "R2300"}}, {{"packet_type", "A"}}).c_str());
}

TEST(PepperlFuchs, TheWatchdogIsFedAndALostHandleIsRequestedAnew) {
  for (const int baud : {0, test::SimLine::kTcp}) {
    Line line({}, {{"watchdog_s", "2"}}, baud);
    line.run_for(10s);
    LONGS_EQUAL(0, line.health().faults);
  }
  Line line({}, {{"watchdog_s", "2"}}, 0, {"off@4+1"});
  line.run_for(4s);
  const std::uint64_t before = line.health().packets;
  CHECK_TRUE(before > 1000);
  line.run_for(8s);
  CHECK_TRUE(line.health().state == State::streaming);
  CHECK_TRUE(line.health().packets > before + 1000);
  CHECK_TRUE(line.health().balances());
}

TEST(PepperlFuchs, ItIsStoppedAndItsHandleReleased) {
  Line line({{"taken", "2"}}, {}, 0);
  line.run_for(2s);
  line.stop();
  const std::uint64_t frames = line.health().framing.frames;
  line.run_for(1s);
  LONGS_EQUAL(frames, line.health().framing.frames);
  CHECK_TRUE(line.health().state == State::idle);
}
