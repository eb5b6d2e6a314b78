#include "drivers/ldrobot/ldrobot.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <numbers>
#include <string>

#include "drivers/wire.h"
#include "test/support/allocation_counter.h"
#include "test/support/fake_port.h"
#include "test/support/framing_properties.h"
#include "test/support/harness.h"
#include "test/support/hex.h"
#include "test/support/manual_clock.h"
#include "test/support/packet_log.h"
#include "test/support/places.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::joined;

namespace {

using Octets = std::vector<std::byte>;

constexpr double kDeg = std::numbers::pi / 180;
constexpr const char* kManualFrame =
    "54 2C 68 08 AB 7E E0 00 E4 DC 00 E2 D9 00 E5 D5 00 E3 D3 00 E4 D0 00 E9 CD 00 E4 CA 00 E2"
    "C7 00 E9 C5 00 E5 C2 00 E5 C0 00 E5 BE 82 3A 1A 50";

// The CRC bit by bit, where the driver has a table.
std::byte crc(hal::Bytes b) {
  unsigned c = 0;
  for (const std::byte byte : b) {
    c ^= std::to_integer<unsigned>(byte);
    for (int bit = 0; bit < 8; ++bit) c = c & 0x80 ? (c << 1 ^ 0x4D) & 0xFF : c << 1;
  }
  return static_cast<std::byte>(c);
}

Octets closed(Octets bytes) {
  bytes.push_back(crc(bytes));
  return bytes;
}

// All beams of one distance; angles in hundredths of a degree.
Octets scan(unsigned first, unsigned last, unsigned mm, unsigned ms) {
  Octets b = hex("54 2C 74 08");
  const auto u16 = [&](unsigned v) {
    b.push_back(static_cast<std::byte>(v));
    b.push_back(static_cast<std::byte>(v >> 8));
  };
  u16(first);
  for (int i = 0; i < 12; ++i) u16(mm), b.push_back(std::byte{200});
  u16(last);
  u16(ms);
  return closed(b);
}

double degrees(const Beam& beam) { return beam.angle / kDeg; }

}  // namespace

TEST_GROUP(Ldrobot) {
  Options options{Ldrobot::options()};
  test::PacketLog log;
  std::unique_ptr<DeviceDecoder<Ldrobot>> decoder;
  hal::Time now{1000s};

  void setup() override { model("LD19"); }
  void model(const char* name, const char* scan_hz = "0") {
    CHECK_TRUE(static_cast<bool>(options.set("model", name)));
    CHECK_TRUE(static_cast<bool>(options.set("scan_hz", scan_hz)));
    decoder = std::make_unique<DeviceDecoder<Ldrobot>>(options, 0, log);
  }
  void feed(const Octets& bytes, hal::Duration later = 3ms) {
    decoder->feed({bytes, now += later});
  }
  const std::vector<Beam>& beams(std::size_t i) { return log.beams.at(i); }

  // Starts a driver of the configured model and stops it again; its requests, joined.
  Octets written_at_start_and_stop(bool answers = true) {
    test::ManualClock clock;
    auto owned = std::make_unique<test::FakePort>(clock);
    test::FakePort& port = *owned;
    DriverSetup setup;
    setup.ports[0] = std::move(owned);
    setup.sink = &log;
    const auto driver = make_driver<Ldrobot>(options, std::move(setup));
    std::size_t answered = 0;
    const auto run = [&](hal::Duration d) {
      for (const hal::Time end = clock.now() + d; clock.now() < end;) {
        for (; answers && answered < port.writes.size(); ++answered) {
          port.deliver(Octets(port.writes[answered]));  // acknowledged by its echo
        }
        driver->tick(clock.advance(10ms));
      }
    };
    driver->start(clock.now());
    run(1s);
    port.deliver(scan(0, 100, 1000, 1));
    CHECK_TRUE(driver->health().state == State::streaming);
    driver->stop(clock.now());
    run(400ms);
    CHECK_TRUE(driver->stopped());
    return port.written;
  }
};

TEST(Ldrobot, DecodesTheFrameOfTheManual) {
  feed(hex(kManualFrame));
  LONGS_EQUAL(1, log.slices.size());
  const ScanSlice& slice = log.slices[0];
  constexpr std::array<int, 12> kMm{224, 220, 217, 213, 211, 208, 205, 202, 199, 197, 194, 192};
  constexpr std::array<int, 12> kIntensity{228, 226, 229, 227, 228, 233,
                                           228, 226, 233, 229, 229, 229};
  LONGS_EQUAL(12, slice.beams.size());
  for (std::size_t i = 0; i < 12; ++i) {
    DOUBLES_EQUAL(-(324.27 + 10.43 / 11 * static_cast<double>(i)), degrees(beams(0)[i]), 1e-4);
    DOUBLES_EQUAL(kMm[i] * 1e-3, beams(0)[i].range, 1e-6);
    DOUBLES_EQUAL(kIntensity[i], beams(0)[i].intensity, 0);
  }
  CHECK_TRUE(slice.has_intensity);
  CHECK_TRUE(slice.device_ns == 6'714'000'000);
}

TEST(Ldrobot, TheLastBeamIsMeasuredWhenThePacketIsSent) {
  feed(hex(kManualFrame));
  const ScanSlice& slice = log.slices.at(0);
  CHECK_TRUE(slice.step == hal::from_seconds(1.0 / 4500));
  CHECK_TRUE(slice.last() == now);
}

TEST(Ldrobot, TheBeamRateIsTheModels) {
  constexpr std::array<std::pair<const char*, int>, 8> kRates{{{"LD06", 4500},
                                                               {"LD19", 4500},
                                                               {"STL-06P", 5000},
                                                               {"STL-19P", 5000},
                                                               {"STL-26", 5000},
                                                               {"STL-27L", 21600},
                                                               {"LD14", 2300},
                                                               {"LD14P", 4000}}};
  for (const auto& [name, rate] : kRates) {
    model(name);
    feed(hex(kManualFrame));
    CHECK_TRUE(log.slices.back().step == hal::from_seconds(1.0 / rate));
    const Figures figures = Ldrobot::figures(options, 230400);
    DOUBLES_EQUAL(rate / 12.0, figures.packets_hz, 1e-9);
    DOUBLES_EQUAL(rate / 12.0 * 47, figures.bytes_per_s, 1e-6);
  }
}

TEST(Ldrobot, ATurnStartsWhereTheAngleStartsAnew) {
  feed(scan(34000, 35000, 1000, 1));
  feed(scan(35100, 35990, 1000, 3));
  feed(scan(10, 1000, 1000, 6));
  feed(scan(1100, 2000, 1000, 9));
  CHECK_FALSE(log.slices.at(0).starts_turn);
  CHECK_FALSE(log.slices[1].starts_turn);
  CHECK_TRUE(log.slices[2].starts_turn);
  CHECK_FALSE(log.slices[3].starts_turn);
}

TEST(Ldrobot, APacketMayStraddleTheFront) {
  feed(scan(35500, 600, 1000, 1));
  CHECK_TRUE(log.slices.at(0).starts_turn);
  for (std::size_t i = 0; i < 12; ++i) {
    DOUBLES_EQUAL(-(355 + static_cast<double>(i)), degrees(beams(0)[i]), 1e-4);
  }
  feed(scan(700, 1800, 1000, 3));
  CHECK_FALSE(log.slices.at(1).starts_turn);
}

TEST(Ldrobot, TheFirstPacketAfterOpeningStartsNoTurn) {
  Ldrobot device(options);
  const Octets before = scan(34000, 35000, 1000, 1), after = scan(100, 1000, 1000, 3);
  Decoded out;
  device.decode({.bytes = before}, out);
  device.restart();
  out.clear();
  device.decode({.bytes = after}, out);
  CHECK_FALSE(std::get<ScanSlice>(out.items()[0].packet).starts_turn);
}

TEST(Ldrobot, AnAngleBeyondTheTurnMakesNoSense) {
  feed(scan(36001, 100, 1000, 1));
  feed(scan(100, 40000, 1000, 1));
  LONGS_EQUAL(0, log.slices.size());
  LONGS_EQUAL(2, decoder->stats().undecodable);
}

TEST(Ldrobot, AFullTurnIsZero) {
  feed(scan(34900, 36000, 1000, 1));
  feed(scan(36000, 1100, 1000, 4));
  DOUBLES_EQUAL(-360, degrees(beams(0)[11]), 1e-3);
  DOUBLES_EQUAL(0, degrees(beams(1)[0]), 1e-3);
  CHECK_TRUE(log.slices.at(0).starts_turn);
  CHECK_FALSE(log.slices.at(1).starts_turn);
}

TEST(Ldrobot, ASpeedAtWhichNothingTurnsIsNotAskedFor) {
  model("LD14P", "1");
  const Octets one = written_at_start_and_stop();
  model("LD14P", "2");
  CHECK_TRUE(one == written_at_start_and_stop());
  CHECK_FALSE(static_cast<bool>(options.set("scan_hz", "15")));
}

TEST(Ldrobot, TheStampGoesOnOverItsWrap) {
  for (unsigned i = 0; i < 20; ++i) {
    feed(scan(i * 1000, i * 1000 + 900, 1000, (29'980 + i * 3) % 30'000), 3ms);
  }
  LONGS_EQUAL(20, log.slices.size());
  CHECK_TRUE(log.slices[19].device_ns == (29'980 + 57) * 1'000'000LL);
  for (std::size_t i = 1; i < 20; ++i) {
    CHECK_TRUE(log.slices[i - 1].first < log.slices[i].first);
  }
}

TEST(Ldrobot, Ld14PTriangulates) {
  model("LD14P");
  feed(scan(9000, 9000, 1000, 1));
  feed(scan(9000, 9000, 200, 4));
  DOUBLES_EQUAL(-(90 - 5.692), degrees(beams(0)[0]), 1e-3);
  DOUBLES_EQUAL(-(90 - 1.355), degrees(beams(1)[11]), 1e-3);
}

TEST(Ldrobot, ABeamWithoutAReturnKeepsTheLastShift) {
  model("LD14");
  feed(scan(9000, 9000, 0, 1));
  feed(scan(9000, 9000, 1000, 6));
  feed(scan(9000, 9000, 0, 11));
  DOUBLES_EQUAL(-90, degrees(beams(0)[0]), 1e-4);
  DOUBLES_EQUAL(-(90 - 5.692), degrees(beams(2)[0]), 1e-3);
  DOUBLES_EQUAL(0, beams(2)[0].range, 0);
}

TEST(Ldrobot, Ld19DoesNotTriangulate) {
  feed(scan(9000, 9000, 1000, 1));
  DOUBLES_EQUAL(-90, degrees(beams(0)[0]), 1e-4);
}

TEST(Ldrobot, HealthManufactureAndAcknowledgementsAreFramesWithoutAMeasurement) {
  feed(closed(hex("54 E0 00")));
  feed(closed(hex("54 0F 68 08 01 02 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10")));
  feed(hex("54 A0 04 00 00 00 00 5E"));
  feed(hex("54 A1 04 00 00 00 00 4A"));
  feed(hex("54 A2 04 08 07 00 00 D2"));
  feed(hex(kManualFrame));
  LONGS_EQUAL(1, log.slices.size());
  LONGS_EQUAL(6, decoder->stats().framing.frames);
  LONGS_EQUAL(0, decoder->stats().framing.garbage_bytes);
}

TEST(Ldrobot, SaysNothingToAModelThatOnlyTalks) {
  CHECK_TRUE(written_at_start_and_stop().empty());
  model("LD19", "5");
  CHECK_TRUE(written_at_start_and_stop().empty());
}

TEST(Ldrobot, StartsAndStopsAModelThatListens) {
  model("LD14P");
  CHECK_TRUE(written_at_start_and_stop() ==
             joined(hex("54 A0 04 00 00 00 00 5E"), hex("54 A1 04 00 00 00 00 4A")));
}

TEST(Ldrobot, AsksForTheSpeedInDegreesPerSecond) {
  model("LD14P", "5");
  CHECK_TRUE(written_at_start_and_stop() ==
             hex("54 A2 04 08 07 00 00 D2 54 A0 04 00 00 00 00 5E 54 A1 04 00 00 00 00 4A"));
}

TEST(Ldrobot, StreamsEvenIfNoCommandIsAcknowledged) {
  model("LD14P");
  CHECK_TRUE(written_at_start_and_stop(false) ==
             hex("54 A0 04 00 00 00 00 5E 54 A0 04 00 00 00 00 5E"
                 "54 A1 04 00 00 00 00 4A 54 A1 04 00 00 00 00 4A"));
}

TEST(Ldrobot, TheChecksumIsThatOfTheManual) {
  const Octets frame = hex(kManualFrame);
  LONGS_EQUAL(0x50, wire::crc8<0x4D>(hal::Bytes(frame).first(46)));
  CHECK_TRUE(LdrobotFraming::intact(frame));
}

TEST(Ldrobot, ItsFramesAreFoundInGarbageHoweverTheyAreSplit) {
  test::check_garbage_and_splits(LdrobotFraming{},
                                 {hex(kManualFrame), scan(0x542C, 0x542C, 0x2C54, 0x2C54),
                                  hex("54 A0 04 00 00 00 00 5E"), closed(hex("54 E0 03"))});
}

TEST(Ldrobot, ATornFrameHidesNothing) {
  test::check_torn_frames(LdrobotFraming{}, scan(100, 1000, 5, 1), hex(kManualFrame));
}

TEST(Ldrobot, NoBitMayTurnOver) {
  test::check_bit_flips(LdrobotFraming{}, scan(100, 1000, 5, 1), hex(kManualFrame),
                        scan(1100, 2000, 7, 4));
}

TEST(Ldrobot, DecodingAllocatesNothing) {
  test::PacketCounter counter;
  DeviceDecoder<Ldrobot> quiet{options, 230400, counter};
  std::vector<Octets> frames;
  for (unsigned i = 0; i < 100; ++i) frames.push_back(scan(i * 300, i * 300 + 290, 1000, i * 3));
  test::AllocationCounter allocations;
  for (const Octets& frame : frames) quiet.feed({frame, now += 3ms});
  LONGS_EQUAL(0, allocations.count());
  LONGS_EQUAL(100, counter.packets);
}

TEST(Ldrobot, DecodesTheCapturedFrameAsExpected) {
  const std::string name = test::in_captures("ldrobot/manual_frame");
  std::ifstream file(name + ".hex"), json(name + ".expected.json");
  if (!file || !json) {
    UT_PRINT("no captures: skipped");
    return;
  }
  feed(hex(std::string{std::istreambuf_iterator<char>(file), {}}));
  std::size_t i = 0;
  double angle = 0, mm = 0, intensity = 0;
  for (std::string line; std::getline(json, line);) {
    std::sscanf(line.c_str(), " \"angle_deg\": %lf", &angle);
    std::sscanf(line.c_str(), " \"dist_mm\": %lf", &mm);
    if (std::sscanf(line.c_str(), " \"intensity\": %lf", &intensity) != 1) continue;
    const Beam& beam = beams(0).at(i++);
    DOUBLES_EQUAL(-angle, degrees(beam), 1e-3);
    DOUBLES_EQUAL(mm * 1e-3, beam.range, 1e-6);
    DOUBLES_EQUAL(intensity, beam.intensity, 0);
  }
  LONGS_EQUAL(12, i);
}
