// Real datagrams of a picoScan150 and a multiScan, value by value.
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "drivers/decoder.h"
#include "drivers/sick_compact/sick_compact.h"
#include "test/support/harness.h"
#include "test/support/packet_log.h"
#include "test/support/places.h"

using namespace drivers;
using namespace std::chrono_literals;

namespace {

std::string content_of(const std::string& name) {
  std::ifstream file(test::in_captures("sick-compact/" + name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<double> numbers_in(const std::string& line) {
  std::vector<double> out;
  std::istringstream fields(line);
  for (std::string field; std::getline(fields, field, ',');) out.push_back(std::stod(field));
  return out;
}

}  // namespace

TEST_GROUP(SickCompactCapture) {
  test::PacketLog log;
  Options options{SickCompact::options()};
  DeviceDecoder<SickCompact> decoder{options, 0, log};
  hal::Time now{1000s};

  std::size_t feed(const std::string& name) {
    const std::string content = content_of(name);
    decoder.feed({std::as_bytes(std::span(content)), now += 4ms});
    return content.size();
  }
};

TEST(SickCompactCapture, DecodesAll2400BeamsOfAPicoScan) {
  std::istringstream points(content_of("picoscan.points.csv"));
  if (points.str().empty()) {
    UT_PRINT("no captures: skipped");
    return;
  }
  std::size_t bytes = 0;
  for (int i = 0; i < 10; ++i) bytes += feed("picoscan_0" + std::to_string(i) + ".bin");
  LONGS_EQUAL(37'080, bytes);
  LONGS_EQUAL(10, log.slices.size());
  std::string line;
  std::getline(points, line);
  std::size_t compared = 0, beyond = 0;
  while (std::getline(points, line)) {
    const std::vector<double> v = numbers_in(line);
    const auto slice = static_cast<std::size_t>(v[0]), beam = static_cast<std::size_t>(v[1]);
    if (beam >= log.beams[slice].size()) {  // beyond the field: nothing was measured there
      DOUBLES_EQUAL(0, v[2] + v[4] + v[6], 0);
      CHECK_TRUE(v[10] > 2.409);
      ++beyond;
      continue;
    }
    const Beam& b = log.beams[slice][beam];
    const auto echoes = log.slices[slice].echoes_of(beam);
    LONGS_EQUAL(2, echoes.size());
    DOUBLES_EQUAL(v[10], b.angle, 1.1e-6);
    DOUBLES_EQUAL(v[2] / 1000, b.range, 1e-6);
    DOUBLES_EQUAL(v[3], b.intensity, 0);
    for (std::size_t e = 0; e < 2; ++e) {
      DOUBLES_EQUAL(v[4 + 2 * e] / 1000, echoes[e].range, 1e-6);
      DOUBLES_EQUAL(v[5 + 2 * e], echoes[e].intensity, 0);
    }
    ++compared;
  }
  LONGS_EQUAL(2400, compared + beyond);
  LONGS_EQUAL(2 * 95, beyond);
  const DecoderStats stats = decoder.stats();
  LONGS_EQUAL(10, stats.framing.frames);
  LONGS_EQUAL(bytes, stats.framing.frame_bytes);
  LONGS_EQUAL(0, stats.tail_bytes + stats.undecodable + stats.framing.rejected);
}

TEST(SickCompactCapture, TimesAndTurnsAreThoseOfThePicoScan) {
  const std::string expected = content_of("picoscan.expected.json");
  if (expected.empty()) {
    UT_PRINT("no captures: skipped");
    return;
  }
  for (int i = 0; i < 10; ++i) feed("picoscan_0" + std::to_string(i) + ".bin");
  std::size_t at = 0;
  for (std::size_t i = 0; i < 10; ++i) {
    const auto value = [&](const char* key) {
      at = expected.find(key, at) + std::string(key).size();
      return std::stoll(expected.substr(at));
    };
    const long long segment = value("\"segment\": "), first_us = value("\"t_start_us\": ");
    LONGLONGS_EQUAL(first_us * 1000, *log.slices[i].device_ns);
    LONGLONGS_EQUAL(17'361, log.slices[i].step.count());
    CHECK_EQUAL(segment == 0, log.slices[i].starts_turn);
    LONGS_EQUAL(segment == 4 ? 145 : 240, log.slices[i].beams.size());
  }
}

TEST(SickCompactCapture, DecodesTheMotionOfAMultiScan) {
  if (content_of("multiscan_imu0.bin").empty()) {
    UT_PRINT("no captures: skipped");
    return;
  }
  for (const char* name : {"multiscan_imu0.bin", "multiscan_imu1.bin", "multiscan_imu2.bin"})
    LONGS_EQUAL(64, feed(name));
  constexpr double kAccel[3][3] = {{0.65244, -0.268159, 9.641745},
                                   {0.739831, -0.27175, 9.618999},
                                   {0.724268, -0.225062, 9.596253}};
  constexpr double kGyro[3][3] = {
      {0.003196, 0, 0}, {0.002131, -0.001065, -0.001065}, {0, 0, -0.001065}};
  constexpr std::int64_t kUs[] = {8293696513, 8293706497, 8293716480};
  constexpr double kOrientation[] = {-0.015198, -0.03772, 6.1e-05, 0.999146};
  LONGS_EQUAL(3, log.samples.size());
  for (std::size_t i = 0; i < 3; ++i) {
    LONGLONGS_EQUAL(kUs[i] * 1000, *log.samples[i].device_ns);
    for (std::size_t k = 0; k < 3; ++k) {
      DOUBLES_EQUAL(kAccel[i][k], (*log.samples[i].accel)[k], 1e-6);
      DOUBLES_EQUAL(kGyro[i][k], (*log.samples[i].gyro)[k], 1e-6);
    }
    for (std::size_t k = 0; k < 4; ++k)
      DOUBLES_EQUAL(kOrientation[k], (*log.samples[i].orientation)[k], 1e-6);
  }
}
