#include "drivers/xv11/xv11.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <numbers>

#include "drivers/decoder.h"
#include "test/sim/neato_checksum.h"
#include "test/support/hex.h"
#include "test/support/lidar_properties.h"
#include "test/support/places.h"
#include "test/support/sim_line.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::Stream;

namespace {

constexpr double kDeg = std::numbers::pi / 180;

void put16(Stream& s, unsigned v) {
  s.push_back(static_cast<std::byte>(v));
  s.push_back(static_cast<std::byte>(v >> 8));
}

struct Reading {
  unsigned word = 1000, signal = 100;
};

Stream packet(unsigned index, const std::array<Reading, 4>& readings = {}, double rpm = 300) {
  Stream out{std::byte{0xFA}, static_cast<std::byte>(0xA0 + index)};
  put16(out, static_cast<unsigned>(rpm * 64));
  for (const Reading& r : readings) put16(out, r.word), put16(out, r.signal);
  put16(out, sim::neato_checksum(out));
  return out;
}

Stream turn(unsigned mm, double rpm = 300) {
  Stream out = hex("5A A5 00 C0");
  put16(out, static_cast<unsigned>(rpm * 64));
  for (unsigned i = 0; i < 360; ++i) put16(out, mm + i), put16(out, i);
  return out;
}

const char* const kReal = "fa da 43 4a 3d 02 29 01 34 02 20 01 2d 02 2c 01 24 02 36 01 da 17";
const char* const kOtherReal = "fa ef 49 4a c0 01 5a 01 b8 01 63 01 b1 01 6b 01 aa 01 86 01 15 5d";

}  // namespace

TEST_GROUP(Xv11) {
  Options options{Xv11::options()};
  test::PacketLog log;
  std::unique_ptr<DeviceDecoder<Xv11>> decoder;
  hal::Time now{1000s};

  void setup() override { firmware("auto"); }
  void firmware(const char* name) {
    CHECK_TRUE(static_cast<bool>(options.set("firmware", name)));
    log = {};
    decoder = std::make_unique<DeviceDecoder<Xv11>>(options, 0, log);
  }
  void feed(const Stream& bytes, hal::Duration later = 2222us) {
    decoder->feed({bytes, now += later});
  }
  void beam_is(std::size_t slice, std::size_t i, double deg, double mm, double signal) {
    const Beam& beam = log.beams.at(slice).at(i);
    DOUBLES_EQUAL(deg, beam.angle / kDeg, 1e-4);
    DOUBLES_EQUAL(mm * 1e-3, beam.range, 1e-6);
    DOUBLES_EQUAL(signal, beam.intensity, 0);
  }
};

TEST(Xv11, DecodesRecordedPackets) {
  feed(hex(kReal));
  feed(hex(kOtherReal));
  beam_is(0, 0, 232, 573, 297);
  beam_is(0, 1, 233, 564, 288);
  beam_is(0, 2, 234, 557, 300);
  beam_is(0, 3, 235, 548, 310);
  beam_is(1, 0, 316, 448, 346);
  beam_is(1, 3, 319, 426, 390);
  CHECK_TRUE(log.slices[0].has_intensity);
  CHECK_FALSE(log.slices[0].device_ns.has_value());
}

TEST(Xv11, DecodesARecordingAsExpected) {
  const std::string name = test::in_captures("neato-xv11/hand_in_box_head_22k");
  std::ifstream file(name + ".bin", std::ios::binary), csv(name + ".expected.csv");
  if (!file || !csv) {
    UT_PRINT("no captures: skipped");
    return;
  }
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  const hal::Bytes all = std::as_bytes(std::span(bytes));
  for (std::size_t at = 0; at < all.size(); at += 22) {
    const hal::Bytes read = all.subspan(at, std::min<std::size_t>(22, all.size() - at));
    feed(Stream(read.begin(), read.end()), 2244us);
  }
  decoder->finish();
  std::size_t packets = 0;
  std::string line;
  std::getline(csv, line);
  for (; std::getline(csv, line); ++packets) {
    const char* text = line.c_str();
    int offset = 0, index = 0, n = 0;
    double rpm = 0;
    LONGS_EQUAL(3, std::sscanf(text, "%d,%d,%lf%n", &offset, &index, &rpm, &n));
    text += n;
    DOUBLES_EQUAL(1e9 / (6 * rpm), static_cast<double>(log.slices.at(packets).step.count()), 1);
    for (std::size_t k = 0; k < 4; ++k, text += n) {
      int mm = 0, invalid = 0, weak = 0, signal = 0;
      LONGS_EQUAL(4, std::sscanf(text, ",%d,%d,%d,%d%n", &mm, &invalid, &weak, &signal, &n));
      beam_is(packets, k, index * 4.0 + static_cast<double>(k), invalid ? 0 : mm, signal);
    }
  }
  LONGS_EQUAL(999, packets);
  const DecoderStats s = decoder->stats();
  LONGS_EQUAL(999, s.packets);
  LONGS_EQUAL(22'000, s.framing.bytes);
  LONGS_EQUAL(999 * 22, s.framing.frame_bytes);
  LONGS_EQUAL(6, s.framing.garbage_bytes);
  LONGS_EQUAL(16, s.tail_bytes);
}

TEST(Xv11, AnInvalidReadingIsNoReturnAndAWeakOneCounts) {
  feed(packet(1, {{{0x8002, 0}, {0xC035, 7}, {0x4000 | 5000, 20}, {6000, 30}}}));
  beam_is(0, 0, 4, 0, 0);
  beam_is(0, 1, 5, 0, 7);
  beam_is(0, 2, 6, 5000, 20);
  beam_is(0, 3, 7, 6000, 30);
}

TEST(Xv11, BeamsAreAsFarApartAsThePacketsSpeedSays) {
  feed(packet(1));
  feed(packet(2, {}, 240));
  CHECK_TRUE(log.slices[0].step == 555'556ns);
  CHECK_TRUE(log.slices[1].step == 694'444ns);
  CHECK_TRUE(log.slices[0].last() == log.arrivals[0]);
}

TEST(Xv11, HalfATurnThatIsLostMergesNoTwoTurns) {
  for (const unsigned index : {50U, 51U}) feed(packet(index));
  feed(packet(2), 91 * 2222us);
  feed(packet(3));
  CHECK_FALSE(log.slices[1].starts_turn);
  CHECK_TRUE(log.slices[2].starts_turn);
  CHECK_FALSE(log.slices[3].starts_turn);
  const double lost = hal::to_seconds(log.slices[2].first - log.slices[1].first);
  DOUBLES_EQUAL(41 * 4 / 1800.0, lost, 1e-4);
}

TEST(Xv11, TurnsOfFirmware21AreFoundByThemselves) {
  for (const char* const name : {"auto", "2.1"}) {
    firmware(name);
    feed(turn(500), 200ms);
    feed(turn(700), 200ms);
    LONGS_EQUAL(2, log.slices.size());
    LONGS_EQUAL(360, log.beams[0].size());
    beam_is(0, 0, 0, 500, 0);
    beam_is(1, 359, 359, 700 + 359, 359);
    CHECK_TRUE(log.slices[0].starts_turn && log.slices[1].starts_turn);
    CHECK_TRUE(log.slices[0].step == 555'556ns);
  }
}

TEST(Xv11, TheFirmwareThatIsNotConfiguredIsGarbage) {
  firmware("2.4");
  feed(turn(500));
  LONGS_EQUAL(0, log.slices.size());
  LONGS_EQUAL(1446, decoder->stats().framing.garbage_bytes);
  firmware("2.1");
  feed(packet(3));
  LONGS_EQUAL(0, log.slices.size());
  LONGS_EQUAL(22, decoder->stats().framing.garbage_bytes);
}

TEST(Xv11, WherePacketsWereSeenNothingIsTakenForATurn) {
  for (unsigned i = 0; i < 8; ++i) feed(packet(i));
  feed(hex("5A A5 00 C0"));
  feed(packet(8));
  LONGS_EQUAL(9, log.slices.size());
  LONGS_EQUAL(4, decoder->stats().framing.garbage_bytes);
}

TEST(Xv11, AWholeTurnEndsThePacketsOfAnAccident) {
  for (unsigned i = 0; i < 7; ++i) feed(packet(i));
  feed(turn(500), 200ms);
  feed(packet(7));
  feed(turn(700), 200ms);
  LONGS_EQUAL(10, log.slices.size());
  LONGS_EQUAL(360, log.beams[9].size());
}

TEST(Xv11, ATornTurnHidesNothing) {
  const Stream good = turn(500);
  for (std::size_t n = 1; n < good.size(); n += 13) {
    Stream stream(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n));
    test::append(stream, good);
    firmware("auto");
    feed(stream);
    LONGS_EQUAL(1, log.slices.size());
    LONGS_EQUAL(n, decoder->stats().framing.garbage_bytes);
  }
}

TEST(Xv11, PacketsAreFoundInGarbageHoweverTheyAreSplit) {
  test::check_garbage_and_splits(Xv11Framing(true, false),
                                 {hex(kReal), packet(0), hex(kOtherReal), packet(89)});
}

TEST(Xv11, GarbageThatLooksLikeTurnsCostsLittle) {
  test::check_work_is_bounded(Xv11Framing{}, {turn(500), turn(16'000), packet(5)});
}

TEST(Xv11, ATornPacketHidesNothing) {
  test::check_torn_frames(Xv11Framing{}, packet(5), hex(kReal));
}

TEST(Xv11, NoBitOfAPacketMayTurnOver) {
  test::check_bit_flips(Xv11Framing(true, false), hex(kReal), packet(57), packet(59));
}

TEST(Xv11, EveryIntactFrameIsDeliveredAmongDamagedOnes) {
  test::check_damaged_frames<Xv11>(options, test::frames_of("xv11", {}, 20));
}

TEST(Xv11, TwoOfThemDoNotMeetAndNothingIsAllocated) {
  test::check_interleaved<Xv11>(options, test::frames_of("xv11", {}, 2),
                                test::frames_of("xv11", {{"firmware", "2.1"}}, 2));
}

TEST(Xv11, StreamsFromItsSimulatorWithoutAWord) {
  test::SimLine line("xv11", {}, {}, 115200);
  line.run_for(2s);
  const Health h = line.health();
  CHECK_TRUE(h.state == State::streaming && h.cause == Cause::none && h.balances());
  DOUBLES_EQUAL(5, h.turns_hz, 0.01);
  LONGS_EQUAL(0, h.stale + h.stuck + h.undecodable + h.framing.garbage_bytes);
  LONGS_EQUAL(10, std::ranges::count_if(line.log.slices, &ScanSlice::starts_turn));
}

TEST(Xv11, AMotorAtTheWrongSpeedIsNamed) {
  test::SimLine line("xv11", {{"rpm", "180"}}, {}, 115200);
  line.run_for(2s);
  STRCMP_EQUAL(
      "the device reports a fault: no range is valid: its motor turns at 180 rpm and needs 240 to "
      "350",
      line.health().why.c_str());
  CHECK_TRUE(line.health().state == State::streaming);
}

TEST(Xv11, StreamsAgainWithinASecondOfAReset) {
  for (const char* const firmware : {"2.6", "2.1"}) {
    test::SimLine line("xv11", {{"firmware", firmware}}, {}, 115200, {}, {"off@2+1.5"});
    line.run_for(3500ms);
    const std::size_t before = line.log.slices.size();
    CHECK_FALSE(line.health().state == State::streaming);
    line.run_for(1s);
    CHECK_TRUE(line.health().state == State::streaming);
    CHECK_TRUE(line.log.slices.size() > before + 2);
    CHECK_TRUE(line.health().balances());
  }
}
