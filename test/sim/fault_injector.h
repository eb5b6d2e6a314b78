// Applies faults between a model and its transport: damages frames, and says when the device has
// power, a port, a good clock and the right baud rate.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "test/sim/device_model.h"
#include "test/sim/faults.h"
#include "test/sim/random.h"

namespace sim {

// A frame, or a piece of one, on its way to the transport.
struct Outgoing {
  hal::Time at;
  Way way;
  bool is_reply = false;  // made in answer to the host
  ByteVector bytes;
};

class FaultInjector {
 public:
  FaultInjector(std::vector<Fault> faults, hal::Time ready, std::uint64_t seed)
      : faults_(std::move(faults)), ready_(ready), random_(seed) {}

  // Appends to `out` what leaves in place of `frame`: nothing, the frame, or more.
  void pass(Outgoing frame, const DeviceModel& model, std::vector<Outgoing>& out);

  const std::vector<Fault>& faults() const { return faults_; }
  hal::Time start_of(const Fault& fault) const { return ready_ + fault.start; }

  // The next instant later than `after` at which one of the answers below may change, or a fault
  // that is an instant (jump, wrap, reset) happens; kNever when none is to come.
  hal::Time next_change(hal::Time after) const;

  bool is_powered(hal::Time t) const;
  bool is_plugged(hal::Time t) const;
  double drift_ppm(hal::Time t) const;
  hal::Duration jitter(hal::Time t) const;
  hal::Time released(hal::Time t) const;  // the end of the stall that holds at `t`; else `t`
  unsigned line_baud(hal::Time t, unsigned nominal) const;
  bool has_wrong_baud(hal::Time t) const { return first(FaultKind::baud, t) != nullptr; }

 private:
  const Fault* first(FaultKind kind, hal::Time t) const;
  const Fault* hit(FaultKind kind, hal::Time t);  // holds, and the dice say this frame
  bool is_lost(const Outgoing& frame);
  void falsify(Outgoing& frame, const DeviceModel& model);
  void damage(Outgoing& frame);
  void emit(Outgoing frame, std::vector<Outgoing>& out);

  std::vector<Fault> faults_;
  hal::Time ready_;
  Random random_;
  std::optional<ByteVector> last_measurement_;
  std::optional<Outgoing> held_back_;  // by reorder
  std::uint64_t slow_count_ = 0;
};

// When a reset ends: its VALUE is the boot time.
hal::Duration boot_time(const Fault& reset);

}  // namespace sim
