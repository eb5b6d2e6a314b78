// A lidar and an IMU as a configuration, for tests of what comes after the drivers.
#pragma once

#include <string>
#include <utility>

#include "config/load.h"
#include "config/plan.h"
#include "test/support/harness.h"

namespace test {

// `lidar` and `imu`: more lines of the sensors, each indented by four spaces.
inline config::Stack small_stack(const std::string& lidar = "", const std::string& imu = "",
                                 const std::string& top = "") {
  auto loaded = config::load_text("frame: base\n" + top +
                                      "sensors:\n"
                                      "  front:\n"
                                      "    driver: ldrobot\n"
                                      "    port: serial:/dev/lidar\n" +
                                      lidar +
                                      "  body:\n"
                                      "    driver: microstrain_mip\n"
                                      "    port: serial:/dev/imu\n" +
                                      imu,
                                  "test");
  if (const auto* const faults = std::get_if<std::vector<config::Fault>>(&loaded)) {
    FAIL(config::to_string(faults->front()).c_str());
  }
  return std::get<config::Stack>(std::move(loaded));
}

}  // namespace test
