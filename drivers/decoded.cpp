#include "drivers/decoded.h"

namespace drivers {

bool Stamper::stamp(Packet& packet, const Timing& timing) {
  hal::Duration latency = fixed_latency_.value_or(hal::Duration{});
  if (!fixed_latency_ && baud_ > 0) {
    latency = hal::from_seconds(static_cast<double>(timing.bytes) * 10.0 / baud_);
  }
  const hal::Time sent = timing.arrival - latency;
  hal::Time at{};
  std::optional<std::int64_t> device_ns;
  switch (timing.source) {
    case Timing::Source::clock:
    case Timing::Source::counter: {
      const auto mapped = mapper_.map(timing.raw_ns, sent);
      if (!mapped) return false;
      at = mapped->at;
      if (timing.source == Timing::Source::clock) device_ns = mapped->device_ns;
      break;
    }
    case Timing::Source::arrival:
      at = mapper_.unstamped(sent);
      break;
    case Timing::Source::previous:
      at = mapper_.after_previous(sent);
      break;
  }
  at += timing.to_first;
  if (auto* const slice = std::get_if<ScanSlice>(&packet)) {
    slice->first = at;
    slice->device_ns = device_ns;
  } else {
    auto& sample = std::get<ImuSample>(packet);
    sample.at = at;
    sample.device_ns = device_ns;
  }
  return true;
}

}  // namespace drivers
