#include <map>
#include <memory>
#include <set>

#include "drivers/um7/um7.h"
#include "test/support/fake_port.h"
#include "test/support/harness.h"
#include "test/support/manual_clock.h"
#include "test/support/packet_log.h"
#include "test/support/um7_packet.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::joined;
using namespace test::um7;

namespace {

unsigned at(const Octets& b, std::size_t i) { return std::to_integer<unsigned>(b[i]); }

// The other end of the line: registers that are written and read.
struct Registers {
  explicit Registers(test::FakePort& p) : port(p) {}

  void answer() {
    while (done < port.writes.size()) {
      const Octets request = port.writes[done++];
      for (std::size_t i = 0; i + 7 <= request.size();) {
        const bool writes = (at(request, i + 3) & 0x80) != 0;
        hear(Octets(request.begin() + static_cast<std::ptrdiff_t>(i), request.end()), writes);
        i += writes ? 11 : 7;
      }
    }
  }
  void hear(const Octets& r, bool writes) {
    const unsigned address = at(r, 4);
    if (mute.contains(address)) return;
    if (address == 0xAB) port.deliver(packet(commits ? 0 : 1, 0xAB));
    if (address == 0xAA) port.deliver(packet(0x80, 0xAA, {0x55373143}));
    if (address > 8) return;
    if (!writes) return port.deliver(packet(0x80, address, {registers[address]}));
    if (failing.contains(address)) return port.deliver(packet(1, address));
    if (!stubborn.contains(address)) {
      registers[address] = at(r, 5) << 24 | at(r, 6) << 16 | at(r, 7) << 8 | at(r, 8);
    }
    port.deliver(packet(0, address));
  }

  test::FakePort& port;
  std::size_t done = 0;
  std::map<unsigned, std::uint32_t> registers{{8, 0x101}, {3, 0x05050500}, {7, 0x10}};
  std::set<unsigned> mute, failing, stubborn;
  bool commits = true;
};

}  // namespace

TEST_GROUP(Um7Dialogue) {
  test::ManualClock clock;
  test::PacketLog log;
  Options options{Um7::options()};
  std::unique_ptr<Driver> driver;
  test::FakePort* port = nullptr;
  std::unique_ptr<Registers> device;

  void build() {
    DriverSetup setup;
    auto owned = std::make_unique<test::FakePort>(clock);
    port = owned.get();
    setup.ports[0] = std::move(owned);
    setup.baud = 115200;
    setup.sink = &log;
    driver = make_driver<Um7>(options, std::move(setup));
    device = std::make_unique<Registers>(*port);
  }
  void set(std::string_view key, std::string_view value) {
    CHECK_TRUE(static_cast<bool>(options.set(key, value)));
  }
  void run(hal::Duration d, bool answers = true) {
    for (const hal::Time end = clock.now() + d; clock.now() < end;) {
      driver->tick(clock.advance(10ms));
      if (answers) device->answer();
    }
  }
  void start(hal::Duration d = 50ms) {
    driver->start(clock.now());
    run(d);
  }
  bool wrote(const Octets& request) {
    return std::ranges::find(port->writes, request) != port->writes.end();
  }
  void why_is(const char* expected) { STRCMP_EQUAL(expected, driver->health().why.c_str()); }
};

TEST(Um7Dialogue, EveryRateIsWrittenAndReadBack) {
  build();
  start();
  CHECK_TRUE(port->writes.at(0) == hex("73 6E 70 00 AA 01 FB"));
  LONGS_EQUAL(18, port->writes.size());
  LONGS_EQUAL(100, device->registers[4]);
  LONGS_EQUAL(0x64000000, device->registers[5]);
  LONGS_EQUAL(0x00040000, device->registers[6]);
  for (const unsigned off : {1, 2, 3, 7}) LONGS_EQUAL(0, device->registers[off]);
  LONGS_EQUAL(0x103, device->registers[8]);  // what else was set stays
  STRCMP_EQUAL("UM7, firmware U71C", driver->health().about.c_str());
  port->deliver(joined(processed(1), attitude(1)));
  CHECK_TRUE(driver->health().state == State::streaming);
}

TEST(Um7Dialogue, WithoutTheAttitudeNeitherItsRateNorTheFiltersMannerIsTouched) {
  set("orientation", "false");
  set("rate_hz", "150");
  build();
  start();
  LONGS_EQUAL(150, device->registers[4]);
  LONGS_EQUAL(0, device->registers[5]);
  LONGS_EQUAL(0x101, device->registers[8]);
}

TEST(Um7Dialogue, AnswersAreFoundAmongBroadcasts) {
  build();
  driver->start(clock.now());
  for (int i = 0; i < 40; ++i) {
    driver->tick(clock.advance(10ms));
    port->deliver(joined(processed(0.01 * i), attitude(0.01 * i)));
    if (i > 3) device->answer();
  }
  CHECK_TRUE(driver->health().state == State::streaming);
  CHECK_TRUE(driver->health().unwanted > 0);
  CHECK_TRUE(driver->health().balances());
}

TEST(Um7Dialogue, ARefusalIsNamedByItsRegister) {
  build();
  device->failing = {5};
  start();
  CHECK_TRUE(driver->health().cause == Cause::refused);
  why_is("the device refused 'write settings': it cannot write register 5");
}

TEST(Um7Dialogue, WhatIsNotKeptIsTold) {
  build();
  device->stubborn = {4};
  start();
  why_is("the device refused 'read settings': register 4 reads 0x00000000, 0x00000064 was written");
}

TEST(Um7Dialogue, FlashIsWrittenOnlyWhereItIsWanted) {
  build();
  start();
  CHECK_FALSE(wrote(packet(0, 0xAB)));
  set("save", "true");
  build();
  start();
  CHECK_TRUE(wrote(packet(0, 0xAB)));
  build();
  device->commits = false;
  start();
  why_is("the device refused 'save settings': it cannot write its flash");
}

TEST(Um7Dialogue, AFaultOfTheDeviceIsToldInWords) {
  build();
  start();
  port->deliver(joined(processed(1), attitude(1)));
  port->deliver(packet(0x80, 85, {8}));
  CHECK_TRUE(driver->health().cause == Cause::device_fault);
  STRCMP_CONTAINS("its accelerometer did not start (health 0x8)", driver->health().why.c_str());
}

TEST(Um7Dialogue, StopEndsTheBroadcasts) {
  build();
  start();
  port->deliver(joined(processed(1), attitude(1)));
  driver->stop(clock.now());
  CHECK_FALSE(driver->stopped());
  device->answer();
  CHECK_TRUE(driver->stopped());
  for (const unsigned off : {4, 5, 6}) LONGS_EQUAL(0, device->registers[off]);
}

TEST(Um7Dialogue, WithoutAnAnswerTheOtherRatesAreTried) {
  build();
  device->mute = {0xAA};
  start(5s);
  STRCMP_CONTAINS("no answer to 'get firmware' (3 tries of 200 ms at each baud rate it knows)",
                  driver->health().why.c_str());
}
