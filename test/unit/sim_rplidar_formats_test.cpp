// The bytes of the RPLIDAR simulator's formats against the worked examples of the protocol text.
#include "test/support/harness.h"

#include <array>
#include <initializer_list>

#include "test/sim/rplidar_formats.h"

using namespace sim::rplidar;
using sim::ByteVector;

namespace {

ByteVector bytes(std::initializer_list<unsigned> values) {
  ByteVector out;
  for (const unsigned v : values) out.push_back(static_cast<std::byte>(v));
  return out;
}

void check_bytes(const ByteVector& expected, const ByteVector& actual) {
  LONGS_EQUAL(expected.size(), actual.size());
  MEMCMP_EQUAL(expected.data(), actual.data(), expected.size());
}

ByteVector head_of(const ByteVector& packet, std::size_t count) {
  return {packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(count)};
}

unsigned xor_of(const ByteVector& capsule) {
  unsigned check = 0;
  for (std::size_t i = 2; i < capsule.size(); ++i) check ^= std::to_integer<unsigned>(capsule[i]);
  return check;
}

unsigned check_nibbles(const ByteVector& capsule) {
  return (std::to_integer<unsigned>(capsule[0]) & 15U) |
         (std::to_integer<unsigned>(capsule[1]) & 15U) << 4;
}

}  // namespace

TEST_GROUP(SimRplidarFormats){};

TEST(SimRplidarFormats, DescriptorsAreThoseOfTheText) {
  check_bytes(bytes({0xA5, 0x5A, 0x05, 0x00, 0x00, 0x40, 0x81}), descriptor(5, true, 0x81));
  check_bytes(bytes({0xA5, 0x5A, 0x14, 0x00, 0x00, 0x00, 0x04}), descriptor(20, false, 0x04));
  check_bytes(bytes({0xA5, 0x5A, 0x84, 0x00, 0x00, 0x40, 0x84}), descriptor(132, true, 0x84));
}

TEST(SimRplidarFormats, StandardNodesAreThoseOfTheText) {
  check_bytes(bytes({0x3D, 0x01, 0x2D, 0xA0, 0x0F}), standard_node({true, 15, 5760, 4000}));
  check_bytes(bytes({0x52, 0xC1, 0x3D, 0xA5, 0x24}), standard_node({false, 20, 7904, 9381}));
  check_bytes(bytes({0x02, 0x8F, 0x63, 0x00, 0x00}), standard_node({false, 0, 12743, 0}));
  check_bytes(bytes({0x3E, 0x9B, 0x64, 0x00, 0x00}), standard_node({false, 15, 12877, 0}));
  check_bytes(bytes({0xBD, 0x01, 0x00, 0xA0, 0x0F}), standard_node({true, 47, 0, 4000}));
  check_bytes(bytes({0xBE, 0x81, 0x00, 0xA4, 0x0F}), standard_node({false, 47, 64, 4004}));
}

TEST(SimRplidarFormats, ExpressCabinIsThatOfTheText) {
  std::array<ExpressSample, kExpressSamples> in{};
  in[0] = {607, 46};
  in[1] = {604, 45};
  const ByteVector capsule = express_capsule({0x5112, false}, in);
  LONGS_EQUAL(84, capsule.size());
  const ByteVector cabin(capsule.begin() + 2, capsule.begin() + 9);
  check_bytes(bytes({0x12, 0x51, 0x7E, 0x09, 0x72, 0x09, 0xDE}), cabin);
  LONGS_EQUAL(xor_of(capsule), check_nibbles(capsule));
}

TEST(SimRplidarFormats, UltraCabinsAreThoseOfTheText) {
  std::array<UltraCabin, kUltraCabins> in{};
  in[0] = {277, 1, 0};
  in[1] = {278, kNoPrediction, -1};
  const ByteVector capsule = ultra_capsule({0x12BE, false}, in);
  LONGS_EQUAL(132, capsule.size());
  const ByteVector cabins(capsule.begin() + 2, capsule.begin() + 12);
  check_bytes(bytes({0xBE, 0x12, 0x15, 0x11, 0x00, 0x00, 0x16, 0x01, 0xE0, 0xFF}), cabins);
  LONGS_EQUAL(xor_of(capsule), check_nibbles(capsule));
}

TEST(SimRplidarFormats, VarbitVectorsOfTheTextHold) {
  const auto check = [](unsigned code, unsigned mm, unsigned level) {
    LONGS_EQUAL(mm, varbit_decode(code).mm);
    LONGS_EQUAL(level, varbit_decode(code).level);
    LONGS_EQUAL(code, varbit_encode(mm));
  };
  check(277, 277, 0);
  check(1000, 1488, 1);
  check(1500, 2928, 2);
  check(2000, 5760, 3);
  check(511, 511, 0);
  check(512, 512, 1);
  check(1280, 2048, 2);
  check(1792, 4096, 3);
  check(3328, 16384, 4);
}

TEST(SimRplidarFormats, EveryVarbitCodeComesBackAndEveryDistanceIsWithinHalfAStep) {
  for (unsigned code = 0; code < 4096; ++code)
    LONGS_EQUAL(code, varbit_encode(varbit_decode(code).mm));
  for (double mm = 1.0; mm < 20000.0; mm += 0.7) {
    const Varbit v = varbit_decode(varbit_encode(mm));
    DOUBLES_EQUAL(mm, v.mm, 0.5 * (1U << v.level) + 1e-9);
  }
}

TEST(SimRplidarFormats, UltraOffsetIsThatOfTheText) {
  DOUBLES_EQUAL(3.0704, ultra_offset_deg(277), 5e-5);
  DOUBLES_EQUAL(7.5, ultra_offset_deg(0), 0.0);
  DOUBLES_EQUAL(7.5, ultra_offset_deg(49), 0.0);
}

TEST(SimRplidarFormats, DenseCapsulesAreThoseOfTheText) {
  std::array<unsigned, kDenseSamples> mm;
  mm.fill(1000);
  const ByteVector first = dense_capsule({90 * 64, true}, mm);
  LONGS_EQUAL(84, first.size());
  check_bytes(bytes({0xA6, 0x51, 0x80, 0x96, 0xE8, 0x03}), head_of(first, 6));
  LONGS_EQUAL(0x16, xor_of(first));
  const ByteVector second = dense_capsule({90 * 64 + 288, false}, mm);
  check_bytes(bytes({0xA7, 0x5B, 0xA0, 0x17, 0xE8, 0x03}), head_of(second, 6));
  LONGS_EQUAL(0xB7, xor_of(second));
}

TEST(SimRplidarFormats, UltraDenseValuesAreThoseOfTheText) {
  LONGS_EQUAL(0xC87D0, ultra_dense_value(1000, 200));
  LONGS_EQUAL(0xC8F61, ultra_dense_value(4998, 200));
  LONGS_EQUAL(0xCAE26, ultra_dense_value(19999, 200));
  LONGS_EQUAL(0xC90FB, ultra_dense_value(29997, 200));
}

TEST(SimRplidarFormats, UltraDenseCapsuleCarriesStampStatusAngleAndCabin) {
  std::array<std::uint32_t, kUltraDenseSamples> values{};
  values[0] = 0xC87D0;
  values[1] = 0xC8F61;
  const ByteVector capsule = ultra_dense_capsule({90 * 64, true}, 0x12345678, 0x0102, values);
  LONGS_EQUAL(170, capsule.size());
  const ByteVector shown(capsule.begin() + 2, capsule.begin() + 15);
  check_bytes(bytes({0x78, 0x56, 0x34, 0x12, 0x02, 0x01, 0x80, 0x96, 0xD0, 0x87, 0x61, 0x8F, 0xCC}),
              shown);
  LONGS_EQUAL(xor_of(capsule), check_nibbles(capsule));
}

TEST(SimRplidarFormats, CrcVectorOfTheTextNeedsThePadding) {
  ByteVector vector(777);
  vector[0] = std::byte{0xA5};
  CHECK_EQUAL(0x92C940B9U, padded_crc32(vector));
}

TEST(SimRplidarFormats, CrcPadsAWholeNumberOfWordsWithFourZeros) {
  const ByteVector word = bytes({1, 2, 3, 4});
  const ByteVector five = bytes({1, 2, 3, 4, 0});  // padded by three: the same eight bytes
  CHECK_EQUAL(padded_crc32(five), padded_crc32(word));
}

TEST(SimRplidarFormats, HqPacketIsStampNodesAndCrc) {
  std::array<HqNode, kHqSamples> nodes{};
  nodes[0] = {16384, 4000, 47, true};
  const ByteVector packet = hq_packet(0x0807060504030201U, nodes);
  LONGS_EQUAL(781, packet.size());
  check_bytes(bytes({0xA5, 1, 2, 3, 4, 5, 6, 7, 8, 0x00, 0x40, 0xA0, 0x0F, 0, 0, 47, 1}),
              head_of(packet, 17));
  const std::uint32_t crc = padded_crc32(hal::Bytes(packet).first(777));
  for (unsigned i = 0; i < 4; ++i)
    LONGS_EQUAL((crc >> (8 * i)) & 0xFFU, std::to_integer<unsigned>(packet[777 + i]));
}

TEST(SimRplidarFormats, FalsifiedPacketsAreSealedAgain) {
  sim::Random random(7);
  std::array<unsigned, kDenseSamples> mm{};
  ByteVector capsule = dense_capsule({0, false}, mm);
  const ByteVector before = capsule;
  falsify_packet(Answer::dense, capsule, random);
  CHECK_FALSE(before == capsule);
  LONGS_EQUAL(xor_of(capsule), check_nibbles(capsule));

  std::array<HqNode, kHqSamples> nodes{};
  ByteVector packet = hq_packet(1, nodes);
  falsify_packet(Answer::hq, packet, random);
  const std::uint32_t crc = padded_crc32(hal::Bytes(packet).first(777));
  LONGS_EQUAL(crc & 0xFFU, std::to_integer<unsigned>(packet[777]));

  ByteVector reply = bytes({1, 2, 3});
  falsify_packet(Answer::hq, reply, random);
  check_bytes(bytes({1, 2, 3}), reply);
}

TEST(SimRplidarFormats, FalsifyingKeepsHeadsAndAngles) {
  sim::Random random(7);
  std::array<std::uint32_t, kUltraDenseSamples> values{};
  ByteVector capsule = ultra_dense_capsule({90 * 64, true}, 0x12345678, 0, values);
  const ByteVector head(capsule.begin() + 2, capsule.begin() + 10);
  falsify_packet(Answer::ultra_dense, capsule, random);
  check_bytes(head, ByteVector(capsule.begin() + 2, capsule.begin() + 10));

  ByteVector nodes = standard_node({true, 15, 5760, 4000});
  const ByteVector second = standard_node({false, 15, 5824, 4000});
  nodes.insert(nodes.end(), second.begin(), second.end());
  const ByteVector before = nodes;
  falsify_packet(Answer::standard, nodes, random);
  check_bytes(head_of(before, 3), head_of(nodes, 3));
  check_bytes(ByteVector(before.begin() + 5, before.begin() + 8),
              ByteVector(nodes.begin() + 5, nodes.begin() + 8));
  CHECK_FALSE(before == nodes);
}
