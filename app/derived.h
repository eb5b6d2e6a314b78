// What is made of the ordered stream before it leaves: de-skewed clouds and merged ones.
//
// A lidar's clouds are de-skewed in place: /NAME/points has them instead of those as measured. The
// beams, and so /NAME/scan, stay as measured. Merged clouds are made of points as measured and
// turned to their own stamp.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "collation/deskew.h"
#include "collation/merged_sink.h"
#include "collation/queue_options.h"
#include "config/plan.h"
#include "config/stack.h"

namespace app {

class Derived final : public collation::CollatedSink {
 public:
  // Takes all memory. Everything passed in outlives it.
  Derived(const config::Stack& stack, const config::Plan& plan, collation::MergedSink& out);

  void add_sensor_data(drivers::SensorId, const collation::TimedPointCloud&) override;
  void add_sensor_data(drivers::SensorId, const collation::ImuData&) override;
  void add_sensor_data(drivers::SensorId, const collation::OpaqueMessage&) override;
  // Merged clouds wait for a lidar as the order does.
  void on_state(drivers::SensorId, drivers::State);
  void flush();  // what merges hold leaves; at the very end

  // Null for what is not de-skewed, or no gyro that de-skewing uses.
  const collation::DeskewStats* deskew_stats(drivers::SensorId) const;
  const collation::GyroTrack* gyro(drivers::SensorId) const;

  std::size_t merges() const { return merges_.size(); }
  collation::MergeStats merge_stats(std::size_t merge) const {
    return merges_[merge].collator.stats();
  }
  const collation::DeskewStats* merge_deskew_stats(std::size_t merge) const;

 private:
  struct Merge {
    collation::RangeDataCollator collator;
    std::vector<drivers::SensorId> lidars;
    std::optional<collation::Deskewer> deskewer;
  };
  struct Sensor {
    collation::Role role;
    std::unique_ptr<collation::GyroTrack> gyro;        // an IMU's
    std::optional<collation::Deskewer> deskewer;       // a lidar's
    std::optional<collation::TimedPointCloud> turned;  // with it
  };

  // Calls visit(merge, its lidar's index) for the merges that the sensor takes part in.
  template <class Visit>
  void each_merge_of(drivers::SensorId id, Visit visit);
  // What a merge calls with its clouds.
  auto emit(std::size_t merge);

  collation::MergedSink& out_;
  std::vector<Sensor> sensors_;
  std::vector<Merge> merges_;
};

}  // namespace app
