#include "test/sim/truth.h"

#include <cinttypes>
#include <cmath>

#include "test/sim/room.h"

namespace sim {

void TruthWriter::write(const ScanTruth& scan) {
  std::fprintf(file_,
               "{\"type\":\"scan\",\"seq\":%" PRIu64 ",\"device_ns\":%" PRId64 ",\"beams\":[",
               scans_++, scan.device_ns);
  const char* separator = "";
  for (const TrueBeam& beam : scan.beams) {
    std::fprintf(file_, "%s[%" PRId64 ",%.9f,%.6f]", separator, hal::to_ns(beam.at),
                 std::remainder(beam.angle, kTurn), beam.range);
    separator = ",";
  }
  std::fputs("]}\n", file_);
}

void TruthWriter::write(const ImuTruth& imu) {
  std::fprintf(file_,
               "{\"type\":\"imu\",\"seq\":%" PRIu64 ",\"device_ns\":%" PRId64 ",\"t_ns\":%" PRId64
               ",\"accel\":[%.9g,%.9g,%.9g],\"gyro\":[%.9g,%.9g,%.9g]}\n",
               imus_++, imu.device_ns, hal::to_ns(imu.at), imu.accel[0], imu.accel[1], imu.accel[2],
               imu.gyro[0], imu.gyro[1], imu.gyro[2]);
}

}  // namespace sim
