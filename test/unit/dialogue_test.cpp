#include "drivers/dialogue.h"

#include <string>
#include <vector>

#include "test/support/harness.h"
#include "test/support/hex.h"
#include "test/support/manual_clock.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;

namespace {

// Frames of one byte: the first letter of the answer wanted from take().
struct Speaker {
  bool hello(Request& r) { return r.text("h"), true; }
  bool unneeded(Request&) { return false; }
  bool world(Request& r) { return r.text("w"), true; }
  Reply take(const Frame& f) {
    switch (std::to_integer<int>(f.bytes[0])) {
      case 'd':
        return Reply::done();
      case 'a':
        return Reply::again();
      case 'r':
        return Reply::refused(hal::Text<96>::of("code %d%s", 7, said.c_str()));
      default:
        return Reply::not_mine();
    }
  }
  std::string said;
};

using Runner = ScriptRunner<Speaker>;
using S = Step<Speaker>;
using Outcome = Runner::Outcome;

}  // namespace

TEST_GROUP(Dialogue) {
  test::ManualClock clock;
  Speaker speaker;
  Runner runner;
  Link link;
  std::string sent;

  Outcome advance(hal::Duration d = 0ns) {
    return runner.advance(speaker, clock.advance(d), link, [&](const Request& r) {
      for (const std::byte b : r.view()) sent += std::to_integer<char>(b);
      sent += '.';
    });
  }
  bool offer(char c) {
    const std::byte b{static_cast<unsigned char>(c)};
    return runner.offer(speaker, {.bytes = {&b, 1}}) != Reply::Kind::not_mine;
  }
  void sent_is(const char* expected) { STRCMP_EQUAL(expected, sent.c_str()); }
};

TEST(Dialogue, AnEmptyScriptIsDoneAtOnce) {
  runner.begin({});
  CHECK_TRUE(advance() == Outcome::done);
  STRCMP_EQUAL("", runner.step());
}

TEST(Dialogue, HoldsOneStepAfterTheOther) {
  const std::array script{S{"one", &Speaker::hello, &Speaker::take, 100ms},
                          S{"two", &Speaker::world, &Speaker::take, 100ms}};
  runner.begin(script);
  CHECK_TRUE(advance() == Outcome::running);
  STRCMP_EQUAL("one", runner.step());
  sent_is("h.");
  CHECK_TRUE(offer('d'));
  CHECK_TRUE(advance() == Outcome::running);
  STRCMP_EQUAL("two", runner.step());
  sent_is("h.w.");
  CHECK_TRUE(offer('d'));
  CHECK_TRUE(advance() == Outcome::done);
}

TEST(Dialogue, AStepThatIsNotNeededIsSkipped) {
  const std::array script{S{"one", &Speaker::unneeded, &Speaker::take, 100ms},
                          S{"two", &Speaker::world, &Speaker::take, 100ms}};
  runner.begin(script);
  advance();
  sent_is("w.");
  STRCMP_EQUAL("two", runner.step());
}

TEST(Dialogue, AStepWithoutAnAnswerWaitsBeforeTheNext) {
  const std::array script{S{"one", &Speaker::hello, nullptr, 50ms},
                          S{"pause", nullptr, nullptr, 30ms}, S{"two", &Speaker::world, nullptr}};
  runner.begin(script);
  advance();
  sent_is("h.");
  CHECK_FALSE(offer('d'));  // nobody asked
  advance(49ms);
  STRCMP_EQUAL("one", runner.step());
  advance(1ms);
  STRCMP_EQUAL("pause", runner.step());
  CHECK_TRUE(advance(29ms) == Outcome::running);
  CHECK_TRUE(advance(1ms) == Outcome::done);
  sent_is("h..w.");
}

TEST(Dialogue, IsSentAgainUntilTheTriesAreUsedUp) {
  const std::array script{S{"one", &Speaker::hello, &Speaker::take, 100ms, 3}};
  runner.begin(script);
  advance();
  CHECK_TRUE(advance(99ms) == Outcome::running);
  sent_is("h.");
  CHECK_TRUE(advance(1ms) == Outcome::running);
  sent_is("h.h.");
  CHECK_TRUE(advance(100ms) == Outcome::running);
  CHECK_TRUE(advance(100ms) == Outcome::failed);
  sent_is("h.h.h.");
  STRCMP_EQUAL("no answer to 'one' (3 tries of 100 ms)", runner.why().c_str());
  CHECK_FALSE(runner.refused());
}

TEST(Dialogue, GoesOnWithoutAnAnswerWhereThatIsAllowed) {
  const std::array script{S{"one", &Speaker::hello, &Speaker::take, 100ms, 2, IfUnanswered::go_on},
                          S{"two", &Speaker::world, &Speaker::take, 100ms}};
  runner.begin(script);
  advance();
  advance(100ms);
  advance(100ms);
  sent_is("h.h.w.");
  STRCMP_EQUAL("two", runner.step());
}

TEST(Dialogue, AForeignFrameIsLeftToOthers) {
  const std::array script{S{"one", &Speaker::hello, &Speaker::take, 100ms}};
  runner.begin(script);
  CHECK_FALSE(offer('d'));  // nothing was sent yet
  advance();
  CHECK_FALSE(offer('x'));
  CHECK_TRUE(advance() == Outcome::running);
}

TEST(Dialogue, AgainSendsTheNextRequestOfTheSameStepWithFreshTries) {
  const std::array script{S{"one", &Speaker::hello, &Speaker::take, 100ms, 2}};
  runner.begin(script);
  advance();
  advance(100ms);  // the second try
  CHECK_TRUE(offer('a'));
  CHECK_TRUE(advance() == Outcome::running);
  sent_is("h.h.h.");
  CHECK_TRUE(advance(100ms) == Outcome::running);
  CHECK_TRUE(advance(100ms) == Outcome::failed);
  sent_is("h.h.h.h.");
}

TEST(Dialogue, ARefusalEndsItInTheDevicesWords) {
  const std::array script{S{"one", &Speaker::hello, &Speaker::take, 100ms, 5}};
  runner.begin(script);
  advance();
  CHECK_TRUE(offer('r'));
  CHECK_TRUE(advance() == Outcome::failed);
  CHECK_TRUE(runner.refused());
  STRCMP_EQUAL("the device refused 'one': code 7", runner.why().c_str());
  sent_is("h.");
}

TEST(Dialogue, WhatADeviceSaysIsPlainText) {
  const std::array script{S{"one", &Speaker::hello, &Speaker::take, 100ms}};
  runner.begin(script);
  advance();
  speaker.said = ": \x1B[2J\xFF\n!";
  offer('r');
  STRCMP_EQUAL("the device refused 'one': code 7: ?[2J?" "?!", runner.why().c_str());
}

TEST(Dialogue, BeginsAnewWithoutAMemory) {
  const std::array script{S{"one", &Speaker::hello, &Speaker::take, 100ms}};
  runner.begin(script);
  advance();
  offer('r');
  runner.begin(script);
  CHECK_FALSE(runner.refused());
  CHECK_TRUE(runner.why().empty());
  CHECK_TRUE(advance() == Outcome::running);
  sent_is("h.h.");
}

TEST(Dialogue, RequestsAreWrittenInEitherByteOrder) {
  Request r;
  r.u8(0x1FF)
      .u16(0x0102)
      .u32(0x03040506)
      .u16be(0x0708)
      .u32be(0x090A0B0C)
      .text("A")
      .bytes(hex("0D"));
  CHECK_TRUE(std::ranges::equal(r.view(), hex("FF 02 01 06 05 04 03 07 08 09 0A 0B 0C 41 0D")));
  CHECK_TRUE(r.channel() == Channel::data);
  CHECK_FALSE(r.dtr().has_value());
  CHECK_TRUE(r.to(Channel::control).dtr(false).channel() == Channel::control);
  CHECK_FALSE(*r.dtr());
}

TEST(Dialogue, ARequestNeverOutgrowsItsBuffer) {
  Request r;
  for (std::size_t i = 0; i < Request::kCapacity; ++i) r.u16(0xFFFF);
  LONGS_EQUAL(Request::kCapacity, r.view().size());
}
