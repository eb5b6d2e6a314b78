#include "test/unit/sim_lidar_points.h"

using sim_test::Bench;
using sim_test::bytes_of;
using sim_test::hex_of;
using sim_test::LidarPoint;

namespace {

// Byte by byte: one check byte over the low bytes of the words, one over the high ones; an
// intensity is a low byte alone.
bool is_intact(hal::Bytes packet) {
  if (packet.size() < 13 || sim::get_be(packet, 0, 2) != 0xAA55U) return false;
  const std::size_t samples = sim::u8_at(packet, 3);
  if (packet.size() != 10 + 3 * samples) return false;
  unsigned low = 0, high = 0;
  for (std::size_t i = 0; i < 8; i += 2)
    low ^= sim::u8_at(packet, i), high ^= sim::u8_at(packet, i + 1);
  for (std::size_t i = 10; i < packet.size(); i += 3) {
    low ^= sim::u8_at(packet, i) ^ sim::u8_at(packet, i + 1);
    high ^= sim::u8_at(packet, i + 2);
  }
  return low == sim::u8_at(packet, 8) && high == sim::u8_at(packet, 9);
}

double angle_at(hal::Bytes packet, std::size_t at) {
  return static_cast<double>(sim::get_le(packet, at, 2) >> 1U) / 64.0;
}

std::vector<LidarPoint> points_of(hal::Bytes packet) {
  const std::size_t samples = sim::u8_at(packet, 3);
  const double first = angle_at(packet, 4);
  const double span = std::fmod(angle_at(packet, 6) - first + 360.0, 360.0);
  const double step = samples > 1 ? span / (static_cast<double>(samples) - 1.0) : 0.0;
  std::vector<LidarPoint> points;
  for (std::size_t i = 0; i < samples; ++i)
    points.push_back({-(first + step * static_cast<double>(i)),
                      static_cast<double>(sim::get_le(packet, 11 + 3 * i, 2) >> 2U),
                      static_cast<double>(sim::u8_at(packet, 10 + 3 * i))});
  return points;
}

const char* const kStart = "AA 55 F0 0F";
const char* const kStop = "AA 55 F5 0A";

}  // namespace

TEST_GROUP(SimCoinD4){};

TEST(SimCoinD4, TheRecordedHeadIsReadWithTheLayoutOfTheseTests) {
  auto packet = bytes_of("AA 55 00 19 CB 6F 77 76 87 55 50 03 00 2C 2B 0A");
  packet.resize(85);
  DOUBLES_EQUAL(223.578, angle_at(packet, 4), 1e-3);
  DOUBLES_EQUAL(236.922, angle_at(packet, 6), 1e-3);
  const auto points = points_of(packet);
  CHECK_EQUAL(25, points.size());
  CHECK_EQUAL(44.0, points[1].strength);
  CHECK_EQUAL(650.0, points[1].mm);
}

TEST(SimCoinD4, RecordedPacketsOfTheSameFamilyHaveThisChecksum) {
  const sim::ByteVector text = sim_test::bytes_of_capture("ydlidar/tmini_pro_packets.hex");
  if (text.empty()) {
    std::puts("skipped: no captures/ydlidar");
    return;
  }
  std::string line;
  std::size_t packets = 0;
  for (const std::byte b : text) {
    const char c = static_cast<char>(b);
    if (c != '\n') line += c;
    if (c != '\n' || line.empty()) continue;
    CHECK_TRUE(is_intact(bytes_of(line)));
    ++packets;
    line.clear();
  }
  CHECK_EQUAL(2, packets);
}

TEST(SimCoinD4, ItIsSilentUntilItIsStarted) {
  Bench bench("coin_d4");
  bench.run_for(1.0);
  CHECK_EQUAL(0, bench.out.frames.size());
  const auto said = bench.ask(kStart);
  CHECK_EQUAL(2, said.size());
  STRCMP_EQUAL("A5 5A 14 00 E3 02 01 43 4F 49 4E 2D 44 34", said[0].substr(0, 41).c_str());
  STRCMP_EQUAL("A5 5A 00 00 80 01 81", said[1].c_str());
  bench.run_for(0.1);
  CHECK_TRUE(bench.out.frames.size() > 10);
  CHECK_EQUAL(0, bench.ask(kStop).size());
  bench.run_for(0.1);
  CHECK_EQUAL(0, bench.out.frames.size());
}

TEST(SimCoinD4, ATurnStartsWithAPacketOfOneSampleThatTellsTheSpeed) {
  Bench bench("coin_d4", {{"running", "on"}});
  bench.run_for(0.1999);
  // 648 samples: one, then 25 packets of 25 and one of 22.
  CHECK_EQUAL(27, bench.out.frames.size());
  const sim::ByteVector& zero = bench.out.frames[0].bytes;
  STRCMP_EQUAL("AA 55 65 01 01 00 01 00", hex_of(hal::Bytes(zero).first(8)).c_str());
  STRCMP_EQUAL("32 80 3E", hex_of(hal::Bytes(zero).subspan(10)).c_str());
  for (std::size_t f = 1; f < 26; ++f) CHECK_EQUAL(25, sim::u8_at(bench.out.frames[f].bytes, 3));
  CHECK_EQUAL(22, sim::u8_at(bench.out.frames[26].bytes, 3));
  bench.run_for(0.0002);
  CHECK_EQUAL(28, bench.out.frames.size());
  STRCMP_EQUAL(hex_of(zero).c_str(), hex_of(bench.out.frames[27].bytes).c_str());
  for (std::size_t f = 1; f < 27; ++f) CHECK_EQUAL(0, sim::u8_at(bench.out.frames[f].bytes, 2));
}

TEST(SimCoinD4, EveryPacketIsIntactAndShowsTheRoomClockwise) {
  for (const char* rpm : {"300", "437", "120"}) {
    Bench bench("coin_d4", {{"running", "on"}, {"rpm", rpm}});
    bench.run_for(2.0);
    std::size_t turns = 0, samples = 0;
    for (std::size_t f = 0; f < bench.out.frames.size(); ++f) {
      const sim::ByteVector& packet = bench.out.frames[f].bytes;
      CHECK_TRUE(is_intact(packet));
      CHECK_EQUAL(1, sim::u8_at(packet, 4) & sim::u8_at(packet, 6) & 1U);
      turns += sim::u8_at(packet, 2) & 1U;
      samples += sim::u8_at(packet, 3);
      sim_test::check_points(points_of(packet), bench.out.scans[f], 0.5 / 64.0, 0.5);
    }
    CHECK_EQUAL(static_cast<std::size_t>(2.0 * std::stod(rpm) / 60.0) + 1, turns);
    CHECK_TRUE(samples >= 6480 - 25 && samples <= 6481);
  }
}

TEST(SimCoinD4, SomeSamplesCarryAMarkBesideTheirDistance) {
  Bench bench("coin_d4", {{"running", "on"}});
  bench.run_for(0.2);
  std::size_t marked = 0;
  for (const sim::Frame& frame : bench.out.frames)
    for (std::size_t i = 10; i < frame.bytes.size(); i += 3)
      marked += (sim::u8_at(frame.bytes, i + 1) & 3U) == 3U ? 1U : 0U;
  CHECK_TRUE(marked > 0 && marked < 65);
}

TEST(SimCoinD4, ACommandIsFoundBetweenJunkAndInPieces) {
  Bench bench("coin_d4");
  CHECK_EQUAL(0, bench.ask("00 AA AA 55").size());
  CHECK_EQUAL(0, bench.ask("F0").size());
  CHECK_EQUAL(2, bench.ask("0F").size());
  CHECK_EQUAL(0, bench.ask("AA 55 F5 0B").size());  // damaged
  bench.run_for(0.1);
  CHECK_TRUE(bench.out.frames.size() > 10);
  CHECK_EQUAL(0, bench.ask("AA 55 AA 55 F5 0A").size());
  bench.run_for(0.1);
  CHECK_EQUAL(0, bench.out.frames.size());
}

TEST(SimCoinD4, AStartWhileItStreamsAndExposuresChangeNothing) {
  Bench bench("coin_d4", {{"running", "on"}}), other("coin_d4", {{"running", "on"}});
  bench.run_for(0.1005);
  for (const char* command : {kStart, "AA 55 F1 0E", "AA 55 F2 0D", "AA 55 77 88"})
    CHECK_EQUAL(0, bench.ask(command).size());
  bench.run_for(0.1);
  other.run_for(0.1005);
  other.out.clear();
  other.run_for(0.1);
  CHECK_EQUAL(other.out.frames.size(), bench.out.frames.size());
  CHECK_TRUE(other.out.frames[0].bytes == bench.out.frames[0].bytes);
}

TEST(SimCoinD4, AFalsifiedPacketHasAGoodChecksum) {
  Bench bench("coin_d4", {{"running", "on"}});
  bench.run_for(0.02);
  sim::ByteVector packet = bench.out.frames[1].bytes;
  sim::Random random(7);
  bench.model->falsify(packet, random);
  CHECK_TRUE(packet != bench.out.frames[1].bytes);
  CHECK_TRUE(is_intact(packet));
}
