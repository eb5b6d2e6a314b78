// Device time to inner time: jittery arrivals in, steady stamps out.
//
// Method: block-minimum line fit. Arrival noise is one-sided (nothing arrives early), so the
// information is in the minima: the best pair of each second of device time enters a ring of 30,
// a line is fitted through the ring, and its lowest point sets the offset. Constant memory, O(1)
// per sample. Compare: Zhang, Liu, Xia, "Clock synchronization algorithms for network
// measurements", INFOCOM 2002; Olson, "A passive solution to the sensor synchronization problem",
// IROS 2010.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "drivers/utc_clock.h"
#include "hal/time.h"

namespace drivers {

struct ClockModel {
  hal::Duration modulus{};   // the stamp wraps here; 0: never
  hal::Duration quantum{};   // the stamp is cut to this; 0: fine
  hal::Duration period{};    // nominal, between two stamps; smooths a coarse clock
  double max_skew = 300e-6;  // crystals; kCountedSkew where time is counted, not sent
};

inline constexpr double kCountedSkew = 5e-2;

struct ClockHealth {
  std::int64_t offset_ns = 0;  // inner minus device time at the newest stamp
  double drift_ppm = 0;
  hal::Duration residual{};   // highest above lowest block of the newest fit
  std::uint32_t epoch = 0;    // counts restarts and jumps of the device clock
  std::uint64_t stale = 0;    // stamps that did not advance: dropped
  std::uint64_t made_up = 0;  // periods that must have been lost, as later arrivals show
  std::uint64_t nudged = 0;   // stamps moved by 1 us to keep them increasing
  bool locked = false;        // false: stamps are coarse
  // Of the stamper: what its device's UTC is worth, and packets held back while it warmed up.
  UtcState utc = UtcState::unused;
  std::uint64_t withheld = 0;
};

class ClockMapper {
 public:
  explicit ClockMapper(const ClockModel& model) : model_(model) {}

  struct Stamp {
    // Strictly increasing, and never later than `arrival`, but where several samples arrive
    // together: those may exceed it by 1 us each.
    hal::Time at;
    std::int64_t device_ns;  // unwrapped
  };
  // `raw_ns` as the device sent it; `arrival` less the constant part of the latency. Empty when
  // the stamp is older than or equal to the one before, unless it is `shared`: then it belongs to
  // the measurement of the one before. `known`: when it was, from a better clock than the line.
  std::optional<Stamp> map(std::int64_t raw_ns, hal::Time arrival, bool shared = false,
                           std::optional<hal::Time> known = std::nullopt);
  // For packets without a stamp: at `arrival`, but after the one before.
  hal::Time unstamped(hal::Time arrival);
  // For packets that belong to the measurement of the one before.
  hal::Time after_previous(hal::Time arrival);
  // The port was opened anew. What is counted begins again, which is no epoch. A clock of its own
  // may have gone on or have restarted: the next stamp is judged strictly.
  void reopened();
  void set_period(hal::Duration period) { model_.period = period; }  // as now known better
  hal::Time epoch_began() const { return epoch_began_; }             // arrival of its first stamp
  bool counted() const { return model_.max_skew >= kCountedSkew; }   // no clock of its own
  const ClockHealth& health() const { return health_; }

 private:
  struct Pair {
    std::int64_t device = 0;  // since the epoch's first stamp, ns
    std::int64_t delay = 0;   // arrival minus device, since the epoch's first pair, ns
  };
  static constexpr std::size_t kBlocks = 30;
  static constexpr std::size_t kLockBlocks = 8;  // counted time is too far off to wait for these

  std::int64_t advance_of(std::int64_t raw_ns, hal::Time arrival) const;
  std::optional<std::int64_t> unwrap(std::int64_t raw_ns, hal::Time arrival);
  std::int64_t smooth(std::int64_t device_ns) const;
  std::int64_t jump() const;
  bool stays_behind(Pair pair, double late, hal::Time arrival);
  void begin(std::int64_t device_ns, hal::Time arrival);
  Pair pair_at(std::int64_t device_ns, hal::Time arrival) const {
    return {device_ns - origin_device_, hal::to_ns(arrival) - device_ns - origin_delay_};
  }
  void observe(Pair pair, double late, hal::Time arrival);
  std::int64_t look_for_loss(double late, bool in_a_burst);
  void end_block(bool in_a_burst);
  void fit();
  bool fitted() const { return blocks_ >= (counted() ? 2 : kLockBlocks); }
  double predicted(std::int64_t device) const {
    return offset_ + skew_ * static_cast<double>(device);
  }
  double above(Pair pair) const {  // the line, ns
    return static_cast<double>(pair.delay) - predicted(pair.device);
  }
  hal::Time publish(hal::Time wanted, hal::Time arrival);

  ClockModel model_;
  ClockHealth health_;
  bool begun_ = false;
  bool fresh_ = false;                         // no stamp came since the port was opened anew
  std::int64_t last_raw_ = 0, unwrapped_ = 0;  // unwrapped_ of the newest stamp
  std::int64_t smoothed_ = 0;
  std::int64_t last_step_ = 0;  // between the two newest stamps
  hal::Time last_arrival_{}, epoch_began_{};
  std::int64_t origin_device_ = 0;  // first stamp and first delay of the epoch
  std::int64_t origin_delay_ = 0;
  double offset_ = 0, skew_ = 0;  // delay = offset_ + skew_ * device, relative to the origin
  std::array<Pair, kBlocks> ring_{};
  std::size_t blocks_ = 0, next_block_ = 0, refused_ = 0;
  std::int64_t block_start_ = 0;
  hal::Time block_from_{};  // arrival of its first stamp
  Pair best_{};
  double best_height_ = 0;  // of best_, above the line's slope through the origin
  bool block_empty_ = true;
  unsigned run_ = 0;               // stamps in a row that came a period late or more, bursts apart
  double run_low_ = 0;             // the least of that, ns
  std::int64_t above_since_ = -1;  // device time since when delays are far above the model
  hal::Time above_from_{};         // and the arrival then
  hal::Time last_out_ = hal::Time::min();
};

}  // namespace drivers
