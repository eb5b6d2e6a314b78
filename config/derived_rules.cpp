#include "config/derived_rules.h"

#include <algorithm>

#include "collation/range_data_collator.h"
#include "drivers/options.h"

namespace config {
namespace {

const Sensor* find(const Stack& stack, const std::string& name) {
  const auto found = std::ranges::find(stack.sensors, name, &Sensor::name);
  return found == stack.sensors.end() ? nullptr : &*found;
}

bool is(const Sensor& sensor, drivers::Kind kind) {
  return !sensor.driver || kind_of(sensor) == kind;
}

std::string nearest_of(const Stack& stack, const std::string& name, drivers::Kind kind) {
  std::vector<std::string_view> names;
  for (const Sensor& sensor : stack.sensors) {
    if (is(sensor, kind)) names.push_back(sensor.name);
  }
  const std::string_view near = drivers::nearest(name, names);
  if (!near.empty()) return "did you mean '" + std::string(near) + "'?";
  return kind == drivers::Kind::imu ? "expected the name of an IMU" : "expected names of lidars";
}

// Order holds among these two only when they are collated together.
bool are_ordered(const Stack& stack, const Sensor& a, const Sensor& b) {
  return !stack.collation.by_trajectory || a.trajectory == b.trajectory;
}

void check_passthrough(const Sensor& sensor, const std::string& key, Draft& draft) {
  if (sensor.role != Role::passthrough) return;
  draft.blame(key, sensor.name + " is passthrough: its data are in no order with others",
              "give it the role required or optional");
}

// `lidar` is de-skewed with the IMU that `key` names.
void check_deskew(const Sensor& lidar, const std::string& imu_name, const std::string& key,
                  Draft& draft) {
  const Sensor* const imu = find(draft.stack, imu_name);
  if (!imu || !is(*imu, drivers::Kind::imu)) {
    draft.blame(key, "'" + imu_name + "' is no IMU of this configuration",
                nearest_of(draft.stack, imu_name, drivers::Kind::imu));
    return;
  }
  check_passthrough(*imu, key, draft);
  check_passthrough(lidar, key, draft);
  if (!are_ordered(draft.stack, lidar, *imu)) {
    draft.blame(key,
                imu->name + " is on the trajectory " + imu->trajectory + ", not with " + lidar.name,
                "expected an IMU of the same trajectory, or by_trajectory: false");
  }
  if (lidar.frame == Frame::sensor) {
    draft.blame(key,
                "the gyro turns the tracking frame, and " + lidar.name + " is given in its own",
                "leave deskew out, or give " + lidar.name + " frame: tracking");
  }
}

void check_merged_lidar(const Merged& merged, const std::string& name, const std::string& key,
                        Draft& draft) {
  const Sensor* const lidar = find(draft.stack, name);
  if (!lidar || !is(*lidar, drivers::Kind::lidar)) {
    draft.blame(key, "'" + name + "' is no lidar of this configuration",
                nearest_of(draft.stack, name, drivers::Kind::lidar));
    return;
  }
  check_passthrough(*lidar, key, draft);
  const Sensor* const first = find(draft.stack, merged.sensors.front());
  if (first && !are_ordered(draft.stack, *first, *lidar)) {
    draft.blame(key, lidar->name + " is on another trajectory than " + first->name,
                "expected lidars of one trajectory, or by_trajectory: false");
  }
  if (lidar->frame == Frame::sensor) {
    draft.blame(key, lidar->name + " is given in its own frame", "give it frame: tracking");
  }
}

void check_merged(const Merged& merged, Draft& draft) {
  const std::string path = "merged." + merged.name, key = path + ".sensors";
  if (find(draft.stack, merged.name)) {
    draft.blame(path, "a sensor is called so, and both would be /" + merged.name + "/points",
                "give it another name");
  }
  if (merged.name == "lidard" || merged.name == draft.stack.frame) {
    draft.blame(path, "lidard itself uses this name", "give it another name");
  }
  if (merged.sensors.size() > collation::RangeDataCollator::kMaxLidars) {
    draft.blame(key, std::to_string(merged.sensors.size()) + " lidars are too many",
                "at most " + std::to_string(collation::RangeDataCollator::kMaxLidars));
  }
  for (const std::string& name : merged.sensors) check_merged_lidar(merged, name, key, draft);
  const Sensor* const first =
      merged.sensors.empty() ? nullptr : find(draft.stack, merged.sensors.front());
  if (first && !merged.deskew.empty()) check_deskew(*first, merged.deskew, path + ".deskew", draft);
}

}  // namespace

void check_derived(Draft& draft) {
  for (const Sensor& sensor : draft.stack.sensors) {
    if (sensor.deskew.empty() || !is(sensor, drivers::Kind::lidar)) continue;
    const std::string key = "sensors." + sensor.name + ".deskew";
    if (!sensor.outputs.points) {
      draft.blame(key, "scans are not de-skewed, and " + sensor.name + " gives no points",
                  "leave deskew out, or add points to its outputs");
    }
    check_deskew(sensor, sensor.deskew, key, draft);
  }
  for (const Merged& merged : draft.stack.merged) check_merged(merged, draft);
}

}  // namespace config
