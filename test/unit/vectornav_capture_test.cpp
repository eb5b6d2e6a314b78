#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "drivers/inertial.h"
#include "drivers/vectornav/vectornav.h"
#include "test/support/harness.h"
#include "test/support/packet_log.h"
#include "test/support/places.h"

using namespace drivers;
using namespace std::chrono_literals;

namespace {

using Rows = std::vector<std::vector<double>>;

// Without its first line.
Rows rows_of(const std::string& name) {
  std::ifstream file(test::in_captures("vectornav/vn100_first20." + name));
  Rows rows;
  std::string line;
  for (std::getline(file, line); std::getline(file, line);) {
    std::istringstream fields(line);
    std::vector<double> row;
    for (std::string field; std::getline(fields, field, ',');) row.push_back(std::stod(field));
    rows.push_back(row);
  }
  return rows;
}

// The vendor's figures have six decimals.
void are(const std::vector<double>& row, std::size_t first, double unit,
         const std::optional<ImuSample::Vector>& actual) {
  CHECK_TRUE(actual.has_value());
  for (std::size_t i = 0; i < 3; ++i) {
    const double expected = (i == 0 ? 1 : -1) * row[first + i];
    DOUBLES_EQUAL(expected * unit, (*actual)[i], 6e-7 * unit);
  }
}

}  // namespace

TEST_GROUP(VectornavCapture){};

TEST(VectornavCapture, DecodesARecordingOfBothKindsAsTheVendorDoes) {
  std::ifstream file(test::in_captures("vectornav/vn100_first20.bin"), std::ios::binary);
  if (!file) {
    UT_PRINT("no captures: skipped");
    return;
  }
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  const hal::Bytes bytes = std::as_bytes(std::span(content));
  const Options options(Vectornav::options());
  test::PacketLog log;
  DeviceDecoder<Vectornav> decoder(options, 115200, log);
  hal::Time now{1000s};
  for (std::size_t at = 0; at < bytes.size(); at += 50) {
    decoder.feed({bytes.subspan(at, std::min<std::size_t>(50, bytes.size() - at)), now += 25ms});
  }
  decoder.finish();

  const Rows inertial = rows_of("expected_FA_06.csv"), angles = rows_of("expected_FA_12.csv"),
             texts = rows_of("expected_VNYMR.csv");
  std::size_t i = 0, a = 0, t = 0;
  for (const ImuSample& s : log.samples) {
    if (s.accel && s.orientation) {  // a text has both
      const auto& row = texts.at(t++);
      are(row, 3, 1e-4, s.mag);
      are(row, 6, 1, s.accel);
      are(row, 9, 1, s.gyro);
      CHECK_FALSE(s.device_ns.has_value());
    } else if (s.accel) {
      const auto& row = inertial.at(i++);
      CHECK_TRUE(static_cast<std::int64_t>(row[0]) == s.device_ns);
      are(row, 1, 1e-4, s.mag);
      are(row, 4, 1, s.accel);
      are(row, 7, 1, s.gyro);
    } else {
      const auto& row = angles.at(a++);
      CHECK_TRUE(static_cast<std::int64_t>(row[0]) == s.device_ns);
      const auto [x, y, z, w] = *s.orientation;
      DOUBLES_EQUAL(90 - row[1],
                    std::atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)) / inertial::kRadPerDeg,
                    2e-5);
      DOUBLES_EQUAL(-row[2], std::asin(2 * (w * y - z * x)) / inertial::kRadPerDeg, 2e-5);
      DOUBLES_EQUAL(row[3],
                    std::atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)) / inertial::kRadPerDeg,
                    2e-5);
    }
  }
  LONGS_EQUAL(9, i);
  LONGS_EQUAL(9, a);
  LONGS_EQUAL(2, t);
  const DecoderStats stats = decoder.stats();
  LONGS_EQUAL(20, stats.framing.frames);
  LONGS_EQUAL(0, stats.framing.garbage_bytes + stats.undecodable);
}
