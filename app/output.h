// The collated stream as ROS 2 messages: one topic per kind of data and sensor.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "app/message_sink.h"
#include "app/messages.h"
#include "collation/collated_sink.h"
#include "config/stack.h"

namespace app {

// Unix time of the outputs: inner time plus an offset, never decreasing within a segment.
class OutputTime {
 public:
  void set(hal::Time pass_began, std::int64_t unix_minus_inner_ns) {
    pass_began_ = pass_began;
    offset_ns_ = unix_minus_inner_ns;
  }
  void begin_segment() { newest_ = 0; }
  std::int64_t offset_ns() const { return offset_ns_; }
  std::int64_t now() const { return hal::to_ns(pass_began_) + offset_ns_; }
  std::int64_t of(hal::Time at) const { return hal::to_ns(at) + offset_ns_; }
  // For what leaves in order. A slewed offset must not turn two equal stamps around.
  std::int64_t next(hal::Time at) { return newest_ = std::max(newest_, of(at)); }

 private:
  hal::Time pass_began_{};
  std::int64_t offset_ns_ = 0, newest_ = 0;
};

// Messages that left, per sensor.
struct OutputStats {
  std::uint64_t messages = 0, points = 0;
};

class Output final : public collation::CollatedSink {
 public:
  // Declares the channels of all sensors. `max_beams[i]`: of one cloud of sensor i. The stack and
  // the sink outlive it.
  Output(const config::Stack& stack, std::span<const std::size_t> max_beams, MessageSink& sink,
         OutputTime& time);
  // Of declaring the channels.
  const hal::Status& status() const { return status_; }

  void publish_transforms();  // latched
  const OutputStats& stats(drivers::SensorId id) const { return sensors_[id].stats; }

  void add_sensor_data(drivers::SensorId, const collation::TimedPointCloud&) override;
  void add_sensor_data(drivers::SensorId, const collation::ImuData&) override;

 private:
  struct Sensor {
    const config::Sensor* config;
    std::string_view frame;  // of its points or samples
    ChannelId points = 0, scan = 0, imu = 0;
    OutputStats stats;
  };

  void declare(Sensor&);
  ChannelId channel(const Sensor&, const char* what, const MessageType&);
  void publish_points(Sensor&, const collation::TimedPointCloud&, std::int64_t log_time);
  void publish_scan(Sensor&, const collation::TimedPointCloud&, std::int64_t log_time);

  const config::Stack& stack_;
  MessageSink& sink_;
  OutputTime& time_;
  hal::Status status_ = hal::ok;
  ChannelId transforms_ = 0;
  std::vector<Sensor> sensors_;
  std::vector<PointXyzit> points_;           // scratch, as long as the largest cloud
  std::vector<float> ranges_, intensities_;  // scratch of a scan
};

}  // namespace app
