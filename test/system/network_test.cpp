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

TEST(SystemNetwork, SickOverTcp) {
  bench.meets({"sick_cola", "port: 'tcp:{tcp}'", {"--set", "model=LMS111"}});
}

TEST(SystemNetwork, SickThatSpeaksTextOverTcp) {
  bench.meets({"sick_cola", "port: 'tcp:{tcp}'", {"--set", "model=TiM781S", "--set", "dialect=a"}});
}

TEST(SystemNetwork, PicoScanOverUdpWithControl) {
  bench.meets({"sick_compact",
               "port: 'udp:127.0.0.1:{data}', control: 'tcp:{tcp}'",
               {"--udp", "127.0.0.1:0"},
               {"points", "imu"}});
}

TEST(SystemNetwork, PepperlFuchsOverUdpWithControl) {
  bench.meets({"pepperl_fuchs",
               "port: 'udp:127.0.0.1:{data}', control: 'tcp:{tcp}'",
               {"--udp", "127.0.0.1:0"}});
}

TEST(SystemNetwork, PepperlFuchsOverTcpWithControl) {
  bench.meets({"pepperl_fuchs",
               "port: 'tcp:127.0.0.1:{data}', control: 'tcp:{tcp}'",
               {"--udp", "127.0.0.1:0"}});
}

TEST(SystemNetwork, PepperlFuchsThatDamages) {
  bench.survives_bad_datagrams({"pepperl_fuchs",
                                "port: 'udp:127.0.0.1:{data}', control: 'tcp:{tcp}'",
                                {"--udp", "127.0.0.1:0"}});
}

TEST(SystemNetwork, PicoScanThatDamages) {
  bench.survives_bad_datagrams({"sick_compact",
                                "port: 'udp:127.0.0.1:{data}', control: 'tcp:{tcp}'",
                                {"--udp", "127.0.0.1:0"}});
}

TEST(SystemNetwork, PicoScanThatIsListenedTo) {
  bench.meets({"sick_compact",
               "port: 'udp:127.0.0.1:{data}', from: '127.0.0.1'",
               {"--udp", "127.0.0.1:0", "--tcp", "127.0.0.1:0", "--to", "127.0.0.1:{data}"}});
}

TEST(SystemNetwork, LakibeamOverUdp) {
  bench.meets({"lakibeam", "port: 'udp:{data}'", {"--to", "127.0.0.1:{data}"}});
}

TEST(SystemNetwork, LslidarN301OverUdp) {
  bench.meets({"lslidar_n301", "port: 'udp:{data}'", {"--to", "127.0.0.1:{data}"}});
}

TEST(SystemNetwork, LeuzeOverUdp) {
  bench.meets({"leuze_rsl", "port: 'udp:{data}'", {"--to", "127.0.0.1:{data}"}});
}

TEST(SystemNetwork, VanjeeOverUdp) { bench.meets({"vanjee", "port: 'udp:0', from: '{udp}'"}); }

TEST(SystemNetwork, VanjeeOverTcp) { bench.meets({"vanjee", "port: 'tcp:{tcp}'"}); }

TEST(SystemNetwork, LslidarM10OverUdp) {
  bench.meets({"lslidar_m10", "port: 'udp:0', from: '{udp}'", {"--set", "model=M10"}});
}

TEST(SystemNetwork, LslidarM10OverUdpThatDamages) {
  bench.survives_bad_datagrams(
      {"lslidar_m10", "port: 'udp:0', from: '{udp}'", {"--set", "model=N10"}});
}

TEST(SystemNetwork, BlueseaOverUdp) {
  bench.meets(
      {"bluesea", "port: 'udp:0', from: '{udp}'", {"--set", "format=C7", "--set", "parts=2"}});
}

TEST(SystemNetwork, SafetyScannerOverUdpWithControl) {
  bench.meets({"sick_safety",
               "port: 'udp:127.0.0.1:{data}', control: 'tcp:{tcp}'",
               {"--udp", "127.0.0.1:0"}});
}

TEST(SystemNetwork, SafetyScannerThatDamages) {
  bench.survives_bad_datagrams({"sick_safety",
                                "port: 'udp:127.0.0.1:{data}', control: 'tcp:{tcp}'",
                                {"--udp", "127.0.0.1:0", "--set", "model=outdoorScan3"}});
}

TEST(SystemNetwork, SafetyScannerThatIsListenedTo) {
  bench.meets({"sick_safety",
               "port: 'udp:127.0.0.1:{data}', from: '127.0.0.1'",
               {"--udp", "127.0.0.1:0", "--tcp", "127.0.0.1:0", "--to", "127.0.0.1:{data}"}});
}

TEST(SystemNetwork, TwoDevicesSendToOnePort) {
  const std::string data = std::to_string(test::free_udp_port());
  const std::string to = "127.0.0.1:" + data;
  const auto one = bench.simulate("one", {"ldrobot", "--udp", "127.0.0.2:0", "--to", to});
  const auto two = bench.simulate("two", {"ldrobot", "--udp", "127.0.0.3:0", "--to", to});
  const auto daemon = bench.lidard(
      bench.configure("  one: {driver: ldrobot, port: 'udp:" + data + "', from: 127.0.0.2}\n" +
                      "  two: {driver: ldrobot, port: 'udp:" + data + "', from: 127.0.0.3}\n"));
  test::StreamReader stream(bench.socket());
  const bool both = stream.read_until([&] {
    return stream.topic("/one/points").messages > 5 && stream.topic("/two/points").messages > 5 &&
           stream.count("one", "wire.bytes") > 0;
  });
  CHECK_TRUE(both);
  for (const char* const name : {"one", "two"}) {
    LONGS_EQUAL(0, stream.count(name, "wire.rejected_datagrams"));
    LONGS_EQUAL(0, stream.count(name, "wire.garbage_bytes"));
  }
}

TEST(SystemNetwork, WhoSendsInTheDevicesPlaceIsNamed) {
  const std::string data = std::to_string(test::free_udp_port());
  const auto stranger =
      bench.simulate("stranger", {"ldrobot", "--udp", "127.0.0.9:0", "--to", "127.0.0.1:" + data});
  const auto daemon = bench.lidard(
      bench.configure("  net: {driver: ldrobot, port: 'udp:" + data + "', from: 127.0.0.2}\n"));
  test::StreamReader stream(bench.socket());
  const std::string expected = "datagrams come from 127.0.0.9, not from 127.0.0.2: set from";
  CHECK_TRUE(stream.read_until([&] { return stream.message("net") == expected; }));
  CHECK_TRUE(test::contains(stream.value("net", "port.last_rejected"), "127.0.0.9:"));
  CHECK_TRUE(test::wait_for([&] { return test::contains(daemon->err(), expected); }));
}

TEST(SystemNetwork, WhoHasThePortIsNamed) {
  const std::string data = std::to_string(test::free_udp_port());
  const auto other = bench.simulate("other", {"ldrobot", "--udp", "127.0.0.1:" + data});
  const auto daemon = bench.lidard(
      bench.configure("  net: {driver: ldrobot, port: 'udp:127.0.0.1:" + data + "'}\n"));
  const std::string expected =
      "already used by lidarctl (pid " + std::to_string(other->pid()) + ")";
  CHECK_TRUE(test::wait_for([&] { return test::contains(daemon->err(), expected); }));
}

TEST(SystemNetwork, SickColaOverTcp) { bench.meets({"sick_cola", "port: 'tcp:{tcp}'"}); }
