#include "hal/make_port.h"

#include <string>

#include "test/support/harness.h"
#include "test/support/loop.h"

TEST_GROUP(MakePort) { test::RealLoop real; };

TEST(MakePort, MakesThePortThatTheSpecNames) {
  for (const char* text : {"serial:/dev/ttyUSB0", "udp:127.0.0.1:2368", "tcp:10.0.0.1:2112"}) {
    hal::PortOptions options;
    options.spec = *hal::parse_port_spec(text);
    STRCMP_EQUAL(text, std::string(hal::make_port(real.loop, options)->name()).c_str());
  }
}

TEST(MakePort, HandsThePeerToUdp) {
  hal::PortOptions options;
  options.spec = *hal::parse_port_spec("udp:127.0.0.1:0");
  options.peer = *hal::parse_host_port("127.0.0.1:9");
  test::PortLog log;
  const auto port = hal::make_port(real.loop, options);
  port->open(log);
  CHECK_TRUE(static_cast<bool>(port->write(test::view_of("x"))));
}
