#include "drivers/decoded.h"

#include <algorithm>

namespace drivers {

Stamper::Outcome Stamper::stamp(Packet& packet, const Timing& timing) {
  const hal::Time sent = timing.arrival - latency_of(timing);
  if (timing.period > hal::Duration{}) mapper_.set_period(timing.period);
  if (timing.anew) mapper_.reopened();
  hal::Time at{};
  bool tells = false;  // apart from its value: an optional would be written as two and read as one
  std::int64_t device_ns = 0;
  switch (timing.source) {
    case Timing::Source::clock:
    case Timing::Source::utc:
    case Timing::Source::counter: {
      std::optional<hal::Time> known;
      if (timing.source == Timing::Source::utc &&
          options_.clock == StampOptions::Clock::device_utc) {
        known = utc_.instant(timing.raw_ns, sent);
      }
      const auto mapped = mapper_.map(timing.raw_ns, sent, timing.shared, known);
      if (!mapped) return Outcome::stale;
      if (!known && options_.warm_up && sent - mapper_.epoch_began() < *options_.warm_up) {
        ++withheld_;
        return Outcome::withheld;
      }
      at = mapped->at;
      tells = timing.source != Timing::Source::counter;
      device_ns = mapped->device_ns;
      break;
    }
    case Timing::Source::arrival:
      at = mapper_.unstamped(sent);
      break;
    case Timing::Source::previous:
      at = mapper_.after_previous(sent);
      break;
  }
  const auto tell = [&](std::optional<std::int64_t>& stamp) {
    if (tells) {
      stamp = device_ns;
    } else {
      stamp.reset();
    }
  };
  at += timing.to_first;
  if (auto* const slice = std::get_if<ScanSlice>(&packet)) {
    slice->first = at;
    tell(slice->device_ns);
    keep_order(*slice);
  } else {
    auto& sample = std::get<ImuSample>(packet);
    sample.at = at;
    tell(sample.device_ns);
  }
  return Outcome::stamped;
}

void Stamper::keep_order(ScanSlice& slice) {
  const hal::Time last = slice.last();
  const auto n = static_cast<std::int64_t>(slice.beams.size());
  if (slice.first <= newest_first_ && last > newest_first_) {
    slice.step = (last - newest_first_) / n;
    slice.first = last - slice.step * (n - 1);
  } else if (slice.first <= newest_first_) {
    slice.step = {};
    slice.first = newest_first_ + hal::Duration(1);
  }
  newest_first_ = slice.first;
}

hal::Duration Stamper::latency_of(const Timing& timing) {
  if (options_.fixed_latency) return timing.held + *options_.fixed_latency;
  if (timing.bytes != line_bytes_) {
    line_bytes_ = timing.bytes;
    const double bits = static_cast<double>(timing.bytes) * 10.0;
    line_time_ = baud_ > 0 ? hal::from_seconds(bits / baud_) : hal::Duration{};
  }
  return std::clamp(timing.held + line_time_, timing.least, timing.most);
}

ClockHealth Stamper::health() const {
  ClockHealth health = mapper_.health();
  health.utc = utc_.state();
  health.withheld = withheld_;
  return health;
}

}  // namespace drivers
