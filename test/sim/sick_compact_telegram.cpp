#include "test/sim/sick_compact_telegram.h"

#include <algorithm>
#include <cmath>

#include "hal/crc32.h"
#include "test/sim/wire.h"

namespace sim::sick_compact {
namespace {

constexpr std::uint32_t kStart = 0x02020202;
constexpr std::size_t kHeader = 32, kImuSize = 64, kCrc = 4;
constexpr double kAzimuthZero = 16384.0, kAzimuthPerRad = 5215.0;

void seal(ByteVector& telegram) { put_le(telegram, hal::crc32(telegram), 4); }

std::uint64_t azimuth(double angle) {
  return static_cast<std::uint64_t>(std::lround(angle * kAzimuthPerRad + kAzimuthZero));
}

void put_beams(ByteVector& to, const Module& m, const Layout& layout) {
  for (std::size_t b = 0; b < m.beams; ++b) {
    for (std::size_t l = 0; l < m.lines(); ++l) {
      const Seen& seen = m.seen[b * m.lines() + l];
      for (std::size_t e = 0; e < m.echoes; ++e) {
        const double raw = seen.ranges[e] * 1000.0 / layout.scale;
        if (layout.distance) put_le(to, static_cast<std::uint64_t>(std::lround(raw)), 2);
        if (layout.rssi) put_le(to, seen.strengths[e], 2);
      }
      const bool azimuth_first = layout.version < 4;
      if (azimuth_first && layout.azimuth) put_le(to, azimuth(m.angles[b]), 2);
      if (layout.property) put8(to, 0);
      if (!azimuth_first && layout.azimuth) put_le(to, azimuth(m.angles[b]), 2);
    }
  }
}

// All but the size of the next module is known before that is made: it stands in the module.
ByteVector module_bytes(const Module& m, std::uint32_t serial, const Layout& layout,
                        std::size_t next_size) {
  ByteVector to;
  put_le(to, m.segment, 8);
  put_le(to, m.frame, 8);
  put_le(to, serial, 4);
  put_le(to, m.lines(), 4);
  put_le(to, m.beams, 4);
  put_le(to, m.echoes, 4);
  for (const std::uint64_t us : m.start_us) put_le(to, us, 8);
  for (const std::uint64_t us : m.stop_us) put_le(to, us, 8);
  for (const double elevation : m.elevations) put_le_f32(to, -elevation);
  for (const double angle : m.first_angles) put_le_f32(to, angle);
  for (const double angle : m.last_angles) put_le_f32(to, angle);
  if (layout.version >= 4) put_le_f32(to, layout.scale);
  put_le(to, next_size, 4);
  put8(to, 1);
  put8(to, (layout.distance ? 1U : 0U) | (layout.rssi ? 2U : 0U));
  put8(to, (layout.property ? 1U : 0U) | (layout.azimuth ? 2U : 0U));
  put8(to, 0);
  put_beams(to, m, layout);
  return to;
}

}  // namespace

ByteVector scan_telegram(std::uint64_t count, std::uint64_t sent_us, std::uint32_t serial,
                         const Layout& layout, const std::vector<Module>& modules) {
  std::vector<ByteVector> written(modules.size());
  std::size_t next_size = 0;
  for (std::size_t i = modules.size(); i-- > 0;) {
    written[i] = module_bytes(modules[i], serial, layout, next_size);
    next_size = written[i].size();
  }
  ByteVector telegram;
  put_le(telegram, kStart, 4);
  put_le(telegram, kScan, 4);
  put_le(telegram, count, 8);
  put_le(telegram, sent_us, 8);
  put_le(telegram, layout.version, 4);
  put_le(telegram, next_size, 4);
  for (const ByteVector& bytes : written) {
    telegram.insert(telegram.end(), bytes.begin(), bytes.end());
  }
  seal(telegram);
  return telegram;
}

ByteVector imu_telegram(const Motion& motion, std::uint64_t us) {
  ByteVector telegram;
  put_le(telegram, kStart, 4);
  put_le(telegram, kImu, 4);
  put_le(telegram, 1, 4);
  for (const double a : motion.accel) put_le_f32(telegram, a);
  for (const double w : motion.gyro) put_le_f32(telegram, w);
  for (const double q : motion.orientation) put_le_f32(telegram, q);
  put_le(telegram, us, 8);
  seal(telegram);
  return telegram;
}

// The first bytes of beams lie behind the metadata of one line at least; an IMU's values behind 12.
void falsify(ByteVector& telegram, Random& random) {
  const bool is_imu = telegram.size() == kImuSize;
  const std::size_t from = is_imu ? 12 : kHeader + 200,
                    to = telegram.size() - kCrc - (is_imu ? 8 : 0);
  if (telegram.size() < kImuSize || from >= to) return;
  for (int i = 0; i < 20; ++i) {
    telegram[from + random.below(to - from)] = static_cast<std::byte>(random.below(256));
  }
  telegram.resize(telegram.size() - kCrc);
  seal(telegram);
}

}  // namespace sim::sick_compact
