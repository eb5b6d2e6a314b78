#include "test/sim/models.h"

#include <algorithm>

#include "test/sim/anpp.h"
#include "test/sim/bluesea.h"
#include "test/sim/bno055.h"
#include "test/sim/bno08x_rvc.h"
#include "test/sim/camsense_x1.h"
#include "test/sim/coin_d4.h"
#include "test/sim/delta2.h"
#include "test/sim/epson.h"
#include "test/sim/fdilink.h"
#include "test/sim/hipnuc.h"
#include "test/sim/hlds_lds01.h"
#include "test/sim/hokuyo_scip.h"
#include "test/sim/inertial_labs.h"
#include "test/sim/lakibeam.h"
#include "test/sim/ldrobot.h"
#include "test/sim/leuze_rsl.h"
#include "test/sim/lpms.h"
#include "test/sim/lslidar_m10.h"
#include "test/sim/lslidar_n301.h"
#include "test/sim/microstrain_mip.h"
#include "test/sim/ngimu.h"
#include "test/sim/pepperl_fuchs.h"
#include "test/sim/rplidar_model.h"
#include "test/sim/sbg.h"
#include "test/sim/sick_cola.h"
#include "test/sim/sick_compact.h"
#include "test/sim/sick_safety.h"
#include "test/sim/um7.h"
#include "test/sim/vanjee.h"
#include "test/sim/vectornav.h"
#include "test/sim/witmotion.h"
#include "test/sim/ximu3.h"
#include "test/sim/xsens.h"
#include "test/sim/xv11.h"
#include "test/sim/ydlidar.h"

namespace sim {
namespace {

std::span<const ModelRow> table() {
  static const ModelRow rows[] = {
      {"anpp", "Advanced Navigation inertial sensors, on a serial line, by UDP or TCP", false,
       anpp::options(), anpp::make},
      {"bluesea", "Bluesea (LanHai) lidars, on a serial line or by UDP", false, bluesea::options(),
       bluesea::make},
      {"bno055", "Bosch BNO055 orientation sensor", false, bno055::options(), bno055::make},
      {"bno08x_rvc", "CEVA BNO08x inertial sensors in UART-RVC mode", false, bno08x_rvc::options(),
       bno08x_rvc::make},
      {"camsense_x1", "Camsense X1 lidar", false, camsense_x1::options(), camsense_x1::make},
      {"coin_d4", "COIN-D4 lidar", false, coin_d4::options(), coin_d4::make},
      {"delta2", "3irobotix Delta-2 lidars, Xiaomi LDS08RR", false, delta2::options(),
       delta2::make},
      {"epson", "Seiko Epson M-G370 inertial sensors", false, epson::options(), epson::make},
      {"fdilink", "FDIsystems and WHEELTEC N100 inertial sensors", false, fdilink::options(),
       fdilink::make},
      {"hipnuc", "HiPNUC inertial sensors", false, hipnuc::options(), hipnuc::make},
      {"hlds_lds01", "Hitachi-LG HLS-LFCD2 (LDS-01) lidar", false, hlds_lds01::options(),
       hlds_lds01::make},
      {"hokuyo_scip", "Hokuyo URG, UBG, UTM and UST lidars", false, hokuyo_scip::options(),
       hokuyo_scip::make},
      {"inertial_labs", "Inertial Labs inertial sensors, on a serial line, by UDP or TCP", false,
       inertial_labs::options(), inertial_labs::make},
      {"lakibeam", "Richbeam Lakibeam1, 1L and 1S lidars", false, lakibeam::options(),
       lakibeam::make},
      {"ldrobot", "LDROBOT LD06, LD19, STL and LD14 lidars", false, ldrobot::options(),
       ldrobot::make},
      {"leuze_rsl", "Leuze RSL 400 and RSL 200 safety scanners", false, leuze_rsl::options(),
       leuze_rsl::make},
      {"lpms", "LP-Research inertial sensors", false, lpms::options(), lpms::make},
      {"lslidar_m10", "LSLIDAR N10, L10 and M10 lidars", false, lslidar_m10::options(),
       lslidar_m10::make},
      {"lslidar_n301", "LSLIDAR N301 lidar", false, lslidar_n301::options(), lslidar_n301::make},
      {"microstrain_mip", "MicroStrain MIP inertial sensors", false, microstrain_mip::options(),
       microstrain_mip::make},
      {"ngimu", "x-io NGIMU inertial sensor, by UDP or on a serial line", false, ngimu::options(),
       ngimu::make},
      {"pepperl_fuchs", "Pepperl+Fuchs R2000 and R2300 lidars", true, pepperl_fuchs::options(),
       pepperl_fuchs::make},
      {"rplidar", "Slamtec RPLIDAR A, S, C and T series", false, rplidar::options(), rplidar::make},
      {"sbg", "SBG Systems inertial sensors, on a serial line or by UDP", false, sbg::options(),
       sbg::make},
      {"sick_cola", "SICK TiM, LMS, LRS and MRS scanners", false, sick_cola::options(),
       sick_cola::make},
      {"sick_compact", "SICK picoScan and multiScan lidars with their IMU", true,
       sick_compact::options(), sick_compact::make},
      {"sick_safety", "SICK microScan3, nanoScan3 and outdoorScan3 safety scanners", true,
       sick_safety::options(), sick_safety::make},
      {"um7", "Redshift Labs UM7 inertial sensor", false, um7::options(), um7::make},
      {"vanjee", "Vanjee WLR-716mini, 718H and 719 lidars", false, vanjee::options(), vanjee::make},
      {"vectornav", "VectorNav VN-100, VN-200 and VN-300", false, vectornav::options(),
       vectornav::make},
      {"witmotion", "WitMotion WT901, HWT905 and relatives", false, witmotion::options(),
       witmotion::make},
      {"ximu3", "x-io x-IMU3 inertial sensor, on a serial line, by UDP or TCP", false,
       ximu3::options(), ximu3::make},
      {"xsens", "Xsens MTi inertial sensors", false, xsens::options(), xsens::make},
      {"xv11", "Neato XV-11, Xiaomi LDS01RR and LDS02RR lidars", false, xv11::options(),
       xv11::make},
      {"ydlidar", "YDLIDAR X, S, G, F, R, TG, TX and Tmini lidars", false, ydlidar::options(),
       ydlidar::make},
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
