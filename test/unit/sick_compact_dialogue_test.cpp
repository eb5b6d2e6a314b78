// What is said to a picoScan, in simulated time: started, refused, silent, started again, stopped.
#include <string>
#include <vector>

#include "drivers/sick_compact/sick_compact.h"
#include "test/support/compact_telegram.h"
#include "test/unit/device_driver_bench.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::Stream;

TEST_GROUP_BASE(SickCompactDialogue, test::DriverBench) {
  std::uint64_t next = 0;         // datagram
  std::vector<std::string> said;  // to the device

  void setup() override { options = Options{SickCompact::options()}; }
  void set(std::string_view key, std::string_view value) {
    CHECK_TRUE(static_cast<bool>(options.set(key, value)));
  }
  void begin(bool with_control = true) {
    build<SickCompact>(0, with_control);
    port->is_line = false;
    port->own = {{192, 168, 0, 2}, 2115};
    if (control != nullptr) control->own = {{192, 168, 0, 2}, 40'123};
    driver->start(clock.now());
    take();
  }
  // What was written since, without its frames.
  void take() {
    if (control == nullptr) return;
    for (const auto& bytes : control->writes) {
      std::string text;
      for (const std::byte b : bytes) text += static_cast<char>(b);
      CHECK_TRUE(text.front() == '\2' && text.back() == '\3');
      said.push_back(text.substr(1, text.size() - 2));
    }
    control->writes.clear();
  }
  void answer(const std::string& payload) {
    const std::string text = '\2' + payload + '\3';
    control->deliver(std::as_bytes(std::span(text)));
    take();
  }
  // As a real device does, to whatever was said last.
  std::string reply_to(const std::string& request) const {
    if (request == "sMN SetAccessMode 4 81BE23AA") return "sAN SetAccessMode 1";
    if (request == "sRN DeviceIdent") return "sRA DeviceIdent 10 PICS150-01000000 5 1.1.0";
    if (request == "sRN SerialNumber") return "sRA SerialNumber 8 23020001";
    if (request.starts_with("sWN ")) {
      return "sWA " + request.substr(4, request.find(' ', 4) - 4);
    }
    return request == "sMN LMCstartmeas" ? "sAN LMCstartmeas 0" : "sAN Run 1";
  }
  void answer_all() {
    for (std::size_t asked = 0; asked < said.size();) {
      asked = said.size();
      answer(reply_to(said.back()));
    }
  }
  void stream(int datagrams) {
    for (; datagrams > 0; --datagrams) {
      tick(4ms);
      port->deliver(test::compact::pico(next++));
    }
  }
};

TEST(SickCompactDialogue, ADeviceIsStartedAsItsMakersDriverDoes) {
  begin();
  answer_all();
  const std::vector<std::string> expected{"sMN SetAccessMode 4 81BE23AA",
                                          "sRN DeviceIdent",
                                          "sRN SerialNumber",
                                          "sWN FREchoFilter 1",
                                          "sWN ScanDataEthSettings 1 +192 +168 +0 +2 +2115",
                                          "sWN ScanDataFormat 2",
                                          "sWN ScanDataPreformatting 1",
                                          "sWN ImuDataEthSettings 1 +192 +168 +0 +2 +2115",
                                          "sWN ScanDataEnable 1",
                                          "sWN ImuDataEnable 1",
                                          "sMN LMCstartmeas",
                                          "sMN Run"};
  for (std::size_t i = 0; i < expected.size(); ++i)
    STRCMP_EQUAL(expected[i].c_str(), said.at(i).c_str());
  LONGS_EQUAL(expected.size(), said.size());
  stream(5);
  is(State::streaming);
  LONGS_EQUAL(5, log.slices.size());
  STRCMP_EQUAL("PICS150-01000000, serial number 23020001, sends to 192.168.0.2:2115",
               health().about.c_str());
  books_balance();
}

TEST(SickCompactDialogue, WhatTheUserChoseIsSaid) {
  set("echoes", "last");
  set("imu", "false");
  begin();
  answer_all();
  STRCMP_EQUAL("sWN FREchoFilter 2", said.at(3).c_str());
  STRCMP_EQUAL("sWN ScanDataEnable 1", said.at(7).c_str());
  STRCMP_EQUAL("sWN ImuDataEnable 0", said.at(8).c_str());
  LONGS_EQUAL(11, said.size());
}

TEST(SickCompactDialogue, EchoesMayStayAsTheDeviceIsSet) {
  set("echoes", "keep");
  begin();
  answer_all();
  STRCMP_EQUAL("sWN ScanDataEthSettings 1 +192 +168 +0 +2 +2115", said.at(3).c_str());
}

TEST(SickCompactDialogue, WithoutAControlPortItOnlyListens) {
  begin(false);
  stream(5);
  is(State::streaming);
  LONGS_EQUAL(5, log.slices.size());
  STRCMP_EQUAL("SICK, serial number 23020001", health().about.c_str());
  driver->stop(clock.now());
  CHECK_TRUE(driver->stopped());
  books_balance();
}

TEST(SickCompactDialogue, WhereOurAddressIsNotKnownTheDeviceSendsWhereItWasTold) {
  build<SickCompact>(0, true);
  driver->start(clock.now());
  take();
  answer_all();
  for (const std::string& request : said) CHECK_TRUE(request.find("EthSettings") == request.npos);
  STRCMP_EQUAL("sMN Run", said.back().c_str());
}

TEST(SickCompactDialogue, AModelWithoutInertialSensorOrEchoFilterIsNoFault) {
  begin();
  while (said.back() != "sMN Run") {
    const std::string& request = said.back();
    const bool lacks =
        request.find("Imu") != request.npos || request.find("FREcho") != request.npos;
    answer(lacks ? "sFA 3" : reply_to(request));
  }
  answer("sAN Run 1");
  for (const std::string& request : said) CHECK_TRUE(request != "sWN ImuDataEnable 1");
  stream(1);
  is(State::streaming);
}

TEST(SickCompactDialogue, AWrongPasswordIsNamed) {
  begin();
  answer("sAN SetAccessMode 0");
  is(State::backoff);
  why_is(
      Cause::refused,
      "the device refused 'log in': the password is wrong: it was changed, or has another level");
}

TEST(SickCompactDialogue, ASettingThatIsRefusedIsNamedWithTheCode) {
  begin();
  while (said.back().find("ScanDataFormat") == std::string::npos) answer(reply_to(said.back()));
  answer("sFA 4");
  is(State::backoff);
  why_is(Cause::refused,
         "the device refused 'Compact format': a value is out of its range: check the options "
         "against its manual (sFA 04)");
}

TEST(SickCompactDialogue, ADeviceThatDoesNotStartSaysWhy) {
  begin();
  while (said.back() != "sMN LMCstartmeas") answer(reply_to(said.back()));
  answer("sAN LMCstartmeas 1");
  is(State::backoff);
  why_is(Cause::refused,
         "the device refused 'start measuring': status 1: look at its own page for an error");
}

TEST(SickCompactDialogue, ADeviceThatDoesNotAnswerIsTriedAgain) {
  begin();
  tick(2050ms);
  is(State::backoff);
  STRCMP_CONTAINS("no answer to 'log in' (2 tries of 1000 ms)", health().why.c_str());
  take();
  tick(600ms);
  take();
  answer_all();
  stream(1);
  is(State::streaming);
}

TEST(SickCompactDialogue, AnswersAreKnownByNameNotByOrder) {
  begin();
  answer("sSN LIDoutputstate 0 1");
  answer("sRA LIDinputstate 1");
  LONGS_EQUAL(1, said.size());
  answer_all();
  LONGS_EQUAL(12, said.size());
}

TEST(SickCompactDialogue, DatagramsThatComeBeforeTheEndOfTheScriptAreCounted) {
  begin();
  stream(3);
  LONGS_EQUAL(0, log.slices.size());
  LONGS_EQUAL(3, health().unwanted);
  answer_all();
  stream(2);
  LONGS_EQUAL(2, log.slices.size());
  books_balance();
}

TEST(SickCompactDialogue, SilenceRunsTheStartAgain) {
  begin();
  answer_all();
  stream(10);
  said.clear();
  tick(2500ms);  // it was off for a moment, and has forgotten all
  take();
  LONGS_EQUAL(1, said.size());
  STRCMP_EQUAL("sMN SetAccessMode 4 81BE23AA", said[0].c_str());
  answer_all();
  LONGS_EQUAL(12, said.size());
  next = 0;  // its counter, too
  stream(10);
  LONGS_EQUAL(20, log.slices.size());
  LONGS_EQUAL(0, health().lost);
  is(State::streaming);
  books_balance();
}

// Its first packet after a silence is still being handed out when the state changes.
TEST(SickCompactDialogue, WhatWaitsWhenItIsHeardAgainGoesOnWaiting) {
  begin(false);
  const auto send = [&](std::uint64_t n) {
    clock.advance(4ms);
    deliver(test::compact::pico(n));
  };
  send(0), send(1);
  tick(400ms);
  is(State::silent);
  send(4), send(5);
  LONGS_EQUAL(2, log.slices.size());
  send(2);
  is(State::streaming);
  LONGS_EQUAL(3, log.slices.size());
  send(3);
  LONGS_EQUAL(6, log.slices.size());
  LONGS_EQUAL(0, health().lost);
  books_balance();
}

TEST(SickCompactDialogue, AControlConnectionThatBreaksIsMadeAgain) {
  begin();
  answer_all();
  stream(3);
  control->unplug();
  is(State::backoff);
  said.clear();
  tick(200ms);
  take();
  answer_all();
  stream(3);
  is(State::streaming);
  LONGS_EQUAL(6, log.slices.size());
}

TEST(SickCompactDialogue, ItIsStoppedWhateverItAnswers) {
  begin();
  answer_all();
  stream(3);
  said.clear();
  driver->stop(clock.now());
  take();
  answer("sAN SetAccessMode 1");
  answer("sFA 3");
  answer("sWA ImuDataEnable");
  answer("sAN LMCstopmeas 0");
  const std::vector<std::string> expected{"sMN SetAccessMode 4 81BE23AA", "sWN ScanDataEnable 0",
                                          "sWN ImuDataEnable 0", "sMN LMCstopmeas"};
  CHECK_TRUE(said == expected);
  CHECK_TRUE(driver->stopped());
}

TEST(SickCompactDialogue, AMuteDeviceDoesNotHoldTheStopUp) {
  begin();
  answer_all();
  driver->stop(clock.now());
  tick(400ms);
  CHECK_TRUE(driver->stopped());
}

TEST(SickCompactDialogue, MotionComesByTheSamePortOrItsOwn) {
  DriverSetup setup;
  setup.sink = &log;
  port = add(setup, Channel::data);
  control = add(setup, Channel::control);
  test::FakePort* const motion = add(setup, Channel::imu);
  driver = make_driver<SickCompact>(options, std::move(setup));
  port->own = {{10, 0, 0, 1}, 2115};
  motion->own = {{10, 0, 0, 1}, 7503};
  driver->start(clock.now());
  take();
  answer_all();
  STRCMP_EQUAL("sWN ImuDataEthSettings 1 +10 +0 +0 +1 +7503", said.at(7).c_str());
  stream(1);
  motion->deliver(test::compact::motion(5000));
  tick(4ms);
  port->deliver(test::compact::motion(9000));
  LONGS_EQUAL(2, log.samples.size());
  LONGS_EQUAL(1, log.ids[1]);
  LONGS_EQUAL(2, health().imu_packets);
  books_balance();
}
