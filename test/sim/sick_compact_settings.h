// The simulated picoScan and multiScan scanners, and what is set for them by CoLa.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "test/sim/cola_wire.h"

namespace sim::sick_compact {

// A group of lines that are sent as one module: beams of one resolution.
struct Lines {
  std::vector<double> elevations_deg;
  int beams_per_turn;
};

struct Model {
  const char* name;      // as --set names it
  const char* identity;  // as DeviceIdent does
  std::uint32_t serial;
  double hz;
  double first_deg, last_deg;  // of the beams that are real; 0 is the front, counter-clockwise
  double segment_deg;          // the last one of a frame may reach beyond the field
  int segments;                // of a frame
  std::vector<Lines> modules;  // of a datagram
  int echoes;                  // the most per beam
  bool has_imu;
};

inline constexpr const char* kModelNames = "picoScan150|picoScan120|multiScan136";
const Model& find_model(const std::string& name);

enum class EchoFilter : std::uint8_t { first, all, last };

// What the host may set. A loss of power forgets what was not stored.
struct Config {
  EchoFilter filter = EchoFilter::all;
  Address scan_to{}, imu_to{};
  bool sends_scans = false, sends_imu = false;
  unsigned format = 2;  // 1 MSGPACK, 2 Compact
  unsigned preformatting = 1, interval = 1;
};

// The value of a variable behind `reply`; false: no such variable.
bool read(const std::string& name, const Config& config, const Model& model, bool has_imu,
          cola::Telegram& reply);
// Code of sFA, or 0 when it was taken.
unsigned write(const std::string& name, cola::Arguments& arguments, bool has_imu, Config& config);

}  // namespace sim::sick_compact
