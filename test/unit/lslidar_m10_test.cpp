#include "drivers/lslidar_m10/lslidar_m10.h"

#include <cmath>
#include <numbers>

#include "test/support/allocation_counter.h"
#include "test/support/sim_line.h"
#include "test/unit/device_driver_bench.h"
#include "test/unit/played_lidar.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::Stream;

namespace {

constexpr double kDeg = std::numbers::pi / 180;
constexpr const char* kModels[] = {"N10", "L10", "N10P", "M10", "M10GPS", "M10P", "M10PLUS"};

void put16(Stream& s, std::size_t v) {
  s.push_back(static_cast<std::byte>(v >> 8));
  s.push_back(static_cast<std::byte>(v));
}

Stream summed(Stream bytes) {
  unsigned sum = 0;
  for (const std::byte b : bytes) sum += std::to_integer<unsigned>(b);
  bytes.push_back(static_cast<std::byte>(sum));
  return bytes;
}

// Distances and intensities that grow by 1 from point to point.
Stream n10(unsigned start, unsigned end, unsigned mm = 1000, unsigned period = 4167) {
  Stream b = hex("A5 5A 3A");
  put16(b, period), put16(b, start);
  for (unsigned i = 0; i < 16; ++i) put16(b, mm + i), b.push_back(static_cast<std::byte>(40 + i));
  put16(b, end);
  return summed(b);
}

Stream n10p(unsigned start, unsigned end, unsigned mm = 1000) {
  Stream b = hex("A5 5A 77 10 47");
  put16(b, start);
  for (unsigned i = 0; i < 16; ++i) {
    put16(b, mm + i), b.push_back(std::byte{40});
    put16(b, i % 2 == 0 ? 0xFFFF : mm + 500), b.push_back(std::byte{20});
  }
  put16(b, 0xBEEF), put16(b, end);
  return summed(b);
}

Stream m10(unsigned start, const std::vector<unsigned>& mm = std::vector<unsigned>(42, 1234),
           unsigned rpm = 600) {
  Stream b = hex("A5 5A");
  put16(b, start), put16(b, rpm);
  for (const unsigned v : mm) put16(b, v);
  put16(b, 0x1234);
  return b;
}

Stream m10p(unsigned start, unsigned mm = 1234) {
  Stream b = hex("A5 5A 00 A0");
  put16(b, start), put16(b, 600);
  for (int i = 0; i < 70; ++i) put16(b, mm);
  test::append(b, hex("19 0B 1E 15 2F 00 01 02 00 03 00 00"));
  return b;
}

Stream command(const char* what_and_value, std::size_t at = 3, const char* two = "00 00") {
  Stream b(188);
  std::ranges::copy(hex("A5 5A 55"), b.begin());
  std::ranges::copy(hex(two), b.begin() + static_cast<std::ptrdiff_t>(at));
  std::ranges::copy(hex(what_and_value), b.begin() + 184);
  std::ranges::copy(hex("FA FB"), b.begin() + 186);
  return b;
}

}  // namespace

TEST_GROUP_BASE(LslidarM10, test::DriverBench) {
  std::unique_ptr<DeviceDecoder<LslidarM10>> decoder;

  void setup() override {
    options = Options(LslidarM10::options());
    open();
  }
  void set(std::string_view key, std::string_view value) {
    CHECK_TRUE(static_cast<bool>(options.set(key, value)));
    open();
  }
  void open() {
    log = {};
    decoder = std::make_unique<DeviceDecoder<LslidarM10>>(options, 0, log);
  }
  void feed(const Stream& bytes, hal::Duration later = 4ms) {
    decoder->feed({bytes, clock.advance(later)});
  }
  void beam_is(std::size_t slice, std::size_t i, double clockwise, double mm) {
    const Beam& beam = log.beams.at(slice).at(i);
    DOUBLES_EQUAL(-clockwise, beam.angle / kDeg, 1e-4);
    DOUBLES_EQUAL(mm, beam.range * 1000.0, 2e-3);
  }
  long turns() const { return std::ranges::count(log.slices, true, &ScanSlice::starts_turn); }
  void run(int baud = 230'400) {
    build<LslidarM10>(baud);
    driver->start(clock.now());
  }
  bool asked(const Stream& bytes) {
    const bool same = port->written == bytes;
    port->written.clear();
    return same;
  }
};

TEST(LslidarM10, DecodesTheFrameOfTheIndependentDecoder) {
  Stream b = hex("A5 5A 3A 12 34 88 B8");
  for (unsigned i = 0; i < 16; ++i)
    put16(b, 1000 + 100 * i), b.push_back(static_cast<std::byte>(i));
  put16(b, 500);
  b = summed(b);
  LONGS_EQUAL(0xF1, std::to_integer<unsigned>(b.back()));
  feed(b);
  LONGS_EQUAL(16, log.beams.at(0).size());
  for (unsigned i = 0; i < 16; ++i) {
    beam_is(0, i, 350 + i, 1000 + 100 * i);
    DOUBLES_EQUAL(i, log.beams[0][i].intensity, 0);
  }
  CHECK_TRUE(log.slices[0].has_intensity && log.slices[0].starts_turn);
  // A degree takes 24 periods of 4660 us / 360.
  CHECK_TRUE(log.slices[0].step == 310'667ns);
  CHECK_TRUE(log.slices[0].last() == clock.now());
}

TEST(LslidarM10, DecodesTheWorkedExampleOfAnN10) {
  const Stream b = n10(9000, 9750, 1000, 1500);
  LONGS_EQUAL(0xC1, std::to_integer<unsigned>(b.back()));
  feed(b);
  beam_is(0, 0, 90, 1000);
  beam_is(0, 1, 90.5, 1001);
  beam_is(0, 15, 97.5, 1015);
  DOUBLES_EQUAL(55, log.beams[0][15].intensity, 0);
  STRCMP_EQUAL("", log.slices[0].echoes.empty() ? "" : "echoes");
}

TEST(LslidarM10, AnN10PHasSecondReturns) {
  set("model", "N10P");
  feed(n10p(9000, 9750));
  beam_is(0, 15, 97.5, 1015);
  LONGS_EQUAL(16, log.echoes.at(0).size());
  DOUBLES_EQUAL(0, log.echoes[0][0].range, 0);
  DOUBLES_EQUAL(1.5, log.echoes[0][1].range, 1e-6);
  DOUBLES_EQUAL(20, log.echoes[0][1].intensity, 0);
}

TEST(LslidarM10, AnM10sPacketSpansFifteenDegreesAndMarksReflectors) {
  std::vector<unsigned> mm(42, 0x04D2);
  mm[1] = 0x84D2, mm[2] = 0xFFFF, mm[3] = 0;
  feed(m10(0x2328, mm));
  decoder->finish();
  beam_is(0, 0, 90, 1234);
  beam_is(0, 1, 90 + 15.0 / 42, 1234);
  beam_is(0, 2, 90 + 30.0 / 42, 0);
  beam_is(0, 3, 90 + 45.0 / 42, 0);
  beam_is(0, 21, 97.5, 1234);
  CHECK_FALSE(log.slices[0].has_intensity);
  CHECK_TRUE(log.slices[0].step == 99'206ns);
}

TEST(LslidarM10, ANumberOutOfRangeMakesTheNextOfAnM10Void) {
  const auto last_two = [this](std::size_t at, unsigned v) {
    std::vector<unsigned> mm(42, 2000);
    mm[at] = v;
    open();
    feed(m10(0, mm));
    decoder->finish();
    return std::pair(log.beams.at(0)[40].range, log.beams[0][41].range);
  };
  CHECK_TRUE(last_two(39, 0xFFFF) == std::pair(0.0F, 2.0F));
  CHECK_TRUE(last_two(40, 0xF500) == std::pair(0.0F, 2.0F));
  DOUBLES_EQUAL(2.0, last_two(39, 0xFFFE).first, 1e-6);
  DOUBLES_EQUAL(1.234, last_two(40, 0x84D2).first, 1e-6);
}

TEST(LslidarM10, AnM10PUsesSixteenBitsUnlessToldOtherwise) {
  const auto mm_of = [this](const char* bit, const Stream& packet) {
    set("strong_bit", bit);
    feed(packet);
    decoder->finish();
    return std::lround(log.beams.at(0)[0].range * 1000.0);
  };
  LONGS_EQUAL(0x84D2, mm_of("auto", m10p(0, 0x84D2)));
  LONGS_EQUAL(0x04D2, mm_of("on", m10p(0, 0x84D2)));
  const std::vector<unsigned> strong(42, 0x84D2);
  LONGS_EQUAL(0x84D2, mm_of("off", m10(0, strong)));
  LONGS_EQUAL(0x04D2, mm_of("auto", m10(0, strong)));
}

TEST(LslidarM10, EveryTurnStartsOnceWhateverTheJitterOfItsAngles) {
  unsigned at = 100;
  for (unsigned i = 0; i < 28 * 5; ++i) {
    const unsigned jitter = i % 3;
    feed(n10((at + 36000 - jitter) % 36000, (at + 1200) % 36000));
    at = (at + 1280) % 36000;
  }
  LONGS_EQUAL(28 * 5, log.slices.size());
  LONGS_EQUAL(28 * 5 * 1280 / 36000, turns());
}

TEST(LslidarM10, APacketThatBeginsABitBackAcrossTheFrontIsNoSecondTurn) {
  feed(n10(34000, 35200));
  feed(n10(35280, 2));
  feed(n10(35998, 1200));
  LONGS_EQUAL(1, turns());
}

TEST(LslidarM10, LostPacketsAdvanceTheTimeAndATurnStartsAllTheSame) {
  std::array<hal::Time, 2> ends{};
  for (int lossy = 0; lossy < 2; ++lossy) {
    open();
    hal::Time at{2000s};
    for (unsigned i = 0; i < 72; ++i) {
      at += hal::from_seconds(0.1 / 24);
      if (lossy == 1 && i >= 40 && i < 50) continue;
      decoder->feed({n10(i * 1500 % 36000, (i * 1500 + 1400) % 36000, 1000, 4167), at});
    }
    ends[static_cast<std::size_t>(lossy)] = log.slices.back().first;
    LONGS_EQUAL(2, turns());
  }
  CHECK_TRUE(std::chrono::abs(ends[0] - ends[1]) < 10us);
}

TEST(LslidarM10, AnglesBeyondTheTurnMakeNoSense) {
  feed(n10(36001, 100));
  feed(n10(100, 40000));
  feed(n10(100, 99));
  LONGS_EQUAL(3, decoder->stats().undecodable);
  LONGS_EQUAL(0, log.slices.size());
}

TEST(LslidarM10, ADevicePacketMeasuresNothing) {
  feed(n10(0, 1200));
  feed(command("00 00"));
  feed(n10(1280, 2480));
  LONGS_EQUAL(3, decoder->stats().framing.frames);
  LONGS_EQUAL(0, decoder->stats().framing.garbage_bytes);
  LONGS_EQUAL(2, log.slices.size());
}

TEST(LslidarM10, AnM10sPacketIsDeliveredWhenTheNextFollowsWithTheTimeOfItsOwn) {
  feed(m10(0));
  LONGS_EQUAL(0, log.slices.size());
  const hal::Time arrived = clock.now();
  feed(m10(1500));
  LONGS_EQUAL(1, log.slices.size());
  CHECK_TRUE(log.slices[0].last() == arrived);
}

TEST(LslidarM10, AnM10sPacketBeforeADamagedOneIsDeliveredToo) {
  Stream damaged = m10(3000);
  damaged[0] = std::byte{0};
  feed(m10(0)), feed(m10(1500)), feed(damaged), feed(m10(4500)), feed(m10(6000));
  decoder->finish();
  LONGS_EQUAL(4, log.slices.size());
  beam_is(1, 0, 15, 1234);
  beam_is(2, 0, 45, 1234);
}

TEST(LslidarM10, ATornPacketOfAnM10IsNotMadeWholeWithTheNext) {
  for (std::size_t n = 2; n < 92; ++n) {
    open();
    Stream torn = m10(3000);
    torn.resize(n);
    feed(m10(0)), feed(m10(1500)), feed(torn), feed(m10(4500)), feed(m10(6000));
    decoder->finish();
    LONGS_EQUAL(4, log.slices.size());
    beam_is(2, 0, 45, 1234);
    LONGS_EQUAL(n, decoder->stats().framing.garbage_bytes);
  }
}

TEST(LslidarM10, FramesAreFoundInGarbageHoweverTheyAreSplit) {
  test::check_garbage_and_splits(LslidarFraming{},
                                 {n10(0, 1200), n10(0x5AA5, 0x5AA5, 0xA55A), command("08 01")});
  test::check_garbage_and_splits(LslidarFraming{find_lslidar_kind("N10P")},
                                 {n10p(0, 1200), n10p(0x5AA5, 0x5AA5, 0xA55A)});
}

TEST(LslidarM10, AnM10sFramesAreFoundInTheMiddleOfItsStream) {
  for (const char* const model : {"auto", "M10"}) {
    LslidarFraming amid{find_lslidar_kind(model)};
    CHECK_TRUE(amid.intact(m10(0)));
    test::check_garbage_and_splits(amid, {m10(1500), m10(3000), m10(6000)});
  }
}

TEST(LslidarM10, ATornFrameHidesNothing) {
  test::check_torn_frames(LslidarFraming{}, n10(0, 1200), n10(1280, 2480, 1001));
  test::check_torn_frames(LslidarFraming{}, m10(0), m10(1500));
  test::check_torn_frames(LslidarFraming{find_lslidar_kind("N10P")}, n10p(0, 1200),
                          n10p(1280, 2480));
}

TEST(LslidarM10, NoBitFlipOfASummedPacketPassesAndNeighboursDoNotSuffer) {
  test::check_bit_flips(LslidarFraming{}, n10(1280, 2480), n10(0, 1200), n10(2560, 3760));
  test::check_bit_flips(LslidarFraming{find_lslidar_kind("N10P")}, n10p(1280, 2480), n10p(0, 1200),
                        n10p(2560, 3760));
}

TEST(LslidarM10, NothingIsAllocatedWhileDecoding) {
  test::PacketCounter counter;
  DeviceDecoder<LslidarM10> quiet{options, 230'400, counter};
  std::vector<Stream> frames;
  for (unsigned i = 0; i < 24; ++i) frames.push_back(n10(i * 1500, i * 1500 + 1400));
  for (unsigned i = 0; i < 24; ++i) frames.push_back(m10(i * 1500));
  quiet.feed({frames[23], clock.now()});
  const test::AllocationCounter allocations;
  for (const Stream& frame : frames) quiet.feed({frame, clock.advance(4ms)});
  LONGS_EQUAL(0, allocations.count());
  LONGS_EQUAL(48, counter.packets);
}

namespace {

// The tolerances are the steps of the format; the void point is left to its own test.
bool is_true(std::vector<Beam> beams, sim::ScanTruth truth) {
  if (beams.size() == 42) beams[40].range = 0, truth.beams[40].range = 0;
  return test::is_true(beams, truth, 0.0051, 0.000501);
}

test::Played play(const char* model, double seconds) {
  return test::play("lslidar_m10", {{"model", model}, {"running", "on"}}, seconds);
}

}  // namespace

TEST(LslidarM10, MeasuresWhatEverySimulatedModelDoesToldOrNot) {
  for (const char* const model : kModels) {
    const test::Played played = play(model, 3);
    for (const char* const told : {model, "auto"}) {
      test::DecodeBench bench("lslidar_m10", {{"model", told}});
      bench.feed_all(test::concatenated(played.frames));
      LONGS_EQUAL(played.frames.size(), bench.log.slices.size());
      LONGS_EQUAL(bench.stats().framing.bytes, bench.stats().framing.frame_bytes);
      for (std::size_t i = 0; i < played.scans.size(); ++i) {
        CHECK_TRUE_TEXT(is_true(bench.log.beams[i], played.scans[i]), model);
      }
    }
  }
}

TEST(LslidarM10, TheSameComesOutHoweverItIsSplitAndBesideAnother) {
  const Stream one = test::concatenated(play("N10", 1).frames);
  for (const char* const model : {"N10P", "M10", "M10P", "M10PLUS"}) {
    const Stream two = test::concatenated(play(model, 1).frames);
    test::check_splits("lslidar_m10", {}, two);
    test::check_interleaved("lslidar_m10", {}, one, two);
  }
}

TEST(LslidarM10, OfATenthOfDamagedFramesEveryIntactOneIsDelivered) {
  for (const char* const model : kModels) {
    const test::Played played = play(model, 10);
    const bool is_summed = find_lslidar_kind(model)->is_summed;
    test::Random random(5);
    const test::Damaged damaged = test::damage(played.frames, random, is_summed ? SIZE_MAX : 2);
    test::DecodeBench bench("lslidar_m10", {{"model", model}});
    bench.feed_all(damaged.stream);
    std::size_t found = 0;
    for (const std::vector<Beam>& beams : bench.log.beams) {
      if (found == damaged.intact.size()) break;
      found += is_true(beams, played.scans[damaged.intact[found]]);
    }
    std::printf(" %s: %zu of %zu intact, %zu others;", model, found, damaged.intact.size(),
                bench.log.beams.size() - found);
    LONGS_EQUAL(damaged.intact.size(), found);
    if (is_summed) LONGS_EQUAL(found, bench.log.beams.size());
  }
}

TEST(LslidarM10, IsStartedHeardAndStopped) {
  run();
  CHECK_TRUE(asked(command("01 01")));
  tick(240ms);
  CHECK_TRUE(asked(command("01 01")));
  for (unsigned i = 0; i < 24; ++i) deliver(n10(i * 1500, i * 1500 + 1400)), tick(4ms);
  is(State::streaming);
  STRCMP_EQUAL("its packets are of an N10", health().about.c_str());
  CHECK_TRUE(port->written.empty());
  driver->stop(clock.now());
  tick(130ms);
  CHECK_TRUE(driver->stopped());
  CHECK_TRUE(
      asked(test::joined(test::joined(command("01 00"), command("01 00")), command("01 00"))));
  books_balance();
}

TEST(LslidarM10, ADatagramIsDeliveredAtOnceAndACutOneHidesNothing) {
  const std::pair<const char*, Stream> all[] = {
      {"N10", n10(100, 850)}, {"M10", m10(1500)}, {"M10P", m10p(1500)}};
  for (const auto& [model, packet] : all) {
    LslidarFraming framing(find_lslidar_kind(model));
    StreamFramer<LslidarFraming> framer;
    std::size_t frames = 0;
    const auto count = [&](const Frame&) { ++frames; };
    const hal::Time at{1000s};
    for (std::size_t cut = 0; cut < packet.size(); ++cut)
      framer.feed(framing, {hal::Bytes(packet).first(cut), at, {}, 0, true}, count);
    LONGS_EQUAL(0, frames);
    for (std::size_t i = 1; i <= 5; ++i) {
      framer.feed(framing, {packet, at, {}, 0, true}, count);
      LONGS_EQUAL(i, frames);
    }
  }
}

TEST(LslidarM10, ByUdpEveryModelIsStartedAndStopped) {
  for (const char* const model : kModels) {
    test::SimLine line("lslidar_m10", {{"model", model}}, {{"model", model}}, 0);
    CHECK_TRUE_TEXT(line.until_streaming() < 1s, model);
    line.run_for(1s);
    CHECK_TRUE_TEXT(line.health().balances() && line.health().framing.garbage_bytes == 0, model);
    for (std::size_t i = 0; i < line.log.slices.size(); ++i)
      CHECK_TRUE_TEXT(line.log.arrivals[i] - line.log.slices[i].last() < 1us, model);
    line.stop();
    const std::size_t said = line.truth.beams.size();
    line.run_for(1s);
    LONGS_EQUAL_TEXT(said, line.truth.beams.size(), model);
  }
}

TEST(LslidarM10, IsFoundAtAnotherRate) {
  run();
  tick(480ms);
  LONGS_EQUAL(460'800, health().baud);
  for (unsigned i = 0; i < 24; ++i) deliver(m10(i * 1500)), tick(4ms);
  is(State::streaming);
}

TEST(LslidarM10, SpeedIsAskedForAsItsKindTakesIt) {
  set("scan_hz", "10");
  run();
  port->written.clear();
  deliver(n10(0, 1400));
  CHECK_TRUE(asked(command("0A 01", 171, "00 0A")));
  deliver(n10(1500, 2900));
  deliver(n10(3000, 4400));
  is(State::streaming);
  CHECK_TRUE(port->written.empty());
}

TEST(LslidarM10, ASpeedThatItDoesNotTakeIsRefusedInWords) {
  set("scan_hz", "15");
  run();
  deliver(n10(0, 1400));
  deliver(n10(1500, 2900));
  is(State::backoff);
  why_is(Cause::refused,
         "the device refused 'set scan frequency': an N10 turns at 6 to 12 Hz, not at 15: change "
         "scan_hz");
  run();
  for (unsigned i = 0; i < 3; ++i) deliver(m10(i * 1500));
  STRCMP_CONTAINS("an M10 takes no speed, remove scan_hz", health().why.c_str());
}
