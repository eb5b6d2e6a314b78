#include "test/unit/sim_rplidar_decoders.h"

#include "test/support/harness.h"

#include "test/sim/room.h"

namespace rplidar_test {

using sim::ByteVector;

unsigned field(const ByteVector& b, std::size_t at, unsigned count) {
  unsigned v = 0;
  for (unsigned i = 0; i < count; ++i) v |= std::to_integer<unsigned>(b[at + i]) << (8 * i);
  return v;
}

namespace {

int signed10(unsigned v) { return v < 512 ? static_cast<int>(v) : static_cast<int>(v) - 1024; }

void check_capsule(const ByteVector& b) {
  unsigned check = 0;
  for (std::size_t i = 2; i < b.size(); ++i) check ^= field(b, i, 1);
  LONGS_EQUAL(0xA0 | (check & 15), field(b, 0, 1));
  LONGS_EQUAL(0x50 | (check >> 4), field(b, 1, 1));
}

double start_deg(const ByteVector& b, std::size_t at) { return (field(b, at, 2) & 0x7FFF) / 64.0; }

double step_deg(const ByteVector& b, const ByteVector& next, std::size_t at, double samples) {
  const double advance = start_deg(next, at) - start_deg(b, at);
  return (advance < 0 ? advance + 360.0 : advance) / samples;
}

std::vector<RplidarPoint> decode_standard(const ByteVector& b) {
  std::vector<RplidarPoint> points;
  for (std::size_t at = 0; at + 5 <= b.size(); at += 5) {
    LONGS_EQUAL(1, (field(b, at, 1) ^ (field(b, at, 1) >> 1)) & 1);
    LONGS_EQUAL(1, field(b, at + 1, 1) & 1);
    points.push_back({(field(b, at + 1, 2) >> 1) / 64.0, field(b, at + 3, 2) / 4.0, 0.125});
  }
  return points;
}

std::vector<RplidarPoint> decode_express(const ByteVector& b, const ByteVector& next) {
  check_capsule(b);
  std::vector<RplidarPoint> points;
  for (unsigned k = 0; k < 32; ++k) {
    const std::size_t cabin = 4 + 5 * (k / 2);
    const unsigned word = field(b, cabin + 2 * (k % 2), 2);
    const unsigned low = (field(b, cabin + 4, 1) >> (4 * (k % 2))) & 15;
    const double offset = (low | (word & 3) << 4) / 8.0;
    points.push_back(
        {start_deg(b, 2) + k * step_deg(b, next, 2, 32) - offset, double(word >> 2), 0.5});
  }
  return points;
}

struct Major {
  int mm;
  int level;
};

Major decode_major(unsigned cabin) {
  const int m = static_cast<int>(cabin & 0xFFF);
  if (m < 512) return {m, 0};
  if (m < 1280) return {512 + ((m - 512) << 1), 1};
  if (m < 1792) return {2048 + ((m - 1280) << 2), 2};
  if (m < 3328) return {4096 + ((m - 1792) << 3), 3};
  return {16384 + ((m - 3328) << 4), 4};
}

double ultra_offset(int mm) {
  const int q2 = 4 * mm;
  if (q2 < 200) return 7.5;
  const int k = 98361 / q2;
  return (9150 - 64 * k - k * k * k / 98304) * 180.0 / sim::kPi / 65536.0;
}

std::vector<RplidarPoint> decode_ultra(const ByteVector& b, const ByteVector& next) {
  check_capsule(b);
  std::vector<RplidarPoint> points;
  const auto add = [&](int mm, int level) {
    const auto k = static_cast<double>(points.size());
    const double nominal = start_deg(b, 2) + k * step_deg(b, next, 2, 96);
    points.push_back({nominal - ultra_offset(mm), static_cast<double>(mm), 0.5 * (1 << level)});
  };
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned cabin = field(b, 4 + 4 * i, 4);
    const Major major1 = decode_major(cabin);
    const Major base2 = decode_major(i < 31 ? field(b, 8 + 4 * i, 4) : field(next, 4, 4));
    const Major base1 = major1.mm == 0 && base2.mm != 0 ? base2 : major1;
    const int p1 = signed10((cabin >> 12) & 0x3FF), p2 = signed10(cabin >> 22);
    const auto predicted = [](Major base, int p) {
      return p == -512 || p == 511 ? 0 : base.mm + p * (1 << base.level);
    };
    add(major1.mm, major1.level);
    add(predicted(base1, p1), base1.level);
    add(predicted(base2, p2), base2.level);
  }
  return points;
}

std::vector<RplidarPoint> decode_dense(const ByteVector& b, const ByteVector& next) {
  check_capsule(b);
  std::vector<RplidarPoint> points;
  for (unsigned k = 0; k < 40; ++k)
    points.push_back(
        {start_deg(b, 2) + k * step_deg(b, next, 2, 40), double(field(b, 4 + 2 * k, 2)), 0.5});
  return points;
}

std::vector<RplidarPoint> decode_ultra_dense(const ByteVector& b, const ByteVector& next) {
  check_capsule(b);
  std::vector<RplidarPoint> points;
  for (unsigned k = 0; k < 64; ++k) {
    const std::size_t cabin = 10 + 5 * (k / 2);
    const unsigned high = (field(b, cabin + 4, 1) >> (4 * (k % 2))) & 15;
    const unsigned v = field(b, cabin + 2 * (k % 2), 2) | high << 16;
    const double mm[] = {(v & 0xFFC) / 4 * 2.0, (v & 0x1FFC) / 4 * 3.0 + 2046,
                         (v & 0x3FFC) / 4 * 4.0 + 8187, (v & 0x7FFC) / 4 * 5.0 + 24567};
    points.push_back(
        {start_deg(b, 8) + k * step_deg(b, next, 8, 64), mm[v & 3], 1.0 + (v & 3) / 2.0});
  }
  return points;
}

std::vector<RplidarPoint> decode_hq(const ByteVector& b) {
  LONGS_EQUAL(0xA5, field(b, 0, 1));
  std::vector<RplidarPoint> points;
  for (std::size_t k = 0; k < 96; ++k)
    points.push_back({field(b, 9 + 8 * k, 2) * 90.0 / 16384, field(b, 11 + 8 * k, 4) / 4.0, 0.125});
  return points;
}

}  // namespace

std::vector<RplidarPoint> decode_rplidar(unsigned answer, const ByteVector& b,
                                         const ByteVector& next) {
  switch (answer) {
    case 0x81:
      return decode_standard(b);
    case 0x82:
      return decode_express(b, next);
    case 0x83:
      return decode_hq(b);
    case 0x84:
      return decode_ultra(b, next);
    case 0x85:
      return decode_dense(b, next);
    default:
      return decode_ultra_dense(b, next);
  }
}

}  // namespace rplidar_test
