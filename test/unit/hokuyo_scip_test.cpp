// Framing and decoding of SCIP, from the description of the protocol.
#include "drivers/hokuyo_scip/hokuyo_scip.h"

#include <fstream>
#include <numbers>

#include "drivers/decoder.h"
#include "test/support/allocation_counter.h"
#include "test/support/framing_properties.h"
#include "test/support/manual_clock.h"
#include "test/support/packet_log.h"
#include "test/support/places.h"
#include "test/support/scip_text.h"

using namespace drivers;
using namespace std::chrono_literals;
using namespace test::scip;
using test::Stream;

namespace {

constexpr double kDeg = std::numbers::pi / 180;

std::vector<unsigned> distances(unsigned n, unsigned from = 1000) {
  std::vector<unsigned> out;
  for (unsigned i = 0; i < n; ++i) out.push_back(from + i * 37 % 3000);
  return out;
}

// The manual's scan, steps 384 to 386.
const std::string kAck = "MD0384038601001\n00P\n\n";
const std::string kScan = "MD0384038601000\n99b\n0N90W\n0O@0GL007I\n\n";

}  // namespace

TEST_GROUP(HokuyoScip) {
  test::ManualClock clock;
  test::PacketLog log;
  Options options{HokuyoScip::options()};
  std::unique_ptr<DeviceDecoder<HokuyoScip>> decoder;

  void setup() override { open(); }
  void set(std::string_view key, std::string_view value) {
    CHECK_TRUE(static_cast<bool>(options.set(key, value)));
  }
  void open() {
    log = {};
    decoder = std::make_unique<DeviceDecoder<HokuyoScip>>(options, 0, log);
  }
  void feed(const std::string& text) { decoder->feed({bytes(text), clock.advance(25ms)}); }
  const Beam& beam(std::size_t slice, std::size_t i) { return log.beams.at(slice).at(i); }
  void beam_is(const Beam& b, double deg, double mm) {
    DOUBLES_EQUAL(deg, b.angle / kDeg, 1e-4);
    DOUBLES_EQUAL(mm / 1000, b.range, 3e-6);
  }
  std::uint64_t garbage() { return decoder->stats().framing.garbage_bytes; }
  void is_framed(const std::string& text) {
    const std::uint64_t before = decoder->stats().framing.frames;
    feed(text);
    LONGS_EQUAL_TEXT(before + 1, decoder->stats().framing.frames, text.c_str());
    LONGS_EQUAL_TEXT(0, garbage(), text.c_str());
  }
};

TEST(HokuyoScip, DecodesTheManualsScan) {
  feed(kAck + kScan);
  LONGS_EQUAL(1, log.slices.size());
  LONGS_EQUAL(3, log.beams[0].size());
  beam_is(beam(0, 0), 0, 2000);
  beam_is(beam(0, 1), 360.0 / 1024, 1500);
  beam_is(beam(0, 2), 720.0 / 1024, 0);  // an error code is no return
  LONGLONGS_EQUAL(123'456'000'000, *log.slices[0].device_ns);
  CHECK_TRUE(log.slices[0].starts_turn);
  CHECK_FALSE(log.slices[0].has_intensity);
  CHECK_TRUE(log.slices[0].step == hal::from_seconds(0.1) / 1024);
  LONGS_EQUAL(2, decoder->stats().framing.frames);
  LONGS_EQUAL(0, garbage());
}

TEST(HokuyoScip, DecodesTheManualsScanOfTwoCharacters) {
  feed("MS0384038601000\n99b\n0N90W\n" + checked("O@GL07") + "\n");
  beam_is(beam(0, 0), 0, 2000);
  beam_is(beam(0, 1), 360.0 / 1024, 1500);
  beam_is(beam(0, 2), 720.0 / 1024, 0);
}

TEST(HokuyoScip, DecodesAWholeScanOf1081Steps) {
  std::vector<unsigned> mm = distances(1081);
  mm[0] = 1540, mm[540] = 30'000, mm[1080] = 65'533;
  const std::string text = scan("MD0000108001000", 1'234'567, mm);
  // 50 full lines and one of 43 characters, each with check and LF.
  LONGS_EQUAL(16 + 4 + 6 + 50 * 66 + 45 + 1, text.size());
  STRCMP_CONTAINS("\n4]J7B\n0H4", text.c_str());
  feed(text);
  LONGS_EQUAL(1081, log.beams.at(0).size());
  beam_is(beam(0, 0), -135, 1540);
  beam_is(beam(0, 540), 0, 30'000);
  beam_is(beam(0, 1080), 135, 0);
  for (std::size_t i : {1U, 20U, 21U, 22U, 600U, 1079U})
    beam_is(beam(0, i), (double(i) - 540) / 4, mm[i]);
  CHECK_TRUE(log.slices[0].step == hal::from_seconds(0.025) / 1440);
}

TEST(HokuyoScip, DecodesIntensities) {
  for (const char* mode : {"ME0384038601000", "GE0384038601"}) {
    open();
    feed(scan(mode, 5, {2000, 30'000, 1500, 7, 3, 262'143}));
    CHECK_TRUE(log.slices.at(0).has_intensity);
    LONGS_EQUAL(3, log.beams[0].size());
    beam_is(beam(0, 1), 360.0 / 1024, 1500);
    beam_is(beam(0, 2), 720.0 / 1024, 0);
    DOUBLES_EQUAL(30'000, beam(0, 0).intensity, 0);
    DOUBLES_EQUAL(7, beam(0, 1).intensity, 0);
    DOUBLES_EQUAL(262'143, beam(0, 2).intensity, 0);
  }
}

// ND of three steps: one return, three, none, then fewer.
TEST(HokuyoScip, FurtherReturnsOfAStepAreItsEchoes) {
  const auto returns = [](const char* echo, const std::string& data) {
    const bool stream = echo[0] == 'N';
    return reply(echo, stream ? "99" : "00", checked(number(stream ? 5 : 105, 4)) + lines(data));
  };
  feed(returns("ND0384038601000", number(2000, 3) + number(1000, 3) + "&" + number(1500, 3) + "&" +
                                      number(1600, 3) + number(7, 3)));
  feed(returns("HE0384038601", number(2000, 3) + number(9, 3) + number(1000, 3) + number(8, 3) +
                                   "&" + number(7, 3) + number(70, 3) + number(7, 3) +
                                   number(6, 3)));
  LONGS_EQUAL(2, log.slices.size());
  const auto echo_is = [&](std::size_t slice, std::size_t i, double mm, double intensity) {
    DOUBLES_EQUAL(mm / 1000, log.echoes.at(slice).at(i).range, 3e-6);
    DOUBLES_EQUAL(intensity, log.echoes[slice][i].intensity, 0);
  };
  for (std::size_t slice : {0U, 1U}) {
    LONGS_EQUAL(6, log.echoes[slice].size());
    beam_is(beam(slice, 0), 0, 2000);
    beam_is(beam(slice, 1), 360.0 / 1024, 1000);
    beam_is(beam(slice, 2), 720.0 / 1024, 0);
    for (const std::size_t none : {0U, 1U, 4U, 5U}) echo_is(slice, none, 0, 0);
  }
  echo_is(0, 2, 1500, 0);
  echo_is(0, 3, 1600, 0);
  echo_is(1, 2, 0, 70);  // an error code is no return
  echo_is(1, 3, 0, 0);
  DOUBLES_EQUAL(8, beam(1, 1).intensity, 0);
}

TEST(HokuyoScip, ReturnsThatDoNotFitTheStepsMakeNoSense) {
  feed("ND0384038501000\n99b\n0N90W\n" + checked("0&00000000") + "\n");
  LONGS_EQUAL(1, decoder->stats().undecodable);
  // Four returns of one step, and further returns where none were asked for: no frames.
  feed("ND0384038401000\n99b\n0N90W\n" + checked("0O@&0O@&0O@&0O@") + "\n" + kAck);
  feed("MD0384038401000\n99b\n0N90W\n" + checked("0O@&0O@") + "\n" + kAck);
  LONGS_EQUAL(3, decoder->stats().framing.frames);
  LONGS_EQUAL(0, log.slices.size());
}

TEST(HokuyoScip, TheCheckOfAnInformationLineMayBeASemicolon) {
  const std::string told = parameters(1024, 44, 725, 299, 600, 20, 5600);
  STRCMP_CONTAINS("AFRT:299;;", told.c_str());
  feed(told + scan("MD0299029901000", 100, {2000}));
  beam_is(beam(0, 0), 0, 2000);
}

TEST(HokuyoScip, ParametersThatComeLaterTurnTheSameSteps) {
  feed(parameters(1024, 44, 725, 384, 600, 20, 5600) + kScan);
  feed(parameters(1024, 44, 725, 300, 600, 20, 5600));
  feed(scan("MD0384038601000", 200, {2000, 1500, 7}));
  beam_is(beam(0, 0), 0, 2000);
  beam_is(beam(1, 0), 84 * 360.0 / 1024, 2000);
}

TEST(HokuyoScip, DecodesWhatWasPolledAndTakesEachScanOnce) {
  feed(scan("GD0384038601", 100, {2000, 1500, 0}));
  feed(scan("GD0384038601", 100, {2000, 1500, 0}));
  feed(scan("GS0384038601", 200, {2000, 1500, 0}, 2));
  LONGS_EQUAL(2, log.slices.size());
  beam_is(beam(1, 1), 360.0 / 1024, 1500);
}

TEST(HokuyoScip, AGroupOfStepsIsOneBeam) {
  feed(scan("MD0044072503000", 100, distances(228)));
  LONGS_EQUAL(228, log.beams.at(0).size());
  beam_is(beam(0, 0), (44 - 384) * 360.0 / 1024, 1000);
  beam_is(beam(0, 100), (344 - 384) * 360.0 / 1024, 1000 + 100 * 37 % 3000);
  CHECK_TRUE(log.slices[0].step == hal::from_seconds(0.1) / 1024 * 3);
}

TEST(HokuyoScip, ParametersInTheBytesCount) {
  feed(parameters(720, 10, 600, 300, 1200, 1000, 2000));
  feed(scan("MD0299030101000", 100, {999, 1000, 2001}));
  beam_is(beam(0, 0), -0.5, 0);
  beam_is(beam(0, 1), 0, 1000);
  beam_is(beam(0, 2), 0.5, 0);
  CHECK_TRUE(log.slices[0].step == hal::from_seconds(0.05) / 720);
}

TEST(HokuyoScip, TheModelIsAssumedOrConfigured) {
  feed(scan("MD0540054101000", 100, {2000, 6000}));
  beam_is(beam(0, 0), (540 - 384) * 360.0 / 1024, 2000);
  beam_is(beam(0, 1), (541 - 384) * 360.0 / 1024, 0);
  set("model", "UTM-30LX");
  open();
  feed(scan("MD0540054101000", 100, {2000, 6000}));
  beam_is(beam(0, 0), 0, 2000);
  beam_is(beam(0, 1), 0.25, 6000);
}

TEST(HokuyoScip, ParametersThatMakeNoSenseDoNotCount) {
  for (const std::string& bad :
       {parameters(0, 44, 725, 384, 600, 20, 5600), parameters(1024, 725, 44, 384, 600, 20, 5600),
        parameters(1024, 44, 725, 384, 0, 20, 5600), parameters(1024, 44, 9999, 384, 600, 20, 5600),
        parameters(1024, 44, 725, 384, 600, 5600, 20)}) {
    open();
    feed(bad + kScan);
    beam_is(beam(0, 1), 360.0 / 1024, 1500);
  }
}

TEST(HokuyoScip, EveryReplyIsAFrame) {
  for (const char* text :
       {"QT\n00P\n\n", "QT\n0Ee\n\n", "QT\nE\n\n", "SCIP2.0\n0\n\n", "SCIP2.0\n0Ee\n\n",
        "BM\n02R\n\n", "RS\n00P\n\n", "RT\n00P\n\n", "RB\n01Q\n\n", "TM0\n00P\n\n", "TM2\n03S\n\n",
        "CR00\n00P\n\n", "TM1\n00P\n4]J7B\n\n", "TM1\n04T\n\n", "SS115200\n03S\n\n",
        "MD0384038601000\n55Z\n\n", "MD0384038601001;who-knows_me\n00P\n\n",
        "GD0384038601\n10Q\n\n"}) {
    is_framed(text);
  }
  is_framed(kUrgVersion);
  is_framed(urg_parameters());
  is_framed(info("II", {"MODL:URG-04LX-UG01", "LASR:OFF", "STAT:Sensor works well."}));
  LONGS_EQUAL(0, log.slices.size());
}

TEST(HokuyoScip, TheChecksOfTheManualAgree) {
  std::ifstream file(test::in_captures("hokuyo-scip/manual_vectors.tsv"));
  if (!file) {
    UT_PRINT("no captures: skipped");
    return;
  }
  int lines = 0, numbers = 0, statuses = 0;
  for (std::string line; std::getline(file, line);) {
    const std::size_t a = line.find('\t'), b = line.find('\t', a + 1);
    const std::string kind = line.substr(0, a), text = line.substr(a + 1, b - a - 1),
                      expected = line.substr(b + 1);
    if (kind == "info_line") ++lines, is_framed("PP\n00P\n" + text + expected + "\n\n");
    if (kind == "status_line") ++statuses, is_framed("BM\n" + text + expected + "\n\n");
    if (kind == "decode3" || kind == "decode2") {
      ++numbers;
      open();
      const bool two = kind == "decode2";
      feed(std::string(two ? "MS" : "MD") + "0540054001000\n99b\n0N90W\n" + checked(text) + "\n");
      beam_is(beam(0, 0), 156 * 360.0 / 1024, std::stod(expected));
    }
    if (kind == "decode4") {
      ++numbers;
      open();
      feed("MD0540054001000\n99b\n" + checked(text) + checked("0O@") + "\n");
      LONGLONGS_EQUAL(std::stoll(expected) * 1'000'000, *log.slices.at(0).device_ns);
    }
  }
  LONGS_EQUAL(11, lines);
  LONGS_EQUAL(4, statuses);
  LONGS_EQUAL(3, numbers);
}

TEST(HokuyoScip, AnInformationLineMayCountItsSemicolon) {
  is_framed("PP\n00P\n" + checked("DMIN:20;") + "\n");
}

TEST(HokuyoScip, OnlyTheSerialNumberMayHaveAWrongCheck) {
  is_framed("VV\n00P\nPROT:SCIP 2.0;N\nSERI:H1510998;0\n\n");
  feed("VV\n00P\nPROT:SCIP 2.0;M\nSERI:H1510998;V\n\n");
  LONGS_EQUAL(1, decoder->stats().framing.frames);
  LONGS_EQUAL(1, decoder->stats().framing.rejected);
}

TEST(HokuyoScip, AWrongCheckInAnyLineRejectsTheScan) {
  const std::string text = scan("MD0044072501000", 100, distances(682));
  for (std::size_t at = 16; at + 1 < text.size(); ++at) {
    open();
    std::string damaged = text;
    damaged[at] = damaged[at] == 'a' ? 'b' : 'a';
    feed(damaged + text + kAck);
    LONGS_EQUAL(1, log.slices.size());
    LONGS_EQUAL(682, log.beams[0].size());
    LONGS_EQUAL(text.size(), garbage());
  }
}

TEST(HokuyoScip, CharactersThatAreNoNumberAreRejected) {
  // 64 below and above: the sum is the same.
  feed("MD0384038601000\n99b\n0N90W\n0O@0GL\xf0\xf0\x77I\n\n" + kAck);
  LONGS_EQUAL(0, log.slices.size());
}

TEST(HokuyoScip, ALostLineHidesNoLaterScan) {
  const std::string text = scan("MD0044072501000", 100, distances(682));
  for (int line = 0; line < 10; ++line) {
    open();
    std::string torn = text;
    torn.erase(26 + 66 * static_cast<std::size_t>(line), 66);
    feed(torn);
    feed(kAck);
    LONGS_EQUAL(1, decoder->stats().framing.frames);  // at once, not when the length is reached
    LONGS_EQUAL(torn.size(), garbage());
  }
}

// A device stops its stream in the middle of a scan, and answers.
TEST(HokuyoScip, AnAnswerBehindATornScanComesAtOnce) {
  const std::string text = scan("MD0044072501000", 100, distances(682));
  for (std::size_t n = 1; n < text.size(); ++n) {
    open();
    feed(text.substr(0, n) + "QT\n00P\n\n");
    LONGS_EQUAL(1, decoder->stats().framing.frames);
  }
}

TEST(HokuyoScip, FramesAreFoundInGarbageHoweverTheyAreSplit) {
  test::check_garbage_and_splits(
      ScipFraming{},
      {bytes(scan("MD0044072501000", 100, distances(682))), bytes(kScan), bytes(kAck),
       bytes(kUrgVersion), bytes(scan("ME0384042001000", 77, distances(74))),
       bytes(scan("GS0044072501", 100, distances(682), 2)), bytes("TM1\n00P\n4]J7B\n\n"),
       bytes("NE0384038501000\n99b\n0N90W\n" + checked("0O@001&0O@001&0O@0010O@001") + "\n")});
}

TEST(HokuyoScip, ATornFrameHidesNothing) {
  test::check_torn_frames(ScipFraming{}, bytes(scan("MD0044012501000", 100, distances(82))),
                          bytes(scan("MD0044012501000", 200, distances(82, 1500))));
}

// Every bit of a scan turned over: it does not pass, except where only the echo tells, which has no
// check: then what it changes is no measurement.
TEST(HokuyoScip, NoBitFlipChangesAMeasurement) {
  const std::string before = scan("MD0100012201000", 100, distances(23)),
                    middle = scan("MD0100012201000", 200, distances(23, 1500)),
                    after = scan("MD0100012201000", 300, distances(23, 2000));
  for (std::size_t bit = 0; bit < 8 * middle.size(); ++bit) {
    open();
    std::string flipped = middle;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    feed(before + flipped + after + kAck);
    const std::size_t slices = log.slices.size();
    LONGS_EQUAL(23, log.beams.at(0).size());
    LONGS_EQUAL(23, log.beams.back().size());
    beam_is(beam(slices - 1, 0), (100 - 384) * 360.0 / 1024, 2000);
    if (slices == 2) continue;
    LONGS_EQUAL(3, slices);
    CHECK_TRUE(bit / 8 >= 10 && bit / 8 < 15);
    LONGS_EQUAL(23, log.beams[1].size());
    for (std::size_t i = 0; i < 23; ++i)
      beam_is(beam(1, i), beam(0, i).angle / kDeg, double(1500 + i * 37 % 3000));
  }
}

TEST(HokuyoScip, StampsGoOnWhereTheyWrap) {
  set("model", "UTM-30LX");
  open();
  constexpr unsigned kWrap = 1 << 24;
  for (unsigned i = 0; i < 8; ++i) {
    feed(scan("MD0540054101000", (kWrap - 100 + 25 * i) % kWrap, {2000, 2000}));
  }
  LONGS_EQUAL(8, log.slices.size());
  for (std::size_t i = 1; i < 8; ++i) {
    LONGLONGS_EQUAL(25'000'000, *log.slices[i].device_ns - *log.slices[i - 1].device_ns);
    CHECK_TRUE(std::chrono::abs(log.slices[i].first - log.slices[i - 1].first - 25ms) < 1us);
  }
}

TEST(HokuyoScip, BeamsAreAsFarApartAsTheStampsShow) {
  set("model", "URG-04LX");
  open();
  for (unsigned i = 0; i < 100; ++i) {
    feed(scan("MD0384038601000", 1000 + i * 98 + i / 2, {2000, 1500, 2000}));  // 98.5 ms, not 100
  }
  DOUBLES_EQUAL(98.5e6 / 1024, static_cast<double>(log.slices.back().step.count()), 60);
  DOUBLES_EQUAL(100e6 / 1024, static_cast<double>(log.slices[3].step.count()), 1);
  open();
  for (unsigned i = 0; i < 100; ++i)
    feed(scan("MD0384038601000", 1000 + i * 100, {2000, 1500, 2000}));
  CHECK_TRUE(log.slices.back().step == hal::from_seconds(0.1) / 1024);
}

// Wherever the stamp lies, the last beam is the newest thing that can have been sent.
TEST(HokuyoScip, TheStampLiesAtTheFirstStepOrBeforeItOrAtTheLast) {
  for (const char* const at : {"first", "rear", "last"}) {
    set("stamp", at);
    open();
    feed(scan("MD0044072501000", 100, distances(682)));
    CHECK_TRUE(std::chrono::abs(clock.now() - log.slices[0].last()) < 1us);
  }
}

TEST(HokuyoScip, FaultsAreNamed) {
  HokuyoScip device{options};
  Decoded out;
  const auto fault_of = [&](const std::string& text) {
    out.clear();
    const Stream frame = bytes(text);
    device.decode({.bytes = frame}, out);
    return out.fault();
  };
  STRCMP_CONTAINS("status 55, hardware trouble", fault_of("MD0384038601000\n55Z\n\n").c_str());
  STRCMP_CONTAINS("status 21, it paused", fault_of(reply("MD0384038601000", "21")).c_str());
  STRCMP_CONTAINS("not stable", fault_of(reply("MD0384038601000", "0M")).c_str());
  STRCMP_EQUAL("", fault_of(reply("MD0384038601000", "98")).c_str());
  STRCMP_EQUAL("", fault_of(kAck).c_str());
  STRCMP_EQUAL("", fault_of("BM\n02R\n\n").c_str());
}

TEST(HokuyoScip, ScansWithMoreStepsThanAnyModelAreNoFrames) {
  feed("MD0000999901000\n99b\n0N90W\n");
  CHECK_TRUE(garbage() > 0);
  feed("MD0500040001000\n99b\n0N90W\n");
  LONGS_EQUAL(0, decoder->stats().framing.frames);
}

TEST(HokuyoScip, IsRecognisedByAPieceOfItsStream) {
  const std::string text = scan("MD0044072501000", 100, distances(682));
  CHECK_TRUE(HokuyoScip::likeness(bytes(text.substr(100, 600))) > 0.9);
  CHECK_TRUE(HokuyoScip::likeness(bytes(text + text)) > 0.9);
  CHECK_TRUE(HokuyoScip::likeness(bytes(kUrgVersion)) > 0.9);
  std::string nonsense;
  for (unsigned i = 0; i < 2000; ++i)
    nonsense += i % 60 == 59 ? '\n' : static_cast<char>('0' + i * i * 31 % 64);
  CHECK_TRUE(HokuyoScip::likeness(bytes(nonsense)) < 0.3);
}

TEST(HokuyoScip, NothingIsAllocatedWhileDecoding) {
  test::PacketCounter counter;
  DeviceDecoder<HokuyoScip> quiet{options, 115'200, counter};
  std::vector<Stream> scans;
  for (unsigned i = 0; i < 50; ++i)
    scans.push_back(bytes(scan("ME0000108001000", i * 25, distances(2162))));
  quiet.feed({scans[0], clock.now()});
  const test::AllocationCounter allocations;
  for (const Stream& s : scans) quiet.feed({s, clock.advance(25ms)});
  LONGS_EQUAL(0, allocations.count());
  LONGS_EQUAL(51, counter.packets);
}

TEST(HokuyoScip, TwoAtOnceDoNotMeet) {
  test::PacketLog other;
  DeviceDecoder<HokuyoScip> second{options, 0, other};
  feed(urg_parameters());
  for (unsigned i = 0; i < 5; ++i) {
    feed(scan("MD0384038601000", i * 100, {2000, 1500, 2000}));
    second.feed({bytes(scan("ME0000108001000", i * 25, distances(2162))), clock.now()});
  }
  LONGS_EQUAL(5, log.slices.size());
  LONGS_EQUAL(1081, other.beams.at(4).size());
  beam_is(beam(4, 0), 0, 2000);
}
