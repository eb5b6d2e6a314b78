#include "hal/port_spec.h"

#include <string>

#include "test/support/harness.h"

using hal::PortSpec;

TEST_GROUP(PortSpec){PortSpec good(std::string_view text){
    const hal::Result<PortSpec> spec = hal::parse_port_spec(text);
if (!spec) FAIL(spec.error().detail.c_str());
STRCMP_EQUAL(std::string(text).c_str(), hal::to_string(*spec).c_str());
return *spec;
}
void bad(std::string_view text, const char* because) {
  const hal::Result<PortSpec> spec = hal::parse_port_spec(text);
  CHECK_FALSE_TEXT(static_cast<bool>(spec), std::string(text).c_str());
  CHECK_TRUE(spec.error().code == hal::Errc::bad_config);
  STRCMP_CONTAINS(because, spec.error().detail.c_str());
}
}
;

TEST(PortSpec, NamesASerialPath) {
  const PortSpec spec = good("serial:/dev/serial/by-path/pci-0000:00:14.0-usb-0:2:1.0-port0");
  CHECK_TRUE(spec.kind == PortSpec::Kind::serial);
  STRCMP_EQUAL("/dev/serial/by-path/pci-0000:00:14.0-usb-0:2:1.0-port0", spec.path.c_str());
}

TEST(PortSpec, NamesAUdpPortWithOrWithoutWhereToListen) {
  LONGS_EQUAL(2368, good("udp:2368").port);
  STRCMP_EQUAL("", good("udp:2368").host.c_str());
  STRCMP_EQUAL("239.1.1.1", good("udp:239.1.1.1:2368").host.c_str());
  LONGS_EQUAL(0, good("udp:0").port);
}

TEST(PortSpec, NamesATcpHostAndPort) {
  const PortSpec spec = good("tcp:192.168.0.1:2112");
  CHECK_TRUE(spec.kind == PortSpec::Kind::tcp);
  STRCMP_EQUAL("192.168.0.1", spec.host.c_str());
  LONGS_EQUAL(2112, spec.port);
}

TEST(PortSpec, RefusesWhatItDoesNotKnowAndSaysWhatItExpects) {
  bad("", "expected serial:PATH");
  bad("usb:/dev/ttyUSB0", "expected serial:PATH");
  bad("/dev/ttyUSB0", "expected serial:PATH");
  bad("serial:", "absolute path");
  bad("serial:ttyUSB0", "absolute path");
  bad("udp:", "0 to 65535");
  bad("udp:65536", "0 to 65535");
  bad("udp:-1", "0 to 65535");
  bad("udp:23x", "0 to 65535");
  bad("tcp:192.168.0.1", "1 to 65535");
  bad("tcp:192.168.0.1:0", "1 to 65535");
  bad("tcp::2112", "tcp:HOST:PORT");
}

TEST(PortSpec, LooksUpNoNames) {
  bad("tcp:lidar.local:2112", "names are not looked up");
  bad("udp:localhost:2368", "names are not looked up");
  bad("udp:192.168.0.256:2368", "not an IPv4 address");
}

TEST(PortSpec, SplitsHostAndPort) {
  const auto both = hal::parse_host_port("10.0.0.1:2105");
  CHECK_TRUE(static_cast<bool>(both));
  STRCMP_EQUAL("10.0.0.1", both->host.c_str());
  LONGS_EQUAL(2105, both->port);
  LONGS_EQUAL(0, hal::parse_host_port("10.0.0.1")->port);
  CHECK_FALSE(static_cast<bool>(hal::parse_host_port(":2105")));
  CHECK_FALSE(static_cast<bool>(hal::parse_host_port("10.0.0.1:0")));
  CHECK_FALSE(static_cast<bool>(hal::parse_host_port("")));
}
