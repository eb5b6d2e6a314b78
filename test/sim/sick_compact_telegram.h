// Compact telegrams of SICK's picoScan and multiScan: measured segments and motion, little-endian,
// one telegram a datagram, with a CRC-32 (zlib's) over all before it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "test/sim/device_model.h"
#include "test/sim/motion.h"

namespace sim::sick_compact {

inline constexpr unsigned kScan = 1, kImu = 2;

// What one beam of one line sees: its first return first; 0 = none.
struct Seen {
  static constexpr std::size_t kMostEchoes = 3;
  std::array<double, kMostEchoes> ranges{};  // m
  std::array<std::uint16_t, kMostEchoes> strengths{};
};

// Lines of beams that are measured together. Beam `b` of line `l` is seen[b * lines + l].
struct Module {
  std::uint64_t segment = 0, frame = 0;
  std::size_t beams = 0, echoes = 1;
  std::vector<std::uint64_t> start_us, stop_us;               // of each line
  std::vector<double> elevations, first_angles, last_angles;  // rad, of each line
  std::vector<double> angles;                                 // rad, of each beam
  std::vector<Seen> seen;

  std::size_t lines() const { return elevations.size(); }
};

// How all modules of a device are written.
struct Layout {
  unsigned version = 4;  // 3 or 4
  double scale = 1.0;    // mm of one unit; version 3 knows 1 only
  bool distance = true, rssi = true, property = true, azimuth = true;
};

ByteVector scan_telegram(std::uint64_t count, std::uint64_t sent_us, std::uint32_t serial,
                         const Layout& layout, const std::vector<Module>& modules);
ByteVector imu_telegram(const Motion& motion, std::uint64_t us);

// For the `wrong` fault: random values where beams or motion are, and the CRC made good again.
void falsify(ByteVector& telegram, Random& random);

}  // namespace sim::sick_compact
