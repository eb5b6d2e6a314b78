#include "drivers/ngimu/ngimu.h"

#include <cmath>
#include <limits>
#include <memory>

#include "test/support/allocation_counter.h"
#include "test/support/framing_properties.h"
#include "test/support/harness.h"
#include "test/support/osc_packet.h"
#include "test/support/packet_log.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::joined;
using test::osc::attitude;
using test::osc::bundle;
using test::osc::message;
using test::osc::Octets;
using test::osc::sensors;
using test::osc::slip;
using test::osc::time_of;

namespace {

const Octets kSensors = hex(
    "23 62 75 6E 64 6C 65 00 E9 3C 7F 00 40 00 00 00 00 00 00 40 2F 73 65 6E 73 6F 72 73 00 00 00 "
    "00 2C 66 66 66 66 66 66 66 66 66 66 00 3F 00 00 00 BF A0 00 00 41 20 00 00 3C 23 D7 0A BC A3 "
    "D7 0A 3F 80 00 00 41 A0 00 00 C0 A0 00 00 C2 20 00 00 44 7D 50 00");
const Octets kQuaternion = hex(
    "23 62 75 6E 64 6C 65 00 E9 3C 7F 00 40 00 00 00 00 00 00 24 2F 71 75 61 74 65 72 6E 69 6F 6E "
    "00 2C 66 66 66 66 00 00 00 3F 35 04 F3 00 00 00 00 00 00 00 00 3F 35 04 F3");
constexpr std::int64_t kStamp = 3'913'056'000'250'000'000;

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

// Two packets of each instant.
std::vector<Octets> stream(int instants, double from = 1) {
  std::vector<Octets> packets;
  for (int i = 0; i < instants; ++i) {
    packets.push_back(bundle(time_of(from + 0.02 * i), {sensors(i)}));
    packets.push_back(bundle(time_of(from + 0.02 * i), {attitude()}));
  }
  return packets;
}

std::vector<Octets> on_a_line(std::vector<Octets> packets) {
  for (Octets& p : packets) p = slip(p);
  return packets;
}

}  // namespace

TEST_GROUP(Ngimu) {
  Options options{Ngimu::options()};
  test::PacketLog log;
  DeviceDecoder<Ngimu> decoder{options, 0, log};
  hal::Time now{1000s};

  void datagram(const Octets& bytes) { decoder.feed({bytes, now += 10ms, {}, 0, true}); }
  void line(const Octets& bytes) { decoder.feed({bytes, now += 10ms}); }
  std::int64_t device_ns(std::size_t i) { return log.samples.at(i).device_ns.value_or(-1); }
};

TEST(Ngimu, TheWorkedPacketsAreReadFieldByField) {
  datagram(kSensors);
  const ImuSample& s = log.samples.at(0);
  vectors_equal({0.00872665, -0.02181662, 0.17453293}, s.gyro);
  vectors_equal({0.0980665, -0.196133, 9.80665}, s.accel);
  vectors_equal({20e-6, -5e-6, -40e-6}, s.mag, 1e-12);
  DOUBLES_EQUAL(101325, *s.pressure, 1e-9);
  CHECK_TRUE(kStamp == device_ns(0));
  CHECK_TRUE(s.at == now);
  datagram(kQuaternion);
  orientations_equal({0, 0, 0, 1}, log.samples.at(1).orientation);
  CHECK_TRUE(kStamp == device_ns(1));
}

TEST(Ngimu, TheAttitudeIsConjugated) {
  // Rolled to the right by 30 degrees, nose to the North.
  const double c = std::cos(0.2617994), r = std::sin(0.2617994);
  datagram(bundle(time_of(1), {message("/quaternion", {c, -r, 0, 0})}));
  orientations_equal({kHalf * r, kHalf * r, kHalf * c, kHalf * c}, log.samples.at(0).orientation);
}

TEST(Ngimu, TheAttitudeIsThatOfTheRealLog) {
  // Its first row: level within three degrees, and so is the acceleration once it is turned.
  datagram(bundle(time_of(1),
                  {message("/quaternion", {-0.6820791, 0.001701254, 0.01164342, 0.728874})}));
  const auto q = *log.samples.at(0).orientation;
  const double x = -0.0273246, y = 0.007855739, z = 1.010469;
  const auto [i, j, k, w] = q;
  DOUBLES_EQUAL(
      0, (1 - 2 * (j * j + k * k)) * x + 2 * (i * j - w * k) * y + 2 * (i * k + w * j) * z, 0.02);
  DOUBLES_EQUAL(
      0, 2 * (i * j + w * k) * x + (1 - 2 * (i * i + k * k)) * y + 2 * (j * k - w * i) * z, 0.02);
}

TEST(Ngimu, TheSameOnALineWithItsEscapes) {
  line(slip(kSensors));
  line(slip(kQuaternion));
  vectors_equal({20e-6, -5e-6, -40e-6}, log.samples.at(0).mag, 1e-12);  // -5 begins with C0
  orientations_equal({0, 0, 0, 1}, log.samples.at(1).orientation);
  LONGS_EQUAL(0, decoder.stats().framing.garbage_bytes);
}

TEST(Ngimu, DatagramsInARowAreCutWhereTheNextBegins) {
  line(joined(joined(kSensors, kQuaternion), joined(kSensors, kQuaternion)));
  decoder.finish();
  LONGS_EQUAL(4, decoder.stats().framing.frames);
  LONGS_EQUAL(0, decoder.stats().framing.garbage_bytes + decoder.stats().tail_bytes);
}

TEST(Ngimu, MessagesOfOneInstantAreOneSample) {
  for (const Octets& p : stream(10)) datagram(p);
  LONGS_EQUAL(12, log.samples.size());
  for (std::size_t i = 4; i < 12; ++i) {
    CHECK_TRUE(log.samples[i].accel && log.samples[i].orientation);
    CHECK_TRUE(log.samples[i].at > log.samples[i - 1].at);
  }
  orientations_equal({0, 0, kHalf, kHalf}, log.samples[11].orientation);
}

TEST(Ngimu, MessagesOfOneBundleAreReadWhereverTheyStand) {
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t t = time_of(1 + 0.02 * i);
    datagram(
        bundle(0, {bundle(t, {message("/altitude", {1}), sensors()}), bundle(t, {attitude()})}));
  }
  LONGS_EQUAL(6, log.samples.size());
  CHECK_TRUE(log.samples[5].accel && log.samples[5].orientation);
}

TEST(Ngimu, OfABundleOfNowThereIsTheArrival) {
  datagram(bundle(1, {sensors()}));
  datagram(bundle(1, {sensors()}));
  LONGS_EQUAL(2, log.samples.size());
  CHECK_FALSE(log.samples[0].device_ns.has_value());
  CHECK_TRUE(log.samples[1].at == now);
}

TEST(Ngimu, AMeasurementWithoutItsBundleIsWhatIsLeftOfADamagedOne) {
  datagram(sensors());
  LONGS_EQUAL(1, decoder.stats().framing.frames);
  LONGS_EQUAL(0, log.samples.size());
}

TEST(Ngimu, ADatagramThatWasOvertakenIsDropped) {
  const auto packets = stream(4);
  for (const std::size_t i : {0U, 2U, 6U, 4U}) datagram(packets[i]);
  LONGS_EQUAL(3, log.samples.size());
  for (std::size_t i = 1; i < 3; ++i) CHECK_TRUE(device_ns(i) > device_ns(i - 1));
}

TEST(Ngimu, OtherMessagesAreNoMeasurement) {
  Octets all = joined(test::osc::text("/x"), test::osc::text(",TFNIisbfd"));
  all = joined(joined(all, test::osc::big_endian(7, 4)), test::osc::text("words"));
  all = joined(joined(all, test::osc::big_endian(3, 4)), hex("01 02 03 00"));
  all = joined(joined(all, hex("3F 80 00 00")), test::osc::big_endian(1, 8));
  datagram(
      bundle(time_of(1), {all, message("/battery", {50, 3.7, 1}), message("/matrix", {1, 0})}));
  datagram(message("/identify", {}));
  datagram(bundle(time_of(1), {}));
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(3, decoder.stats().framing.frames);
  LONGS_EQUAL(0, decoder.stats().undecodable);
}

TEST(Ngimu, APacketThatDoesNotAddUpIsNone) {
  Octets longer = kSensors, shorter = kSensors;
  longer[19] = std::byte{0x44};
  shorter.resize(80);
  const Octets unknown = joined(test::osc::text("/sensors"), test::osc::text(",q"));
  for (const Octets& bad : {longer, shorter, unknown, hex("2F 61 62 63"), hex("23 62 75")}) {
    datagram(bad);
  }
  decoder.finish();
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(1, decoder.stats().framing.frames);  // the message of the first, alone
}

TEST(Ngimu, UndecodableIsWhatMakesNoSense) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::uint64_t t = time_of(1);
  datagram(bundle(t, {message("/sensors", {1, 2, 3, 0, 0, 0, 1, 1, 1, 1})}));  // not measured yet
  datagram(bundle(t, {message("/sensors", {nan, 2, 3, 0, 0, 1, 1, 1, 1, 1})}));
  datagram(bundle(t, {message("/sensors", {1, 2, 3, 0, 0, 20, 1, 1, 1, 1})}));
  datagram(bundle(t, {message("/sensors", {1, 2, 3})}));
  datagram(bundle(t, {message("/quaternion", {1})}));
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(5, decoder.stats().undecodable);
}

TEST(Ngimu, APacketFullOfMessagesGivesOnlySoMany) {
  std::vector<Octets> many;
  for (int i = 0; i < 12; ++i) many.push_back(bundle(time_of(1 + 0.02 * i), {sensors()}));
  datagram(bundle(0, many));
  LONGS_EQUAL(7, log.samples.size());
}

TEST(Ngimu, NestedBeyondReasonOnlyTheInnermostBundlesAreAPacket) {
  Octets deep = bundle(1, {sensors()});
  for (int i = 0; i < 40; ++i) deep = bundle(1, {deep});
  datagram(deep);
  LONGS_EQUAL(1, decoder.stats().framing.frames);
  LONGS_EQUAL(20 * 37, decoder.stats().framing.garbage_bytes);
}

TEST(Ngimu, TwoDevicesInOneProgramDoNotMeet) {
  test::PacketLog other_log;
  DeviceDecoder<Ngimu> other{options, 0, other_log};
  const auto one = stream(20), two = stream(20, 500);
  for (std::size_t i = 0; i < one.size(); ++i) {
    datagram(one[i]);
    other.feed({slip(two[i]), now});
  }
  LONGS_EQUAL(22, log.samples.size());
  LONGS_EQUAL(22, other_log.samples.size());
  DOUBLES_EQUAL(499e9, static_cast<double>(*other_log.samples.back().device_ns - device_ns(21)), 9);
}

TEST(Ngimu, DecodingAllocatesNothing) {
  test::PacketCounter counter;
  DeviceDecoder<Ngimu> quiet{options, 115200, counter};
  const auto packets = on_a_line(stream(50));
  test::AllocationCounter allocations;
  for (const Octets& p : packets) quiet.feed({p, now += 10ms});
  LONGS_EQUAL(0, allocations.count());
  LONGS_EQUAL(52, counter.packets);
}

TEST(Ngimu, PacketsAreFoundInGarbageHoweverTheyAreSplit) {
  test::check_garbage_and_splits(
      osc::Framing{}, {slip(kSensors), slip(kQuaternion), slip(message("/rate/sensors", {50})),
                       slip(bundle(time_of(2), {sensors(), attitude()}))});
}

TEST(Ngimu, ATornPacketHidesNothing) {
  osc::Framing line;
  CHECK_TRUE(line.intact(slip(kSensors)));
  const Octets torn = slip(bundle(time_of(1), {sensors()}));
  test::check_torn_frames(line, torn, slip(bundle(time_of(2), {sensors()})));
}

// Nothing guards a packet, so one whose bit turned over may be taken; it takes no other with it but
// the one whose end it lost.
TEST(Ngimu, OfADamagedLineEveryIntactPacketComesOut) {
  for (const test::Damage damage : {test::Damage::bits, test::Damage::any}) {
    test::Random random(78);
    std::vector<Octets> sent = on_a_line(stream(250));
    const std::vector<bool> whole = test::damage_some(sent, random, damage, 1);
    Octets all;
    std::vector<Octets> intact;
    for (std::size_t i = 0; i < sent.size(); ++i) {
      all = joined(all, sent[i]);
      if (whole[i]) intact.push_back(sent[i]);
    }
    CHECK_TRUE(intact.size() < 480);
    LONGS_EQUAL(intact.size(), test::cut(osc::Framing{}, all, &random).of(intact));
  }
}
