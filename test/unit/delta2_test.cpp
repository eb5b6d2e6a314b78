#include "drivers/delta2/delta2.h"

#include <cmath>
#include <numbers>

#include "test/support/allocation_counter.h"
#include "test/unit/device_driver_bench.h"
#include "test/unit/played_lidar.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::Stream;

namespace {

constexpr double kDeg = std::numbers::pi / 180;
constexpr const char* kModels[] = {"2A", "2B", "2D", "2G", "LDS08RR"};

void put16(Stream& s, std::size_t v) {
  s.push_back(static_cast<std::byte>(v >> 8));
  s.push_back(static_cast<std::byte>(v));
}

Stream frame_of(unsigned command, const Stream& data) {
  Stream frame = hex("AA");
  put16(frame, data.size() + 8);
  test::append(frame, hex("01 61"));
  frame.push_back(static_cast<std::byte>(command));
  put16(frame, data.size());
  test::append(frame, data);
  std::size_t sum = 0;
  for (const std::byte b : frame) sum += std::to_integer<std::size_t>(b);
  put16(frame, sum);
  return frame;
}

// Distances in the device's unit, each one more than the one before.
Stream scan(unsigned first, std::size_t n = 21, unsigned distance = 4000, unsigned speed = 123) {
  Stream data{static_cast<std::byte>(speed)};
  put16(data, 0xFFDC);
  put16(data, first);
  for (std::size_t i = 0; i < n; ++i) data.push_back(std::byte{60}), put16(data, distance + i);
  return frame_of(0xAD, data);
}

Stream speed_alone(unsigned speed) { return frame_of(0xAE, {static_cast<std::byte>(speed)}); }

// The published head, with samples behind it that nobody published.
Stream recorded() {
  Stream data = hex("7B FF DC 57 E4 41 05 95 3C 05 B8 39 05 CE");
  data.resize(0x44);
  return frame_of(0xAD, data);
}

}  // namespace

TEST_GROUP_BASE(Delta2, test::DriverBench) {
  std::unique_ptr<DeviceDecoder<Delta2>> decoder;

  void setup() override {
    options = Options(Delta2::options());
    open();
  }
  void set(std::string_view key, std::string_view value) {
    CHECK_TRUE(static_cast<bool>(options.set(key, value)));
    open();
  }
  void open() {
    log = {};
    decoder = std::make_unique<DeviceDecoder<Delta2>>(options, 0, log);
  }
  void feed(const Stream& bytes, hal::Duration later = 10ms) {
    decoder->feed({bytes, clock.advance(later)});
  }
  void beam_is(std::size_t slice, std::size_t i, double clockwise, double mm) {
    const Beam& beam = log.beams.at(slice).at(i);
    DOUBLES_EQUAL(-clockwise, beam.angle / kDeg, 1e-4);
    DOUBLES_EQUAL(mm, beam.range * 1000.0, 1e-3);
  }
  long turns() const { return std::ranges::count(log.slices, true, &ScanSlice::starts_turn); }
  void run(int baud = 115'200) {
    build<Delta2>(baud);
    driver->start(clock.now());
  }
};

TEST(Delta2, DecodesThePublishedHead) {
  const Stream frame = recorded();
  CHECK_TRUE(std::ranges::equal(hal::Bytes(frame).first(8), hex("AA 00 4C 01 61 AD 00 44")));
  LONGS_EQUAL(78, frame.size());
  feed(frame);
  LONGS_EQUAL(21, log.beams.at(0).size());
  beam_is(0, 0, 225, 357.25);
  beam_is(0, 1, 226.0714, 366);
  beam_is(0, 2, 227.1429, 371.5);
  beam_is(0, 3, 228.2143, 0);
  DOUBLES_EQUAL(65, log.beams[0][0].intensity, 0);
  DOUBLES_EQUAL(57, log.beams[0][2].intensity, 0);
  CHECK_TRUE(log.slices[0].has_intensity);
  CHECK_TRUE(log.slices[0].last() == clock.now());
  // 6.15 turns/s, 16 packets of 21 beams.
  CHECK_TRUE(log.slices[0].step == hal::from_seconds(1 / 6.15 / 16 / 21));
}

TEST(Delta2, ThePublishedSpeedFrameIsIntactAndMeasuresNothing) {
  CHECK_TRUE(speed_alone(0xA2) == hex("AA 00 09 01 61 AE 00 01 A2 02 66"));
  feed(speed_alone(0xA2));
  LONGS_EQUAL(1, decoder->stats().framing.frames);
  LONGS_EQUAL(0, log.slices.size() + decoder->stats().undecodable);
}

TEST(Delta2, TheUnitOfDistanceIsAnOption) {
  set("unit_mm", "1");
  feed(recorded());
  beam_is(0, 0, 225, 1429);
}

TEST(Delta2, TheAnglesTellHowManyPackets) {
  const auto second_beam_of = [this](unsigned first) {
    feed(scan(first, 2));
    return -log.beams.back()[1].angle / kDeg - first / 100.0;
  };
  DOUBLES_EQUAL(12, second_beam_of(2400), 1e-3);
  DOUBLES_EQUAL(12, second_beam_of(0), 1e-3);
  DOUBLES_EQUAL(11.25, second_beam_of(2250), 1e-3);
  DOUBLES_EQUAL(11.25, second_beam_of(0), 1e-3);
  set("model", "2G");
  DOUBLES_EQUAL(12, second_beam_of(0), 1e-3);
  set("model", "2B");
  DOUBLES_EQUAL(11.25, second_beam_of(2400), 1e-3);
}

TEST(Delta2, EveryTurnStartsOnceAlsoWhereItsFirstPacketIsLostOrComesTwice) {
  for (unsigned turn = 0; turn < 5; ++turn) {
    for (unsigned i = 0; i < 16; ++i) {
      if (turn == 2 && i < 3) continue;
      feed(scan(i * 2250));
      if (turn == 3 && i == 0) feed(scan(i * 2250));
    }
  }
  LONGS_EQUAL(5, turns());
  LONGS_EQUAL(5 * 16 - 3, log.slices.size());
  CHECK_TRUE(log.slices[0].starts_turn && log.slices[16].starts_turn);
}

TEST(Delta2, LostPacketsAdvanceTheTime) {
  std::array<hal::Time, 2> ends{};
  for (int lossy = 0; lossy < 2; ++lossy) {
    open();
    hal::Time at{2000s};
    for (unsigned i = 0; i < 64; ++i) {
      at += hal::from_seconds(1 / 6.15 / 16);
      if (lossy == 1 && i >= 40 && i < 45) continue;
      decoder->feed({scan(i % 16 * 2250), at});
    }
    ends[static_cast<std::size_t>(lossy)] = log.slices.back().first;
  }
  CHECK_TRUE(std::chrono::abs(ends[0] - ends[1]) < 1us);
}

TEST(Delta2, NoPacketBeginsBeforeTheOneBeforeItWhateverItsSpeed) {
  feed(test::joined(scan(0, 2), scan(2250, 21)));
  feed(test::joined(scan(4500, 21, 4000, 1), scan(6750, 21, 4000, 1)), 1ms);
  LONGS_EQUAL(4, log.slices.size());
  for (std::size_t i = 1; i < 4; ++i) {
    CHECK_TRUE(log.slices[i].first > log.slices[i - 1].first);
    CHECK_TRUE(log.slices[i].last() > log.slices[i - 1].last());
    CHECK_TRUE(log.slices[i].last() <= clock.now() + 3us);
  }
}

TEST(Delta2, ContentThatMakesNoSenseIsNotGuessed) {
  feed(scan(36000));
  Stream data = hex("7B FF DC 00 00 41 05 95 41");
  feed(frame_of(0xAD, data));
  LONGS_EQUAL(2, decoder->stats().undecodable);
  LONGS_EQUAL(0, log.slices.size());
}

TEST(Delta2, LengthsThatDisagreeAreNoFrame) {
  Stream frame = scan(2250);
  frame[7] ^= std::byte{1};
  frame[frame.size() - 1] ^= std::byte{1};
  feed(frame);
  LONGS_EQUAL(0, decoder->stats().framing.frames + decoder->stats().framing.rejected);
}

TEST(Delta2, FramesAreFoundInGarbageHoweverTheyAreSplit) {
  test::check_garbage_and_splits(Delta2Framing{}, {scan(0xAA01 % 36000, 21, 0xAA00),
                                                   speed_alone(0xAA), scan(0, 1), scan(9, 128)});
}

TEST(Delta2, ATornFrameHidesNothing) {
  test::check_torn_frames(Delta2Framing{}, scan(2250), scan(4500, 21, 4001));
}

TEST(Delta2, NoBitFlipPassesAndNeighboursDoNotSuffer) {
  test::check_bit_flips(Delta2Framing{}, scan(4500), scan(2250), scan(6750));
  test::check_bit_flips(Delta2Framing{}, speed_alone(9), scan(2250), scan(6750));
}

TEST(Delta2, NothingIsAllocatedWhileDecoding) {
  test::PacketCounter counter;
  DeviceDecoder<Delta2> quiet{options, 115'200, counter};
  std::vector<Stream> frames;
  for (unsigned i = 0; i < 100; ++i) frames.push_back(scan(i % 16 * 2250));
  const test::AllocationCounter allocations;
  for (const Stream& frame : frames) quiet.feed({frame, clock.advance(10ms)});
  LONGS_EQUAL(0, allocations.count());
  LONGS_EQUAL(100, counter.packets);
}

TEST(Delta2, MeasuresWhatEverySimulatedModelDoes) {
  for (const char* const model : kModels) {
    const test::Played played = test::play("delta2", {{"model", model}}, 3);
    test::DecodeBench bench("delta2", {{"model", model}});
    bench.feed_all(test::concatenated(played.frames));
    LONGS_EQUAL(played.frames.size(), bench.log.slices.size());
    LONGS_EQUAL(bench.stats().framing.bytes, bench.stats().framing.frame_bytes);
    for (std::size_t i = 0; i < played.scans.size(); ++i) {
      CHECK_TRUE(test::is_true(bench.log.beams[i], played.scans[i], 1e-3, 0.000126));
    }
  }
}

TEST(Delta2, TheSameComesOutHoweverItIsSplitAndBesideAnother) {
  const Stream a = test::concatenated(test::play("delta2", {{"model", "2A"}}, 1).frames);
  const Stream g = test::concatenated(test::play("delta2", {{"model", "2G"}}, 1).frames);
  test::check_splits("delta2", {}, a);
  test::check_interleaved("delta2", {}, a, g);
}

TEST(Delta2, OfATenthOfDamagedFramesEveryIntactOneIsDelivered) {
  const test::Played played = test::play("delta2", {}, 20);
  test::Random random(5);
  const test::Damaged damaged = test::damage(played.frames, random);
  test::DecodeBench bench("delta2");
  bench.feed_all(damaged.stream);
  LONGS_EQUAL(damaged.intact.size(), bench.log.slices.size());
  for (std::size_t i = 0; i < damaged.intact.size(); ++i) {
    const sim::ScanTruth& truth = played.scans[damaged.intact[i]];
    CHECK_TRUE(test::is_true(bench.log.beams[i], truth, 1e-3, 0.000126));
  }
}

TEST(Delta2, IsOnlyListenedTo) {
  run();
  for (unsigned i = 0; i < 16; ++i) tick(10ms), deliver(scan(i * 2250));
  is(State::streaming);
  STRCMP_EQUAL("16 packets in a turn", health().about.c_str());
  driver->stop(clock.now());
  CHECK_TRUE(driver->stopped());
  CHECK_TRUE(port->written.empty());
  books_balance();
}

TEST(Delta2, IsFoundAtItsOtherRate) {
  run(230'400);
  tick(400ms);
  LONGS_EQUAL(115'200, health().baud);
  for (unsigned i = 0; i < 4; ++i) tick(10ms), deliver(scan(i * 2250));
  is(State::streaming);
}

TEST(Delta2, AMotorThatIsTooSlowIsNamed) {
  run();
  for (unsigned i = 0; i < 60; ++i) tick(20ms), deliver(speed_alone(30));
  tick(100ms);
  why_is(
      Cause::device_fault,
      "the device reports a fault: no measurement at 1.5 turns/s: the motor is the host's (PWM)");
  books_balance();
}

TEST(Delta2, ASpeedFrameAmongMeasurementsIsNoFault) {
  run();
  for (unsigned i = 0; i < 160; ++i) {
    tick(10ms), deliver(scan(i % 16 * 2250));
    if (i % 4 == 0) deliver(speed_alone(123));
  }
  is(State::streaming);
  LONGS_EQUAL(0, health().device_faults);
}
