// The payload of one scan: its header, and where its blocks are. Any of them may be missing.
//
// Little-endian. 0 u8 'R', 3 x u8 version | 4 u32 serial number | 8 u32 of the plug | 12 u8 channel
// | 16 u32 sequence | 20 u32 scan | 24 u16 days since 1972, 0: no clock set | 28 u32 ms of the day,
// or since power-on | 32 five times u16 offset, u16 size: state, derived values, measurement,
// intrusion, application
//   state: 16 bytes. 0: bit 0 run, 1 standby, 2 contamination warning, 3 contamination error;
//          15: bit 0 application error, 1 device error
//   derived values: u16 factor | u16 beams | u16 scan time, ms | 8 i32 first angle | i32 step, both
//          in 2^-22 deg | u32 time between beams, us
//   measurement: u32 n | n x {u16 distance, u8 reflectivity, u8 status}; the distance times the
//          factor is in mm; status: bit 0 valid, 1 no echo, 2 glare, 3 reflector, 4 contamination,
//          5 contamination warning
#pragma once

#include <optional>

#include "drivers/wire.h"
#include "hal/time.h"

namespace drivers::safety {

using hal::Bytes;

inline constexpr std::size_t kMostBeams = 2751;

struct Telegram {
  std::uint32_t serial = 0;
  unsigned channel = 0;
  std::uint32_t sequence = 0, scan = 0;
  unsigned days = 0;  // since 1972; 0: no clock was set
  std::uint32_t ms = 0;
  Bytes state{}, derived{}, measurement{};  // empty: not there; else long enough for their fields

  std::size_t beams() const { return measurement.empty() ? 0 : wire::u32(measurement, 0); }
};

// Empty for a payload that contradicts itself. Views into it.
std::optional<Telegram> telegram_in(Bytes payload);

struct Derived {
  unsigned factor = 1;
  unsigned scan_ms = 0;
  std::int32_t first = 0, step = 0;  // 2^-22 deg, counter-clockwise; 90 deg is the front
  std::uint32_t beam_us = 0;         // from one beam to the next

  bool operator==(const Derived&) const = default;
};
Derived derived_in(Bytes block);

// From one beam to the next. The device tells it in whole microseconds, which is too coarse: where
// its scan time means the same, as the time of one turn, that is more exact.
hal::Duration beam_time(const Derived&);

// Every model looks at 275 degrees, of which it may be told to send a part. In beams: those before
// the first that is sent, and all of the field but one.
struct Field {
  std::int64_t before = 0, length = 0;
};
Field field_of(const Derived&, std::size_t sent);

}  // namespace drivers::safety
