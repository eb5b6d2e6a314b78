// What a MTi can be asked to send, and what is asked of it.
#pragma once

#include <array>
#include <span>

#include "drivers/options.h"
#include "drivers/wire.h"

namespace drivers::xsens {

inline constexpr unsigned kAlways = 0xFFFF;
inline constexpr unsigned kCounter = 0x1020, kTicks = 0x1060, kStatus = 0xE020, kAttitude = 0x2010;
inline constexpr unsigned kAccel = 0x4020, kGyro = 0x8020, kDeltaV = 0x4010, kDeltaQ = 0x8030;
inline constexpr unsigned kMag = 0xC020, kPressure = 0x3010, kTemperature = 0x0810;
inline constexpr std::size_t kIndispensable = 5;

// What a message is to hold, and how often; hz kAlways: whatever else it holds.
struct Output {
  unsigned id = 0, hz = 0;
};
struct Outputs {
  std::array<Output, 11> items{};  // the dispensable ones last
  std::size_t size = 0;

  std::span<const Output> all() const { return std::span(items).first(size); }
};

std::span<const OptionSpec> options();
Outputs outputs_of(const Options&);
double bytes_per_s(const Options&);  // of such messages

// Of a list as the device acknowledges it, ids and rates of two bytes each, the rate of one; 0: it
// is not in it.
unsigned rate_in(wire::Bytes list, unsigned id);

}  // namespace drivers::xsens
