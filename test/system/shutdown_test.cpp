// The end: soon, clean and with motors off, whatever the devices do.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <random>
#include <thread>

#include "test/support/harness.h"
#include "test/support/hex.h"
#include "test/system/bench.h"
#include "test/system/pty_line.h"

using test::Seconds;
using test::StreamReader;
using Steady = std::chrono::steady_clock;

namespace {

constexpr double kLimit = 0.5;  // s from SIGTERM to the end

bool has(const std::vector<std::byte>& bytes, const char* hex) {
  return !std::ranges::search(bytes, test::hex(hex)).empty();
}

}  // namespace

TEST_GROUP(SystemShutdown){
    // Seconds from the signal to the end with exit status 0. `pump` is called meanwhile.
    static double end(
        test::Process & daemon, int signal,
        const std::function<void()>& pump = [] {}){const auto sent = Steady::now();
daemon.signal(signal);
CHECK_TEXT(test::wait_for([&] { return pump(), !daemon.is_running(); }),
           "it does not end within 10 s");
const double took = Seconds(Steady::now() - sent).count();
LONGS_EQUAL_TEXT(0, daemon.wait(Seconds(0)).value_or(-1), daemon.err().c_str());
return took;
}
}
;

TEST(SystemShutdown, AtAnyMomentItEndsWellAndSoon) {
  const auto seed = static_cast<unsigned>(std::time(nullptr));
  test::note("seed %u", seed);
  std::mt19937 random(seed);
  test::DemoBench bench;
  bench.start_devices();
  double worst = 0;
  for (int i = 0; i < 10; ++i) {
    const auto daemon = bench.lidard(bench.config);
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % (i < 5 ? 200 : 1500)));
    worst = std::max(worst, end(*daemon, i % 2 == 0 ? SIGTERM : SIGINT));
    CHECK_TEXT(test::contains(daemon->err(), "stopped"), daemon->err().c_str());
    CHECK_TEXT(::access(bench.socket().c_str(), F_OK) != 0, "the socket is left behind");
  }
  test::figure("slowest end", worst, kLimit, "s");
}

TEST(SystemShutdown, TheRplidarHearsStopAndMotorOff) {
  test::Bench bench;
  const auto device = bench.simulate_pty("device", "rplidar", {"--set", "model=S1"});
  test::PtyLine line(bench.file("front"));
  line.connect(bench.file("device"));
  const auto daemon = bench.lidard(bench.configure(bench.serial("front", "rplidar")));
  StreamReader stream(bench.socket());
  CHECK_TEXT(
      stream.read_until([&] { return line.pump(), stream.topic("/front/points").messages > 0; }),
      daemon->err().c_str());
  line.forget();
  const double took = end(*daemon, SIGTERM, [&] { line.pump(); });
  line.pump();
  const auto stop = std::ranges::search(line.from_host(), test::hex("A5 25"));
  CHECK_TEXT(!stop.empty(), "STOP");
  const std::vector<std::byte> after(stop.end(), line.from_host().end());
  CHECK_TEXT(has(after, "A5 A8 02 00 00 0F"), "speed 0 after STOP");
  test::figure("end", took, kLimit, "s");
  CHECK(!stream.read_until([] { return false; }, Seconds(2)));
  CHECK(stream.ended_between_records());
}

TEST(SystemShutdown, AnUnidentifiedRplidarHearsStopAndMotorOffForEveryKindOfMotor) {
  test::Bench bench;
  test::PtyLine line(bench.file("front"));
  const auto daemon = bench.lidard(bench.configure(bench.serial("front", "rplidar")));
  CHECK(test::wait_for([&] {
    line.pump();
    return has(line.from_host(), "A5 50");  // asked who it is, and waits for the answer
  }));
  line.forget();
  test::figure("end", end(*daemon, SIGTERM, [&] { line.pump(); }), kLimit, "s");
  line.pump();
  CHECK_TEXT(has(line.from_host(), "A5 25"), "STOP");
  CHECK_TEXT(has(line.from_host(), "A5 F0 02 00 00 57"), "PWM 0");
  CHECK_TEXT(has(line.from_host(), "A5 A8 02 00 00 0F"), "speed 0");
}

TEST(SystemShutdown, DevicesThatDoNotAnswerDoNotHoldItUp) {
  test::Bench bench;
  test::PtyLine front(bench.file("front")), rear(bench.file("rear")), imu(bench.file("imu"));
  double worst = 0;
  for (const double after : {0.05, 0.3, 1.1, 2.4}) {
    const auto daemon = bench.lidard(bench.configure(
        bench.serial("front", "rplidar") + bench.serial("rear", "ldrobot") +
        bench.serial("imu", "microstrain_mip") +
        "  side: {driver: rplidar, port: 'udp:127.0.0.1:0', from: '127.0.0.1:9'}\n"));
    std::this_thread::sleep_for(Seconds(after));
    worst = std::max(worst, end(*daemon, SIGTERM));
  }
  test::figure("slowest end", worst, kLimit, "s");
}

TEST(SystemShutdown, FrozenDevicesDoNotHoldItUp) {
  test::DemoBench bench;
  bench.start_devices();
  bench.start_daemon();
  for (const auto* device : {&bench.front, &bench.rear, &bench.side, &bench.imu}) {
    (*device)->signal(SIGSTOP);
  }
  test::figure("end", end(*bench.daemon, SIGTERM), kLimit, "s");
}

TEST(SystemShutdown, AClientThatNeverReadsDoesNotHoldItUp) {
  test::DemoBench bench;
  bench.start_devices();
  bench.start_daemon();
  StreamReader slow(bench.socket()), stream(bench.socket());
  stream.read_for(Seconds(3));
  test::figure("end", end(*bench.daemon, SIGTERM, [&] { stream.read_for(Seconds(0.01)); }), kLimit,
               "s");
  stream.read_for(Seconds(1));
  CHECK(stream.ended_between_records());
  LONGS_EQUAL(0, stream.backward());
}

TEST(SystemShutdown, ACaptureDoesNotHoldItUpAndIsWhole) {
  const test::TempDir place;
  const std::string capture = place.file("raw.mcap");
  test::DemoBench bench("capture: " + capture + "\n");
  bench.start_devices();
  bench.start_daemon();
  test::figure("end", end(*bench.daemon, SIGTERM), kLimit, "s");
  const test::Ran ran = bench.lidarctl({"replay", capture});
  LONGS_EQUAL_TEXT(0, ran.status, ran.err.c_str());
}
