#include "drivers/block_order.h"

namespace drivers {
namespace {

constexpr std::uint64_t kFirst = std::uint64_t{1} << 62;  // so that none is below 0

}  // namespace

void BlockOrder::restart() {
  sweep_.restart();
  order_.forget();
  newest_ = kFirst;
  lost_ = 0;
}

std::uint64_t BlockOrder::number_of(const Frame& frame, const std::optional<Timing>& stamp) const {
  return newest_ + static_cast<std::uint64_t>(sweep_.ahead_ns(frame.bytes, stamp));
}

bool BlockOrder::comes_late(const Frame& frame, const std::optional<Timing>& stamp,
                            std::uint64_t number) const {
  if (sweep_.comes_late(frame, stamp)) return true;
  return !begins_anew(frame, stamp) && order_.is_behind(number);
}

// What lies behind and was not overtaken is of a clock that began anew.
bool BlockOrder::begins_anew(const Frame& frame, const std::optional<Timing>& stamp) const {
  return !sweep_.began() || sweep_.ahead_ns(frame.bytes, stamp) <= 0;
}

}  // namespace drivers
