#include "app/lidarctl/books.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <span>

namespace lidarctl {
namespace {

struct Equation {
  std::initializer_list<const char*> whole, parts;
};

struct Side {
  std::uint64_t sum = 0;
  std::string text{};
};

Side side(const Diagnosis& sensor, std::initializer_list<const char*> keys) {
  Side side;
  for (const char* const key : keys) {
    side.sum += sensor.count(key);
    side.text += (side.text.empty() ? "" : " + ") + std::string(key);
  }
  return side;
}

std::vector<std::string> imbalances(const Diagnosis& sensor, std::span<const Equation> equations) {
  std::vector<std::string> found;
  for (const Equation& equation : equations) {
    const Side whole = side(sensor, equation.whole), parts = side(sensor, equation.parts);
    if (whole.sum == parts.sum) continue;
    found.push_back(whole.text + " " + std::to_string(whole.sum) + " is not " + parts.text + " = " +
                    std::to_string(parts.sum));
  }
  return found;
}

}  // namespace

std::vector<std::string> imbalances(const Diagnosis& sensor) {
  const bool lidar = sensor.values.contains("cloud.beams");
  const std::initializer_list<Equation> devices = {
      {{"wire.bytes"}, {"wire.frame_bytes", "wire.garbage_bytes", "wire.pending"}},
      {{"driver.frames", "driver.extra_packets"},
       {"driver.replies", "driver.packets", "driver.imu_packets", "driver.stale", "driver.withheld",
        "driver.stuck", "driver.unwanted", "driver.silent_frames", "driver.undecodable"}},
  };
  const std::initializer_list<Equation> both = {
      {{"driver.packets"}, {"packets.in"}},
      {{"queue.in"},
       {"queue.out", "queue.late", "queue.duplicate", "queue.backward", "queue.future",
        "queue.overflow", "queue.before_start", "queue.held"}},
      {{"queue.out"}, {"output.messages"}},
  };
  const std::initializer_list<Equation> lidars = {
      {{"cloud.beams"},
       {"cloud.points", "cloud.no_return", "cloud.out_of_range", "cloud.out_of_angle", "cloud.weak",
        "cloud.invalid", "cloud.overlap", "cloud.without_pool", "cloud.sampled_out", "cloud.in_box",
        "cloud.shadow", "cloud.speckle", "cloud.decimated", "cloud.voxel", "cloud.discarded",
        "cloud.held"}},
      {{"packets.in"}, {"cloud.slices"}},
      {{"cloud.clouds"}, {"queue.in"}},
  };
  const std::initializer_list<Equation> imus = {
      {{"packets.in"}, {"packets.sampled_out", "imu.in"}},
      {{"imu.in"},
       {"imu.out", "imu.incomplete", "imu.non_finite", "imu.all_zero", "imu.implausible"}},
      {{"imu.out"}, {"queue.in"}},
  };
  const std::initializer_list<Equation> deskew = {
      {{"deskew.clouds"}, {"deskew.turned", "deskew.without_gyro"}},
  };
  const std::initializer_list<Equation> inputs = {
      {{"input.messages"},
       {"input.passed", "input.wrong_schema", "input.other_sender", "input.too_large",
        "input.bad_time", "input.too_fast", "input.without_pool"}},
      {{"input.passed"}, {"queue.in"}},
      {{"queue.in"},
       {"queue.out", "queue.late", "queue.duplicate", "queue.backward", "queue.future",
        "queue.overflow", "queue.before_start", "queue.held"}},
      {{"queue.out"}, {"output.messages"}},
  };
  const std::initializer_list<Equation> merges = {
      {{"merge.clouds"},
       {"merge.merged", "merge.backward", "merge.late_clouds", "merge.held_clouds"}},
      {{"merge.points"},
       {"merge.out", "merge.backward_points", "merge.late", "merge.bad_time", "merge.full",
        "merge.held"}},
      {{"merge.out"}, {"output.points"}},
      {{"merge.emitted"}, {"output.messages"}},
  };
  std::vector<std::string> found = imbalances(sensor, deskew);
  const auto look = [&](std::span<const Equation> equations) {
    std::ranges::copy(imbalances(sensor, equations), std::back_inserter(found));
  };
  if (sensor.values.contains("merge.clouds")) {
    look(merges);
  } else if (sensor.values.contains("input.messages")) {
    look(inputs);
  } else {
    if (sensor.values.contains("wire.bytes")) look(devices);  // else a second output
    look(both);
    look(lidar ? lidars : imus);
  }
  return found;
}

std::string drops(const Diagnosis& sensor) {
  std::string text;
  for (const char* const key :
       {"wire.garbage_bytes",   "wire.rejected",       "wire.rejected_datagrams",
        "wire.empty_datagrams", "wire.lost_datagrams", "driver.undecodable",
        "driver.stale",         "driver.withheld",     "driver.stuck",
        "driver.unwanted",      "packets.sampled_out", "cloud.invalid",
        "cloud.overlap",        "cloud.without_pool",  "cloud.discarded",
        "imu.incomplete",       "imu.non_finite",      "imu.all_zero",
        "imu.implausible",      "input.wrong_schema",  "input.other_sender",
        "input.too_large",      "input.bad_time",      "input.too_fast",
        "input.without_pool",   "queue.late",          "queue.duplicate",
        "queue.backward",       "queue.future",        "queue.overflow",
        "queue.before_start",   "deskew.without_gyro", "merge.backward_points",
        "merge.late",           "merge.bad_time",      "merge.full"}) {
    const std::uint64_t n = sensor.count(key);
    if (n == 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(key).substr(std::string(key).find('.') + 1) +
            " " + std::to_string(n);
  }
  return text.empty() ? "none" : text;
}

}  // namespace lidarctl
