#include "test/sim/room.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sim {

double Room::range(double angle) {
  double turn = std::fmod(degrees(angle), 360.0);
  if (turn < 0.0) turn += 360.0;
  if (turn >= 100.0 && turn <= 110.0) return 0.0;
  const double x = std::cos(angle);
  const double y = std::sin(angle);
  const double far = std::numeric_limits<double>::infinity();
  const double along_x = x > 0.0 ? kFront / x : (x < 0.0 ? kBack / x : far);
  const double along_y = y > 0.0 ? kLeft / y : (y < 0.0 ? kRight / y : far);
  return std::min(along_x, along_y);
}

}  // namespace sim
