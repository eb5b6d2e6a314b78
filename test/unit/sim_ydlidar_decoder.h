// A second reading of the YDLIDAR protocol, apart from the simulator's: bytes to points.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "test/sim/wire.h"

namespace ydlidar_test {

struct Point {
  double angle;  // degrees clockwise, corrected
  double mm;
  unsigned intensity;
  unsigned flag;
};

struct Layout {
  std::size_t sample = 2;  // bytes: 2, 3 or 4
  double divisor = 4.0;    // of the distance field, to mm
  bool corrects = true;
  bool ten_bits = false;  // of intensity, in three bytes
};

inline bool checksum_holds(const sim::ByteVector& p, std::size_t sample) {
  unsigned sum = 0x55AA;
  const auto word = [&](std::size_t at) {
    return sim::u8_at(p, at) + 256U * sim::u8_at(p, at + 1);
  };
  for (const std::size_t at : {2U, 4U, 6U}) sum ^= word(at);
  for (std::size_t at = 10; at < p.size(); at += sample) {
    if (sample == 3) sum ^= sim::u8_at(p, at);
    if (sample == 4) sum ^= word(at);
    sum ^= word(at + sample - 2);
  }
  return sum == word(8);
}

inline double raw_angle(const sim::ByteVector& p, std::size_t at) {
  return static_cast<double>(sim::get_le(p, at, 2) >> 1) / 64.0;
}

inline std::vector<Point> points_of(const sim::ByteVector& p, const Layout& layout) {
  const std::size_t count = sim::u8_at(p, 3);
  const double first = raw_angle(p, 4);
  double span = raw_angle(p, 6) - first;
  if (span < 0.0) span += 360.0;
  std::vector<Point> points;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = 10 + layout.sample * i;
    auto s = static_cast<unsigned>(sim::get_le(p, at + layout.sample - 2, 2));
    Point point{first, 0.0, 0, 0};
    if (count > 1) point.angle += span / static_cast<double>(count - 1) * static_cast<double>(i);
    if (layout.sample == 4) point.intensity = static_cast<unsigned>(sim::get_le(p, at, 2));
    if (layout.sample == 3) {
      point.flag = s & 3U;
      point.intensity = sim::u8_at(p, at) + (layout.ten_bits ? 256U * point.flag : 0U);
      s &= 0xFFFCU;
    }
    point.mm = s / layout.divisor;
    if (layout.corrects && point.mm > 0.0)
      point.angle += std::atan2(21.8 * (155.3 - point.mm), 155.3 * point.mm) * 180.0 / M_PI;
    points.push_back(point);
  }
  return points;
}

}  // namespace ydlidar_test
