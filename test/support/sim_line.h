// A driver and its simulated device on a serial line (or a socket) that delays nothing, in
// simulated time.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "drivers/registry.h"
#include "test/sim/faults.h"
#include "test/sim/player.h"
#include "test/support/harness.h"
#include "test/support/manual_clock.h"
#include "test/support/packet_log.h"
#include "test/support/sim_port.h"
#include "test/support/stack_bench.h"

namespace test {

// What is not as usual of one: another device than the driver's own, or a line that delays.
struct SimLineOf {
  const char* simulator = nullptr;  // null: the driver's own
  sim::Arrival arrival = sim::Arrival::direct;
};

class SimLine {
 public:
  static constexpr int kTcp = -1;
  using Set = std::vector<std::pair<const char*, const char*>>;

  // `baud` 0: datagrams, kTcp: a connection; `with_control`: and a connection for commands beside
  // it. The device gets power at once; the driver starts `later`.
  SimLine(const char* driver, const sim::Options& device, const Set& options, int baud,
          hal::Duration later = {}, const std::vector<const char*>& faults = {},
          bool with_control = false, const SimLineOf& of = {})
      : row_(*drivers::find(driver)) {
    drivers::Options chosen(row_.options);
    for (const auto& [key, value] : options) CHECK_TRUE(static_cast<bool>(chosen.set(key, value)));
    const bool is_serial = baud > 0;
    const char* const simulator = of.simulator != nullptr ? of.simulator : driver;
    sim::PlayerInputs inputs{
        *sim::find_model(simulator), device, {}, 0.0, 1, is_serial, &truth, of.arrival};
    for (const char* const text : faults) inputs.faults.push_back(*sim::parse_fault(text));
    player_ = std::move(*sim::Player::make(inputs, clock.now()));
    auto owned = std::make_unique<SimPort>(clock, *player_, is_serial);
    port = owned.get();
    if (!is_serial) port->own = {{127, 0, 0, 1}, 2115};
    port->is_line = is_serial;
    if (of.simulator != nullptr) port->configured = baud;
    drivers::DriverSetup setup{.first_sensor = 0,
                               .outputs = drivers::kMaxOutputs,
                               .baud = std::max(baud, 0),
                               .stamps = {},
                               .ports = {},
                               .sink = &log};
    port->connects = baud == kTcp;
    setup.ports[0] = std::move(owned);
    if (with_control) {
      auto other = std::make_unique<SimPort>(clock, *player_, is_serial, sim::Channel::control);
      control = other.get();
      control->connects = true;
      port->own = {{127, 0, 0, 1}, 2115};
      control->own = {{127, 0, 0, 1}, 40'123};
      setup.ports[1] = std::move(other);
    }
    driver_ = row_.make(chosen, std::move(setup));
    run_for(later);
    driver_->start(clock.now());
    next_tick_ = clock.now() + kTick;
    is_started_ = true;
  }

  void run_for(hal::Duration length) {
    const hal::Time end = clock.now() + length;
    for (;;) {
      const hal::Time player = player_->advance(clock.now());
      const hal::Time due = is_started_ ? std::min(next_tick_, player) : player;
      if (due > end) break;
      clock.set(std::max(due, clock.now()));
      player_->advance(clock.now());
      if (port->fetch(control)) port->deliver();
      if (control != nullptr && control->has_work()) control->deliver();
      if (is_started_ && clock.now() >= next_tick_) {
        next_tick_ += kTick;
        driver_->tick(clock.now());
      }
      hand_over();
    }
    clock.set(std::max(end, clock.now()));
  }
  // How long until the claim holds; at most `most`.
  template <class Claim>
  hal::Duration wait_for(Claim&& claim, hal::Duration most) {
    const hal::Time begin = clock.now();
    while (!claim() && clock.now() < begin + most) run_for(std::chrono::milliseconds(1));
    return clock.now() - begin;
  }
  hal::Duration until_streaming(hal::Duration most = std::chrono::seconds(10)) {
    return wait_for([this] { return health().state == drivers::State::streaming; }, most);
  }
  void stop() {
    driver_->stop(clock.now());
    hand_over();
    run_for(std::chrono::milliseconds(500));
  }
  const drivers::Row& row() const { return row_; }
  drivers::Health health() const { return driver_->health(); }

  ManualClock clock;
  TruthLog truth;
  PacketLog log;
  SimPort* port = nullptr;     // owned by the driver
  SimPort* control = nullptr;  // null: the device has one port

 private:
  void hand_over() {
    port->hand_over();
    if (control != nullptr) control->hand_over();
  }

  static constexpr hal::Duration kTick = std::chrono::milliseconds(20);
  const drivers::Row& row_;
  std::unique_ptr<sim::Player> player_;
  std::unique_ptr<drivers::Driver> driver_;
  hal::Time next_tick_{};
  bool is_started_ = false;
};

}  // namespace test
