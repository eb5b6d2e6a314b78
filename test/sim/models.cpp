#include "test/sim/models.h"

#include <algorithm>

#include "test/sim/ldrobot.h"
#include "test/sim/lslidar_m10.h"
#include "test/sim/microstrain_mip.h"
#include "test/sim/rplidar_model.h"

namespace sim {
namespace {

std::span<const ModelRow> table() {
  static const ModelRow rows[] = {
      {"ldrobot", "LDROBOT LD06, LD19, STL and LD14 lidars", false, ldrobot::options(),
       ldrobot::make},
      {"lslidar_m10", "LSLIDAR N10, L10 and M10 lidars", false, lslidar_m10::options(),
       lslidar_m10::make},
      {"microstrain_mip", "MicroStrain MIP inertial sensors", false, microstrain_mip::options(),
       microstrain_mip::make},
      {"rplidar", "Slamtec RPLIDAR A, S, C and T series", false, rplidar::options(), rplidar::make},
  };
  return rows;
}

bool same_letter(char a, char b) { return a == b || (a == '-' && b == '_'); }

}  // namespace

std::span<const ModelRow> models() { return table(); }

const ModelRow* find_model(std::string_view name) {
  for (const ModelRow& row : table()) {
    const std::string_view known = row.name;
    if (std::equal(name.begin(), name.end(), known.begin(), known.end(), same_letter)) return &row;
  }
  return nullptr;
}

}  // namespace sim
