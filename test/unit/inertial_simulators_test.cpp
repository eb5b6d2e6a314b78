// Drivers of inertial sensors meet their simulators on a line without noise: what is measured is
// what moved, at its time, through every manner that the simulator has.
#include <cmath>
#include <string>

#include "test/sim/motion.h"
#include "test/support/harness.h"
#include "test/support/sim_line.h"

using namespace std::chrono_literals;

namespace {

struct Meeting {
  const char* driver;
  sim::Options device;         // what --set would be
  test::SimLine::Set options;  // of the driver
  int baud;                    // 0: datagrams, test::SimLine::kTcp: a connection
  // Steps of what it tells: m/s^2, rad/s, parts of a unit quaternion; 0: it does not tell that.
  double accel, gyro, orientation;
  double least_hz;  // of samples with an acceleration, once it streams
};

const Meeting kMeetings[] = {
    {"fdilink", {}, {}, 921600, 1e-5, 1e-6, 1e-6, 99},
    {"fdilink", {{"accel", "gravity"}}, {}, 921600, 1e-5, 1e-6, 1e-6, 99},
    {"fdilink", {{"stamps", "apart"}, {"motion", "yaw"}}, {}, 921600, 1e-5, 1e-6, 1e-6, 99},
    {"fdilink", {{"frames", "imu"}, {"motion", "shake"}}, {}, 921600, 1e-5, 1e-6, 0, 99},
    {"fdilink",
     {{"frames", "imu"}, {"accel", "gravity"}, {"motion", "rest"}},
     {{"accel_sign", "gravity"}},
     921600,
     1e-5,
     1e-6,
     0,
     99},
};

std::string name_of(const Meeting& m) {
  std::string name = m.driver;
  for (const auto& [key, value] : m.device) name += " " + key + "=" + value;
  for (const auto& [key, value] : m.options) name += std::string(" --set ") + key + "=" + value;
  return name;
}

sim::MotionKind motion_of(const Meeting& m) {
  const sim::ModelRow& row = *sim::find_model(m.driver);
  return sim::motion_kind(*sim::Settings::check(row.options, m.device));
}

// Largest difference of two rotations' parts; q and -q are the same.
double apart(const sim::Quaternion& wxyz, const std::array<double, 4>& xyzw) {
  double same = 0, opposite = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    const double a = wxyz[(k + 1) % 4], b = xyzw[k];
    same = std::max(same, std::abs(a - b));
    opposite = std::max(opposite, std::abs(a + b));
  }
  return std::min(same, opposite);
}

double apart(const sim::Vector3& a, const drivers::ImuSample::Vector& b) {
  return std::max({std::abs(a[0] - b[0]), std::abs(a[1] - b[1]), std::abs(a[2] - b[2])});
}

struct Worst {
  double accel = 0, gyro = 0, orientation = 0;
  hal::Duration time{};
  std::size_t accels = 0, gyros = 0, orientations = 0;
};

}  // namespace

TEST_GROUP(InertialSimulators){};

TEST(InertialSimulators, WhatIsMeasuredIsWhatMoved) {
  for (const Meeting& m : kMeetings) {
    test::SimLine line(m.driver, m.device, m.options, m.baud);
    const hal::Time power = line.clock.now();
    const hal::Duration started = line.until_streaming();
    line.run_for(12s);
    const hal::Time from = line.clock.now() - 3s;  // the fit of the clock needs some seconds
    Worst worst;
    std::size_t at = 0;
    for (const drivers::ImuSample& s : line.log.samples) {
      if (s.at < from) continue;
      const auto& truth = line.truth.samples;
      while (at + 1 < truth.size() &&
             std::chrono::abs(truth[at + 1].at - s.at) <= std::chrono::abs(truth[at].at - s.at)) {
        ++at;
      }
      worst.time = std::max(worst.time, hal::Duration(std::chrono::abs(truth[at].at - s.at)));
      const double t = hal::to_seconds(truth[at].at - power);
      if (s.accel)
        ++worst.accels, worst.accel = std::max(worst.accel, apart(truth[at].accel, *s.accel));
      if (s.gyro) ++worst.gyros, worst.gyro = std::max(worst.gyro, apart(truth[at].gyro, *s.gyro));
      if (!s.orientation) continue;
      ++worst.orientations;
      const sim::Motion motion = sim::motion_at(t, motion_of(m));
      worst.orientation = std::max(worst.orientation, apart(motion.orientation, *s.orientation));
    }
    const std::string name = name_of(m);
    std::printf("%-60s streams after %4.0f ms, %3.0f Hz, off by %.0e %.0e %.0e, %.1f us\n",
                name.c_str(), hal::to_seconds(started) * 1e3, static_cast<double>(worst.accels) / 3,
                worst.accel, worst.gyro, worst.orientation, hal::to_seconds(worst.time) * 1e6);
    const drivers::Health health = line.health();
    CHECK_TRUE_TEXT(health.state == drivers::State::streaming, name.c_str());
    CHECK_TRUE_TEXT(health.balances(), name.c_str());
    CHECK_EQUAL_TEXT(0, health.undecodable + health.lost + health.stale, name.c_str());
    CHECK_TRUE_TEXT(static_cast<double>(worst.accels) >= 3 * m.least_hz, name.c_str());
    CHECK_TRUE_TEXT((worst.gyros > 0) == (m.gyro > 0), name.c_str());
    CHECK_TRUE_TEXT((worst.orientations > 0) == (m.orientation > 0), name.c_str());
    CHECK_TRUE_TEXT(worst.accel <= m.accel && worst.gyro <= m.gyro, name.c_str());
    CHECK_TRUE_TEXT(worst.orientation <= m.orientation, name.c_str());
    CHECK_TRUE_TEXT(worst.time < 20us, name.c_str());
  }
}
