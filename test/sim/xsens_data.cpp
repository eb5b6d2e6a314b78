#include "test/sim/xsens_data.h"

#include <algorithm>
#include <cmath>

#include "test/sim/room.h"
#include "test/sim/wire.h"

namespace sim::xsens {
namespace {

constexpr std::uint64_t kDay = 864'000'000, kAll32 = std::uint64_t{1} << 32;
constexpr double kHalf = 0.70710678118654752440;
constexpr double kField = 48e-6;  // T; of the place of the calibration
constexpr double kPart = 0.75;    // of an interval that had begun before

constexpr ModelInfo kInfos[] = {
    {"MTi-1", "MTi-1-8A7G6T", 8, 100, false, false, kAll32},
    {"MTi-3", "MTi-3-8A7G6T", 8, 100, true, false, kAll32},
    {"MTi-30", "MTi-30-2A5G4", 4, 400, true, false, kDay},
    {"MTi-100", "MTi-100-2A8G4", 4, 400, false, false, kDay},
    {"MTi-300", "MTi-300-2A8G4", 4, 400, true, false, kDay},
    {"MTi-G-710", "MTi-G-710-2A8G4", 4, 400, true, true, kDay},
    {"MTi-610", "MTi-610-2A8G4", 8, 400, false, false, kAll32},
    {"MTi-630", "MTi-630-2A8G4", 8, 400, true, false, kAll32},
};

enum class Needs : std::uint8_t { nothing, filter, gnss };
struct ItemInfo {
  unsigned id;       // without the format
  unsigned most_hz;  // 0: accompanies; above a model's base rate: that
  Needs needs;
};
constexpr ItemInfo kItems[] = {
    {0x1010, 0, Needs::nothing},   {0x1020, 0, Needs::nothing},   {0x1060, 0, Needs::nothing},
    {0x1070, 0, Needs::nothing},   {0xE010, 0, Needs::nothing},   {0xE020, 0, Needs::nothing},
    {0x2010, 400, Needs::filter},  {0x2020, 400, Needs::filter},  {0x2030, 400, Needs::filter},
    {0x4010, 400, Needs::nothing}, {0x4020, 400, Needs::nothing}, {0x4030, 400, Needs::filter},
    {0x4040, 400, Needs::nothing}, {0x8020, 400, Needs::nothing}, {0x8030, 400, Needs::nothing},
    {0x8040, 400, Needs::nothing}, {0xC020, 100, Needs::nothing}, {0x0810, 1, Needs::nothing},
    {0x3010, 50, Needs::nothing},  {0x5040, 400, Needs::gnss},    {0x5020, 400, Needs::gnss},
    {0xD010, 400, Needs::gnss},    {0x7010, 4, Needs::gnss},
};

// In the format of the identifier's nibble: float32, 12.20, 16.32, float64.
void put_real(ByteVector& to, unsigned id, double value) {
  switch (id & 3U) {
    case 0:
      return put_be_f32(to, value);
    case 1:
      return put_be(to, static_cast<std::uint64_t>(std::llround(value * 0x1p20)), 4);
    case 2: {
      const auto fixed = static_cast<std::uint64_t>(std::llround(value * 0x1p32));
      put_be(to, fixed & 0xFFFF'FFFFU, 4);
      return put_be(to, fixed >> 32 & 0xFFFFU, 2);
    }
    default:
      return put_be_f64(to, value);
  }
}
void put_reals(ByteVector& to, unsigned id, std::initializer_list<double> values) {
  for (const double v : values) put_real(to, id, v);
}
void put_reals(ByteVector& to, unsigned id, const Vector3& v) {
  for (const double x : v) put_real(to, id, x);
}

// From the sensor to the world that the nibble names.
Quaternion attitude(unsigned id, const Quaternion& enu) {
  if ((id & 0xCU) == 0x4U) return product({0.0, kHalf, kHalf, 0.0}, enu);  // north-east-down
  if ((id & 0xCU) == 0x8U) return to_nwu_flu(enu);
  return enu;
}

Vector3 into_world(const Quaternion& q, const Vector3& v) {
  return into_body({q[0], -q[1], -q[2], -q[3]}, v);
}

void put_matrix(ByteVector& to, unsigned id, const Quaternion& q) {
  for (const Vector3& axis : {Vector3{1, 0, 0}, Vector3{0, 1, 0}, Vector3{0, 0, 1}})
    put_reals(to, id, into_world(q, axis));  // column by column
}

void put_euler(ByteVector& to, unsigned id, const Quaternion& q) {
  const auto [w, x, y, z] = q;
  const double deg = 360.0 / kTurn;
  put_reals(to, id,
            {deg * std::atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y)),
             deg * std::asin(std::clamp(2.0 * (w * y - z * x), -1.0, 1.0)),
             deg * std::atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))});
}

Vector3 scaled(const Vector3& v, double factor) {
  return {v[0] * factor, v[1] * factor, v[2] * factor};
}

void put_delta_q(ByteVector& to, unsigned id, const Sample& s) {
  const Vector3 half = scaled(s.motion.gyro, s.interval_s / 2.0);
  const double angle = std::hypot(half[0], half[1], half[2]);
  const double factor = angle == 0.0 ? 1.0 : std::sin(angle) / angle;
  put_real(to, id, std::cos(angle));
  put_reals(to, id, scaled(half, factor));
}

// 2019-01-20 13:47:24 at power-up; one day of it is enough.
void put_utc(ByteVector& to, std::int64_t device_ns) {
  const std::int64_t seconds = 49'644 + device_ns / 1'000'000'000;
  put_be(to, static_cast<std::uint64_t>(device_ns % 1'000'000'000), 4);
  put_be(to, 2019, 2), put8(to, 1), put8(to, 20U + static_cast<unsigned>(seconds / 86'400) % 8);
  put8(to, static_cast<unsigned>(seconds / 3600 % 24));
  put8(to, static_cast<unsigned>(seconds / 60 % 60)), put8(to, static_cast<unsigned>(seconds % 60));
  put8(to, 0x37);
}

bool is_left_out(unsigned type) { return type == 0x2010 || type == 0x2020 || type == 0x2030; }

void put_payload(ByteVector& to, unsigned id, const Sample& s) {
  const Motion& m = s.motion;
  const Quaternion q = attitude(id, m.orientation);
  const Vector3 accel = scaled(m.accel, s.is_whole ? 1.0 : kPart);
  switch (id & 0xFFF0U) {
    case 0x1010:
      return put_utc(to, s.device_ns);
    case 0x1020:
      return put_be(to, s.counter, 2);
    case 0x1060:
      return put_be(to, s.fine, 4);
    case 0x1070:
      return put_be(to, s.fine / 10'000, 4);
    case 0x2010:
      return put_reals(to, id, {q[0], q[1], q[2], q[3]});
    case 0x2020:
      return put_matrix(to, id, q);
    case 0x2030:
      return put_euler(to, id, q);
    case 0x4010:
      return put_reals(to, id, scaled(accel, s.interval_s));
    case 0x4020:
    case 0x4040:
      return put_reals(to, id, accel);
    case 0x4030: {
      Vector3 free = into_world(m.orientation, accel);
      free[2] -= kStandardGravity;
      return put_reals(to, id, into_world(attitude(id, {1.0, 0.0, 0.0, 0.0}), free));
    }
    case 0x8020:
    case 0x8040:
      return put_reals(to, id, m.gyro);
    case 0x8030:
      return put_delta_q(to, id, s);
    case 0xC020:
      return put_reals(to, id, scaled(m.mag, 1.0 / kField));
    case 0x0810:
      return put_real(to, id, 25.5);
    case 0x3010:
      return put_be(to, 101'325, 4);
    case 0x5040:
      return put_reals(to, id, {52.2, 6.9});
    case 0x5020:
      return put_real(to, id, 40.0);
    case 0xD010:
      return put_reals(to, id, Vector3{});
    case 0x7010:
      to.resize(to.size() + 94);
      return;
    case 0xE010:
      return put8(to, s.status);
    default:  // E020
      return put_be(to, s.status, 4);
  }
}

}  // namespace

const ModelInfo& model_of(std::string_view name) {
  return *std::ranges::find_if(kInfos, [&](const ModelInfo& m) { return name == m.name; });
}

unsigned rate_of(const ModelInfo& model, unsigned id, unsigned hz) {
  const auto* const info =
      std::ranges::find_if(kItems, [&](const ItemInfo& i) { return i.id == (id & 0xFFF0U); });
  if (info == std::end(kItems)) return 0;
  if (info->needs == Needs::filter && !model.has_orientation) return 0;
  if (info->needs == Needs::gnss && !model.has_gnss) return 0;
  if (info->most_hz == 0) return kAccompanies;
  const unsigned most = std::min(info->most_hz, model.base_hz);
  if (hz == 0 || hz >= most) return most;
  unsigned every = (model.base_hz + hz - 1) / hz;
  while (model.base_hz % every != 0) ++every;
  return model.base_hz / every;
}

void put_item(ByteVector& to, const Item& item, const Sample& sample) {
  if (!sample.is_whole && is_left_out(item.id & 0xFFF0U)) return;
  ByteVector payload;
  put_payload(payload, item.id, sample);
  put_be(to, item.id, 2), put8(to, payload.size());
  to.insert(to.end(), payload.begin(), payload.end());
}

}  // namespace sim::xsens
