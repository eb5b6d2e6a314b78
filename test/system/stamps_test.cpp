// lidarctl stamps on the real ways: pty and UDP, daemon, socket and file; and what the daemon finds
// wrong with data while it runs.
#include <csignal>

#include "test/support/harness.h"
#include "test/support/places.h"
#include "test/system/bench.h"
#include "test/system/json.h"

using test::contains;
using test::Json;
using test::Ran;
using test::Seconds;

namespace {

constexpr const char* kDrift[] = {"--fault", "drift=30", "--fault", "wander=8"};

std::vector<std::string> arrival(const char* kind) {
  std::vector<std::string> more{"--arrival", kind};
  more.insert(more.end(), std::begin(kDrift), std::end(kDrift));
  return more;
}

// Leaves at once, so that the time of leaving is that of arrival.
std::string passthrough(std::string sensor, const std::string& more = "") {
  return sensor.replace(sensor.rfind('}'), 1, ", role: passthrough" + more + "}");
}

}  // namespace

TEST_GROUP(SystemStamps) {
  test::Bench bench;

  Json stamps(const std::string& stream, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"stamps", stream, "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = bench.lidarctl(arguments, Seconds(90));
    LONGS_EQUAL_TEXT(0, ran.status, ran.err.c_str());
    return Json::parse(ran.out)["sensors"];
  }
  // Prints the figures; a strict run judges them.
  void judge(const Json& all, const char* name, double limit_ms) {
    const Json& sensor = all[name];
    const double error = sensor["error_ms"]["p99"].number();
    const double raw = sensor["arrival_error_ms"]["p99"].number();
    STRCMP_EQUAL("locked", sensor["clock"].string().c_str());
    CHECK(sensor["error_ms"]["n"].number() > 500);
    test::figure((std::string(name) + ": error of the stamps, p99").c_str(), error, limit_ms, "ms");
    test::note("%s: error of the arrival times, p99 %.3f ms: %.0f times as much\n", name, raw,
               raw / error);
    if (test::is_strict()) CHECK_TEXT(raw >= 5 * error, name);
  }
};

TEST(SystemStamps, StampsAreRightThroughRealPtysAndUdp) {
  const std::string port = std::to_string(test::free_udp_port());
  const auto uart = bench.simulate_pty("uart", "microstrain_mip", arrival("uart"));
  const auto ftdi = bench.simulate_pty("ftdi", "microstrain_mip", arrival("ftdi16"));
  const auto lidar = bench.simulate_pty("lidar", "ldrobot", arrival("uart"));
  std::vector<std::string> network{"rplidar",   "--udp",   "127.0.0.1:" + port,   "--set",
                                   "model=S2E", "--truth", bench.truth("network")};
  for (std::string& word : arrival("udp")) network.push_back(word);
  const auto udp = bench.simulate("network", network);
  const auto daemon = bench.lidard(bench.configure(
      passthrough(bench.serial("uart", "microstrain_mip")) +
      passthrough(bench.serial("ftdi", "microstrain_mip")) +
      passthrough(bench.serial("lidar", "ldrobot"), ", emit: chunk") +
      passthrough("  network: {driver: rplidar, port: 'udp:127.0.0.1:0', from: '127.0.0.1:" + port + "'}\n",
                  ", emit: chunk")));
  std::vector<std::string> options{"--for", "22", "--skip", "10"};
  for (const char* const name : {"uart", "ftdi", "lidar", "network"}) {
    options.push_back("--truth");
    options.push_back(name + ("=" + bench.truth(name)));
  }
  const Json all = stamps(bench.socket(), options);
  judge(all, "uart", 1);
  judge(all, "ftdi", 2);
  judge(all, "lidar", 1);
  judge(all, "network", 0.3);
}

TEST(SystemStamps, ARecordingGivesTheFiguresOfTheStream) {
  const auto imu = bench.simulate_pty("imu", "microstrain_mip");
  const auto lidar = bench.simulate_pty("lidar", "ldrobot");
  const auto daemon = bench.lidard(
      bench.configure(bench.serial("imu", "microstrain_mip") + bench.serial("lidar", "ldrobot")));
  const std::string file = bench.file("drive.mcap"), page = bench.file("page.html");
  LONGS_EQUAL(0, bench.lidarctl({"record", "--socket", bench.socket(), "--for", "4", file}).status);
  const Json all = stamps(file, {"--html", page, "--truth", "imu=" + bench.truth("imu")});
  LONGS_EQUAL(2, all.object().size());
  STRCMP_EQUAL("imu", all["imu"]["kind"].string().c_str());
  STRCMP_EQUAL("points", all["lidar"]["kind"].string().c_str());
  DOUBLES_EQUAL(10.0, all["imu"]["period_ms"].number(), 0.05);
  DOUBLES_EQUAL(100.0, all["lidar"]["period_ms"].number(), 1.5);
  DOUBLES_EQUAL(0.0, all["imu"]["lost"].number(), 0);
  DOUBLES_EQUAL(0.0, all["imu"]["unmatched"].number(), 0);
  CHECK(all["imu"]["error_ms"]["n"].number() > 300);
  CHECK(all["lidar"]["error_ms"].is_null());
  DOUBLES_EQUAL(0.0, all["imu"]["checks"]["accel"]["count"].number(), 0);
  const std::string html = test::read_file(page);
  CHECK(contains(html, "<svg") && contains(html, "error against the truth"));
  CHECK(!contains(html, "http"));

  const Ran table = bench.lidarctl({"stamps", file});
  LONGS_EQUAL(0, table.status);
  CHECK_TEXT(contains(table.out, "imu (imu): "), table.out.c_str());
}

TEST(SystemStamps, CtrlCEndsListeningWithTheTable) {
  const auto imu = bench.simulate_pty("imu", "microstrain_mip");
  const auto daemon = bench.lidard(bench.configure(bench.serial("imu", "microstrain_mip")));
  const auto stamps = bench.start_lidarctl("stamps", {"stamps", bench.socket()});
  test::StreamReader stream(bench.socket());
  CHECK(stream.read_until([&] { return stream.topic("/imu/imu").messages > 100; }));
  stamps->signal(SIGINT);
  LONGS_EQUAL(0, stamps->wait().value_or(-1));
  CHECK_TEXT(contains(stamps->out(), "latency"), stamps->out().c_str());
}

TEST(SystemStamps, WhatIsNoStreamIsNamedWithAStatus) {
  const auto ends = [&](std::vector<std::string> arguments, int status, const char* says) {
    arguments.insert(arguments.begin(), "stamps");
    const Ran ran = bench.lidarctl(arguments);
    LONGS_EQUAL_TEXT(status, ran.status, ran.err.c_str());
    CHECK_TEXT(contains(ran.err, says), ran.err.c_str());
    STRCMP_EQUAL("", ran.out.c_str());
  };
  const std::string text = bench.file("text.mcap"), empty = bench.file("empty.mcap");
  test::write_file(text, "this is no recording at all\n");
  test::write_file(empty, "");
  ends({bench.file("none.mcap")}, 66, "none.mcap: No such file");
  ends({bench.path()}, 66, "is a directory");
  ends({text}, 1, "text.mcap is no stream");
  ends({empty}, 1, "no sensor sent anything");
  ends({text, "--truth", "imu"}, 64, "key=value");
  ends({text, "--for", "-1"}, 64, "--for");
}

TEST(SystemStamps, TheDaemonNamesTheSensorWhoseDataMakeNoSense) {
  const auto imu = bench.simulate_pty("imu", "microstrain_mip", {"--fault", "wrong@3+2"});
  const auto daemon = bench.lidard(bench.configure(bench.serial("imu", "microstrain_mip")));
  test::StreamReader stream(bench.socket());
  const auto found = [&] {
    const test::Event* const event = stream.event("imu", "check");
    return event != nullptr && stream.count("imu", "check.accel") > 0;
  };
  CHECK(stream.read_until(found, Seconds(20)));
  const test::Event& event = *stream.event("imu", "check");
  CHECK_TEXT(contains(event.message, "|accel|"), event.message.c_str());
  CHECK_TEXT(contains(daemon->err(), "imu: "), daemon->err().c_str());
  CHECK_TEXT(contains(daemon->err(), "|accel|"), daemon->err().c_str());
}
