#include <memory>
#include <set>
#include <string>

#include "drivers/hipnuc/hipnuc.h"
#include "test/support/fake_port.h"
#include "test/support/harness.h"
#include "test/support/hipnuc_frame.h"
#include "test/support/manual_clock.h"
#include "test/support/packet_log.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::joined;
using namespace test::hipnuc;

namespace {

// The other end of the line: prints nothing to what it does not know.
struct Console {
  explicit Console(test::FakePort& p) : port(p) {}

  void answer() {
    for (; done < port.writes.size(); ++done) {
      std::string text;
      for (const std::byte b : port.writes[done]) text += static_cast<char>(b);
      for (std::size_t end; (end = text.find("\r\n")) != std::string::npos; text.erase(0, end + 2))
        hear(text.substr(0, end));
    }
  }
  void hear(const std::string& command) {
    heard.push_back(command);
    const int rate = port.bauds.empty() ? 115'200 : port.bauds.back();
    if (!knows_commands || rate != baud) return;
    if (mute.contains(command)) return;
    if (refusing == command) return port.deliver(line("ERR"));
    if (command == "LOG VERSION") port.deliver(joined(line(command), line("HI14R5 1.7.0")));
    if (command == "LOG DISABLE") streams = false;
    if (command == "LOG ENABLE") streams = true;
    port.deliver(line("OK"));
  }
  bool was_told(const char* command) const {
    return std::ranges::find(heard, command) != heard.end();
  }

  test::FakePort& port;
  std::size_t done = 0;
  bool knows_commands = true, streams = false;
  int baud = 115'200;
  std::set<std::string> mute;
  std::string refusing;
  std::vector<std::string> heard;
};

}  // namespace

TEST_GROUP(HipnucDialogue) {
  test::ManualClock clock;
  test::PacketLog log;
  Options options{Hipnuc::options()};
  std::unique_ptr<Driver> driver;
  test::FakePort* port = nullptr;
  std::unique_ptr<Console> device;
  std::uint32_t ms = 0;

  void build() {
    DriverSetup setup;
    auto owned = std::make_unique<test::FakePort>(clock);
    port = owned.get();
    setup.ports[0] = std::move(owned);
    setup.baud = 115200;
    setup.sink = &log;
    driver = make_driver<Hipnuc>(options, std::move(setup));
    device = std::make_unique<Console>(*port);
  }
  void set(std::string_view key, std::string_view value) {
    CHECK_TRUE(static_cast<bool>(options.set(key, value)));
  }
  void run(hal::Duration d) {
    for (const hal::Time end = clock.now() + d; clock.now() < end;) {
      driver->tick(clock.advance(10ms));
      if (device->streams) port->deliver(hi91(ms += 10));
      device->answer();
    }
  }
  void start(hal::Duration d) {
    driver->start(clock.now());
    run(d);
  }
  void why_is(const char* expected) { STRCMP_EQUAL(expected, driver->health().why.c_str()); }
};

TEST(HipnucDialogue, ItIsAskedWhoItIsAndLeftAsItIsSet) {
  build();
  start(100ms);
  const char* const expected[] = {"LOG VERSION", "LOG DISABLE", "LOG VERSION", "LOG ENABLE"};
  LONGS_EQUAL(std::size(expected), device->heard.size());
  for (std::size_t i = 0; i < std::size(expected); ++i)
    STRCMP_EQUAL(expected[i], device->heard[i].c_str());
  STRCMP_EQUAL("HI14R5 1.7.0", driver->health().about.c_str());
  CHECK_TRUE(driver->health().state == State::streaming);
  CHECK_TRUE(log.samples.size() > 3);
}

TEST(HipnucDialogue, ItIsToldWhatToSendAndNothingElse) {
  set("message", "HI91"), set("rate_hz", "400"), set("save", "true");
  build();
  start(200ms);
  CHECK_TRUE(device->was_told("LOG HI91 ONTIME 0.0025"));
  CHECK_TRUE(device->was_told("LOG HI92 ONTIME 0"));
  CHECK_TRUE(device->was_told("LOG HI81 ONTIME 0"));
  CHECK_TRUE(device->was_told("SAVECONFIG"));
  CHECK_FALSE(device->was_told("LOG HI91 ONTIME 0"));
  CHECK_TRUE(driver->health().state == State::streaming);
}

TEST(HipnucDialogue, FlashIsWrittenOnlyWhereItIsWanted) {
  set("message", "HI91");
  build();
  start(200ms);
  CHECK_FALSE(device->was_told("SAVECONFIG"));
}

TEST(HipnucDialogue, ARefusalIsTold) {
  set("message", "HI92");
  build();
  device->refusing = "LOG HI92 ONTIME 0.01";
  start(200ms);
  CHECK_TRUE(driver->health().cause == Cause::refused);
  why_is("the device refused 'choose message': ERR");
}

TEST(HipnucDialogue, AMessageThatItDoesNotKnowIsTold) {
  set("message", "HI92");
  build();
  device->mute = {"LOG HI92 ONTIME 0.01"};
  start(1200ms);
  STRCMP_CONTAINS("no answer to 'choose message' (3 tries of 300 ms)",
                  driver->health().why.c_str());
}

TEST(HipnucDialogue, AnswersAreFoundAmongData) {
  build();
  device->streams = true;
  device->mute = {"LOG DISABLE"};
  start(600ms);
  STRCMP_EQUAL("HI14R5 1.7.0", driver->health().about.c_str());
  CHECK_TRUE(driver->health().state == State::streaming);
  CHECK_TRUE(driver->health().balances());
}

TEST(HipnucDialogue, AnOlderModelThatStreamsIsHeardWithoutAnyAnswer) {
  build();
  device->streams = true;
  device->knows_commands = false;
  start(700ms);
  CHECK_TRUE(device->was_told("AT+EOUT=1"));
  CHECK_TRUE(driver->health().state == State::streaming);
  CHECK_TRUE(port->bauds.empty());
}

TEST(HipnucDialogue, ItIsFoundAtAnotherRate) {
  build();
  device->baud = 460'800;
  start(3s);
  LONGS_EQUAL(460'800, driver->health().baud);
  CHECK_TRUE(driver->health().state == State::streaming);
}

TEST(HipnucDialogue, SilenceIsNamed) {
  build();
  device->knows_commands = false;
  start(4s);
  CHECK_TRUE(driver->health().cause == Cause::no_bytes);
}

TEST(HipnucDialogue, AStoppedDeviceIsQuiet) {
  build();
  start(100ms);
  driver->stop(clock.now());
  run(50ms);
  CHECK_TRUE(driver->stopped());
  CHECK_FALSE(device->streams);
  CHECK_FALSE(device->was_told("AT+EOUT=0"));
}

TEST(HipnucDialogue, TheWireIsBudgetedByTheMessage) {
  DOUBLES_EQUAL(8200, Hipnuc::figures(options, 115'200).bytes_per_s, 0);
  set("message", "HI92");
  DOUBLES_EQUAL(5400, Hipnuc::figures(options, 115'200).bytes_per_s, 0);
  set("message", "HI81"), set("rate_hz", "10");
  DOUBLES_EQUAL(1100, Hipnuc::figures(options, 115'200).bytes_per_s, 0);
}
