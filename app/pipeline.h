// The whole data path in one screen: packets of every driver -> clouds and samples -> one order,
// and messages of other programs with them.
// The same for the daemon and for a replay; it never reads a clock.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "app/derived.h"
#include "app/health_checks.h"
#include "app/inputs.h"
#include "app/rest_check.h"
#include "collation/cloud_builder.h"
#include "collation/collator.h"
#include "collation/rate_timer.h"
#include "collation/sampler.h"
#include "config/plan.h"
#include "config/stack.h"
#include "drivers/driver.h"

namespace app {

// A sensor's books from the wire to the order, as they stand.
//   health: see drivers/driver.h
//   packets = sampled_out + what entered the builder or the aligner
struct Account {
  drivers::Health health;
  hal::PortStats port;  // of its data
  std::uint64_t packets = 0, sampled_out = 0;
  collation::CloudStats clouds;  // a lidar's
  collation::ImuStats samples;   // an IMU's
  collation::QueueStats queue;
  double rate_hz = 0;
  hal::Text<96> rate_text;
  HealthCheck checks;
  RestCheck rest;  // an IMU's
  hal::Text<48> sampling_text;
};

// What happened to a sensor that people want to know of.
class EventListener {
 public:
  virtual void on_sensor_state(drivers::SensorId, drivers::State from, drivers::State to,
                               hal::Time now) = 0;
  virtual void on_input_state(std::size_t input, drivers::State from, drivers::State to,
                              hal::Time now) = 0;

 protected:
  ~EventListener() = default;
};

class Pipeline final : private drivers::PacketSink,
                       private InputSink,
                       private collation::CollatedSink {
 public:
  // All memory of the data path is taken here. Everything passed in outlives the pipeline.
  Pipeline(const config::Stack& stack, const config::Plan& plan, collation::MergedSink& out,
           EventListener& events);

  drivers::PacketSink& input() { return *this; }
  void add(std::unique_ptr<drivers::Driver> driver);  // in the order of the stack's devices
  Inputs& inputs() { return inputs_; }                // its ports are added before the start
  const Inputs& inputs() const { return inputs_; }

  void start(hal::Time now);
  void tick(hal::Time now);
  // A loop pass that began at `began` has read all ready ports: what may leave, leaves.
  void end_pass(hal::Time began);
  void set_wall_clock(std::int64_t unix_minus_inner_ns);  // as measured
  void stop(hal::Time now);                               // begins every device's own stop
  bool stopped() const;
  void flush();  // what is held leaves; at the very end

  std::size_t sensors() const { return sensors_; }
  // Of a sensor or, numbered behind them, of an input.
  std::size_t ordered() const { return lanes_.size(); }
  drivers::State state(std::size_t id) const { return lanes_[id].state; }
  const collation::QueueStats& queue(std::size_t id) const {
    return collator_->stats(static_cast<drivers::SensorId>(id));
  }
  const collation::RateTimer& rate(std::size_t id) const { return lanes_[id].rate; }
  Account account(drivers::SensorId id) const;
  // The device's, seen from this output of it: clock, arrivals and packets are its own.
  drivers::Health health(drivers::SensorId id) const;
  const HealthCheck& checks(drivers::SensorId id) const { return lanes_[id].checks; }
  const RestCheck& rest(drivers::SensorId id) const { return lanes_[id].rest; }
  const Derived& derived() const { return derived_; }
  std::uint64_t unknown_sensor() const { return collator_->unknown_sensor(); }
  std::uint64_t misuse() const { return collator_->misuse(); }
  // When the oldest held datum may leave for want of anything earlier, if nothing comes.
  std::optional<hal::Time> due() const;
  // When the earliest driver wants a tick before the next; Time::max(): none does.
  hal::Time tick_due() const;

 private:
  // What lies between an output of a driver and the order.
  struct Lane {
    collation::FixedRatioSampler sampler;
    std::unique_ptr<collation::CloudPool> pool;  // a lidar's
    std::unique_ptr<collation::CloudBuilder> builder;
    std::unique_ptr<collation::ImuAligner> aligner;  // an IMU's
    collation::RateTimer rate;
    HealthCheck checks{};
    RestCheck rest{};  // an IMU's
    drivers::State state = drivers::State::idle;
    hal::Time since{};           // of `state`
    std::size_t driver = 0;      // of a sensor: in drivers_
    bool second_output = false;  // NAME/imu
  };

  void on_packet(drivers::SensorId, const drivers::Packet&, hal::Time arrival) override;
  void on_state(drivers::SensorId, drivers::State, hal::Time now) override;
  void on_input(std::size_t input, collation::MessagePool::Lease, hal::Time arrival) override;
  void on_input_state(std::size_t input, drivers::State, hal::Time now) override;
  void add_sensor_data(drivers::SensorId, const collation::TimedPointCloud&) override;
  void add_sensor_data(drivers::SensorId, const collation::ImuData&) override;
  void add_sensor_data(drivers::SensorId, const collation::OpaqueMessage&) override;
  hal::PortStats port_stats(const Lane&) const;
  void take(drivers::SensorId, Lane&, const drivers::ScanSlice&, hal::Time arrival);
  void take(drivers::SensorId, Lane&, const drivers::ImuSample&, hal::Time arrival);

  Derived derived_;  // what the order is handed on to
  EventListener& events_;
  hal::Time now_{};  // begin of the pass under way
  std::size_t sensors_;
  Inputs inputs_;
  std::vector<Lane> lanes_;               // of the sensors, then of the inputs
  std::vector<hal::Duration> max_waits_;  // as lanes_
  std::unique_ptr<collation::Collator> collator_;
  std::vector<std::unique_ptr<drivers::Driver>> drivers_;
};

}  // namespace app
