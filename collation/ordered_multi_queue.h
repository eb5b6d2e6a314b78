// Merges the queues of all sensors into one stream ordered by time, in bounded memory.
//
// Each queue q without data has next(q), the smallest stamp that it may still deliver. Of all
// heads and all next(q), ties by key, the smallest is looked at: a head leaves, a next(q) means
// that q blocks. Policies differ only in next(q):
//   strict: -infinity until q is finished. Cartographer's exact order, with its common start. What
//           would abort Cartographer is counted.
//   live:   the largest of what data, progress(), read_empty() and set_waiting() said. For data
//           read in passes, each datum leaves in the first release() of a pass begun later than
//           its stamp + the largest max_wait.
#pragma once

#include <boost/circular_buffer.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collation/collated_sink.h"
#include "collation/datum.h"
#include "collation/earliest.h"
#include "collation/queue_options.h"

namespace collation {

// Whom the oldest held datum waits for.
struct Blocking {
  drivers::SensorId sensor = 0;  // the sensor that is waited for
  hal::Time since{};             // the order has waited for it without a break since then
  drivers::SensorId head_sensor = 0;
  hal::Time head{};  // stamp of the oldest held datum
};

// Allocates in add_queue() only. Time arguments never decrease.
class OrderedMultiQueue {
 public:
  // The sink outlives the queue.
  OrderedMultiQueue(Policy policy, CollatedSink& sink) : policy_(policy), sink_(sink) {}

  // Key: (trajectory, name), the name compared by bytes. Refuses a sensor or a key that has a
  // queue (`misuse`), unless is_done(): then it starts anew and keeps its counters.
  // A new queue is not waited for in live until set_waiting().
  hal::Status add_queue(int trajectory, std::string_view name, drivers::SensorId sensor,
                        const QueueOptions& options);

  // strict: what may leave, leaves before it returns. live: data leave in release(), here only to
  // make room or past the order. A datum without a queue is counted, see unknown_sensor().
  void add(Datum&& datum, hal::Time arrival);

  // live: no cloud or sample of this sensor that is stamped earlier than `floor` will come.
  // Ignored when further in the future than a datum may be.
  void progress(drivers::SensorId sensor, hal::Time floor, hal::Time arrival);
  // live: a loop pass that began at `pass_began` has read the sensor's port empty.
  void read_empty(drivers::SensorId sensor, hal::Time pass_began);
  // live: see is_waited_for(). True after false: nothing stamped before `floor` will come.
  void set_waiting(drivers::SensorId sensor, bool waiting, hal::Time floor);
  // live: all that may leave, leaves. Once per pass, after all ready ports were read.
  void release(hal::Time now);

  // No more data of this sensor; what is queued still leaves. Unknown or finished: `misuse`.
  void mark_finished(drivers::SensorId sensor);
  // Finishes every queue in key order; all that is held leaves.
  void flush();

  std::optional<Blocking> blocking() const;
  // Unknown, or finished, empty and gone. In strict a queue goes when Cartographer would remove it:
  // not while one with a lower key blocks. Until then it takes data in spite of its end.
  bool is_done(drivers::SensorId sensor) const;
  const QueueStats& stats(drivers::SensorId sensor) const;          // zeros for an unknown sensor
  std::uint64_t unknown_sensor() const { return unknown_sensor_; }  // data without a queue
  std::uint64_t misuse() const { return misuse_; }  // calls that would abort Cartographer
  std::uint64_t held() const { return held_; }

 private:
  static constexpr std::size_t kNoSlot = 0xFFFF;
  struct Queue {
    boost::circular_buffer<Datum> data;
    hal::Time next = hal::Time::min();      // live: the smallest stamp that may still come
    hal::Time previous = hal::Time::min();  // stamp of the last datum that the gate looked at
    hal::Time late_at{};                    // arrival of the last that was late
    std::optional<hal::Time>* start;        // of its trajectory, in starts_
    drivers::SensorId sensor;
    bool waiting = false;
    bool finished = false;
    bool removed = false;  // see is_done()
    QueueOptions options;
    QueueStats stats{};
    int trajectory;
    std::string name;
  };
  enum class Choice : std::uint8_t { deliver, drop, block };

  std::size_t slot_of(drivers::SensorId sensor) const {
    return sensor < slots_.size() ? slots_[sensor] : kNoSlot;
  }
  // Of a queue that is not done.
  std::size_t open_slot_of(drivers::SensorId sensor) const {
    const std::size_t slot = slot_of(sensor);
    return slot == kNoSlot || queues_[slot].removed ? kNoSlot : slot;
  }
  hal::Status refuse(std::string_view name, const char* why);
  void index_slots();
  hal::Time front_of(const Queue& queue) const;
  void update_front(std::size_t slot);
  bool passes_gate(Queue& queue, hal::Time at, hal::Time arrival);
  bool make_room(std::size_t slot);
  std::size_t earliest_head() const;
  void dispatch();
  bool tidy(std::size_t limit);
  void begin_anew();
  Choice choose(std::size_t slot);
  void deliver(std::size_t slot);
  void hand_over(Queue& queue, const Datum& datum);
  void pop(std::size_t slot);
  void raise_next(std::size_t slot, hal::Time next);
  void set_blocked_by(std::size_t slot);
  hal::Time common_start(const Queue& queue);

  const Policy policy_;
  CollatedSink& sink_;
  std::vector<Queue> queues_;         // in key order
  std::vector<std::uint16_t> slots_;  // by sensor
  Earliest fronts_;                   // by slot: the head's stamp, or next(q), or Time::max()
  // strict: the common start of each trajectory, once known. It outlives the trajectory's queues.
  std::map<int, std::optional<hal::Time>> starts_;
  bool removable_ = false;  // strict: a queue may be finished and empty, but not removed
  bool unsorted_ = false;   // strict: a head may be earlier than last_out_
  bool over_ = false;       // strict: all queues were removed, and nothing has left since
  hal::Time now_ = hal::Time::min();
  hal::Time last_out_ = hal::Time::min();
  std::optional<drivers::SensorId> blocker_{};
  hal::Time blocked_since_{};
  std::uint64_t held_ = 0, unknown_sensor_ = 0, misuse_ = 0;
};

inline hal::Time OrderedMultiQueue::front_of(const Queue& queue) const {
  if (!queue.data.empty()) return queue.data.front().at;
  if (queue.finished || queue.options.role == Role::passthrough) return hal::Time::max();
  if (policy_ == Policy::strict) return hal::Time::min();
  return queue.waiting ? queue.next : hal::Time::max();
}

inline void OrderedMultiQueue::update_front(std::size_t slot) {
  const hal::Time front = front_of(queues_[slot]);
  unsorted_ |= front < last_out_ && !queues_[slot].data.empty();
  fronts_.set(slot, front);
}

}  // namespace collation
