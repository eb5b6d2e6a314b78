#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "drivers/xsens/xsens.h"
#include "test/support/harness.h"
#include "test/support/hex.h"
#include "test/support/packet_log.h"
#include "test/support/places.h"

using namespace drivers;
using namespace std::chrono_literals;

namespace {

// One line of the vendor's decoder: "pc 43399 stf 51703223 acc x y z gyr x y z q(w,x,y,z) w x y z"
struct Expected {
  explicit Expected(const std::string& line) {
    std::sscanf(line.c_str(), "pc %*u stf %lld", &ticks);
    accel = vector(line, "acc ");
    gyro = vector(line, "gyr ");
    const auto at = line.find("q(w,x,y,z) ");
    if (at == std::string::npos) return;
    std::array<double, 4> q{};
    LONGS_EQUAL(4,
                std::sscanf(line.c_str() + at + 11, "%lf %lf %lf %lf", &q[3], &q[0], &q[1], &q[2]));
    orientation = q;
  }
  static std::optional<ImuSample::Vector> vector(const std::string& line, const char* key) {
    const auto at = line.find(key);
    if (at == std::string::npos) return std::nullopt;
    double x = 0, y = 0, z = 0;
    LONGS_EQUAL(3, std::sscanf(line.c_str() + at + std::strlen(key), "%lf %lf %lf", &x, &y, &z));
    return ImuSample::Vector{x, y, z};
  }
  long long ticks = 0;
  std::optional<ImuSample::Vector> accel, gyro;
  std::optional<std::array<double, 4>> orientation;
};

void equal(const std::optional<ImuSample::Vector>& expected,
           const std::optional<ImuSample::Vector>& actual) {
  CHECK_TRUE(expected.has_value() == actual.has_value());
  for (std::size_t i = 0; expected && i < 3; ++i)
    DOUBLES_EQUAL((*expected)[i], (*actual)[i], std::abs((*expected)[i]) * 1e-6);
}

}  // namespace

TEST_GROUP(XsensCapture) {
  Options options{Xsens::options()};
  test::PacketLog log;
  DeviceDecoder<Xsens> decoder{options, 0, log};
  hal::Time now{1000s};

  // False: there are no captures.
  bool feed_file(const std::string& name) {
    std::ifstream file(name, std::ios::binary);
    if (!file) {
      UT_PRINT("no captures: skipped");
      return false;
    }
    const std::string content{std::istreambuf_iterator<char>(file), {}};
    const hal::Bytes bytes = std::as_bytes(std::span(content));
    for (std::size_t at = 0; at < bytes.size(); at += 100)
      decoder.feed({bytes.subspan(at, std::min<std::size_t>(100, bytes.size() - at)), now += 8ms});
    decoder.finish();
    LONGS_EQUAL(bytes.size(), decoder.stats().framing.frame_bytes);
    return true;
  }
  // Of the lines that say something of motion, all but the first `skipped`.
  void compare(const std::string& name, std::size_t skipped, std::size_t lines, bool turns) {
    std::ifstream text(name);
    std::size_t i = 0, seen = 0;
    for (std::string line; std::getline(text, line);) {
      const Expected expected(line);
      if (seen++ < skipped) continue;
      // Messages of satellites are in the list, and those of pressure alone.
      while (i < log.samples.size() &&
             log.samples[i].device_ns.value_or(0) < expected.ticks * 100'000)
        ++i;
      if (!expected.accel && !expected.orientation) continue;
      const ImuSample& sample = log.samples.at(i);
      CHECK_TRUE(expected.ticks * 100'000 == sample.device_ns.value_or(-1));
      equal(expected.accel, sample.accel);
      equal(expected.gyro, sample.gyro);
      if (!turns || !expected.orientation) continue;
      const double sign = (*expected.orientation)[3] < 0 ? -1 : 1;
      for (std::size_t k = 0; k < 4; ++k)
        DOUBLES_EQUAL((*expected.orientation)[k] * sign, (*sample.orientation)[k], 1e-6);
    }
    LONGS_EQUAL(lines, seen);
  }
};

TEST(XsensCapture, ARecordingWithAnglesIsReadAsTheVendorReadsIt) {
  if (!feed_file(test::in_captures("xsens/1.output.bin"))) return;
  // Of the first one, acceleration is that of a part of an interval.
  compare(test::in_captures("xsens/1.expected_vendor.txt"), 1, 100, true);
  LONGS_EQUAL(95, log.samples.size());
  LONGS_EQUAL(1, decoder.stats().undecodable);
  for (std::size_t i = 1; i < 95; ++i) {
    CHECK_TRUE(*log.samples[i].device_ns - *log.samples[i - 1].device_ns == 10'000'000);
    CHECK_TRUE(log.samples[i].at > log.samples[i - 1].at);
  }
}

TEST(XsensCapture, ARecordingWithMatricesIsReadAsTheVendorReadsIt) {
  if (!feed_file(test::in_captures("xsens/5.output.bin"))) return;
  compare(test::in_captures("xsens/5.expected_vendor.txt"), 0, 100, true);
  LONGS_EQUAL(0, decoder.stats().undecodable);
  std::size_t attitudes = 0;
  for (const ImuSample& s : log.samples) {
    attitudes += s.orientation.has_value();
    CHECK_FALSE(s.accel || s.gyro || s.mag);
  }
  LONGS_EQUAL(92, attitudes);
  DOUBLES_EQUAL(101'389, *log.samples[0].pressure, 0);
  DOUBLES_EQUAL(36.8125, *log.samples[1].temperature, 1e-6);
}

TEST(XsensCapture, EveryVectorIsAFrame) {
  std::ifstream file(test::in_captures("imu-vectors.tsv"));
  if (!file) {
    UT_PRINT("no captures: skipped");
    return;
  }
  std::size_t vectors = 0;
  for (std::string text; std::getline(file, text);) {
    if (!text.starts_with("xsens\t")) continue;
    const std::size_t at = text.find('\t', 6) + 1;
    decoder.feed({test::hex(text.substr(at, text.find('\t', at) - at)), now += 8ms});
    ++vectors;
  }
  LONGS_EQUAL(7, vectors);
  LONGS_EQUAL(vectors, decoder.stats().framing.frames);
}
