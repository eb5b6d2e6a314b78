#include "app/pipeline.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "collation/pose.h"

namespace app {
namespace {

collation::QueueOptions queue_options(const config::Stack& stack, const config::Sensor& sensor,
                                      const config::SensorPlan& plan) {
  return {.capacity = plan.capacity,
          .max_wait = plan.max_wait,
          .role = sensor.role,
          .overflow = stack.collation.overflow};
}

std::unique_ptr<collation::CloudPool> pool_of(const config::Sensor& sensor,
                                              const config::SensorPlan& plan) {
  return std::make_unique<collation::CloudPool>(plan.clouds, [&] {
    return std::make_unique<collation::TimedPointCloud>(plan.points, sensor.outputs.scan);
  });
}

CloudFacts facts_of(const collation::TimedPointCloud& cloud, hal::Time arrival) {
  CloudFacts facts{
      .first = cloud.first, .at = cloud.at, .arrival = arrival, .points = cloud.points.size()};
  if (cloud.points.empty()) return facts;
  facts.first_time = cloud.points[0].time;
  facts.last_time = cloud.points[cloud.points.size() - 1].time;
  Checksum sum;
  for (const collation::TimedPoint& p : cloud.points) {
    sum.add(p.position.x()), sum.add(p.position.y()), sum.add(p.intensity);
  }
  facts.checksum = sum.value();
  return facts;
}

SampleFacts facts_of(const drivers::ImuSample& s, hal::Time arrival) {
  const bool is_motion = s.accel || s.gyro || s.delta_velocity || s.delta_angle;
  return {.at = s.at, .arrival = arrival, .accel = s.accel, .is_motion = is_motion};
}

constexpr hal::Duration kRateWindow = std::chrono::seconds(15);
constexpr std::size_t kRateEvents = 256;

}  // namespace

Pipeline::Pipeline(const config::Stack& stack, const config::Plan& plan, collation::MergedSink& out,
                   EventListener& events)
    : derived_(stack, plan, out),
      events_(events),
      sensors_(stack.sensors.size()),
      inputs_(stack, plan, *this) {
  const auto policy = stack.collation.policy;
  collation::CollatedSink& self = *this;
  if (stack.collation.by_trajectory) {
    collator_ = std::make_unique<collation::TrajectoryCollator>(policy, self);
  } else {
    collator_ = std::make_unique<collation::Collator>(policy, self);
  }
  std::map<std::string, std::vector<collation::CollatedSensor>> trajectories;
  lanes_.reserve(config::ordered(stack));
  for (std::size_t i = 0; i < stack.sensors.size(); ++i) {
    const config::Sensor& sensor = stack.sensors[i];
    max_waits_.push_back(plan.sensors[i].max_wait);
    lanes_.push_back({.sampler = collation::FixedRatioSampler(sensor.sampling_ratio),
                      .pool = nullptr,
                      .builder = nullptr,
                      .aligner = nullptr,
                      .rate = collation::RateTimer(kRateWindow, kRateEvents)});
    Lane& lane = lanes_.back();
    lane.second_output = !config::is_device(sensor);
    lane.driver = i == 0 ? 0 : lanes_[i - 1].driver + (lane.second_output ? 0 : 1);
    if (config::kind_of(sensor) == drivers::Kind::lidar) {
      lane.pool = pool_of(sensor, plan.sensors[i]);
      lane.builder = std::make_unique<collation::CloudBuilder>(
          config::cloud_options(sensor, plan.sensors[i]), *lane.pool);
    } else {
      lane.checks = HealthCheck(plan.sensors[i].asked_hz);
      lane.aligner = std::make_unique<collation::ImuAligner>(
          collation::pose_of(sensor.pose.xyz, sensor.pose.rpy), sensor.readings);
    }
    trajectories[sensor.trajectory].push_back({static_cast<drivers::SensorId>(i), sensor.name,
                                               queue_options(stack, sensor, plan.sensors[i])});
  }
  for (std::size_t i = 0; i < stack.inputs.size(); ++i) {
    const config::Input& input = stack.inputs[i];
    max_waits_.push_back(plan.inputs[i].max_wait);
    lanes_.push_back({.sampler = collation::FixedRatioSampler(1),
                      .pool = nullptr,
                      .builder = nullptr,
                      .aligner = nullptr,
                      .rate = collation::RateTimer(kRateWindow, kRateEvents)});
    trajectories[input.trajectory].push_back({static_cast<drivers::SensorId>(sensors_ + i),
                                              input.name,
                                              {.capacity = plan.inputs[i].capacity,
                                               .max_wait = plan.inputs[i].max_wait,
                                               .role = input.role,
                                               .overflow = input.overflow}});
  }
  int id = 0;
  for (const auto& [name, sensors] : trajectories) {
    // Names are unique in a loaded stack, so nothing can be refused.
    (void)collator_->add_trajectory(id++, sensors);
  }
  drivers_.reserve(sensors_);
}

void Pipeline::add(std::unique_ptr<drivers::Driver> driver) {
  drivers_.push_back(std::move(driver));
}

void Pipeline::start(hal::Time now) {
  now_ = now;
  for (const auto& driver : drivers_) driver->start(now);
  inputs_.start(now);
}

void Pipeline::tick(hal::Time now) {
  for (const auto& driver : drivers_) driver->tick(now);
  inputs_.tick(now);
}

void Pipeline::end_pass(hal::Time began) {
  now_ = began;
  for (std::size_t i = 0; i < sensors_; ++i) {
    if (drivers_[lanes_[i].driver]->drained()) {
      collator_->read_empty(static_cast<drivers::SensorId>(i), began);
    }
  }
  for (std::size_t i = sensors_; i < lanes_.size() && inputs_.drained(); ++i) {
    collator_->read_empty(static_cast<drivers::SensorId>(i), began);
  }
  collator_->release(began);
}

void Pipeline::set_wall_clock(std::int64_t unix_minus_inner_ns) {
  for (const auto& driver : drivers_) driver->set_wall_clock(unix_minus_inner_ns);
  inputs_.set_wall_clock(unix_minus_inner_ns);
}

void Pipeline::stop(hal::Time now) {
  inputs_.stop();
  for (const auto& driver : drivers_) driver->stop(now);
}

bool Pipeline::stopped() const {
  return std::ranges::all_of(drivers_, [](const auto& driver) { return driver->stopped(); });
}

std::optional<hal::Time> Pipeline::due() const {
  const auto blocking = collator_->blocking();
  if (!blocking) return std::nullopt;
  return blocking->head + max_waits_[blocking->sensor];
}

hal::Time Pipeline::tick_due() const {
  hal::Time first = hal::Time::max();
  for (const auto& driver : drivers_) first = std::min(first, driver->due());
  return first;
}

void Pipeline::flush() {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (!lanes_[i].builder) continue;
    lanes_[i].builder->flush([&](collation::CloudPool::Lease cloud) {
      collator_->add(collation::make_datum(static_cast<drivers::SensorId>(i), std::move(cloud)),
                     now_);
    });
  }
  collator_->flush();
  derived_.flush();
}

void Pipeline::on_packet(drivers::SensorId id, const drivers::Packet& packet, hal::Time arrival) {
  Lane& lane = lanes_[id];
  if (const auto* const slice = std::get_if<drivers::ScanSlice>(&packet)) {
    if (lane.builder) take(id, lane, *slice, arrival);
  } else if (lane.aligner) {
    take(id, lane, std::get<drivers::ImuSample>(packet), arrival);
  }
}

void Pipeline::take(drivers::SensorId id, Lane& lane, const drivers::ScanSlice& slice,
                    hal::Time arrival) {
  lane.builder->add(slice, lane.sampler.pulse(), [&](collation::CloudPool::Lease cloud) {
    lane.checks.take(facts_of(*cloud, arrival));
    collator_->add(collation::make_datum(id, std::move(cloud)), arrival);
  });
  collator_->progress(id, lane.builder->open_floor(), arrival);
}

void Pipeline::take(drivers::SensorId id, Lane& lane, const drivers::ImuSample& sample,
                    hal::Time arrival) {
  lane.checks.take(facts_of(sample, arrival));  // also of what is dropped
  if (lane.sampler.pulse()) {
    if (const auto aligned = lane.aligner->align(sample)) {
      lane.rest.take(*aligned);
      collator_->add(collation::make_datum(id, *aligned), arrival);
    }
  }
  collator_->progress(id, sample.at, arrival);
}

void Pipeline::on_state(drivers::SensorId id, drivers::State state, hal::Time now) {
  Lane& lane = lanes_[id];
  const drivers::State from = std::exchange(lane.state, state);
  lane.since = now;
  if (state == drivers::State::starting && lane.builder) lane.builder->reset();
  if (state == drivers::State::starting && lane.aligner) lane.aligner->restart();
  if (state == drivers::State::starting) lane.checks.restart(), lane.rest.restart();
  collator_->on_state(id, state, now);
  derived_.on_state(id, state);
  events_.on_sensor_state(id, from, state, now);
}

void Pipeline::on_input(std::size_t input, collation::MessagePool::Lease message,
                        hal::Time arrival) {
  const auto id = static_cast<drivers::SensorId>(sensors_ + input);
  collator_->add(collation::make_datum(id, std::move(message)), arrival);
}

void Pipeline::on_input_state(std::size_t input, drivers::State state, hal::Time now) {
  const auto id = static_cast<drivers::SensorId>(sensors_ + input);
  const drivers::State from = std::exchange(lanes_[id].state, state);
  collator_->on_state(id, state, now);
  events_.on_input_state(input, from, state, now);
}

void Pipeline::add_sensor_data(drivers::SensorId id, const collation::OpaqueMessage& message) {
  lanes_[id].rate.pulse(message.at, now_);
  derived_.add_sensor_data(id, message);
}

void Pipeline::add_sensor_data(drivers::SensorId id, const collation::TimedPointCloud& cloud) {
  lanes_[id].rate.pulse(cloud.at, now_);
  derived_.add_sensor_data(id, cloud);
}

void Pipeline::add_sensor_data(drivers::SensorId id, const collation::ImuData& imu) {
  if (!imu.readings_only) lanes_[id].rate.pulse(imu.at, now_);
  derived_.add_sensor_data(id, imu);
}

// A lidar may stream and its inertial part not: nothing else would tell.
drivers::Health Pipeline::health(drivers::SensorId id) const {
  constexpr hal::Duration kMissing = std::chrono::seconds(1);
  const Lane& lane = lanes_[id];
  drivers::Health h = drivers_[lane.driver]->health();
  if (!lane.second_output) {
    h.packets -= h.imu_packets;
    return h;
  }
  h.clock = h.imu_clock;
  h.last_packet = h.last_imu;
  h.packets = h.imu_packets;
  if (h.state != drivers::State::streaming) return h;
  h.cause = drivers::Cause::none;  // the lidar's own is told with it
  h.why.clear();
  if (now_ - std::max(h.last_imu, lane.since) < kMissing) return h;
  h.cause = drivers::Cause::no_packets;
  h.why.print("the lidar streams but sends no inertial data: a model without, or another port?");
  return h;
}

// Of its data, where the inertial data have a port of their own of that.
hal::PortStats Pipeline::port_stats(const Lane& lane) const {
  const auto ports = drivers_[lane.driver]->ports();
  const auto& own = ports[static_cast<std::size_t>(drivers::Channel::imu)];
  if (lane.second_output) return own ? own->stats() : hal::PortStats{};
  const auto& data = ports[static_cast<std::size_t>(drivers::Channel::data)];
  return data ? data->stats() : hal::PortStats{};
}

Account Pipeline::account(drivers::SensorId id) const {
  const Lane& lane = lanes_[id];
  Account account;
  account.health = health(id);
  account.port = port_stats(lane);
  account.packets = lane.sampler.pulses();
  account.sampled_out = lane.sampler.pulses() - lane.sampler.kept();
  if (lane.builder) account.clouds = lane.builder->stats();
  if (lane.aligner) account.samples = lane.aligner->stats();
  account.queue = collator_->stats(id);
  account.rate_hz = lane.state == drivers::State::streaming ? lane.rate.rate_hz() : 0;
  account.rate_text = lane.rate.text();
  account.checks = lane.checks;
  account.rest = lane.rest;
  account.sampling_text = lane.sampler.text();
  return account;
}

}  // namespace app
