// What goes out: whose turn it is, what blocks, and the common start of a trajectory.
#include <algorithm>
#include <utility>

#include "collation/age.h"
#include "collation/ordered_multi_queue.h"

namespace collation {

void OrderedMultiQueue::release(hal::Time now) {
  now_ = std::max(now_, now);
  if (policy_ == Policy::live) dispatch();
}

void OrderedMultiQueue::dispatch() {
  while (!queues_.empty()) {
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

// The common start: of the data before it, each queue keeps the last one, unless another datum
// stands exactly at the start.
OrderedMultiQueue::Choice OrderedMultiQueue::choose(std::size_t slot) {
  const Queue& queue = queues_[slot];
  const hal::Time start = common_start(queue);
  if (queue.data.front().at >= start) return Choice::deliver;
  if (queue.data.size() < 2) return queue.finished ? Choice::deliver : Choice::block;
  return queue.data[1].at > start ? Choice::deliver : Choice::drop;
}

hal::Time OrderedMultiQueue::common_start(const Queue& of) {
  if (*of.start) return **of.start;
  hal::Time latest = hal::Time::min();
  for (const Queue& queue : queues_) {
    if (queue.start != of.start || queue.data.empty()) continue;
    latest = std::max(latest, queue.data.front().at);
  }
  *of.start = latest;
  return latest;
}

void OrderedMultiQueue::deliver(std::size_t slot) {
  Queue& queue = queues_[slot];
  last_out_ = queue.data.front().at;
  over_ = false;
  blocker_.reset();
  hand_over(queue, queue.data.front());
  pop(slot);
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

void OrderedMultiQueue::pop(std::size_t slot) {
  Queue& queue = queues_[slot];
  queue.data.pop_front();
  queue.stats.held = queue.data.size();
  --held_;
  if (queue.finished && queue.data.empty()) {
    (policy_ == Policy::live ? queue.removed : removable_) = true;
  }
  update_front(slot);
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
