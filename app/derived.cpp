#include "app/derived.h"

#include <algorithm>

namespace app {
namespace {

std::size_t index_of(const config::Stack& stack, const std::string& name) {
  const auto found = std::ranges::find(stack.sensors, name, &config::Sensor::name);
  return static_cast<std::size_t>(found - stack.sensors.begin());
}

void copy(const collation::TimedPointCloud& from, collation::TimedPointCloud& to) {
  to.clear();
  to.first = from.first;
  to.at = from.at;
  to.step = from.step;
  to.device_ns = from.device_ns;
  to.origin = from.origin;
  to.has_intensity = from.has_intensity;
  to.beam_count = from.beam_count;
  for (const collation::TimedPoint& point : from.points) to.points.push_back(point);
  for (const drivers::Beam& beam : from.beams) to.beams.push_back(beam);
}

}  // namespace

Derived::Derived(const config::Stack& stack, const config::Plan& plan, collation::MergedSink& out)
    : out_(out) {
  sensors_.resize(stack.sensors.size());
  for (std::size_t i = 0; i < sensors_.size(); ++i) {
    sensors_[i].role = stack.sensors[i].role;
    if (const std::size_t samples = plan.sensors[i].gyro_samples; samples > 0) {
      sensors_[i].gyro = std::make_unique<collation::GyroTrack>(samples);
    }
  }
  const auto gyro_of = [&](const std::string& imu) -> const collation::GyroTrack& {
    return *sensors_[index_of(stack, imu)].gyro;
  };
  for (std::size_t i = 0; i < sensors_.size(); ++i) {
    const config::Sensor& sensor = stack.sensors[i];
    if (sensor.deskew.empty()) continue;
    sensors_[i].deskewer.emplace(gyro_of(sensor.deskew));
    sensors_[i].turned.emplace(plan.sensors[i].points, sensor.outputs.scan);
  }
  for (std::size_t m = 0; m < stack.merged.size(); ++m) {
    const config::Merged& merged = stack.merged[m];
    merges_.push_back({{plan.merged[m].lidars, plan.merged[m].points}, {}, {}});
    for (const std::string& name : merged.sensors) {
      merges_[m].lidars.push_back(static_cast<drivers::SensorId>(index_of(stack, name)));
      on_state(merges_[m].lidars.back(), drivers::State::idle);
    }
    if (!merged.deskew.empty()) merges_[m].deskewer.emplace(gyro_of(merged.deskew));
  }
}

template <class Visit>
void Derived::each_merge_of(drivers::SensorId id, Visit visit) {
  for (std::size_t m = 0; m < merges_.size(); ++m) {
    const auto& lidars = merges_[m].lidars;
    const auto lidar = std::ranges::find(lidars, id);
    if (lidar != lidars.end()) visit(m, static_cast<std::size_t>(lidar - lidars.begin()));
  }
}

auto Derived::emit(std::size_t m) {
  return [this, m](collation::MergedCloud& cloud) {
    if (auto& deskewer = merges_[m].deskewer) {
      deskewer->deskew(std::span(cloud.points.begin(), cloud.points.size()), cloud.at);
    }
    out_.add_merged_data(m, cloud);
  };
}

void Derived::add_sensor_data(drivers::SensorId id, const collation::TimedPointCloud& cloud) {
  Sensor& sensor = sensors_[id];
  if (sensor.deskewer) {
    collation::TimedPointCloud& turned = *sensor.turned;
    copy(cloud, turned);
    sensor.deskewer->deskew(std::span(turned.points.begin(), turned.points.size()), turned.at);
    out_.add_sensor_data(id, turned);
  } else {
    out_.add_sensor_data(id, cloud);
  }
  each_merge_of(id, [&](std::size_t m, std::size_t lidar) {
    merges_[m].collator.add(lidar, cloud, emit(m));
  });
}

void Derived::add_sensor_data(drivers::SensorId id, const collation::ImuData& imu) {
  if (sensors_[id].gyro && !imu.readings_only && !imu.without_rate) sensors_[id].gyro->add(imu);
  out_.add_sensor_data(id, imu);
}

void Derived::add_sensor_data(drivers::SensorId id, const collation::OpaqueMessage& message) {
  out_.add_sensor_data(id, message);
}

void Derived::on_state(drivers::SensorId id, drivers::State state) {
  each_merge_of(id, [&](std::size_t m, std::size_t lidar) {
    const bool waiting = collation::is_waited_for(sensors_[id].role, state);
    merges_[m].collator.set_waiting(lidar, waiting, emit(m));
  });
}

void Derived::flush() {
  for (std::size_t m = 0; m < merges_.size(); ++m) merges_[m].collator.flush(emit(m));
}

const collation::DeskewStats* Derived::deskew_stats(drivers::SensorId id) const {
  return sensors_[id].deskewer ? &sensors_[id].deskewer->stats() : nullptr;
}

const collation::GyroTrack* Derived::gyro(drivers::SensorId id) const {
  return sensors_[id].gyro.get();
}

const collation::DeskewStats* Derived::merge_deskew_stats(std::size_t m) const {
  return merges_[m].deskewer ? &merges_[m].deskewer->stats() : nullptr;
}

}  // namespace app
