// The simulated RPLIDAR models: who they say they are and the scan modes they offer.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "test/sim/rplidar_formats.h"

namespace sim::rplidar {

inline constexpr std::uint16_t kMinRpm = 200, kMaxRpm = 1200;

enum class Motor : std::uint8_t { dtr, pwm, rpm };  // what makes it turn

struct Mode {
  const char* name;
  unsigned sample_q8;  // us per sample, 1/256
  unsigned max_m;
  Answer answer;
};

// A mode's id is its index; mode 0 is the one that SCAN starts.
struct Model {
  const char* name;
  std::uint8_t model, firmware_minor, firmware_major, hardware;
  unsigned baud;  // 0 = Ethernet
  unsigned rpm;   // its own speed
  Motor motor;
  std::uint16_t typical;
  std::span<const Mode> modes;

  bool banner() const { return model >> 4 == 1; }  // prints text when it has booted
  const Mode& express() const;                     // what the legacy express request starts
};

inline constexpr const char* kModelNames = "A1|A2|A3|S1|S2|S3|C1|S2E|T1";
const Model& find_model(std::string_view name);  // one of kModelNames

}  // namespace sim::rplidar
