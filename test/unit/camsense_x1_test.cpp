#include "drivers/camsense_x1/camsense_x1.h"

#include <cmath>
#include <numbers>

#include "drivers/decoder.h"
#include "test/sim/neato_checksum.h"
#include "test/sim/room.h"
#include "test/support/hex.h"
#include "test/support/lidar_properties.h"
#include "test/support/sim_line.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::SimLine;
using test::Stream;

namespace {

constexpr double kDeg = std::numbers::pi / 180;
const char* const kReal =
    "55 aa 03 08 ec 4d 6c c4 00 80 00 00 80 00 00 80 00 00 80 00 00 80 00 81 06 14 7e 06 33"
    "7d 06 33 f6 c5 49 3c";

void put16(Stream& s, unsigned v) {
  s.push_back(static_cast<std::byte>(v));
  s.push_back(static_cast<std::byte>(v >> 8));
}

// Angles as they are sent, less that of 0 degrees.
Stream packet(unsigned first, unsigned last, unsigned mm = 1000, double rpm = 312) {
  Stream p = hex("55 AA 03 08");
  put16(p, static_cast<unsigned>(rpm * 64));
  put16(p, 0xA000 + first);
  for (unsigned i = 0; i < 8; ++i) put16(p, mm + i), p.push_back(static_cast<std::byte>(40 + i));
  put16(p, 0xA000 + last);
  put16(p, sim::neato_checksum(p));
  return p;
}

}  // namespace

TEST_GROUP(CamsenseX1) {
  Options options{CamsenseX1::options()};
  test::PacketLog log;
  std::unique_ptr<DeviceDecoder<CamsenseX1>> decoder;
  hal::Time now{1000s};

  void setup() override { zero("0"); }
  void zero(const char* deg) {
    CHECK_TRUE(static_cast<bool>(options.set("zero_deg", deg)));
    log = {};
    decoder = std::make_unique<DeviceDecoder<CamsenseX1>>(options, 0, log);
  }
  void feed(const Stream& bytes) { decoder->feed({bytes, now += 3800us}); }
  void beam_is(std::size_t slice, std::size_t i, double clockwise, double mm, double quality) {
    const Beam& beam = log.beams.at(slice).at(i);
    DOUBLES_EQUAL(-clockwise, beam.angle / kDeg, 1e-3);
    DOUBLES_EQUAL(mm * 1e-3, beam.range, 1e-6);
    DOUBLES_EQUAL(quality, beam.intensity, 0);
  }
  static void is_well(SimLine & line) {
    const std::size_t from = line.log.slices.size();
    const hal::Time begin = line.clock.now();
    line.run_for(2s);
    CHECK_TRUE(line.health().state == State::streaming && line.health().cause == Cause::none);
    CHECK_TRUE(line.health().balances());
    std::size_t turns = 0;
    for (std::size_t i = from; i < line.log.slices.size(); ++i) {
      turns += line.log.slices[i].starts_turn;
      for (const Beam& beam : line.log.beams[i]) {
        const double range = sim::Room::range(double{beam.angle});
        if (beam.range > 0 && range > 0) DOUBLES_EQUAL(range, beam.range, 5e-3);
      }
    }
    DOUBLES_EQUAL(5.2, static_cast<double>(turns) / hal::to_seconds(line.clock.now() - begin), 0.5);
  }
};

TEST(CamsenseX1, DecodesARecordedPacket) {
  feed(hex(kReal));
  for (std::size_t i = 0; i < 5; ++i) {
    beam_is(0, i, 145.6875 + 6.15625 / 7 * static_cast<double>(i), 0, 0);
  }
  beam_is(0, 5, 150.0848, 1665, 20);
  beam_is(0, 6, 150.9643, 1662, 51);
  beam_is(0, 7, 151.84375, 1661, 51);
  const double step_s = 6.15625 / 7 / (6 * 311.6875);
  DOUBLES_EQUAL(step_s, hal::to_seconds(log.slices[0].step), 1e-9);
  CHECK_TRUE(log.slices[0].has_intensity && log.slices[0].last() == now);
}

TEST(CamsenseX1, AnInvalidDistanceIsNoReturnWhateverItSays) {
  feed(packet(64, 64 + 7 * 56, 0x8123));
  for (std::size_t i = 0; i < 8; ++i) DOUBLES_EQUAL(0, log.beams.at(0)[i].range, 0);
  DOUBLES_EQUAL(47, log.beams[0][7].intensity, 0);
}

TEST(CamsenseX1, APacketMayStraddleTheTurn) {
  feed(packet(340 * 64, 347 * 64));
  feed(packet(355 * 64, 2 * 64));
  feed(packet(3 * 64, 10 * 64));
  beam_is(1, 0, 355, 1000, 40);
  beam_is(1, 7, 362, 1007, 47);
  CHECK_FALSE(log.slices[0].starts_turn);
  CHECK_TRUE(log.slices[1].starts_turn);
  CHECK_FALSE(log.slices[2].starts_turn);
}

TEST(CamsenseX1, AnglesBeyondTheTurnAreOfTheNext) {
  feed(packet(355 * 64, 362 * 64));
  beam_is(0, 7, 362, 1007, 47);
  feed(packet(363 * 64, 370 * 64));
  beam_is(1, 0, 3, 1000, 40);
}

TEST(CamsenseX1, TheFrontIsWhereItIsSaidToBe) {
  zero("196");
  feed(packet(10 * 64, 17 * 64));
  beam_is(0, 0, 206, 1000, 40);
  beam_is(0, 7, 213, 1007, 47);
}

TEST(CamsenseX1, AnglesThatMakeNoSenseAreNotGuessed) {
  Stream below = packet(0, 400);
  below.resize(34);
  below[7] = std::byte{0x9F};
  put16(below, sim::neato_checksum(below));
  feed(below);
  feed(packet(0, 181 * 64));
  LONGS_EQUAL(2, decoder->stats().undecodable);
  LONGS_EQUAL(0, log.slices.size());
}

TEST(CamsenseX1, EveryTurnStartsOnceHoweverItsPacketsJitter) {
  test::Random random(5);
  double turned = 0;
  for (int i = 0; i < 2000; ++i) {
    const double first = turned + (random.below(100) - 50.0) / 100, last = first + 6 + random.below(9) / 10.0;
    const auto raw = [](double deg) {
      return static_cast<unsigned>(std::fmod(deg + 360, 360) * 64);
    };
    feed(packet(raw(first), raw(last), 1000 + i % 100));
    turned += 7.25;
  }
  const auto starts = std::ranges::count(log.slices, true, &ScanSlice::starts_turn);
  LONGS_EQUAL(2000, log.slices.size());
  CHECK_TRUE(starts == 40 || starts == 41);
}

TEST(CamsenseX1, PacketsAreFoundInGarbageHoweverTheyAreSplit) {
  test::check_garbage_and_splits(CamsenseX1Framing{},
                                 {hex(kReal), packet(0, 400), packet(10'000, 10'400, 0xAA55)});
}

TEST(CamsenseX1, ATornPacketHidesNothing) {
  test::check_torn_frames(CamsenseX1Framing{}, packet(0, 400), hex(kReal));
}

TEST(CamsenseX1, NoBitMayTurnOver) {
  test::check_bit_flips(CamsenseX1Framing{}, hex(kReal), packet(0, 400), packet(464, 864));
}

TEST(CamsenseX1, EveryIntactFrameIsDeliveredAmongDamagedOnes) {
  test::check_damaged_frames<CamsenseX1>(options, test::frames_of("camsense_x1", {}, 20));
}

TEST(CamsenseX1, TwoOfThemDoNotMeetAndNothingIsAllocated) {
  test::check_interleaved<CamsenseX1>(options, test::frames_of("camsense_x1", {}, 2),
                                      test::frames_of("camsense_x1", {{"rpm", "280"}}, 2));
}

TEST(CamsenseX1, SeesTheRoomOfItsSimulator) {
  for (const char* const deg : {"0", "196"}) {
    SimLine line("camsense_x1", {{"zero_deg", deg}}, {{"zero_deg", deg}}, 115200);
    CHECK_TRUE(line.until_streaming() < 100ms);
    is_well(line);
    CHECK_TRUE(line.log.beams[3][0].range > 0);
  }
}

TEST(CamsenseX1, StreamsAgainWithinASecondOfALossOfPower) {
  SimLine line("camsense_x1", {}, {}, 115200, {}, {"off@2+2"});
  line.run_for(4s);
  CHECK_FALSE(line.health().state == State::streaming);
  CHECK_TRUE(line.until_streaming() <= 1s);
  is_well(line);
}
