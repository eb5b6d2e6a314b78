// The live order in situations that break simpler rules, with the max_wait and the capacity that
// the configuration computes.
#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "collation/collator.h"
#include "config/load.h"
#include "config/plan.h"
#include "test/support/harness.h"
#include "test/support/recording_sink.h"

using namespace std::chrono_literals;
using collation::QueueStats;
using drivers::SensorId;
using hal::Duration;
using hal::Time;

namespace {

constexpr SensorId kImu = 0, kLidar = 1, kRear = 2;

// What is at a port: a datum, or the news that a part of a turn was measured up to `stamp`.
struct Arrival {
  Time at, stamp;
  bool is_datum = true;
};

// Ages at which data leave, by sensor.
struct AgeSink final : collation::CollatedSink {
  void add_sensor_data(SensorId id, const collation::TimedPointCloud& cloud) override {
    note(id, cloud.at);
  }
  void add_sensor_data(SensorId id, const collation::ImuData& imu) override { note(id, imu.at); }
  void add_sensor_data(SensorId id, const collation::OpaqueMessage& message) override {
    note(id, message.at);
  }
  void note(SensorId id, Time at) {
    ages[id].push_back(now - at);
    sorted &= at >= last;
    last = at;
  }
  Time now{}, last = Time::min();
  bool sorted = true;
  std::array<std::vector<Duration>, 3> ages;
};

// A loop over ports: in each pass all that has arrived is read, then data leave.
class World {
 public:
  // An IMU "body", lidars "front" and "rear"; more keys of the first two, as ", key: value".
  explicit World(int imu_rate_hz = 200, const std::string& imu = "",
                 const std::string& front = "") {
    auto loaded = config::load_text(
        "sensors:\n  body: {driver: microstrain_mip, port: 'serial:/dev/a', baud: 921600, "
        "options: {rate_hz: " +
            std::to_string(imu_rate_hz) + "}" + imu +
            "}\n  front: {driver: ldrobot, port: 'serial:/dev/b'" + front +
            "}\n  rear: {driver: ldrobot, port: 'serial:/dev/c'}\n",
        "test");
    if (const auto* const faults = std::get_if<std::vector<config::Fault>>(&loaded)) {
      FAIL(config::to_string(faults->front()).c_str());
    }
    stack_ = std::get<config::Stack>(std::move(loaded));
    plan_ = config::plan(stack_);
    std::vector<collation::CollatedSensor> sensors;
    for (std::size_t i = 0; i < stack_.sensors.size(); ++i) {
      sensors.push_back({static_cast<SensorId>(i),
                         stack_.sensors[i].name,
                         {.capacity = plan_.sensors[i].capacity,
                          .max_wait = plan_.sensors[i].max_wait,
                          .role = stack_.sensors[i].role,
                          .overflow = stack_.collation.overflow}});
    }
    CHECK_TRUE(bool(collator.add_trajectory(0, sensors)));
    for (const SensorId id : {kImu, kLidar, kRear}) {
      collator.on_state(id, drivers::State::streaming, kBegin);
    }
  }

  Duration max_wait(SensorId id) const { return plan_.sensors[id].max_wait; }

  // Samples at `period`, each arriving `delay` after it was taken.
  void add_samples(Duration length, Duration period, Duration delay, SensorId id = kImu) {
    for (Time at = kBegin + period; at < kBegin + length; at += period) {
      ports_[id].push_back({at + delay, at});
    }
  }
  // Turns of `turn`, told of every 2.5 ms; each cloud arrives `delay` after its last beam. Every
  // `lost`-th turn does not come; 0: all come.
  void add_turns(SensorId id, Duration length, Duration turn, Duration delay, int lost = 0) {
    int n = 0;
    for (Time begin = kBegin; begin + turn < kBegin + length; begin += turn) {
      if (lost > 0 && ++n % lost == 0) continue;
      for (Time part = begin + 2500us; part < begin + turn; part += 2500us) {
        ports_[id].push_back({part + 2500us, part, false});
      }
      ports_[id].push_back({begin + turn + delay, begin + turn});
    }
  }
  // Nothing of it arrives between the two; then all of it at once.
  void hold(SensorId id, Duration from, Duration to) {
    for (Arrival& a : ports_[id]) {
      if (a.at > kBegin + from && a.at < kBegin + to) a.at = kBegin + to;
    }
  }

  // One pass a millisecond, but none between `from` and `to`.
  void run(Duration length, Duration from = 0s, Duration to = 0s) {
    for (auto& port : ports_) {
      std::ranges::stable_sort(port, {}, &Arrival::at);
    }
    for (Time now = kBegin; now < kBegin + length; now += 1ms) {
      if (now > kBegin + from && now < kBegin + to) continue;
      sink.now = now;
      for (const SensorId id : read_first) read(id, now);
      for (const SensorId id : read_first) collator.read_empty(id, now);
      collator.release(now);
    }
    CHECK_TRUE(sink.sorted);
  }

  void check_none_lost(SensorId id) const {
    const QueueStats& s = collator.stats(id);
    CHECK_TRUE(s.in > 0);
    LONGS_EQUAL(s.in, s.out + s.held);
    LONGS_EQUAL(0, s.late);
    LONGS_EQUAL(0, s.forced);
  }
  Duration percentile(SensorId id, double part) {
    std::vector<Duration>& ages = sink.ages[id];
    std::ranges::sort(ages);
    return ages[static_cast<std::size_t>(part * static_cast<double>(ages.size() - 1))];
  }

  static constexpr Time kBegin{1000s};
  std::array<SensorId, 3> read_first{kImu, kLidar, kRear};
  AgeSink sink;
  collation::Collator collator{collation::Policy::live, sink};

 private:
  void read(SensorId id, Time now) {
    for (; read_[id] < ports_[id].size() && ports_[id][read_[id]].at <= now; ++read_[id]) {
      const Arrival& a = ports_[id][read_[id]];
      if (a.is_datum) {
        collator.add(test::datum(id, a.stamp), now);
      } else {
        collator.progress(id, a.stamp, now);
      }
    }
  }

  config::Stack stack_;
  config::Plan plan_;
  std::array<std::vector<Arrival>, 3> ports_;
  std::array<std::size_t, 3> read_{};
};

}  // namespace

TEST_GROUP(LiveScenarios){// No order of reading may matter.
                          template <class Play> void in_every_order_of_reading(Play && play){
                              std::array<SensorId, 3> order{kImu, kLidar, kRear};
do {
  play(order);
} while (std::next_permutation(order.begin(), order.end()));
}
}
;

TEST(LiveScenarios, AFastImuDoesNotWaitForTheCloudsOfASlowLidar) {
  World world;
  world.add_samples(10s, 5ms, 1ms);
  world.add_turns(kLidar, 10s, 100ms, 5ms);
  world.add_turns(kRear, 10s, 100ms, 5ms);
  world.run(10s);
  const Duration median = world.percentile(kImu, 0.5), worst = world.percentile(kImu, 1);
  std::printf("\nLiveScenarios: IMU age p50 %.1f ms, max %.1f ms ", hal::to_seconds(median) * 1e3,
              hal::to_seconds(worst) * 1e3);
  CHECK_TRUE(median <= 6ms);
  CHECK_TRUE(worst <= 20ms);
  for (const SensorId id : {kImu, kLidar, kRear}) world.check_none_lost(id);
}

TEST(LiveScenarios, ALidarThatLosesEveryTenthTurnIsNeverLate) {
  World world;
  world.add_samples(20s, 5ms, 1ms);
  world.add_turns(kLidar, 20s, 100ms, 5ms, 10);
  world.add_turns(kRear, 20s, 100ms, 5ms);
  world.run(20s);
  for (const SensorId id : {kImu, kLidar, kRear}) world.check_none_lost(id);
  CHECK_TRUE(world.percentile(kImu, 1) <= world.max_wait(kLidar) + 1ms);
}

TEST(LiveScenarios, ALidarThatTurnsAtHalfItsRateIsNeverLate) {
  World world;
  world.add_samples(20s, 5ms, 1ms);
  world.add_turns(kLidar, 20s, Duration(1s) * 10 / 45, 5ms);
  world.add_turns(kRear, 20s, 100ms, 5ms);
  world.run(20s);
  for (const SensorId id : {kImu, kLidar, kRear}) world.check_none_lost(id);
  CHECK_TRUE(world.percentile(kImu, 0.5) <= 6ms);
}

TEST(LiveScenarios, ASensorTwoSecondsInTheFutureCostsTheOthersNothing) {
  World world;
  world.add_samples(5s, 5ms, -2s);
  world.add_turns(kLidar, 5s, 100ms, 5ms);
  world.add_turns(kRear, 5s, 100ms, 5ms);
  world.run(5s);
  world.check_none_lost(kLidar);
  world.check_none_lost(kRear);
  const QueueStats& imu = world.collator.stats(kImu);
  LONGS_EQUAL(imu.in, imu.future);
  CHECK_TRUE(imu.astray == -2s);
  CHECK_TRUE(world.percentile(kLidar, 1) <= world.max_wait(kImu) + 1ms);
}

TEST(LiveScenarios, ALidarTwoSecondsInTheFutureCostsTheOthersNothing) {
  World world;
  world.add_samples(5s, 5ms, 1ms);
  world.add_turns(kLidar, 5s, 100ms, -2s);
  world.add_turns(kRear, 5s, 100ms, 5ms);
  world.run(5s);
  world.check_none_lost(kImu);
  world.check_none_lost(kRear);
  const QueueStats& lidar = world.collator.stats(kLidar);
  LONGS_EQUAL(lidar.in, lidar.future);
}

TEST(LiveScenarios, AFastImuHeldByASlowSensorLosesNothing) {
  World world(1000, "", ", max_wait_ms: 100");
  world.add_samples(5s, 1ms, 1ms);
  world.add_turns(kRear, 5s, 100ms, 5ms);
  world.run(5s);  // of the front lidar nothing comes, and it is waited for
  world.check_none_lost(kImu);
  world.check_none_lost(kRear);
  CHECK_TRUE(world.percentile(kImu, 0.5) >= 100ms);
  CHECK_TRUE(world.percentile(kImu, 1) <= 101ms);
}

// Its bytes stay in an adapter or a kernel for that long, and come at once.
TEST(LiveScenarios, AFastImuWhoseDataAreHeldBackAsLongAsItsMaxWaitLosesNothing) {
  World world(1000, ", max_wait_ms: 101");
  world.add_samples(5s, 1ms, 1ms);
  world.add_turns(kLidar, 5s, 100ms, 5ms);
  world.add_turns(kRear, 5s, 100ms, 5ms);
  for (Duration from = 200ms; from < 4s; from += 300ms) world.hold(kImu, from, from + 100ms);
  world.run(5s);
  for (const SensorId id : {kImu, kLidar, kRear}) world.check_none_lost(id);
}

TEST(LiveScenarios, AProcessThatIsHeldUpLosesNothingWhateverPortIsReadFirst) {
  in_every_order_of_reading([](const std::array<SensorId, 3>& order) {
    World world;
    world.read_first = order;
    world.add_samples(5s, 5ms, 1ms);
    world.add_turns(kLidar, 5s, 100ms, 5ms);
    world.add_turns(kRear, 5s, Duration(1s) / 6, 5ms);
    world.run(5s, 2s, 2800ms);
    for (const SensorId id : {kImu, kLidar, kRear}) world.check_none_lost(id);
  });
}

TEST(LiveScenarios, ASensorThatFallsSilentCostsItsMaxWaitAndNothingElse) {
  World world;
  world.add_samples(5s, 5ms, 1ms);
  world.add_turns(kLidar, 2s, 100ms, 5ms);
  world.add_turns(kRear, 5s, 100ms, 5ms);
  world.run(5s);
  for (const SensorId id : {kImu, kLidar, kRear}) world.check_none_lost(id);
  const Duration longest = std::max(world.max_wait(kImu), world.max_wait(kLidar));
  CHECK_TRUE(world.percentile(kImu, 1) <= longest + 1ms);
}
