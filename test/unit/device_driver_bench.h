// A DeviceDriver of a tiny device on a port whose other end is the test.
#pragma once

#include "drivers/device_driver.h"
#include "test/support/fake_port.h"
#include "test/support/harness.h"
#include "test/support/hex.h"
#include "test/support/manual_clock.h"
#include "test/support/packet_log.h"
#include "test/support/tiny_device.h"

namespace test {

struct DriverBench : Utest {
  test::ManualClock clock;
  test::PacketLog log;
  drivers::Options options{std::span<const drivers::OptionSpec>{}};
  test::FakePort* port = nullptr;
  test::FakePort* control = nullptr;  // null: none
  std::unique_ptr<drivers::Driver> driver;

  template <class D>
  void build(int baud = 115200, bool with_control = false) {
    drivers::DriverSetup setup;
    setup.first_sensor = 3;
    setup.baud = baud;
    setup.sink = &log;
    port = add(setup, drivers::Channel::data);
    control = with_control ? add(setup, drivers::Channel::control) : nullptr;
    driver = drivers::make_driver<D>(options, std::move(setup));
  }
  test::FakePort* add(drivers::DriverSetup& setup, drivers::Channel channel) {
    auto owned = std::make_unique<test::FakePort>(clock);
    test::FakePort* const made = owned.get();
    setup.ports[static_cast<std::size_t>(channel)] = std::move(owned);
    return made;
  }
  void deliver(const std::vector<std::byte>& bytes) { port->deliver(bytes); }
  void tick(hal::Duration d) {
    constexpr hal::Duration kMost = std::chrono::milliseconds(20);
    for (; d > kMost; d -= kMost) driver->tick(clock.advance(kMost));
    driver->tick(clock.advance(d));
  }
  drivers::Health health() { return driver->health(); }
  void is(drivers::State state) { STRCMP_EQUAL(name(state), name(health().state)); }
  void why_is(drivers::Cause cause, const char* words) {
    STRCMP_EQUAL(drivers::name(cause), drivers::name(health().cause));
    STRCMP_EQUAL(words, health().why.c_str());
  }
  void books_balance() {
    CHECK_TRUE(health().balances());
    LONGS_EQUAL(health().packets, log.ids.size());
  }
};

}  // namespace test
