// The programs that come for users' own languages, against a running daemon.
#include <csignal>

#include "test/support/harness.h"
#include "test/support/places.h"
#include "test/system/bench.h"
#include "test/system/json.h"

using test::contains;
using test::Ran;

namespace {

// "N messages, L lost" at the end.
long lost(const std::string& err) {
  const auto at = err.rfind(" messages, ");
  CHECK_TEXT(at != std::string::npos, err.c_str());
  return std::stol(err.substr(at + std::string(" messages, ").size()));
}

void check_lines(const Ran& ran, std::size_t messages) {
  LONGS_EQUAL_TEXT(0, ran.status, ran.err.c_str());
  LONGS_EQUAL(messages, test::count_lines(ran.out));
  LONGS_EQUAL(0, lost(ran.err));
  for (const char* part :
       {"/tf_static 1 ", "/front/points ", " points in base_link, the last at ", "/front/scan ",
        " ranges from ", "/imu/imu ", " accel ", ", with attitude", "/lidard/configuration 1 "}) {
    CHECK_TEXT(contains(ran.out, part), part);
  }
}

}  // namespace

TEST_GROUP(SystemClientPrograms) {
  test::Bench bench;
  std::unique_ptr<test::Process> front, imu, daemon;

  void setup() override {
    front = bench.simulate_pty("front", "ldrobot");
    imu = bench.simulate_pty("imu", "microstrain_mip");
    start_daemon();
  }
  void start_daemon() {
    daemon = bench.lidard(
        bench.configure(bench.serial("front", "ldrobot") + bench.serial("imu", "microstrain_mip")));
  }
  std::string client(const char* name) {
    return test::in_source(std::string("app/clients/") + name);
  }
};

TEST(SystemClientPrograms, TheExampleInCReadsTheStream) {
  check_lines(test::run({CLIENT_EXAMPLE, bench.socket(), "400"}, bench.file("c")), 400);
}

TEST(SystemClientPrograms, TheExampleInPythonReadsTheStream) {
  check_lines(test::run({PYTHON, client("example.py"), bench.socket(), "400"}, bench.file("py")),
              400);
}

TEST(SystemClientPrograms, BothSayWhenNobodyListens) {
  const std::string nowhere = bench.file("nowhere.sock");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{CLIENT_EXAMPLE, nowhere},
        std::vector<std::string>{PYTHON, client("example.py"), nowhere}}) {
    const Ran ran = test::run(command, bench.file("none"));
    LONGS_EQUAL(1, ran.status);
    CHECK_TEXT(contains(ran.err, "nowhere.sock: No such file or directory"), ran.err.c_str());
  }
}

TEST(SystemClientPrograms, BothEndWithTheDaemon) {
  test::Process c({CLIENT_EXAMPLE, bench.socket()}, bench.file("c"));
  test::Process py({PYTHON, client("example.py"), bench.socket()}, bench.file("py"));
  CHECK(test::wait_for(
      [&] { return contains(c.out(), "/imu/imu") && contains(py.out(), "/imu/imu"); }));
  daemon->signal(SIGTERM);
  LONGS_EQUAL(1, c.wait().value_or(-1));
  LONGS_EQUAL(1, py.wait().value_or(-1));
  CHECK_TEXT(contains(c.err(), "it has ended"), c.err().c_str());
  CHECK_TEXT(contains(py.err(), "the stream has ended"), py.err().c_str());
}

TEST(SystemClientPrograms, TheBridgeToRosPublishesEachTopicAndOutlivesTheDaemon) {
  test::Process bridge({PYTHON, test::in_source("test/system/ros2/stub.py"),
                        test::in_source("app/clients"), bench.socket(), "6"},
                       bench.file("bridge"));
  test::StreamReader stream(bench.socket());
  stream.read_until([&] { return stream.topic("/imu/imu").messages > 100; });
  daemon->signal(SIGTERM);
  daemon->wait();
  start_daemon();
  LONGS_EQUAL_TEXT(0, bridge.wait(test::Seconds(30)).value_or(-1), bridge.err().c_str());
  const test::Json told = test::Json::parse(bridge.out());
  for (const char* topic : {"/front/points", "/front/scan", "/imu/imu", "/tf_static"}) {
    CHECK_TEXT(told["published"][topic].number() > 0, topic);
  }
  CHECK(told["published"]["/imu/imu"].number() > 150);  // of both daemons
  STRCMP_EQUAL("PointCloud2", told["types"]["/front/points"].string().c_str());
  STRCMP_EQUAL("best effort", told["qualities"]["/imu/imu"][1].string().c_str());
  STRCMP_EQUAL("transient local", told["qualities"]["/tf_static"][2].string().c_str());
  std::string said;
  for (const test::Json& words : told["said"].list()) said += words.string() + "; ";
  for (const char* words : {"connected", "trying again", "no type diagnostic_msgs"}) {
    CHECK_TEXT(contains(said, words), said.c_str());
  }
}
