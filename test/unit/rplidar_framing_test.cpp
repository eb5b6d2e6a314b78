#include "drivers/rplidar/framing.h"

#include "test/support/framing_properties.h"
#include "test/support/harness.h"
#include "test/support/rplidar_frames.h"

using drivers::RplidarFraming;
using test::cut;
using test::Stream;
namespace device = test::rplidar;

TEST_GROUP(RplidarFraming){
    static std::vector<Stream> express_capsules(int n){std::vector<Stream> out;
for (int i = 0; i < n; ++i) {
  out.push_back(device::express(15.0 * i, 1000, false, static_cast<unsigned>(i)));
}
return out;
}
static std::vector<Stream> nodes(int n, double step = 1.3) {
  std::vector<Stream> out;
  for (int i = 0; i < n; ++i) {
    // Every eighth angle goes back a little; most distances are zero.
    const double deg = 20 + step * i - (i % 8 == 7 ? 2 * step : 0);
    out.push_back(device::node(std::fmod(deg, 360), i % 3 == 0 ? 700 + i : 0,
                               static_cast<unsigned>(i % 64), i % 277 == 276));
  }
  return out;
}
static Stream all(const std::vector<Stream>& frames) {
  Stream s;
  for (const Stream& f : frames) test::append(s, f);
  return s;
}
}
;

TEST(RplidarFraming, ExpressCapsulesSurviveGarbageTearingAndSplits) {
  const auto good = express_capsules(20);
  test::check_garbage_and_splits(RplidarFraming(0x82), good);
  test::check_torn_frames(RplidarFraming(0x82), good[0], good[1]);
  test::check_bit_flips(RplidarFraming(0x82), good[1], good[0], good[2]);
}

TEST(RplidarFraming, UltraCapsulesSurviveGarbageTearingAndSplits) {
  std::vector<Stream> good;
  for (unsigned i = 0; i < 12; ++i) {
    good.push_back(
        device::ultra(10.0 * i, {device::cabin(100 + i, 1, 2), device::cabin(99, 3, 4)}));
  }
  test::check_garbage_and_splits(RplidarFraming(0x84), good);
  test::check_torn_frames(RplidarFraming(0x84), good[0], good[1]);
  test::check_bit_flips(RplidarFraming(0x84), good[1], good[0], good[2]);
}

TEST(RplidarFraming, DenseCapsulesSurviveGarbageTearingAndSplits) {
  std::vector<Stream> good;
  for (unsigned i = 0; i < 12; ++i) good.push_back(device::dense(4.5 * i, 1000 + i));
  test::check_garbage_and_splits(RplidarFraming(0x85), good);
  test::check_torn_frames(RplidarFraming(0x85), good[0], good[1]);
  test::check_bit_flips(RplidarFraming(0x85), good[1], good[0], good[2]);
}

TEST(RplidarFraming, UltraDenseCapsulesSurviveGarbageTearingAndSplits) {
  std::vector<Stream> good;
  for (unsigned i = 0; i < 12; ++i)
    good.push_back(device::ultra_dense(7.2 * i, 0xC87D0 + 4 * i, 9));
  test::check_garbage_and_splits(RplidarFraming(0x86), good);
  test::check_torn_frames(RplidarFraming(0x86), good[0], good[1]);
  test::check_bit_flips(RplidarFraming(0x86), good[1], good[0], good[2]);
}

TEST(RplidarFraming, HqFramesSurviveGarbageTearingAndSplits) {
  std::vector<Stream> good;
  for (int i = 0; i < 4; ++i) good.push_back(device::hq(6.0 * i, 0.0625, 1000 + i, 20, -1));
  test::check_garbage_and_splits(RplidarFraming(0x83), good);
  test::check_torn_frames(RplidarFraming(0x83), good[0], good[1]);
  test::check_bit_flips(RplidarFraming(0x83), good[1], good[0], good[2]);
}

TEST(RplidarFraming, RepliesSurviveGarbageTearingAndSplits) {
  std::vector<Stream> good;
  for (unsigned i = 0; i < 10; ++i) {
    good.push_back(device::conf_reply(0x7F, device::text("Sensitivity")));
    good.push_back(device::reply(0x06, device::number(i, 3)));
    good.push_back(device::banner());
  }
  test::check_garbage_and_splits(RplidarFraming(0), good);
}

TEST(RplidarFraming, KnowsNothingUntilADescriptorComes) {
  Stream stream = all(express_capsules(3));
  test::append(stream, device::descriptor(0x82, 84, true));
  test::append(stream, all(express_capsules(3)));
  RplidarFraming asked(0x82);
  asked.forget();
  const auto result = cut(asked, stream);
  LONGS_EQUAL(4, result.frames.size());
  LONGS_EQUAL(3 * 84, result.stats.garbage_bytes);
  LONGS_EQUAL(0, result.stats.rejected);
}

TEST(RplidarFraming, RecordingsBeginWithTheAnswerThatWasGiven) {
  LONGS_EQUAL(3, cut(RplidarFraming(0x82), all(express_capsules(3))).frames.size());
  LONGS_EQUAL(0, cut(RplidarFraming(0x84), all(express_capsules(3))).frames.size());
}

TEST(RplidarFraming, ADescriptorOverridesTheAnswer) {
  Stream stream = device::descriptor(0x82, 84, true);
  test::append(stream, all(express_capsules(3)));
  LONGS_EQUAL(4, cut(RplidarFraming(0x85), stream).frames.size());
}

TEST(RplidarFraming, ASingleReplyLeavesTheMeasurementAsItIs) {
  Stream stream = all(express_capsules(2));
  test::append(stream, device::reply(0x15, device::number(0x00FE01FC, 4)));
  test::append(stream, all(express_capsules(2)));
  const auto result = cut(RplidarFraming(0x82), stream);
  LONGS_EQUAL(5, result.frames.size());
  LONGS_EQUAL(0, result.stats.garbage_bytes);
}

TEST(RplidarFraming, ACapsuleMayBeginLikeADescriptor) {
  for (unsigned salt = 0; salt < 4096; ++salt) {
    Stream capsule = device::open_capsule(20, false);
    device::put(capsule, salt, 8);
    capsule.resize(84);
    capsule = device::close_capsule(capsule);
    if (capsule[0] != std::byte{0xA5} || capsule[1] != std::byte{0x5A}) continue;
    LONGS_EQUAL(1, cut(RplidarFraming(0x82), capsule).frames.size());
    return;
  }
  FAIL("no such capsule");
}

TEST(RplidarFraming, HeaderBytesInsideOfCapsulesAreData) {
  std::vector<Stream> good;
  for (unsigned i = 0; i < 10; ++i) {
    Stream s = device::open_capsule(15.0 * i, false);
    for (unsigned k = 0; k < 40; ++k) test::append(s, device::hex("A5 5A"));
    s[50] = static_cast<std::byte>(i);
    good.push_back(device::close_capsule(s));
  }
  const auto result = cut(RplidarFraming(0x82), all(good));
  CHECK_TRUE(result.frames == good);
}

TEST(RplidarFraming, NodesComeOneByOneOnceTheyAreAligned) {
  RplidarFraming framing(0);
  drivers::StreamFramer<RplidarFraming> framer;
  int frames = 0;
  const auto count = [&](const drivers::Frame&) { ++frames; };
  const Stream start = device::descriptor(0x81, 5, true);
  framer.feed(framing, {start, hal::Time{}}, count);
  for (const Stream& node : nodes(20)) framer.feed(framing, {node, hal::Time{}}, count);
  LONGS_EQUAL(21, frames);
}

TEST(RplidarFraming, NodesAreFoundFromAnyOffset) {
  const auto good = nodes(300);
  const Stream stream = all(good);
  for (std::ptrdiff_t offset = 0; offset < 40; ++offset) {
    const auto result = cut(RplidarFraming(0x81), Stream(stream.begin() + offset, stream.end()));
    LONGS_EQUAL((stream.size() - static_cast<std::size_t>(offset)) / 5, result.frames.size());
    LONGS_EQUAL((5 - offset % 5) % 5, result.stats.garbage_bytes);
    CHECK_TRUE(std::equal(result.frames.begin(), result.frames.end(),
                          good.end() - static_cast<std::ptrdiff_t>(result.frames.size())));
  }
}

TEST(RplidarFraming, NodesDoNotDependOnSplits) {
  test::Random random(5);
  Stream stream;
  for (int block = 0; block < 40; ++block) {
    for (unsigned n = random.below(65); n > 0; --n) stream.push_back(random.byte());
    test::append(stream, all(nodes(static_cast<int>(10 + random.below(30)))));
  }
  const auto whole = cut(RplidarFraming(0x81), stream);
  CHECK_TRUE(cut(RplidarFraming(0x81), stream, &random, 1).frames == whole.frames);
  CHECK_TRUE(cut(RplidarFraming(0x81), stream, &random).frames == whole.frames);
}

TEST(RplidarFraming, GarbageBetweenNodesCostsFewNodesAndAddsFew) {
  test::Random random(6);
  Stream stream;
  std::size_t sent = 0;
  std::vector<Stream> good;
  for (int block = 0; block < 200; ++block) {
    for (unsigned n = random.below(65); n > 0; --n) stream.push_back(random.byte());
    for (const Stream& node : nodes(40)) test::append(stream, node), ++sent, good.push_back(node);
  }
  const auto result = cut(RplidarFraming(0x81), stream);
  const std::size_t found = result.of(good);
  CHECK_TRUE(found >= sent * 99 / 100);
  CHECK_TRUE(result.frames.size() - found <= sent / 100);
}

TEST(RplidarFraming, ADamagedNodeCostsFiveBytes) {
  for (const unsigned bit : {0u, 1u, 8u}) {
    auto good = nodes(60);
    good[30][bit / 8] ^= std::byte{1} << (bit % 8);
    const auto result = cut(RplidarFraming(0x81), all(good));
    LONGS_EQUAL(59, result.frames.size());
    LONGS_EQUAL(5, result.stats.garbage_bytes);
  }
}

TEST(RplidarFraming, NodesThatAreLostWholeDoNotMoveTheAlignment) {
  auto good = nodes(100);
  good.erase(good.begin() + 40, good.begin() + 80);  // a datagram
  const auto result = cut(RplidarFraming(0x81), all(good));
  LONGS_EQUAL(60, result.frames.size());
}

TEST(RplidarFraming, AShortRecordingOfNodesIsTakenAsItIs) {
  const auto few = device::join({device::hex("3D 01 2D A0 0F"), device::hex("52 C1 3D A5 24"),
                                 device::hex("02 8F 63 00 00"), device::hex("BD 01 00 A0 0F"),
                                 device::hex("BE 81 00 A4 0F")});
  for (std::size_t n = 1; n <= 5; ++n) {
    LONGS_EQUAL(n, cut(RplidarFraming(0x81),
                       Stream(few.begin(), few.begin() + static_cast<std::ptrdiff_t>(5 * n)))
                       .frames.size());
  }
  auto described = device::descriptor(0x81, 5, true);
  test::append(described, few);
  LONGS_EQUAL(6, cut(RplidarFraming(0x82), described).frames.size());
}

TEST(RplidarFraming, UnknownAndOversizedDescriptorsAreGarbage) {
  LONGS_EQUAL(0, cut(RplidarFraming(0), device::descriptor(0x82, 85, true)).frames.size());
  LONGS_EQUAL(0, cut(RplidarFraming(0), device::descriptor(0x82, 84, false)).frames.size());
  LONGS_EQUAL(0, cut(RplidarFraming(0), device::descriptor(0x20, 0x3FFFFFFF, false)).frames.size());
  LONGS_EQUAL(0, cut(RplidarFraming(0), device::descriptor(0x77, 0, false)).frames.size());
}

TEST(RplidarFraming, AnUnfinishedReplyStaysInTheTail) {
  const auto info = device::reply(0x04, Stream(20));
  for (std::size_t n = 1; n < info.size(); ++n) {
    const auto result =
        cut(RplidarFraming(0), Stream(info.begin(), info.begin() + static_cast<std::ptrdiff_t>(n)));
    LONGS_EQUAL(0, result.frames.size());
    LONGS_EQUAL(n, result.pending);
  }
}

TEST(RplidarFraming, ABannerIsOneFrame) {
  const auto result = cut(RplidarFraming(0), device::banner());
  LONGS_EQUAL(1, result.frames.size());
  LONGS_EQUAL(64, result.frames[0].size());
}

TEST(RplidarFraming, ALoneNodeAfterGarbageIsNotTrustedEvenAtTheEnd) {
  auto stream = all(nodes(20));
  test::append(stream, device::hex("00"));
  test::append(stream, nodes(21).back());
  LONGS_EQUAL(20, cut(RplidarFraming(0x81), stream).frames.size());
}

TEST(RplidarFraming, AfterADescriptorNodesBeginAtAnyAngle) {
  RplidarFraming framing(0x81);
  drivers::StreamFramer<RplidarFraming> framer;
  int frames = 0;
  const auto count = [&](const drivers::Frame&) { ++frames; };
  auto stream = all(nodes(20));
  test::append(stream, device::descriptor(0x81, 5, true));
  test::append(stream, device::node(250, 1000, 1));
  framer.feed(framing, {stream, hal::Time{}}, count);
  LONGS_EQUAL(22, frames);
}

TEST(RplidarFraming, AJumpOfTheAngleIsBelievedWhenGoodNodesFollow) {
  RplidarFraming framing(0x81);
  drivers::StreamFramer<RplidarFraming> framer;
  int frames = 0;
  const auto count = [&](const drivers::Frame&) { ++frames; };
  auto stream = all(nodes(20));
  for (int i = 0; i < 4; ++i) test::append(stream, device::node(200 + 60 * i % 120, 1000, 1));
  framer.feed(framing, {stream, hal::Time{}}, count);
  LONGS_EQUAL(20, frames);
  framer.feed(framing, {device::node(250, 1000, 1), hal::Time{}}, count);
  CHECK_TRUE(frames > 20);
}
