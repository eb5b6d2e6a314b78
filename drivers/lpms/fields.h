// What the data of LPMS sensors hold, by generation. Source: see lpms.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace drivers::lpms {

enum class Reading : std::uint8_t { other, accel, raw_gyro, gyro, mag, orientation, temperature };

struct Field {
  unsigned bit;      // that switches it on
  std::size_t size;  // numbers
  Reading reading;
  double steps = 1;  // of 1 when it is sent as i16
};

// In the order of the data. Linear acceleration is without gravity, and the unit of the pressure is
// not told: both are left out.
inline constexpr std::array kIg1{
    Field{0, 3, Reading::other},   // acceleration, raw
    Field{1, 3, Reading::accel},   // calibrated
    Field{2, 3, Reading::other},   // rates, raw: of the first gyroscope
    Field{3, 3, Reading::other},   // and of the second
    Field{4, 3, Reading::other},   // without bias
    Field{5, 3, Reading::other},   //
    Field{6, 3, Reading::gyro},    // and aligned
    Field{7, 3, Reading::other},   //
    Field{8, 3, Reading::other},   // field, raw
    Field{9, 3, Reading::mag},     // calibrated
    Field{10, 3, Reading::other},  // angular velocity of the filter
    Field{11, 4, Reading::orientation}, Field{12, 3, Reading::other},  // Euler angles
    Field{13, 3, Reading::other},                                      // linear acceleration
    Field{14, 1, Reading::other},                                      // pressure
    Field{15, 1, Reading::other},                                      // altitude
    Field{16, 1, Reading::temperature},
};
inline constexpr std::array kLegacy{
    Field{12, 3, Reading::raw_gyro, 1000},
    Field{11, 3, Reading::accel, 1000},
    Field{10, 3, Reading::mag, 100},
    Field{16, 3, Reading::gyro, 1000},
    Field{18, 4, Reading::orientation, 10'000},
    Field{17, 3, Reading::other},
    Field{21, 3, Reading::other},
    Field{9, 1, Reading::other},
    Field{19, 1, Reading::other},
    Field{13, 1, Reading::temperature, 100},
    Field{14, 1, Reading::other},
};

}  // namespace drivers::lpms
