// What comes in: queues, data at the gate, time and progress.
#include "collation/ordered_multi_queue.h"

#include <algorithm>
#include <utility>

#include "collation/age.h"

namespace collation {

namespace {

constexpr hal::Duration kFutureTolerance = std::chrono::milliseconds(1);
constexpr hal::Duration kTick{1};

}  // namespace

hal::Status OrderedMultiQueue::refuse(std::string_view name, const char* why) {
  ++misuse_;
  return hal::Error{
      hal::Errc::bad_config, 0, "collation: add queue",
      hal::Text<192>::of("%.*s: %s", static_cast<int>(name.size()), name.data(), why)};
}

hal::Status OrderedMultiQueue::add_queue(int trajectory, std::string_view name,
                                         drivers::SensorId sensor, const QueueOptions& options) {
  if (options.capacity == 0) return refuse(name, "capacity must be at least 1");
  const auto is_in_the_way = [&](const Queue& queue) {
    return queue.sensor == sensor || (queue.trajectory == trajectory && queue.name == name);
  };
  QueueStats kept{};
  for (const Queue& queue : queues_) {
    if (!is_in_the_way(queue)) continue;
    if (!queue.removed) return refuse(name, "the sensor has a queue already");
    const bool same_key = queue.trajectory == trajectory && queue.name == name;
    if (queue.sensor == sensor && same_key) kept = queue.stats;
  }
  if (queues_.size() >= kNoSlot) return refuse(name, "too many sensors");
  std::erase_if(queues_, is_in_the_way);
  const auto place = std::find_if(queues_.begin(), queues_.end(), [&](const Queue& queue) {
    return std::pair(queue.trajectory, std::string_view(queue.name)) > std::pair(trajectory, name);
  });
  Queue queue{.data = boost::circular_buffer<Datum>(options.capacity),
              .start = &starts_[trajectory],
              .sensor = sensor,
              .options = options,
              .trajectory = trajectory,
              .name = std::string(name)};
  queue.stats = kept;
  queues_.insert(place, std::move(queue));
  index_slots();
  return hal::ok;
}

void OrderedMultiQueue::index_slots() {
  std::ranges::fill(slots_, static_cast<std::uint16_t>(kNoSlot));
  fronts_.resize(queues_.size());
  for (std::size_t slot = 0; slot < queues_.size(); ++slot) {
    const drivers::SensorId sensor = queues_[slot].sensor;
    if (sensor >= slots_.size()) slots_.resize(sensor + std::size_t{1}, kNoSlot);
    slots_[sensor] = static_cast<std::uint16_t>(slot);
    update_front(slot);
  }
}

// In strict, order within a queue is judged when a datum becomes the head, as the reference does.
inline bool OrderedMultiQueue::passes_gate(Queue& queue, hal::Time at, hal::Time arrival) {
  const auto drop = [&](std::uint64_t QueueStats::*reason) {
    ++(queue.stats.*reason);
    queue.stats.astray = delay(at, arrival);
    return false;
  };
  const bool is_live = policy_ == Policy::live;
  if (at == hal::Time::max() || (is_live && at > arrival + kFutureTolerance)) {
    return drop(&QueueStats::future);
  }
  if (at == hal::Time::min()) return drop(&QueueStats::backward);
  if (!is_live) return true;
  if (at == queue.previous) return drop(&QueueStats::duplicate);
  if (at < queue.previous) return drop(&QueueStats::backward);
  queue.previous = at;
  queue.next = std::max(queue.next, at + kTick);
  if (queue.options.role == Role::passthrough || at >= last_out_) return true;
  const hal::Duration needed = age(at, arrival);
  if (needed <= kLongestWait) {
    const bool goes_on = arrival - queue.late_at <= kLateSpell;
    auto& sufficient = queue.stats.would_have_sufficed;
    sufficient = goes_on ? std::max(sufficient, needed) : needed;
    queue.late_at = arrival;
  }
  return drop(&QueueStats::late);
}

void OrderedMultiQueue::add(Datum&& datum, hal::Time arrival) {
  now_ = std::max(now_, arrival);
  const std::size_t slot = open_slot_of(datum.sensor);
  // strict takes data of a finished queue while it holds some, as the reference does.
  const bool is_over = slot == kNoSlot || (policy_ == Policy::live && queues_[slot].finished);
  if (is_over) return void(++unknown_sensor_);
  Queue& queue = queues_[slot];
  ++queue.stats.in;
  if (passes_gate(queue, datum.at, arrival)) {
    if (queue.options.role == Role::passthrough) {
      hand_over(queue, datum);
    } else if (!queue.data.full() || make_room(slot)) {
      queue.data.push_back(std::move(datum));
      queue.stats.held = queue.data.size();
      ++held_;
    }
  }
  if (queue.data.size() < 2) update_front(slot);
  if (policy_ == Policy::strict) dispatch();
}

void OrderedMultiQueue::progress(drivers::SensorId sensor, hal::Time floor, hal::Time arrival) {
  const std::size_t slot = slot_of(sensor);
  if (slot == kNoSlot || floor > arrival + kFutureTolerance) return;
  raise_next(slot, floor);
}

void OrderedMultiQueue::read_empty(drivers::SensorId sensor, hal::Time pass_began) {
  const std::size_t slot = slot_of(sensor);
  if (slot == kNoSlot) return;
  raise_next(slot, pass_began - queues_[slot].options.max_wait);
}

void OrderedMultiQueue::set_waiting(drivers::SensorId sensor, bool waiting, hal::Time floor) {
  const std::size_t slot = slot_of(sensor);
  if (slot == kNoSlot || queues_[slot].waiting == waiting) return;
  queues_[slot].waiting = waiting;
  raise_next(slot, waiting ? floor : queues_[slot].next);
}

void OrderedMultiQueue::raise_next(std::size_t slot, hal::Time next) {
  Queue& queue = queues_[slot];
  queue.next = std::max(queue.next, next);
  if (queue.data.empty()) update_front(slot);
}

void OrderedMultiQueue::mark_finished(drivers::SensorId sensor) {
  const std::size_t slot = open_slot_of(sensor);
  if (slot == kNoSlot || queues_[slot].finished) return void(++misuse_);
  Queue& queue = queues_[slot];
  queue.finished = true;
  if (queue.data.empty()) (policy_ == Policy::live ? queue.removed : removable_) = true;
  update_front(slot);
  if (policy_ == Policy::strict) dispatch();
}

void OrderedMultiQueue::flush() {
  for (const Queue& queue : queues_) {
    if (!queue.finished) mark_finished(queue.sensor);
  }
  dispatch();
}

const QueueStats& OrderedMultiQueue::stats(drivers::SensorId sensor) const {
  static constexpr QueueStats kNone{};
  const std::size_t slot = slot_of(sensor);
  return slot == kNoSlot ? kNone : queues_[slot].stats;
}

bool OrderedMultiQueue::is_done(drivers::SensorId sensor) const {
  return open_slot_of(sensor) == kNoSlot;
}

}  // namespace collation
