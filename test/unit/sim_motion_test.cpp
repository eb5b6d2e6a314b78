#include "test/sim/motion.h"

#include <cmath>
#include <cstddef>

#include "test/support/harness.h"

using sim::Motion;
using sim::motion_at;
using sim::MotionKind;
using sim::Quaternion;
using sim::Vector3;

namespace {

constexpr MotionKind kAll[] = {MotionKind::swing, MotionKind::rest, MotionKind::roll,
                               MotionKind::pitch, MotionKind::yaw,  MotionKind::shake};

// From the body into the world.
Vector3 into_world(const Quaternion& q, const Vector3& v) {
  return sim::into_body({q[0], -q[1], -q[2], -q[3]}, v);
}
void vectors_equal(const Vector3& expected, const Vector3& actual, double by) {
  for (std::size_t i = 0; i < 3; ++i) DOUBLES_EQUAL(expected[i], actual[i], by);
}

}  // namespace

TEST_GROUP(SimMotion){};

TEST(SimMotion, TheGyroIsTheTurningOfTheOrientation) {
  const double h = 1e-5;
  for (const MotionKind kind : kAll) {
    for (double t = 0.1; t < 15.0; t += 0.7) {
      const auto a = motion_at(t - h, kind).orientation, b = motion_at(t + h, kind).orientation;
      const Motion m = motion_at(t, kind);
      // 2 q* dq/dt is the body rate.
      const auto& q = m.orientation;
      double d[4];
      for (std::size_t i = 0; i < 4; ++i) d[i] = (b[i] - a[i]) / (2 * h);
      vectors_equal({2 * (q[0] * d[1] - q[1] * d[0] - q[2] * d[3] + q[3] * d[2]),
                     2 * (q[0] * d[2] - q[2] * d[0] - q[3] * d[1] + q[1] * d[3]),
                     2 * (q[0] * d[3] - q[3] * d[0] - q[1] * d[2] + q[2] * d[1])},
                    m.gyro, 1e-6);
    }
  }
}

TEST(SimMotion, WithoutShakingTheAccelerationIsGravitysCounterpart) {
  for (const MotionKind kind : kAll) {
    if (kind == MotionKind::shake) continue;
    for (double t = 0.1; t < 15.0; t += 0.7) {
      const Motion m = motion_at(t, kind);
      vectors_equal({0, 0, 9.80665}, into_world(m.orientation, m.accel), 1e-9);
      vectors_equal({0, 21e-6, -43e-6}, into_world(m.orientation, m.mag), 1e-15);
    }
  }
}

TEST(SimMotion, ShakingIsZeroInTheMean) {
  Vector3 sum{};
  for (int i = 0; i < 1000; ++i) {
    const Motion m = motion_at(i * 1e-3, MotionKind::shake);
    for (std::size_t k = 0; k < 3; ++k) sum[k] += m.accel[k];
  }
  vectors_equal({0, 0, 9806.65}, sum, 1e-6);
  CHECK_TRUE(std::abs(motion_at(0.05, MotionKind::shake).accel[0]) > 1);
}

// The same vector, told by the device in its own frames.
TEST(SimMotion, OtherFramesTellTheSame) {
  for (double t = 0.1; t < 15.0; t += 0.7) {
    const Motion m = motion_at(t, MotionKind::swing);
    const Vector3 v{0.3, -0.5, 0.7}, enu = into_world(m.orientation, v);
    vectors_equal({enu[1], enu[0], -enu[2]},
                  into_world(sim::to_ned_frd(m.orientation), sim::flu_to_frd(v)), 1e-12);
    vectors_equal(enu, into_world(sim::to_enu_rfu(m.orientation), sim::flu_to_rfu(v)), 1e-12);
    vectors_equal({enu[1], -enu[0], enu[2]}, into_world(sim::to_nwu_flu(m.orientation), v), 1e-12);
  }
}
