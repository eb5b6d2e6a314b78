// The whole stack in simulated time: simulated devices on their lines, drivers, Station, and passes
// as the event loop makes them.
#pragma once

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "app/driver_setup.h"
#include "app/station.h"
#include "config/load.h"
#include "test/sim/faults.h"
#include "test/support/allocation_counter.h"
#include "test/support/manual_clock.h"
#include "test/support/places.h"
#include "test/support/sim_port.h"

namespace test {

// What a device measured, joined over its packets.
struct TruthLog final : sim::TruthSink {
  void write(const sim::ScanTruth& scan) override {
    beams.insert(beams.end(), scan.beams.begin(), scan.beams.end());
  }
  void write(const sim::ImuTruth& imu) override { samples.push_back(imu); }
  std::vector<sim::TrueBeam> beams;
  std::vector<sim::ImuTruth> samples;
};

// One sensor of the stack with its simulated device.
struct SimSensor {
  TruthLog truth;
  std::unique_ptr<sim::Player> player;
  SimPort* port = nullptr;  // owned by the driver
};

// The four sensors of the demo: front, rear, side (UDP) and imu.
inline config::Stack demo_stack() {
  auto loaded = config::load(test::in_source("config/examples/demo.yaml"));
  return std::get<config::Stack>(std::move(loaded));
}

class StackBench {
 public:
  using Faults = std::vector<std::vector<const char*>>;  // by sensor

  // With a tap everything is recorded as the daemon records it. Faults count from the start.
  StackBench(const config::Stack& configured, app::MessageSink& sink, hal::Tap* tap = nullptr,
             const Faults& faults = {})
      : stack(configured), plan(config::plan(stack)), station(stack, plan, sink, log), tap_(tap) {
    passes.reserve(100'000);
    sensors.resize(stack.sensors.size());
    for (std::size_t i = 0; i < sensors.size(); ++i) {
      add(i, i < faults.size() ? faults[i] : std::vector<const char*>{});
    }
    set_offset(clock.both().unix_ns - hal::to_ns(clock.now()));
    next_tick_ = clock.now();
  }

  void run_for(hal::Duration length) {
    const hal::Time end = clock.now() + length;
    for (;;) {
      hal::Time due = next_tick_;
      for (SimSensor& sensor : sensors) due = std::min(due, sensor.player->advance(clock.now()));
      if (due > end) break;
      clock.set(std::max(clock.now(), due + wake_up()));
      bool work = clock.now() >= next_tick_;
      for (SimSensor& sensor : sensors) {
        sensor.player->advance(clock.now());
        work |= sensor.port->fetch();
      }
      if (!work) continue;
      const unsigned long before = counter != nullptr ? counter->count() : 0;
      pass();
      if (counter != nullptr) allocations += counter->count() - before;
      for (SimSensor& sensor : sensors) sensor.port->hand_over();
    }
    clock.set(std::max(end, clock.now()));
  }
  // What the daemon does when the wall clock differs.
  void set_offset(std::int64_t unix_minus_inner_ns) {
    record(hal::RawKind::offset, clock.now(), unix_minus_inner_ns);
    station.on_offset(unix_minus_inner_ns);
    offset = unix_minus_inner_ns;
  }
  void finish() {
    record(hal::RawKind::pass, clock.now());
    station.finish(clock.now());
  }

  app::Account account(std::size_t i) const {
    return const_cast<app::Station&>(station).pipeline().account(static_cast<drivers::SensorId>(i));
  }
  hal::Time start() const { return start_; }

  ManualClock clock;
  config::Stack stack;
  config::Plan plan;
  hal::Log log{-1, hal::Severity::error, hal::Log::Style::plain};
  app::Station station;
  std::vector<SimSensor> sensors;
  std::vector<hal::Time> passes;  // their begins
  hal::Duration slept{};          // by the machine, told at the next pass
  std::int64_t offset = 0;        // Unix minus inner time
  // Counts what passes allocate; outlives all memory that is taken while it lives.
  const AllocationCounter* counter = nullptr;
  unsigned long allocations = 0;
  std::function<void()> at_pass_end = [] {};

 private:
  void add(std::size_t i, const std::vector<const char*>& faults) {
    const config::Sensor& sensor = stack.sensors[i];
    SimSensor& simulated = sensors[i];
    const bool is_serial = sensor.port->kind == hal::PortSpec::Kind::serial;
    sim::PlayerInputs inputs{
        *sim::find_model(sensor.driver->name), {}, {}, 0.0, i + 1, is_serial, &simulated.truth, {}};
    for (const char* const text : faults) inputs.faults.push_back(*sim::parse_fault(text));
    simulated.player = std::move(*sim::Player::make(inputs, start_));
    auto port = std::make_unique<SimPort>(clock, *simulated.player, is_serial);
    simulated.port = port.get();
    port->is_line = is_serial;
    const auto id = static_cast<std::uint8_t>(i);
    drivers::DriverSetup setup = app::driver_setup(stack, i, station.pipeline().input());
    setup.ports[0] = std::move(port);
    if (tap_ != nullptr) setup.ports[0] = hal::tapped(std::move(setup.ports[0]), *tap_, id, 0);
    station.pipeline().add(sensor.driver->make(sensor.options, std::move(setup)));
  }
  // A process runs some time after what it waits for.
  hal::Duration wake_up() { return std::chrono::microseconds(20 + random_() % 80); }
  void pass() {
    const hal::Time now = clock.now();
    passes.push_back(now);
    record(hal::RawKind::pass, now, slept.count());
    station.on_pass_begin(now);
    if (slept > 0ns) station.on_suspended(slept);
    slept = {};
    for (SimSensor& sensor : sensors) sensor.port->deliver();
    if (now >= next_tick_) {
      next_tick_ += app::Station::kTick;
      record(hal::RawKind::tick, now);
      station.on_tick(now);
    }
    station.on_pass_end(now);
    at_pass_end();
  }
  void record(hal::RawKind kind, hal::Time at, std::int64_t value = 0) {
    if (tap_ != nullptr) tap_->on_record({.kind = kind, .at = at, .value = value});
  }

  hal::Tap* tap_;
  const hal::Time start_ = clock.now();
  hal::Time next_tick_{};
  std::minstd_rand random_{1};
};

}  // namespace test
