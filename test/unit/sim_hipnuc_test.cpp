#include <cmath>
#include <cstring>

#include "test/sim/hipnuc_packets.h"
#include "test/sim/room.h"
#include "test/sim/wire.h"
#include "test/support/harness.h"
#include "test/unit/sim_fixture.h"

using sim_test::Bench;

namespace {

std::string text_of(const sim::Frame& frame) {
  std::string text;
  for (const std::byte b : frame.bytes) text += static_cast<char>(b);
  return text;
}

std::string ask(Bench& bench, const std::string& line) {
  bench.out.clear();
  const std::string request = line + "\r\n";
  bench.model->receive(sim::Channel::data, std::as_bytes(std::span(request)), bench.now, bench.out);
  std::string answer;
  for (const sim::Frame& frame : bench.out.frames) answer += text_of(frame);
  bench.out.clear();
  return answer;
}

double f32_at(hal::Bytes bytes, std::size_t at) {
  const auto bits = static_cast<std::uint32_t>(sim::get_le(bytes, at, 4));
  float value = 0;
  std::memcpy(&value, &bits, 4);
  return static_cast<double>(value);
}
int i16_at(hal::Bytes bytes, std::size_t at) {
  return static_cast<std::int16_t>(sim::get_le(bytes, at, 2));
}

}  // namespace

TEST_GROUP(SimHipnuc){};

TEST(SimHipnuc, TheChecksumIsTheVendors) {
  sim::ByteVector frame = sim_test::bytes_of(
      "5A A5 4C 00 00 00 91 08 15 23 09 A2 C4 47 08 15 1C 00 CC E8 61 BE 9A 35 56 3E 65 EA 72 3F "
      "31 D0 7C "
      "BD 75 DD C5 BB 6B D7 24 BC 89 88 FC 40 01 00 6A 41 AB 2A 70 C2 96 D4 50 41 ED 03 43 41 41 "
      "F4 F4 C2 "
      "CC CA F8 BE 73 6A 19 BE F0 00 1C 3D 8D 37 5C 3F");
  sim::hipnuc::seal(frame);
  CHECK_EQUAL(0xBB14, sim::get_le(frame, 4, 2));
}

TEST(SimHipnuc, AnglesAndQuaternionAreThoseOfTheVendorsFrame) {
  // Of a body forward-left-up: the vendor's quaternion turned back by a quarter.
  sim::hipnuc::Sample sample;
  const double s = std::sqrt(0.5);
  sample.motion.orientation =
      sim::product({-0.48592222, -0.14982013, 0.03808683, 0.86022264}, {s, 0, 0, s});
  const auto frame = sim::hipnuc::frame_of(sim::hipnuc::Format::hi91, sample);
  CHECK_EQUAL(82, frame.size());
  DOUBLES_EQUAL(13.0519, f32_at(frame, 54), 2e-4);
  DOUBLES_EQUAL(12.188458, f32_at(frame, 58), 2e-4);
  DOUBLES_EQUAL(-122.477058, f32_at(frame, 62), 2e-4);
  DOUBLES_EQUAL(0.48592222, f32_at(frame, 66), 1e-6);  // w >= 0
  DOUBLES_EQUAL(-0.86022264, f32_at(frame, 78), 1e-6);
}

TEST(SimHipnuc, ALevelSensorMeasuresGravityAndItsTimeInMilliseconds) {
  Bench bench("hipnuc", {{"motion", "rest"}});
  bench.run_for(0.1001);
  CHECK_EQUAL(10, bench.out.frames.size());
  const auto& frame = bench.out.frames[4].bytes;
  CHECK_EQUAL(50, sim::get_le(frame, 14, 4));
  DOUBLES_EQUAL(0, f32_at(frame, 18), 1e-6);
  DOUBLES_EQUAL(1, f32_at(frame, 26), 1e-6);
  DOUBLES_EQUAL(101325, f32_at(frame, 10), 1e-3);
  CHECK_EQUAL(50'000'000, bench.out.imus[4].device_ns);
}

TEST(SimHipnuc, ShortPacketsCarryTheirOwnUnits) {
  Bench hi92("hipnuc", {{"motion", "yaw"}, {"format", "HI92"}});
  hi92.run_for(0.02);
  const auto& a = hi92.out.frames[0].bytes;
  CHECK_EQUAL(54, a.size());
  CHECK_EQUAL(500, i16_at(a, 6 + 14));   // 0.5 rad/s about up
  CHECK_EQUAL(2008, i16_at(a, 6 + 20));  // 9.80665 m/s^2
  CHECK_EQUAL(1325, i16_at(a, 6 + 6));   // Pa above 100 kPa
  Bench hi81("hipnuc", {{"motion", "yaw"}, {"format", "HI81"}});
  hi81.run_for(0.02);
  const auto& b = hi81.out.frames[0].bytes;
  CHECK_EQUAL(110, b.size());
  CHECK_EQUAL(500, i16_at(b, 6 + 16));
  CHECK_EQUAL(2008, i16_at(b, 6 + 22));
  Bench hi83("hipnuc", {{"motion", "yaw"}, {"format", "HI83"}});
  hi83.run_for(0.02);
  const auto& c = hi83.out.frames[0].bytes;
  CHECK_EQUAL(6 + 8 + 12 * 4 + 16 + 8 + 8, c.size());
  DOUBLES_EQUAL(9.80665, f32_at(c, 6 + 16), 1e-5);
  CHECK_EQUAL(10'000, sim::get_le(c, 6 + 8 + 64, 8));  // us
}

TEST(SimHipnuc, CommandsAreAnsweredAsText) {
  Bench bench("hipnuc");
  STRCMP_EQUAL("OK\r\n", ask(bench, "LOG DISABLE").c_str());
  bench.run_for(0.5);
  CHECK_EQUAL(0, bench.out.frames.size());
  STRCMP_CONTAINS("PRODUCT=HI13R2", ask(bench, "LOG VERSION").c_str());
  STRCMP_EQUAL("ERR\r\n", ask(bench, "LOG HI91 ONTIME 0.0001").c_str());
  STRCMP_EQUAL("ERR\r\n", ask(bench, "HELLO").c_str());
  STRCMP_EQUAL("OK\r\n", ask(bench, "LOG HI92 ONTIME 0.005").c_str());
  STRCMP_EQUAL("OK\r\n", ask(bench, "LOG ENABLE").c_str());
  bench.run_for(0.5);
  CHECK_EQUAL(100, bench.out.frames.size());
  CHECK_EQUAL(54, bench.out.frames[0].bytes.size());
}

TEST(SimHipnuc, OlderModulesTakeAtCommands) {
  Bench bench("hipnuc", {{"model", "CH010"}});
  STRCMP_EQUAL("OK\r\n", ask(bench, "AT+EOUT=0").c_str());
  STRCMP_EQUAL("OK\r\n", ask(bench, "AT+ODR=200").c_str());
  STRCMP_EQUAL("ERR\r\n", ask(bench, "LOG ENABLE").c_str());
  STRCMP_EQUAL("OK\r\n", ask(bench, "AT+EOUT=1").c_str());
  bench.run_for(0.5);
  CHECK_EQUAL(100, bench.out.frames.size());
}

TEST(SimHipnuc, SettingsAreLostWithThePowerUnlessTheyAreSaved) {
  Bench bench("hipnuc");
  ask(bench, "LOG HI91 ONTIME 0.02");
  bench.model->power_up(bench.now, bench.out);
  bench.run_for(0.1001);
  CHECK_EQUAL(10, bench.out.frames.size());
  ask(bench, "LOG HI91 ONTIME 0.02");
  ask(bench, "SAVECONFIG");
  bench.model->power_up(bench.now, bench.out);
  bench.run_for(0.1001);
  CHECK_EQUAL(5, bench.out.frames.size());
}

TEST(SimHipnuc, TheRateChangesBehindTheAnswer) {
  Bench bench("hipnuc");
  STRCMP_EQUAL("OK\r\n", ask(bench, "SERIALCONFIG 921600").c_str());
  CHECK_EQUAL(115200, bench.model->baud());
  bench.run_for(0.1);
  CHECK_EQUAL(921600, bench.model->baud());
  STRCMP_EQUAL("ERR\r\n", ask(bench, "SERIALCONFIG 5").c_str());
}

TEST(SimHipnuc, TextComesBetweenPacketsWhereItIsAskedFor) {
  Bench bench("hipnuc", {{"chatter", "on"}});
  bench.run_for(2.001);
  CHECK_EQUAL(200, bench.out.imus.size());
  CHECK_EQUAL(202, bench.out.frames.size());
}
