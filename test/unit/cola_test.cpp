#include "drivers/cola.h"

#include "test/support/cola_telegrams.h"
#include "test/support/framing_properties.h"

using namespace drivers;
using cola::Command;
using cola::Dialect;
using cola::Fields;
using cola::Question;
using test::hex;
using test::Stream;
using test::cola::ascii;
using test::cola::binary;

namespace {

using Kind = Question::Answer::Kind;

Stream written(const Command& command) {
  Request request;
  command.write_to(request);
  return {request.view().begin(), request.view().end()};
}

Question asked(const Command& command) {
  Question question;
  Request request;
  question.ask(command, request);
  return question;
}

const Stream kLogin = hex(
    "02 02 02 02 00 00 00 17 73 4d 4e 20 53 65 74 41 63 63 65 73 73 4d 6f 64 65 20 03 f4 72 47 44 "
    "b3");

}  // namespace

TEST_GROUP(Cola){};

TEST(Cola, WritesTheLoginAsItIsPublished) {
  CHECK_TRUE(written(cola::login(Dialect::binary, cola::kAuthorisedClient)) == kLogin);
  CHECK_TRUE(written(cola::login(Dialect::ascii, cola::kAuthorisedClient)) ==
             ascii("sMN SetAccessMode 3 F4724744"));
}

TEST(Cola, WritesNumbersOfEachWidthInBothDialects) {
  const auto range = [](Dialect d) {
    return written(Command(d, "sWN", "LMPoutputRange").u16(1).u32(1667).i32(-50000).i32(1850000));
  };
  CHECK_TRUE(
      range(Dialect::binary) ==
      hex("020202020000002173574e204c4d506f757470757452616e676520000100000683ffff3cb0001c3a90"
          "c5"));
  CHECK_TRUE(range(Dialect::ascii) == ascii("sWN LMPoutputRange 1 683 FFFF3CB0 1C3A90"));
}

TEST(Cola, WritesDecimalsWhereTheyAreAskedFor) {
  const auto to = [](Dialect d) {
    return written(Command(d, "sWN", "ScanDataEthSettings").u8(1).decimal(192, 1).decimal(2115, 2));
  };
  CHECK_TRUE(to(Dialect::ascii) == ascii("sWN ScanDataEthSettings 1 +192 +2115"));
  CHECK_TRUE(to(Dialect::binary) == binary("sWN ScanDataEthSettings ", hex("01 C0 08 43")));
}

TEST(Cola, WritesCommandsWithoutArguments) {
  CHECK_TRUE(written(Command(Dialect::binary, "sMN", "Run")) ==
             hex("0202020200000007734d4e2052756e19"));
  CHECK_TRUE(written(Command(Dialect::ascii, "sMN", "Run")) == ascii("sMN Run"));
}

TEST(Cola, ReadsTheSameArgumentsInBothDialects) {
  const Stream b = binary("sRA Any ", hex("07 ABCD 01020304 FFF92230 FF06 3F800000 4449535431 0003 "
                                          "41 20 42"));
  const Stream a = ascii("sRA Any 7 ABCD 1020304 FFF92230 FF06 3F800000 DIST1 3 A B");
  for (const Stream& frame : {a, b}) {
    const cola::Telegram telegram = cola::telegram_in(frame);
    STRCMP_EQUAL("sRA", std::string(telegram.kind).c_str());
    STRCMP_EQUAL("Any", std::string(telegram.name).c_str());
    Fields fields = telegram.fields;
    LONGS_EQUAL(7, fields.u8());
    LONGS_EQUAL(0xABCD, fields.u16());
    LONGS_EQUAL(0x01020304, fields.u32());
    LONGS_EQUAL(-450000, fields.i32());
    LONGS_EQUAL(-250, fields.i16());
    DOUBLES_EQUAL(1.0, double{fields.f32()}, 0);
    STRCMP_EQUAL("DIST1", std::string(fields.word(5)).c_str());
    STRCMP_EQUAL("A B", std::string(fields.text(fields.u16())).c_str());
    CHECK_TRUE(fields.ok() && fields.rest().empty());
  }
}

TEST(Cola, ReadsSignedAndDecimalNumbersOfText) {
  const Stream frame = ascii("sRA Any +10 -450000 FFFFFF06 FFFFFF06");
  Fields fields = cola::telegram_in(frame).fields;
  LONGS_EQUAL(10, fields.u8());
  LONGS_EQUAL(-450000, fields.i32());
  LONGS_EQUAL(-250, fields.i16());
  LONGS_EQUAL(-250, fields.i32());
  CHECK_TRUE(fields.ok());
}

TEST(Cola, FieldsThatAreMissingOrNoNumbersAreTold) {
  const auto is_bad = [](const Stream& frame, auto&& read) {
    Fields fields = cola::telegram_in(frame).fields;
    read(fields);
    CHECK_FALSE(fields.ok());
  };
  const auto u8 = [](Fields& f) { LONGS_EQUAL(0, f.u8()); };
  is_bad(ascii("sRA Any"), u8);
  is_bad(ascii("sRA Any 100"), u8);
  is_bad(ascii("sRA Any G"), u8);
  is_bad(ascii("sRA Any 1+"), u8);
  is_bad(ascii("sRA Any +"), u8);
  is_bad(ascii("sRA Any -129"), u8);
  is_bad(binary("sRA Any "), u8);
  is_bad(ascii("sRA Any 123456789"), [](Fields& f) { LONGS_EQUAL(0, f.u32()); });
  is_bad(binary("sRA Any ", hex("010203")), [](Fields& f) { LONGS_EQUAL(0, f.u32()); });
  is_bad(binary("sRA Any ", hex("0102")), [](Fields& f) { CHECK_TRUE(f.word(5).empty()); });
  is_bad(ascii("sRA Any "), [](Fields& f) { CHECK_TRUE(f.word(5).empty()); });
  is_bad(ascii("sRA Any AB"), [](Fields& f) { CHECK_TRUE(f.text(3).empty()); });
  is_bad(ascii("sRA Any AB"), [](Fields& f) { CHECK_TRUE(f.bytes(2).empty()); });
}

TEST(Cola, AnAnswerIsKnownByKindAndName) {
  const Question question = asked(Command(Dialect::binary, "sRN", "LIDinputstate"));
  const auto kind = [&](const Stream& frame) { return question.answer_in(frame).kind; };
  CHECK_TRUE(kind(binary("sRA LIDinputstate ", hex("00"))) == Kind::answered);
  CHECK_TRUE(kind(binary("sSN LIDinputstate ", hex("00"))) == Kind::other);
  CHECK_TRUE(kind(binary("sRA LIDoutputstate ", hex("00"))) == Kind::other);
  CHECK_TRUE(kind(binary("sWA LIDinputstate ")) == Kind::other);
  CHECK_TRUE(Question{}.answer_in(binary("sRA LIDinputstate ")).kind == Kind::other);
}

TEST(Cola, EachKindOfCommandHasItsKindOfAnswer) {
  for (const auto& [command, answer] : {std::pair{"sRN", "sRA"}, std::pair{"sWN", "sWA"},
                                        std::pair{"sMN", "sAN"}, std::pair{"sEN", "sEA"}}) {
    const Question question = asked(Command(Dialect::ascii, command, "Run"));
    CHECK_TRUE(question.answer_in(ascii(std::string(answer) + " Run 1")).kind == Kind::answered);
    CHECK_TRUE(question.answer_in(ascii("sMA Run")).kind == Kind::other);
  }
}

TEST(Cola, AnErrorBelongsToWhatWasAskedAndIsToldInWords) {
  const Question question = asked(Command(Dialect::binary, "sWN", "LMPoutputRange"));
  for (const Stream& frame : {ascii("sFA 4"), ascii("sFA 0004"), binary("sFA", hex("0004"))}) {
    const Question::Answer answer = question.answer_in(frame);
    CHECK_TRUE(answer.kind == Kind::error);
    LONGS_EQUAL(4, answer.error);
    const Reply reply = question.acknowledged(frame);
    CHECK_TRUE(reply.kind == Reply::Kind::refused);
    STRCMP_EQUAL("a value is out of its range: check the options against its manual (sFA 04)",
                 reply.why.c_str());
  }
  STRCMP_EQUAL("error (sFA AB)", cola::words_for(0xAB).c_str());
}

TEST(Cola, WordsOfErrorsAreNotCutOff) {
  for (unsigned code = 0; code < 0x40; ++code)
    CHECK_TRUE(cola::words_for(code).view().ends_with(')'));
}

TEST(Cola, ALoginIsTakenOrRefusedByItsAnswer) {
  const Question question = asked(cola::login(Dialect::binary, cola::kService));
  const auto kind = [&](const Stream& frame) { return cola::logged_in(question, frame).kind; };
  CHECK_TRUE(kind(binary("sAN SetAccessMode ", hex("01"))) == Reply::Kind::done);
  CHECK_TRUE(kind(binary("sAN SetAccessMode ", hex("00"))) == Reply::Kind::refused);
  CHECK_TRUE(kind(binary("sFA", hex("0001"))) == Reply::Kind::refused);
  CHECK_TRUE(kind(binary("sSN LMDscandata ", hex("01"))) == Reply::Kind::not_mine);
}

TEST(Cola, EveryRecordedTelegramIsFramedAndNamed) {
  const auto dialogue = test::cola::lms511_startup();
  Stream stream;
  for (const auto& telegram : dialogue) test::append(stream, telegram.bytes);
  const test::Cut cut = test::cut(cola::Framing{}, stream);
  LONGS_EQUAL(dialogue.size(), cut.frames.size());
  LONGS_EQUAL(0, cut.stats.garbage_bytes);
  for (std::size_t i = 0; i < dialogue.size(); i += 2) {
    CHECK_TRUE(dialogue[i].from_host && !dialogue[i + 1].from_host);
    const cola::Telegram said = cola::telegram_in(dialogue[i].bytes);
    const Question question = asked(Command(Dialect::binary, said.kind, said.name));
    CHECK_TRUE(question.answer_in(dialogue[i + 1].bytes).kind == Kind::answered);
    const bool next = i + 3 < dialogue.size();
    if (next) CHECK_TRUE(question.answer_in(dialogue[i + 3].bytes).kind == Kind::other);
  }
}

TEST(Cola, AStartWithinTheBytesOfATelegramIsNoTelegram) {
  const Stream scan = binary("sSN LMDscandata ", hex("02020202 00000006 02020202 0202 03"));
  const test::Cut cut = test::cut(cola::Framing{}, scan);
  LONGS_EQUAL(1, cut.frames.size());
  LONGS_EQUAL(0, cut.stats.garbage_bytes);
}

TEST(Cola, LengthsThatCannotBeAreNotWaitedFor) {
  cola::Framing framing;
  CHECK_TRUE(framing.measure(hex("02020202 00010000")) == kNotAFrame);
  CHECK_TRUE(framing.measure(hex("02020202 00000004")) == kNotAFrame);
  CHECK_TRUE(framing.measure(hex("02020202 0000FFF7")) == 0xFFF7 + 9);
  CHECK_TRUE(framing.measure(hex("02020202 0000FFF8")) == kNotAFrame);
  CHECK_TRUE(framing.measure(hex("02020202 00000006 734641")) == kNotAFrame);
  CHECK_TRUE(framing.measure(hex("02020202 00000DD8 73534E20 02")) == kNotAFrame);
  CHECK_TRUE(framing.measure(hex("02 73534E204C4D 02")) == kNotAFrame);
}

TEST(Cola, FramesSurviveGarbageAndAnySplit) {
  std::vector<Stream> good{kLogin, binary("sFA", hex("0004")),
                           binary("sEA LMDscandata ", hex("01")), ascii("sEA LMDscandata 1"),
                           ascii("sFA 4")};
  test::check_garbage_and_splits(cola::Framing{}, good);
}

TEST(Cola, ATornTelegramHidesNoWholeOne) {
  const Stream b = binary("sEA LMDscandata ", hex("01")), a = ascii("sEA LMDscandata 1");
  test::check_torn_frames(cola::Framing{}, b, b);
  test::check_torn_frames(cola::Framing{}, a, a);
  test::check_torn_frames(cola::Framing{}, a, b);
  test::check_torn_frames(cola::Framing{}, b, a);
}

// All but two: with a length that grew by two or by four, the start of the next telegram agrees. So
// this one's has both bits set.
TEST(Cola, ABitThatTurnedOverIsFound) {
  test::check_bit_flips(cola::Framing{}, kLogin, binary("sEA LMDscandata ", hex("01")),
                        binary("sFA", hex("0004")));
}

TEST(Cola, InADamagedStreamEveryIntactTelegramIsFound) {
  std::vector<Stream> frames;
  for (unsigned i = 0; i < 400; ++i) {
    const std::array counter{static_cast<std::byte>(i >> 8), static_cast<std::byte>(i)};
    frames.push_back(binary("sSN LMDscandata ", counter));
  }
  test::check_damaged_stream(cola::Framing{}, frames);
}
