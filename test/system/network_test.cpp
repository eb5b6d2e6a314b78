// Devices on the network as users meet them: daemon and device are processes of their own, and the
// loopback network is between them. A driver adds one line per kind of connection it has.
#include "test/support/harness.h"
#include "test/system/net_bench.h"

TEST_GROUP(SystemNetwork) { test::NetBench bench; };

TEST(SystemNetwork, RplidarOverUdp) {
  bench.meets({"rplidar", "port: 'udp:0', from: '{udp}'", {"--set", "model=S2E"}});
}

TEST(SystemNetwork, RplidarOverUdpThatDamages) {
  bench.survives_bad_datagrams({"rplidar", "port: 'udp:0', from: '{udp}'", {"--set", "model=S2E"}});
}

TEST(SystemNetwork, HokuyoOverTcp) {
  bench.meets({"hokuyo_scip", "port: 'tcp:{tcp}'", {"--set", "model=UTM-30LX"}});
}
