#include "app/output.h"

#include <algorithm>
#include <cmath>

#include "app/scan_grid.h"
#include "collation/pose.h"

namespace app {
namespace {

Vector3 array(const Eigen::Vector3d& v) { return {v.x(), v.y(), v.z()}; }

}  // namespace

Output::Output(const config::Stack& stack, const config::Plan& plan, MessageSink& sink,
               OutputTime& time)
    : stack_(stack), sink_(sink), time_(time) {
  std::size_t largest = 0;
  hal::Duration wait{};
  for (const config::SensorPlan& sensor : plan.sensors) {
    largest = std::max(largest, sensor.points);
    wait = std::max(wait, sensor.max_wait);
  }
  points_.resize(largest);
  ranges_.resize(largest);
  intensities_.resize(largest);
  sensors_.reserve(stack.sensors.size());
  for (const config::Sensor& config : stack.sensors) {
    const bool tracking =
        config.frame == config::Frame::tracking || config::kind_of(config) == drivers::Kind::imu;
    sensors_.push_back(
        {.config = &config, .frame = tracking ? stack.frame : config.name, .stats = {}});
    declare(sensors_.back());
  }
  for (const config::Input& config : stack.inputs) {
    inputs_.push_back({.config = &config});
    wait = std::max(wait, config.max_wait);
  }
  set_orders(wait);
  for (const config::MergedPlan& merged : plan.merged) {
    merged_points_.resize(std::max(merged_points_.size(), merged.points));
  }
  declare_merged();
  declare_transforms();
}

void Output::set_orders(hal::Duration largest_max_wait) {
  constexpr hal::Duration kLateness = std::chrono::seconds(1);  // a stalled process
  std::vector<std::string_view> names;  // "" the one order, or a trajectory; "/NAME" passthrough
  const auto order_of = [&](const auto& config) {
    std::string_view name = stack_.collation.by_trajectory ? config.trajectory : "";
    if (config.role == config::Role::passthrough) name = config.name;
    auto known = std::ranges::find(names, name);
    if (known == names.end()) known = names.insert(known, name);
    return static_cast<std::size_t>(known - names.begin());
  };
  for (Sensor& sensor : sensors_) sensor.order = order_of(*sensor.config);
  for (Input& input : inputs_) input.order = order_of(*input.config);
  time_.begin(std::max<std::size_t>(1, names.size()), largest_max_wait + kLateness);
}

void Output::declare_merged() {
  for (const config::Merged& merged : stack_.merged) {
    const auto first = std::ranges::find(sensors_, merged.sensors.front(),
                                         [](const Sensor& s) { return s.config->name; });
    merged_.push_back({channel(merged.name + "/points", kPointCloud2Type), first->order});
  }
}

// A sensor that is named like the tracking frame is there already; a second output has the frame of
// its device.
void Output::declare_transforms() {
  std::size_t size = 64;
  for (const Sensor& sensor : sensors_) {
    if (sensor.config->name == stack_.frame || !config::is_device(*sensor.config)) continue;
    const auto& [xyz, rpy] = sensor.config->pose;
    const Eigen::Quaterniond q = collation::rotation_of(rpy);
    transforms_.push_back({.header = {0, stack_.frame},
                           .child_frame = sensor.config->name,
                           .translation = xyz,
                           .rotation = {q.x(), q.y(), q.z(), q.w()}});
    size += 128 + stack_.frame.size() + sensor.config->name.size();
  }
  const auto id = sink_.add_channel("/tf_static", kTfMessageType, size);
  if (id) transforms_channel_ = *id;
  if (!id && status_) status_ = id.error();
}

void Output::declare(Sensor& sensor) {
  if (config::kind_of(*sensor.config) == drivers::Kind::lidar) {
    declare_lidar(sensor);
  } else {
    declare_imu(sensor);
  }
}

void Output::declare_lidar(Sensor& sensor) {
  const std::string& name = sensor.config->name;
  if (sensor.config->outputs.points) sensor.points = channel(name + "/points", kPointCloud2Type);
  if (sensor.config->outputs.scan) sensor.scan = channel(name + "/scan", kLaserScanType);
}

void Output::declare_imu(Sensor& sensor) {
  const std::string device = sensor.config->name.substr(0, sensor.config->name.find('/'));
  const collation::WantedReadings& wanted = sensor.config->readings;
  sensor.imu = channel(device + "/imu", kImuType);
  if (wanted.mag) sensor.mag = channel(device + "/mag", kMagneticFieldType);
  if (wanted.pressure) sensor.pressure = channel(device + "/pressure", kFluidPressureType);
  if (wanted.temperature) sensor.temperature = channel(device + "/temperature", kTemperatureType);
}

ChannelId Output::channel(const std::string& topic, const MessageType& type) {
  const auto id = sink_.add_channel("/" + topic, type, 0);
  if (id) return *id;
  if (status_) status_ = id.error();
  return 0;
}

void Output::publish_transforms() {
  for (Transform& transform : transforms_) transform.header.unix_ns = time_.now();
  publish(transforms_channel_, time_.event(), encode(transforms_, sink_.scratch()));
}

// What was encoded into the sink's scratch.
void Output::publish(ChannelId channel, std::int64_t log_time, std::size_t size) {
  const auto out = sink_.scratch();
  if (size > out.size()) {
    ++too_long_;
    return;
  }
  sink_.publish(channel, log_time, time_.now(), out.first(size));
}

void Output::add_sensor_data(drivers::SensorId id, const collation::TimedPointCloud& cloud) {
  Sensor& sensor = sensors_[id];
  const std::int64_t log_time = time_.datum(sensor.order, cloud.at);
  ++sensor.stats.messages;
  sensor.stats.points += cloud.points.size();
  if (sensor.points != 0) publish_points(sensor, cloud, log_time);
  if (sensor.scan != 0) publish_scan(sensor, cloud, log_time);
}

void Output::publish_points(Sensor& sensor, const collation::TimedPointCloud& cloud,
                            std::int64_t log_time) {
  const hal::Duration length = cloud.at - cloud.first;
  const bool from_start = sensor.config->time_reference == config::TimeReference::start;
  const float shift = from_start ? static_cast<float>(hal::to_seconds(length)) : 0.0f;
  std::size_t n = 0;
  for (const collation::TimedPoint& p : cloud.points) {
    points_[n++] = {p.position.x(), p.position.y(), p.position.z(),
                    cloud.has_intensity ? p.intensity : 0.0f, p.time + shift};
  }
  const std::int64_t stamp = time_.of(from_start ? cloud.first : cloud.at);
  const PointCloud message{{stamp, sensor.frame}, Packed<PointXyzit>(std::span(points_).first(n))};
  publish(sensor.points, log_time, encode(message, sink_.scratch()));
}

// The header's stamp is the first ray, by the rule of the message.
void Output::publish_scan(Sensor& sensor, const collation::TimedPointCloud& cloud,
                          std::int64_t log_time) {
  const std::size_t n = cloud.beams.size();
  const auto ranges = std::span(ranges_).first(n), intensities = std::span(intensities_).first(n);
  const ScanGrid grid = to_grid(cloud.beams.view(), ranges, intensities);
  const auto seconds = [](hal::Duration d) { return static_cast<float>(hal::to_seconds(d)); };
  const hal::Duration length = cloud.at - cloud.first;
  LaserScan scan{.header = {time_.of(cloud.first), sensor.config->name},
                 .angle_min = grid.angle_min,
                 .angle_max = grid.angle_max,
                 .angle_increment = grid.angle_increment,
                 .time_increment = seconds(cloud.step),
                 .scan_time = seconds(length + cloud.step),
                 .range_min = static_cast<float>(sensor.config->min_range),
                 .range_max = static_cast<float>(sensor.config->max_range),
                 .ranges = Packed<float>(std::span<const float>(ranges)),
                 .intensities = {}};
  if (cloud.has_intensity) scan.intensities = Packed<float>(std::span<const float>(intensities));
  publish(sensor.scan, log_time, encode(scan, sink_.scratch()));
}

void Output::add_sensor_data(drivers::SensorId id, const collation::ImuData& imu) {
  Sensor& sensor = sensors_[id];
  const std::int64_t log_time = time_.datum(sensor.order, imu.at);
  ++sensor.stats.messages;
  if (!imu.readings_only) publish_motion(sensor, imu, log_time);
  if (!imu.readings.empty()) publish_readings(sensor, imu, log_time);
}

void Output::publish_motion(Sensor& sensor, const collation::ImuData& imu, std::int64_t log_time) {
  Imu message{.header = {time_.of(imu.at), sensor.frame},
              .orientation = {},
              .angular_velocity = {},
              .linear_acceleration = array(imu.linear_acceleration)};
  if (!imu.without_rate) message.angular_velocity = array(imu.angular_velocity);
  if (imu.orientation) {
    const auto& q = *imu.orientation;
    message.orientation = Quaternion{q.x(), q.y(), q.z(), q.w()};
  }
  publish(sensor.imu, log_time, encode(message, sink_.scratch()));
}

void Output::publish_readings(Sensor& sensor, const collation::ImuData& imu,
                              std::int64_t log_time) {
  const Header header{time_.of(imu.at), sensor.frame};
  if (const auto& mag = imu.readings.mag) {
    publish(sensor.mag, log_time, encode(MagneticField{header, array(*mag)}, sink_.scratch()));
  }
  if (const auto& pressure = imu.readings.pressure) {
    publish(sensor.pressure, log_time, encode(FluidPressure{header, *pressure}, sink_.scratch()));
  }
  if (const auto& temperature = imu.readings.temperature) {
    publish(sensor.temperature, log_time,
            encode(Temperature{header, *temperature}, sink_.scratch()));
  }
}

void Output::add_sensor_data(drivers::SensorId id, const collation::OpaqueMessage& message) {
  Input& input = inputs_[id - sensors_.size()];
  const std::int64_t log_time = time_.datum(input.order, message.at);
  ++input.stats.messages;
  if (!std::exchange(input.is_declared, true)) {
    const collation::MessageFormat& format = *message.format;
    const auto channel = sink_.add_channel(input.config->topic,
                                           {.name = format.schema,
                                            .definition = format.definition,
                                            .schema_encoding = format.schema_encoding,
                                            .encoding = format.encoding},
                                           0);
    if (channel) input.channel = *channel;
  }
  sink_.publish(input.channel, log_time, time_.now(), message.data.view());
}

// Its stamp lies before what left last; its log time does not.
void Output::add_merged_data(std::size_t merge, const collation::MergedCloud& cloud) {
  Merged& merged = merged_[merge];
  const std::int64_t log_time = time_.datum(merged.order, cloud.at);
  ++merged.stats.messages;
  merged.stats.points += cloud.points.size();
  std::size_t n = 0;
  for (const collation::MergedPoint& p : cloud.points) {
    merged_points_[n++] = {{p.position.x(), p.position.y(), p.position.z(), p.intensity, p.time},
                           p.origin};
  }
  const MergedPointCloud message{{time_.of(cloud.at), stack_.frame},
                                 Packed<PointMerged>(std::span(merged_points_).first(n))};
  publish(merged.points, log_time, encode(message, sink_.scratch()));
}

}  // namespace app
