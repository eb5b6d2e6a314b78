#include "drivers/joined_sample.h"

#include <algorithm>
#include <cstdlib>

namespace drivers {
namespace {

constexpr std::int64_t kRestarted = 500'000'000;  // a stamp that went back further began anew
constexpr std::int64_t kPatience = 4;             // periods until a kind is not awaited any more

template <class T>
bool fits(const std::optional<T>& a, const std::optional<T>& b) {
  return !(a && b);
}

bool fit(const ImuSample& a, const ImuSample& b) {
  return fits(a.accel, b.accel) && fits(a.gyro, b.gyro) && fits(a.orientation, b.orientation) &&
         fits(a.mag, b.mag) && fits(a.pressure, b.pressure) && fits(a.temperature, b.temperature) &&
         fits(a.delta_velocity, b.delta_velocity) && fits(a.delta_angle, b.delta_angle);
}

template <class T>
void add(const std::optional<T>& part, std::optional<T>& to) {
  if (part) to = part;
}

void add(const ImuSample& part, ImuSample& to) {
  add(part.accel, to.accel);
  add(part.gyro, to.gyro);
  add(part.orientation, to.orientation);
  add(part.mag, to.mag);
  add(part.pressure, to.pressure);
  add(part.temperature, to.temperature);
  add(part.delta_velocity, to.delta_velocity);
  add(part.delta_angle, to.delta_angle);
  if (part.interval != hal::Duration::zero()) to.interval = part.interval;
}

}  // namespace

bool JoinedSample::has(const ImuSample& s, Kind kind) {
  switch (kind) {
    case inertial:
      return s.accel || s.gyro;
    case attitude:
      return s.orientation.has_value();
    case field:
      return s.mag.has_value();
    case kKinds:
      break;
  }
  return false;
}

// Whether the instant is news of one of the part's kinds.
bool JoinedSample::advance(const ImuSample& part, std::int64_t raw_ns) {
  bool is_news = false, is_known = false;
  for (std::size_t k = 0; k < kKinds; ++k) {
    if (!has(part, static_cast<Kind>(k))) continue;
    is_known = true;
    Rhythm& rhythm = rhythm_[k];
    const std::int64_t step = rhythm.newest ? raw_ns - *rhythm.newest : 0;
    if (rhythm.newest && step <= 0 && step >= -kRestarted) continue;
    if (step > 0 && (rhythm.period == 0 || step < rhythm.period)) {
      rhythm.period = step;
      apart_ = std::min(apart_, step / 2);
    }
    rhythm.newest = raw_ns;
    is_news = true;
  }
  return is_news || !is_known;
}

bool JoinedSample::joins(const ImuSample& part, std::int64_t raw_ns) const {
  return is_held_ && std::abs(raw_ns - timing_.raw_ns) <= apart_ && fit(held_, part);
}

bool JoinedSample::is_due(Kind kind) const {
  const Rhythm& rhythm = rhythm_[kind];
  if (rhythm.period == 0) return false;
  const std::int64_t since = timing_.raw_ns + apart_ - *rhythm.newest;
  return since >= rhythm.period && since <= kPatience * rhythm.period + apart_;
}

bool JoinedSample::awaits_more() const {
  for (std::size_t k = 0; k < kKinds; ++k) {
    const Kind kind = static_cast<Kind>(k);
    if (!has(held_, kind) && is_due(kind)) return true;
  }
  return false;
}

void JoinedSample::put(const ImuSample& part, const Timing& timing, Decoded& out) {
  const bool shared = advance(part, timing.raw_ns);
  if (joins(part, timing.raw_ns)) {
    if (part.accel) {
      timing_ = timing;
      timing_.shared = shared;
    }
    add(part, held_);
  } else {
    give(out);
    held_ = part;
    timing_ = timing;
    timing_.shared = shared;
    is_held_ = true;
  }
  if (!awaits_more()) give(out);
}

void JoinedSample::give(Decoded& out) {
  if (is_held_) out.add(held_, timing_);
  is_held_ = false;
}

void JoinedSample::forget() {
  rhythm_ = {};
  apart_ = most_apart_;
  is_held_ = false;
}

}  // namespace drivers
