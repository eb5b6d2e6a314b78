// What the application sees of collation's order: sensors, data, time, and who blocks.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "collation/ordered_multi_queue.h"

namespace collation {

struct CollatedSensor {
  drivers::SensorId id = 0;
  std::string_view name;  // breaks ties, by bytes
  QueueOptions queue{};
};

// One order over all trajectories. strict: data leave inside add(), finish_trajectory() and
// flush(), as in Cartographer. live: inside release(), but to make room (add()) and at the end
// (flush()). Every call on the data path works without allocating.
class Collator {
 public:
  // The sink outlives the collator.
  Collator(Policy policy, CollatedSink& sink) : Collator(policy, sink, false) {}

  // Allocates. Refuses a trajectory, a sensor or a name that is already there and not finished.
  hal::Status add_trajectory(int trajectory, std::span<const CollatedSensor> sensors);
  // Allocates. The trajectory is there and not finished.
  hal::Status add_sensor(int trajectory, const CollatedSensor& sensor);
  // No more data of it; what is queued leaves as the order allows. Unknown or finished: misuse.
  void finish_trajectory(int trajectory);
  // One sensor of it was removed by a reload.
  void finish_sensor(drivers::SensorId sensor);
  // Everything leaves, in order; all sensors are finished.
  void flush();

  // See OrderedMultiQueue for each of these.
  void add(Datum&& datum, hal::Time arrival);
  void progress(drivers::SensorId sensor, hal::Time floor, hal::Time arrival);
  void read_empty(drivers::SensorId sensor, hal::Time pass_began);
  void set_waiting(drivers::SensorId sensor, bool waiting, hal::Time floor);
  void release(hal::Time now);

  // set_waiting() by the sensor's role and what its driver does.
  void on_state(drivers::SensorId sensor, drivers::State state, hal::Time now);

  const QueueStats& stats(drivers::SensorId sensor) const;  // zeros when unknown
  // The order that has waited longest; empty when nothing waits.
  std::optional<Blocking> blocking() const;
  // The order of this trajectory.
  std::optional<Blocking> blocking_of(int trajectory) const;
  bool is_done(drivers::SensorId sensor) const;  // see OrderedMultiQueue
  std::uint64_t unknown_sensor() const;
  std::uint64_t misuse() const;
  std::uint64_t held() const;

 protected:
  Collator(Policy policy, CollatedSink& sink, bool by_trajectory);

 private:
  struct Trajectory {
    std::size_t order;  // index into orders_
    std::vector<drivers::SensorId> sensors;
    bool finished = false;
  };
  struct Member {
    std::uint32_t order = 0;
    Role role = Role::required;
    hal::Duration max_wait{};
    bool known = false;
  };

  Trajectory* find(int trajectory);
  hal::Status refuse(int trajectory, const char* why);
  std::size_t order_for_new_trajectory();
  const Member& member(drivers::SensorId sensor) const;
  OrderedMultiQueue* order_of(drivers::SensorId sensor) const;

  const Policy policy_;
  CollatedSink& sink_;
  const bool by_trajectory_;
  std::vector<std::unique_ptr<OrderedMultiQueue>> orders_;
  std::map<int, Trajectory> trajectories_;
  std::vector<Member> members_;  // by sensor
  std::uint64_t unknown_sensor_ = 0, misuse_ = 0;
};

// One order per trajectory (`collate_by_trajectory: true`): no trajectory waits for another.
class TrajectoryCollator final : public Collator {
 public:
  TrajectoryCollator(Policy policy, CollatedSink& sink) : Collator(policy, sink, true) {}
};

}  // namespace collation
