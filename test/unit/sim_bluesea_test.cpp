#include "test/unit/sim_lidar_points.h"

#include <string>

#include "test/sim/bluesea_packets.h"

using sim::bluesea::Format;
using sim_test::Bench;
using sim_test::bytes_of;
using sim_test::hex_of;
using sim_test::LidarPoint;

namespace {

// Each format read as its description says: angle in degrees clockwise, distance as it stands.
struct Packet {
  std::vector<LidarPoint> points;
  std::uint64_t sum = 0;  // of what the checksum covers, besides the header's words
  std::size_t length = 0;
};

double number_at(hal::Bytes p, std::size_t at, std::size_t bytes) {
  return static_cast<double>(sim::get_le(p, at, bytes));
}

// Byte before word, point by point.
Packet mixed(hal::Bytes p, std::size_t head, double first, double step) {
  Packet out;
  const std::size_t n = sim::get_le(p, 2, 2);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = head + 3 * i;
    out.points.push_back({-(first + step * static_cast<double>(i)), number_at(p, at + 1, 2),
                          static_cast<double>(sim::u8_at(p, at))});
    out.sum += sim::u8_at(p, at) + sim::get_le(p, at + 1, 2);
  }
  out.length = head + 3 * n + 2;
  return out;
}

Packet sector(hal::Bytes p, std::size_t head) {
  Packet out;
  const std::size_t n = sim::get_le(p, 2, 2);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t distance = head + 2 * i, angle = distance + 2 * n, energy = head + 4 * n + i;
    out.points.push_back({-(number_at(p, 8, 4) + number_at(p, angle, 2)) / 1000.0,
                          number_at(p, distance, 2), static_cast<double>(sim::u8_at(p, energy))});
    out.sum += sim::get_le(p, distance, 2) + sim::get_le(p, angle, 2) + sim::u8_at(p, energy);
  }
  out.length = head + 5 * n + 2;
  return out;
}

Packet turn_part(hal::Bytes p) {
  Packet out;
  const std::size_t n = sim::get_le(p, 2, 2);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t distance = 32 + 2 * i, energy = 32 + 2 * n + i;
    out.points.push_back(
        {-(number_at(p, 4, 2) + static_cast<double>(i)) * 360.0 / number_at(p, 6, 2),
         number_at(p, distance, 2), static_cast<double>(sim::u8_at(p, energy))});
    out.sum += sim::get_le(p, distance, 2) + sim::u8_at(p, energy);
  }
  out.length = 32 + 3 * n + 2;
  return out;
}

// `energy_in_word`: the two-byte points of CE.
Packet read(hal::Bytes p, bool energy_in_word = false) {
  const double n = number_at(p, 2, 2), angle = number_at(p, 4, 2) / 10.0;
  std::size_t head = 6;
  Packet out;
  switch (sim::get_le(p, 0, 2)) {
    case 0xFACE:
      out = mixed(p, head, angle, 36.0 / n);
      if (!energy_in_word) break;
      out = {};
      for (std::size_t i = 0; i < sim::get_le(p, 2, 2); ++i) {
        const std::uint64_t word = sim::get_le(p, head + 2 * i, 2);
        out.points.push_back({-(angle + 36.0 / n * static_cast<double>(i)),
                              static_cast<double>(word & 0x1FFFU),
                              static_cast<double>(word >> 13U)});
        out.sum += word;
      }
      out.length = head + 2 * sim::get_le(p, 2, 2) + 2;
      break;
    case 0xFACF:
      out = mixed(p, head = 8, angle, number_at(p, 6, 2) / 10.0 / n);
      break;
    case 0xFADF:
      out = mixed(p, head = 16, number_at(p, 10, 2) / 100.0,
                  (number_at(p, 12, 2) - number_at(p, 10, 2)) / 100.0 / (n - 1.0));
      break;
    case 0xFAC7:
      out = sector(p, head = 28);
      break;
    case 0xFAAA:
      out = sector(p, head = 48);
      break;
    case 0xFA99:
      out = turn_part(p), head = 32;
      break;
    default:
      FAIL("no code of a packet");
  }
  for (std::size_t at = 2; at < head; at += 2) out.sum += sim::get_le(p, at, 2);
  CHECK_EQUAL(out.length, p.size());
  CHECK_EQUAL(out.sum % 65536, sim::get_le(p, p.size() - 2, 2));
  return out;
}

std::string text_of(const std::string& hex) {
  std::string text;
  for (const std::byte b : bytes_of(hex)) text += static_cast<char>(b);
  return text;
}

std::string hex_of_text(const char* text) {
  sim::ByteVector bytes;
  sim::put_text(bytes, text);
  return hex_of(bytes);
}

}  // namespace

TEST_GROUP(SimBluesea){static std::vector<std::string> say(Bench & bench, const char* text){
    return bench.ask(hex_of_text(text));
}
}
;

TEST(SimBluesea, TheWorkedExamplesAreReadWithTheLayoutsOfTheseTests) {
  const Packet ce = read(bytes_of("ce fa 04 00 b6 0d 64 e8 03 65 f2 03 66 fc 03 67 06 04 2c 1f"));
  CHECK_EQUAL(-378.0, ce.points[3].ccw_deg);
  CHECK_EQUAL(1030.0, ce.points[3].mm);
  CHECK_EQUAL(103.0, ce.points[3].strength);
  const Packet cf =
      read(bytes_of("cf fa 04 00 84 03 68 01 64 e8 03 65 f2 03 66 fc 03 67 06 04 62 16"));
  CHECK_EQUAL(-117.0, cf.points[3].ccw_deg);
  const Packet c7 = read(
      bytes_of("c7fa 0300 0300 0000 a08c0000 40190100 01000000 87d61200 07000000 dc05 de05 0000 "
               "0000 e02e c05d 32 33 00 4715"));
  CHECK_EQUAL(-48.0, c7.points[1].ccw_deg);
  CHECK_EQUAL(1502.0, c7.points[1].mm);
  CHECK_EQUAL(51.0, c7.points[1].strength);
  const Packet x99 = read(
      bytes_of("99fa 0200 6400 e803 01000000 87d61200 07000000 000000000000000000000000 d007 d507 "
               "50 51 35eb"));
  DOUBLES_EQUAL(-36.36, x99.points[1].ccw_deg, 1e-9);
  CHECK_EQUAL(2005.0, x99.points[1].mm);
}

TEST(SimBluesea, TheWorkedExamplesAreWhatItSendsOfTheSameSamples) {
  const struct {
    Format format;
    const char* packet;
  } kRows[] = {
      {Format::ce, "ce fa 04 00 b6 0d 64 e8 03 65 f2 03 66 fc 03 67 06 04 2c 1f"},
      {Format::cf, "cf fa 04 00 84 03 68 01 64 e8 03 65 f2 03 66 fc 03 67 06 04 62 16"},
      {Format::c7,
       "c7fa 0300 0300 0000 a08c0000 40190100 01000000 87d61200 07000000 dc05 de05 0000 0000 e02e "
       "c05d 32 33 00 4715"},
      {Format::x99,
       "99fa 0200 6400 e803 01000000 87d61200 07000000 000000000000000000000000 d007 d507 50 51 "
       "35eb"}};
  for (const auto& row : kRows) {
    const sim::ByteVector expected = bytes_of(row.packet);
    sim::ByteVector sealed(expected.begin(), expected.end() - 2);
    sim::bluesea::seal(row.format, sealed);
    CHECK_TRUE(sealed == expected);
  }
  // Whole, where the example is a part of a fan: 1234567 ms in the hour, distances in mm.
  sim::bluesea::FanPart part{1, 3, 0, true, false, 1'234'567'000'000, {{1500, 50}, {1502, 51}, {}}};
  CHECK_TRUE(bytes_of(kRows[2].packet) == sim::bluesea::packet(Format::c7, part));
  part = {1, 100, 0, true, false, 1'234'567'000'000, {{2000, 0x50}, {2005, 0x51}}};
  CHECK_TRUE(bytes_of(kRows[3].packet) == sim::bluesea::packet(Format::x99, part));
}

TEST(SimBluesea, EveryFormatCarriesTheTruth) {
  const struct {
    const char* format;
    const char* body;
    double deg_tolerance;
  } kRows[] = {{"CE", "3", 0.0},    {"CE", "2", 0.0},    {"CF", "3", 0.0}, {"DF", "3", 0.005},
               {"C7", "3", 0.0005}, {"AA", "3", 0.0005}, {"99", "3", 0.0}};
  for (const char* points : {"100", "77"})
    for (const auto& row : kRows) {
      Bench bench(
          "bluesea",
          {{"format", row.format}, {"body", row.body}, {"running", "on"}, {"points", points}});
      bench.run_for(0.25);
      CHECK_EQUAL(25, bench.out.frames.size());
      for (std::size_t f = 0; f < bench.out.frames.size(); ++f) {
        const Packet packet = read(bench.out.frames[f].bytes, row.body[0] == '2');
        sim_test::check_points(packet.points, bench.out.scans[f], row.deg_tolerance, 0.5);
        for (const LidarPoint& point : packet.points)
          if (point.mm == 0.0) CHECK_EQUAL(0.0, point.strength);
      }
    }
}

TEST(SimBluesea, AFanInPartsHasOneStampAndTheOffsetsOfItsParts) {
  for (const char* format : {"C7", "AA"}) {
    Bench bench("bluesea", {{"format", format}, {"parts", "3"}, {"running", "on"}});
    bench.run_for(1.0);
    CHECK_EQUAL(300, bench.out.frames.size());
    const std::size_t kPoints[] = {34, 34, 32}, kOffsets[] = {0, 34, 68};
    for (std::size_t f = 0; f < bench.out.frames.size(); ++f) {
      const sim::ByteVector& p = bench.out.frames[f].bytes;
      CHECK_EQUAL(kPoints[f % 3], sim::get_le(p, 2, 2));
      CHECK_EQUAL(100, sim::get_le(p, 4, 2));
      CHECK_EQUAL(kOffsets[f % 3], sim::get_le(p, 6, 2));
      CHECK_EQUAL(bench.out.scans[f / 3 * 3].device_ns, bench.out.scans[f].device_ns);
      sim_test::check_points(read(p).points, bench.out.scans[f], 0.0005, 0.5);
    }
  }
}

TEST(SimBluesea, ATurnInPartsNumbersItsPoints) {
  Bench bench("bluesea", {{"format", "99"}, {"parts", "3"}, {"running", "on"}});
  bench.run_for(0.25);
  std::size_t next = 0;
  for (std::size_t f = 0; f < bench.out.frames.size(); ++f) {
    const sim::ByteVector& p = bench.out.frames[f].bytes;
    CHECK_EQUAL(next, sim::get_le(p, 4, 2));
    CHECK_EQUAL(1000, sim::get_le(p, 6, 2));
    next = (next + sim::get_le(p, 2, 2)) % 1000;
    sim_test::check_points(read(p).points, bench.out.scans[f], 0.0, 0.5);
  }
}

TEST(SimBluesea, AStatusMessageStandsBeforeEachTurnWhenItIsWanted) {
  Bench bench("bluesea", {{"status", "on"}, {"running", "on"}});
  bench.run_for(0.25);
  CHECK_EQUAL(25 + 3, bench.out.frames.size());
  CHECK_EQUAL(25, bench.out.scans.size());
  for (const std::size_t f : {0U, 11U, 22U}) {
    STRCMP_EQUAL("53 54 00 00 00 00 45 44", hex_of(bench.out.frames[f].bytes).c_str());
    CHECK_EQUAL(0, sim::get_le(bench.out.frames[f + 1].bytes, 4, 2));
  }
}

TEST(SimBluesea, TheStampCountsMillisecondsAndStartsAnewWithTheHour) {
  for (const char* format : {"C7", "99"}) {
    const std::size_t at = format[0] == 'C' ? 20 : 12;
    Bench bench("bluesea", {{"format", format}, {"running", "on"}});
    CHECK_TRUE(bench.model->clock_period() == std::chrono::hours(1));
    bench.clock.restart(bench.now, 3'599'985'700'000);
    bench.run_for(0.03);
    CHECK_EQUAL(3'599'985, sim::get_le(bench.out.frames[0].bytes, at, 4));
    CHECK_EQUAL(3'599'995, sim::get_le(bench.out.frames[1].bytes, at, 4));
    CHECK_EQUAL(5, sim::get_le(bench.out.frames[2].bytes, at, 4));
    CHECK_EQUAL(3'600'005'000'000, bench.out.scans[2].device_ns);
  }
}

TEST(SimBluesea, TheFormatWithADateCountsSecondsFrom1900) {
  Bench bench("bluesea", {{"format", "AA"}, {"running", "on"}});
  bench.run_for(1.5);
  for (std::size_t f = 0; f < bench.out.frames.size(); ++f) {
    const sim::ByteVector& p = bench.out.frames[f].bytes;
    const auto s = static_cast<std::int64_t>(sim::get_le(p, 20, 4)) - 2'208'988'800;
    const auto ns = static_cast<std::int64_t>(sim::get_le(p, 24, 4));
    CHECK_EQUAL(s * 1'000'000'000 + ns, bench.out.scans[f].device_ns);
  }
  CHECK_EQUAL(1'767'225'600'000'000'000, bench.out.scans[0].device_ns);
}

TEST(SimBluesea, CommandsAreAnsweredAsTheyAreDescribed) {
  Bench bench("bluesea", {{"model", "LDS-25"}});
  const struct {
    const char *command, *answer;
  } kRows[] = {{"LUUIDH", "PRODUCT SN:"},    {"LVERSH", "MOTOR VERSION:"},
               {"LTYPEH", "TYPE ID:LDS-25"}, {"LSRPM:720H", "Set RPM:720"},
               {"LMDMMH", "SET LiDAR "},     {"LMDCMH", "SET LiDAR "},
               {"LOCONH", "LiDAR "},         {"LNCONH", "LiDAR "}};
  for (const auto& row : kRows) {
    const auto said = say(bench, row.command);
    CHECK_EQUAL(1, said.size());
    STRNCMP_EQUAL(row.answer, text_of(said[0]).c_str(), std::string(row.answer).size());
  }
  CHECK_EQUAL(0, say(bench, "LSTARH").size());
  bench.run_for(0.1);
  CHECK_EQUAL(12, bench.out.frames.size());  // 720 turns a minute
  CHECK_EQUAL(0, say(bench, "LSTOPH").size());
  bench.run_for(0.1);
  CHECK_EQUAL(0, bench.out.frames.size());
}

TEST(SimBluesea, ItStreamsOnlyWhenItIsTold) {
  Bench bench("bluesea");
  bench.run_for(1.0);
  CHECK_EQUAL(0, bench.out.frames.size());
  (void)say(bench, "LSTARH");
  bench.run_for(0.1);
  CHECK_EQUAL(10, bench.out.frames.size());
}

TEST(SimBluesea, UnitAndIntensityFollowTheCommandsUntilPowerIsLost) {
  Bench bench("bluesea", {{"format", "C7"}, {"running", "on"}});
  bench.run_for(0.02);
  CHECK_EQUAL(3, sim::get_le(bench.out.frames[0].bytes, 16, 4));
  (void)say(bench, "LMDCMHLNCONH");
  bench.run_for(0.02);
  const Packet dark = read(bench.out.frames[1].bytes);
  CHECK_EQUAL(0, sim::get_le(bench.out.frames[1].bytes, 16, 4));
  for (std::size_t i = 0; i < dark.points.size(); ++i) {
    DOUBLES_EQUAL(bench.out.scans[1].beams[i].range * 100.0, dark.points[i].mm, 0.5 + 1e-9);
    CHECK_EQUAL(0.0, dark.points[i].strength);
  }
  bench.out.clear();
  bench.model->power_up(bench.now, bench.out);
  bench.run_for(0.02);
  CHECK_EQUAL(3, sim::get_le(bench.out.frames[0].bytes, 16, 4));
}

TEST(SimBluesea, WhatIsNoCommandIsPassedOver) {
  Bench bench("bluesea");
  for (const char* junk : {"LSTAXH", "STARH", "LH", "LSRPM:H", "LSRPM:60xH", "LSRPM:9H",
                           "LSRPM:99999H", "lstarh", "LSTAR", "Lxxxxxxxxxxxxxxxxxxxxxx"})
    CHECK_EQUAL(0, say(bench, junk).size());
  bench.run_for(0.2);
  CHECK_EQUAL(0, bench.out.frames.size());
  (void)say(bench, "LSTLST");
  (void)say(bench, "AR");
  (void)say(bench, "H");
  bench.run_for(0.1);
  CHECK_EQUAL(10, bench.out.frames.size());
}

TEST(SimBluesea, AStartWhileItStreamsChangesNothing) {
  Bench bench("bluesea", {{"running", "on"}});
  bench.run_for(0.105);
  (void)say(bench, "LSTARH");
  bench.run_for(0.005);
  CHECK_EQUAL(1, bench.out.frames.size());
}

TEST(SimBluesea, AFalsifiedPacketHasAGoodChecksumAndAnAnswerIsLeftAlone) {
  for (const char* format : {"CE", "CF", "DF", "C7", "AA", "99"}) {
    Bench bench("bluesea", {{"format", format}, {"running", "on"}});
    bench.run_for(0.015);
    sim::ByteVector packet = bench.out.frames[0].bytes;
    sim::Random random(7);
    bench.model->falsify(packet, random);
    CHECK_TRUE(packet != bench.out.frames[0].bytes);
    CHECK_EQUAL(bench.out.frames[0].bytes.size(), packet.size());
    (void)read(packet);
    sim::ByteVector answer = bytes_of(say(bench, "LUUIDH")[0]);
    const sim::ByteVector before = answer;
    bench.model->falsify(answer, random);
    CHECK_TRUE(before == answer);
  }
}
