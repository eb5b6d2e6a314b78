// A simulated device whole: model, clock, faults and line, still without I/O and in any time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "test/sim/arrival.h"
#include "test/sim/device_clock.h"
#include "test/sim/fault_injector.h"
#include "test/sim/models.h"
#include "test/sim/truth.h"

namespace sim {

struct PlayerInputs {
  const ModelRow& row;
  Options set;
  std::vector<Fault> faults;
  double rate_hz = 0.0;
  std::uint64_t seed = 1;
  bool is_serial = false;      // bytes take line time; a socket carries a frame at once
  TruthSink* truth = nullptr;  // may be none; outlives the player
  Arrival arrival = Arrival::direct;
  DataPorts* ports = nullptr;  // may be none; outlives the player
  bool streams_unasked = false;
};

class Player {
 public:
  // The device gets power at `ready`, which is also the zero of all fault times.
  static hal::Result<std::unique_ptr<Player>> make(const PlayerInputs& inputs, hal::Time ready);

  // Ignored while the device has no power.
  void receive(Channel channel, hal::Bytes bytes, hal::Time now);

  // Plays all that happens by `now`, each thing at its own instant; returns the next instant.
  hal::Time advance(hal::Time now);

  // The next bytes that the host can read by `now`, in order; false when there are
  // none.
  bool take(hal::Time now, Write& write);

  bool is_plugged(hal::Time now) const { return faults_.is_plugged(now); }
  // What the device's UART is set to, 0 when it has none; and whether a fault put it there.
  unsigned line_baud(hal::Time now) const { return faults_.line_baud(now, model_->baud()); }
  bool has_wrong_baud(hal::Time now) const { return faults_.has_wrong_baud(now); }
  std::uint64_t overrun_frames() const { return overrun_frames_; }

 private:
  Player(const PlayerInputs& inputs, hal::Time ready);

  void change_at(hal::Time t);
  void set_power(bool on, hal::Time t);
  void collect(bool is_reply);
  void put_on_line(Outgoing frame);
  void arrive();
  hal::Time next_event() const;

  DeviceClock clock_;
  ArrivalModel arrival_;
  FaultInjector faults_;
  std::unique_ptr<DeviceModel> model_;
  bool is_serial_;
  TruthSink* truth_;
  bool is_powered_ = false;
  hal::Time model_due_ = kNever;
  hal::Time change_due_ = kNever;
  hal::Time line_free_{};
  Output output_;
  std::vector<Outgoing> passed_;
  std::deque<Outgoing> pending_;  // by instant
  std::deque<Write> writes_;      // by due
  std::uint64_t overrun_frames_ = 0;
};

}  // namespace sim
