// Checks that are computed many bytes at a time, held against one byte after another.
#include "drivers/wire.h"

#include "test/support/harness.h"
#include "test/support/hex.h"

#include <random>
#include <vector>

using namespace drivers;

namespace {

// Of every size up to some blocks and their rest, at every place in a block.
template <class Check>
void for_all_sizes(Check&& check) {
  std::mt19937 random(5);
  for (std::size_t size = 0; size < 70; ++size) {
    for (std::size_t from = 0; from < 8; ++from) {
      std::vector<std::byte> bytes(from + size);
      // High bytes often: they are what overflows.
      for (std::byte& b : bytes) b = static_cast<std::byte>(random() % 3 ? random() : 0xFF);
      check(wire::Bytes(bytes).subspan(from));
    }
  }
}

}  // namespace

TEST_GROUP(Wire){};

TEST(Wire, SignedAndFloatingFieldsAreReadInBothOrders) {
  const auto b = test::hex("FE FF FF FF 00 00 00 40 00 00 00 00 00 00 04 C0");
  LONGS_EQUAL(-2, wire::i16(b, 0));
  LONGS_EQUAL(-2, wire::i32(b, 0));
  DOUBLES_EQUAL(2, wire::f32(b, 4), 0);
  DOUBLES_EQUAL(-2.5, wire::f64(b, 8), 0);
  const auto big = test::hex("FF FE 40 04 00 00 00 00 00 00 C0 20 00 00");
  LONGS_EQUAL(-2, wire::i16be(big, 0));
  DOUBLES_EQUAL(2.5, wire::f64be(big, 2), 0);
  DOUBLES_EQUAL(-2.5, wire::f32be(big, 10), 0);
}

TEST(Wire, SumOfIsTheSumOfAllBytes) {
  for_all_sizes([](wire::Bytes b) {
    unsigned sum = 0;
    for (const std::byte byte : b) sum += std::to_integer<unsigned>(byte);
    LONGS_EQUAL(sum, wire::sum_of(b));
  });
}

TEST(Wire, Sum16IsTheSumOfAllWords) {
  for_all_sizes([](wire::Bytes b) {
    b = b.first(b.size() / 2 * 2);
    unsigned sum = 0;
    for (std::size_t i = 0; i < b.size(); i += 2) sum += wire::u16(b, i);
    LONGS_EQUAL(sum, wire::sum16(b));
  });
}

TEST(Wire, Xor16TakesAnOddLastByteForAWord) {
  for_all_sizes([](wire::Bytes b) {
    unsigned x = 0;
    for (std::size_t i = 0; i + 1 < b.size(); i += 2) x ^= wire::u16(b, i);
    if (b.size() % 2 != 0) x ^= wire::u8(b, b.size() - 1);
    LONGS_EQUAL(x, wire::xor16(b));
  });
}

TEST(Wire, Xor8IsTheXorOfAllBytesAndTheStart) {
  for_all_sizes([](wire::Bytes b) {
    unsigned x = 0x5A;
    for (const std::byte byte : b) x ^= std::to_integer<unsigned>(byte);
    LONGS_EQUAL(x, wire::xor8(b, 0x5A));
  });
}

TEST(Wire, Crc8DividesByItsPolynomialBitForBit) {
  for_all_sizes([](wire::Bytes b) {
    unsigned crc = 0;
    for (const std::byte byte : b) {
      crc ^= std::to_integer<unsigned>(byte);
      for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x80 ? (crc << 1) ^ 0x4D : crc << 1) & 0xFF;
    }
    LONGS_EQUAL(crc, wire::crc8<0x4D>(b));
  });
}

TEST(Wire, Crc16DividesByItsPolynomialBitForBit) {
  for_all_sizes([](wire::Bytes b) {
    for (const unsigned start : {0x0000U, 0xFFFFU, 0x1234U}) {
      unsigned crc = start;
      for (const std::byte byte : b) {
        crc ^= std::to_integer<unsigned>(byte) << 8;
        for (int bit = 0; bit < 8; ++bit) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
      }
      LONGS_EQUAL(crc & 0xFFFF, wire::crc16(b, static_cast<std::uint16_t>(start)));
    }
  });
}

TEST(Wire, Crc16ReflectedDividesByItsPolynomialBitForBit) {
  for_all_sizes([](wire::Bytes b) {
    unsigned crc = 0;
    for (const std::byte byte : b) {
      crc ^= std::to_integer<unsigned>(byte);
      for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? (crc >> 1) ^ 0x8408 : crc >> 1;
    }
    LONGS_EQUAL(crc, wire::crc16_reflected(b));
  });
}

TEST(Wire, Crc16HasTheCheckValuesOfItsNames) {
  const auto b = test::hex("31 32 33 34 35 36 37 38 39");
  LONGS_EQUAL(0x31C3, wire::crc16(b));
  LONGS_EQUAL(0x29B1, wire::crc16(b, 0xFFFF));
  LONGS_EQUAL(0x2189, wire::crc16_reflected(b));
}

// A long frame of nothing but FF must not run over between the lanes.
TEST(Wire, SumsOfTheLargestDatagramOfHighestBytesDoNotOverflow) {
  const std::vector<std::byte> bytes(65'536, std::byte{0xFF});
  LONGS_EQUAL(65'536U * 255, wire::sum_of(bytes));
  LONGS_EQUAL(32'768U * 65'535, wire::sum16(bytes));
}
