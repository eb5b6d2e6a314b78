// Sensors that are not there, and lines that carry something else.
#include <unistd.h>

#include "test/support/harness.h"
#include "test/system/bench.h"
#include "test/system/json.h"
#include "test/system/pty_line.h"

using test::contains;
using test::Seconds;
using test::StreamReader;

TEST_GROUP(SystemAbsent) {
  test::Bench bench;

  // The newest cause and words of a sensor, once it has the cause.
  std::string why(const std::string& sensor, const std::string& cause) {
    StreamReader stream(bench.socket());
    const bool came = stream.read_until([&] { return stream.value(sensor, "cause") == cause; });
    if (!came) {
      FAIL((sensor + ": not " + cause + " but " + stream.value(sensor, "cause") + ": " +
            stream.message(sensor))
               .c_str());
    }
    return stream.message(sensor);
  }
};

TEST(SystemAbsent, NoSensorThereIsReadyAtOnceAndToldOncePerCause) {
  const auto began = std::chrono::steady_clock::now();
  const auto daemon = bench.lidard(
      bench.configure(bench.serial("front", "rplidar") + bench.serial("rear", "ldrobot") +
                      bench.serial("imu", "microstrain_mip") +
                      "  side: {driver: rplidar, port: 'udp:127.0.0.1:0', from: '127.0.0.1:9'}\n"));
  test::figure("ready after", Seconds(std::chrono::steady_clock::now() - began).count(), 0.5, "s");
  StreamReader stream(bench.socket());
  const double cpu = daemon->cpu_seconds();
  stream.read_for(Seconds(5));
  test::figure("CPU without sensors", (daemon->cpu_seconds() - cpu) / 5 * 100, 2, "%");

  const std::string log = daemon->err();
  test::note("%s", log.c_str());
  CHECK_TEXT(test::count_lines(log) <= 1 + 4, log.c_str());  // ready, and each sensor once
  for (const char* const sensor : {"front", "rear", "imu"}) {
    CHECK_TEXT(
        stream.value(sensor, "state") == "backoff" || stream.value(sensor, "state") == "starting",
        sensor);
    STRCMP_EQUAL("no_port", stream.value(sensor, "cause").c_str());
    CHECK_TEXT(contains(stream.message(sensor), bench.file(sensor)), sensor);
    CHECK_TEXT(contains(log, bench.file(sensor) + ": no such port: is the device plugged in?"),
               log.c_str());
    const auto faults = stream.count(sensor, "driver.faults");
    CHECK_TEXT(faults >= 2, "it keeps trying");
    CHECK_TEXT(faults <= 50, "with a pause");
  }
  LONGS_EQUAL(0, stream.topic("/front/points").messages);

  const test::Ran status = bench.lidarctl({"status", "--json", "--socket", bench.socket()});
  LONGS_EQUAL(0, status.status);
  const auto json = test::Json::parse(status.out);
  STRCMP_EQUAL("0 of 4 sensors stream", json["lidard"]["message"].string().c_str());
  STRCMP_EQUAL("error", json["front"]["level"].string().c_str());
}

TEST(SystemAbsent, ASensorThatAppearsLaterStreams) {
  const auto daemon = bench.lidard(bench.configure(bench.serial("rear", "ldrobot")));
  StreamReader stream(bench.socket());
  stream.read_for(Seconds(1));
  const auto device = bench.simulate_pty("rear", "ldrobot");
  const auto there = std::chrono::steady_clock::now();
  CHECK(stream.read_until([&] { return stream.topic("/rear/points").messages > 0; }));
  test::figure("first cloud after", Seconds(std::chrono::steady_clock::now() - there).count(), 1.2,
               "s");
  CHECK(stream.event("rear", "recover") != nullptr);
  LONGS_EQUAL_TEXT(3, test::count_lines(daemon->err()), daemon->err().c_str());
}

TEST(SystemAbsent, ADanglingLinkIsNamedWithItsTarget) {
  CHECK(::symlink("/dev/ttyUSB99", bench.file("rear").c_str()) == 0);
  const auto daemon = bench.lidard(bench.configure(bench.serial("rear", "ldrobot")));
  const std::string words = why("rear", "no_port");
  CHECK_TEXT(contains(words, bench.file("rear") + ": dangling link to /dev/ttyUSB99"),
             words.c_str());
}

TEST(SystemAbsent, AFileThatIsNoPortIsNamed) {
  test::write_file(bench.file("rear"), "");
  const auto daemon = bench.lidard(bench.configure(bench.serial("rear", "ldrobot")));
  const std::string words = why("rear", "no_port");
  CHECK_TEXT(contains(words, bench.file("rear") + ": not a serial port"), words.c_str());
}

TEST(SystemAbsent, ASilentLineIsToldAsSuch) {
  test::PtyLine line(bench.file("rear"));
  const auto daemon = bench.lidard(bench.configure(bench.serial("rear", "ldrobot")));
  const std::string words = why("rear", "no_bytes");
  CHECK_TEXT(contains(words, "no byte at 230400 baud: power, cable"), words.c_str());
}

TEST(SystemAbsent, AnotherProtocolIsAMismatchWithinTwoSeconds) {
  const auto talker = bench.simulate_pty("front", "ldrobot");
  const auto talker2 = bench.simulate_pty("imu", "ldrobot");
  const auto daemon = bench.lidard(
      bench.configure(bench.serial("front", "rplidar") + bench.serial("imu", "microstrain_mip")));
  const auto began = std::chrono::steady_clock::now();
  StreamReader stream(bench.socket());
  for (const char* const sensor : {"front", "imu"}) {
    const bool told = stream.read_until([&] {
      const test::Event* const stall = stream.event(sensor, "stall");
      return stall != nullptr && stall->values.at("cause") == "mismatch";
    });
    CHECK_TEXT(told, (sensor + (": " + daemon->err())).c_str());
    test::figure((std::string(sensor) + " told after").c_str(),
                 Seconds(std::chrono::steady_clock::now() - began).count(), 2, "s");
    const std::string& words = stream.event(sensor, "stall")->message;
    test::note("%s: %s", sensor, words.c_str());
    CHECK_TEXT(contains(words, "they are those of driver 'ldrobot'"), words.c_str());
  }
  const double cpu = daemon->cpu_seconds();
  stream.read_for(Seconds(3));
  test::figure("CPU", (daemon->cpu_seconds() - cpu) / 3 * 100, 4, "%");
  // Not a line for each attempt.
  CHECK_TEXT(test::count_lines(daemon->err()) <= 1 + 2, daemon->err().c_str());
  test::note("%s", daemon->err().c_str());
}

TEST(SystemAbsent, AWrongBaudRateIsAMismatchWithinTwoSeconds) {
  const auto device = bench.simulate_pty("rear", "ldrobot", {"--fault", "baud=115200"});
  const auto daemon = bench.lidard(bench.configure(bench.serial("rear", "ldrobot")));
  const auto began = std::chrono::steady_clock::now();
  StreamReader stream(bench.socket());
  CHECK(stream.read_until([&] {
    const test::Event* const stall = stream.event("rear", "stall");
    return stall != nullptr && (stall->values.at("cause") == "mismatch" ||
                                stall->values.at("cause") == "bad_checksums");
  }));
  test::figure("told after", Seconds(std::chrono::steady_clock::now() - began).count(), 2, "s");
  const std::string& words = stream.event("rear", "stall")->message;
  test::note("%s", words.c_str());
  CHECK_TEXT(contains(words, "baud rate"), words.c_str());
  CHECK_TEXT(contains(words, "230400"), words.c_str());
  LONGS_EQUAL(0, stream.topic("/rear/points").messages);
}
