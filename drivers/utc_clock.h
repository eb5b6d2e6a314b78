// The clock of a device that is kept by PTP or NTP: its stamps are Unix time, and become inner time
// through the host's own wall clock, as long as the two agree.
#pragma once

#include <cstdint>
#include <optional>

#include "hal/time.h"

namespace drivers {

enum class UtcState : std::uint8_t {
  unused,       // not asked for, or no stamp came yet
  trusted,      // stamps are the device's own
  tai,          // 37 s ahead: it sends TAI
  implausible,  // before its arrival by more than kOldest, or after it: one of the two is not set
};

class UtcClock {
 public:
  // Unix minus inner time as measured, not as slewed for the outputs.
  void set_wall_clock(std::int64_t unix_minus_inner_ns) { offset_ns_ = unix_minus_inner_ns; }

  // When `unix_ns` was, for a stamp that came at `arrival`. Empty while it is not to be believed:
  // after a stamp that was not, the next kProbation must fit.
  std::optional<hal::Time> instant(std::int64_t unix_ns, hal::Time arrival);
  UtcState state() const { return state_; }

  // From stamp to arrival. Two clocks that are kept well differ by less than the tolerance.
  static constexpr hal::Duration kOldest = std::chrono::seconds(1);
  static constexpr hal::Duration kTolerance = std::chrono::milliseconds(1);
  // TAI minus UTC since 2017, https://hpiers.obspm.fr/eop-pc/webiers/tai-utc (Bulletin C 52).
  static constexpr hal::Duration kTai = std::chrono::seconds(37);
  static constexpr unsigned kProbation = 100;

 private:
  std::optional<std::int64_t> offset_ns_;
  UtcState state_ = UtcState::unused;
  unsigned probation_ = 0;  // stamps that must still fit
};

}  // namespace drivers
