// Datagrams of a Leuze RSL decoded: the recorded status, the worked examples, built scans.
#include "drivers/leuze_rsl/leuze_rsl.h"

#include <cmath>
#include <memory>
#include <numbers>

#include "drivers/decoder.h"
#include "test/support/allocation_counter.h"
#include "test/support/framing_properties.h"
#include "test/support/leuze_datagrams.h"
#include "test/support/packet_log.h"
#include "test/support/sim_line.h"
#include "test/unit/sim_lidar_points.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::SimLine;
using test::Stream;
namespace leuze = test::leuze;

namespace {

constexpr double kDeg = std::numbers::pi / 180;

// Packets with their losses, of a device that is handed its frames.
struct Bench {
  LeuzeRsl device{Options(LeuzeRsl::options())};
  Decoded out;
  std::uint64_t lost = 0, undecodable = 0;
  std::vector<ScanSlice> slices;
  std::vector<std::vector<Beam>> beams;
  std::vector<Timing> timings;
  hal::Time now{1000s};

  void keep() {
    lost += out.lost();
    undecodable += out.is_undecodable();
    for (const Decoded::Item& item : out.items()) {
      const auto& slice = std::get<ScanSlice>(item.packet);
      slices.push_back(slice);
      beams.emplace_back(slice.beams.begin(), slice.beams.end());
      timings.push_back(item.timing);
    }
  }
  void feed(const Stream& datagram) {
    CHECK_EQUAL(datagram.size(), LeuzeRslFraming::measure(datagram));
    CHECK_TRUE(LeuzeRslFraming::intact(datagram));
    now += 4ms;
    out.clear();
    device.decode({datagram, now, now}, out);
    keep();
  }
  void feed(const std::vector<Stream>& datagrams) {
    for (const Stream& datagram : datagrams) feed(datagram);
  }
  std::size_t turns() const {
    return static_cast<std::size_t>(std::ranges::count_if(slices, &ScanSlice::starts_turn));
  }
  // Nothing twice, nothing backward.
  void check_order() const {
    for (std::size_t i = 1; i < timings.size(); ++i)
      CHECK_TRUE(timings[i - 1].raw_ns < timings[i].raw_ns);
  }
};

Stream stream_of(const sim::ByteVector& bytes) { return {bytes.begin(), bytes.end()}; }

std::vector<Stream> scans(unsigned device, std::uint32_t from, std::uint32_t n) {
  std::vector<Stream> all;
  for (std::uint32_t i = 0; i < n; ++i)
    for (Stream& datagram : leuze::scan(device, from + i)) all.push_back(std::move(datagram));
  return all;
}

}  // namespace

TEST_GROUP(LeuzeRsl){};

// The real status of an RSL 400, and the worked blocks behind it.
TEST(LeuzeRsl, ARecordedStatusTellsTheFieldOfTheBlocksBehindIt) {
  const Stream recorded = stream_of(sim_test::bytes_of(
      "30000000 08 00 affe 04 15 02 c8 0100 0000 6e290500 01010280 00001080 6e290500 e81100f0 "
      "00000000 0000 8b0a 0100 0000"));
  Bench bench;
  bench.feed(recorded);
  STRCMP_EQUAL("RSL 400, 2700 beams a scan", bench.device.about().c_str());
  bench.feed(leuze::block(0, 338'286, 0, 360));
  DOUBLES_EQUAL(135.0 * kDeg, bench.beams.at(0)[0].angle, 1e-6);
  DOUBLES_EQUAL(134.9 * kDeg, bench.beams[0][1].angle, 1e-6);
  LONGLONGS_EQUAL(338'286 * 40'000'000LL + 359 * 11'111, bench.timings[0].raw_ns);

  // Its field narrowed to two beams.
  Stream two = recorded;
  two[42] = std::byte{1}, two[43] = std::byte{0};
  bench = Bench();
  bench.feed(two);
  bench.feed(stream_of(
      sim_test::bytes_of("1c000000 0800affe 041502c8 0300 0000 6e290500 d204 f401 d404 f501")));
  LONGS_EQUAL(2, bench.beams.at(0).size());
  DOUBLES_EQUAL(1.234, bench.beams[0][0].range, 1e-6);
  DOUBLES_EQUAL(500, bench.beams[0][0].intensity, 0);
  DOUBLES_EQUAL(1.236, bench.beams[0][1].range, 1e-6);
  DOUBLES_EQUAL(501, bench.beams[0][1].intensity, 0);
}

TEST(LeuzeRsl, TheCapturedFileIsThatStatus) {
  const Stream bytes = stream_of(sim_test::bytes_of_capture("leuze-rsl/rsl400_status_id1.bin"));
  if (bytes.empty()) {
    UT_PRINT("captures are not here");
    return;
  }
  Bench bench;
  bench.feed(bytes);
  STRCMP_EQUAL("RSL 400, 2700 beams a scan", bench.device.about().c_str());
}

TEST(LeuzeRsl, EveryBeamOfAScanIsThere) {
  for (const unsigned device : {0U, 1U})
    for (const bool has_amplitude : {true, false}) {
      Bench bench;
      bench.feed(leuze::scan(device, 10, has_amplitude));
      const std::size_t all = device == 0 ? 2700 : 1351;
      const double step = device == 0 ? 0.1 : 0.2;
      std::size_t k = 0;
      for (std::size_t s = 0; s < bench.slices.size(); ++s) {
        CHECK_EQUAL(s == 0, bench.slices[s].starts_turn);
        CHECK_EQUAL(has_amplitude, bench.slices[s].has_intensity);
        for (const Beam& beam : bench.beams[s]) {
          DOUBLES_EQUAL((135 - step * static_cast<double>(k)) * kDeg, beam.angle, 1e-6);
          DOUBLES_EQUAL(1.0 + 0.001 * static_cast<double>(k), beam.range, 1e-5);
          DOUBLES_EQUAL(has_amplitude ? static_cast<double>(k % 1000) : 0.0, beam.intensity, 0);
          ++k;
        }
      }
      LONGS_EQUAL(all, k);
      LONGS_EQUAL(0, bench.lost + bench.undecodable);
    }
}

TEST(LeuzeRsl, ANarrowFieldMayHaveWideSteps) {
  Bench bench;
  bench.feed(leuze::status(0, 1, 100, 201, 2));
  bench.feed(leuze::block(0, 1, 0, 52));  // 1 + ceil(101 / 2)
  DOUBLES_EQUAL(125.0 * kDeg, bench.beams.at(0)[0].angle, 1e-6);
  DOUBLES_EQUAL(124.8 * kDeg, bench.beams[0][1].angle, 1e-6);
  CHECK_TRUE(bench.slices[0].step == 22'222ns);
}

TEST(LeuzeRsl, WithoutEchoTheRangeIsZero) {
  Bench bench;
  bench.feed(leuze::status(0, 1, 0, 1, 1));
  Stream block = leuze::block(0, 1, 0, 2);
  for (std::size_t i = 20; i < 22; ++i) block[i] = std::byte{0xFF}, block[i + 4] = std::byte{0};
  bench.feed(block);
  DOUBLES_EQUAL(0, bench.beams.at(0)[0].range + bench.beams[0][1].range, 0);
}

TEST(LeuzeRsl, BlocksBeforeTheFirstStatusHaveNoAngles) {
  Bench bench;
  bench.feed(leuze::block(0, 1, 3, 360));
  CHECK_TRUE(bench.slices.empty());
  bench.feed(leuze::scan(0, 2));
  LONGS_EQUAL(8, bench.slices.size());
  LONGS_EQUAL(0, bench.lost);
}

TEST(LeuzeRsl, BlocksThatAreMissingAreCounted) {
  std::vector<Stream> all = scans(0, 5, 4);
  all.erase(all.begin() + 30);                   // a block of the last
  all.erase(all.begin() + 9, all.begin() + 18);  // the second, with its status
  all.erase(all.begin() + 3);                    // a block of the first
  Bench bench;
  bench.feed(all);
  bench.out.clear();
  bench.device.finish(bench.out);
  bench.keep();
  LONGS_EQUAL(1 + 8 + 1, bench.lost);
  LONGS_EQUAL(22, bench.slices.size());
  LONGS_EQUAL(3, bench.turns());
  bench.check_order();
}

TEST(LeuzeRsl, ABlockOfAnotherLengthIsNotLostTooAndNothingWaitsForIt) {
  Bench bench;
  std::vector<Stream> all = scans(0, 5, 2);
  all[4] = leuze::block(0, 5, 3, 17);  // behind the status
  bench.feed(all);
  bench.feed(leuze::block(0, 5, 3, 17));  // too late
  LONGS_EQUAL(15, bench.slices.size());
  LONGS_EQUAL(2, bench.undecodable);
  LONGS_EQUAL(0, bench.lost);
  bench.check_order();
}

TEST(LeuzeRsl, AScanWhoseStatusIsLostHasTheAnglesOfTheOneBefore) {
  std::vector<Stream> all = scans(1, 5, 3);
  all.erase(all.begin() + 5);
  Bench bench;
  bench.feed(all);
  LONGS_EQUAL(12, bench.slices.size());
  LONGS_EQUAL(3, bench.turns());
  LONGS_EQUAL(0, bench.lost);
}

TEST(LeuzeRsl, AnotherFieldBeginsAnew) {
  Bench bench;
  bench.feed(scans(0, 5, 2));
  bench.feed(leuze::status(0, 7, 0, 359, 1));
  for (std::uint32_t scan = 7; scan < 10; ++scan) bench.feed(leuze::block(0, scan, 0, 360));
  LONGS_EQUAL(16 + 3, bench.slices.size());
  LONGS_EQUAL(0, bench.lost + bench.undecodable);
}

TEST(LeuzeRsl, BlocksThatOvertookOthersAreSetRight) {
  std::vector<Stream> all = scans(0, 5, 3);
  std::rotate(all.begin() + 2, all.begin() + 3, all.begin() + 11);  // late by 7 blocks
  std::swap(all[22], all[23]);
  Bench bench;
  bench.feed(all);
  LONGS_EQUAL(24, bench.slices.size());
  LONGS_EQUAL(3, bench.turns());
  LONGS_EQUAL(0, bench.lost);
  bench.check_order();
}

TEST(LeuzeRsl, WhatComesTwiceIsNotGivenTwice) {
  std::vector<Stream> twice;
  for (const Stream& datagram : scans(1, 5, 3)) twice.insert(twice.end(), 2, datagram);
  test::PacketLog log;
  DeviceDecoder<LeuzeRsl> decoder(Options(LeuzeRsl::options()), 0, log);
  hal::Time now{1000s};
  for (const Stream& datagram : twice) decoder.feed({datagram, now += 2500us, {}, 0, true});
  LONGS_EQUAL(12, log.slices.size());
}

TEST(LeuzeRsl, ADeviceThatCountsAnewIsFollowed) {
  Bench bench;
  bench.feed(scans(0, 100'000, 2));
  bench.feed(scans(0, 1, 2));
  LONGS_EQUAL(32, bench.slices.size());
  LONGS_EQUAL(0, bench.lost);
  LONGS_EQUAL(4, bench.turns());
}

TEST(LeuzeRsl, WhatMakesNoSenseIsCounted) {
  Bench bench;
  bench.feed(leuze::status(0, 1, 0, 2699, 0));  // no step
  bench.feed(leuze::status(0, 1, 0, 2700, 1));  // beyond the field
  bench.feed(leuze::status(1, 1, 0, 1351, 1));
  bench.feed(leuze::status(0, 1, 9, 8, 1));
  LONGS_EQUAL(4, bench.undecodable);
  bench.feed(leuze::status(0, 1, 0, 2699, 1));
  bench.feed(leuze::block(0, 1, 8, 360));  // one too many
  bench.feed(leuze::block(0, 1, 7, 181));
  bench.feed(leuze::block(0, 1, 3, 359));
  bench.feed(leuze::block(1, 1, 0, 360));  // of another device
  LONGS_EQUAL(8, bench.undecodable);
  CHECK_TRUE(bench.slices.empty());
}

TEST(LeuzeRsl, OtherImagesAreOfNoInterest) {
  Bench bench;
  bench.feed(leuze::head(0, 0, 0, 0, 1));
  CHECK_TRUE(bench.slices.empty());
  LONGS_EQUAL(0, bench.undecodable);
}

TEST(LeuzeRsl, CutLongAndForeignDatagramsAreNoFrames) {
  const std::vector<Stream> good = scans(0, 5, 2);
  test::Random random(3);
  for (const Stream& datagram : good) {
    Stream cut = datagram, longer = datagram;
    cut.pop_back();
    longer.push_back({});
    for (const Stream& bad : {cut, longer, Stream{}, Stream(1400, std::byte{0x5A})}) {
      test::PacketLog log;
      DeviceDecoder<LeuzeRsl> decoder(Options(LeuzeRsl::options()), 0, log);
      decoder.feed({good[0], hal::Time{1000s}, {}, 0, true});
      decoder.feed({bad, hal::Time{1001s}, {}, 0, true});
      decoder.feed({good[1], hal::Time{1002s}, {}, 0, true});
      decoder.finish();
      LONGS_EQUAL(good[0].size() + bad.size() + good[1].size(), decoder.stats().framing.bytes);
      CHECK_TRUE(log.slices.size() >= 1);
    }
  }
}

TEST(LeuzeRsl, GarbageCostsLittle) {
  test::check_work_is_bounded(LeuzeRslFraming{}, scans(0, 5, 1));
}

TEST(LeuzeRsl, TwoDevicesDoNotMeetAndNothingIsAllocated) {
  const std::vector<Stream> one = scans(0, 5, 4), other = scans(1, 900, 8);
  const Options options(LeuzeRsl::options());
  test::PacketLog first, second, alone;
  const auto a = std::make_unique<DeviceDecoder<LeuzeRsl>>(options, 0, first);
  const auto b = std::make_unique<DeviceDecoder<LeuzeRsl>>(options, 0, second);
  const auto c = std::make_unique<DeviceDecoder<LeuzeRsl>>(options, 0, alone);
  hal::Time now{1000s};
  for (std::size_t i = 0; i < std::max(one.size(), other.size()); ++i) {
    now += 4ms;
    if (i < one.size()) a->feed({one[i], now, {}, 0, true}), c->feed({one[i], now, {}, 0, true});
    if (i < other.size()) b->feed({other[i], now, {}, 0, true});
  }
  LONGS_EQUAL(32, first.slices.size());
  LONGS_EQUAL(32, second.slices.size());
  for (std::size_t i = 0; i < 32; ++i) {
    CHECK_TRUE(first.slices[i].first == alone.slices[i].first);
    CHECK_TRUE(first.beams[i].back().range == alone.beams[i].back().range);
  }
  test::PacketCounter counter;
  const auto quiet = std::make_unique<DeviceDecoder<LeuzeRsl>>(options, 0, counter);
  const test::AllocationCounter allocations;
  for (const Stream& datagram : one) quiet->feed({datagram, now += 4ms, {}, 0, true});
  LONGS_EQUAL(0, allocations.count());
  LONGS_EQUAL(32, counter.packets);
}

TEST_GROUP(LeuzeRslSim){
    static void is_well(SimLine & line){CHECK_TRUE(line.health().state == State::streaming);
CHECK_TRUE(line.health().cause == Cause::none);
CHECK_TRUE(line.health().balances());
for (std::size_t s = 0; s < line.log.slices.size(); ++s)
  for (const Beam& beam : line.log.beams[s])
    DOUBLES_EQUAL(sim::Room::range(double{beam.angle}), beam.range, 2e-3);
}
static std::size_t beams_in(const SimLine& line) {
  std::size_t n = 0;
  for (const auto& beams : line.log.beams) n += beams.size();
  return n;
}
}
;

TEST(LeuzeRslSim, EveryModelIsHeardBeamByBeam) {
  for (const char* model : {"RSL400", "RSL200"})
    for (const char* amplitude : {"on", "off"}) {
      SimLine line("leuze_rsl", {{"model", model}, {"amplitude", amplitude}}, {}, 0);
      line.run_for(3s);
      is_well(line);
      LONGS_EQUAL(0, line.health().lost + line.health().stale + line.health().undecodable);
      LONGS_EQUAL(line.truth.beams.size(), beams_in(line));
      CHECK_EQUAL(std::string_view(amplitude) == "on", line.log.slices.back().has_intensity);
      STRCMP_CONTAINS(model[3] == '4' ? "RSL 400" : "RSL 200", line.health().about.c_str());
    }
}

TEST(LeuzeRslSim, WhatComesTwiceOrOutOfOrderLosesNothing) {
  SimLine line("leuze_rsl", {}, {}, 0, {}, {"duplicate%10", "reorder%10"});
  line.run_for(5s);
  is_well(line);
  LONGS_EQUAL(0, line.health().lost);
  CHECK_TRUE(line.truth.beams.size() - beams_in(line) <= 4 * 360);  // what waits at the end
}

TEST(LeuzeRslSim, WhatIsLostIsCountedAndTheRestIsThere) {
  SimLine line("leuze_rsl", {}, {}, 0, {}, {"drop%10", "duplicate%10", "reorder%10"});
  line.run_for(10s);
  is_well(line);
  const Health health = line.health();
  CHECK_TRUE(health.lost > 150 && health.lost < 250);  // of 2000
  CHECK_TRUE(line.truth.beams.size() - beams_in(line) <= (health.lost + 9) * 360);
}

TEST(LeuzeRslSim, DamagedDatagramsHideNoOthers) {
  SimLine line("leuze_rsl", {}, {}, 0, {}, {"truncate%10", "garbage%5"});
  line.run_for(5s);
  CHECK_TRUE(line.health().state == State::streaming);
  CHECK_TRUE(line.health().balances());
  CHECK_TRUE(line.health().framing.garbage_bytes > 0);
  CHECK_TRUE(line.log.slices.size() > 800);
}

TEST(LeuzeRslSim, AfterAPowerCycleItIsHeardAgain) {
  SimLine line("leuze_rsl", {}, {}, 0, {}, {"off@3+1"});
  line.run_for(3s);
  const std::size_t before = line.log.slices.size();
  line.run_for(4s);
  is_well(line);
  CHECK_TRUE(line.log.slices.size() > before + 400);
}
