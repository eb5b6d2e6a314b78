#include "drivers/recognise.h"

#include <random>

#include "drivers/registry.h"
#include "test/support/block_datagrams.h"
#include "test/support/harness.h"
#include "test/support/hex.h"
#include "test/support/mip_packet.h"
#include "test/support/rplidar_frames.h"
#include "test/support/stream.h"

using test::Stream;

namespace {

Stream repeated(const Stream& frame, int times) {
  Stream stream;
  for (int i = 0; i < times; ++i) test::append(stream, frame);
  return stream;
}

Stream capsules() {
  Stream stream;
  for (unsigned i = 0; i < 12; ++i) test::append(stream, test::rplidar::express(14.4 * i, 1000 + i));
  return stream;
}

const Stream kLd19 = test::hex(
    "54 2C 68 08 AB 7E E0 00 E4 DC 00 E2 D9 00 E5 D5 00 E3 D3 00 E4 D0 00 E9 CD 00 E4 CA 00 E2 C7 00 "
    "E9 C5 00 E5 C2 00 E5 C0 00 E5 BE 82 3A 1A 50");

}  // namespace

TEST_GROUP(Recognise) {
  void is(const char* driver, const Stream& bytes) {
    STRCMP_EQUAL(driver, std::string(drivers::recognise(bytes).driver).c_str());
  }
};

TEST(Recognise, NamesTheDriverWhoseFramesTheBytesAre) {
  is("ldrobot", repeated(kLd19, 5));
  is("microstrain_mip", repeated(test::mip::packet(0x80, test::mip::kAccelAtRest), 9));
  is("rplidar", capsules());
}

TEST(Recognise, DatagramsOfOneSizeToOnePortAreToldApart) {
  const auto azimuths = test::blocks::even(9000, 400);
  is("lakibeam", test::blocks::lakibeam(azimuths, 1));
  is("lslidar_n301", test::blocks::n301(azimuths, 1, true));
  is("lslidar_n301", test::blocks::n301(azimuths, 1, false));
}

TEST(Recognise, BytesMayBeginAndEndWithinAFrame) {
  for (std::ptrdiff_t cut = 1; cut < 47; ++cut) {
    Stream bytes = repeated(kLd19, 5);
    bytes.erase(bytes.begin(), bytes.begin() + cut);
    bytes.resize(bytes.size() - static_cast<std::size_t>(47 - cut));
    DOUBLES_EQUAL(1, drivers::find("ldrobot")->likeness(bytes), 1e-9);
  }
}

TEST(Recognise, DamageCostsLikeness) {
  Stream bytes = repeated(kLd19, 8);
  for (std::size_t i = 0; i < 4; ++i) bytes[20 + 94 * i] ^= std::byte{1};
  const double likeness = drivers::find("ldrobot")->likeness(bytes);
  CHECK_TRUE(likeness > 0.4 && likeness < 0.6);
  is("", bytes);
}

TEST(Recognise, NamesNobodyForNoiseZerosTextOrTooLittle) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    Stream noise(1024);
    for (std::byte& b : noise) b = static_cast<std::byte>(random());
    is("", noise);
  }
  is("", Stream(1024, std::byte{0}));
  is("", Stream(1024, std::byte{'U'}));
  is("", Stream(kLd19.begin(), kLd19.end()));
  is("", {});
}
