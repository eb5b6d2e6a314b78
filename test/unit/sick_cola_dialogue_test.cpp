#include <algorithm>
#include <map>

#include "drivers/sick_cola/sick_cola.h"
#include "test/support/cola_telegrams.h"
#include "test/unit/device_driver_bench.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::Stream;
using test::cola::Arguments;

namespace {

std::string text_of(const Stream& telegram) {
  std::string text;
  for (const std::byte b : telegram) text += static_cast<char>(b);
  return text;
}

// "sRN DeviceIdent", of a telegram in either dialect.
std::string head_of(const Stream& telegram) {
  const std::string text = text_of(telegram).substr(telegram[1] == std::byte{2} ? 8 : 1);
  const std::size_t end = std::min(text.find(' ', 4), text.find('\3', 4));
  const std::string head = text.substr(0, end);
  return telegram[1] == std::byte{2} && end == std::string::npos ? head.substr(0, head.size() - 1)
                                                                 : head;
}

}  // namespace

// A device by the table: it answers what it is asked, and notes it.
TEST_GROUP_BASE(SickColaDialogue, test::DriverBench) {
  bool is_binary = true, is_deaf = false;
  std::map<std::string, Stream> answers;  // by what was asked; empty: none
  std::vector<std::string> asked;
  std::vector<Stream> asked_bytes;
  std::size_t seen = 0;

  void setup() override {
    options = Options(SickCola::options());
    speak(true);
  }
  void set(const char* key, const char* value) {
    CHECK_TRUE(static_cast<bool>(options.set(key, value)));
  }
  Stream say(const std::string& head, const Arguments& a = {}) { return a.of(is_binary, head); }
  Stream error(unsigned code) {
    if (!is_binary) return test::cola::ascii("sFA " + std::to_string(code));
    return test::cola::binary("sFA", hex(StringFromFormat("00%02X", code).asCharString()));
  }
  static Arguments field(unsigned step, int first, int last) {
    Arguments a;
    a.u16(1).u32(step).i32(first).i32(last);
    return a;
  }
  static Arguments pace(unsigned frequency, unsigned step) {
    Arguments a;
    a.u32(frequency).u16(1).u32(step).i32(-450'000).i32(2'250'000);
    return a;
  }
  static Arguments content(unsigned mask, unsigned wide) {
    Arguments a;
    a.u8(mask).u8(0).u8(1).u8(wide).u8(0).u8(0).u8(0).u8(0).u8(0).u8(0).u8(1).u16(1);
    return a;
  }
  void speak(bool binary) {
    is_binary = binary;
    const auto yes = [](unsigned v) { return Arguments{}.u8(v); };
    answers["sRN SCdevicestate"] = say("sRA SCdevicestate", yes(1));
    answers["sMN SetAccessMode"] = say("sAN SetAccessMode", yes(1));
    answers["sWN EIHstCola"] = say("sWA EIHstCola");
    answers["sRN DeviceIdent"] =
        say("sRA DeviceIdent", Arguments{}.u16(14).word("TiM561-2050101").u16(8).word("V3.14   "));
    answers["sRN FirmwareVersion"] = say("sRA FirmwareVersion", Arguments{}.u16(5).word("V1.80"));
    answers["sRN SerialNumber"] = say("sRA SerialNumber", Arguments{}.u16(8).word("17250140"));
    answers["sRN LMPscancfg"] = error(3);
    answers["sMN mLMPsetscancfg"] = error(2);
    answers["sRN LMPoutputRange"] = say("sRA LMPoutputRange", field(3333, -450'000, 2'250'000));
    answers["sWN LMPoutputRange"] = say("sWA LMPoutputRange");
    answers["sWN FREchoFilter"] = error(3);
    answers["sWN LMDscandatacfg"] = say("sWA LMDscandatacfg");
    answers["sRN LMDscandatacfg"] = say("sRA LMDscandatacfg", content(1, 1));
    answers["sMN LMCstartmeas"] = say("sAN LMCstartmeas", yes(0));
    answers["sMN Run"] = say("sAN Run", yes(1));
    answers["sEN LMDscandata"] = say("sEA LMDscandata", yes(1));
    answers["sMN LMCstopmeas"] = say("sAN LMCstopmeas", yes(0));
  }
  Stream scan(unsigned n) {
    Arguments a;
    a.u16(1)
        .u16(1)
        .u32(17250140)
        .u8(0)
        .u8(0)
        .u16(n)
        .u16(n)
        .u32(66'667 * n)
        .u32(66'667 * n + 60'000);
    a.u8(0).u8(0).u8(7).u8(0).u16(0).u32(1500).u32(54).u16(0).u16(1);
    a.word("DIST1").f32(1).f32(0).i32(-450'000).u16(10'000).u16(2).u16(1000).u16(2000);
    a.u16(0).u16(0).u16(0).u16(0).u16(0).u16(0);
    return a.of(is_binary, "sSN LMDscandata");
  }
  bool understands(const Stream& telegram) const {
    return !is_deaf && (telegram[1] == std::byte{2}) == is_binary;
  }
  // What was written is noted and answered until nothing more is asked.
  void answer_all() {
    while (seen < port->writes.size()) {
      const Stream telegram = port->writes[seen++];
      asked.push_back(head_of(telegram));
      asked_bytes.push_back(telegram);
      const auto answer = answers.find(asked.back());
      if (!understands(telegram) || answer == answers.end() || answer->second.empty()) continue;
      const Stream copy = answer->second;
      if (asked.back() == "sWN EIHstCola") speak(!is_binary);
      deliver(copy);
    }
  }
  void start() {
    build<SickCola>(0);
    driver->start(clock.now());
    answer_all();
  }
  void run_for(hal::Duration d) {
    for (; d > 0ms; d -= 20ms) {
      tick(20ms);
      answer_all();
    }
  }
  bool was_asked(const std::string& head) const { return std::ranges::count(asked, head) > 0; }
  const Stream& bytes_of(const std::string& head) const {
    const auto at = std::ranges::find(asked, head) - asked.begin();
    return asked_bytes.at(static_cast<std::size_t>(at));
  }
  void streams() {
    start();
    deliver(scan(1));
    deliver(scan(2));
    is(State::streaming);
    books_balance();
  }
  void is_refused(const char* words) {
    start();
    STRCMP_EQUAL(drivers::name(Cause::refused), drivers::name(health().cause));
    STRCMP_EQUAL(words, health().why.c_str());
    books_balance();
  }
};

TEST(SickColaDialogue, AsksForEverythingInOrder) {
  streams();
  const std::vector<std::string> wanted{
      "sRN SCdevicestate",  "sMN SetAccessMode",  "sRN DeviceIdent",  "sRN SerialNumber",
      "sRN LMPoutputRange", "sRN LMPoutputRange", "sWN FREchoFilter", "sWN LMDscandatacfg",
      "sRN LMDscandatacfg", "sMN LMCstartmeas",   "sMN Run",          "sEN LMDscandata",
      "sRN SCdevicestate"};
  CHECK_TRUE(asked == wanted);
  STRCMP_EQUAL("TiM561-2050101 V3.14, serial 17250140, CoLa B, 15 Hz, 1 deg",
               health().about.c_str());
}

TEST(SickColaDialogue, ADeviceThatSpeaksTextIsAnsweredInText) {
  speak(false);
  build<SickCola>(0);
  driver->start(clock.now());
  answer_all();
  run_for(400ms);
  LONGS_EQUAL(2, std::ranges::count(asked, "sRN SCdevicestate") - 1);
  deliver(scan(1));
  deliver(scan(2));
  is(State::streaming);
  STRCMP_EQUAL("TiM561-2050101 V3.14, serial 17250140, CoLa A, 15 Hz, 1 deg",
               health().about.c_str());
  CHECK_TRUE(bytes_of("sWN LMDscandatacfg") ==
             test::cola::ascii("sWN LMDscandatacfg 1 0 1 1 0 0 0 0 0 0 1 1"));
}

TEST(SickColaDialogue, AnErrorInTheOtherDialectTellsItAtOnce) {
  speak(false);
  build<SickCola>(0);
  driver->start(clock.now());
  deliver(error(12));
  answer_all();
  deliver(scan(1));
  deliver(scan(2));
  is(State::streaming);
}

TEST(SickColaDialogue, TheDialectThatWasFoundIsTriedFirst) {
  speak(false);
  start();
  run_for(400ms);
  port->unplug();
  asked.clear();
  run_for(200ms);
  CHECK_TRUE(!asked.empty() && asked_bytes.back()[1] != std::byte{2});
  deliver(scan(1));
  deliver(scan(2));
  is(State::streaming);
}

TEST(SickColaDialogue, ItIsSwitchedToTheDialectThatIsWanted) {
  speak(false);
  set("dialect", "binary");
  start();
  run_for(400ms);
  deliver(scan(1));
  deliver(scan(2));
  is(State::streaming);
  CHECK_TRUE(bytes_of("sWN EIHstCola") == test::cola::ascii("sWN EIHstCola 1"));
  CHECK_TRUE(is_binary);
}

TEST(SickColaDialogue, NobodyThereIsToldByTheStep) {
  is_deaf = true;
  start();
  run_for(1860ms);
  why_is(
      Cause::no_bytes,
      "no answer to 'ask its state, in CoLa A and B' (6 tries of 300 ms); no byte: power, cable, "
      "address?");
}

TEST(SickColaDialogue, TheSafetyVariantsPasswordIsTriedNext) {
  answers["sMN SetAccessMode"] = say("sAN SetAccessMode", Arguments{}.u8(0));
  start();
  LONGS_EQUAL(2, std::ranges::count(asked, "sMN SetAccessMode"));
  CHECK_TRUE(asked_bytes.at(1) == test::cola::binary("sMN SetAccessMode ", hex("03 F4724744")));
  CHECK_TRUE(asked_bytes.at(2) == test::cola::binary("sMN SetAccessMode ", hex("03 6FD62C05")));
  is(State::backoff);
}

TEST(SickColaDialogue, AModelThatIsNoPlainTextDoesNotReachATerminal) {
  answers["sRN DeviceIdent"] =
      say("sRA DeviceIdent", Arguments{}.u16(6).word("TiM\x1B\xFF\n").u16(2).word("V3"));
  streams();
  STRCMP_CONTAINS("TiM??? V3", health().about.c_str());
}

TEST(SickColaDialogue, AWrongPasswordIsTold) {
  answers["sMN SetAccessMode"] = say("sAN SetAccessMode", Arguments{}.u8(0));
  set("login", "client");
  is_refused(
      "the device refused 'log in': the password is wrong: it was changed, or has another level");
  LONGS_EQUAL(1, std::ranges::count(asked, "sMN SetAccessMode"));
}

TEST(SickColaDialogue, WithoutALoginNothingIsSet) {
  set("login", "none");
  streams();
  const std::vector<std::string> wanted{
      "sRN SCdevicestate",  "sRN DeviceIdent", "sRN SerialNumber", "sRN LMPoutputRange",
      "sRN LMPoutputRange", "sEN LMDscandata", "sRN SCdevicestate"};
  CHECK_TRUE(asked == wanted);
  asked.clear();
  driver->stop(clock.now());
  answer_all();
  CHECK_TRUE(asked == std::vector<std::string>{"sEN LMDscandata"});
  CHECK_TRUE(driver->stopped());
}

TEST(SickColaDialogue, RefusalsAreTiedToWhatWasAsked) {
  answers["sWN LMDscandatacfg"] = error(1);
  is_refused(
      "the device refused 'set content of scans': not allowed at this user level: check the "
      "password, or log out its other clients (sFA 01)");
}

TEST(SickColaDialogue, WhatHasNoWideIntensitiesIsAskedForNarrowOnes) {
  build<SickCola>(0);
  answers["sWN LMDscandatacfg"] = error(4);
  driver->start(clock.now());
  while (seen < port->writes.size()) {
    if (asked.size() > 1 && asked.back() == "sWN LMDscandatacfg") {
      answers["sWN LMDscandatacfg"] = say("sWA LMDscandatacfg");
    }
    const Stream telegram = port->writes[seen++];
    asked.push_back(head_of(telegram));
    asked_bytes.push_back(telegram);
    deliver(Stream(answers.at(asked.back())));
  }
  LONGS_EQUAL(2, std::ranges::count(asked, "sWN LMDscandatacfg"));
  const auto second = std::find(std::ranges::find(asked, "sWN LMDscandatacfg") + 1, asked.end(),
                                "sWN LMDscandatacfg");
  CHECK_TRUE(
      asked_bytes.at(static_cast<std::size_t>(second - asked.begin())) ==
      hex("020202020000002073574e204c4d447363616e64617461636667200100010000000000000001000142"));
}

TEST(SickColaDialogue, WhatIsReadBackMustBeWhatWasSet) {
  answers["sRN LMDscandatacfg"] = say("sRA LMDscandatacfg", content(1, 1));
  answers["sWN FREchoFilter"] = say("sWA FREchoFilter");
  set("echoes", "all");
  is_refused(
      "the device refused 'read content of scans back': it sends channels 0x01, intensities, each "
      "1. "
      "scan, not 0x07, intensities, each scan");
}

TEST(SickColaDialogue, AllEchoesOfADeviceWithOneAreRefused) {
  set("echoes", "all");
  is_refused(
      "the device refused 'set echoes': it does not know this variable: other model or firmware "
      "(sFA 03)");
}

TEST(SickColaDialogue, FrequencyAndResolutionAreSetAndReadBack) {
  set("frequency_hz", "25");
  set("resolution_deg", "0.25");
  answers["sRN LMPscancfg"] = say("sRA LMPscancfg", pace(5000, 5000));
  answers["sMN mLMPsetscancfg"] = say("sAN mLMPsetscancfg", Arguments{}.u8(0));
  is_refused(
      "the device refused 'read frequency and resolution back': it has 50 Hz and 0.5 deg, not 25 "
      "Hz "
      "and 0.25 deg");
  CHECK_TRUE(
      bytes_of("sMN mLMPsetscancfg") ==
      test::cola::binary("sMN mLMPsetscancfg ", hex("000009C4 0001 000009C4 FFF92230 00225510")));
}

TEST(SickColaDialogue, AFrequencyThatItHasIsNotSet) {
  set("frequency_hz", "50");
  answers["sRN LMPscancfg"] = say("sRA LMPscancfg", pace(5000, 5000));
  streams();
  CHECK_FALSE(was_asked("sMN mLMPsetscancfg"));
}

TEST(SickColaDialogue, FrequencyAndResolutionThatDoNotGoTogetherAreTold) {
  set("frequency_hz", "25");
  answers["sRN LMPscancfg"] = say("sRA LMPscancfg", pace(5000, 5000));
  answers["sMN mLMPsetscancfg"] = say("sAN mLMPsetscancfg", Arguments{}.u8(2));
  is_refused(
      "the device refused 'set frequency and resolution': frequency and resolution do not go "
      "together, see its manual (code 2)");
}

TEST(SickColaDialogue, AModelWithOneSpeedIsTold) {
  set("frequency_hz", "25");
  is_refused(
      "the device refused 'ask frequency and resolution': this model has one speed: leave "
      "frequency_hz out");
}

TEST(SickColaDialogue, AnglesAreSetInTheDevicesFrameAndReadBack) {
  set("start_deg", "-90");
  set("end_deg", "45.5");
  is_refused(
      "the device refused 'read angles back': it sends -135 to 135 deg by 0.3333, not -90 to 45.5 "
      "by "
      "0.3333");
  CHECK_TRUE(bytes_of("sWN LMPoutputRange") ==
             test::cola::binary("sWN LMPoutputRange ", hex("0001 00000D05 00000000 0014ACF8")));
}

TEST(SickColaDialogue, OneAngleThatItDidNotTakeIsEnough) {
  for (const char* key : {"start_deg", "end_deg"}) {
    options = Options(SickCola::options());
    asked.clear(), asked_bytes.clear();
    seen = 0;
    set(key, "10");
    start();
    STRCMP_CONTAINS("refused 'read angles back': it sends -135 to 135 deg", health().why.c_str());
  }
}

TEST(SickColaDialogue, AnglesThatItHasAreNotSet) {
  set("start_deg", "-135");
  set("end_deg", "135");
  set("resolution_deg", "0.33333");
  streams();
  CHECK_FALSE(was_asked("sWN LMPoutputRange"));
}

TEST(SickColaDialogue, MoreBeamsThanThereIsRoomForAreToldBeforeTheyCome) {
  answers["sRN LMPoutputRange"] = say("sRA LMPoutputRange", field(1000, -900'000, 2'700'000));
  is_refused(
      "the device refused 'read angles back': it sends 3601 beams a scan: set resolution_deg to "
      "0.1, "
      "so that there is room");
}

TEST(SickColaDialogue, ADeviceOfAnotherFamilyIsNamed) {
  answers["sRN DeviceIdent"] =
      say("sRA DeviceIdent", Arguments{}.u16(11).word("picoScan150").u16(2).word("V1"));
  is_refused("the device refused 'ask its model': it is a picoScan150: its driver is sick_compact");
}

TEST(SickColaDialogue, WhatIsNotKnownOfItIsLeftOut) {
  for (const char* head : {"sRN DeviceIdent", "sRN SerialNumber", "sRN LMPoutputRange",
                           "sWN FREchoFilter", "sRN LMDscandatacfg"}) {
    answers[head] = error(3);
  }
  streams();
  STRCMP_EQUAL("SICK V1.80, CoLa B, 15 Hz, 1 deg", health().about.c_str());
}

TEST(SickColaDialogue, UnaskedAnswersAndEventsInBetweenDoNotMatter) {
  answers["sWN FREchoFilter"] = say("sWA FREchoFilter");
  build<SickCola>(0);
  driver->start(clock.now());
  while (seen < port->writes.size()) {
    const Stream telegram = port->writes[seen++];
    asked.push_back(head_of(telegram));
    deliver(say("sRA LIDinputstate", Arguments{}.u8(1)));
    if (asked.size() > 1) deliver(Stream(answers.at(asked[asked.size() - 2])));
    deliver(say("sSN LFErec", Arguments{}.u16(1)));
    deliver(Stream(answers.at(asked.back())));
    deliver(Stream(answers.at(asked.back())));
  }
  deliver(scan(1));
  deliver(scan(2));
  is(State::streaming);
  books_balance();
}

TEST(SickColaDialogue, ScansOfADeviceAtWorkDoNotDisturb) {
  build<SickCola>(0);
  driver->start(clock.now());
  unsigned n = 0;
  while (seen < port->writes.size()) {
    const Stream telegram = port->writes[seen++];
    asked.push_back(head_of(telegram));
    deliver(scan(++n));
    const Stream& answer = answers.at(asked.back());
    deliver(hal::Bytes(answer).first(6).empty() ? answer
                                                : Stream(answer.begin(), answer.begin() + 6));
    deliver(Stream(answer.begin() + 6, answer.end()));
  }
  deliver(scan(++n));
  deliver(scan(++n));
  is(State::streaming);
  books_balance();
}

TEST(SickColaDialogue, ItMayBeBusyForLong) {
  answers["sRN SCdevicestate"] = say("sRA SCdevicestate", Arguments{}.u8(0));
  start();
  run_for(16s);
  is(State::starting);
  deliver(scan(1));
  deliver(scan(2));
  is(State::streaming);
}

TEST(SickColaDialogue, BusyWithoutEndIsTold) {
  answers["sRN SCdevicestate"] = say("sRA SCdevicestate", Arguments{}.u8(0));
  start();
  run_for(39'900ms);
  is(State::starting);
  run_for(120ms);
  why_is(Cause::refused,
         "the device refused 'wait for scans': it is still busy, but sends no scans: restart it");
}

TEST(SickColaDialogue, ReadyWithoutScansIsToldSooner) {
  start();
  run_for(10s);
  STRCMP_EQUAL("the device refused 'wait for scans': it is ready, but sends no scans: restart it",
               health().why.c_str());
}

TEST(SickColaDialogue, AnErrorStateIsTold) {
  start();
  answers["sRN SCdevicestate"] = say("sRA SCdevicestate", Arguments{}.u8(2));
  run_for(1020ms);
  STRCMP_EQUAL(
      "the device refused 'wait for scans': it reports an error: look at its display or restart it",
      health().why.c_str());
}

TEST(SickColaDialogue, GapsOfTheScanCounterAreCounted) {
  streams();
  deliver(scan(3));
  LONGS_EQUAL(0, health().lost);
  deliver(scan(7));
  LONGS_EQUAL(3, health().lost);
  deliver(scan(8));
  LONGS_EQUAL(3, health().lost);
}

TEST(SickColaDialogue, AStopEndsScansLogsInAndStopsMeasuring) {
  streams();
  asked.clear();
  driver->stop(clock.now());
  answer_all();
  const std::vector<std::string> wanted{"sEN LMDscandata", "sMN SetAccessMode", "sMN LMCstopmeas"};
  CHECK_TRUE(asked == wanted);
  CHECK_TRUE(driver->stopped());
  books_balance();
}

TEST(SickColaDialogue, AStopTakesNoLongerThanItMay) {
  streams();
  is_deaf = true;
  driver->stop(clock.now());
  run_for(400ms);
  CHECK_TRUE(driver->stopped());
}

TEST(SickColaDialogue, SilenceEndsInAnotherStart) {
  streams();
  run_for(500ms);
  is(State::silent);
  run_for(3s);
  LONGS_EQUAL(2, port->opens);
  deliver(scan(3));
  deliver(scan(4));
  is(State::streaming);
  books_balance();
}

// The recorded LMS511 answers what the driver asks as it answered its host; what nobody asked it
// then it does not answer.
TEST(SickColaDialogue, TheRecordedLms511IsStarted) {
  const auto dialogue = test::cola::lms511_startup();
  if (dialogue.empty()) return;
  std::map<std::string, Stream> recorded;
  std::map<std::string, Stream> questions;
  for (std::size_t i = 0; i + 1 < dialogue.size(); i += 2) {
    recorded[head_of(dialogue[i].bytes)] = dialogue[i + 1].bytes;
    questions[head_of(dialogue[i].bytes)] = dialogue[i].bytes;
  }
  answers = recorded;
  set("intensities", "8");
  start();
  run_for(2s);
  std::size_t same = 0;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (!questions.contains(asked[i])) continue;
    CHECK_TRUE(questions[asked[i]] == asked_bytes[i]);
    ++same;
  }
  LONGS_EQUAL(11, same);
  is(State::starting);
  for (int k = 0; k < 4; ++k) {
    std::ifstream file(test::in_captures("sick-cola/lms511_scan" + std::to_string(k) + ".cola"),
                       std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const hal::Bytes all = std::as_bytes(std::span(bytes));
    deliver(Stream(all.begin(), all.begin() + 1448));
    tick(1ms);
    deliver(Stream(all.begin() + 1448, all.end()));
    tick(39ms);
  }
  is(State::streaming);
  LONGS_EQUAL(3, log.slices.size());
  STRCMP_EQUAL("SICK V1.80, CoLa B, 25 Hz, 0.1667 deg", health().about.c_str());
  LONGS_EQUAL(0, health().lost + health().framing.garbage_bytes);
  books_balance();
}
