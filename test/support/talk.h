// A driver whose device is a function of the test: it is given what is written and gives what comes
// back, in simulated time.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string_view>

#include "drivers/device_driver.h"
#include "test/support/fake_port.h"
#include "test/support/harness.h"
#include "test/support/hex.h"
#include "test/support/manual_clock.h"
#include "test/support/packet_log.h"

namespace test {

template <class D>
class Talk {
 public:
  using Octets = std::vector<std::byte>;
  using Answer = std::function<Octets(const Octets& request)>;  // empty: it is silent

  explicit Talk(Answer answer, int baud = 115'200) : answer_(std::move(answer)), baud_(baud) {}

  void set(std::string_view key, std::string_view value) {
    CHECK_TRUE(static_cast<bool>(options_.set(key, value)));
  }
  void start() {
    drivers::DriverSetup setup;
    auto owned = std::make_unique<FakePort>(clock);
    port = owned.get();
    setup.ports[0] = std::move(owned);
    setup.baud = baud_;
    setup.sink = &log;
    driver = drivers::make_driver<D>(options_, std::move(setup));
    driver->start(clock.now());
    answer();
  }
  void run(hal::Duration length) {
    for (const hal::Time end = clock.now() + length; clock.now() < end;) {
      driver->tick(clock.advance(std::chrono::milliseconds(10)));
      answer();
    }
  }
  bool wrote(std::string_view hex_bytes) const {
    return std::ranges::find(port->writes, hex(hex_bytes)) != port->writes.end();
  }
  drivers::Health health() const { return driver->health(); }

  ManualClock clock;
  PacketLog log;
  std::unique_ptr<drivers::Driver> driver;
  FakePort* port = nullptr;

 private:
  void answer() {
    for (; answered_ < port->writes.size(); ++answered_) {
      const Octets request = port->writes[answered_], reply = answer_(request);
      if (!reply.empty()) port->deliver(reply);
    }
  }

  Answer answer_;
  const int baud_;
  drivers::Options options_{D::options()};
  std::size_t answered_ = 0;
};

}  // namespace test
