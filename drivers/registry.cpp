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
#include "drivers/sick_cola/sick_cola.h"
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
          .sends_utc = true,
          .finding = Bluesea::finding()},
      Row{.name = "camsense_x1",
          .kind = Kind::lidar,
          .models = "Camsense X1",
          .default_baud = 115200,
          .stamp_of = StampOf::last_beam,
          .speaks = false,
          .options = CamsenseX1::options(),
          .figures = CamsenseX1::figures,
          .make = make_driver<CamsenseX1>,
          .make_decoder = make_decoder<CamsenseX1>,
          .likeness = likeness<CamsenseX1>,
          .finding = CamsenseX1::finding()},
      // Before its relatives of ydlidar, whose packets may look the same.
      Row{.name = "coin_d4",
          .kind = Kind::lidar,
          .models = "COIN-D4",
          .default_baud = 115200,
          .stamp_of = StampOf::last_beam,
          .speaks = true,
          .options = CoinD4::options(),
          .figures = CoinD4::figures,
          .make = make_driver<CoinD4>,
          .make_decoder = make_decoder<CoinD4>,
          .likeness = likeness<CoinD4>,
          .finding = CoinD4::finding()},
      Row{.name = "delta2",
          .kind = Kind::lidar,
          .models = "3irobotix Delta-2A, 2B, 2D, 2G; Xiaomi LDS08RR",
          .default_baud = 115200,
          .stamp_of = StampOf::last_beam,
          .speaks = false,
          .options = Delta2::options(),
          .figures = Delta2::figures,
          .make = make_driver<Delta2>,
          .make_decoder = make_decoder<Delta2>,
          .likeness = likeness<Delta2>,
          .finding = Delta2::finding()},
      Row{.name = "hlds_lds01",
          .kind = Kind::lidar,
          .models = "Hitachi-LG HLS-LFCD2 (LDS-01)",
          .default_baud = 230400,
          .stamp_of = StampOf::last_beam,
          .speaks = true,
          .options = HldsLds01::options(),
          .figures = HldsLds01::figures,
          .make = make_driver<HldsLds01>,
          .make_decoder = make_decoder<HldsLds01>,
          .likeness = likeness<HldsLds01>},
      Row{.name = "hokuyo_scip",
          .kind = Kind::lidar,
          .models = "Hokuyo URG-04LX, URG-04LX-UG01, UBG-04LX, UTM-30LX, UTM-30LX-EW, UST-10LX, "
                    "UST-20LX and "
                    "others that speak SCIP 2",
          .default_baud = 115200,
          .stamp_of = StampOf::first_beam,
          .speaks = true,
          .options = HokuyoScip::options(),
          .figures = HokuyoScip::figures,
          .make = make_driver<HokuyoScip>,
          .make_decoder = make_decoder<HokuyoScip>,
          .likeness = likeness<HokuyoScip>,
          .finding = HokuyoScip::finding()},
      Row{.name = "ldrobot",
          .kind = Kind::lidar,
          .models = "LD06, LD19, STL-06P/19P/26/27L, LD14, LD14P",
          .default_baud = 230400,
          .stamp_of = StampOf::last_beam,
          .speaks = false,
          .options = Ldrobot::options(),
          .figures = Ldrobot::figures,
          .make = make_driver<Ldrobot>,
          .make_decoder = make_decoder<Ldrobot>,
          .likeness = likeness<Ldrobot>,
          .finding = Ldrobot::finding()},
      Row{.name = "lslidar_m10",
          .kind = Kind::lidar,
          .models = "LSLIDAR N10, L10, N10P, M10, M10 GPS, M10P, M10 Plus",
          .default_baud = 230400,
          .stamp_of = StampOf::last_beam,
          .speaks = true,
          .options = LslidarM10::options(),
          .figures = LslidarM10::figures,
          .make = make_driver<LslidarM10>,
          .make_decoder = make_decoder<LslidarM10>,
          .likeness = likeness<LslidarM10>,
          .finding = LslidarM10::finding()},
      Row{.name = "microstrain_mip",
          .kind = Kind::imu,
          .models = "3DM-GX5, CX5, CV5, CV7, GQ7, GV7, RQ1",
          .default_baud = 115200,
          .stamp_of = StampOf::sync,
          .speaks = true,
          .options = MicrostrainMip::options(),
          .figures = MicrostrainMip::figures,
          .make = make_driver<MicrostrainMip>,
          .make_decoder = make_decoder<MicrostrainMip>,
          .likeness = likeness<MicrostrainMip>,
          .finding = MicrostrainMip::finding()},
      Row{.name = "rplidar",
          .kind = Kind::lidar,
          .models = "Slamtec RPLIDAR A1, A2, A3, S1, S2, S3, C1, S2E, S3E, T1",
          .default_baud = 115200,
          .stamp_of = StampOf::last_beam,
          .speaks = true,
          .options = Rplidar::options(),
          .figures = Rplidar::figures,
          .make = make_driver<Rplidar>,
          .make_decoder = make_decoder<Rplidar>,
          .likeness = likeness<Rplidar>,
          .finding = Rplidar::finding()},
      Row{.name = "sick_cola",
          .kind = Kind::lidar,
          .models = "SICK TiM5xx, TiM7xx, TiM8xx, LMS1xx, LMS5xx, LRS, one layer of MRS1xxx",
          .default_baud = 0,
          .stamp_of = StampOf::first_beam,
          .speaks = true,
          .options = SickCola::options(),
          .figures = SickCola::figures,
          .make = make_driver<SickCola>,
          .make_decoder = make_decoder<SickCola>,
          .likeness = likeness<SickCola>,
          .finding = SickCola::finding()},
      Row{.name = "xv11",
          .kind = Kind::lidar,
          .models = "Neato XV-11, Xiaomi LDS01RR, LDS02RR",
          .default_baud = 115200,
          .stamp_of = StampOf::last_beam,
          .speaks = false,
          .options = Xv11::options(),
          .figures = Xv11::figures,
          .make = make_driver<Xv11>,
          .make_decoder = make_decoder<Xv11>,
          .likeness = likeness<Xv11>},
      Row{.name = "ydlidar",
          .kind = Kind::lidar,
          .models =
              "YDLIDAR X2, X3, X4, X4 Pro, S2, S4, F4, R2, G1, G2, G4, G6, TG15/30/50, TX, Tmini",
          .default_baud = 128000,
          .stamp_of = StampOf::last_beam,
          .speaks = true,
          .options = Ydlidar::options(),
          .figures = Ydlidar::figures,
          .make = make_driver<Ydlidar>,
          .make_decoder = make_decoder<Ydlidar>,
          .likeness = likeness<Ydlidar>,
          .finding = Ydlidar::finding()},
  };
  return kRows;
}

const Row* find(std::string_view name) {
  const auto rows = all();
  const auto found = std::ranges::find(rows, name, &Row::name);
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace drivers
