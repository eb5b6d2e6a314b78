#include "drivers/text_line.h"

#include "test/support/framing_properties.h"
#include "test/support/harness.h"

using namespace drivers;
using test::Stream;

namespace {

Stream bytes(std::string_view text) {
  Stream out;
  for (const char c : text) out.push_back(static_cast<std::byte>(c));
  return out;
}

struct Lines {
  static constexpr std::size_t kMaxFrame = 16;
  static std::size_t measure(Bytes b) { return measure_line(b, kMaxFrame); }
  static bool intact(Bytes) { return true; }
};

}  // namespace

TEST_GROUP(TextLine) {
  std::size_t measured(std::string_view text, std::size_t most = 16) {
    return measure_line(bytes(text), most);
  }
};

TEST(TextLine, EndsWithItsLineFeed) {
  LONGS_EQUAL(4, measured("00P\n99b\n"));
  LONGS_EQUAL(5, measured("00P\r\n"));
  LONGS_EQUAL(1, measured("\n"));
}

TEST(TextLine, IsWaitedForUntilItIsTooLong) {
  CHECK_TRUE(kNeedMore == measured("abc"));
  CHECK_TRUE(kNeedMore == measured("abc\r"));
  CHECK_TRUE(kNeedMore == measured("abc", 4));
  LONGS_EQUAL(kNotAFrame, measured("abcd", 4));
  LONGS_EQUAL(4, measured("abc\n", 4));
}

TEST(TextLine, WhatCannotBePrintedIsInNoLine) {
  LONGS_EQUAL(kNotAFrame, measured("ab\x01"));
  LONGS_EQUAL(kNotAFrame, measured("ab\x80z\n"));
  LONGS_EQUAL(kNotAFrame, measured("a\rb\n"));
}

TEST(TextLine, GarbageBeforeALineCostsOnlyItself) {
  Stream stream = bytes("\xFF\x01");
  test::append(stream, bytes("hello\nworld\r\n"));
  const test::Cut cut = test::cut(Lines{}, stream);
  LONGS_EQUAL(2, cut.frames.size());
  LONGS_EQUAL(2, cut.stats.garbage_bytes);
  STRCMP_EQUAL("world", std::string(text_of(cut.frames[1])).c_str());
}

TEST(TextLine, FieldsAndNumbersAreTakenWhole) {
  std::string_view rest = "$VNRRG,12,-0.5,FF";
  STRCMP_EQUAL("$VNRRG", std::string(take_field(rest, ',')).c_str());
  LONGS_EQUAL(12, number_in<int>(take_field(rest, ',')).value_or(0));
  DOUBLES_EQUAL(-0.5, number_in<double>(take_field(rest, ',')).value_or(0), 0);
  LONGS_EQUAL(255, number_in<unsigned>(take_field(rest, ','), 16).value_or(0));
  CHECK_TRUE(rest.empty());
  CHECK_FALSE(number_in<int>("12x").has_value());
  CHECK_FALSE(number_in<int>("").has_value());
  CHECK_FALSE(number_in<std::uint8_t>("256").has_value());
}
