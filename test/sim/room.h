// The room of every simulated lidar: four walls, and one sector that swallows the light.
#pragma once

namespace sim {

// Walls at x = -2, x = 4, y = -1.5, y = 2.5 m; the device at the origin facing +x; nothing comes
// back from 100 to 110 degrees, both included.
class Room {
 public:
  static constexpr double kBack = -2.0, kFront = 4.0, kRight = -1.5, kLeft = 2.5;  // m

  // Exact range, m, of a beam at `angle` (rad, counter-clockwise, any turn); 0 = no return.
  static double range(double angle);
};

inline constexpr double kPi = 3.14159265358979323846;
inline constexpr double kTurn = 2.0 * kPi;
constexpr double radians(double degrees) { return degrees * (kPi / 180.0); }
constexpr double degrees(double radians_value) { return radians_value * (180.0 / kPi); }

}  // namespace sim
