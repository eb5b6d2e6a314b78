#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "drivers/vectornav/vectornav.h"
#include "test/support/fake_port.h"
#include "test/support/harness.h"
#include "test/support/manual_clock.h"
#include "test/support/packet_log.h"
#include "test/support/vn_messages.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::joined;
using namespace test::vn;

namespace {

// The other end of the line: registers as texts.
struct Sensor {
  explicit Sensor(test::FakePort& p) : port(p) {}

  void answer() {
    while (done < port.writes.size()) {
      std::string line;
      for (const std::byte b : port.writes[done++]) line += static_cast<char>(b);
      if (!line.empty()) hear(line.substr(1, line.find('*') - 1));
    }
  }
  void hear(const std::string& body) {
    heard.push_back(body);
    const std::string command = body.substr(2, 3),
                      rest = body.substr(std::min(body.size(), std::size_t{6}));
    const std::string number = rest.substr(0, 2);
    if (mute.contains(command)) return;
    if (errors.contains(command + number)) return say("VNERR," + errors[command + number]);
    if (command == "ASY") paused = rest == "0";
    if (command == "RRG") return say("VNRRG," + number + "," + registers[number]);
    if (command == "WRG" && !stubborn.contains(number)) registers[number] = rest.substr(3);
    say(body);
  }
  // What it sends unasked in 10 ms.
  void stream() {
    const unsigned ports = static_cast<unsigned>(registers["75"][0] - '0');
    if (!paused && (ports & our_port) != 0) port.deliver(sample(ns += 10'000'000));
  }
  void say(const std::string& body) { port.deliver(text(body, four_digits)); }

  test::FakePort& port;
  std::size_t done = 0;
  std::vector<std::string> heard;
  std::map<std::string, std::string> registers{{"01", "VN-100S-CR"}, {"03", "0100011981"},
                                               {"04", "3.0.0.0"},    {"75", "0,0,00"},
                                               {"76", "0,0,00"},     {"77", "0,0,00"}};
  std::map<std::string, std::string> errors;  // command and register: code
  std::set<std::string> mute, stubborn;
  unsigned our_port = 1;
  std::int64_t ns = 0;
  bool paused = false, four_digits = false;
};

}  // namespace

TEST_GROUP(VectornavDialogue) {
  test::ManualClock clock;
  test::PacketLog log;
  Options options{Vectornav::options()};
  std::unique_ptr<Driver> driver;
  test::FakePort* port = nullptr;
  std::unique_ptr<Sensor> sensor;

  void set(std::string_view key, std::string_view value) {
    CHECK_TRUE(static_cast<bool>(options.set(key, value)));
  }
  void build() {
    DriverSetup setup;
    auto owned = std::make_unique<test::FakePort>(clock);
    port = owned.get();
    setup.ports[0] = std::move(owned);
    setup.baud = 115200;
    setup.sink = &log;
    driver = make_driver<Vectornav>(options, std::move(setup));
    sensor = std::make_unique<Sensor>(*port);
  }
  void run(hal::Duration d, bool answers = true) {
    for (const hal::Time end = clock.now() + d; clock.now() < end;) {
      driver->tick(clock.advance(10ms));
      if (!answers) continue;
      sensor->answer();
      sensor->stream();
    }
  }
  void start(hal::Duration d = 100ms) {
    driver->start(clock.now());
    run(d);
  }
  bool heard(const char* body) {
    return std::ranges::find(sensor->heard, body) != sensor->heard.end();
  }
  void why_is(const char* expected) { STRCMP_EQUAL(expected, driver->health().why.c_str()); }
};

TEST(VectornavDialogue, TheCommandsAreThoseOfTheProtocolByteForByte) {
  build();
  start();
  const char* const expected[] = {"VNASY,0",
                                  "VNRRG,01",
                                  "VNRRG,03",
                                  "VNRRG,04",
                                  "VNWRG,30,0,0,0,0,1,1,1",
                                  "VNWRG,06,0",
                                  "VNRRG,76",
                                  "VNRRG,77",
                                  "VNWRG,75,1,8,01,0131",
                                  "VNRRG,75",
                                  "VNASY,1"};
  LONGS_EQUAL(std::size(expected), sensor->heard.size());
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    STRCMP_EQUAL(expected[i], sensor->heard[i].c_str());
  }
  std::string first;
  for (const std::byte b : port->writes[0]) first += static_cast<char>(b);
  STRCMP_EQUAL("$VNASY,0*4F\r\n", first.c_str());
  CHECK_TRUE(driver->health().state == State::streaming);
  STRCMP_EQUAL("VN-100S-CR, serial 0100011981, firmware 3.0.0.0, 100 Hz",
               driver->health().about.c_str());
}

TEST(VectornavDialogue, AnswersWithFourDigitsAreAnswers) {
  build();
  sensor->four_digits = true;
  start();
  CHECK_TRUE(driver->health().state == State::streaming);
}

TEST(VectornavDialogue, FieldsAndRateAreThoseOfTheOptions) {
  struct Case {
    const char *rate, *model, *expected;
  };
  for (const Case& c : {Case{"200", "VN-100", "VNWRG,75,1,4,01,0D21"},
                        Case{"300", "VN-200", "VNWRG,75,1,3,01,0D21"},
                        Case{"100", "VN-300", "VNWRG,75,1,4,01,0D21"},
                        Case{"800", "VN-100", "VNWRG,75,1,1,01,0D21"}}) {
    set("rate_hz", c.rate);
    set("orientation", "false");
    set("deltas", "true");
    set("environment", "true");
    build();
    sensor->registers["01"] = c.model;
    start();
    CHECK_TRUE_TEXT(heard(c.expected), c.expected);
  }
}

TEST(VectornavDialogue, AnswersAreFoundAmongTextsAndBinaryMessages) {
  build();
  driver->start(clock.now());
  for (int i = 0; i < 40; ++i) {
    driver->tick(clock.advance(10ms));
    if (!sensor->paused)
      port->deliver(joined(text("VNYMR,1,2,3,4,5,6,7,8,9,10,11,12"), sample(i + 1)));
    if (i > 3) sensor->answer();
  }
  run(50ms);
  CHECK_TRUE(driver->health().state == State::streaming);
  CHECK_TRUE(driver->health().unwanted > 0);
  CHECK_TRUE(driver->health().balances());
}

TEST(VectornavDialogue, OtherMessagesOfTheSamePortAreTurnedOff) {
  build();
  sensor->registers["76"] = "3,16,01,0029";
  sensor->registers["77"] = "2,16,01,0029";
  start();
  CHECK_TRUE(heard("VNWRG,76,2,8,01,0001"));  // the other port keeps one
  CHECK_FALSE(heard("VNWRG,77,2,8,01,0001"));
  CHECK_TRUE(driver->health().state == State::streaming);
}

TEST(VectornavDialogue, OnItsSecondPortItIsSetUpForBoth) {
  build();
  sensor->our_port = 2;
  start(700ms);
  CHECK_TRUE(heard("VNWRG,75,3,8,01,0131"));
  CHECK_TRUE(driver->health().state == State::streaming);
}

TEST(VectornavDialogue, ARefusalIsNamedByItsStepAndItsError) {
  build();
  sensor->errors["WRG75"] = "0C";
  start();
  CHECK_TRUE(driver->health().cause == Cause::refused);
  why_is(
      "the device refused 'set message': its line is too slow for what it is told to send (error "
      "0C)");
}

TEST(VectornavDialogue, WhatAnOlderFirmwareDoesNotKnowIsLeftOut) {
  build();
  for (const char* what : {"ASY0", "ASY1", "WRG30", "RRG03", "RRG76", "RRG77"})
    sensor->errors[what] = "08";
  start();
  CHECK_TRUE(heard("VNRRG,75"));
  STRCMP_EQUAL("VN-100S-CR, firmware 3.0.0.0, 100 Hz", driver->health().about.c_str());
  CHECK_TRUE(driver->health().state == State::streaming);
}

TEST(VectornavDialogue, WhatIsNotKeptIsTold) {
  build();
  sensor->stubborn = {"75"};
  start();
  why_is("the device refused 'read message back': its message reads 0,0,00, not 1,8,01,0131");
}

TEST(VectornavDialogue, ACommandThatWasDamagedIsSentAgain) {
  build();
  sensor->errors["WRG06"] = "03";
  driver->start(clock.now());
  run(100ms);
  sensor->errors.clear();
  run(400ms);
  LONGS_EQUAL(2, std::ranges::count(sensor->heard, "VNWRG,06,0"));
  CHECK_TRUE(driver->health().state == State::streaming);
}

TEST(VectornavDialogue, FlashIsWrittenOnlyWhereItIsWanted) {
  build();
  start();
  CHECK_FALSE(heard("VNWNV"));
  set("save", "true");
  build();
  start();
  CHECK_TRUE(heard("VNWNV"));
}

TEST(VectornavDialogue, TextsThatComeAgainAreThoseOfARestartedDevice) {
  build();
  start();
  port->deliver(text("VNYMR,1,2,3,4,5,6,7,8,9,10,11,12"));
  LONGS_EQUAL(1, driver->health().resets);
  sensor->heard.clear();
  run(500ms);
  CHECK_TRUE(heard("VNWRG,75,1,8,01,0131"));
  CHECK_TRUE(driver->health().state == State::streaming);
}

TEST(VectornavDialogue, AnErrorWhileItStreamsIsAFault) {
  build();
  start();
  port->deliver(text("VNERR,0B"));
  CHECK_TRUE(driver->health().cause == Cause::device_fault);
  STRCMP_CONTAINS("output buffer overflow (error 0B)", driver->health().why.c_str());
}

TEST(VectornavDialogue, StopPausesTheOutput) {
  build();
  start();
  driver->stop(clock.now());
  CHECK_FALSE(driver->stopped());
  sensor->answer();
  CHECK_TRUE(driver->stopped());
  CHECK_TRUE(sensor->paused);
}

TEST(VectornavDialogue, WithoutAnAnswerTheOtherRatesAreTried) {
  build();
  sensor->mute = {"ASY"};
  start(6s);
  STRCMP_CONTAINS("no answer to 'pause output' (3 tries of 200 ms at each baud rate it knows)",
                  driver->health().why.c_str());
}
