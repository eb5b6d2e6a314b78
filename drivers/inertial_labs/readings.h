// What the data of Inertial Labs' units hold. Source: see inertial_labs.h.
#pragma once

#include <optional>

#include "drivers/framer.h"
#include "drivers/packet.h"

namespace drivers::inertial_labs {

inline constexpr unsigned kUserDefined = 0x95, kOrientation = 0x33;  // codes of data

struct Scales {
  double gravity;      // m/s^2 of 1 g
  double gyro, accel;  // steps of 1 deg/s and 1 g, of readings of 16 bit
};

struct Readings {
  ImuSample sample;                     // without its times
  std::optional<std::int64_t> week_ns;  // GPS time of week, or since its start
  unsigned status = 0;                  // of the unit, a bit per fault
};

bool has_readings(unsigned code);
// Of what lies in a frame of this code, into what is empty. False: a type of reading is not known,
// or the sizes do not add up.
bool read(unsigned code, Bytes content, const Scales&, Readings& into);

}  // namespace drivers::inertial_labs
