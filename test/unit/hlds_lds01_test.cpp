#include "drivers/hlds_lds01/hlds_lds01.h"

#include <cmath>
#include <numbers>

#include "drivers/decoder.h"
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
const char* const kPrinted =
    "fa a0 b8 0b b0 04 e8 03 00 00 b1 04 f2 03 00 00 b2 04 fc 03 00 00 b3 04 06 04 00 00"
    "b4 04 10 04 00 00 b5 04 1a 04 00 00 40 40";

Stream checked(Stream packet, unsigned check) {
  packet.resize(40);
  packet.insert(packet.end(), 2, static_cast<std::byte>(check));
  return packet;
}

unsigned complement_of(const Stream& packet) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < 40; ++i) sum += std::to_integer<unsigned>(packet[i]);
  return ~sum & 0xFF;
}

// The printed one at another place of the turn, with its first range and speed.
Stream packet(unsigned index, unsigned mm = 1000, unsigned decirpm = 3000) {
  Stream p = hex(kPrinted);
  p[1] = static_cast<std::byte>(0xA0 + index);
  p[2] = static_cast<std::byte>(decirpm), p[3] = static_cast<std::byte>(decirpm >> 8);
  p[6] = static_cast<std::byte>(mm), p[7] = static_cast<std::byte>(mm >> 8);
  return checked(p, complement_of(p));
}

Stream without_the_sum(unsigned index) {
  const Stream p = packet(index);
  return checked(p, complement_of(p) + 1);
}

// Of a device whose check is the sum.
HldsLds01Framing learnt() {
  HldsLds01Framing framing;
  for (unsigned i = 0; i < 3; ++i) CHECK_TRUE(framing.intact(packet(i)));
  return framing;
}

}  // namespace

TEST_GROUP(HldsLds01) {
  Options options{HldsLds01::options()};
  test::PacketLog log;
  DeviceDecoder<HldsLds01> decoder{options, 0, log};
  hal::Time now{1000s};

  void feed(const Stream& bytes) { decoder.feed({bytes, now += 3333us}); }
  void beam_is(std::size_t slice, std::size_t i, double deg, double mm, double intensity) {
    const Beam& beam = log.beams.at(slice).at(i);
    DOUBLES_EQUAL(deg, beam.angle / kDeg, 1e-4);
    DOUBLES_EQUAL(mm * 1e-3, beam.range, 1e-6);
    DOUBLES_EQUAL(intensity, beam.intensity, 0);
  }
  // The room where it is, one start per turn.
  static void is_well(SimLine & line) {
    const std::size_t from = line.log.slices.size();
    line.run_for(2s);
    CHECK_TRUE(line.health().state == State::streaming && line.health().cause == Cause::none);
    CHECK_TRUE(line.health().balances());
    std::size_t turns = 0;
    for (std::size_t i = from; i < line.log.slices.size(); ++i) {
      turns += line.log.slices[i].starts_turn;
      for (const Beam& beam : line.log.beams[i]) {
        DOUBLES_EQUAL(sim::Room::range(double{beam.angle}), beam.range, 2e-3);
      }
    }
    LONGS_EQUAL(10, turns);
  }
};

TEST(HldsLds01, DecodesThePrintedPacket) {
  feed(hex(kPrinted));
  LONGS_EQUAL(6, log.beams.at(0).size());
  for (std::size_t i = 0; i < 6; ++i) {
    const auto k = static_cast<double>(i);
    beam_is(0, i, 359 - k, 1000 + 10 * k, 1200 + k);
  }
  CHECK_TRUE(log.slices[0].step == 555'556ns);
  CHECK_TRUE(log.slices[0].starts_turn && log.slices[0].has_intensity);
  CHECK_TRUE(log.slices[0].last() == now);
}

TEST(HldsLds01, TheTurnEndsInFront) {
  feed(packet(59, 0));
  beam_is(0, 0, 5, 0, 1200);
  beam_is(0, 5, 0, 1050, 1205);
  feed(packet(0));
  CHECK_FALSE(log.slices[0].starts_turn);
  CHECK_TRUE(log.slices[1].starts_turn);
}

TEST(HldsLds01, BeamsAreAsFarApartAsTheSpeedSays) {
  feed(packet(3, 1000, 2500));
  CHECK_TRUE(log.slices.at(0).step == 666'667ns);
}

TEST(HldsLds01, CheckBytesThatDifferAreRejected) {
  Stream p = packet(3);
  p[41] ^= std::byte{1};
  feed(p);
  LONGS_EQUAL(0, log.slices.size());
  LONGS_EQUAL(1, decoder.stats().framing.rejected);
}

TEST(HldsLds01, ADeviceWithAnotherCheckIsHeard) {
  for (unsigned i = 0; i < 120; ++i) feed(without_the_sum(i % 60));
  decoder.finish();
  LONGS_EQUAL(120, log.slices.size());
}

TEST(HldsLds01, TheSumIsRequiredOfADeviceThatWasSeenToSendIt) {
  feed(packet(0)), feed(packet(1)), feed(without_the_sum(2));
  LONGS_EQUAL(2, log.slices.size());  // that waits for the next
  for (unsigned i = 3; i < 6; ++i) feed(packet(i));
  feed(without_the_sum(6));
  LONGS_EQUAL(6, log.slices.size());
}

TEST(HldsLds01, ADeviceThatChangesItsCheckIsHeardAgain) {
  for (unsigned i = 0; i < 10; ++i) feed(packet(i));
  for (unsigned i = 10; i < 60; ++i) feed(without_the_sum(i));
  decoder.finish();
  LONGS_EQUAL(60 - 19, log.slices.size());
}

TEST(HldsLds01, PacketsAreFoundInGarbageHoweverTheyAreSplit) {
  test::check_garbage_and_splits(learnt(), {packet(0), packet(1, 0xA0FA), packet(59)});
}

TEST(HldsLds01, ATornPacketHidesNothing) {
  test::check_torn_frames(learnt(), packet(5), packet(6));
}

TEST(HldsLds01, NoBitMayTurnOver) {
  test::check_bit_flips(learnt(), packet(5), packet(4), packet(6));
}

TEST(HldsLds01, EveryIntactFrameIsDeliveredAmongDamagedOnes) {
  test::check_damaged_frames<HldsLds01>(options, test::frames_of("hlds_lds01", {}, 20));
}

TEST(HldsLds01, TwoOfThemDoNotMeetAndNothingIsAllocated) {
  test::check_interleaved<HldsLds01>(options, test::frames_of("hlds_lds01", {}, 2),
                                     test::frames_of("hlds_lds01", {{"rpm", "250"}}, 2));
}

TEST(HldsLds01, IsStartedFromSilenceAndStopped) {
  SimLine line("hlds_lds01", {{"running", "off"}}, {}, 230400);
  CHECK_TRUE(line.until_streaming() < 100ms);
  is_well(line);
  line.stop();
  CHECK_TRUE(line.health().state == State::idle);
  const std::size_t said = line.truth.beams.size();
  line.run_for(1s);
  LONGS_EQUAL(said, line.truth.beams.size());
}

TEST(HldsLds01, IsTakenOverInTheMiddleOfAPacket) {
  for (const std::size_t cut : {0U, 1U, 20U, 41U}) {
    SimLine line("hlds_lds01", {}, {}, 230400, 777'777us);
    line.port->lose(cut);
    CHECK_TRUE(line.until_streaming() < 100ms);
    is_well(line);
  }
}

TEST(HldsLds01, IsStartedAgainAfterALossOfPower) {
  SimLine line("hlds_lds01", {{"running", "off"}}, {}, 230400, {}, {"off@2+2"});
  line.run_for(4s);
  CHECK_FALSE(line.health().state == State::streaming);
  CHECK_TRUE(line.until_streaming() <= 1s);
  is_well(line);
}
