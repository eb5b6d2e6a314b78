// What a YDLIDAR puts on its line, as bytes: point packets, stamps and reply headers; no state.
//
// Written from the protocol description (sections 2 and 3); all fields are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "test/sim/device_model.h"

namespace sim::ydlidar {

// How one sample is carried: its distance field alone, or with an intensity of 8, 10 or 16 bits.
enum class Form : std::uint8_t { plain, intensity8, intensity10, intensity16 };
// Of the distance field.
enum class Unit : std::uint8_t { quarter_mm, half_mm, mm };

std::size_t sample_bytes(Form form);
double units_per_mm(Unit unit);
// The finest step of a distance, mm: forms of three bytes lose the two low bits to other uses.
double distance_step_mm(Form form, Unit unit);

struct Sample {
  unsigned distance = 0;   // raw; with intensity8 and intensity10 the two low bits are zero
  unsigned intensity = 0;  // as many bits as the form has
  unsigned flag = 0;       // intensity8: interference, 0..3
};

// Angles in 1/64 degree, 0..23039; `rate` is the field of the scan frequency, 7 bits.
struct PacketHead {
  bool zero = false;  // first of a turn
  unsigned rate = 0;
  unsigned first_q6 = 0, last_q6 = 0;
};
inline constexpr unsigned kTurnQ6 = 360 * 64;
inline constexpr std::size_t kHeadBytes = 10;

ByteVector point_packet(const PacketHead& head, std::span<const Sample> samples, Form form);

// Milliseconds of the device's clock, for the turn that follows.
ByteVector stamp_packet(std::uint32_t ms);

// `length` payload bytes, once or (loop) again and again.
ByteVector reply_header(std::size_t length, bool loop, std::uint8_t type);

// Random distances and intensities, and the checksum made good again. Anything but a whole point
// packet of this form is left alone.
void falsify_packet(ByteVector& packet, Form form, Random& random);

// Degrees by which the geometry of a triangulating model turns a sample at `mm` > 0.
double correction_deg(double mm);

}  // namespace sim::ydlidar
