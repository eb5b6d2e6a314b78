#include "app/cdr.h"

#include <vector>

#include "test/support/bytes.h"
#include "test/support/harness.h"

using test::bytes_of;

TEST_GROUP(Cdr) {
  std::array<std::byte, 64> memory{};
  void check(const app::CdrWriter& w, std::initializer_list<int> expected) {
    LONGS_EQUAL(expected.size(), w.size());
    const auto want = bytes_of(expected);
    MEMCMP_EQUAL(want.data(), memory.data(), want.size());
  }
};

TEST(Cdr, BeginsWithTheEncapsulationOfLittleEndianXcdr1) {
  check(app::CdrWriter(memory), {0, 1, 0, 0});
}

TEST(Cdr, AlignsFromAfterTheEncapsulationWithZeros) {
  memory.fill(std::byte{0xff});
  app::CdrWriter w(memory);
  w.write(std::uint8_t{7});
  w.write(1.0);
  check(w, {0, 1, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f});
}

TEST(Cdr, AlignsEveryWidthToItself) {
  app::CdrWriter w(memory);
  w.write(std::uint8_t{1});
  w.write(std::uint16_t{0x0302});
  w.write(std::uint8_t{4});
  w.write(std::uint32_t{0x08070605});
  check(w, {0, 1, 0, 0, 1, 0, 2, 3, 4, 0, 0, 0, 5, 6, 7, 8});
}

TEST(Cdr, EndsStringsWithANulThatIsCounted) {
  app::CdrWriter w(memory);
  w.string("ab");
  w.string("");
  check(w, {0, 1, 0, 0, 3, 0, 0, 0, 'a', 'b', 0, 0, 1, 0, 0, 0, 0});
}

TEST(Cdr, AlignsTheElementsOfASequence) {
  app::CdrWriter w(memory);
  const double one = 1;
  w.sequence(std::as_bytes(std::span(&one, 1)), sizeof one);
  check(w, {0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f});
}

TEST(Cdr, GivesAnEmptySequenceNoPadding) {
  app::CdrWriter w(memory);
  w.sequence({}, 8);
  check(w, {0, 1, 0, 0, 0, 0, 0, 0});
}

TEST(Cdr, CountsOnWhenTheMemoryIsFullAndWritesNoFurther) {
  memory.fill(std::byte{0xee});
  app::CdrWriter w{std::span(memory).first(9)};
  w.write(std::uint32_t{1});
  CHECK_FALSE(w.overflow());
  w.write(std::uint32_t{2});
  CHECK_TRUE(w.overflow());
  LONGS_EQUAL(12, w.size());
  w.write(std::uint8_t{3});
  LONGS_EQUAL(13, w.size());
  CHECK_TRUE(memory[8] == std::byte{0xee});
}

TEST(Cdr, SetsACountThatBecameKnownLater) {
  app::CdrWriter w(memory);
  w.write(std::uint8_t{1});
  const std::size_t at = w.reserve_count();
  w.write(std::uint8_t{2});
  w.set(at, 0x0a0b);
  check(w, {0, 1, 0, 0, 1, 0, 0, 0, 0x0b, 0x0a, 0, 0, 2});
}

TEST(Cdr, ReadsBackWhatWasWritten) {
  app::CdrWriter w(memory);
  w.write(std::uint8_t{200});
  w.write(-2.5);
  w.string("frame");
  w.write(std::int32_t{-7});
  const std::array<float, 2> floats{1, 2};
  w.sequence(std::as_bytes(std::span(floats)), sizeof(float));
  app::CdrReader r(hal::Bytes(memory).first(w.size()));
  LONGS_EQUAL(200, r.read<std::uint8_t>());
  DOUBLES_EQUAL(-2.5, r.read<double>(), 0);
  CHECK_TRUE(r.string() == "frame");
  LONGS_EQUAL(-7, r.read<std::int32_t>());
  LONGS_EQUAL(8, r.sequence(sizeof(float)).size());
  CHECK_TRUE(r.ok());
  LONGS_EQUAL(0, r.left());
}

TEST(Cdr, RefusesToReadBigEndianAndShortMessages) {
  CHECK_FALSE(app::CdrReader(bytes_of({0, 0, 0, 0, 1, 0, 0, 0})).ok());
  CHECK_FALSE(app::CdrReader(bytes_of({0, 1, 0})).ok());
  CHECK_FALSE(app::CdrReader({}).ok());
}

TEST(Cdr, ReadsNothingBeyondTheEndAndThenZeros) {
  const auto raw = bytes_of({0, 1, 0, 0, 1, 2, 3});
  app::CdrReader r(raw);
  LONGS_EQUAL(0, r.read<std::uint32_t>());
  CHECK_FALSE(r.ok());
  LONGS_EQUAL(0, r.read<std::uint8_t>());
  LONGS_EQUAL(0, r.left());
}

TEST(Cdr, RefusesLengthsBeyondTheEnd) {
  const auto raw = bytes_of({0, 1, 0, 0, 0xff, 0xff, 0xff, 0xff, 'a', 0});
  app::CdrReader text(raw);
  CHECK_TRUE(text.string().empty());
  CHECK_FALSE(text.ok());
  app::CdrReader sequence(raw);
  CHECK_TRUE(sequence.sequence(8).empty());
  CHECK_FALSE(sequence.ok());
}

TEST(Cdr, RefusesAStringWithoutItsNul) {
  const auto raw = bytes_of({0, 1, 0, 0, 2, 0, 0, 0, 'a', 'b'});
  app::CdrReader r(raw);
  CHECK_TRUE(r.string().empty());
  CHECK_FALSE(r.ok());
}

TEST(Cdr, AcceptsAnEmptyStringWithoutANul) {
  const auto raw = bytes_of({0, 1, 0, 0, 0, 0, 0, 0});
  app::CdrReader r(raw);
  CHECK_TRUE(r.string().empty());
  CHECK_TRUE(r.ok());
}
