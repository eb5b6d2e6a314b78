// Devices that die, are unplugged or freeze, and come back.
#include <algorithm>
#include <csignal>

#include "test/support/harness.h"
#include "test/system/bench.h"

using test::Seconds;
using test::StreamReader;
using Steady = std::chrono::steady_clock;

TEST_GROUP(SystemComeback) {
  test::DemoBench bench;

  // Reads until `sensor` is in `state`.
  void await(StreamReader & stream, const std::string& sensor, const std::string& event) {
    const auto seen = stream.events().size();
    const bool came = stream.read_until([&] {
      for (std::size_t i = seen; i < stream.events().size(); ++i) {
        const test::Event& e = stream.events()[i];
        if (e.sensor == sensor && e.event == event) return true;
      }
      return false;
    });
    if (!came) FAIL((sensor + ": no event " + event + "\n" + bench.daemon->err()).c_str());
  }

  // The others delivered everything in order; what they lost to a busy machine is a figure.
  void check_others(StreamReader & stream, const std::string& but) {
    LONGS_EQUAL(0, stream.backward());
    for (const auto& [name, topic] : stream.topics()) {
      if (name == "/lidard/events") continue;
      LONGS_EQUAL_TEXT(0, topic.missing, name.c_str());
    }
    for (const char* const sensor : test::DemoBench::kSensors) {
      if (sensor == but) continue;
      for (const char* const key : {"queue.late", "queue.overflow"}) {
        const double lost = static_cast<double>(stream.count(sensor, key));
        test::figure((std::string(sensor) + " " + key).c_str(), lost, 0, "");
      }
      const auto stalls = std::ranges::count_if(stream.events(), [&](const test::Event& e) {
        return e.sensor == sensor && e.event == "stall";
      });
      test::figure((std::string(sensor) + " stalls").c_str(), static_cast<double>(stalls), 0, "");
    }
    bench.verify();
  }
};

TEST(SystemComeback, AKilledDeviceIsBackAndTheOthersLoseNothing) {
  bench.start_devices();
  bench.start_daemon();
  StreamReader stream(bench.socket());
  stream.read_for(Seconds(1));

  const auto killed = Steady::now();
  bench.rear.reset();
  await(stream, "rear", "stall");
  test::figure("hang-up told after", Seconds(Steady::now() - killed).count(), 0.2, "s");
  const auto* const stall = stream.event("rear", "stall");
  test::note("it says: %s", stall->message.c_str());
  stream.read_for(Seconds(1));

  bench.rear = bench.simulate_pty("rear", "ldrobot");
  const auto back = Steady::now();
  await(stream, "rear", "recover");
  test::figure("back after", Seconds(Steady::now() - back).count(), 1, "s");
  stream.read_for(Seconds(2));
  check_others(stream, "rear");
}

TEST(SystemComeback, AKilledRplidarIsStartedAnew) {
  bench.start_devices();
  bench.start_daemon();
  StreamReader stream(bench.socket());
  stream.read_for(Seconds(1));
  bench.front.reset();
  await(stream, "front", "stall");
  bench.front = bench.simulate_pty("front", "rplidar", {"--set", "model=A1"});
  const auto back = Steady::now();
  await(stream, "front", "recover");
  test::figure("back after", Seconds(Steady::now() - back).count(), 1, "s");
  stream.read_for(Seconds(2));
  check_others(stream, "front");
}

TEST(SystemComeback, AKilledNetworkDeviceIsStartedAnew) {
  bench.start_devices();
  bench.start_daemon();
  StreamReader stream(bench.socket());
  stream.read_for(Seconds(1));
  bench.side.reset();
  await(stream, "side", "stall");
  test::note("it says: %s", stream.event("side", "stall")->message.c_str());
  bench.start_side();
  const auto back = Steady::now();
  await(stream, "side", "recover");
  // Up to 0.5 s until it is asked again: "back within 1 s" counts from its first answer.
  test::figure("back after", Seconds(Steady::now() - back).count(), 1.5, "s");
  stream.read_for(Seconds(2));
  check_others(stream, "side");
}

TEST(SystemComeback, AnUnpluggedPortIsAwaitedAndFoundAgain) {
  bench.start_devices();
  bench.imu.reset();
  bench.imu = bench.simulate_pty("imu", "microstrain_mip", {"--fault", "unplug@4+1"});
  bench.start_daemon();
  StreamReader stream(bench.socket());
  await(stream, "imu", "stall");
  const auto out = Steady::now();
  await(stream, "imu", "recover");
  test::figure("back after a second without a port", Seconds(Steady::now() - out).count(), 2, "s");
  stream.read_for(Seconds(2));
  check_others(stream, "imu");
}

TEST(SystemComeback, AFrozenDeviceIsToldSilentAndStreamsWhenItGoesOn) {
  bench.start_devices();
  bench.start_daemon();
  StreamReader stream(bench.socket());
  stream.read_for(Seconds(1));
  bench.rear->signal(SIGSTOP);
  const auto stopped = Steady::now();
  await(stream, "rear", "stall");
  test::figure("silence told after", Seconds(Steady::now() - stopped).count(), 0.5, "s");
  test::note("it says: %s", stream.event("rear", "stall")->message.c_str());
  // Nobody waits for what is silent.
  const auto before = stream.topic("/front/points").messages;
  CHECK(stream.read_until([&] { return stream.topic("/front/points").messages > before + 5; }));
  bench.rear->signal(SIGCONT);
  const auto back = Steady::now();
  await(stream, "rear", "recover");
  test::figure("back after", Seconds(Steady::now() - back).count(), 1, "s");
  stream.read_for(Seconds(2));
  check_others(stream, "rear");
}

TEST(SystemComeback, ADaemonThatWasStoppedFiveSecondsIsInOrderAgain) {
  bench.start_devices();
  bench.start_daemon();
  StreamReader stream(bench.socket());
  stream.read_for(Seconds(1));
  bench.daemon->signal(SIGSTOP);
  stream.read_for(Seconds(5));
  bench.daemon->signal(SIGCONT);
  const auto on = Steady::now();
  CHECK(stream.read_until([&] {
    for (const char* const topic : {"/front/points", "/rear/points", "/side/points", "/imu/imu"}) {
      if (stream.topic(topic).at < on) return false;
    }
    return true;
  }));
  // A clock that is only counted needs a second to see that time was lost.
  test::figure("all stream again after", Seconds(Steady::now() - on).count(), 2.5, "s");
  stream.read_for(Seconds(2));
  LONGS_EQUAL(0, stream.backward());
  CHECK(stream.event("lidard", "stalled") != nullptr);
  CHECK(bench.daemon->is_running());
  bench.verify();
}
