// The serial lidars with their simulators: what each is called with, for tests over all of them.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "test/sim/models.h"

namespace test {

struct SerialLidar {
  const char* driver;
  sim::Options device;                                       // what --set of the simulator is
  std::vector<std::pair<const char*, const char*>> options;  // of the driver
  int baud;

  std::string name() const {
    if (device.empty()) return driver;
    const auto model = device.find("model");
    return std::string(driver) + " " + (model != device.end() ? model : device.begin())->second;
  }
};

// One row for each kind of stream that a driver has.
inline std::vector<SerialLidar> serial_lidars() {
  return {
      {"bluesea", {{"format", "CE"}}, {}, 768'000},
      {"bluesea", {{"format", "CF"}}, {}, 768'000},
      {"bluesea", {{"format", "DF"}}, {}, 768'000},
      {"bluesea", {{"format", "C7"}}, {}, 768'000},
      {"bluesea", {{"format", "AA"}}, {}, 768'000},
      {"bluesea", {{"format", "99"}}, {}, 768'000},
      {"bluesea", {{"format", "CF"}, {"rpm", "571"}}, {}, 768'000},
      {"camsense_x1", {}, {}, 115'200},
      {"coin_d4", {}, {}, 115'200},
      {"delta2", {{"model", "2A"}}, {}, 115'200},
      {"delta2", {{"model", "2B"}}, {}, 230'400},
      {"delta2", {{"model", "LDS08RR"}}, {{"model", "LDS08RR"}}, 115'200},
      {"hlds_lds01", {}, {}, 230'400},
      {"hokuyo_scip", {{"model", "URG-04LX"}, {"baud", "750000"}}, {}, 750'000},
      {"hokuyo_scip", {{"model", "URG-04LX-UG01"}}, {}, 115'200},
      {"hokuyo_scip", {{"model", "UBG-04LX"}}, {}, 115'200},
      {"hokuyo_scip", {{"model", "UTM-30LX"}}, {}, 115'200},
      {"ldrobot", {{"model", "LD06"}}, {{"model", "LD06"}}, 230'400},
      {"ldrobot", {{"model", "LD14P"}}, {{"model", "LD14P"}}, 230'400},
      {"ldrobot", {{"model", "STL-27L"}}, {{"model", "STL-27L"}}, 921'600},
      {"lslidar_m10", {{"model", "N10"}}, {}, 230'400},
      {"lslidar_m10", {{"model", "N10P"}}, {}, 460'800},
      {"lslidar_m10", {{"model", "M10"}}, {}, 460'800},
      {"lslidar_m10", {{"model", "M10P"}}, {}, 500'000},
      {"lslidar_m10", {{"model", "M10PLUS"}}, {}, 921'600},
      {"xv11", {}, {}, 115'200},
      {"xv11", {{"firmware", "2.1"}}, {}, 115'200},
      {"ydlidar", {{"model", "X4"}}, {}, 128'000},
      {"ydlidar", {{"model", "G2"}}, {}, 230'400},
      {"ydlidar", {{"model", "TG15"}}, {}, 512'000},
      {"ydlidar", {{"model", "TminiPro"}}, {}, 230'400},
      {"ydlidar", {{"model", "TminiPlusSH"}}, {}, 230'400},
      {"ydlidar", {{"model", "X2"}}, {}, 115'200},
      {"ydlidar", {{"model", "X4Pro"}}, {{"model", "X4Pro"}}, 128'000},
  };
}

// What --set is where it streams already when somebody comes.
inline sim::Options found_streaming(const SerialLidar& lidar) {
  sim::Options set = lidar.device;
  for (const sim::OptionRow& row : sim::find_model(lidar.driver)->options) {
    const std::string key = row.key;
    if (key == "streaming" || key == "running") set[key] = "on";
    if (key == "found") set[key] = "streaming";
  }
  return set;
}

}  // namespace test
