#include "test/sim/fault_injector.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "test/sim/room.h"

namespace sim {
namespace {

constexpr double kWanderPeriod = 300.0;                         // s
constexpr hal::Duration kWanderStep = std::chrono::seconds(1);  // the drift is constant in between

hal::Duration milliseconds(double value) { return hal::from_seconds(value * 1e-3); }

// A reset holds while it boots, whatever DURATION says.
Fault with_true_window(const Fault& fault) {
  Fault window = fault;
  if (fault.kind == FaultKind::reset) window.duration = boot_time(fault);
  return window;
}

}  // namespace

hal::Duration boot_time(const Fault& reset) { return hal::from_seconds(reset.value); }

const Fault* FaultInjector::first(FaultKind kind, hal::Time t) const {
  for (const Fault& fault : faults_)
    if (fault.kind == kind && with_true_window(fault).holds(t - ready_)) return &fault;
  return nullptr;
}

const Fault* FaultInjector::hit(FaultKind kind, hal::Time t) {
  const Fault* const fault = first(kind, t);
  if (fault == nullptr || !random_.chance(fault->share)) return nullptr;
  return fault;
}

hal::Time FaultInjector::next_change(hal::Time after) const {
  hal::Time next = kNever;
  for (const Fault& fault : faults_) {
    const Fault window = with_true_window(fault);
    const hal::Time start = start_of(window);
    if (start > after) next = std::min(next, start);
    if (fault.kind == FaultKind::wander && window.holds(after - ready_))
      next = std::min(next, after + kWanderStep - (after - start) % kWanderStep);
    if (window.duration >= kNever - start) continue;
    if (start + window.duration > after) next = std::min(next, start + window.duration);
  }
  return next;
}

bool FaultInjector::is_powered(hal::Time t) const {
  return first(FaultKind::off, t) == nullptr && first(FaultKind::reset, t) == nullptr &&
         is_plugged(t);
}

bool FaultInjector::is_plugged(hal::Time t) const { return first(FaultKind::unplug, t) == nullptr; }

double FaultInjector::drift_ppm(hal::Time t) const {
  const Fault* const drift = first(FaultKind::drift, t);
  const Fault* const wander = first(FaultKind::wander, t);
  double ppm = drift == nullptr ? 0.0 : drift->value;
  if (wander != nullptr)
    ppm += wander->value * std::sin(kTurn * hal::to_seconds(t - start_of(*wander)) / kWanderPeriod);
  return ppm;
}

hal::Duration FaultInjector::jitter(hal::Time t) const {
  const Fault* const fault = first(FaultKind::jitter, t);
  return fault == nullptr ? hal::Duration::zero() : milliseconds(fault->value);
}

hal::Time FaultInjector::released(hal::Time t) const {
  const Fault* const fault = first(FaultKind::stall, t);
  return fault == nullptr ? t : start_of(*fault) + fault->duration;
}

unsigned FaultInjector::line_baud(hal::Time t, unsigned nominal) const {
  const Fault* const fault = first(FaultKind::baud, t);
  if (fault == nullptr || nominal == 0) return nominal;
  return fault->value > 0.0 ? static_cast<unsigned>(fault->value) : nominal / 2;
}

void FaultInjector::pass(Outgoing frame, const DeviceModel& model, std::vector<Outgoing>& out) {
  const hal::Time t = frame.at;
  if (is_lost(frame)) return;
  if (!frame.is_reply) falsify(frame, model);
  if (const Fault* const late = hit(FaultKind::delayed, t)) frame.at += milliseconds(late->value);
  const bool is_twice = hit(FaultKind::duplicate, t) != nullptr;
  if (!held_back_ && hit(FaultKind::reorder, t) != nullptr) {
    held_back_ = std::move(frame);
    return;
  }
  if (is_twice) emit(frame, out);
  const hal::Time at = frame.at;
  emit(std::move(frame), out);
  if (!held_back_) return;
  Outgoing behind = std::move(*held_back_);
  held_back_.reset();
  behind.at = std::max(behind.at, at);
  emit(std::move(behind), out);
}

bool FaultInjector::is_lost(const Outgoing& frame) {
  const hal::Time t = frame.at;
  if (hit(FaultKind::drop, t) != nullptr) return true;
  if (const Fault* const gaps = first(FaultKind::intermittent, t)) {
    const hal::Duration period = milliseconds(gaps->value);
    if ((t - start_of(*gaps)) % period >= period / 2) return true;
  }
  const Fault* const slow = first(FaultKind::slow, t);
  if (slow == nullptr || frame.is_reply) return false;
  return slow_count_++ % static_cast<std::uint64_t>(slow->value) != 0;
}

void FaultInjector::falsify(Outgoing& frame, const DeviceModel& model) {
  if (first(FaultKind::stuck, frame.at) == nullptr || !last_measurement_)
    last_measurement_ = frame.bytes;
  else if (hit(FaultKind::stuck, frame.at) != nullptr)
    frame.bytes = *last_measurement_;
  if (hit(FaultKind::wrong, frame.at) != nullptr) model.falsify(frame.bytes, random_);
}

void FaultInjector::damage(Outgoing& frame) {
  if (frame.bytes.empty()) return;
  if (const Fault* const flip = hit(FaultKind::bitflip, frame.at)) {
    for (int i = 0; i < static_cast<int>(flip->value); ++i) {
      std::byte& byte = frame.bytes[random_.below(frame.bytes.size())];
      byte ^= std::byte{1} << static_cast<int>(random_.below(8));
    }
  }
  if (const Fault* const cut = hit(FaultKind::truncate, frame.at)) {
    const auto wanted = static_cast<std::size_t>(cut->value);
    const std::size_t kept = wanted > 0 ? wanted : 1 + random_.below(frame.bytes.size() - 1);
    frame.bytes.resize(std::min(kept, frame.bytes.size()));
  }
}

void FaultInjector::emit(Outgoing frame, std::vector<Outgoing>& out) {
  damage(frame);
  if (const Fault* const junk = hit(FaultKind::garbage, frame.at)) {
    Outgoing noise{frame.at, frame.way, frame.is_reply, {}};
    noise.way.hangs_up = false;
    noise.bytes.resize(random_.below(static_cast<std::uint64_t>(junk->value) + 1));
    for (std::byte& byte : noise.bytes) byte = static_cast<std::byte>(random_.below(256));
    if (!noise.bytes.empty()) out.push_back(std::move(noise));
  }
  const Fault* const split = hit(FaultKind::split, frame.at);
  if (split == nullptr) return out.push_back(std::move(frame));
  const auto piece = static_cast<std::size_t>(split->value);
  for (std::size_t at = 0; at < frame.bytes.size(); at += piece) {
    const hal::Bytes part =
        hal::Bytes(frame.bytes).subspan(at, std::min(piece, frame.bytes.size() - at));
    Way way = frame.way;
    way.hangs_up = way.hangs_up && at + part.size() == frame.bytes.size();
    out.push_back({frame.at, way, frame.is_reply, ByteVector(part.begin(), part.end())});
  }
}

}  // namespace sim
