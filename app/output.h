// The collated stream as ROS 2 messages: one topic per kind of data and sensor.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "app/message_sink.h"
#include "app/messages.h"
#include "app/output_time.h"
#include "collation/merged_sink.h"
#include "config/plan.h"
#include "config/stack.h"

namespace app {

// Data that left, per sensor, whatever the number of their topics.
struct OutputStats {
  std::uint64_t messages = 0, points = 0;
};

class Output final : public collation::MergedSink {
 public:
  // Declares the channels of all sensors. The stack and the sink outlive it.
  Output(const config::Stack& stack, const config::Plan& plan, MessageSink& sink, OutputTime& time);
  // Of declaring the channels.
  const hal::Status& status() const { return status_; }

  void publish_transforms();  // latched
  const OutputStats& stats(drivers::SensorId id) const { return sensors_[id].stats; }
  const OutputStats& input_stats(std::size_t input) const { return inputs_[input].stats; }
  const OutputStats& merged_stats(std::size_t merge) const { return merged_[merge].stats; }
  std::uint64_t too_long() const { return too_long_; }  // messages that did not fit the scratch

  void add_sensor_data(drivers::SensorId, const collation::TimedPointCloud&) override;
  void add_sensor_data(drivers::SensorId, const collation::ImuData&) override;
  // The channel is declared with the first one, as its sender declared it.
  void add_sensor_data(drivers::SensorId, const collation::OpaqueMessage&) override;
  void add_merged_data(std::size_t merge, const collation::MergedCloud&) override;

 private:
  struct Sensor {
    const config::Sensor* config;
    std::string_view frame;  // of its points or samples
    std::size_t order = 0;   // see OutputTime
    ChannelId points = 0, scan = 0, imu = 0;
    ChannelId mag = 0, pressure = 0, temperature = 0;
    OutputStats stats;
  };

  struct Input {
    const config::Input* config;
    std::size_t order = 0;
    ChannelId channel = 0;
    bool is_declared = false;
    OutputStats stats{};
  };

  struct Merged {
    ChannelId points = 0;
    std::size_t order = 0;  // that of its lidars
    OutputStats stats{};
  };

  void set_orders(hal::Duration largest_max_wait);
  void declare(Sensor&);
  void declare_lidar(Sensor&);
  void declare_imu(Sensor&);
  void declare_merged();
  void declare_transforms();
  ChannelId channel(const std::string& topic, const MessageType&);
  void publish(ChannelId, std::int64_t log_time, std::size_t size);
  void publish_points(Sensor&, const collation::TimedPointCloud&, std::int64_t log_time);
  void publish_scan(Sensor&, const collation::TimedPointCloud&, std::int64_t log_time);
  void publish_motion(Sensor&, const collation::ImuData&, std::int64_t log_time);
  void publish_readings(Sensor&, const collation::ImuData&, std::int64_t log_time);

  const config::Stack& stack_;
  MessageSink& sink_;
  OutputTime& time_;
  hal::Status status_ = hal::ok;
  ChannelId transforms_channel_ = 0;
  std::vector<Transform> transforms_;
  std::vector<Sensor> sensors_;
  std::vector<Input> inputs_;
  std::vector<Merged> merged_;
  std::uint64_t too_long_ = 0;
  std::vector<PointXyzit> points_;  // scratch, as long as the largest cloud
  std::vector<PointMerged> merged_points_;
  std::vector<float> ranges_, intensities_;  // scratch of a scan
};

}  // namespace app
