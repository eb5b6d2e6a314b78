// The simulated Hokuyo models: who they say they are, their geometry and their line.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sim::hokuyo_scip {

enum class Port { rs232, usb, ethernet };

struct Model {
  std::string_view name, product, firmware, serial;
  int min_mm, max_mm;
  int steps_per_turn, first, last, front;  // step numbers; `first`..`last` are measured
  int highest;                             // the highest step that may be asked for
  int rpm;
  Port port;  // RS-232 boots at 19200; elsewhere a rate means nothing
  bool starts_in_scip1;
  bool intensity;                         // knows ME and GE
  bool echoes;                            // knows ND, NE, HD and HE
  bool motor_command;                     // knows CR
  bool sleeps;                            // knows %SL and %ST, and RB
  std::span<const std::uint32_t> errors;  // what stands for a range that was not measured
};

inline constexpr const char* kModelNames =
    "URG-04LX|URG-04LX-UG01|UBG-04LX|UTM-30LX|UTM-30LX-EW|UST-10LX|UST-20LX";
const Model& find_model(std::string_view name);  // one of kModelNames

}  // namespace sim::hokuyo_scip
