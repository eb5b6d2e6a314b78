// Scan data packets of a Pepperl+Fuchs lidar, the same over UDP and TCP.
#pragma once

#include <cstdint>

#include "test/sim/device_model.h"

namespace sim::pepperl_fuchs {

enum class Type : std::uint8_t { a, b, c, c1 };

// One scan as it is cut into packets. Angles in degrees, counter-clockwise, 0 = the front.
struct Scan {
  Type type = Type::c;
  std::size_t header_bytes = 76;
  std::uint16_t number = 0;
  std::uint32_t status = 0;
  std::uint32_t frequency_mhz = 0;
  std::size_t points = 0;
  double first_deg = 0.0, step_deg = 0.0;
  std::uint16_t layer = 0;
  double inclination_deg = 0.0;
  hal::Time begins;       // the first point is measured
  double point_ns = 0.0;  // from one point to the next, true time

  hal::Time at(std::size_t point) const {
    return begins + hal::Duration(static_cast<std::int64_t>(point_ns * static_cast<double>(point)));
  }
};

// How many points fit in one packet: with 76 bytes of header 332 of type A and C, 221 of B.
std::size_t points_per_packet(const Scan& scan);

// The beams of the scan that the packet from point `first` on carries.
std::vector<TrueBeam> beams_of(const Scan& scan, std::size_t first);

// `stamp_ns`: the device's clock at the first beam. `codes[i]`: 0, or the amplitude code that beam
// i has in place of a strength, without a distance that counts.
ByteVector packet(const Scan& scan, std::size_t first, std::int64_t stamp_ns,
                  const std::vector<TrueBeam>& beams, const std::vector<unsigned>& codes);

// Seconds since power-on as 32.32 fixed point.
std::uint64_t ntp_of(std::int64_t ns);

void falsify_packet(ByteVector& packet, Random& random);

}  // namespace sim::pepperl_fuchs
