#include <cmath>
#include <fstream>
#include <iterator>
#include <string>

#include "drivers/hipnuc/hipnuc.h"
#include "test/support/harness.h"
#include "test/support/hex.h"
#include "test/support/packet_log.h"
#include "test/support/places.h"

using namespace drivers;
using namespace std::chrono_literals;

TEST_GROUP(HipnucCapture) {
  Options options{Hipnuc::options()};
  test::PacketLog log;
  DeviceDecoder<Hipnuc> decoder{options, 0, log};
};

TEST(HipnucCapture, TheVendorsFrameIsReadAsTheVendorReadsIt) {
  std::ifstream file(test::in_captures("hipnuc/hi91_vendor_frame.bin"), std::ios::binary);
  if (!file) {
    UT_PRINT("no captures: skipped");
    return;
  }
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  decoder.feed({std::as_bytes(std::span(content)), hal::Time{1000s}});
  const ImuSample& s = log.samples.at(0);
  const double accel_g[] = {-0.22061461, 0.20918885, 0.94888908};
  DOUBLES_EQUAL(accel_g[1] * 9.80665, (*s.accel)[0], 1e-7 * 9.80665);
  DOUBLES_EQUAL(-accel_g[0] * 9.80665, (*s.accel)[1], 1e-7 * 9.80665);
  DOUBLES_EQUAL(accel_g[2] * 9.80665, (*s.accel)[2], 1e-7 * 9.80665);
  CHECK_TRUE(1'840'392'000'000 == *s.device_ns);
  // Back to the quaternion that was sent: q (s, 0, 0, -s).
  const auto [x, y, z, w] = *s.orientation;
  const double half = std::sqrt(0.5);
  const double sent[] = {half * (w + z), half * (x - y), half * (y + x), half * (z - w)};
  const double expected[] = {-0.48592222, -0.14982013, 0.03808683, 0.86022264};
  const double sign = sent[0] * expected[0] < 0 ? -1 : 1;
  for (int i = 0; i < 4; ++i) DOUBLES_EQUAL(expected[i], sign * sent[i], 1e-6);
  LONGS_EQUAL(1, decoder.stats().framing.frames);
  LONGS_EQUAL(82, decoder.stats().framing.frame_bytes);
}

TEST(HipnucCapture, EveryVectorIsAFrame) {
  std::ifstream file(test::in_captures("imu-vectors.tsv"));
  if (!file) {
    UT_PRINT("no captures: skipped");
    return;
  }
  std::size_t vectors = 0;
  for (std::string text; std::getline(file, text);) {
    if (!text.starts_with("hipnuc\t")) continue;
    const std::size_t at = text.find('\t', 7) + 1;
    const auto bytes = test::hex(text.substr(at, text.find('\t', at) - at));
    decoder.feed({bytes, hal::Time{1000s}});
    ++vectors;
  }
  LONGS_EQUAL(2, vectors);
  LONGS_EQUAL(vectors, decoder.stats().framing.frames);
}
