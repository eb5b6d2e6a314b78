// The SICK scanners that the simulator plays: fields of view, speeds, what they know of CoLa.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace sim::sick_cola {

// A speed and a resolution that go together.
struct Pace {
  double hz;
  int steps_per_turn;
};

struct Model {
  const char* name;      // as --set names it
  const char* identity;  // as DeviceIdent does
  const char* firmware;
  std::uint32_t serial;
  double start_deg, stop_deg;   // device frame: 90 deg is the front
  std::span<const Pace> paces;  // the first is the delivered one
  int echoes;                   // the most per beam; 1 = FREchoFilter is not known
  std::uint16_t version, device_status;
  unsigned no_return;                // range code of a beam without return, mm
  double lag_least_us, lag_most_us;  // from the last beam to the transmit stamp
  std::uint32_t client_hash;         // password of user level 3
  bool sets_scan;                    // knows LMPscancfg, mLMPsetscancfg and STlms
  bool sets_range;                   // takes LMPoutputRange; others answer with 4
  bool says_busy;                    // SCdevicestate is 0 until it measures
  double busy_s;                     // from Run until the first scan
  bool layers;  // four, tilted by +2.5, 0, -2.5 and -5 deg, one after the other
  bool has_encoder;
};

inline constexpr const char* kModelNames =
    "TiM561|TiM571|TiM581|TiM551|TiM781|TiM781S|TiM871|LMS111|LMS511|LRS4581|MRS1104";

const Model& find_model(const std::string& name);

}  // namespace sim::sick_cola
