// What goes out: whose turn it is, what blocks, the common start of a trajectory, and what leaves
// to make room.
#include <algorithm>
#include <utility>

#include "collation/age.h"
#include "collation/ordered_multi_queue.h"

namespace collation {

// The common start: of the data before it, each queue keeps the last one, unless another datum
// stands exactly at the start.
inline OrderedMultiQueue::Choice OrderedMultiQueue::choose(std::size_t slot) {
  const Queue& queue = queues_[slot];
  const hal::Time start = queue.start->has_value() ? **queue.start : common_start(queue);
  if (queue.data.front().at >= start) return Choice::deliver;
  if (queue.data.size() < 2) return queue.finished ? Choice::deliver : Choice::block;
  return queue.data[1].at > start ? Choice::deliver : Choice::drop;
}

inline void OrderedMultiQueue::pop(std::size_t slot) {
  Queue& queue = queues_[slot];
  queue.data.pop_front();
  queue.stats.held = queue.data.size();
  --held_;
  if (queue.finished && queue.data.empty()) {
    (policy_ == Policy::live ? queue.removed : removable_) = true;
  }
  update_front(slot);
}

inline void OrderedMultiQueue::deliver(std::size_t slot) {
  Queue& queue = queues_[slot];
  last_out_ = queue.data.front().at;
  over_ = false;
  blocker_.reset();
  hand_over(queue, queue.data.front());
  pop(slot);
}

void OrderedMultiQueue::release(hal::Time now) {
  now_ = std::max(now_, now);
  if (policy_ == Policy::live) dispatch();
}

void OrderedMultiQueue::dispatch() {
  if (queues_.empty()) return;
  for (;;) {
    const std::size_t slot = fronts_.earliest();
    const bool empty = queues_[slot].data.empty();
    if (policy_ == Policy::strict && (removable_ || unsorted_)) {
      const bool blocks = empty && fronts_[slot] == hal::Time::min();
      if (tidy(blocks ? slot : queues_.size())) continue;
    }
    if (empty) return set_blocked_by(slot);
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

// strict: what Cartographer does and finds on its walk over the queues, which ends at the first
// that blocks, `limit`: finished and empty queues are removed; a head earlier than what has left
// aborts it. Here such a head is dropped, or begins a new order when the old one was over.
// True when a head changed.
bool OrderedMultiQueue::tidy(std::size_t limit) {
  removable_ = unsorted_ = false;
  bool changed = false, all_removed = true;
  for (std::size_t slot = 0; slot < queues_.size(); ++slot) {
    Queue& queue = queues_[slot];
    if (queue.finished && queue.data.empty()) {
      (slot < limit ? queue.removed : removable_) = true;
    }
    all_removed &= queue.removed;
    if (queue.data.empty() || queue.data.front().at >= last_out_) continue;
    unsorted_ = true;
    if (slot >= limit) continue;
    changed = true;
    if (over_) return begin_anew(), true;
    ++queue.stats.late;
    pop(slot);
  }
  over_ |= all_removed;
  return changed;
}

// All trajectories have ended: what comes now may be of another time.
void OrderedMultiQueue::begin_anew() {
  last_out_ = hal::Time::min();
  for (auto& [trajectory, start] : starts_) start.reset();
}

// The latest of the heads, once every queue has one.
hal::Time OrderedMultiQueue::common_start(const Queue& of) {
  hal::Time latest = hal::Time::min();
  for (const Queue& queue : queues_) {
    if (queue.start != of.start || queue.data.empty()) continue;
    latest = std::max(latest, queue.data.front().at);
  }
  *of.start = latest;
  return latest;
}

void OrderedMultiQueue::hand_over(Queue& queue, const Datum& datum) {
  ++queue.stats.out;
  queue.stats.worst_age = std::max(queue.stats.worst_age, age(datum.at, now_));
  if (const auto* cloud = std::get_if<CloudPool::Lease>(&datum.body)) {
    sink_.add_sensor_data(datum.sensor, **cloud);
  } else if (const auto* message = std::get_if<MessagePool::Lease>(&datum.body)) {
    sink_.add_sensor_data(datum.sensor, **message);
  } else {
    sink_.add_sensor_data(datum.sensor, std::get<ImuData>(datum.body));
  }
}

// For a datum on its way into a full queue. False when it is the one to be dropped.
bool OrderedMultiQueue::make_room(std::size_t slot) {
  Queue& queue = queues_[slot];
  ++queue.stats.full;
  const Queue& earliest = queues_[fronts_.earliest()];
  queue.stats.full_for = earliest.sensor;
  switch (queue.options.overflow) {
    case Overflow::release:
      while (queue.data.full()) {
        const std::size_t oldest = earliest_head();
        if (over_ && fronts_[oldest] < last_out_) begin_anew();
        if (fronts_[oldest] < last_out_) {
          ++queues_[oldest].stats.late;
          pop(oldest);
        } else {
          ++queues_[oldest].stats.forced;
          deliver(oldest);
        }
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

void OrderedMultiQueue::set_blocked_by(std::size_t slot) {
  if (held_ == 0) return blocker_.reset();
  const drivers::SensorId sensor = queues_[slot].sensor;
  if (blocker_ != sensor) blocked_since_ = now_;
  blocker_ = sensor;
}

std::size_t OrderedMultiQueue::earliest_head() const {
  std::size_t best = kNoSlot;
  for (std::size_t slot = 0; slot < queues_.size(); ++slot) {
    if (queues_[slot].data.empty()) continue;
    if (best == kNoSlot || fronts_[slot] < fronts_[best]) best = slot;
  }
  return best;
}

std::optional<Blocking> OrderedMultiQueue::blocking() const {
  if (!blocker_) return {};
  const Queue& head = queues_[earliest_head()];
  return Blocking{*blocker_, blocked_since_, head.sensor, head.data.front().at};
}

}  // namespace collation
