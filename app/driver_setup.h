// From the configuration of a device to what its driver is built from, all but the ports: the same
// in the daemon and in a replay.
#pragma once

#include "config/stack.h"
#include "drivers/driver.h"

namespace app {

// Of the device that stack.sensors[i] is the first output of. The sink outlives the driver.
inline drivers::DriverSetup driver_setup(const config::Stack& stack, std::size_t i,
                                         drivers::PacketSink& sink) {
  const config::Sensor& sensor = stack.sensors[i];
  return {.first_sensor = static_cast<drivers::SensorId>(i),
          .outputs = config::outputs_of(stack, i),
          .baud = sensor.baud,
          .stamps = sensor.stamps,
          .host = sensor.host ? hal::to_address(*sensor.host) : hal::Address{},
          .ports = {},
          .sink = &sink};
}

}  // namespace app
