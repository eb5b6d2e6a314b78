// A lidar over TCP: its simulator, the daemon, and what arrives at a client.
#include <csignal>

#include "test/support/harness.h"
#include "test/system/bench.h"

using test::Seconds;
using test::StreamReader;

TEST_GROUP(SystemTcp) {
  test::Bench bench;

  std::unique_ptr<test::Process> device(const std::string& address) {
    return bench.simulate("front", {"hokuyo_scip", "--tcp", address, "--set", "model=UTM-30LX-EW",
                                    "--truth", bench.truth("front")});
  }
};

TEST(SystemTcp, AHokuyoStreamsComesBackAndIsStopped) {
  auto lidar = device("127.0.0.1:0");
  const std::string out = lidar->out();
  const std::size_t at = out.find("127.0.0.1:", out.find("\"tcp\":"));
  CHECK_TEXT(at != out.npos, out.c_str());
  const std::string address = out.substr(at, out.find('"', at) - at);
  const auto daemon = bench.lidard(bench.configure(
      "  front: {driver: hokuyo_scip, port: 'tcp:" + address + "', options: {mode: NE}}\n"));
  StreamReader stream(bench.socket());
  CHECK_TEXT(stream.read_until([&] { return stream.topic("/front/points").messages > 20; }),
             daemon->err().c_str());

  lidar.reset();
  CHECK(stream.read_until([&] { return stream.event("front", "stall") != nullptr; }));
  const auto before = stream.topic("/front/points").messages;
  lidar = device(address);
  CHECK_TEXT(
      stream.read_until([&] { return stream.topic("/front/points").messages > before + 20; }),
      daemon->err().c_str());
  LONGS_EQUAL(0, stream.backward());
  daemon->signal(SIGTERM);
  LONGS_EQUAL(0, daemon->wait().value_or(-1));

  // It was told to be quiet: what it measures does not grow any more.
  const std::string measured = test::read_file(bench.truth("front"));
  stream.read_for(Seconds(0.3));
  STRCMP_EQUAL(measured.c_str(), test::read_file(bench.truth("front")).c_str());
}
