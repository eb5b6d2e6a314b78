// Puts what a device measured on the time line and hands it out, each output as a sensor of its
// own.
#pragma once

#include <algorithm>

#include "drivers/device.h"
#include "drivers/driver.h"

namespace drivers {

class Outlet {
 public:
  // `outputs`: of the device.
  Outlet(const DriverSetup& setup, std::size_t outputs, const ClockModel& model)
      : sink_(*setup.sink),
        first_sensor_(setup.first_sensor),
        outputs_(std::min(outputs, setup.outputs)),
        stampers_(model, setup.baud, setup.stamps) {}

  void tell(State state, hal::Time now) {
    for (unsigned output = 0; output < outputs_; ++output) {
      sink_.on_state(sensor(output), state, now);
    }
  }

  // Counts in `health`. Calls `on_arrival(output)` for each packet that has a stamp, then, if it is
  // delivered, `on_packet(packet)` and the sink.
  template <class OnArrival, class OnPacket>
  void hand_out(std::span<Decoded::Item> items, hal::Time arrival, Health& health,
                OnArrival&& on_arrival, OnPacket&& on_packet) {
    for (Decoded::Item& item : items) {
      if (item.output >= outputs_) {
        ++health.unwanted;
        continue;
      }
      const Stamper::Outcome outcome = stampers_.stamp(item);
      if (outcome == Stamper::Outcome::stale) continue;
      on_arrival(item.output);
      if (outcome == Stamper::Outcome::withheld) continue;
      ++health.packets;
      health.imu_packets += item.output == kImuOutput;
      on_packet(item.packet);
      sink_.on_packet(sensor(item.output), item.packet, arrival);
    }
  }

  // What became of the stamps.
  void tell(Health& health) const {
    health.clock = stampers_.health(kMainOutput);
    health.imu_clock = stampers_.health(kImuOutput);
    health.stale = health.clock.stale + health.imu_clock.stale;
    health.withheld = health.clock.withheld + health.imu_clock.withheld;
  }

  Stampers& stampers() { return stampers_; }

 private:
  SensorId sensor(unsigned output) const { return static_cast<SensorId>(first_sensor_ + output); }

  PacketSink& sink_;
  const SensorId first_sensor_;
  const std::size_t outputs_;
  Stampers stampers_;
};

}  // namespace drivers
