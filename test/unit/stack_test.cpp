// The four simulated sensors of the demo through the whole stack, compared with the truth.
#include <map>
#include <numbers>

#include "app/lidarctl/books.h"
#include "test/support/stack_truth.h"

using namespace std::chrono_literals;
using test::Match;
using test::MessageLog;
using test::StackBench;

namespace {

constexpr std::size_t kFront = 0, kRear = 1, kSide = 2, kImu = 3;

std::map<std::string, lidarctl::Diagnosis> newest_state(const MessageLog& log) {
  return lidarctl::diagnoses(log.bytes_of(log.on("/diagnostics").back()));
}

// The first fault of a sensor's books as the stream tells them; empty when they balance.
std::string imbalance(const MessageLog& log, const std::string& sensor) {
  const auto state = newest_state(log);
  if (!state.contains(sensor)) return "no account of it";
  const auto found = lidarctl::imbalances(state.at(sensor));
  return found.empty() ? "" : found[0];
}

bool is_measurement(const std::string& topic) {
  return topic.ends_with("/points") || topic.ends_with("/scan") || topic.ends_with("/imu");
}

}  // namespace

TEST_GROUP(Stack) {
  MessageLog log{std::size_t{48} << 20};

  void check_order() {
    std::int64_t newest = 0;
    for (const MessageLog::Message& m : log.messages()) {
      if (m.log_time < newest) FAIL(("out of order: " + log.topic_of(m)).c_str());
      newest = m.log_time;
    }
  }
  // Nothing is still there after the first pass begun after its stamp and the largest max_wait.
  void check_latency(const StackBench& bench) {
    hal::Duration wait{};
    for (const config::SensorPlan& p : bench.plan.sensors) wait = std::max(wait, p.max_wait);
    for (const MessageLog::Message& m : log.messages()) {
      if (!is_measurement(log.topic_of(m))) continue;
      const hal::Time due = hal::from_ns(m.log_time - bench.offset) + wait;
      const auto bound = std::ranges::upper_bound(bench.passes, due);
      const hal::Time left = hal::from_ns(m.publish_time - bench.offset);
      if (bound != bench.passes.end() && left > *bound) {
        FAIL((log.topic_of(m) + " left late by " + std::to_string((left - *bound).count()) + " ns")
                 .c_str());
      }
    }
  }
  void check_books(StackBench & bench) {
    for (const config::Sensor& sensor : bench.stack.sensors) {
      STRCMP_EQUAL("", imbalance(log, sensor.name).c_str());
    }
  }
  // All of a sensor's measurements, to the end of the run.
  Match check_whole(const StackBench& bench, std::size_t i) {
    const Match match = test::match_sensor(bench, log, i);
    STRCMP_EQUAL("", match.fault.c_str());
    CHECK_TRUE(match.last > bench.clock.now() - 400ms);
    const collation::QueueStats queue = bench.account(i).queue;
    CHECK_EQUAL(queue.in, queue.out + queue.held);
    return match;
  }
  // The longest time without a measurement of sensor i after `from`, and when it ended.
  std::pair<hal::Duration, hal::Time> longest_gap(const StackBench& bench, std::size_t i,
                                                  hal::Duration from) {
    const std::string topic = "/" + bench.stack.sensors[i].name + (i == kImu ? "/imu" : "/points");
    hal::Time last = bench.start() + from, end{};
    hal::Duration longest{};
    for (const MessageLog::Message& m : log.on(topic)) {
      const hal::Time at = hal::from_ns(m.publish_time - bench.offset);
      if (at - last > longest) longest = at - last, end = at;
      last = std::max(last, at);
    }
    return {longest, end};
  }
  // Sensor i fails from 8 s to 11 s: the others lose nothing, and it comes back.
  void check_survival(std::size_t i, const char* fault) {
    StackBench::Faults faults(4);
    faults[i] = {fault};
    StackBench bench(test::demo_stack(), log, nullptr, faults);
    bench.run_for(15s);
    for (std::size_t k = 0; k < 4; ++k) {
      if (k != i) check_whole(bench, k);
    }
    const auto [gap, end] = longest_gap(bench, i, 4s);
    CHECK_TRUE(gap > 2900ms);
    CHECK_TRUE(bench.sensors[i].port->back_at() >= bench.start() + 11s);
    CHECK_TRUE(end <= bench.sensors[i].port->back_at() + 1s);
    bench.finish();
    check_order();
    check_books(bench);
  }
};

TEST(Stack, EveryTrueMeasurementLeavesOnceAndWithItsOwnTime) {
  StackBench bench(test::demo_stack(), log);
  bench.run_for(20s);
  for (std::size_t i = 0; i < bench.sensors.size(); ++i) {
    const Match match = check_whole(bench, i);
    CHECK_TRUE(match.matched > (i == kImu ? 1'900u : 80'000u));
    CHECK_TRUE(match.late_errors.size() > match.matched / 3);
    CHECK_TRUE_TEXT(match.p99() < 0.2e-3, bench.stack.sensors[i].name.c_str());
  }
  check_order();
  check_latency(bench);
  bench.finish();
  check_books(bench);
}

TEST(Stack, ALaserScanHasAsManyReturnsAsTheTruth) {
  StackBench bench(test::demo_stack(), log);
  bench.run_for(5s);
  for (const std::size_t i : {kFront, kRear, kSide}) {
    const std::string name = "/" + bench.stack.sensors[i].name;
    const auto scans = log.on(name + "/scan"), clouds = log.on(name + "/points");
    CHECK_EQUAL(clouds.size(), scans.size());
    CHECK_TRUE(scans.size() > 20);
    for (std::size_t k = 0; k < scans.size(); ++k) {
      const auto scan = app::decode_laser_scan(log.bytes_of(scans[k]));
      const auto cloud = app::decode_point_cloud(log.bytes_of(clouds[k]));
      std::size_t returns = 0;
      for (std::size_t ray = 0; ray < scan->ranges.size(); ++ray) {
        returns += std::isfinite(scan->ranges[ray]);
      }
      const double sweep = std::abs(scan->angle_max - scan->angle_min);
      const double step = std::abs(scan->angle_increment);
      // Some formats of the RPLIDAR correct the angles by up to 7.5 degrees.
      const double tolerance = i == kRear ? 3 * step : 0.15;
      if (k > 1) DOUBLES_EQUAL(2 * std::numbers::pi, sweep + step, tolerance);
      CHECK_TRUE(returns <= cloud->points.size());
      CHECK_TRUE(returns >= cloud->points.size() * 99 / 100);
      CHECK_TRUE(scan->header.unix_ns < cloud->header.unix_ns);
    }
  }
}

TEST(Stack, AnRplidarWithoutPowerCostsTheOthersNothingAndComesBack) {
  check_survival(kFront, "off@8+3");
}
TEST(Stack, AnLdrobotWithoutPowerCostsTheOthersNothingAndComesBack) {
  check_survival(kRear, "off@8+3");
}
TEST(Stack, ANetworkLidarWithoutPowerCostsTheOthersNothingAndComesBack) {
  check_survival(kSide, "off@8+3");
}
TEST(Stack, AnImuWithoutPowerCostsTheOthersNothingAndComesBack) { check_survival(kImu, "off@8+3"); }
TEST(Stack, AnUnpluggedAdapterCostsTheOthersNothingAndComesBack) {
  check_survival(kFront, "unplug@8+3");
}
