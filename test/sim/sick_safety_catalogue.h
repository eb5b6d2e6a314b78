// The simulated SICK safety scanners: who they say they are and how finely they look.
#pragma once

#include <cstdint>
#include <string_view>

namespace sim::sick_safety {

// Letters 11 and 12 of the type code tell the range, 13 and 14 the interface.
struct Model {
  std::string_view name, type_code, order_number, firmware;
  std::uint32_t serial;
  int beams;         // over the whole field, both ends included
  double field_deg;  // 90 degrees lie in its middle
  int scan_ms;       // one turn, the dead part included
  int max_mm;
  std::uint8_t interface_type;  // as the settings name it, of this type code
};

inline constexpr const char* kModelNames = "microScan3|nanoScan3|outdoorScan3";
const Model& find_model(std::string_view name);  // one of kModelNames

}  // namespace sim::sick_safety
