#include "collation/collator.h"

#include <algorithm>
#include <utility>

namespace collation {

Collator::Collator(Policy policy, CollatedSink& sink, bool by_trajectory)
    : policy_(policy), sink_(sink), by_trajectory_(by_trajectory) {}

hal::Status Collator::refuse(int trajectory, const char* why) {
  ++misuse_;
  return hal::Error{hal::Errc::bad_config, 0, "collation: add trajectory",
                    hal::Text<192>::of("trajectory %d: %s", trajectory, why)};
}

Collator::Trajectory* Collator::find(int trajectory) {
  const auto found = trajectories_.find(trajectory);
  return found == trajectories_.end() ? nullptr : &found->second;
}

std::size_t Collator::order_for_new_trajectory() {
  if (orders_.empty() || by_trajectory_) {
    orders_.push_back(std::make_unique<OrderedMultiQueue>(policy_, sink_));
  }
  return orders_.size() - 1;
}

hal::Status Collator::add_trajectory(int trajectory, std::span<const CollatedSensor> sensors) {
  if (Trajectory* const known = find(trajectory)) {
    if (!known->finished) return refuse(trajectory, "is there already");
    known->finished = false;
    known->sensors.clear();
  } else {
    trajectories_.emplace(trajectory, Trajectory{order_for_new_trajectory(), {}});
  }
  for (const CollatedSensor& sensor : sensors) {
    if (const hal::Status status = add_sensor(trajectory, sensor); !status) return status;
  }
  return hal::ok;
}

hal::Status Collator::add_sensor(int trajectory, const CollatedSensor& sensor) {
  Trajectory* const owner = find(trajectory);
  if (!owner || owner->finished) return refuse(trajectory, "is not there");
  const Member& before = member(sensor.id);
  if (before.known && before.order != owner->order && !is_done(sensor.id)) {
    return refuse(trajectory, "the sensor belongs to another trajectory");
  }
  const hal::Status status =
      orders_[owner->order]->add_queue(trajectory, sensor.name, sensor.id, sensor.queue);
  if (!status) return status;
  if (sensor.id >= members_.size()) members_.resize(sensor.id + std::size_t{1});
  members_[sensor.id] = {.order = static_cast<std::uint32_t>(owner->order),
                         .role = sensor.queue.role,
                         .max_wait = sensor.queue.max_wait,
                         .known = true};
  owner->sensors.push_back(sensor.id);
  return hal::ok;
}

void Collator::finish_trajectory(int trajectory) {
  Trajectory* const owner = find(trajectory);
  if (!owner || owner->finished) {
    ++misuse_;
    return;
  }
  owner->finished = true;
  for (const drivers::SensorId sensor : owner->sensors) {
    orders_[owner->order]->mark_finished(sensor);
  }
}

void Collator::finish_sensor(drivers::SensorId sensor) {
  if (OrderedMultiQueue* const order = order_of(sensor)) {
    order->mark_finished(sensor);
    for (auto& [id, owner] : trajectories_) std::erase(owner.sensors, sensor);
  } else {
    ++misuse_;
  }
}

void Collator::flush() {
  for (const auto& order : orders_) order->flush();
}

const Collator::Member& Collator::member(drivers::SensorId sensor) const {
  static constexpr Member kUnknown{};
  return sensor < members_.size() ? members_[sensor] : kUnknown;
}

OrderedMultiQueue* Collator::order_of(drivers::SensorId sensor) const {
  const Member& known = member(sensor);
  return known.known ? orders_[known.order].get() : nullptr;
}

bool Collator::is_done(drivers::SensorId sensor) const {
  const OrderedMultiQueue* const order = order_of(sensor);
  return !order || order->is_done(sensor);
}

void Collator::add(Datum&& datum, hal::Time arrival) {
  if (OrderedMultiQueue* const order = order_of(datum.sensor)) {
    order->add(std::move(datum), arrival);
  } else {
    ++unknown_sensor_;
  }
}

void Collator::progress(drivers::SensorId sensor, hal::Time floor, hal::Time arrival) {
  if (OrderedMultiQueue* const order = order_of(sensor)) order->progress(sensor, floor, arrival);
}

void Collator::read_empty(drivers::SensorId sensor, hal::Time pass_began) {
  if (OrderedMultiQueue* const order = order_of(sensor)) order->read_empty(sensor, pass_began);
}

void Collator::set_waiting(drivers::SensorId sensor, bool waiting, hal::Time floor) {
  if (OrderedMultiQueue* const order = order_of(sensor)) order->set_waiting(sensor, waiting, floor);
}

void Collator::on_state(drivers::SensorId sensor, drivers::State state, hal::Time now) {
  // What brought a sensor back to streaming was measured before it arrived.
  const bool measured = state == drivers::State::streaming;
  const Member& of = member(sensor);
  set_waiting(sensor, is_waited_for(of.role, state), measured ? now - of.max_wait : now);
}

void Collator::release(hal::Time now) {
  for (const auto& order : orders_) order->release(now);
}

const QueueStats& Collator::stats(drivers::SensorId sensor) const {
  static constexpr QueueStats kNone{};
  const OrderedMultiQueue* const order = order_of(sensor);
  return order ? order->stats(sensor) : kNone;
}

std::optional<Blocking> Collator::blocking() const {
  std::optional<Blocking> longest;
  for (const auto& order : orders_) {
    const std::optional<Blocking> candidate = order->blocking();
    if (candidate && (!longest || candidate->since < longest->since)) longest = candidate;
  }
  return longest;
}

std::optional<Blocking> Collator::blocking_of(int trajectory) const {
  const auto found = trajectories_.find(trajectory);
  if (found == trajectories_.end()) return {};
  return orders_[found->second.order]->blocking();
}

std::uint64_t Collator::unknown_sensor() const {
  std::uint64_t sum = unknown_sensor_;
  for (const auto& order : orders_) sum += order->unknown_sensor();
  return sum;
}

std::uint64_t Collator::misuse() const {
  std::uint64_t sum = misuse_;
  for (const auto& order : orders_) sum += order->misuse();
  return sum;
}

std::uint64_t Collator::held() const {
  std::uint64_t sum = 0;
  for (const auto& order : orders_) sum += order->held();
  return sum;
}

}  // namespace collation
