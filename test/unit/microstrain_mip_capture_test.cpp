#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "drivers/microstrain_mip/microstrain_mip.h"
#include "test/support/harness.h"
#include "test/support/packet_log.h"
#include "test/support/places.h"

using namespace drivers;
using namespace std::chrono_literals;

TEST_GROUP(MicrostrainMipCapture) {
  Options options{MicrostrainMip::options()};
  test::PacketLog log;
  DeviceDecoder<MicrostrainMip> decoder{options, 0, log};
  hal::Time now{1000s};
};

namespace {

// One line of the vendor's decoder: "pkt 80 len 54 |D5 t=282809000000 |D6 |04 acc=x,y,z |05
// gyr=..."
struct Expected {
  explicit Expected(const std::string& line) {
    imu = line.find("pkt 80") == 0;
    const auto at = [&](const char* key) { return line.find(key); };
    if (at(" t=") != std::string::npos) device_ns = std::stoll(line.substr(at(" t=") + 3));
    accel = vector(line, "acc=");
    gyro = vector(line, "gyr=");
    mag = vector(line, "mag=");
  }
  static std::optional<ImuSample::Vector> vector(const std::string& line, const char* key) {
    const auto at = line.find(key);
    if (at == std::string::npos) return std::nullopt;
    double x = 0, y = 0, z = 0;
    LONGS_EQUAL(3, std::sscanf(line.c_str() + at + 4, "%lf,%lf,%lf", &x, &y, &z));
    return ImuSample::Vector{x, -y, -z};
  }
  bool imu = false;
  std::optional<std::int64_t> device_ns;
  std::optional<ImuSample::Vector> accel, gyro, mag;
};

void scaled_equal(const std::optional<ImuSample::Vector>& expected, double unit,
                  const std::optional<ImuSample::Vector>& actual) {
  CHECK_TRUE(expected.has_value() == actual.has_value());
  for (std::size_t i = 0; expected && i < 3; ++i) {
    DOUBLES_EQUAL((*expected)[i] * unit, (*actual)[i], std::abs((*expected)[i]) * unit * 2e-7);
  }
}

}  // namespace

TEST(MicrostrainMipCapture, DecodesARecordingAsTheVendorDoes) {
  const std::string name = test::in_captures("microstrain-mip/mip_first400");
  std::ifstream file(name + ".bin", std::ios::binary), text(name + ".expected_vendor.txt");
  if (!file || !text) {
    UT_PRINT("no captures: skipped");
    return;
  }
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  const hal::Bytes bytes = std::as_bytes(std::span(content));
  for (std::size_t at = 0; at < bytes.size(); at += 100) {
    decoder.feed({bytes.subspan(at, std::min<std::size_t>(100, bytes.size() - at)), now += 10ms});
  }
  decoder.finish();

  std::size_t lines = 0, i = 0;
  for (std::string line; std::getline(text, line); ++lines) {
    const Expected expected(line);
    if (!expected.imu) continue;
    const ImuSample& sample = log.samples.at(i++);
    CHECK_TRUE(expected.device_ns == sample.device_ns);
    scaled_equal(expected.accel, 9.80665, sample.accel);
    scaled_equal(expected.gyro, 1, sample.gyro);
    scaled_equal(expected.mag, 1e-4, sample.mag);
  }
  LONGS_EQUAL(400, lines);
  LONGS_EQUAL(364, i);
  LONGS_EQUAL(364, log.samples.size());
  const DecoderStats stats = decoder.stats();
  LONGS_EQUAL(400, stats.framing.frames);
  LONGS_EQUAL(bytes.size(), stats.framing.frame_bytes);
  LONGS_EQUAL(0, stats.framing.rejected + stats.framing.garbage_bytes + stats.tail_bytes);
  LONGS_EQUAL(0, stats.undecodable);
  for (std::size_t k = 1; k < 364; ++k) CHECK_TRUE(log.samples[k - 1].at < log.samples[k].at);
}
