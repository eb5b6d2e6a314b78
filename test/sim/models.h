// The table of all simulated devices, and how one is made.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "hal/result.h"
#include "test/sim/device_clock.h"
#include "test/sim/device_model.h"
#include "test/sim/settings.h"

namespace sim {

// What a model is made from. `clock` outlives the model.
struct ModelInputs {
  const Settings& settings;
  DeviceClock& clock;
  double rate_hz = 0.0;          // turns/s of a lidar, samples/s of an IMU; 0 = the model's default
  std::uint64_t seed = 1;        // for noise that the model wants
  DataPorts* ports = nullptr;    // outlives the model; none where no socket is
  bool streams_unasked = false;  // --to: somebody waits for data without asking for them
  bool is_serial = false;        // on a line, or by a socket
};

using MakeModel = hal::Result<std::unique_ptr<DeviceModel>> (*)(const ModelInputs&);

struct ModelRow {
  const char* name;  // the driver's name
  const char* help;
  bool two_ports;                      // wants --udp and --tcp together: TCP is the control channel
  std::span<const OptionRow> options;  // what --set takes
  MakeModel make;
};

std::span<const ModelRow> models();

// nullptr when there is none of that name; '-' and '_' are the same.
const ModelRow* find_model(std::string_view name);

}  // namespace sim
