// A handle of a Pepperl+Fuchs lidar: what a host asked for, and how far its scan has come.
#pragma once

#include <chrono>
#include <optional>

#include "test/sim/pepperl_packets.h"
#include "test/sim/pepperl_parameters.h"

namespace sim::pepperl_fuchs {

// It lives from request_handle to release_handle, or to a hungry watchdog.
struct Handle {
  Type type = Type::c;
  Address to{};       // UDP; over TCP only the port that is wanted
  unsigned port = 0;  // TCP, that was opened
  double start_deg = 0.0;
  bool has_watchdog = true;
  hal::Duration patience = std::chrono::seconds(60);
  hal::Time fed;
  std::size_t most_points = 0;  // 0 = all
  int skip = 0;

  std::optional<Scan> scan;  // in the making; none = stopped
  std::size_t next = 0;      // its first point that has not left
  std::uint16_t number = 0;
  long turn = 0;     // of the motor, that the scan belongs to
  hal::Time begins;  // the scan, and the part of a nanosecond by which it is later
  double part_ns = 0.0;

  hal::Time starves() const { return has_watchdog ? fed + patience : kNever; }
};

// What request_handle and set_scanoutput_config have in common. The handle changes only when all
// arguments are good.
Outcome configure(const Request& request, const Model& model, Handle& handle);

void put_config(const Handle& handle, Json& json);

}  // namespace sim::pepperl_fuchs
