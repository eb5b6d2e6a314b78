// The demonstration: four simulated sensors, the daemon, and what users do with its stream.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>

#include "hal/unix_socket.h"
#include "test/support/harness.h"
#include "test/support/places.h"
#include "test/system/bench.h"
#include "test/system/json.h"

using test::contains;
using test::Json;
using test::Ran;
using test::Seconds;

TEST_GROUP(SystemDemo) {
  test::DemoBench bench;

  void setup() override {
    bench.start_devices();
    bench.start_daemon();
  }

  // With a reader that is not ours. `mode`: --stream when the file may end anywhere.
  void check_with_node(const std::string& file, const std::string& mode = "") {
    const Ran ran = test::run({"/bin/sh", test::in_source("test/interop/read.sh"), LIDARD_NODE_DIR,
                               mode.empty() ? file : mode, file},
                              bench.file("node"), {}, Seconds(45));
    if (ran.status == 77) return test::note("%s", ran.out.c_str());
    LONGS_EQUAL_TEXT(0, ran.status, (ran.out + ran.err).c_str());
    for (const char* const topic :
         {"/rear/points", "/rear/scan", "/side/points", "/imu/imu", "/tf_static", "/diagnostics"}) {
      CHECK_TEXT(contains(ran.out, topic), (std::string(topic) + ran.out).c_str());
    }
  }
};

TEST(SystemDemo, MonitorVerifiesThatAllStreamInOrderAndTheBooksBalance) {
  std::vector<std::string> truths;
  for (const char* const sensor : test::DemoBench::kSensors) {
    truths.push_back("--truth");
    truths.push_back(sensor + ("=" + bench.truth(sensor)));
  }
  const std::string table = bench.verify(truths);
  std::printf("%s", table.c_str());
  CHECK(contains(table, "order: never went back; books: balance"));
  CHECK(!contains(table, "were lost on the way"));
}

TEST(SystemDemo, StatusTellsTheStateOfEverySensor) {
  const Ran ran = bench.lidarctl({"status", "--json", "--socket", bench.socket()});
  LONGS_EQUAL_TEXT(0, ran.status, ran.err.c_str());
  const Json status = Json::parse(ran.out);
  LONGS_EQUAL(5, status.object().size());
  STRCMP_EQUAL("4 of 4 sensors stream", status["lidard"]["message"].string().c_str());
  for (const char* const sensor : test::DemoBench::kSensors) {
    const Json& state = status[sensor];
    // A busy machine may let data be late, which is a warning.
    const std::string level = state["level"].string();
    CHECK_TEXT(level == "ok" || (level == "warn" && !test::is_strict()), sensor);
    STRCMP_EQUAL("streaming", state["values"]["state"].string().c_str());
    STRCMP_EQUAL("none", state["values"]["cause"].string().c_str());
  }
  STRCMP_EQUAL("ldrobot", status["rear"]["driver"].string().c_str());

  const Ran text = bench.lidarctl({"status", "--socket", bench.socket()});
  LONGS_EQUAL(0, text.status);
  CHECK_TEXT(contains(text.out, "4 of 4 sensors stream"), text.out.c_str());
}

TEST(SystemDemo, ARecordingIsAnMcapFileThatOtherReadersRead) {
  const std::string file = bench.file("out.mcap");
  const Ran ran = bench.lidarctl({"record", "--socket", bench.socket(), "--for", "3", file});
  LONGS_EQUAL_TEXT(0, ran.status, ran.err.c_str());
  check_with_node(file);
}

TEST(SystemDemo, ARecordingThatASignalEndsIsWhole) {
  const std::string file = bench.file("out.mcap");
  const auto record = bench.start_lidarctl("record", {"record", "--socket", bench.socket(), file});
  CHECK(test::wait_for([&] { return test::read_file(file).size() > 100'000; }));
  record->signal(SIGINT);
  LONGS_EQUAL(0, record->wait().value_or(-1));
  check_with_node(file);
}

TEST(SystemDemo, ARecordingOutlivesTheDaemonWhole) {
  const std::string file = bench.file("out.mcap");
  const auto record = bench.start_lidarctl("record", {"record", "--socket", bench.socket(), file});
  CHECK(test::wait_for([&] { return test::read_file(file).size() > 100'000; }));
  bench.daemon->signal(SIGTERM);
  LONGS_EQUAL(0, bench.daemon->wait().value_or(-1));
  LONGS_EQUAL_TEXT(0, record->wait().value_or(-1), record->err().c_str());
  check_with_node(file);
}

TEST(SystemDemo, PlainReadingOfTheSocketGivesAnMcapStream) {
  const std::string file = bench.file("plain.mcap");
  {
    auto fd = hal::connect_unix(bench.socket());
    CHECK(static_cast<bool>(fd));
    std::ofstream out(file, std::ios::binary);
    std::array<char, 4096> buffer;
    for (std::size_t size = 0; size < 300'000;) {
      const ssize_t n = ::read(fd->get(), buffer.data(), buffer.size());
      CHECK(n > 0);
      out.write(buffer.data(), n);
      size += static_cast<std::size_t>(n);
    }
  }
  check_with_node(file, "--stream");
}

TEST(SystemDemo, AClientThatClosesItsSendingHalfStillListens) {
  auto fd = hal::connect_unix(bench.socket());
  CHECK(static_cast<bool>(fd));
  CHECK(::shutdown(fd->get(), SHUT_WR) == 0);
  std::array<char, 4096> buffer;
  for (std::size_t size = 0; size < 300'000;) {
    const ssize_t n = ::read(fd->get(), buffer.data(), buffer.size());
    CHECK(n > 0);
    size += static_cast<std::size_t>(n);
  }
}
