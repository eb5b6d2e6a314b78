#include "collation/ordered_multi_queue.h"

#include <algorithm>
#include <utility>

namespace collation {

namespace {

constexpr hal::Duration kFutureTolerance = std::chrono::milliseconds(1);
constexpr hal::Duration kTick{1};

// now - at, bounded to [0, one year]: stamps from outside may be anything.
hal::Duration age(hal::Time at, hal::Time now) {
  constexpr hal::Duration kYear = std::chrono::hours(24 * 365);
  if (at >= now) return {};
  return at < now - kYear ? kYear : now - at;
}

hal::Error refusal(std::string_view name, const char* why) {
  return {hal::Errc::bad_config, 0, "collation: add queue",
          hal::Text<192>::of("%.*s: %s", static_cast<int>(name.size()), name.data(), why)};
}

}  // namespace

hal::Status OrderedMultiQueue::add_queue(int trajectory, std::string_view name,
                                         drivers::SensorId sensor, const QueueOptions& options) {
  if (options.capacity == 0) return refusal(name, "capacity must be at least 1");
  QueueStats kept{};
  for (std::size_t slot = queues_.size(); slot-- > 0;) {
    const Queue& queue = queues_[slot];
    const bool same_key = queue.trajectory == trajectory && queue.name == name;
    if (!same_key && queue.sensor != sensor) continue;
    if (!queue.finished || !queue.data.empty()) {
      return refusal(name, "the sensor has a queue already");
    }
    if (same_key && queue.sensor == sensor) kept = queue.stats;
    queues_.erase(queues_.begin() + static_cast<std::ptrdiff_t>(slot));
  }
  const auto place = std::find_if(queues_.begin(), queues_.end(), [&](const Queue& queue) {
    return std::pair(queue.trajectory, std::string_view(queue.name)) > std::pair(trajectory, name);
  });
  Queue queue{trajectory, std::string(name), sensor, options,
              boost::circular_buffer<Datum>(options.capacity)};
  queue.stats = kept;
  queues_.insert(place, std::move(queue));
  index_slots();
  return hal::ok;
}

void OrderedMultiQueue::index_slots() {
  slot_of_.fill(kNoSlot);
  fronts_.resize(queues_.size());
  for (std::size_t slot = 0; slot < queues_.size(); ++slot) {
    slot_of_[queues_[slot].sensor] = static_cast<std::uint16_t>(slot);
    update_front(slot);
    const int trajectory = queues_[slot].trajectory;
    const auto known = std::ranges::find(starts_, trajectory, &Start::trajectory);
    if (known == starts_.end()) starts_.push_back({trajectory, {}});
  }
}

// Keeps what the scan of earliest() reads side by side in memory.
void OrderedMultiQueue::update_front(std::size_t slot) {
  const Queue& queue = queues_[slot];
  if (!queue.data.empty()) {
    fronts_[slot] = queue.data.front().at;
  } else if (queue.finished || queue.options.role == Role::passthrough) {
    fronts_[slot] = hal::Time::max();
  } else if (policy_ == Policy::strict) {
    fronts_[slot] = hal::Time::min();
  } else {
    fronts_[slot] = queue.waiting ? queue.next : hal::Time::max();
  }
}

void OrderedMultiQueue::add(Datum&& datum, hal::Time arrival) {
  now_ = std::max(now_, arrival);
  if (is_done(datum.sensor)) return void(++unknown_sensor_);
  const std::size_t slot = slot_of_[datum.sensor];
  Queue& queue = queues_[slot];
  ++queue.stats.in;
  if (passes_gate(queue, datum.at, arrival)) {
    if (queue.options.role == Role::passthrough) {
      hand_over(queue, datum);
    } else if (make_room(slot)) {
      queue.data.push_back(std::move(datum));
      queue.stats.held = queue.data.size();
    }
  }
  update_front(slot);
  if (policy_ == Policy::strict) dispatch();
}

// In strict, order within a queue is judged when a datum becomes the head, as the reference does.
bool OrderedMultiQueue::passes_gate(Queue& queue, hal::Time at, hal::Time arrival) {
  QueueStats& stats = queue.stats;
  if (at == hal::Time::max() || (policy_ == Policy::live && at > arrival + kFutureTolerance)) {
    return ++stats.future, false;
  }
  if (at == hal::Time::min()) return ++stats.backward, false;
  if (policy_ == Policy::strict) return true;
  if (at == queue.previous) return ++stats.duplicate, false;
  if (at < queue.previous) return ++stats.backward, false;
  queue.previous = at;
  queue.next = std::max(queue.next, at + kTick);
  if (queue.options.role == Role::passthrough || at >= last_out_) return true;
  ++stats.late;
  stats.would_have_sufficed = std::max(stats.would_have_sufficed, age(at, arrival));
  return false;
}

// False when the datum on its way in is the one to be dropped.
bool OrderedMultiQueue::make_room(std::size_t slot) {
  Queue& queue = queues_[slot];
  if (!queue.data.full()) return true;
  switch (queue.options.overflow) {
    case Overflow::release:
      while (queue.data.full()) {
        const std::size_t oldest = earliest_head();
        if (drop_unsorted_head(oldest)) continue;
        ++queues_[oldest].stats.forced;
        deliver(oldest);
      }
      return true;
    case Overflow::drop_oldest:
      ++queue.stats.overflow;
      pop(slot);
      return true;
    case Overflow::drop_newest:
      ++queue.stats.overflow;
      return false;
  }
  return false;
}

void OrderedMultiQueue::progress(drivers::SensorId sensor, hal::Time floor, hal::Time arrival) {
  const std::size_t slot = slot_of_[sensor];
  if (slot == kNoSlot || floor > arrival + kFutureTolerance) return;
  raise_next(slot, floor);
}

void OrderedMultiQueue::read_empty(drivers::SensorId sensor, hal::Time pass_began) {
  const std::size_t slot = slot_of_[sensor];
  if (slot == kNoSlot) return;
  raise_next(slot, pass_began - queues_[slot].options.max_wait);
}

void OrderedMultiQueue::set_waiting(drivers::SensorId sensor, bool waiting, hal::Time floor) {
  const std::size_t slot = slot_of_[sensor];
  if (slot == kNoSlot || queues_[slot].waiting == waiting) return;
  queues_[slot].waiting = waiting;
  raise_next(slot, waiting ? floor : queues_[slot].next);
}

void OrderedMultiQueue::raise_next(std::size_t slot, hal::Time next) {
  queues_[slot].next = std::max(queues_[slot].next, next);
  update_front(slot);
}

void OrderedMultiQueue::release(hal::Time now) {
  now_ = std::max(now_, now);
  if (policy_ == Policy::live) dispatch();
}

void OrderedMultiQueue::mark_finished(drivers::SensorId sensor) {
  const std::size_t slot = slot_of_[sensor];
  if (slot == kNoSlot || queues_[slot].finished) return void(++misuse_);
  queues_[slot].finished = true;
  update_front(slot);
  if (policy_ == Policy::strict) dispatch();
}

void OrderedMultiQueue::flush() {
  for (const Queue& queue : queues_) {
    if (!queue.finished) mark_finished(queue.sensor);
  }
  dispatch();
}

// On ties the lowest key: slots are in key order.
std::size_t OrderedMultiQueue::earliest() const {
  return static_cast<std::size_t>(std::ranges::min_element(fronts_) - fronts_.begin());
}

std::size_t OrderedMultiQueue::earliest_head() const {
  std::size_t best = kNoSlot;
  for (std::size_t slot = 0; slot < queues_.size(); ++slot) {
    if (queues_[slot].data.empty()) continue;
    if (best == kNoSlot || fronts_[slot] < fronts_[best]) best = slot;
  }
  return best;
}

void OrderedMultiQueue::dispatch() {
  while (!queues_.empty()) {
    const std::size_t slot = earliest();
    if (queues_[slot].data.empty()) return set_blocked_by(slot);
    if (drop_unsorted_head(slot)) continue;
    switch (policy_ == Policy::live ? Choice::deliver : choose(slot)) {
      case Choice::deliver:
        deliver(slot);
        break;
      case Choice::drop:
        ++queues_[slot].stats.before_start;
        pop(slot);
        break;
      case Choice::block:
        return set_blocked_by(slot);
    }
  }
}

// Cartographer aborts here. Cannot happen in live, where the gate has looked before.
bool OrderedMultiQueue::drop_unsorted_head(std::size_t slot) {
  Queue& queue = queues_[slot];
  if (queue.data.front().at >= last_out_) return false;
  ++queue.stats.late;
  pop(slot);
  return true;
}

// The common start: of the data before it, each queue keeps the last one, unless another datum
// stands exactly at the start.
OrderedMultiQueue::Choice OrderedMultiQueue::choose(std::size_t slot) {
  const Queue& queue = queues_[slot];
  const hal::Time start = common_start(queue.trajectory);
  if (queue.data.front().at >= start) return Choice::deliver;
  if (queue.data.size() < 2) return queue.finished ? Choice::deliver : Choice::block;
  return queue.data[1].at > start ? Choice::deliver : Choice::drop;
}

hal::Time OrderedMultiQueue::common_start(int trajectory) {
  const auto start = std::ranges::find(starts_, trajectory, &Start::trajectory);
  if (start->at) return *start->at;
  hal::Time latest = hal::Time::min();
  for (const Queue& queue : queues_) {
    if (queue.trajectory != trajectory || queue.data.empty()) continue;
    latest = std::max(latest, queue.data.front().at);
  }
  start->at = latest;
  return latest;
}

void OrderedMultiQueue::deliver(std::size_t slot) {
  Queue& queue = queues_[slot];
  last_out_ = queue.data.front().at;
  blocking_.reset();
  hand_over(queue, queue.data.front());
  pop(slot);
}

void OrderedMultiQueue::hand_over(Queue& queue, const Datum& datum) {
  ++queue.stats.out;
  queue.stats.worst_age = std::max(queue.stats.worst_age, age(datum.at, now_));
  if (const auto* cloud = std::get_if<CloudPool::Lease>(&datum.body)) {
    sink_.add_sensor_data(datum.sensor, **cloud);
  } else {
    sink_.add_sensor_data(datum.sensor, std::get<ImuData>(datum.body));
  }
}

void OrderedMultiQueue::pop(std::size_t slot) {
  Queue& queue = queues_[slot];
  queue.data.pop_front();
  queue.stats.held = queue.data.size();
  update_front(slot);
}

void OrderedMultiQueue::set_blocked_by(std::size_t slot) {
  const std::size_t head = earliest_head();
  if (head == kNoSlot) return blocking_.reset();
  const drivers::SensorId sensor = queues_[slot].sensor;
  const hal::Time since = blocking_ && blocking_->sensor == sensor ? blocking_->since : now_;
  blocking_ = Blocking{sensor, since, queues_[head].sensor, queues_[head].data.front().at};
}

const QueueStats& OrderedMultiQueue::stats(drivers::SensorId sensor) const {
  static constexpr QueueStats kNone{};
  return slot_of_[sensor] == kNoSlot ? kNone : queues_[slot_of_[sensor]].stats;
}

bool OrderedMultiQueue::is_done(drivers::SensorId sensor) const {
  const std::size_t slot = slot_of_[sensor];
  return slot == kNoSlot || (queues_[slot].finished && queues_[slot].data.empty());
}

std::uint64_t OrderedMultiQueue::held() const {
  std::uint64_t sum = 0;
  for (const Queue& queue : queues_) sum += queue.data.size();
  return sum;
}

}  // namespace collation
