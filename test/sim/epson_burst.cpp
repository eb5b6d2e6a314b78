#include "test/sim/epson_burst.h"

#include <algorithm>
#include <cmath>

#include "test/sim/room.h"
#include "test/sim/wire.h"

namespace sim::epson {
namespace {

// Bits of the high bytes of BURST_CTRL1 and, but for the flags, of BURST_CTRL2.
constexpr unsigned kFlag = 0x8000, kTemperature = 0x4000, kGyro = 0x2000, kAccel = 0x1000,
                   kDeltaVelocity = 0x0800, kDeltaAngle = 0x0400, kQuaternion = 0x0200,
                   kAttitude = 0x0100;
// Of the low byte of BURST_CTRL1.
constexpr unsigned kGpio = 0x04, kCount = 0x02, kSum = 0x01;

constexpr double kCelsius = 25.5;

constexpr Product kTable[] = {
    {"G370PDG0", 0.0151515, 0.00025, 0.00390625, 0.0, 16'000},
    {"G370PDT0", 0.0151515, 0.00025, 0.00390625, 0.0, 16'000},
    {"G330PDG0", 0.0151515, 0.00025, 0.00390625, 0.0, 16'000},
    {"G366PDG0", 0.0151515, 0.00025, 0.00390625, 0.0, 16'000},
    {"G370PDF1", 0.0151515, 0.0004, -0.0037918, 2634.0, 16'000},
    {"G365PDF1", 0.0151515, 0.0004, -0.0037918, 2634.0, 16'000},
    {"G365PDC1", 0.0151515, 0.00016, -0.0037918, 2634.0, 16'000},
    {"G364PDC0", 0.0075, 0.000125, -0.0037918, 2634.0, 21'333},
    {"G354PDH0", 0.016, 0.0002, -0.0037918, 2634.0, 21'333},
    {"G320PDG0", 0.008, 0.0002, -0.0037918, 2634.0, 21'333},
};

// `steps` in 16 bits, or with 16 bits of fraction.
void put(ByteVector& to, double steps, bool wide) {
  const double full = wide ? 2'147'483'647.0 : 32'767.0;
  const double value = std::clamp(wide ? steps * 65'536.0 : steps, -full, full);
  put_be(to, static_cast<std::uint64_t>(std::llround(value)), wide ? 4 : 2);
}

}  // namespace

const Product& product_of(std::string_view name) {
  return *std::ranges::find(kTable, name,
                            [](const Product& p) { return std::string_view(p.name); });
}

// What the description tells no unit of is zero: angle, velocity, quaternion, attitude.
ByteVector burst_of(const Product& product, const Sample& s, unsigned fields, unsigned wide) {
  ByteVector burst;
  const auto zeros = [&](unsigned field, int n) {
    if ((fields & field) == 0) return;
    for (int i = 0; i < n; ++i) put(burst, 0.0, (wide & field) != 0);
  };
  put8(burst, 0x80);
  if ((fields & kFlag) != 0) put_be(burst, 0xFE00, 2);
  if ((fields & kTemperature) != 0) {
    put(burst, (kCelsius - 25.0) / product.celsius + product.at_25, (wide & kTemperature) != 0);
  }
  if ((fields & kGyro) != 0) {
    for (const double v : s.motion.gyro) put(burst, degrees(v) / product.gyro, (wide & kGyro) != 0);
  }
  if ((fields & kAccel) != 0) {
    for (const double v : s.motion.accel)
      put(burst, v / kStandardGravity / product.accel, (wide & kAccel) != 0);
  }
  zeros(kDeltaAngle, 3);
  zeros(kDeltaVelocity, 3);
  zeros(kQuaternion, 4);
  zeros(kAttitude, 3);
  if ((fields & kGpio) != 0) put_be(burst, 0, 2);
  if ((fields & kCount) != 0) put_be(burst, s.count, 2);
  if ((fields & kSum) != 0) put_be(burst, 0, 2);
  put8(burst, 0x0D);
  seal(burst, fields);
  return burst;
}

void seal(ByteVector& burst, unsigned fields) {
  if ((fields & kSum) == 0) return;
  const std::size_t at = burst.size() - 3;
  unsigned sum = 0;
  for (std::size_t i = 1; i < at; i += 2) sum += static_cast<unsigned>(get_be(burst, i, 2));
  burst[at] = static_cast<std::byte>(sum >> 8 & 0xFFU);
  burst[at + 1] = static_cast<std::byte>(sum & 0xFFU);
}

}  // namespace sim::epson
