// Two lidars of different rates and an IMU on a robot that turns in a room, from the packets to the
// stream: de-skewed and merged clouds against the truth.
#include "app/derived.h"

#include <map>
#include <numbers>
#include <random>

#include "app/lidarctl/books.h"
#include "app/station.h"
#include "collation/pose.h"
#include "config/load.h"
#include "test/support/allocation_counter.h"
#include "test/support/fake_driver.h"
#include "test/support/manual_clock.h"
#include "test/support/message_log.h"

using namespace std::chrono_literals;
using Eigen::Vector3d;

namespace {

constexpr double kTurn = 2 * std::numbers::pi;
constexpr double kRate = std::numbers::pi;  // rad/s, once the robot turns
constexpr drivers::SensorId kFront = 0, kRear = 1, kBody = 2;

const char* const kConfig =
    "frame: base\n"
    "stream: {client_buffer_kib: 1024}\n"
    "merged:\n"
    "  around: {sensors: [front, rear], deskew: body}\n"
    "  raw: {sensors: [rear, front]}\n"
    "sensors:\n"
    "  front: {driver: ldrobot, port: 'serial:/dev/a', deskew: body, pose: {xyz: [0.3, 0, 0.1]}}\n"
    "  rear: {driver: ldrobot, port: 'serial:/dev/b', pose: {xyz: [-0.2, 0.1, 0], rpy_deg: [0, 0, "
    "170]}}\n"
    "  body: {driver: microstrain_mip, port: 'serial:/dev/c'}\n";

config::Stack configured() {
  auto loaded = config::load_text(kConfig, "test");
  if (const auto* const faults = std::get_if<std::vector<config::Fault>>(&loaded)) {
    FAIL(config::to_string(faults->front()).c_str());
  }
  return std::get<config::Stack>(std::move(loaded));
}

// Beams of a lidar by number: when, where to, and what they hit.
struct Lidar {
  hal::Time start;
  std::int64_t beams_per_turn = 450;
  Eigen::Isometry3d pose = Eigen::Isometry3d::Identity();
  std::int64_t sent = 0;

  static constexpr hal::Duration kStep = 222'222ns;
  hal::Time time_of(std::int64_t n) const { return start + kStep * n; }
  double angle_of(std::int64_t n) const {
    return kTurn * static_cast<double>(n % beams_per_turn) / static_cast<double>(beams_per_turn);
  }
};

// Stands for 2 s, then turns.
struct Robot {
  hal::Time start;
  double moving(hal::Time at) const { return std::max(0.0, hal::to_seconds(at - start) - 2); }
  double rate(hal::Time at) const { return moving(at) > 0 ? kRate : 0; }
  Eigen::Isometry3d pose(hal::Time at) const {
    return Eigen::Isometry3d(Eigen::AngleAxisd(kRate * moving(at), Vector3d::UnitZ()));
  }
};

// Where a ray in the plane first meets the walls of a room of 8 m by 6 m.
double range_in_room(const Vector3d& from, const Vector3d& direction) {
  double range = 100;
  const auto meet = [&](double at, double v, double wall) {
    const double r = v == 0 ? -1 : (wall - at) / v;
    if (r > 0) range = std::min(range, r);
  };
  for (const double side : {-1.0, 1.0}) {
    meet(from.x(), direction.x(), 4 * side);
    meet(from.y(), direction.y(), 3 * side);
  }
  return range;
}

}  // namespace

TEST_GROUP(Derived) {
  test::ManualClock clock;
  test::MessageLog log{std::size_t{16} << 20};
  hal::Log text{-1, hal::Severity::error, hal::Log::Style::plain};
  config::Stack stack = configured();
  config::Plan plan = config::plan(stack);
  std::unique_ptr<app::Station> station;
  std::vector<test::FakeDriver*> devices;
  Robot robot{clock.now()};
  std::array<Lidar, 2> lidars;
  hal::Time next_sample = clock.now() + 1ms;
  std::mt19937 random{1};
  std::array<bool, 2> dead{};

  void setup() {
    for (std::size_t i = 0; i < 2; ++i) {
      lidars[i].start = clock.now() + 5ms + 31ms * static_cast<std::int64_t>(i);
      lidars[i].pose = collation::pose_of(stack.sensors[i].pose.xyz, stack.sensors[i].pose.rpy);
    }
    lidars[1].beams_per_turn = 730;
    station = std::make_unique<app::Station>(stack, plan, log, text);
    for (drivers::SensorId id = 0; id < 3; ++id) {
      auto device = std::make_unique<test::FakeDriver>(id, station->pipeline().input());
      devices.push_back(device.get());
      station->pipeline().add(std::move(device));
    }
    station->on_offset(0);
    station->on_pass_begin(clock.now());
    station->on_tick(clock.now());
    for (test::FakeDriver* device : devices) {
      device->become(drivers::State::streaming, clock.now());
    }
  }

  Vector3d hit_of(const Lidar& lidar, std::int64_t n) const {
    const Eigen::Isometry3d world = robot.pose(lidar.time_of(n)) * lidar.pose;
    const Vector3d direction =
        world.linear() * Vector3d(std::cos(lidar.angle_of(n)), std::sin(lidar.angle_of(n)), 0);
    return world.translation() + range_in_room(world.translation(), direction) * direction;
  }
  void send(drivers::SensorId id) {
    Lidar& lidar = lidars[id];
    std::array<drivers::Beam, 12> beams{};
    while (lidar.time_of(lidar.sent + 11) < clock.now()) {
      const hal::Time first = lidar.time_of(lidar.sent);
      bool starts_turn = false;
      for (drivers::Beam& beam : beams) {
        const std::int64_t n = lidar.sent++;
        starts_turn |= n % lidar.beams_per_turn == 0;
        const Vector3d from = (robot.pose(lidar.time_of(n)) * lidar.pose).translation();
        beam = {static_cast<float>(lidar.angle_of(n)),
                static_cast<float>((hit_of(lidar, n) - from).norm()), 5};
      }
      if (dead[id]) continue;
      station->pipeline().input().on_packet(id,
                                            drivers::ScanSlice{.first = first,
                                                               .step = Lidar::kStep,
                                                               .starts_turn = starts_turn,
                                                               .has_intensity = true,
                                                               .beams = beams},
                                            clock.now());
    }
  }
  void send_samples() {
    std::normal_distribution<double> noise(0, 0.004);
    for (; next_sample <= clock.now(); next_sample += 10ms) {
      drivers::ImuSample s;
      s.at = next_sample;
      s.accel = {0, 0, 9.81};
      s.gyro = {0.01 + noise(random), noise(random), robot.rate(s.at) - 0.02 + noise(random)};
      station->pipeline().input().on_packet(kBody, s, clock.now());
    }
  }
  void run_for(hal::Duration length) {
    for (const hal::Time end = clock.now() + length; clock.now() < end;) {
      clock.advance(3ms);
      station->on_pass_begin(clock.now());
      send_samples();
      send(kRear);
      send(kFront);
      station->on_tick(clock.now());
      station->on_pass_end(clock.now());
    }
  }

  // Distances from the truth at the stamp, of what left and of what was measured.
  struct Errors {
    double left = 0, raw = 0;
    std::size_t points = 0;
  };
  void compare(Errors & errors, drivers::SensorId id, hal::Time stamp, const app::PointXyzit& p) {
    const Lidar& lidar = lidars[id];
    const hal::Duration since =
        stamp + hal::Duration(std::llround(double{p.time} * 1e9)) - lidar.start;
    const std::int64_t n = (since + Lidar::kStep / 2) / Lidar::kStep;
    const Vector3d hit = hit_of(lidar, n);
    const Vector3d truth = robot.pose(stamp).inverse() * hit;
    const Vector3d raw = robot.pose(lidar.time_of(n)).inverse() * hit;
    errors.left = std::max(errors.left, (Vector3d(p.x, p.y, p.z) - truth).norm());
    errors.raw = std::max(errors.raw, (raw - truth).norm());
    ++errors.points;
  }
  Errors errors_of_front(hal::Time from) {
    Errors errors;
    for (const auto& m : log.on("/front/points")) {
      const auto cloud = app::decode_point_cloud(log.bytes_of(m));
      const hal::Time stamp = hal::from_ns(cloud->header.unix_ns);
      if (stamp < from) continue;
      for (std::size_t i = 0; i < cloud->points.size(); ++i) {
        compare(errors, kFront, stamp, cloud->points[i]);
      }
    }
    return errors;
  }
  Errors errors_of_merged(const char* topic, hal::Time from,
                          const std::vector<drivers::SensorId>& ids) {
    Errors errors;
    std::int64_t newest = 0;
    for (const auto& m : log.on(topic)) {
      const auto cloud = app::decode_merged_cloud(log.bytes_of(m));
      CHECK_TRUE(cloud.has_value());
      STRCMP_EQUAL("base", std::string(cloud->header.frame).c_str());
      CHECK_TRUE(cloud->header.unix_ns >= newest);
      newest = cloud->header.unix_ns;
      const hal::Time stamp = hal::from_ns(newest);
      float previous = -100;
      for (std::size_t i = 0; i < cloud->points.size(); ++i) {
        const app::PointMerged p = cloud->points[i];
        CHECK_TRUE(p.point.time >= previous && p.point.time <= 0);
        previous = p.point.time;
        if (stamp >= from) compare(errors, ids[p.origin], stamp, p.point);
      }
    }
    return errors;
  }
  std::map<std::string, lidarctl::Diagnosis> state() {
    return lidarctl::diagnoses(log.bytes_of(log.on("/diagnostics").back()));
  }
};

TEST(Derived, TheSmearOfATurningRobotIsGoneFromThePointsOfALidar) {
  run_for(5s);
  const Errors errors = errors_of_front(robot.start + 2200ms);
  UT_PRINT(("residual " + std::to_string(100 * errors.left / errors.raw) + " % of " +
            std::to_string(errors.raw) + " m")
               .c_str());
  CHECK_TRUE(errors.points > 10'000);
  CHECK_TRUE(errors.raw > 0.9);
  CHECK_TRUE(errors.left < 0.02 * errors.raw);
  CHECK_EQUAL(
      state()["front"].count("deskew.clouds"),
      state()["front"].count("deskew.turned") + state()["front"].count("deskew.without_gyro"));
  CHECK_TRUE(state()["front"].count("deskew.turned") > 30);
  CHECK_TRUE(state()["body"].count("gyro.rests") >= 1);
}

TEST(Derived, TheSmearIsGoneFromMergedCloudsToTheirOwnStamp) {
  run_for(5s);
  const Errors errors = errors_of_merged("/around/points", robot.start + 2300ms, {kFront, kRear});
  CHECK_TRUE(errors.points > 20'000);
  CHECK_TRUE(errors.left < 0.02 * errors.raw);
  const Errors raw = errors_of_merged("/raw/points", robot.start + 2300ms, {kRear, kFront});
  DOUBLES_EQUAL(raw.raw, raw.left, 1e-3);
}

TEST(Derived, TheScanStaysAsMeasured) {
  run_for(3s);
  const auto scan = app::decode_laser_scan(log.bytes_of(log.on("/front/scan").back()));
  const hal::Time first = hal::from_ns(scan->header.unix_ns);
  const std::int64_t n = (first - lidars[0].start + Lidar::kStep / 2) / Lidar::kStep;
  LONGS_EQUAL(450, scan->ranges.size());
  for (std::size_t i = 0; i < scan->ranges.size(); ++i) {
    const std::int64_t beam = n + static_cast<std::int64_t>(i);
    const Vector3d from = (robot.pose(lidars[0].time_of(beam)) * lidars[0].pose).translation();
    DOUBLES_EQUAL((hit_of(lidars[0], beam) - from).norm(), scan->ranges[i], 1e-4);
  }
}

TEST(Derived, EveryPointLeavesOnceAndTheBooksBalance) {
  run_for(4s);
  station->finish(clock.now());
  auto now = state();
  for (const char* const name : {"around", "raw"}) {
    STRCMP_EQUAL("",
                 [&] {
                   const auto found = lidarctl::imbalances(now[name]);
                   return found.empty() ? "" : found[0];
                 }()
                     .c_str());
    STRCMP_EQUAL("none", lidarctl::drops(now[name]).c_str());
    CHECK_EQUAL(0, now[name].count("merge.held"));
    CHECK_EQUAL(0, now[name].count("merge.forced"));
    CHECK_EQUAL(now["front"].count("output.points") + now["rear"].count("output.points"),
                now[name].count("output.points"));
  }
}

TEST(Derived, ALidarThatIsGoneDoesNotDelayTheMergedClouds) {
  run_for(1s);
  dead[kRear] = true;
  devices[kRear]->become(drivers::State::backoff, clock.now());
  const hal::Time gone = clock.now();
  run_for(1s);
  const auto merged = log.on("/around/points"), front = log.on("/front/points");
  const auto stamp = [&](const test::MessageLog::Message& m) {
    return hal::from_ns(app::decode_merged_cloud(log.bytes_of(m))->header.unix_ns);
  };
  CHECK_TRUE(stamp(merged.back()) ==
             hal::from_ns(app::decode_point_cloud(log.bytes_of(front.back()))->header.unix_ns));
  CHECK_EQUAL(merged.back().publish_time, front.back().publish_time);
  dead[kRear] = false;
  devices[kRear]->become(drivers::State::starting, clock.now());
  devices[kRear]->become(drivers::State::streaming, clock.now());
  run_for(1s);
  const auto cloud = app::decode_merged_cloud(log.bytes_of(log.on("/around/points").back()));
  std::array<std::size_t, 2> seen{};
  for (std::size_t i = 0; i < cloud->points.size(); ++i) ++seen[cloud->points[i].origin];
  CHECK_TRUE(seen[0] > 0 && seen[1] > 0);
  CHECK_TRUE(gone > robot.start);
}

TEST(Derived, LogTimesOfTheStreamNeverDecrease) {
  run_for(3s);
  std::int64_t newest = 0;
  for (const auto& m : log.messages()) {
    CHECK_TRUE(m.log_time >= newest);
    newest = m.log_time;
  }
}

TEST(Derived, MergedCloudsLeaveWithinTheirBudget) {
  run_for(4s);
  hal::Duration worst{};
  for (const auto& m : log.on("/around/points")) {
    const auto cloud = app::decode_merged_cloud(log.bytes_of(m));
    worst = std::max(worst, hal::Duration(m.publish_time - cloud->header.unix_ns));
  }
  // The rear lidar turns at 6.2 Hz, the plan takes it to be as fast as the other.
  const hal::Duration period = Lidar::kStep * lidars[1].beams_per_turn;
  CHECK_TRUE(worst <= plan.merged[0].worst_age - 100ms + period + 3ms);
}

TEST(Derived, ALidarWithoutGyroDataIsLeftAsMeasuredAndTheDiagnosisSaysSo) {
  next_sample = clock.now() + 1h;
  run_for(2s);
  auto now = state();
  CHECK_TRUE(now["front"].count("deskew.without_gyro") > 8);
  CHECK_EQUAL(0, now["front"].count("deskew.turned"));
  STRCMP_CONTAINS("without_gyro", lidarctl::drops(now["front"]).c_str());
}

TEST(Derived, NothingIsAllocatedOnceItRuns) {
  run_for(1s);
  test::AllocationCounter counter;
  run_for(2s);
  LONGS_EQUAL(0, counter.count());
}
