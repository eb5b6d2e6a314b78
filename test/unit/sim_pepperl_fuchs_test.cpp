// The simulated Pepperl+Fuchs lidars: their commands, and scans decoded and compared with the
// truth.
#include <cmath>
#include <string>
#include <vector>

#include "test/sim/pepperl_http.h"
#include "test/sim/pepperl_packets.h"
#include "test/sim/room.h"
#include "test/support/harness.h"
#include "test/unit/sim_fixture.h"
#include "test/unit/sim_lidar_points.h"

using sim::get_le;
using sim_test::kStart;

namespace {

std::string text_of(hal::Bytes bytes) {
  std::string text;
  for (const std::byte b : bytes) text += static_cast<char>(b);
  return text;
}

// A lidar in simulated time.
class Lidar {
 public:
  explicit Lidar(const sim::Options& set = {}, double rate_hz = 0.0)
      : bench_("pepperl_fuchs", set, rate_hz) {}

  // The whole answer to one request, as it goes over the wire.
  std::string send(const std::string& text) {
    bench_.out.clear();
    sim::ByteVector bytes;
    sim::put_text(bytes, text);
    bench_.model->receive(sim::Channel::control, bytes, bench_.now, bench_.out);
    std::string answer;
    for (const sim::Frame& frame : bench_.out.frames) {
      CHECK_TRUE(frame.way.channel == sim::Channel::control);
      answer += text_of(frame.bytes);
    }
    segments = bench_.out.frames.size();
    CHECK_TRUE(bench_.out.frames.empty() || bench_.out.frames.back().way.hangs_up);
    bench_.out.clear();
    return answer;
  }
  // The body of the answer to a command.
  std::string ask(const std::string& command) {
    const std::string answer = send("GET /cmd/" + command + " HTTP/1.1\r\nHost: device\r\n\r\n");
    const std::size_t body = answer.find("\r\n\r\n");
    return body == std::string::npos ? "" : answer.substr(body + 4);
  }
  int error_of(const std::string& command) { return std::stoi(member(ask(command), "error_code")); }
  static std::string member(const std::string& body, const std::string& name) {
    const std::size_t at = body.find('"' + name + "\":");
    if (at == std::string::npos) return "";
    const std::size_t begin = at + name.size() + 3;
    return body.substr(begin, body.find_first_of(",\r\n", begin) - begin);
  }
  static std::string word(const std::string& body, const std::string& name) {
    const std::string quoted = member(body, name);
    return quoted.size() < 2 ? "" : quoted.substr(1, quoted.size() - 2);
  }
  std::string start(const std::string& more) {
    const std::string handle =
        word(ask("request_handle_udp?address=10.0.10.1&port=5000&" + more), "handle");
    CHECK_EQUAL(0, error_of("start_scanoutput?handle=" + handle));
    return handle;
  }
  const std::vector<sim::Frame>& frames(double seconds) {
    bench_.out.clear();
    bench_.run_for(seconds);
    return bench_.out.frames;
  }
  const std::vector<sim::ScanTruth>& truth() const { return bench_.out.scans; }
  sim_test::Bench& bench() { return bench_; }

  std::size_t segments = 0;

 private:
  sim_test::Bench bench_;
};

struct Head {
  unsigned type, header, scan, number, points, count, index;
  std::uint64_t stamp;
  std::uint32_t status, mhz;
  double first_deg, step_deg;
};

double signed_of(hal::Bytes bytes, std::size_t at) {
  return static_cast<double>(static_cast<std::int32_t>(get_le(bytes, at, 4))) * 1e-4;
}

Head head_of(hal::Bytes b) {
  CHECK_EQUAL(0xA25C, get_le(b, 0, 2));
  CHECK_EQUAL(b.size(), get_le(b, 4, 4));
  const auto u16 = [&](std::size_t at) { return static_cast<unsigned>(get_le(b, at, 2)); };
  Head head{u16(2), u16(8), u16(10), u16(12), 0, 0, 0, 0, 0, 0, 0.0, 0.0};
  const std::size_t at = head.type == 0x3143 ? 20 : 14;
  head.stamp = get_le(b, at, 8);
  head.status = static_cast<std::uint32_t>(get_le(b, at + 16, 4));
  head.mhz = static_cast<std::uint32_t>(get_le(b, at + 20, 4));
  head.points = u16(at + 24), head.count = u16(at + 26), head.index = u16(at + 28);
  head.first_deg = signed_of(b, at + 30), head.step_deg = signed_of(b, at + 34);
  return head;
}

// Points of one packet: mm (0 = none), strength.
std::vector<sim_test::LidarPoint> points_of(hal::Bytes b) {
  const Head head = head_of(b);
  std::vector<sim_test::LidarPoint> points;
  for (unsigned i = 0; i < head.count; ++i) {
    const double deg = head.first_deg + i * head.step_deg;
    const std::size_t at = head.header + i * (head.type == 0x42 ? 6U : 4U);
    const std::uint64_t word = get_le(b, at, 4);
    const bool packed = head.type == 0x43 || head.type == 0x3143;
    const std::uint64_t mm = packed ? word & 0xFFFFFU : word;
    double strength = packed ? double(word >> 20) : 0.0;
    if (head.type == 0x42) strength = double(get_le(b, at + 4, 2));
    const bool none =
        mm == (packed ? 0xFFFFFU : 0xFFFFFFFFU) || (head.type != 0x41 && strength < 32.0);
    points.push_back({deg, none ? 0.0 : double(mm), strength});
  }
  return points;
}

}  // namespace

TEST_GROUP(SimPepperlFuchs) { Lidar lidar; };

TEST(SimPepperlFuchs, AnAnswerIsHttpWithAnObjectThatEndsInTheErrorCode) {
  const std::string answer = lidar.send("GET /cmd/get_protocol_info HTTP/1.1\r\n\r\n");
  CHECK_EQUAL(0, answer.find("HTTP/1.1 200 OK\r\n"));
  const std::size_t body = answer.find("\r\n\r\n") + 4;
  CHECK_TRUE(answer.find("Content-Length: " + std::to_string(answer.size() - body)) !=
             std::string::npos);
  STRCMP_EQUAL("pfsdp", Lidar::word(answer, "protocol_name").c_str());
  STRCMP_EQUAL("0", Lidar::member(answer, "error_code").c_str());
  STRCMP_EQUAL("\"success\"", Lidar::member(answer, "error_text").c_str());
  CHECK_EQUAL(0, lidar.send("GET / HTTP/1.1\r\n\r\n").find("HTTP/1.1 404"));
  CHECK_EQUAL(100, lidar.error_of("dance"));
}

TEST(SimPepperlFuchs, ARequestMayComeInPiecesAndAfterABrokenOne) {
  STRCMP_EQUAL("", lidar.send("GET /cmd/get_pa").c_str());
  STRCMP_EQUAL("", lidar.send("GET /cmd/get_parameter?list=prod").c_str());
  const std::string body = lidar.send("uct%3Bvendor HTTP/1.1\r\n\r\n");
  STRCMP_EQUAL("OMD30M-R2000-B23-V1V1D", Lidar::word(body, "product").c_str());
  STRCMP_EQUAL("Pepperl+Fuchs", Lidar::word(body, "vendor").c_str());
}

TEST(SimPepperlFuchs, AnswersComeInTwoSegmentsWithoutLengthOrWithStringsOnDemand) {
  Lidar split(sim::Options{{"http", "split"}});
  const std::string whole = lidar.ask("get_parameter");
  STRCMP_EQUAL(whole.c_str(), split.ask("get_parameter").c_str());
  CHECK_EQUAL(2, split.segments);
  Lidar endless(sim::Options{{"http", "no_length"}, {"numbers", "strings"}});
  const std::string answer =
      endless.send("GET /cmd/get_parameter?list=scan_frequency HTTP/1.0\r\n\r\n");
  CHECK_TRUE(answer.find("Content-Length") == std::string::npos);
  STRCMP_EQUAL("\"35\"", Lidar::member(answer, "scan_frequency").c_str());
  STRCMP_EQUAL("\"0\"", Lidar::member(answer, "error_code").c_str());
}

TEST(SimPepperlFuchs, ParametersAreReadBackAsTheyWereSet) {
  CHECK_EQUAL(0, lidar.error_of("set_parameter?scan_frequency=20&scan_direction=cw"));
  CHECK_EQUAL(0, lidar.error_of("set_parameter?samples_per_scan=7200"));
  const std::string body =
      lidar.ask("get_parameter?list=scan_frequency;scan_direction;samples_per_scan;device_family");
  STRCMP_EQUAL("20", Lidar::member(body, "scan_frequency").c_str());
  STRCMP_EQUAL("cw", Lidar::word(body, "scan_direction").c_str());
  STRCMP_EQUAL("7200", Lidar::member(body, "samples_per_scan").c_str());
  STRCMP_EQUAL("1", Lidar::member(body, "device_family").c_str());
}

TEST(SimPepperlFuchs, EveryWrongParameterHasItsCode) {
  CHECK_EQUAL(110, lidar.error_of("get_parameter?list=colour"));
  CHECK_EQUAL(110, lidar.error_of("set_parameter?colour=red"));
  CHECK_EQUAL(220, lidar.error_of("set_parameter?serial=1"));
  CHECK_EQUAL(200, lidar.error_of("set_parameter?scan_direction=up"));
  CHECK_EQUAL(200, lidar.error_of("set_parameter?scan_frequency=fast"));
  CHECK_EQUAL(210, lidar.error_of("set_parameter?scan_frequency=51"));
  CHECK_EQUAL(210, lidar.error_of("set_parameter?samples_per_scan=25200"));  // 882000 a second
  STRCMP_EQUAL(
      "3600",
      Lidar::member(lidar.ask("get_parameter?list=samples_per_scan"), "samples_per_scan").c_str());
}

TEST(SimPepperlFuchs, ADeviceThatAdjustsTakesTheNearestValue) {
  Lidar adjusts(sim::Options{{"settings", "adjust"}});
  CHECK_EQUAL(0, adjusts.error_of("set_parameter?samples_per_scan=25200"));
  STRCMP_EQUAL("7200",
               Lidar::member(adjusts.ask("get_parameter?list=samples_per_scan"), "samples_per_scan")
                   .c_str());
}

TEST(SimPepperlFuchs, HandlesAreLimitedReadBackAndReleased) {
  const std::string ask = "request_handle_udp?address=10.0.10.1&port=5000";
  const std::string body = lidar.ask(ask + "&packet_type=C&watchdogtimeout=2000&start_angle=0");
  const std::string handle = Lidar::word(body, "handle");
  const std::string config = lidar.ask("get_scanoutput_config?handle=" + handle);
  STRCMP_EQUAL("10.0.10.1", Lidar::word(config, "address").c_str());
  STRCMP_EQUAL("5000", Lidar::member(config, "port").c_str());
  STRCMP_EQUAL("C", Lidar::word(config, "packet_type").c_str());
  STRCMP_EQUAL("on", Lidar::word(config, "watchdog").c_str());
  STRCMP_EQUAL("2000", Lidar::member(config, "watchdogtimeout").c_str());
  CHECK_EQUAL(0, lidar.error_of(ask));
  CHECK_EQUAL(0, lidar.error_of(ask));
  CHECK_EQUAL(240, lidar.error_of(ask));
  CHECK_EQUAL(0, lidar.error_of("release_handle?handle=" + handle));
  CHECK_EQUAL(120, lidar.error_of("release_handle?handle=" + handle));
  CHECK_EQUAL(0, lidar.error_of(ask));
  Lidar crowded(sim::Options{{"taken", "3"}});
  CHECK_EQUAL(240, crowded.error_of(ask));
}

TEST(SimPepperlFuchs, EveryWrongHandleHasItsCode) {
  const std::string ask = "request_handle_udp?address=10.0.10.1&port=5000";
  CHECK_EQUAL(130, lidar.error_of("request_handle_udp?port=5000"));
  CHECK_EQUAL(130, lidar.error_of("request_handle_udp?address=10.0.10.1"));
  CHECK_EQUAL(200, lidar.error_of("request_handle_udp?address=300.0.10.1&port=5000"));
  CHECK_EQUAL(210, lidar.error_of("request_handle_udp?address=10.0.10.1&port=65536"));
  CHECK_EQUAL(200, lidar.error_of(ask + "&packet_type=D"));
  CHECK_EQUAL(200, lidar.error_of(ask + "&packet_type=C1"));
  CHECK_EQUAL(200, lidar.error_of(ask + "&watchdog=maybe"));
  CHECK_EQUAL(210, lidar.error_of(ask + "&start_angle=1800001"));
  CHECK_EQUAL(100, lidar.error_of(ask + "&colour=red"));
  CHECK_EQUAL(120, lidar.error_of("start_scanoutput?handle=none"));
  CHECK_EQUAL(120, lidar.error_of("feed_watchdog"));
}

TEST(SimPepperlFuchs, AnEmptyHeaderAndPointsAreThoseOfTheWorkedExample) {
  sim::pepperl_fuchs::Scan scan;
  scan.frequency_mhz = 40'000, scan.points = 5040;
  scan.first_deg = -180.0, scan.step_deg = 360.0 / 5040.0;
  const std::vector<sim::TrueBeam> beams(332, {kStart, 0.0, 0.0});
  const auto bytes =
      sim::pepperl_fuchs::packet(scan, 0, 5'663'554'167'000, beams, std::vector<unsigned>(332, 0));
  CHECK_EQUAL(1404, bytes.size());
  STRCMP_EQUAL("5C A2 43 00 7C 05 00 00 4C 00 00 00 01 00",
               sim_test::hex_of(hal::Bytes(bytes).first(14)).c_str());
  STRCMP_EQUAL(
      "00 00 00 00 00 00 00 00 00 00 00 00 40 9C 00 00 B0 13 4C 01 00 00 C0 88 E4 FF CA 02 00 00",
      sim_test::hex_of(hal::Bytes(bytes).subspan(22, 30)).c_str());
  CHECK_EQUAL(0x161F, get_le(bytes, 18, 4));
  DOUBLES_EQUAL(5663.554167, double(get_le(bytes, 14, 8)) / 0x1p32, 1e-9);
  STRCMP_EQUAL("FF FF 0F 00", sim_test::hex_of(hal::Bytes(bytes).subspan(76, 4)).c_str());
  const auto second =
      sim::pepperl_fuchs::packet(scan, 332, 0, beams, std::vector<unsigned>(332, 0));
  CHECK_EQUAL(2, head_of(second).number);
  DOUBLES_EQUAL(-156.2857, head_of(second).first_deg, 1e-9);
}

TEST(SimPepperlFuchs, EveryTypeStreamsTheTruthToTheAddressAskedFor) {
  const struct {
    const char *model, *type;
    unsigned code;
    std::size_t points, per_packet;
    double rate_hz, turns;
  } kRows[] = {{"R2000", "A", 0x41, 3600, 332, 35.0, 35},
               {"R2000", "B", 0x42, 3600, 221, 35.0, 35},
               {"R2000", "C", 0x43, 3600, 332, 35.0, 35},
               {"R2300", "C1", 0x3143, 1000, 330, 50.0, 50}};
  for (const auto& row : kRows) {
    Lidar one(sim::Options{{"model", row.model}, {"layers", "1"}});
    one.start(std::string("packet_type=") + row.type);
    const auto& frames = one.frames(1.005);
    const std::size_t per_scan = (row.points + row.per_packet - 1) / row.per_packet;
    CHECK_TRUE(frames.size() / per_scan == std::size_t(row.turns));
    std::size_t next = 0;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const Head head = head_of(frames[i].bytes);
      CHECK_TRUE(frames[i].way.channel == sim::Channel::data);
      CHECK_EQUAL(0x0A000A01, frames[i].way.to.ip);
      CHECK_EQUAL(5000, frames[i].way.to.port);
      CHECK_EQUAL(row.code, head.type);
      CHECK_EQUAL(i / per_scan, head.scan);
      CHECK_EQUAL(i % per_scan + 1, head.number);
      CHECK_EQUAL(row.points, head.points);
      CHECK_EQUAL(next, head.index);
      CHECK_EQUAL(row.rate_hz * 1000, head.mhz);
      next = (next + head.count) % row.points;
      sim_test::check_points(points_of(frames[i].bytes), one.truth()[i], 0.02, 0.5);
      const auto& beams = one.truth()[i].beams;
      DOUBLES_EQUAL(double(one.truth()[i].device_ns) * 1e-9, double(head.stamp) / 0x1p32, 1e-9);
      CHECK_EQUAL(one.truth()[i].device_ns, (beams.front().at - kStart).count());
      CHECK_TRUE(frames[i].at == beams.back().at);
    }
  }
}

TEST(SimPepperlFuchs, TheTimeBetweenPointsIsThatOfTheHeadersFrequency) {
  lidar.start("packet_type=C");
  lidar.frames(0.05);
  const auto& beams = lidar.truth().front().beams;
  const double apart =
      double((beams.back().at - beams.front().at).count()) / double(beams.size() - 1);
  DOUBLES_EQUAL(1e9 / 35.0 / 3600.0, apart, 3.0);  // the motor is 0.02 % fast
}

TEST(SimPepperlFuchs, AClockwiseScanHasFallingAngles) {
  lidar.ask("set_parameter?scan_direction=cw");
  lidar.start("packet_type=B");
  const auto& frames = lidar.frames(0.05);
  const Head head = head_of(frames.front().bytes);
  DOUBLES_EQUAL(-0.1, head.step_deg, 1e-9);
  CHECK_EQUAL(2, head.status);  // settings changed
  for (std::size_t i = 0; i < frames.size(); ++i)
    sim_test::check_points(points_of(frames[i].bytes), lidar.truth()[i], 0.02, 0.5);
}

TEST(SimPepperlFuchs, AHandleThatBeginsElsewhereBeginsWhenTheMotorIsThere) {
  for (const char* direction : {"ccw", "cw"}) {
    Lidar turned;
    turned.ask(std::string("set_parameter?scan_direction=") + direction);
    turned.start("packet_type=C&start_angle=900000&max_num_points_scan=300");
    turned.frames(0.05);
    const hal::Duration after = turned.truth().front().beams.front().at - kStart;
    const double turns = std::string(direction) == "cw" ? 0.25 : 0.75;
    DOUBLES_EQUAL(turns / (35.0 * 1.0002), hal::to_seconds(after), 1e-8);
  }
}

TEST(SimPepperlFuchs, AScanMayBeginElsewhereBeShortAndLeaveScansOut) {
  lidar.start("packet_type=C&start_angle=900000&max_num_points_scan=300&skip_scans=1");
  const auto& frames = lidar.frames(1.0);
  CHECK_EQUAL(18, frames.size());  // turns 0.75, 2.75 .. 34.75
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const Head head = head_of(frames[i].bytes);
    CHECK_EQUAL(300, head.points);
    CHECK_EQUAL(i, head.scan);
    DOUBLES_EQUAL(90.0, head.first_deg, 1e-9);
    sim_test::check_points(points_of(frames[i].bytes), lidar.truth()[i], 0.02, 0.5);
  }
}

TEST(SimPepperlFuchs, FourLayersFollowEachOtherWithTheirInclinations) {
  Lidar r2300(sim::Options{{"model", "R2300"}});
  STRCMP_EQUAL("4",
               Lidar::member(r2300.ask("get_parameter?list=layer_count"), "layer_count").c_str());
  r2300.start("packet_type=C1");
  const auto& frames = r2300.frames(0.2);
  CHECK_TRUE(frames.size() >= 36);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const std::size_t layer = i / 4 % 4;
    CHECK_EQUAL(layer, get_le(frames[i].bytes, 14, 2));
    DOUBLES_EQUAL(-4.5 + 3.0 * double(layer), signed_of(frames[i].bytes, 16), 1e-9);
    const auto& beam = r2300.truth()[i].beams.front();
    const double slant = std::cos(sim::radians(-4.5 + 3.0 * double(layer)));
    DOUBLES_EQUAL(sim::Room::range(beam.angle), beam.range * slant, 1e-9);
  }
}

TEST(SimPepperlFuchs, OlderFirmwareHasAShorterHeader) {
  for (const char* header : {"60", "52"}) {
    Lidar old(sim::Options{{"header", header}});
    old.start("packet_type=C");
    const auto& frames = old.frames(0.05);
    CHECK_EQUAL(std::stoul(header), head_of(frames.front().bytes).header);
    sim_test::check_points(points_of(frames[0].bytes), old.truth()[0], 0.02, 0.5);
  }
}

TEST(SimPepperlFuchs, AHungryWatchdogFreesTheHandle) {
  const std::string handle = lidar.start("packet_type=C&watchdogtimeout=1000");
  CHECK_TRUE(lidar.frames(0.9).size() > 300);
  CHECK_EQUAL(0, lidar.error_of("feed_watchdog?handle=" + handle));
  lidar.frames(0.9);
  CHECK_TRUE(lidar.frames(0.5).back().at <= kStart + hal::Duration(1'900'000'000));
  CHECK_EQUAL(0, lidar.frames(1.0).size());
  CHECK_EQUAL(120, lidar.error_of("feed_watchdog?handle=" + handle));
  lidar.start("packet_type=C&watchdog=off&watchdogtimeout=1000");
  CHECK_TRUE(lidar.frames(5.0).back().at > kStart + hal::Duration(8'200'000'000));
}

TEST(SimPepperlFuchs, AStoppedHandleStartsAgainAtScanZero) {
  const std::string handle = lidar.start("packet_type=C");
  lidar.frames(0.2);
  CHECK_EQUAL(0, lidar.error_of("stop_scanoutput?handle=" + handle));
  CHECK_EQUAL(0, lidar.frames(0.2).size());
  CHECK_EQUAL(0, lidar.error_of("start_scanoutput?handle=" + handle));
  CHECK_EQUAL(0, head_of(lidar.frames(0.2).front().bytes).scan);
}

TEST(SimPepperlFuchs, ScanNumbersWrap) {
  Lidar late(sim::Options{{"first_scan", "65535"}});
  late.start("packet_type=C");
  const auto& frames = late.frames(0.08);
  CHECK_EQUAL(65535, head_of(frames.front().bytes).scan);
  CHECK_EQUAL(0, head_of(frames[11].bytes).scan);
}

TEST(SimPepperlFuchs, OverTcpAPortIsGivenAndUsed) {
  const std::string body = lidar.ask("request_handle_tcp?packet_type=A&port=4711");
  STRCMP_EQUAL("4711", Lidar::member(body, "port").c_str());
  lidar.ask("start_scanoutput?handle=" + Lidar::word(body, "handle"));
  const auto& frames = lidar.frames(0.05);
  CHECK_TRUE(frames.front().way.channel == sim::Channel::connection);
  CHECK_EQUAL(4711, frames.front().way.to.port);
}

TEST(SimPepperlFuchs, WithoutPowerAndInARebootEverythingIsForgotten) {
  const std::string handle = lidar.start("packet_type=C");
  lidar.ask("set_parameter?scan_frequency=20");
  lidar.bench().model->power_up(lidar.bench().now, lidar.bench().out);
  CHECK_EQUAL(0, lidar.frames(0.5).size());
  CHECK_EQUAL(120, lidar.error_of("feed_watchdog?handle=" + handle));
  STRCMP_EQUAL(
      "35",
      Lidar::member(lidar.ask("get_parameter?list=scan_frequency"), "scan_frequency").c_str());
  lidar.start("packet_type=C");
  CHECK_EQUAL(0, lidar.error_of("reboot_device"));
  STRCMP_EQUAL("", lidar.ask("get_protocol_info").c_str());
  CHECK_EQUAL(0, lidar.frames(3.0).size());
  STRCMP_EQUAL("0", Lidar::member(lidar.ask("get_parameter?list=up_time"), "up_time").c_str());
}

TEST(SimPepperlFuchs, CodesInPlaceOfAmplitudesAndFlagsComeOnDemand) {
  Lidar weak(sim::Options{{"weak", "50"}, {"status", "1073741824"}});
  weak.start("packet_type=C");
  const auto& frames = weak.frames(0.05);
  CHECK_EQUAL(1U << 30, head_of(frames[0].bytes).status);
  const auto points = points_of(frames[0].bytes);
  int coded = 0;
  for (const auto& point : points) coded += point.strength == 6.0;
  CHECK_TRUE(coded > 100 && coded < 232);
  sim_test::check_points(points, weak.truth()[0], 0.02, 0.5);
}

TEST(SimPepperlFuchs, AFalsifiedPacketKeepsItsHeader) {
  lidar.start("packet_type=B");
  sim::ByteVector frame = lidar.frames(0.05).front().bytes;
  const sim::ByteVector before = frame;
  sim::Random random(7);
  lidar.bench().model->falsify(frame, random);
  CHECK_TRUE(frame != before);
  CHECK_TRUE(sim::ByteVector(frame.begin(), frame.begin() + 76) ==
             sim::ByteVector(before.begin(), before.begin() + 76));
}

TEST(SimPepperlFuchs, TheSpeedOnTheCommandLineIsTheOneThatItSays) {
  Lidar slow({}, 10.0);
  STRCMP_EQUAL(
      "10", Lidar::member(slow.ask("get_parameter?list=scan_frequency"), "scan_frequency").c_str());
  const sim::ModelRow& row = *sim::find_model("pepperl_fuchs");
  const sim::Settings settings = *sim::Settings::check(row.options, {});
  sim::DeviceClock clock(1);
  CHECK_FALSE(static_cast<bool>(row.make({settings, clock, 51.0, 1})));
}

TEST(SimPepperlFuchs, RandomBytesOfTheHostDoNoHarm) {
  sim::Random random(11);
  for (int i = 0; i < 2000; ++i) {
    std::string junk;
    for (std::uint64_t n = random.below(300); n > 0; --n)
      junk += static_cast<char>(random.below(256));
    lidar.send(junk);
  }
  CHECK_EQUAL(0, lidar.error_of("get_protocol_info"));
}
