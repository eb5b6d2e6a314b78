// The live order: what opens it, the gate, full queues; and its promises over random arrivals.
#include "collation/ordered_multi_queue.h"

#include <algorithm>
#include <cstdio>
#include <random>
#include <tuple>

#include "test/support/allocation_counter.h"
#include "test/support/harness.h"
#include "test/support/manual_clock.h"
#include "test/support/recording_sink.h"

using namespace std::chrono_literals;
using collation::OrderedMultiQueue;
using collation::Overflow;
using collation::Policy;
using collation::QueueOptions;
using collation::QueueStats;
using collation::Role;
using drivers::SensorId;
using hal::Duration;
using hal::Time;
using test::datum;

namespace {

constexpr SensorId kImu = 0, kLidar = 1;

std::uint64_t sum(const QueueStats& s) {
  return s.out + s.late + s.duplicate + s.backward + s.future + s.overflow + s.before_start +
         s.held;
}

}  // namespace

TEST_GROUP(LiveOrder) {
  test::ManualClock clock;
  test::RecordingSink sink;
  OrderedMultiQueue queue{Policy::live, sink};
  const Time zero = clock.now();

  void add_queue(SensorId sensor, const char* name, const QueueOptions& options,
                 bool waiting = true) {
    CHECK_TRUE(bool(queue.add_queue(0, name, sensor, options)));
    queue.set_waiting(sensor, waiting, clock.now());
  }
  void add_imu_and_lidar(Duration max_wait = 30ms) {
    add_queue(kImu, "imu", {.capacity = 16, .max_wait = max_wait});
    add_queue(kLidar, "lidar", {.capacity = 16, .max_wait = max_wait});
  }
  void add(SensorId sensor, Time at) { queue.add(datum(sensor, at), clock.now()); }
  void check(SensorId sensor, std::uint64_t QueueStats::*reason, std::uint64_t count) {
    LONGS_EQUAL(count, queue.stats(sensor).*reason);
    LONGS_EQUAL(queue.stats(sensor).in, sum(queue.stats(sensor)));
  }
  std::size_t left_after_release() {
    queue.release(clock.now());
    return sink.left.size();
  }
};

TEST(LiveOrder, WaitsForASensorThatMayStillDeliverSomethingEarlier) {
  add_imu_and_lidar();
  add(kImu, clock.advance(1ms));
  LONGS_EQUAL(0, left_after_release());
  LONGS_EQUAL(kLidar, queue.blocking()->sensor);
  LONGS_EQUAL(kImu, queue.blocking()->head_sensor);
}

TEST(LiveOrder, ADatumOfTheOtherSensorOpensTheOrder) {
  add_imu_and_lidar();
  add(kImu, zero + 1ms);
  clock.advance(2ms);
  add(kLidar, clock.now());
  LONGS_EQUAL(1, left_after_release());
  LONGS_EQUAL(kImu, sink.left[0].sensor);
}

TEST(LiveOrder, ADatumRaisesNextByOneNanosecond) {
  add_imu_and_lidar();
  clock.advance(5ms);
  add(kLidar, zero + 2ms);
  add(kImu, zero + 2ms);
  LONGS_EQUAL(2, left_after_release());
  add(kImu, zero + 2ms + 1ns);  // as the lidar may still deliver; the IMU's key is lower
  LONGS_EQUAL(3, left_after_release());
  add(kImu, zero + 2ms + 2ns);
  LONGS_EQUAL(3, left_after_release());
}

TEST(LiveOrder, ProgressOfAnOpenCloudOpensTheOrder) {
  add_imu_and_lidar();
  clock.advance(5ms);
  add(kImu, zero + 3ms);
  queue.progress(kLidar, zero + 3ms - 1ns, clock.now());
  LONGS_EQUAL(0, left_after_release());
  queue.progress(kLidar, zero + 3ms, clock.now());
  LONGS_EQUAL(1, left_after_release());
}

TEST(LiveOrder, OnATieTheHigherKeyWaitsForTheLower) {
  add_imu_and_lidar();
  clock.advance(5ms);
  add(kLidar, zero + 3ms);
  queue.progress(kImu, zero + 3ms, clock.now());
  LONGS_EQUAL(0, left_after_release());
  queue.progress(kImu, zero + 3ms + 1ns, clock.now());
  LONGS_EQUAL(1, left_after_release());
}

TEST(LiveOrder, ProgressIntoTheFutureIsIgnored) {
  add_imu_and_lidar();
  add(kImu, clock.advance(5ms));
  queue.progress(kLidar, clock.now() + 1s, clock.now());
  LONGS_EQUAL(0, left_after_release());
}

TEST(LiveOrder, TimeOpensTheOrderOnceThePortWasReadEmpty) {
  add_imu_and_lidar(30ms);
  add(kImu, clock.advance(1ms));
  clock.set(zero + 31ms);
  queue.read_empty(kLidar, clock.now());
  LONGS_EQUAL(1, left_after_release());  // a tie: the IMU's key is lower
  add(kImu, zero + 2ms);
  queue.read_empty(kLidar, zero + 32ms - 1ns);
  LONGS_EQUAL(1, left_after_release());
  clock.set(zero + 10s);
  LONGS_EQUAL(1, left_after_release());  // time alone does not: the port may hold data
  queue.read_empty(kLidar, clock.now());
  LONGS_EQUAL(2, left_after_release());
}

TEST(LiveOrder, ASensorThatIsNotThereIsNotWaitedFor) {
  add_imu_and_lidar();
  queue.set_waiting(kLidar, false, clock.now());
  add(kImu, clock.advance(1ms));
  LONGS_EQUAL(1, left_after_release());
}

TEST(LiveOrder, ASensorThatStartsAgainIsWaitedForFromThenOn) {
  add_imu_and_lidar();
  queue.set_waiting(kLidar, false, clock.now());
  add(kImu, clock.advance(1ms));
  queue.set_waiting(kLidar, true, clock.advance(1ms));
  LONGS_EQUAL(1, left_after_release());
  add(kImu, clock.advance(1ms));
  LONGS_EQUAL(1, left_after_release());
  queue.set_waiting(kLidar, true, clock.advance(1ms));  // no news
  LONGS_EQUAL(1, left_after_release());
}

TEST(LiveOrder, AFinishedSensorIsNotWaitedForAndItsDataLeave) {
  add_imu_and_lidar();
  clock.advance(5ms);
  add(kLidar, zero + 1ms);
  add(kImu, zero + 2ms);
  queue.mark_finished(kLidar);
  LONGS_EQUAL(2, left_after_release());
  add(kLidar, zero + 3ms);
  LONGS_EQUAL(1, queue.unknown_sensor());
}

TEST(LiveOrder, NothingLeavesBeforeTheRelease) {
  add_queue(kImu, "imu", {});
  add(kImu, clock.advance(1ms));
  LONGS_EQUAL(0, sink.left.size());
  LONGS_EQUAL(1, queue.stats(kImu).held);
  LONGS_EQUAL(1, left_after_release());
}

TEST(LiveOrder, HasNoCommonStart) {
  add_imu_and_lidar();
  clock.advance(5ms);
  for (const Duration at : {1ms, 2ms, 3ms}) add(kImu, zero + at);
  add(kLidar, zero + 4ms);
  LONGS_EQUAL(3, left_after_release());
}

TEST(LiveOrder, FlushLetsEverythingLeaveInOrder) {
  add_imu_and_lidar();
  clock.advance(5ms);
  add(kLidar, zero + 4ms);
  add(kImu, zero + 1ms);
  queue.flush();
  LONGS_EQUAL(2, sink.left.size());
  CHECK_TRUE(sink.is_sorted());
}

TEST(LiveOrder, CloudsReachTheirOwnOverloadAndGoBackToThePool) {
  auto pool = collation::make_cloud_pool(1, 4, false);
  add_queue(kLidar, "lidar", {});
  auto cloud = pool.take();
  cloud->at = clock.advance(1ms);
  queue.add(collation::make_datum(kLidar, std::move(cloud)), clock.now());
  LONGS_EQUAL(0, pool.available());
  LONGS_EQUAL(1, left_after_release());
  LONGS_EQUAL(1, sink.clouds);
  LONGS_EQUAL(1, pool.available());
}

TEST(LiveOrder, PassthroughLeavesAtOnceOutsideTheOrder) {
  add_imu_and_lidar();
  add_queue(7, "gps", {.capacity = 1, .role = Role::passthrough});
  clock.advance(5ms);
  add(kImu, zero + 3ms);
  add(7, zero + 4ms);
  LONGS_EQUAL(1, sink.left.size());
  add(kLidar, zero + 5ms);
  LONGS_EQUAL(2, left_after_release());
  add(7, zero + 5ms - 1us);
  add(7, zero + 4ms);
  LONGS_EQUAL(3, sink.left.size());
  LONGS_EQUAL(1, queue.stats(7).backward);
  LONGS_EQUAL(0, queue.stats(7).late);
}

TEST(LiveOrder, TellsSinceWhenNothingHasLeft) {
  add_imu_and_lidar();
  clock.advance(5ms);
  const Time blocked = clock.now();
  add(kImu, zero + 3ms);
  LONGS_EQUAL(0, left_after_release());
  clock.advance(7ms);
  LONGS_EQUAL(0, left_after_release());
  CHECK_TRUE(queue.blocking()->since == blocked);
  queue.progress(kLidar, zero + 4ms, clock.now());
  LONGS_EQUAL(1, left_after_release());
  CHECK_FALSE(queue.blocking().has_value());
  CHECK_TRUE(queue.stats(kImu).worst_age == 9ms);
}

TEST(LiveOrder, RefusesAQueueWithoutRoom) {
  CHECK_FALSE(bool(queue.add_queue(0, "imu", kImu, {.capacity = 0})));
}

TEST(LiveOrder, DropsTheFutureWithoutBelievingIt) {
  add_imu_and_lidar();
  clock.advance(5ms);
  add(kLidar, clock.now() + 1ms);
  check(kLidar, &QueueStats::future, 0);
  add(kLidar, clock.now() + 1ms + 1ns);
  add(kLidar, Time::max());
  check(kLidar, &QueueStats::future, 2);
  add(kImu, clock.advance(3ms));
  add(kLidar, clock.now());
  check(kLidar, &QueueStats::backward, 0);
  LONGS_EQUAL(3, left_after_release());
}

TEST(LiveOrder, DropsDuplicatesAndStepsBack) {
  add_imu_and_lidar();
  clock.advance(5ms);
  add(kImu, zero + 3ms);
  add(kImu, zero + 3ms);
  add(kImu, zero + 2ms);
  add(kImu, zero + 3ms);
  add(kImu, Time::min());
  check(kImu, &QueueStats::duplicate, 2);
  check(kImu, &QueueStats::backward, 2);
  LONGS_EQUAL(1, queue.held());
}

TEST(LiveOrder, DropsTheLateAndTellsWhatWouldHaveSufficed) {
  add_imu_and_lidar(30ms);
  clock.set(zero + 50ms);
  add(kImu, zero + 10ms);
  queue.read_empty(kLidar, clock.now());
  LONGS_EQUAL(1, left_after_release());
  add(kLidar, zero + 10ms);  // equal to what left last
  check(kLidar, &QueueStats::late, 0);
  LONGS_EQUAL(2, left_after_release());
}

TEST(LiveOrder, TellsTheMaxWaitThatWouldHaveSufficed) {
  add_imu_and_lidar(30ms);
  clock.set(zero + 50ms);
  add(kImu, zero + 10ms);
  queue.read_empty(kLidar, clock.now());
  LONGS_EQUAL(1, left_after_release());
  add(kLidar, zero + 7ms);
  add(kLidar, zero + 8ms);
  check(kLidar, &QueueStats::late, 2);
  CHECK_TRUE(queue.stats(kLidar).would_have_sufficed == 43ms);
  add(kLidar, zero + 8ms);
  add(kLidar, zero + 6ms);  // a step back is not lateness
  check(kLidar, &QueueStats::duplicate, 1);
  check(kLidar, &QueueStats::backward, 1);
  CHECK_TRUE(queue.stats(kLidar).would_have_sufficed == 43ms);
  add(kLidar, zero + 11ms);
  check(kLidar, &QueueStats::held, 1);
}

TEST(LiveOrder, AFullQueueReleasesTheOldestOfAllInOrder) {
  add_queue(kImu, "imu", {.capacity = 2});
  add_queue(kLidar, "lidar", {.capacity = 2});
  add_queue(9, "silent", {});
  clock.advance(9ms);
  add(kLidar, zero + 1ms);
  add(kImu, zero + 2ms);
  add(kLidar, zero + 3ms);
  add(kImu, zero + 4ms);
  LONGS_EQUAL(0, left_after_release());
  add(kImu, zero + 5ms);
  LONGS_EQUAL(2, sink.left.size());
  CHECK_TRUE(sink.is_sorted());
  LONGS_EQUAL(1, queue.stats(kImu).forced);
  LONGS_EQUAL(1, queue.stats(kLidar).forced);
  check(kImu, &QueueStats::overflow, 0);
  check(kImu, &QueueStats::held, 2);
}

TEST(LiveOrder, AFullQueueMayDropItsOldest) {
  add_queue(kImu, "imu", {.capacity = 2, .overflow = Overflow::drop_oldest});
  add_queue(9, "silent", {});
  clock.advance(9ms);
  for (const Duration at : {1ms, 2ms, 3ms}) add(kImu, zero + at);
  check(kImu, &QueueStats::overflow, 1);
  LONGS_EQUAL(0, sink.left.size());
  queue.flush();
  LONGS_EQUAL(2, sink.left.size());
  LONGS_EQUAL(hal::to_ns(zero + 2ms), sink.left[0].at);
}

TEST(LiveOrder, AFullQueueMayDropTheNewest) {
  add_queue(kImu, "imu", {.capacity = 2, .overflow = Overflow::drop_newest});
  add_queue(9, "silent", {});
  clock.advance(9ms);
  for (const Duration at : {1ms, 2ms, 3ms}) add(kImu, zero + at);
  check(kImu, &QueueStats::overflow, 1);
  queue.flush();
  LONGS_EQUAL(2, sink.left.size());
  LONGS_EQUAL(hal::to_ns(zero + 2ms), sink.left[1].at);
}

// 200 Hz and 10 Hz: samples wait for the lidar's slices, not for its clouds, and all samples
// measured before a cloud's stamp come before the cloud.
TEST(LiveOrder, AFastImuIsNotHeldBackByASlowLidar) {
  add_queue(kImu, "imu", {.capacity = 64, .max_wait = 12ms});
  add_queue(kLidar, "lidar", {.capacity = 8, .max_wait = 25ms});
  auto pool = collation::make_cloud_pool(2, 4, false);
  for (int tick = 1; tick <= 1000; ++tick) {  // of 1 ms
    clock.advance(1ms);
    if (tick % 5 == 0) add(kImu, clock.now() - 1ms);
    if (tick % 3 == 0) queue.progress(kLidar, clock.now() - 2ms, clock.now());
    if (tick % 100 == 2) {
      auto cloud = pool.take();
      cloud->at = clock.now() - 2ms;
      queue.add(collation::make_datum(kLidar, std::move(cloud)), clock.now());
    }
    queue.read_empty(kImu, clock.now());
    queue.read_empty(kLidar, clock.now());
    queue.release(clock.now());
  }
  LONGS_EQUAL(10, sink.clouds);
  CHECK_TRUE(sink.is_sorted());
  LONGS_EQUAL(0, queue.stats(kImu).late + queue.stats(kLidar).late);
  CHECK_TRUE(queue.stats(kImu).worst_age <= 5ms);
  CHECK_TRUE(queue.stats(kLidar).worst_age <= 12ms);
}

TEST(LiveOrder, ADeadSensorCostsItsMaxWaitAndNothingElse) {
  add_queue(kImu, "imu", {.capacity = 64, .max_wait = 12ms});
  add_queue(kLidar, "lidar", {.capacity = 8, .max_wait = 25ms});  // silent for ever
  for (int tick = 1; tick <= 1000; ++tick) {
    clock.advance(1ms);
    if (tick % 5 == 0) add(kImu, clock.now());
    queue.read_empty(kImu, clock.now());
    queue.read_empty(kLidar, clock.now());
    queue.release(clock.now());
  }
  LONGS_EQUAL(195, queue.stats(kImu).out);
  CHECK_TRUE(queue.stats(kImu).worst_age == 25ms);  // a tie: the IMU's key is lower
  LONGS_EQUAL(0, queue.stats(kImu).forced);
}

namespace {

struct Arrival {
  Time at, arrival;
};

// A sensor with random intervals, delays up to `most_delay` and pauses.
std::vector<Arrival> make_arrivals(std::mt19937& random, Time from, Duration length,
                                   Duration most_delay) {
  const auto within = [&](Duration d) {
    return Duration(std::uniform_int_distribution<std::int64_t>(1, d.count())(random));
  };
  const Duration period = 500us + within(40ms);
  std::vector<Arrival> all;
  Time last_arrival = from;
  for (Time at = from + within(period); at < from + length; at += within(period)) {
    if (within(200ns) == 1ns) at += within(300ms);
    at = Time(at.time_since_epoch() / 250'000 * 250'000);  // so that ties happen
    if (!all.empty() && at <= all.back().at) at = all.back().at + 250us;
    last_arrival = std::max(last_arrival, at + within(most_delay));
    all.push_back({at, std::min(last_arrival, at + most_delay)});
    last_arrival = all.back().arrival;
  }
  return all;
}

}  // namespace

TEST(LiveOrder, KeepsItsPromisesOverRandomArrivals) {
  const unsigned seed = std::random_device{}();
  std::printf("\nLiveOrder promises seed %u ", seed);
  std::mt19937 random(seed);
  const auto pick = [&](int n) { return std::uniform_int_distribution<>(0, n - 1)(random); };
  for (int round = 0; round < 40; ++round) {
    test::RecordingSink out;
    OrderedMultiQueue live{Policy::live, out};
    const int sensors = 1 + pick(8);
    Duration largest{};
    std::vector<std::vector<Arrival>> arrivals;
    std::vector<test::Left> all;
    for (int s = 0; s < sensors; ++s) {
      const auto id = static_cast<SensorId>(s);
      const Duration wait = 1ms + 1ms * pick(40);
      largest = std::max(largest, wait);
      const std::string name(1, static_cast<char>('a' + s));
      CHECK_TRUE(bool(live.add_queue(0, name, id, {.capacity = 512, .max_wait = wait})));
      live.set_waiting(id, true, zero);
      arrivals.push_back(make_arrivals(random, zero, 2s, wait));
      for (const Arrival& a : arrivals.back()) all.push_back({id, hal::to_ns(a.at)});
    }
    std::vector<std::size_t> read(arrivals.size());
    test::AllocationCounter allocations;
    for (Time pass = zero; pass < zero + 2500ms; pass += 50us * (1 + pick(100))) {
      for (std::size_t s = 0; s < arrivals.size(); ++s) {
        const auto id = static_cast<SensorId>(s);
        for (; read[s] < arrivals[s].size() && arrivals[s][read[s]].arrival <= pass; ++read[s]) {
          live.add(datum(id, arrivals[s][read[s]].at), arrivals[s][read[s]].arrival);
        }
        live.read_empty(id, pass);
      }
      const std::size_t before = out.left.size();
      live.release(pass);
      for (std::size_t i = before; i < out.left.size(); ++i) {
        CHECK_TRUE(hal::from_ns(out.left[i].at) <= pass);
      }
      if (live.blocking()) CHECK_TRUE(live.blocking()->head + largest >= pass);
    }
    LONGS_EQUAL(0, allocations.count());
    live.flush();
    std::sort(all.begin(), all.end(), [](const test::Left& a, const test::Left& b) {
      return std::tie(a.at, a.sensor) < std::tie(b.at, b.sensor);
    });
    LONGS_EQUAL(all.size(), out.left.size());
    CHECK_TRUE(all == out.left);
  }
}

// Anything at all in: late, duplicate, backward, from the future, states changing, small queues.
TEST(LiveOrder, BalancesItsBooksOverAnyInput) {
  const unsigned seed = std::random_device{}();
  std::printf("\nLiveOrder books seed %u ", seed);
  std::mt19937 random(seed);
  const auto pick = [&](int n) { return std::uniform_int_distribution<>(0, n - 1)(random); };
  for (int round = 0; round < 60; ++round) {
    test::RecordingSink out;
    OrderedMultiQueue live{round % 4 == 0 ? Policy::strict : Policy::live, out};
    std::array<std::uint64_t, 5> offered{};
    for (SensorId s = 0; s < 5; ++s) {
      const std::string name(1, static_cast<char>('z' - s));
      const QueueOptions options{.capacity = static_cast<std::size_t>(1 + pick(6)),
                                 .max_wait = 1ms * pick(20),
                                 .role = static_cast<Role>(pick(2)),
                                 .overflow = static_cast<Overflow>(pick(3))};
      CHECK_TRUE(bool(live.add_queue(pick(2), name, s, options)));
    }
    Time now = zero;
    test::AllocationCounter allocations;
    for (int step = 0; step < 3000; ++step) {
      const auto s = static_cast<SensorId>(pick(5));
      now += 100us * pick(20);
      switch (pick(8)) {
        case 0:
          live.set_waiting(s, pick(2) == 0, now);
          break;
        case 1:
          live.progress(s, now - 1ms * (pick(20) - 3), now);
          break;
        case 2:
          live.read_empty(s, now);
          break;
        case 3:
          live.release(now);
          break;
        default:
          ++offered[s];
          live.add(datum(s, now - 1ms * (pick(30) - 3)), now);
      }
    }
    LONGS_EQUAL(0, allocations.count());
    for (SensorId s = 0; s < 5; ++s) {
      LONGS_EQUAL(offered[s], live.stats(s).in);
      LONGS_EQUAL(live.stats(s).in, sum(live.stats(s)));
    }
    live.flush();
    LONGS_EQUAL(0, live.held());
    CHECK_TRUE(out.is_sorted());
    std::uint64_t total = 0;
    for (SensorId s = 0; s < 5; ++s) {
      LONGS_EQUAL(live.stats(s).in, sum(live.stats(s)));
      total += live.stats(s).out;
    }
    LONGS_EQUAL(total, out.left.size());
  }
}

TEST(LiveOrder, AFinishedQueueTakesNothingMore) {
  add_queue(kImu, "imu", {.capacity = 1, .max_wait = 30ms});
  add_queue(kLidar, "lidar", {.capacity = 1, .max_wait = 30ms});
  add(kImu, clock.now());
  queue.mark_finished(kImu);
  clock.advance(1ms);
  add(kImu, clock.now());
  LONGS_EQUAL(1, queue.unknown_sensor());
  check(kImu, &QueueStats::in, 1);
  CHECK_FALSE(queue.is_done(kImu));
  queue.flush();
  CHECK_TRUE(queue.is_done(kImu));
  LONGS_EQUAL(0, queue.held());
}

TEST(LiveOrder, TheSufficientWaitIsThatOfTheNewestSpellOfLateData) {
  add_imu_and_lidar();
  const auto lidar_is_late_by = [&](Duration wait) {
    add(kImu, clock.now());
    clock.advance(31ms);
    queue.read_empty(kLidar, clock.now());
    queue.read_empty(kImu, clock.now());
    queue.release(clock.now());
    add(kLidar, clock.now() - wait);
  };
  lidar_is_late_by(2s);
  clock.advance(3s);
  lidar_is_late_by(40ms);
  check(kLidar, &QueueStats::late, 2);
  CHECK_TRUE(queue.stats(kLidar).would_have_sufficed == 2s);
  clock.advance(collation::kLateSpell + 1s);
  lidar_is_late_by(40ms);
  CHECK_TRUE(queue.stats(kLidar).would_have_sufficed == 40ms);
}
