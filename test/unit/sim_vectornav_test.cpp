#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <string>

#include "test/sim/room.h"
#include "test/sim/vn_data.h"
#include "test/sim/vn_text.h"
#include "test/sim/wire.h"
#include "test/support/harness.h"
#include "test/support/places.h"
#include "test/unit/sim_fixture.h"

using namespace sim::vectornav;
using sim_test::Bench;
using sim_test::bytes_of;
using sim_test::hex_of;

namespace {

std::string text_of(hal::Bytes bytes) {
  std::string text;
  for (const std::byte b : bytes) text += static_cast<char>(b);
  return text;
}
std::string hex_of_text(const std::string& text) { return hex_of(std::as_bytes(std::span(text))); }
// What is answered to a command at once, without its line end.
std::string ask(Bench& bench, const std::string& line) {
  const auto answers = bench.ask(hex_of_text(line + "\r\n"));
  if (answers.size() != 1) return "?";
  const std::string text = text_of(bytes_of(answers[0]));
  return text.substr(0, text.size() - 2);
}
std::string say(Bench& bench, const std::string& body, Check check = Check::xor8) {
  std::string line = line_of(body, check);
  return ask(bench, line.substr(0, line.size() - 2));
}
double f32(const sim::ByteVector& frame, std::size_t at) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(sim::get_le(frame, at, 4)));
}
bool is_binary(const sim::Frame& frame) { return frame.bytes[0] == std::byte{0xFA}; }
std::size_t binary_frames(const sim::Output& out) {
  return static_cast<std::size_t>(std::ranges::count_if(out.frames, is_binary));
}

Sample worked() {  // heading East
  Sample s;
  s.device_ns = 1'500'000'000;
  s.motion.gyro = {0.01, 0.02, -0.03};
  s.motion.accel = {0.1, 0.2, 9.81};
  return s;
}

}  // namespace

TEST_GROUP(SimVectornav){};

TEST(SimVectornav, TheWorkedFramesComeOutByteForByte) {
  STRCMP_EQUAL(
      "FA 01 31 01 00 2F 68 59 00 00 00 00 00 00 00 00 00 00 00 00 F3 04 35 3F F3 04 35 3F 0A D7 "
      "23 3C 0A D7 A3 BC 8F C2 F5 3C CD CC CC 3D CD CC 4C BE C3 F5 1C C1 4D E3",
      hex_of(binary_frame({0x01, {0x0131}}, worked())).c_str());
  STRCMP_EQUAL(
      "FA 06 01 00 0C 00 00 2F 68 59 00 00 00 00 CD CC CC 3D CD CC 4C BE C3 F5 1C C1 0A D7 23 3C "
      "0A D7 A3 BC 8F C2 F5 3C 6C 32",
      hex_of(binary_frame({0x06, {0, 0x0001, 0x000C}}, worked())).c_str());
}

TEST(SimVectornav, TheWorkedMessageComesOutCharacterForCharacter) {
  Sample s;
  s.motion.mag = {0.25e-4, 0, -0.45e-4};
  s.motion.accel = {0.1, 0.2, 9.81};
  s.motion.gyro = {0.01, 0.02, -0.03};
  const std::string body = message_of(14, s);
  STRCMP_EQUAL(
      "$VNYMR,+090.000,+000.000,+000.000,+00.2500,+00.0000,+00.4500,+00.100,-00.200,-09.810,"
      "+00.010000,-00.020000,+00.030000*64\r\n",
      line_of(body, Check::xor8).c_str());
  CHECK_TRUE(line_of(body, Check::crc16).ends_with("*8E7C\r\n"));
}

TEST(SimVectornav, TheLengthsAreThoseOfRealHeaders) {
  CHECK_EQUAL(170, *frame_size({0x34, {0, 0, 0x072E, 0, 0x0106, 0x0612}}));
  CHECK_EQUAL(104, *frame_size({0x14, {0, 0, 0x073E, 0, 0x0004}}));
  CHECK_EQUAL(26, *frame_size({0x01, {0x0009}}));
  CHECK_FALSE(frame_size({0x08, {0, 0, 0, 1}}).has_value());
  CHECK_FALSE(frame_size({0x02, {0, 0x0400}}).has_value());
}

TEST(SimVectornav, EveryCommandOfTheProtocolHasItsChecks) {
  const char* const lines[] = {
      "$VNRRG,01*72",     "$VNRRG,01*E15F",     "$VNRRG,08*7B",        "$VNRRG,08*7076",
      "$VNRRG,05*76",     "$VNRRG,05*A1DB",     "$VNASY,0*4F",         "$VNASY,0*4158",
      "$VNASY,1*4E",      "$VNASY,1*5179",      "$VNWRG,06,0*6C",      "$VNWRG,06,0*306F",
      "$VNWRG,07,200*6F", "$VNWRG,07,200*6F2B", "$VNWRG,05,921600*53", "$VNWRG,05,921600*57B6"};
  for (const char* const line : lines) {
    Bench bench("vectornav", {{"found", "silent"}});
    const std::string answer = ask(bench, line);
    // A question is answered with a value; the others with themselves.
    if (std::string(line).find("RRG") == std::string::npos) STRCMP_EQUAL(line, answer.c_str());
    CHECK_TRUE_TEXT(answer.find("VNERR") == std::string::npos, line);
    const std::size_t asked = std::string(line).size() - std::string(line).find('*');
    CHECK_EQUAL(asked, answer.size() - answer.find('*'));
  }
}

TEST(SimVectornav, RegistersAreReadAndWritten) {
  Bench bench("vectornav", {{"model", "VN-200"}});
  CHECK_TRUE(say(bench, "VNRRG,01").starts_with("$VNRRG,01,VN-200T-CR*"));
  CHECK_TRUE(say(bench, "VNRRG,05").starts_with("$VNRRG,05,115200*"));
  CHECK_TRUE(say(bench, "VNWRG,75,1,8,01,0131").starts_with("$VNWRG,75,1,8,01,0131*"));
  CHECK_TRUE(say(bench, "VNRRG,75").starts_with("$VNRRG,75,1,8,01,0131*"));
  CHECK_TRUE(say(bench, "VNWRG,30,0,0,0,0,1,0,1").starts_with("$VNWRG,30"));
  CHECK_TRUE(say(bench, "VNRRG,30").starts_with("$VNRRG,30,0,0,0,0,1,0,1*"));
}

TEST(SimVectornav, WhatCannotBeIsRefusedWithItsCode) {
  Bench bench("vectornav");
  STRCMP_EQUAL("$VNERR,03*72", ask(bench, "$VNRRG,01*73").c_str());
  STRCMP_EQUAL("$VNERR,03*B43A", ask(bench, "$VNRRG,01*E15E").c_str());
  const auto is = [&](const char* code, const char* body) {
    CHECK_TRUE_TEXT(say(bench, body).starts_with(std::string("$VNERR,") + code), body);
  };
  is("04", "VNXYZ");
  is("05", "VNRRG"), is("05", "VNWRG,06"), is("05", "VNWRG,75,1,8,01"), is("05", "VNWRG,30,0");
  is("06", "VNWRG,75,1,8,01,0131,0001"), is("06", "VNASY,0,1");
  is("07", "VNWRG,05,12345"), is("07", "VNWRG,06,3"), is("07", "VNWRG,07,3");
  is("07", "VNWRG,75,1,0,01,0131"), is("07", "VNWRG,75,1,8,08,0001"), is("07", "VNWRG,01,X");
  is("08", "VNRRG,99"), is("08", "VNWRG,99,1");
  is("0C", "VNWRG,75,1,1,01,0131"), is("0C", "VNWRG,05,9600");
  CHECK_TRUE(ask(bench, "$VNRRG,01*XX").starts_with("$VNRRG,01,VN-100"));
}

TEST(SimVectornav, AsDeliveredItSendsOneMessageFortyTimesASecond) {
  Bench bench("vectornav");
  bench.run_for(1.0);
  CHECK_EQUAL(40, bench.out.frames.size());
  CHECK_TRUE(text_of(bench.out.frames[0].bytes).starts_with("$VNYMR,"));
}

TEST(SimVectornav, BinaryOutputsGoAtTheirDivisorsBetweenTheText) {
  Bench bench("vectornav");
  say(bench, "VNWRG,75,1,8,01,0131");
  bench.run_for(1.0);
  CHECK_EQUAL(100, binary_frames(bench.out));
  CHECK_EQUAL(140, bench.out.frames.size());
  say(bench, "VNASY,0");
  bench.out.clear();
  bench.run_for(1.0);
  CHECK_EQUAL(0, bench.out.frames.size());
  say(bench, "VNASY,1"), say(bench, "VNWRG,06,0"), say(bench, "VNWRG,75,2,8,01,0131");
  bench.out.clear();
  bench.run_for(1.0);
  CHECK_EQUAL(0, bench.out.frames.size());  // by the other port
}

TEST(SimVectornav, CountsAndCrcAreWhatRegister30Says) {
  Bench bench("vectornav", {{"found", "counts"}});
  bench.run_for(0.06);
  const std::string text = text_of(bench.out.frames.at(0).bytes);
  CHECK_TRUE(text.find(",T0000000000,S0000*") != std::string::npos);
  CHECK_EQUAL(4 + 3, text.size() - text.find('*'));
  say(bench, "VNWRG,30,0,0,0,0,1,0,1");
  bench.run_for(0.06);
  CHECK_TRUE(text_of(bench.out.frames.at(0).bytes).find(",T") == std::string::npos);
}

TEST(SimVectornav, EveryMessageHasItsFields) {
  const std::pair<unsigned, std::size_t> kFields[] = {
      {1, 3},   {2, 4},  {8, 13}, {10, 3},  {11, 3},  {12, 3}, {13, 9},
      {14, 12}, {16, 9}, {17, 9}, {19, 11}, {22, 15}, {30, 7}};
  for (const auto& [type, fields] : kFields) {
    const std::string message = message_of(type, worked());
    CHECK_EQUAL(fields, static_cast<std::size_t>(std::ranges::count(message, ',')));
  }
  CHECK_TRUE(message_of(3, worked()).empty());
}

TEST(SimVectornav, TheTruthIsTheSample) {
  Bench bench("vectornav", {{"found", "streaming"}}, 200.0);
  bench.run_for(2.0);
  CHECK_EQUAL(400, bench.out.frames.size());
  for (std::size_t i = 0; i < 400; i += 37) {
    const sim::ByteVector& frame = bench.out.frames[i].bytes;
    const sim::ImuTruth& truth = bench.out.imus[i];
    CHECK_TRUE(truth.at == bench.out.frames[i].at);
    CHECK_EQUAL(truth.device_ns, static_cast<std::int64_t>(sim::get_le(frame, 4, 8)));
    DOUBLES_EQUAL(truth.gyro[1], -f32(frame, 32), 1e-6);
    DOUBLES_EQUAL(truth.accel[2], -f32(frame, 48), 1e-5);
  }
}

TEST(SimVectornav, AnswersAndDataAreMixed) {
  Bench bench("vectornav", {{"found", "mixed"}});
  bench.run_for(1.0);
  CHECK_EQUAL(40, binary_frames(bench.out));
  CHECK_EQUAL(50, bench.out.frames.size());
}

TEST(SimVectornav, TheReplyToANewRateComesAtThatRate) {
  Bench bench("vectornav");
  CHECK_TRUE(say(bench, "VNWRG,05,921600").starts_with("$VNWRG,05,921600"));
  CHECK_EQUAL(921'600, bench.model->baud());
}

TEST(SimVectornav, OnlyWhatWasSavedOutlivesARestart) {
  Bench bench("vectornav");
  say(bench, "VNWRG,06,0");
  say(bench, "VNRST");
  bench.run_for(1.0);
  CHECK_EQUAL(28, bench.out.frames.size());  // after 300 ms, as delivered
  say(bench, "VNWRG,06,0"), say(bench, "VNWNV"), say(bench, "VNRST");
  bench.run_for(1.0);
  CHECK_EQUAL(0, bench.out.frames.size());
  say(bench, "VNRFS");
  bench.run_for(1.0);
  CHECK_EQUAL(28, bench.out.frames.size());
}

TEST(SimVectornav, ItsClockBeginsAnewWithARestart) {
  Bench bench("vectornav", {{"found", "streaming"}});
  bench.run_for(5.0);
  say(bench, "VNRST");
  bench.run_for(0.311);
  CHECK_EQUAL(10'000'000, sim::get_le(bench.out.frames.at(0).bytes, 4, 8));
}

TEST(SimVectornav, ACommandThatWasCutShortDoesNotSpoilTheNext) {
  Bench bench("vectornav");
  bench.ask(hex_of_text("$VNRRG,0"));
  CHECK_TRUE(ask(bench, "$VNRRG,01*72").starts_with("$VNRRG,01,"));
  CHECK_EQUAL(0, bench.ask(hex_of_text("$VNRRG,")).size());
  CHECK_EQUAL(1, bench.ask(hex_of_text("01*72\r\n")).size());
}

TEST(SimVectornav, AFalsifiedFrameHasNonsenseUnderAGoodCheck) {
  Bench bench("vectornav", {{"found", "streaming"}});
  bench.run_for(0.01);
  sim::ByteVector frame = bench.out.frames[0].bytes;
  sim::Random random(3);
  bench.model->falsify(frame, random);
  CHECK_EQUAL(0, crc16(hal::Bytes(frame).subspan(1)));
  CHECK_TRUE(std::isnan(f32(frame, 48)) || f32(frame, 48) > 1e8);
}

// Its first frame: the values go in, and the bytes come out.
TEST(SimVectornav, ARealFrameIsPutTogetherUnchanged) {
  std::FILE* const file =
      std::fopen(test::in_captures("vectornav/vn100_first20.bin").c_str(), "rb");
  if (file == nullptr) {
    std::puts("skipped: no captures/vectornav");
    return;
  }
  sim::ByteVector real(52);
  CHECK_EQUAL(52, std::fread(real.data(), 1, real.size(), file));
  std::fclose(file);
  Sample s;
  s.device_ns = static_cast<std::int64_t>(sim::get_le(real, 6, 8));
  const auto flu = [&](std::size_t at) {
    return sim::Vector3{f32(real, at), -f32(real, at + 4), -f32(real, at + 8)};
  };
  s.motion.mag = flu(14);
  for (double& x : s.motion.mag) x *= 1e-4;
  s.motion.accel = flu(26), s.motion.gyro = flu(38);
  STRCMP_EQUAL(hex_of(real).c_str(), hex_of(binary_frame({0x06, {0, 0x0001, 0x000E}}, s)).c_str());
}

TEST(SimVectornav, ARateThatIsNoDivisorIsRefused) {
  const sim::ModelRow& row = *sim::find_model("vectornav");
  const sim::Settings settings = *sim::Settings::check(row.options, {});
  sim::DeviceClock clock(1);
  CHECK_FALSE(static_cast<bool>(row.make({settings, clock, 300.0, 1})));
  CHECK_TRUE(static_cast<bool>(row.make({settings, clock, 200.0, 1})));
}
