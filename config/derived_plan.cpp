#include "config/derived_plan.h"

#include <algorithm>
#include <cmath>

#include "collation/gyro_track.h"
#include "hal/text.h"

namespace config {
namespace {

// Clouds whose points are older than this are not de-skewed.
constexpr hal::Duration kTrackSpan = std::chrono::seconds(2);

std::size_t index_of(const Stack& stack, const std::string& name) {
  const auto found = std::ranges::find(stack.sensors, name, &Sensor::name);
  return static_cast<std::size_t>(found - stack.sensors.begin());
}

void keep_gyro(const Stack& stack, const std::string& imu, Plan& plan) {
  const std::size_t i = index_of(stack, imu);
  if (i == plan.sensors.size() || plan.sensors[i].gyro_samples > 0) return;
  SensorPlan& p = plan.sensors[i];
  const double samples = std::ceil(p.rate_hz * hal::to_seconds(kTrackSpan));
  p.gyro_samples = std::max<std::size_t>(16, static_cast<std::size_t>(samples));
  p.bytes += collation::GyroTrack::memory(p.gyro_samples);
}

// Enough clouds for the slowest lidar to come at half its rate, and a merged cloud for what comes
// in its period.
MergedPlan merged_plan(const Stack& stack, const Merged& merged, const Plan& plan) {
  MergedPlan result;
  std::vector<std::size_t> members;
  for (const std::string& name : merged.sensors) {
    if (const std::size_t i = index_of(stack, name); i < plan.sensors.size()) members.push_back(i);
  }
  double slowest = 0;  // s
  for (const std::size_t i : members) {
    if (plan.sensors[i].rate_hz > 0) slowest = std::max(slowest, 1 / plan.sensors[i].rate_hz);
  }
  std::string because;
  for (const std::size_t i : members) {
    const SensorPlan& p = plan.sensors[i];
    const double ratio = p.rate_hz * slowest;
    result.lidars.push_back(
        {.clouds = static_cast<std::size_t>(std::ceil(2 * ratio)) + 1, .points = p.points});
    result.points += p.points * static_cast<std::size_t>(std::max(1.0, std::ceil(ratio)));
    const hal::Duration period = hal::from_seconds(p.rate_hz > 0 ? 1 / p.rate_hz : 0);
    if (period + p.worst_age <= result.worst_age) continue;
    result.worst_age = period + p.worst_age;
    because =
        hal::Text<192>::of("%s, its period %.4g + %.4g in the order", stack.sensors[i].name.c_str(),
                           hal::to_seconds(period) * 1e3, hal::to_seconds(p.worst_age) * 1e3)
            .c_str();
  }
  if (result.lidars.empty()) return result;
  result.latency = hal::Text<256>::of("%s %.4g ms: %s", merged.name.c_str(),
                                      hal::to_seconds(result.worst_age) * 1e3, because.c_str())
                       .c_str();
  result.points = std::max<std::size_t>(1, result.points);
  result.bytes = collation::RangeDataCollator::memory(result.lidars, result.points);
  return result;
}

}  // namespace

void plan_derived(const Stack& stack, Plan& plan) {
  for (std::size_t i = 0; i < stack.sensors.size(); ++i) {
    const Sensor& sensor = stack.sensors[i];
    if (sensor.deskew.empty()) continue;
    SensorPlan& p = plan.sensors[i];
    p.bytes += collation::cloud_pool_bytes(1, p.points, sensor.outputs.scan);
    keep_gyro(stack, sensor.deskew, plan);
  }
  for (const Merged& merged : stack.merged) {
    if (!merged.deskew.empty()) keep_gyro(stack, merged.deskew, plan);
    plan.merged.push_back(merged_plan(stack, merged, plan));
  }
}

}  // namespace config
