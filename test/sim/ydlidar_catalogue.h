// The simulated YDLIDAR models: who they say they are, their line, and how they carry a sample.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "test/sim/ydlidar_packet.h"

namespace sim::ydlidar {

// How the scan frequency is told in a zero packet: ten times itself, or less 3 Hz before.
enum class RateField : std::uint8_t { plain, less_three };

struct Model {
  std::string_view name;
  std::uint8_t code;
  unsigned baud;
  std::span<const double> rates;  // kS/s, slowest first; it starts with the last
  bool one_way;                   // streams while it turns and hears nothing
  bool turns_on_dtr;              // the adapter board drives the motor with this line
  bool corrects;                  // triangulation: the angle depends on the distance
  RateField rate_field;
  Form form;
  Unit unit;
  std::uint8_t flag;  // interference flag of its ordinary samples
  std::size_t most;   // samples in a packet
  double turns_per_s;
};

inline constexpr const char* kModelNames =
    "X2|X3|X4|X4Pro|S2|S4|S4B|G1|G2|G2A|G2C|G4|G4B|G6|F4|R2|TG15|TG30|TG50|TX|TminiPro|TminiPlus|"
    "TminiPlusSH";
const Model& find_model(std::string_view name);  // one of kModelNames

}  // namespace sim::ydlidar
