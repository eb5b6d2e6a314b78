#include "drivers/registry.h"

#include <algorithm>
#include <array>

#include "drivers/bluesea/bluesea.h"
#include "drivers/camsense_x1/camsense_x1.h"
#include "drivers/coin_d4/coin_d4.h"
#include "drivers/delta2/delta2.h"
#include "drivers/hlds_lds01/hlds_lds01.h"
#include "drivers/hokuyo_scip/hokuyo_scip.h"
#include "drivers/ldrobot/ldrobot.h"
#include "drivers/lslidar_m10/lslidar_m10.h"
#include "drivers/microstrain_mip/microstrain_mip.h"
#include "drivers/recognise.h"
#include "drivers/rplidar/rplidar.h"
#include "drivers/xv11/xv11.h"
#include "drivers/ydlidar/ydlidar.h"

namespace drivers {

std::span<const Row> all() {
  static const std::array kRows{
      Row{.name = "bluesea",
          .kind = Kind::lidar,
          .models = "Bluesea LDS-50C-2, LDS-25, LDS-U50, LDS-U80C, LDS-E",
          .default_baud = 768000,
          .stamp_of = StampOf::first_beam,
          .speaks = true,
          .options = Bluesea::options(),
          .figures = Bluesea::figures,
          .make = make_driver<Bluesea>,
          .make_decoder = make_decoder<Bluesea>,
          .likeness = likeness<Bluesea>,
          .sends_utc = true},
      Row{"camsense_x1", Kind::lidar, "Camsense X1", 115200, StampOf::last_beam, false,
          CamsenseX1::options(), CamsenseX1::figures, make_driver<CamsenseX1>,
          make_decoder<CamsenseX1>, likeness<CamsenseX1>},
      // Before its relatives of ydlidar, whose packets may look the same.
      Row{"coin_d4", Kind::lidar, "COIN-D4", 115200, StampOf::last_beam, true, CoinD4::options(),
          CoinD4::figures, make_driver<CoinD4>, make_decoder<CoinD4>, likeness<CoinD4>},
      Row{"delta2", Kind::lidar, "3irobotix Delta-2A, 2B, 2D, 2G; Xiaomi LDS08RR", 115200,
          StampOf::last_beam, false, Delta2::options(), Delta2::figures, make_driver<Delta2>,
          make_decoder<Delta2>, likeness<Delta2>},
      Row{"hlds_lds01", Kind::lidar, "Hitachi-LG HLS-LFCD2 (LDS-01)", 230400, StampOf::last_beam,
          true, HldsLds01::options(), HldsLds01::figures, make_driver<HldsLds01>,
          make_decoder<HldsLds01>, likeness<HldsLds01>},
      Row{"hokuyo_scip", Kind::lidar,
          "Hokuyo URG-04LX, URG-04LX-UG01, UBG-04LX, UTM-30LX and others that speak SCIP 2", 115200,
          StampOf::first_beam, true, HokuyoScip::options(), HokuyoScip::figures,
          make_driver<HokuyoScip>, make_decoder<HokuyoScip>, likeness<HokuyoScip>},
      Row{"ldrobot", Kind::lidar, "LD06, LD19, STL-06P/19P/26/27L, LD14, LD14P", 230400,
          StampOf::last_beam, false, Ldrobot::options(), Ldrobot::figures, make_driver<Ldrobot>,
          make_decoder<Ldrobot>, likeness<Ldrobot>},
      Row{"lslidar_m10", Kind::lidar, "LSLIDAR N10, L10, N10P, M10, M10 GPS, M10P, M10 Plus",
          230400, StampOf::last_beam, true, LslidarM10::options(), LslidarM10::figures,
          make_driver<LslidarM10>, make_decoder<LslidarM10>, likeness<LslidarM10>},
      Row{"microstrain_mip", Kind::imu, "3DM-GX5, CX5, CV5, CV7, GQ7, GV7, RQ1", 115200,
          StampOf::sync, true, MicrostrainMip::options(), MicrostrainMip::figures,
          make_driver<MicrostrainMip>, make_decoder<MicrostrainMip>, likeness<MicrostrainMip>},
      Row{"rplidar", Kind::lidar, "Slamtec RPLIDAR A1, A2, A3, S1, S2, S3, C1, S2E, S3E, T1",
          115200, StampOf::last_beam, true, Rplidar::options(), Rplidar::figures,
          make_driver<Rplidar>, make_decoder<Rplidar>, likeness<Rplidar>},
      Row{"xv11", Kind::lidar, "Neato XV-11, Xiaomi LDS01RR, LDS02RR", 115200, StampOf::last_beam,
          false, Xv11::options(), Xv11::figures, make_driver<Xv11>, make_decoder<Xv11>,
          likeness<Xv11>},
      Row{"ydlidar", Kind::lidar,
          "YDLIDAR X2, X3, X4, X4 Pro, S2, S4, F4, R2, G1, G2, G4, G6, TG15/30/50, TX, Tmini",
          128000, StampOf::last_beam, true, Ydlidar::options(), Ydlidar::figures,
          make_driver<Ydlidar>, make_decoder<Ydlidar>, likeness<Ydlidar>},
  };
  return kRows;
}

const Row* find(std::string_view name) {
  const auto rows = all();
  const auto found = std::ranges::find(rows, name, &Row::name);
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace drivers
