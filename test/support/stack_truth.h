// Compares what left the stack with what the simulated devices measured.
#pragma once

#include <cmath>
#include <string>

#include "app/messages.h"
#include "collation/pose.h"
#include "test/sim/room.h"
#include "test/support/message_log.h"
#include "test/support/stack_bench.h"

namespace test {

// A point or a sample as it left, in the sensor's own terms.
struct Seen {
  hal::Time at;
  double angle = 0, range = 0;  // a point
  std::array<double, 3> accel{}, gyro{};
};

inline std::vector<Seen> points_seen(const StackBench& bench, const MessageLog& log,
                                     std::size_t sensor) {
  const config::Sensor& config = bench.stack.sensors[sensor];
  const Eigen::Isometry3d back = collation::pose_of(config.pose.xyz, config.pose.rpy).inverse();
  std::vector<Seen> all;
  for (const MessageLog::Message& m : log.on("/" + config.name + "/points")) {
    const auto cloud = app::decode_point_cloud(log.bytes_of(m));
    for (std::size_t i = 0; i < cloud->points.size(); ++i) {
      const app::PointXyzit p = cloud->points[i];
      const Eigen::Vector3d own = back * Eigen::Vector3d(p.x, p.y, p.z);
      const auto time = hal::Duration(std::llround(double{p.time} * 1e9));
      all.push_back({hal::from_ns(cloud->header.unix_ns - bench.offset) + time,
                     std::atan2(own.y(), own.x()), own.norm()});
    }
  }
  return all;
}

inline std::vector<Seen> samples_seen(const StackBench& bench, const MessageLog& log,
                                      std::size_t sensor) {
  std::vector<Seen> all;
  for (const auto& m : log.on("/" + bench.stack.sensors[sensor].name + "/imu")) {
    const auto imu = app::decode_imu(log.bytes_of(m));
    all.push_back({hal::from_ns(imu->header.unix_ns - bench.offset), 0, 0,
                   *imu->linear_acceleration, *imu->angular_velocity});
  }
  return all;
}

// What a comparison found: every true measurement from the first one seen to the last, once each.
struct Match {
  std::size_t matched = 0;
  std::string fault{};  // the first one; empty: none
  double worst_angle = 0, worst_range = 0;
  std::vector<double> late_errors{};  // s, of the stamps more than 10 s after the start, sorted
  hal::Time last{};                   // true time of the last one seen

  double p99() const {
    return late_errors.empty() ? 0 : late_errors[(late_errors.size() - 1) * 99 / 100];
  }
};

inline double angle_between(double a, double b) {
  return std::abs(std::remainder(a - b, sim::kTurn));
}

inline Match match_beams(const StackBench& bench, const std::vector<Seen>& seen,
                         std::vector<sim::TrueBeam> truth) {
  std::erase_if(truth, [](const sim::TrueBeam& b) { return b.range == 0; });
  Match match;
  std::size_t first = 0;
  double best = 1;
  for (std::size_t i = 0; i < truth.size() && !seen.empty(); ++i) {
    const double off = std::abs(hal::to_seconds(truth[i].at - seen[0].at));
    const double angle = angle_between(truth[i].angle, seen[0].angle);
    if (off < 0.02 && angle < best) best = angle, first = i;
  }
  for (std::size_t i = 0; i < seen.size() && first + i < truth.size(); ++i) {
    const sim::TrueBeam& beam = truth[first + i];
    const double angle = angle_between(beam.angle, seen[i].angle);
    const double range = std::abs(beam.range - seen[i].range);
    match.worst_angle = std::max(match.worst_angle, angle);
    match.worst_range = std::max(match.worst_range, range);
    if ((angle > 0.01 || range > 0.005) && match.fault.empty()) {
      match.fault = "beam " + std::to_string(i) + ": " + std::to_string(seen[i].angle) + " rad " +
                    std::to_string(seen[i].range) + " m, true " + std::to_string(beam.angle) +
                    " rad " + std::to_string(beam.range) + " m";
    }
    if (beam.at > bench.start() + 10s) {
      match.late_errors.push_back(std::abs(hal::to_seconds(seen[i].at - beam.at)));
    }
    match.last = beam.at;
    ++match.matched;
  }
  std::ranges::sort(match.late_errors);
  return match;
}

inline Match match_samples(const StackBench& bench, const std::vector<Seen>& seen,
                           const std::vector<sim::ImuTruth>& truth) {
  Match match;
  std::size_t first = 0;
  for (std::size_t i = 0; i < truth.size() && !seen.empty(); ++i) {
    if (std::chrono::abs(truth[i].at - seen[0].at) < std::chrono::abs(truth[first].at - seen[0].at))
      first = i;
  }
  for (std::size_t i = 0; i < seen.size() && first + i < truth.size(); ++i) {
    const sim::ImuTruth& sample = truth[first + i];
    double off = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      off = std::max({off, std::abs(sample.accel[axis] - seen[i].accel[axis]),
                      std::abs(sample.gyro[axis] - seen[i].gyro[axis])});
    }
    match.worst_range = std::max(match.worst_range, off);
    if (off > 1e-4 && match.fault.empty()) {
      match.fault = "sample " + std::to_string(i) + " is off by " + std::to_string(off);
    }
    if (sample.at > bench.start() + 10s) {
      match.late_errors.push_back(std::abs(hal::to_seconds(seen[i].at - sample.at)));
    }
    match.last = sample.at;
    ++match.matched;
  }
  std::ranges::sort(match.late_errors);
  return match;
}

inline Match match_sensor(const StackBench& bench, const MessageLog& log, std::size_t i) {
  const bool lidar = bench.stack.sensors[i].driver->kind == drivers::Kind::lidar;
  const TruthLog& truth = bench.sensors[i].truth;
  return lidar ? match_beams(bench, points_seen(bench, log, i), truth.beams)
               : match_samples(bench, samples_seen(bench, log, i), truth.samples);
}

}  // namespace test
