#include "drivers/ximu3/ximu3.h"

#include <cmath>
#include <limits>
#include <memory>

#include "test/support/allocation_counter.h"
#include "test/support/framing_properties.h"
#include "test/support/harness.h"
#include "test/support/packet_log.h"
#include "test/support/ximu3_message.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::joined;
using namespace test::ximu3;

namespace {

const Octets kInertial = hex(
    "C9 60 E3 16 00 00 00 00 00 00 00 00 3F 00 00 A0 BF 00 00 20 41 DB DC D7 23 3C DB DC D7 A3 BC "
    "00 00 80 3F 0A");
const Octets kQuaternion =
    hex("D1 60 E3 16 00 00 00 00 00 F3 04 35 3F 00 00 00 00 00 00 00 00 F3 04 35 3F 0A");
const Octets kWarmth = hex("D4 6A E3 16 00 00 00 00 00 00 00 C8 41 0A");
const Octets kManualQuaternion =
    hex("D1 40 42 0F 00 00 00 00 00 00 00 80 3F 00 00 00 00 00 00 00 00 00 00 00 00 0A");
const Octets kManualAngles =
    hex("C1 40 42 0F 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 0A");

void vectors_equal(const ImuSample::Vector& expected,
                   const std::optional<ImuSample::Vector>& actual, double tolerance = 1e-7) {
  CHECK_TRUE(actual.has_value());
  for (std::size_t i = 0; i < 3; ++i) DOUBLES_EQUAL(expected[i], (*actual)[i], tolerance);
}

void orientations_equal(const std::array<double, 4>& expected,
                        const std::optional<std::array<double, 4>>& actual) {
  CHECK_TRUE(actual.has_value());
  for (std::size_t i = 0; i < 4; ++i) DOUBLES_EQUAL(expected[i], (*actual)[i], 1e-6);
}

const double kHalf = std::sqrt(0.5);
const std::array<double, 4> kNorth{0, 0, kHalf, kHalf};  // in east-north-up

// Some instants of two messages each.
std::vector<Octets> stream(int instants, std::uint64_t from = 1'000'000) {
  std::vector<Octets> messages;
  for (int i = 0; i < instants; ++i) {
    const std::uint64_t us = from + 10'000 * static_cast<std::uint64_t>(i);
    messages.push_back(rates(us));
    messages.push_back(attitude(us));
  }
  return messages;
}

}  // namespace

TEST_GROUP(Ximu3) {
  Options options{Ximu3::options()};
  test::PacketLog log;
  std::unique_ptr<DeviceDecoder<Ximu3>> decoder =
      std::make_unique<DeviceDecoder<Ximu3>>(options, 0, log);
  hal::Time now{1000s};

  void set(std::string_view key, std::string_view value) {
    CHECK_TRUE(static_cast<bool>(options.set(key, value)));
    decoder = std::make_unique<DeviceDecoder<Ximu3>>(options, 0, log);
    log.samples.clear();
  }
  void feed(const Octets& bytes) { decoder->feed({bytes, now += 5ms}); }
  void feed_all(const std::vector<Octets>& messages) {
    for (const Octets& m : messages) feed(m);
  }
  std::int64_t device_ns(std::size_t i) { return log.samples.at(i).device_ns.value_or(-1); }
};

TEST(Ximu3, TheWorkedBinaryMessagesAreReadFieldByField) {
  feed(kInertial);
  vectors_equal({0.00872665, -0.02181662, 0.17453293}, log.samples.at(0).gyro);
  vectors_equal({0.0980665, -0.196133, 9.80665}, log.samples.at(0).accel);
  CHECK_TRUE(1'500'000'000 == device_ns(0));
  CHECK_TRUE(log.samples[0].at == now);
  feed(kQuaternion);  // north-west-up, a quarter turn to the West
  orientations_equal({0, 0, 1, 0}, log.samples.at(1).orientation);
  feed(kWarmth);
  DOUBLES_EQUAL(25, *log.samples.at(2).temperature, 1e-9);
  CHECK_TRUE(1'500'010'000 == device_ns(2));
}

TEST(Ximu3, TheMessagesOfTheManualAreRead) {
  feed(kManualQuaternion);
  feed(kManualAngles);
  feed(text("Q,1000000,1.0000,0.0000,0.0000,0.0000\r\n"));
  LONGS_EQUAL(1, log.samples.size());  // one instant, told three times
  orientations_equal(kNorth, log.samples.at(0).orientation);
  CHECK_TRUE(1'000'000'000 == device_ns(0));
}

TEST(Ximu3, TheSameInDecimals) {
  feed(text("I,1500000,0.5000,-1.2500,10.0000,0.0100,-0.0200,1.0000\r\n"));
  vectors_equal({0.00872665, -0.02181662, 0.17453293}, log.samples.at(0).gyro);
  vectors_equal({0.0980665, -0.196133, 9.80665}, log.samples.at(0).accel);
  CHECK_TRUE(1'500'000'000 == device_ns(0));
  feed(text("Q,1510000,0.7071068,0.0000,0.0000,0.7071068\r\n"));
  orientations_equal({0, 0, 1, 0}, log.samples.at(1).orientation);
}

TEST(Ximu3, AnglesAreAnAttitudeAndSoIsThatOfAccelerationsWithoutGravity) {
  feed(binary('A', 1'000'000, {10, 5, 30}));
  // North-west-up, so a quarter turn less in east-north-up: 120 degrees.
  const auto q = *log.samples.at(0).orientation;
  DOUBLES_EQUAL(120 / 57.29577951,
                std::atan2(2 * (q[3] * q[2] + q[0] * q[1]), 1 - 2 * (q[1] * q[1] + q[2] * q[2])),
                1e-6);
  DOUBLES_EQUAL(5 / 57.29577951, std::asin(2 * (q[3] * q[1] - q[2] * q[0])), 1e-6);
  feed(binary('L', 1'010'000, {1, 0, 0, 0, 0.1, 0, 0}));
  feed(binary('E', 1'020'000, {1, 0, 0, 0, 0.1, 0, 0}));
  LONGS_EQUAL(3, log.samples.size());
  for (const std::size_t i : {1U, 2U}) {
    orientations_equal(kNorth, log.samples[i].orientation);
    CHECK_FALSE(log.samples[i].accel.has_value());
  }
}

TEST(Ximu3, MessagesOfOneInstantAreOneSample) {
  feed_all(stream(10));
  LONGS_EQUAL(12, log.samples.size());
  for (std::size_t i = 4; i < 12; ++i) {
    CHECK_TRUE(log.samples[i].accel && log.samples[i].orientation);
    CHECK_TRUE(log.samples[i].at > log.samples[i - 1].at);
  }
}

TEST(Ximu3, TheWorldCanBeSaid) {
  set("world", "enu");
  feed(kManualQuaternion);
  orientations_equal({0, 0, 0, 1}, log.samples.at(0).orientation);
  set("world", "ned");
  feed(kManualQuaternion);
  orientations_equal(kNorth, log.samples.at(0).orientation);
  feed(binary('I', 1'010'000, {1, 2, 3, 0, 0, -1}));
  vectors_equal({0, 0, 9.80665}, log.samples.at(1).accel);
}

TEST(Ximu3, OtherMessagesAreNoMeasurement) {
  feed(binary('M', 1, {1, 2, 3}));
  feed(binary('H', 1, {1, 2, 3}));
  feed(binary('R', 1, {1, 0, 0, 0, 1, 0, 0, 0, 1}));
  feed(binary('S', 1, {0, 0, 0, 1}));
  feed(binary('B', 1, {50, 3.7, 0}));
  feed(binary('W', 1, {100, -50}));
  feed(binary('U', 1, {}));
  feed(binary('X', 1, {1}));  // unknown
  feed(stuffed(joined(head('N', 0x0A), text("hello"))));
  feed(stuffed(joined(head('C', 7), text("$GPGGA,1"))));
  feed(text("B,1000000,50.0000,3.7000,0.0000\r\n"));
  feed(text("N,1000000,hello, world\r\n"));
  feed(text("{\"sync\":0,\"name\":\"x-IMU3\",\"port\":7000}\r\n"));
  decoder->finish();
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(13, decoder->stats().framing.frames);
  LONGS_EQUAL(0, decoder->stats().framing.garbage_bytes);
  LONGS_EQUAL(0, decoder->stats().undecodable);
}

TEST(Ximu3, AMessageThatIsNoneIsGarbage) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Octets& bad :
       {binary('I', 1, {1, 2, 3, 4, 5}), binary('I', 1, {1, 2, 3, 4, 5, 6, 7}),
        binary('I', 1, {nan, 2, 3, 0, 0, 1}), binary('I', ~std::uint64_t{0}, {1, 2, 3, 0, 0, 1}),
        text("I,1500000,0.5,1,1\r\n"), text("I,1500000,0.5,1,1,x,0,0\r\n"), text("I,1\r\n")}) {
    feed(bad);
  }
  decoder->finish();
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(0, decoder->stats().framing.frames);
  LONGS_EQUAL(0, decoder->stats().undecodable);
}

TEST(Ximu3, UndecodableIsWhatMakesNoSense) {
  feed(binary('I', 1'000'000, {1, 2, 3, 0, 0, 0}));  // has not measured yet
  feed(binary('I', 1'010'000, {1, 2, 3, 0, 0, 1e9}));
  feed(binary('I', 1'020'000, {1e9, 2, 3, 0, 0, 1}));
  feed(binary('Q', 1'030'000, {1, 0.06, 0, 0}));
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(4, decoder->stats().undecodable);
}

TEST(Ximu3, AnAttitudeThatIsShortByAnApproximationIsOne) {
  feed(binary('Q', 1'000'000, {0.6820791, 0.001701254, 0.01164342, 0.728874}));
  LONGS_EQUAL(1, log.samples.size());
}

TEST(Ximu3, ATimeThatIsFarFromTheOthersNeedsASecondOne) {
  feed(rates(1'000'000));
  feed(rates(1'010'000 | std::uint64_t{1} << 40));
  feed(rates(1'020'000));
  LONGS_EQUAL(2, log.samples.size());
  CHECK_TRUE(1'020'000'000 == device_ns(1));
  LONGS_EQUAL(1, decoder->stats().undecodable);
  // Its time was set.
  for (std::uint64_t i = 0; i < 3; ++i) feed(rates(1'700'000'000'000'000 + 10'000 * i));
  LONGS_EQUAL(4, log.samples.size());
  CHECK_TRUE(1'700'000'000'020'000'000 == device_ns(3));
}

TEST(Ximu3, TwoDevicesInOneProgramDoNotMeet) {
  test::PacketLog other_log;
  DeviceDecoder<Ximu3> other{options, 0, other_log};
  Octets a, b;
  for (const Octets& m : stream(20)) a = joined(a, m);
  for (const Octets& m : stream(20, 5'000'000)) b = joined(b, m);
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i < a.size()) decoder->feed({std::span(a).subspan(i, 1), now});
    if (i < b.size()) other.feed({std::span(b).subspan(i, 1), now});
  }
  LONGS_EQUAL(22, log.samples.size());
  LONGS_EQUAL(22, other_log.samples.size());
  CHECK_TRUE(1'190'000'000 == device_ns(21));
  CHECK_TRUE(5'190'000'000 == other_log.samples.back().device_ns.value_or(-1));
}

TEST(Ximu3, DecodingAllocatesNothing) {
  test::PacketCounter counter;
  DeviceDecoder<Ximu3> quiet{options, 115200, counter};
  std::vector<Octets> messages = stream(50);
  messages.push_back(text("I,2000000,0.5,-1.25,10,0.01,-0.02,1\r\n"));
  test::AllocationCounter allocations;
  for (const Octets& m : messages) quiet.feed({m, now += 5ms});
  LONGS_EQUAL(0, allocations.count());
  LONGS_EQUAL(53, counter.packets);
}

TEST(Ximu3, SeveralMessagesInADatagramAreAllRead) {
  Octets all;
  for (const Octets& m : stream(5)) all = joined(all, m);
  decoder->feed({all, now, {}, 0, true});
  decoder->finish();
  LONGS_EQUAL(7, log.samples.size());
}

TEST(Ximu3, MessagesAreFoundInGarbageHoweverTheyAreSplit) {
  test::check_garbage_and_splits(
      ximu3::Framing{},
      {kInertial, kQuaternion, text("I,1500000,0.5000,-1.2500,10.0000,0.0100,-0.0200,1.0000\r\n"),
       text("{\"ping\":{\"interface\":\"USB\",\"name\":\"x-IMU3\",\"sn\":\"0123\"}}\r\n")});
}

TEST(Ximu3, ATornMessageHidesNothing) {
  test::check_torn_frames(ximu3::Framing{}, rates(1'000'000, 0.01), rates(2'000'000, 10));
}

// Nothing guards a message, so one whose bit turned over may be taken; it takes no other with it.
TEST(Ximu3, OfADamagedStreamEveryIntactMessageComesOut) {
  for (const test::Damage damage : {test::Damage::bits, test::Damage::any}) {
    test::Random random(78);
    std::vector<Octets> sent;
    for (std::uint64_t i = 0; i < 500; ++i) {
      const std::uint64_t us = 1'000'000 + 5'000 * i;
      sent.push_back(i % 2 ? attitude(us) : rates(us, 0.01 * static_cast<double>(i)));
    }
    const std::vector<bool> whole = test::damage_some(sent, random, damage);
    Octets all;
    std::vector<Octets> intact;
    for (std::size_t i = 0; i < sent.size(); ++i) {
      all = joined(all, sent[i]);
      if (whole[i]) intact.push_back(sent[i]);
    }
    CHECK_TRUE(intact.size() < 480);
    LONGS_EQUAL(intact.size(), test::cut(ximu3::Framing{}, all, &random).of(intact));
  }
}
