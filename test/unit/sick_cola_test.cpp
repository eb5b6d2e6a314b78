#include "drivers/sick_cola/sick_cola.h"

#include <cmath>
#include <iterator>
#include <map>
#include <numbers>

#include "drivers/decoder.h"
#include "drivers/recognise.h"
#include "drivers/wire.h"
#include "test/support/allocation_counter.h"
#include "test/support/cola_telegrams.h"
#include "test/support/framing_properties.h"
#include "test/support/manual_clock.h"
#include "test/support/packet_log.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::Stream;
using test::cola::Arguments;

namespace {

constexpr double kDeg = std::numbers::pi / 180;
constexpr std::int32_t kFirst = -450'000;

struct Channel {
  std::string name;
  std::vector<unsigned> values;
  bool narrow = false;
  float scale = 1, offset = 0;
  std::int32_t first = kFirst;
  unsigned step = 10'000;
};

// A scan telegram in the making, as the protocol describes it.
struct Telegram {
  unsigned scans = 1, layer = 0, hundredth_hz = 1500, encoders = 0;
  std::uint32_t us = 1'000'000, transmitted = 1'050'000;
  std::vector<Channel> channels{{"DIST1", {1000, 2000, 3000}}};
  bool position = false, date = true, event = false;
  std::string name{}, comment{};
  const char* head = "sSN LMDscandata";

  Stream of(bool in_binary) const {
    Arguments a;
    a.u16(1).u16(1).u32(17250140).u8(0).u8(0).u16(scans + 7).u16(scans).u32(us).u32(transmitted);
    a.u8(0).u8(0).u8(7).u8(0).u16(layer).u32(hundredth_hz).u32(54).u16(encoders);
    for (unsigned i = 0; i < encoders; ++i) a.u32(100 + i).u16(9);
    for (const bool narrow : {false, true}) {
      a.u16(static_cast<unsigned>(std::ranges::count(channels, narrow, &Channel::narrow)));
      for (const Channel& c : channels) {
        if (c.narrow == narrow) put(a, c);
      }
    }
    a.u16(position);
    if (position) a.f32(1).f32(2).f32(3).f32(0).f32(0).f32(0).u8(1);
    for (const std::string& text : {name, comment}) {
      a.u16(!text.empty());
      if (!text.empty()) a.u8(static_cast<unsigned>(text.size())).word(text);
    }
    a.u16(date);
    if (date) a.u16(1970).u8(1).u8(1).u8(3).u8(31).u8(30).u32(928000);
    a.u16(event);
    return a.of(in_binary, head);
  }
  static void put(Arguments& a, const Channel& c) {
    a.word(c.name).f32(c.scale).f32(c.offset).i32(c.first).u16(c.step);
    a.u16(static_cast<unsigned>(c.values.size()));
    for (const unsigned v : c.values) a.number(v, c.narrow ? 1 : 2);
  }
};

std::vector<Stream> stream_of(unsigned scans, bool in_binary, unsigned seed = 0) {
  std::vector<Stream> out;
  for (unsigned i = 0; i < scans; ++i) {
    const unsigned us = 1'000'000 + 66'667 * i;
    Telegram t{.scans = i + 1, .us = us, .transmitted = us + 6200};
    t.channels[0].values = {1000 + i, 2000 + seed, 3000};
    out.push_back(t.of(in_binary));
  }
  return out;
}

std::string file_of(const std::string& name) {
  std::ifstream file(test::in_captures("sick-cola/" + name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Rows "telegram,channel,values" of the expected points.
using Points = std::map<std::pair<int, std::string>, std::vector<unsigned>>;
Points points_of(const std::string& name) {
  Points out;
  std::istringstream file(file_of(name));
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string number, channel;
    std::getline(fields, number, ',');
    std::getline(fields, channel, ',');
    std::vector<unsigned>& values = out[{std::stoi(number), channel}];
    for (unsigned v; fields >> v;) values.push_back(v);
  }
  return out;
}

}  // namespace

TEST_GROUP(SickCola) {
  test::ManualClock clock;
  Options options{SickCola::options()};
  test::PacketLog log;
  std::unique_ptr<DeviceDecoder<SickCola>> decoder =
      std::make_unique<DeviceDecoder<SickCola>>(options, 0, log);

  void set(const char* key, const char* value) {
    CHECK_TRUE(static_cast<bool>(options.set(key, value)));
    decoder = std::make_unique<DeviceDecoder<SickCola>>(options, 0, log);
  }
  void feed(hal::Bytes bytes, hal::Duration later = 66667us) {
    decoder->feed({bytes, clock.advance(later)});
  }
  void is_nonsense(const Telegram& telegram) {
    const std::uint64_t before = decoder->stats().undecodable;
    feed(telegram.of(true));
    LONGS_EQUAL(before + 1, decoder->stats().undecodable);
    feed(telegram.of(false));
    LONGS_EQUAL(before + 2, decoder->stats().undecodable);
    LONGS_EQUAL(0, log.slices.size());
  }
  // Every point of the recording, as it was written down by another decoder.
  void has_points(const Points& points, int scans, double first_deg, double step_deg) {
    LONGS_EQUAL(scans, log.slices.size());
    for (int k = 0; k < scans; ++k) {
      const auto& beams = log.beams[static_cast<std::size_t>(k)];
      const auto& ranges = points.at({k, "DIST1"});
      const auto& intensities = points.at({k, "RSSI1"});
      LONGS_EQUAL(ranges.size(), beams.size());
      for (std::size_t i = 0; i < beams.size(); ++i) {
        const bool none = ranges[i] < 16 || intensities[i] == 0;
        DOUBLES_EQUAL(none ? 0 : ranges[i] * 1e-3, double{beams[i].range}, 1e-6);
        DOUBLES_EQUAL(intensities[i], double{beams[i].intensity}, 0);
        DOUBLES_EQUAL(first_deg + step_deg * static_cast<double>(i), beams[i].angle / kDeg, 2e-5);
      }
    }
  }
};

TEST(SickCola, EveryPointOfTheRecordedTim781IsThere) {
  std::string content = file_of("tim781_tcp_segments_15.bin");
  if (content.empty()) {
    UT_PRINT("no captures: skipped");
    return;
  }
  const hal::Bytes bytes = std::as_bytes(std::span(content));
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t n = wire::u32(bytes, at + 12);
    feed(bytes.subspan(at + 16, n), 33ms);
    at += 16 + n;
  }
  has_points(points_of("tim781_tcp_segments_15.points.csv"), 15, -135, 1.0 / 3);
  const DecoderStats stats = decoder->stats();
  LONGS_EQUAL(50'610, stats.framing.frame_bytes);
  LONGS_EQUAL(0, stats.framing.garbage_bytes + stats.tail_bytes + stats.undecodable);
  CHECK_TRUE(log.slices[0].device_ns == 3'014'133'219'000);
  CHECK_TRUE(log.slices[1].device_ns == 3'014'199'876'000);
  CHECK_TRUE(log.slices[0].step == hal::from_seconds(1.0 / 3 / 360 / 15));
  CHECK_TRUE(log.slices[0].starts_turn && log.slices[0].has_intensity);
}

TEST(SickCola, EveryPointOfTheRecordedLms511IsThere) {
  for (const char* name :
       {"lms511_scan0.cola", "lms511_scan1.cola", "lms511_scan2.cola", "lms511_scan3.cola"}) {
    const std::string content = file_of(name);
    if (content.empty()) {
      UT_PRINT("no captures: skipped");
      return;
    }
    feed(std::as_bytes(std::span(content)), 40ms);
  }
  has_points(points_of("lms511.points.csv"), 4, -95, 1.0 / 6);
  CHECK_TRUE(log.slices[0].device_ns == 4'101'310'801'000);
  CHECK_TRUE(log.slices[0].step == hal::from_seconds(1.0 / 6 / 360 / 25));
  DOUBLES_EQUAL(254, double{log.beams[0][0].intensity}, 0);
}

// Its points end where they were printed.
TEST(SickCola, ThePrintedTelegramOfATim5xxIsRead) {
  Telegram t{.scans = 0x2ADD, .us = 0x7907F6FD, .transmitted = 0x79080660};
  t.channels[0].values.assign(271, 0);
  for (const unsigned i : {0U, 1U, 2U})
    t.channels[0].values[i] = std::array{0x116U, 0x120U, 0x123U}[i];
  t.head = "sRA LMDscandata";
  feed(t.of(false));
  LONGS_EQUAL(1, log.slices.size());
  LONGS_EQUAL(271, log.beams[0].size());
  for (const std::size_t i : {0U, 1U, 2U}) {
    DOUBLES_EQUAL((std::array{0.278, 0.288, 0.291}[i]), double{log.beams[0][i].range}, 1e-6);
    DOUBLES_EQUAL(-135.0 + static_cast<double>(i), log.beams[0][i].angle / kDeg, 1e-5);
  }
  DOUBLES_EQUAL(135, log.beams[0][270].angle / kDeg, 1e-5);
  CHECK_TRUE(log.slices[0].device_ns == 2'030'565'117'000);
  CHECK_FALSE(log.slices[0].has_intensity);
}

TEST(SickCola, BothDialectsSayTheSame) {
  Telegram t;
  t.channels.push_back({"RSSI1", {10, 20, 30}});
  feed(t.of(true));
  t.us += 66'667;
  feed(t.of(false));
  LONGS_EQUAL(2, log.slices.size());
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK_TRUE(log.beams[0][i].angle == log.beams[1][i].angle);
    CHECK_TRUE(log.beams[0][i].range == log.beams[1][i].range);
    CHECK_TRUE(log.beams[0][i].intensity == log.beams[1][i].intensity);
  }
}

TEST(SickCola, EveryFieldThatMayComeIsPassedOver) {
  for (unsigned mask = 0; mask < 64; ++mask) {
    Telegram t{.scans = mask, .encoders = mask & 1 ? 3U : 0U, .us = 1'000'000 + mask * 66'667};
    t.transmitted = t.us + 60'000;
    t.position = mask & 2;
    if (mask & 4) t.name = "front";
    if (mask & 8) t.comment = "x";
    t.date = mask & 16;
    t.event = mask & 32;
    feed(t.of(mask % 3 > 0));
    LONGS_EQUAL(mask + 1, log.slices.size());
    DOUBLES_EQUAL(3, double{log.beams.back()[2].range}, 1e-6);
  }
  LONGS_EQUAL(0, decoder->stats().undecodable);
}

TEST(SickCola, IntensitiesMayBeNarrow) {
  Telegram t;
  t.channels.push_back({"RSSI1", {254, 1, 0}, true});
  for (const bool in_binary : {true, false}) feed((t.us += 66'667, t).of(in_binary));
  for (const auto& beams : log.beams) {
    DOUBLES_EQUAL(254, double{beams[0].intensity}, 0);
    DOUBLES_EQUAL(2, double{beams[1].range}, 0);
    DOUBLES_EQUAL(0, double{beams[2].range}, 0);
  }
  CHECK_TRUE(log.slices[0].has_intensity && log.slices[1].has_intensity);
}

TEST(SickCola, FurtherReturnsAreEchoes) {
  Telegram t;
  t.channels = {{"DIST1", {1000, 2000, 3000}}, {"DIST2", {1500, 0, 3500}}, {"DIST3", {1800, 0, 0}},
                {"RSSI1", {11, 12, 13}},       {"RSSI2", {21, 0, 23}},     {"RSSI3", {31, 0, 0}}};
  for (const bool in_binary : {true, false}) feed((t.us += 66'667, t).of(in_binary));
  for (std::size_t k = 0; k < 2; ++k) {
    LONGS_EQUAL(6, log.echoes[k].size());
    const std::array<Echo, 6> wanted{{{1.5F, 21}, {1.8F, 31}, {0, 0}, {0, 0}, {3.5F, 23}, {0, 0}}};
    for (std::size_t i = 0; i < 6; ++i) {
      DOUBLES_EQUAL(double{wanted[i].range}, double{log.echoes[k][i].range}, 1e-6);
      DOUBLES_EQUAL(double{wanted[i].intensity}, double{log.echoes[k][i].intensity}, 0);
    }
  }
}

TEST(SickCola, FiveReturnsFitAndOneThatIsMissingIsNone) {
  Telegram t;
  t.channels = {{"DIST1", {1000}}, {"DIST2", {1500}}, {"DIST3", {1800}}, {"DIST5", {2500}}};
  feed(t.of(true));
  LONGS_EQUAL(4, log.echoes[0].size());
  DOUBLES_EQUAL(1.8, double{log.echoes[0][1].range}, 1e-6);
  DOUBLES_EQUAL(0, double{log.echoes[0][2].range}, 0);
  DOUBLES_EQUAL(2.5, double{log.echoes[0][3].range}, 1e-6);
}

TEST(SickCola, UnknownChannelsAreLeftOut) {
  Telegram t;
  t.channels = {{"VANGL", {1, 2}}, {"DIST1", {1000, 2000}}, {"ANGL1", {7, 8, 9}},
                {"DIST6", {5, 6}}, {"RSSI1", {10, 20}},     {"QUAL1", {1, 2, 3}, true}};
  for (const bool in_binary : {true, false}) feed((t.us += 66'667, t).of(in_binary));
  LONGS_EQUAL(2, log.slices.size());
  for (const auto& beams : log.beams) {
    LONGS_EQUAL(2, beams.size());
    DOUBLES_EQUAL(2, double{beams[1].range}, 0);
    DOUBLES_EQUAL(20, double{beams[1].intensity}, 0);
  }
}

TEST(SickCola, RangesAreScaledAsTheTelegramSays) {
  Telegram t;
  t.channels = {{"DIST1", {1000, 40000}, false, 2.0F, 5.0F}, {"RSSI1", {100, 200}, false, 0.5F}};
  feed(t.of(true));
  DOUBLES_EQUAL(2.005, double{log.beams[0][0].range}, 1e-6);
  DOUBLES_EQUAL(80.005, double{log.beams[0][1].range}, 1e-5);
  DOUBLES_EQUAL(50, double{log.beams[0][0].intensity}, 0);
}

TEST(SickCola, CodesBelowTheLeastRangeAreNoReturns) {
  Telegram t;
  t.channels[0].values = {0, 2, 19, 20, 33, 34, 35};
  feed(t.of(true));
  std::vector<bool> has;
  for (const Beam& beam : log.beams[0]) has.push_back(beam.range > 0);
  CHECK_TRUE(has == (std::vector<bool>{false, false, false, true, true, false, true}));
}

TEST(SickCola, AStepThatWasCutIsThePartOfADegreeThatItIs) {
  const std::pair<unsigned, double> steps[] = {
      {3333, 1.0 / 3}, {1667, 1.0 / 6}, {833, 1.0 / 12}, {417, 1.0 / 24}, {6667, 2.0 / 3},
      {5000, 0.5},     {2500, 0.25},    {10'000, 1},     {200, 0.02},     {1234, 0.1234}};
  for (const auto& [told, deg] : steps) {
    Telegram t{.us = static_cast<std::uint32_t>(1'000'000 + 66'667 * log.slices.size())};
    t.transmitted = t.us + 60'000;
    t.channels[0].values.assign(241, 1000);
    t.channels[0].step = told;
    feed(t.of(true));
    DOUBLES_EQUAL(-135 + 240 * deg, log.beams.back()[240].angle / kDeg, 1e-4);
    DOUBLES_EQUAL(deg / 360 / 15 * 1e9, static_cast<double>(log.slices.back().step.count()), 1);
  }
}

TEST(SickCola, WhatContradictsItselfMakesNoSense) {
  const Telegram good;
  const auto with = [&](auto&& change) {
    Telegram t = good;
    change(t);
    is_nonsense(t);
  };
  with([](Telegram& t) { t.encoders = 17; });
  with([](Telegram& t) { t.hundredth_hz = 0; });
  with([](Telegram& t) { t.hundredth_hz = 200'000; });
  with([](Telegram& t) { t.channels[0].step = 0; });
  with([](Telegram& t) { t.channels[0].scale = NAN; });
  with([](Telegram& t) { t.channels[0].scale = 0; });
  with([](Telegram& t) { t.channels[0].offset = INFINITY; });
  with([](Telegram& t) { t.channels[0].first = 1 << 30; });
  with([](Telegram& t) { t.channels.push_back({"RSSI1", {1, 2}}); });
  with([](Telegram& t) { t.channels.push_back({"DIST2", {1, 2, 3}, false, 1, 0, kFirst + 1}); });
  with([](Telegram& t) { t.channels.resize(17, t.channels[0]); });
  with([](Telegram& t) { t.channels[0].step = 60'000, t.channels[0].values.resize(1300); });
}

TEST(SickCola, ATelegramThatWasCutOffMakesNoSense) {
  for (const bool in_binary : {true, false}) {
    const Stream whole = Telegram{}.of(in_binary);
    const std::size_t head = in_binary ? 8 : 1, tail = 1, name = 16;
    for (std::size_t n = name; head + n + tail < whole.size(); ++n) {
      const std::string_view payload(reinterpret_cast<const char*>(&whole[head]), n);
      feed(in_binary ? test::cola::binary(payload) : test::cola::ascii(payload), 1ms);
    }
  }
  LONGS_EQUAL(decoder->stats().framing.frames, decoder->stats().undecodable + log.slices.size());
  LONGS_EQUAL(
      0, std::ranges::count_if(log.slices, [](const ScanSlice& s) { return s.beams.size() != 3; }));
}

TEST(SickCola, MoreBeamsThanThereIsRoomForMakeNoSense) {
  Telegram t;
  t.channels[0].step = 100;
  t.channels[0].values.assign(sick_cola::ScanReader::kMostBeams, 1000);
  feed(t.of(true));
  LONGS_EQUAL(1, log.slices.size());
  t.channels[0].values.push_back(1000);
  feed(t.of(true));
  LONGS_EQUAL(1, log.slices.size());
  LONGS_EQUAL(1, decoder->stats().undecodable);
}

TEST(SickCola, TelegramsWithoutBeamsAndOtherEventsAreSilent) {
  Telegram t;
  t.channels = {{"RSSI1", {1, 2, 3}}};
  feed(t.of(true));
  feed(test::cola::binary("sSN LFErec ", test::hex("0001")));
  feed(test::cola::binary("sRA LIDinputstate ", test::hex("0001")));
  feed(test::cola::binary("sFA", test::hex("0001")));
  feed(test::cola::ascii("sSN LMDscandatamon 1"));
  LONGS_EQUAL(5, decoder->stats().framing.frames);
  LONGS_EQUAL(0, decoder->stats().undecodable + log.slices.size());
}

TEST(SickCola, OneLayerIsTaken) {
  for (const unsigned layer : {0xFFU, 0xFF06U, 0U, 0xFAU, 0x1F4U, 0U}) {
    Telegram t{.layer = layer, .us = static_cast<std::uint32_t>(1'000'000 + layer)};
    if (!log.slices.empty()) t.us += 100'000;
    feed(t.of(true));
  }
  LONGS_EQUAL(2, log.slices.size());
  set("layer_deg", "-2.5");
  feed(Telegram{.layer = 0xFF06}.of(true));
  feed(Telegram{.layer = 0xFF06, .us = 1'100'000}.of(false));
  feed(Telegram{.us = 1'200'000}.of(true));
  LONGS_EQUAL(4, log.slices.size());
}

TEST(SickCola, TheStampIsOfTheFirstBeamWhereTheScanWasSentAfterItsEnd) {
  const hal::Duration span = 2 * hal::from_seconds(1.0 / 360 / 15);
  const auto is_before = [&](std::uint32_t held, hal::Duration wanted) {
    Telegram t;
    t.transmitted = t.us + held;
    log = {};
    decoder = std::make_unique<DeviceDecoder<SickCola>>(options, 0, log);
    feed(t.of(true));
    CHECK_TRUE(log.slices.at(0).first == clock.now() - wanted);
  };
  is_before(5000, 5000us);
  is_before(100, 100us + span);  // its last beam cannot have been measured by then
  is_before(0xFFFFFFFF, span);   // sent before its own stamp: nothing is known
  set("stamp", "first_beam");
  is_before(5000, 5000us);
  is_before(100, span);
  set("stamp", "last_beam");
  is_before(5000, 5000us + span);
}

TEST(SickCola, TheStampWraps) {
  const hal::Time begin = clock.now();
  for (unsigned i = 0; i < 40; ++i) {
    const std::uint32_t us = 0xFFFFFFFF - 1'000'000 + 66'667 * i;
    feed(Telegram{.scans = i, .us = us, .transmitted = us + 60'000}.of(true));
  }
  LONGS_EQUAL(40, log.slices.size());
  for (std::size_t i = 1; i < 40; ++i) {
    const hal::Time wanted = begin + 66'667us * static_cast<std::int64_t>(i + 1) - 60ms;
    CHECK_TRUE(std::chrono::abs(log.slices[i].first - wanted) < 1us);
    CHECK_TRUE(*log.slices[i].device_ns - *log.slices[i - 1].device_ns == 66'667'000);
  }
}

TEST(SickCola, FramesAreFoundInGarbageHoweverTheyAreSplit) {
  auto good = stream_of(3, true);
  good.push_back(stream_of(1, false)[0]);
  test::check_garbage_and_splits(SickCola::Framing{}, good);
}

TEST(SickCola, HoweverAStreamIsSplitTheSameComesOut) {
  Stream all;
  for (const Stream& t : stream_of(40, true)) test::append(all, t);
  for (std::size_t at = 0; at < all.size(); ++at)
    decoder->feed({hal::Bytes(all).subspan(at, 1), clock.now()});
  LONGS_EQUAL(40, log.slices.size());
  for (std::size_t i = 0; i < 40; ++i)
    DOUBLES_EQUAL(1 + 1e-3 * static_cast<double>(i), double{log.beams[i][0].range}, 1e-6);
}

TEST(SickCola, EveryIntactScanOfADamagedStreamIsDelivered) {
  test::check_damaged_stream(SickCola::Framing{}, stream_of(300, true));
}

TEST(SickCola, NothingIsAllocatedWhileDecoding) {
  test::PacketCounter counter;
  const auto quiet = std::make_unique<DeviceDecoder<SickCola>>(options, 0, counter);
  const auto b = stream_of(50, true), a = stream_of(50, false);
  const test::AllocationCounter allocations;
  for (const Stream& t : b) quiet->feed({t, clock.advance(66667us)});
  LONGS_EQUAL(0, allocations.count());
  LONGS_EQUAL(50, counter.packets);
  const auto other = std::make_unique<DeviceDecoder<SickCola>>(options, 0, counter);
  const test::AllocationCounter more;
  for (const Stream& t : a) other->feed({t, clock.advance(66667us)});
  LONGS_EQUAL(0, more.count());
  LONGS_EQUAL(100, counter.packets);
}

TEST(SickCola, TwoAtOnceDoNotMeet) {
  test::PacketLog alone, other;
  const auto first = std::make_unique<DeviceDecoder<SickCola>>(options, 0, alone);
  const auto second = std::make_unique<DeviceDecoder<SickCola>>(options, 0, other);
  const auto mine = stream_of(30, true), theirs = stream_of(30, false, 99);
  hal::Time now{1000s};
  for (const Stream& t : mine) first->feed({t, now += 66ms});
  now = hal::Time{1000s};
  for (std::size_t i = 0; i < mine.size(); ++i) {
    decoder->feed({mine[i], now += 66ms});
    second->feed({theirs[i], now});
  }
  LONGS_EQUAL(30, log.slices.size());
  LONGS_EQUAL(30, other.slices.size());
  for (std::size_t i = 0; i < 30; ++i) {
    CHECK_TRUE(log.slices[i].first == alone.slices[i].first);
    CHECK_TRUE(log.beams[i][1].range == alone.beams[i][1].range);
    DOUBLES_EQUAL(2.099, double{other.beams[i][1].range}, 1e-6);
  }
}

TEST(SickCola, IsRecognisedByTheHeadOfAScan) {
  Telegram t;
  t.channels[0].values.assign(811, 1000);
  const Stream whole = t.of(true);
  STRCMP_EQUAL("sick_cola", std::string(recognise(hal::Bytes(whole).first(2000)).driver).c_str());
  Stream torn(whole.begin() + 400, whole.begin() + 900);
  test::append(torn, hal::Bytes(whole).first(1500));
  STRCMP_EQUAL("sick_cola", std::string(recognise(torn).driver).c_str());
}
