// Clients that are slow, many, or gone; and the daemon's memory.
#include <csignal>
#include <cstdlib>
#include <memory>

#include "test/support/harness.h"
#include "test/system/bench.h"

using test::Seconds;
using test::StreamReader;

TEST_GROUP(SystemClients) {
  test::DemoBench bench;

  void setup() override {
    bench.start_devices();
    bench.start_daemon();
  }
};

TEST(SystemClients, ASlowOneIsToldWhatItLostAndTheOtherGetsAll) {
  const long before = bench.daemon->memory_kib("VmRSS");
  StreamReader slow(bench.socket()), quick(bench.socket());
  slow.read_until([&] { return slow.topic("/rear/points").messages > 0; });
  quick.read_for(Seconds(8));
  LONGS_EQUAL(0, quick.backward());
  for (const auto& [name, topic] : quick.topics()) {
    if (name != "/lidard/events") LONGS_EQUAL_TEXT(0, topic.missing, name.c_str());
  }
  CHECK(quick.event("lidard", "drops") == nullptr);
  const long after = bench.daemon->memory_kib("VmRSS");
  test::note("VmRSS %ld KiB, then %ld KiB", before, after);
  CHECK_TEXT(after - before <= 2048, "memory grows with a slow client");

  // It reads on: every message that it has not got is counted in the notices.
  const auto told = [&] {
    std::uint64_t sum = 0;
    for (const test::Event& e : slow.events()) {
      if (e.event == "drops") sum += std::strtoull(e.values.at("dropped").c_str(), nullptr, 10);
    }
    return sum;
  };
  CHECK(slow.read_until([&] { return told() > 0; }));
  slow.read_for(Seconds(1));
  std::uint64_t missing = 0;
  for (const auto& [name, topic] : slow.topics()) missing += topic.missing;
  test::note("lost %llu, told %llu", static_cast<unsigned long long>(missing),
             static_cast<unsigned long long>(told()));
  LONGS_EQUAL(missing, told());
  LONGS_EQUAL(0, slow.backward());
}

TEST(SystemClients, AStoppedMonitorSlowsNobody) {
  const auto monitor = bench.start_lidarctl("monitor", {"monitor", "--socket", bench.socket()});
  CHECK(test::wait_for([&] { return test::contains(monitor->out(), "points over"); }));
  monitor->signal(SIGSTOP);
  StreamReader quick(bench.socket());
  quick.read_for(Seconds(3));
  for (const auto& [name, topic] : quick.topics()) {
    if (name != "/lidard/events") LONGS_EQUAL_TEXT(0, topic.missing, name.c_str());
  }
  monitor->signal(SIGCONT);
  monitor->signal(SIGINT);
  LONGS_EQUAL(0, monitor->wait().value_or(-1));
  CHECK(test::contains(monitor->out(), "dropped by reason"));
}

TEST(SystemClients, OneTooManyIsTurnedAwayAndPlacesAreFreedAgain) {
  for (int round = 0; round < 20; ++round) {
    std::vector<std::unique_ptr<StreamReader>> clients;
    for (int i = 0; i < 4; ++i) clients.push_back(std::make_unique<StreamReader>(bench.socket()));
    CHECK_TEXT(clients[3]->read_until([&] { return bench.all_stream(*clients[3]); }),
               "no place is left");
  }
}

TEST(SystemClients, ARecordingThatIsTurnedAwaySaysSoAndSparesTheFileThatIsThere) {
  std::vector<std::unique_ptr<StreamReader>> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(std::make_unique<StreamReader>(bench.socket()));
  CHECK(clients[3]->read_until([&] { return bench.all_stream(*clients[3]); }));
  const std::string file = bench.file("kept.mcap");
  test::write_file(file, "kept");
  const test::Ran ran = bench.lidarctl({"record", "--socket", bench.socket(), "--for", "2", file});
  LONGS_EQUAL(1, ran.status);
  CHECK_TEXT(test::contains(ran.err, "stream.clients"), ran.err.c_str());
  STRCMP_EQUAL("kept", test::read_file(file).c_str());
}

TEST(SystemClients, EverybodyWhoComesLaterKnowsTheLatchedMessages) {
  StreamReader stream(bench.socket());
  CHECK(stream.read_until([&] { return stream.topic("/imu/imu").messages > 0; }));
  LONGS_EQUAL(1, stream.topic("/tf_static").messages);
  LONGS_EQUAL(1, stream.topic("/lidard/configuration").messages);
  CHECK(stream.topic("/diagnostics").messages >= 1);
}

TEST_GROUP(SystemMemory) { test::DemoBench bench; };

TEST(SystemMemory, IsSmallAndFlat) {
  bench.start_devices();
  bench.start_daemon();
  StreamReader stream(bench.socket());
  stream.read_for(Seconds(2));
  const long begin = bench.daemon->memory_kib("VmRSS");
  const double cpu = bench.daemon->cpu_seconds();
  stream.read_for(Seconds(20));
  const long end = bench.daemon->memory_kib("VmRSS");
  CHECK_TRUE(begin > 0 && end > 0);  // it lived to the end
  test::figure("CPU", (bench.daemon->cpu_seconds() - cpu) / 20 * 100, 20, "%");
  test::figure("VmRSS", static_cast<double>(end) / 1024, 10, "MiB");
  test::note("RssAnon %ld KiB, VmHWM %ld KiB", bench.daemon->memory_kib("RssAnon"),
             bench.daemon->memory_kib("VmHWM"));
  test::figure("VmRSS grew by", static_cast<double>(end - begin), 64, "KiB");
}
