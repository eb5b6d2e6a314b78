#include "drivers/ydlidar/ydlidar.h"

#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <numbers>
#include <string>

#include "drivers/decoder.h"
#include "test/support/allocation_counter.h"
#include "test/support/framing_properties.h"
#include "test/support/places.h"
#include "test/unit/device_driver_bench.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::joined;
using test::Stream;

namespace {

constexpr double kDeg = std::numbers::pi / 180;

void put16(Stream& s, unsigned v) {
  s.push_back(static_cast<std::byte>(v));
  s.push_back(static_cast<std::byte>(v >> 8));
}

struct Sample {
  unsigned s = 0, intensity = 0;
};

// As the manual describes it; angles in 1/64 degree.
Stream packet(unsigned first, unsigned last, const std::vector<Sample>& samples,
              std::size_t size = 2, bool zero = false) {
  const auto n = static_cast<unsigned>(samples.size());
  unsigned check = 0x55AA ^ (unsigned{zero} | n << 8) ^ (first << 1 | 1) ^ (last << 1 | 1);
  for (const Sample& sample : samples) check ^= sample.s ^ (size > 2 ? sample.intensity : 0);
  Stream out = hex("AA 55");
  put16(out, unsigned{zero} | n << 8);
  put16(out, first << 1 | 1);
  put16(out, last << 1 | 1);
  put16(out, check);
  for (const Sample& sample : samples) {
    if (size == 3) out.push_back(static_cast<std::byte>(sample.intensity));
    if (size == 4) put16(out, sample.intensity);
    put16(out, sample.s);
  }
  return out;
}

std::vector<Sample> samples(std::size_t n, unsigned s = 4000, unsigned intensity = 7) {
  return std::vector<Sample>(n, Sample{s, intensity});
}

// A check by XOR is weak where samples are alike.
std::vector<Sample> varied(unsigned n, unsigned from = 0) {
  std::vector<Sample> out;
  for (unsigned i = from; i < from + n; ++i)
    out.push_back({(i * 7919 + 4001) & 0xFFFF, (i * 37 + 5) & 0xFF});
  return out;
}

// A turn of `n` packets with ten samples each, which starts with its zero packet at `zero`.
std::vector<Stream> turn(unsigned n, unsigned zero = 0, std::size_t size = 2) {
  std::vector<Stream> out;
  const unsigned turn = 360 * 64, per_packet = turn / n;
  out.push_back(packet(zero % turn, zero % turn, samples(1), size, true));
  for (unsigned i = 0; i < n; ++i) {
    const unsigned first = (zero + i * per_packet + per_packet / 20) % turn;
    out.push_back(packet(first, (first + per_packet * 9 / 10) % turn, samples(10), size));
  }
  return out;
}

Stream reply(unsigned type, const Stream& payload, unsigned mode = 0) {
  Stream out = hex("A5 5A");
  put16(out, static_cast<unsigned>(payload.size()));
  put16(out, mode << 14);
  out.push_back(static_cast<std::byte>(type));
  test::append(out, payload);
  return out;
}

const Stream kG4 = hex("05 05 01 02 02 00 01 09 00 01 00 00 00 00 00 00 00 00 01 07");

}  // namespace

TEST_GROUP_BASE(Ydlidar, test::DriverBench) {
  std::unique_ptr<DeviceDecoder<Ydlidar>> decoder;

  void setup() override {
    options = Options(Ydlidar::options());
    open();
  }
  void set(std::string_view key, std::string_view value) {
    CHECK_TRUE(static_cast<bool>(options.set(key, value)));
  }
  void open() {
    log = {};
    decoder = std::make_unique<DeviceDecoder<Ydlidar>>(options, 0, log);
  }
  void model(std::string_view name) {
    set("model", name);
    open();
  }
  void feed(const Stream& bytes) { decoder->feed({bytes, clock.advance(1ms)}); }
  // Nothing follows: a single sample is of the kind that it seems to be.
  void feed_last(const Stream& bytes) {
    feed(bytes);
    decoder->finish();
  }
  const Beam& beam(std::size_t slice, std::size_t i) { return log.beams.at(slice).at(i); }
  void beam_is(const Beam& b, double clockwise_deg, double mm) {
    DOUBLES_EQUAL(-clockwise_deg, b.angle / kDeg, 1e-3);
    DOUBLES_EQUAL(mm / 1000, b.range, 1e-6);
  }
  std::vector<bool> starts() {
    std::vector<bool> out;
    for (const ScanSlice& slice : log.slices) out.push_back(slice.starts_turn);
    return out;
  }

  // Of the driver.
  void run(std::string_view name, int baud = 230'400) {
    set("model", name);
    build<Ydlidar>(baud);
    driver->start(clock.now());
  }
  bool asked(const char* bytes) {
    return !port->writes.empty() && port->writes.back() == hex(bytes);
  }
  void wake() {
    tick(20ms);
    tick(5ms);
    tick(30ms);
  }
  // Everything up to the start of the scan, of a G4 with nothing to set.
  void introduce() {
    wake();
    deliver(reply(0x04, kG4));
    deliver(reply(0x06, hex("00 00 00")));
    if (asked("A5 D1")) deliver(reply(0x04, hex("01")));
  }
};

TEST(Ydlidar, DecodesTheManualsZeroPacket) {
  feed_last(hex("AA 55 01 01 53 AE 53 AE AB 54 00 00"));
  LONGS_EQUAL(1, log.slices.size());
  CHECK_TRUE(log.slices[0].starts_turn);
  CHECK_FALSE(log.slices[0].has_intensity);
  beam_is(beam(0, 0), 348.640625, 0);
}

TEST(Ydlidar, DecodesRealPacketsOfATminiPro) {
  std::ifstream file(test::in_captures("ydlidar/tmini_pro_packets.hex"));
  if (!file) {
    UT_PRINT("no captures: skipped");
    return;
  }
  feed(hex(std::string(std::istreambuf_iterator<char>(file), {})));
  LONGS_EQUAL(2, log.slices.size());
  std::ifstream expected(test::in_captures("ydlidar/tmini_pro_packets.expected.csv"));
  std::string line;
  std::getline(expected, line);
  int lines = 0;
  for (; std::getline(expected, line); ++lines) {
    unsigned p = 0, i = 0, intensity = 0;
    double deg = 0, mm = 0;
    LONGS_EQUAL(5, std::sscanf(line.c_str(), "%u,%u,%lf,%lf,%u", &p, &i, &deg, &mm, &intensity));
    beam_is(beam(p, i), deg, mm);
    DOUBLES_EQUAL(intensity, beam(p, i).intensity, 0);
  }
  LONGS_EQUAL(79, lines);
  CHECK_TRUE(log.slices[0].has_intensity);
  LONGS_EQUAL(0, decoder->stats().framing.garbage_bytes);
}

TEST(Ydlidar, TheAngleOfATriangulatedBeamDependsOnItsDistance) {
  model("X4");
  feed(packet(6400, 6400 + 4 * 64, {{4000}, {32000}, {1200}, {400}, {48000}}));
  beam_is(beam(0, 0), 100 - 6.7622, 1000);
  beam_is(beam(0, 1), 101 - 7.8374, 8000);
  beam_is(beam(0, 2), 102 - 3.8734, 300);
  beam_is(beam(0, 3), 103 + 4.4388, 100);
  beam_is(beam(0, 4), 104 - 7.8885, 12000);
}

TEST(Ydlidar, NearDistancesAreShiftedByTheExactFormula) {
  model("X4");
  for (unsigned quarter = 1; quarter < 1000; ++quarter) {
    open();
    feed_last(packet(6400, 6400, {{quarter}}));
    const double mm = quarter / 4.0;
    beam_is(beam(0, 0), 100 + std::atan(21.8 * (155.3 - mm) / (155.3 * mm)) / kDeg, mm);
  }
}

TEST(Ydlidar, AnglesNearTheFrontKeepTheirSign) {
  model("X4");
  feed(packet(32, 5 * 64, {{4000}, {0}}));
  beam_is(beam(0, 0), 0.5 - 6.7622, 1000);
  beam_is(beam(0, 1), 5, 0);
}

TEST(Ydlidar, APacketMayCrossTheFullTurn) {
  model("TG30");
  feed(packet(355 * 64, 4 * 64, samples(10, 1234)));
  beam_is(beam(0, 0), 355, 1234);
  beam_is(beam(0, 9), 364, 1234);
  LONGS_EQUAL(10, log.beams[0].size());
}

TEST(Ydlidar, TheModelTellsTheUnitOfDistance) {
  const auto mm_of = [this](const char* name, std::size_t size, unsigned s) {
    model(name);
    feed_last(packet(6400, 6400, {{s, 5}}, size));
    return beam(0, 0).range * 1000.0;
  };
  DOUBLES_EQUAL(1000, mm_of("X2", 2, 4000), 1e-3);
  DOUBLES_EQUAL(1000, mm_of("G6", 2, 2000), 1e-3);
  DOUBLES_EQUAL(1000, mm_of("TG50", 2, 1000), 1e-3);
  DOUBLES_EQUAL(1000, mm_of("TminiPro", 3, 4003), 1e-3);
  DOUBLES_EQUAL(1000, mm_of("TminiPlusSH", 4, 1000), 1e-3);
  set("unit_mm", "0.025");
  DOUBLES_EQUAL(100, mm_of("X2", 2, 4000), 1e-3);
}

TEST(Ydlidar, IntensitiesHaveEightTenOrSixteenBits) {
  const auto intensity_of = [this](const char* name, std::size_t size, Sample sample) {
    model(name);
    feed_last(packet(6400, 6400, {sample}, size));
    CHECK_TRUE(log.slices.at(0).has_intensity);
    return beam(0, 0).intensity;
  };
  DOUBLES_EQUAL(200, intensity_of("G2", 3, {4003, 200}), 0);
  DOUBLES_EQUAL(200 + 3 * 256, intensity_of("G4B", 3, {4003, 200}), 0);
  DOUBLES_EQUAL(40'000, intensity_of("TminiPlusSH", 4, {1000, 40'000}), 0);
}

TEST(Ydlidar, TheKindOfSampleIsToldByTheCheckHoweverItIsSplit) {
  for (const std::size_t size : {2, 3, 4}) {
    open();
    for (const Stream& p : turn(10, 0, size)) {
      for (const std::byte b : p) feed({b});
    }
    LONGS_EQUAL(11, log.slices.size());
    LONGS_EQUAL(0, decoder->stats().framing.garbage_bytes);
    CHECK_TRUE(log.slices[1].has_intensity == (size > 2));
  }
}

TEST(Ydlidar, ADeviceThatChangesItsKindOfSampleIsFollowed) {
  for (int i = 0; i < 2; ++i) {
    for (const Stream& p : turn(20, 0, 2)) feed(p);
    for (const Stream& p : turn(20, 0, 3)) feed(p);
  }
  CHECK_TRUE(log.slices.size() > 60);
}

TEST(Ydlidar, AZeroPacketWithoutAReturnIsOfTheKindOfTheOthers) {
  for (const std::size_t size : {2, 3, 4}) {
    open();
    feed(packet(0, 0, {{0, 0}}, size, true));
    for (unsigned i = 0; i < 3; ++i) feed(packet(100 + 640 * i, 640 + 640 * i, samples(9), size));
    LONGS_EQUAL(4, log.slices.size());
    LONGS_EQUAL(0, decoder->stats().framing.garbage_bytes);
    if (size == 3) beam_is(beam(3, 0), (100 + 1280) / 64.0, 1000);
  }
}

TEST(Ydlidar, AnEvenAngleIsNoPacket) {
  Stream p = packet(6400, 7040, samples(3));
  p[4] &= std::byte{0xFE};
  p[8] ^= std::byte{1};
  feed(p);
  LONGS_EQUAL(0, log.slices.size());
  LONGS_EQUAL(p.size(), decoder->stats().framing.garbage_bytes);
}

TEST(Ydlidar, AnglesBeyondTheTurnMakeNoSense) {
  feed(packet(361 * 64, 362 * 64, samples(3)));
  LONGS_EQUAL(1, decoder->stats().undecodable);
  LONGS_EQUAL(0, log.slices.size());
}

TEST(Ydlidar, EveryTurnStartsOnceAtItsZeroPacket) {
  for (int i = 0; i < 4; ++i) {
    for (const Stream& p : turn(12, 351 * 64)) feed(p);
  }
  LONGS_EQUAL(4, std::ranges::count(starts(), true));
  for (std::size_t i = 0; i < 4; ++i) CHECK_TRUE(log.slices[13 * i].starts_turn);
}

TEST(Ydlidar, AZeroPacketThatComesTwiceIsNoSecondTurn) {
  for (const Stream& p : turn(12)) feed(p);
  feed(packet(0, 0, samples(1), 2, true));
  feed(packet(0, 0, samples(1), 2, true));
  LONGS_EQUAL(2, std::ranges::count(starts(), true));
}

TEST(Ydlidar, AZeroPacketInTheMiddleOfATurnBeginsNone) {
  const auto packets = turn(12);
  for (std::size_t k = 0; k < packets.size(); ++k) {
    feed(packets[k]);
    if (k == 4) feed(packet(121 * 64, 121 * 64, samples(1), 2, true));
  }
  LONGS_EQUAL(1, std::ranges::count(starts(), true));
}

TEST(Ydlidar, ALostZeroPacketIsMadeUpFor) {
  for (int i = 0; i < 4; ++i) {
    const auto packets = turn(12);
    for (std::size_t k = i == 2 ? 1 : 0; k < packets.size(); ++k) feed(packets[k]);
  }
  LONGS_EQUAL(4, std::ranges::count(starts(), true));
}

TEST(Ydlidar, SamplesOfAPacketAreAsFarApartAsTheRateSays) {
  model("X4");
  for (const Stream& p : turn(12)) decoder->feed({p, clock.advance(2ms)});
  CHECK_TRUE(log.slices[1].step == 200us);
  CHECK_TRUE(log.slices[1].last() < log.slices[2].first);
}

TEST(Ydlidar, LostPacketsAdvanceTheTime) {
  model("X4");
  const auto packets = turn(12);
  std::vector<hal::Time> times;
  for (std::size_t skip : {99U, 5U}) {
    model("X4");
    hal::Time at{1000s};
    for (std::size_t i = 0; i < packets.size(); ++i) {
      at += 2ms;
      if (i == skip || i == skip + 1) continue;
      decoder->feed({packets[i], at});
    }
    times.push_back(log.slices.back().first);
  }
  CHECK_TRUE(std::chrono::abs(times[0] - times[1]) < 300us);
}

TEST(Ydlidar, ALossOfMoreThanAQuarterOfATurnAdvancesTheTimeToo) {
  const auto packets = turn(12);
  std::vector<hal::Time> times;
  for (const bool loses : {false, true}) {
    model("X4");
    hal::Time at{1000s};
    for (std::size_t i = 0; i < packets.size(); ++i) {
      at += 2ms;
      if (!loses || i < 4 || i > 8) decoder->feed({packets[i], at});
    }
    times.push_back(log.slices.back().first);
  }
  CHECK_TRUE(std::chrono::abs(times[0] - times[1]) < 300us);
}

TEST(Ydlidar, AHostThatStalledOnceIsNoOtherRate) {
  model("X4");
  hal::Time at{1000s};
  for (int i = 0; i < 40; ++i) {
    if (i == 17) at += 50ms;
    for (const Stream& p : turn(60)) decoder->feed({p, at += p.size() < 13 ? 200us : 12ms});
  }
  CHECK_TRUE(log.slices.back().step == 200us);
}

TEST(Ydlidar, ARateThatIsWrongIsMeasured) {
  model("X2");  // three samples in a millisecond, and here it is five
  hal::Time at{1000s};
  for (int i = 0; i < 12; ++i) {
    for (const Stream& p : turn(60)) decoder->feed({p, at += p.size() < 13 ? 200us : 2000us});
  }
  DOUBLES_EQUAL(200'000, static_cast<double>(log.slices.back().step.count()), 2000);
}

TEST(Ydlidar, StampPacketsAreIntactAndSilent) {
  feed(hex("AA 66 C8 01 02 03 04 00"));
  LONGS_EQUAL(1, decoder->stats().framing.frames);
  LONGS_EQUAL(0, decoder->stats().undecodable);
}

TEST(Ydlidar, FramesAreFoundInGarbageHoweverTheyAreSplit) {
  for (const std::size_t size : {2, 3, 4}) {
    test::check_garbage_and_splits(
        YdlidarFraming{},
        {packet(0x5555, 0x2A55, varied(40), size), packet(0, 0, varied(1), size, true),
         packet(100, 1000, varied(80), size), packet(100, 1000, varied(3), size)});
  }
}

TEST(Ydlidar, ATornFrameHidesNothing) {
  test::check_torn_frames(YdlidarFraming{}, packet(100, 900, varied(9), 3),
                          packet(1000, 1900, varied(9, 50), 3));
}

TEST(Ydlidar, NoBitFlipPassesAndNeighboursDoNotSuffer) {
  test::check_bit_flips(YdlidarFraming{}, packet(1000, 1900, varied(9)),
                        packet(100, 900, varied(9)), packet(2000, 2900, varied(9)));
}

TEST(Ydlidar, NothingIsAllocatedWhileDecoding) {
  test::PacketCounter counter;
  DeviceDecoder<Ydlidar> quiet{options, 128'000, counter};
  const auto packets = turn(12);
  quiet.feed({packets[0], clock.now()});
  const test::AllocationCounter allocations;
  for (const Stream& p : packets) quiet.feed({p, clock.advance(2ms)});
  LONGS_EQUAL(0, allocations.count());
  LONGS_EQUAL(14, counter.packets);
}

TEST(Ydlidar, TwoAtOnceDoNotMeet) {
  test::PacketLog other;
  DeviceDecoder<Ydlidar> second{options, 0, other};
  for (const Stream& p : turn(12, 0, 3)) {
    feed(p);
    second.feed({packet(100, 900, samples(9)), clock.now()});
  }
  LONGS_EQUAL(13, log.slices.size());
  LONGS_EQUAL(0, decoder->stats().framing.garbage_bytes + second.stats().framing.garbage_bytes);
}

TEST(Ydlidar, IsStoppedAskedAndStarted) {
  run("auto");
  CHECK_FALSE(port->dtr);
  tick(20ms);
  CHECK_TRUE(port->dtr);
  tick(5ms);
  CHECK_TRUE(asked("A5 00 A5 65"));
  tick(30ms);
  CHECK_TRUE(asked("A5 00 A5 65 A5 90"));
  deliver(reply(0x04, kG4));
  CHECK_TRUE(asked("A5 92"));
  deliver(reply(0x06, hex("00 00 00")));
  CHECK_TRUE(asked("A5 D1"));
  deliver(reply(0x04, hex("01")));
  CHECK_TRUE(asked("A5 60"));
  deliver(hex("A5 5A 05 00 00 40 81"));
  deliver(reply(0x04, kG4));  // module information, unasked
  for (const Stream& p : turn(12)) deliver(p);
  is(State::streaming);
  STRCMP_EQUAL("G4, model code 5, firmware 1.5, serial 2019010000000017, 8 kHz",
               health().about.c_str());
  CHECK_TRUE(log.slices.at(0).step == 125us);
  books_balance();
}

TEST(Ydlidar, IsFoundAtAnotherRate) {
  run("auto", 115'200);
  wake();
  tick(500ms);
  LONGS_EQUAL(128'000, health().baud);
  deliver(reply(0x04, kG4));
  CHECK_TRUE(asked("A5 92"));
}

TEST(Ydlidar, HealthIsAskedEitherWay) {
  run("auto");
  wake();
  deliver(reply(0x04, kG4));
  CHECK_TRUE(asked("A5 92"));
  tick(150ms);
  CHECK_TRUE(asked("A5 91"));
  deliver(reply(0x06, hex("02 34 12")));
  is(State::backoff);
  STRCMP_EQUAL("the device refused 'get health': its health is bad, code 0x1234",
               health().why.c_str());
}

TEST(Ydlidar, TheSampleRateIsStepped) {
  set("sample_khz", "9");
  run("auto");
  wake();
  deliver(reply(0x04, kG4));
  deliver(reply(0x06, hex("00 00 00")));
  CHECK_TRUE(asked("A5 D1"));
  deliver(reply(0x04, hex("00")));
  CHECK_TRUE(asked("A5 D0"));
  deliver(reply(0x04, hex("01")));
  CHECK_TRUE(asked("A5 D0"));
  deliver(reply(0x04, hex("02")));
  CHECK_TRUE(asked("A5 60"));
}

TEST(Ydlidar, ASampleRateThatItLacksIsRefusedWithWhatItHas) {
  set("sample_khz", "5");
  run("auto");
  wake();
  deliver(reply(0x04, kG4));
  deliver(reply(0x06, hex("00 00 00")));
  for (unsigned i = 0; i < 5; ++i) deliver(reply(0x04, {static_cast<std::byte>(i % 3)}));
  is(State::backoff);
  STRCMP_CONTAINS("no sample rate of 5 kHz, only 4, 8 and 9", health().why.c_str());
}

TEST(Ydlidar, TheScanFrequencyIsSteppedUpAndDown) {
  set("scan_hz", "8.1");
  run("auto");
  introduce();
  CHECK_TRUE(asked("A5 0D"));
  unsigned speed = 700;
  deliver(reply(0x04, hex("BC 02 00 00")));
  const auto answer = [&](const char* command, unsigned change) {
    CHECK_TRUE(asked(command));
    speed += change;
    Stream payload;
    put16(payload, speed);
    put16(payload, 0);
    deliver(reply(0x04, payload));
  };
  answer("A5 0B", 100);
  answer("A5 09", 10);
  CHECK_TRUE(asked("A5 60"));
}

TEST(Ydlidar, AOneWayModelIsOnlyListenedTo) {
  run("X2", 115'200);
  tick(30ms);
  CHECK_TRUE(port->written.empty());
  STRCMP_EQUAL("listen", health().step);
  for (const Stream& p : turn(12)) deliver(p);
  is(State::streaming);
  books_balance();
  driver->stop(clock.now());
  tick(10ms);
  CHECK_TRUE(port->written.empty());
  CHECK_FALSE(port->dtr);
}

TEST(Ydlidar, AOneWayModelIsFoundAtAnotherRate) {
  run("X4Pro", 115'200);
  tick(30ms);
  tick(700ms);
  LONGS_EQUAL(128'000, health().baud);
  for (const Stream& p : turn(12)) deliver(p);
  is(State::streaming);
}

TEST(Ydlidar, ADeviceThatDoesNotStopOnlyTalks) {
  run("auto", 115'200);
  wake();
  for (int i = 0; i < 4; ++i) {
    for (const Stream& p : turn(12, 0, 3)) deliver(p), tick(8ms);
  }
  is(State::streaming);
  STRCMP_EQUAL("perhaps TminiPro, 4 kHz", health().about.c_str());
  books_balance();
}

TEST(Ydlidar, IsStoppedWithItsMotor) {
  run("auto");
  introduce();
  deliver(hex("A5 5A 05 00 00 40 81"));
  for (const Stream& p : turn(12)) deliver(p);
  driver->stop(clock.now());
  CHECK_TRUE(asked("A5 00 A5 65"));
  tick(10ms);
  CHECK_FALSE(port->dtr);
  tick(5ms);
  CHECK_TRUE(driver->stopped());
}
