// lidarctl probe on ptys, as a user would meet it: every family, several at a time. Every model at
// its own baud rate is looked at in simulated time (test/unit/probe_test.cpp); LIDARD_PROBE_ALL=1
// has them all here, too.
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "test/support/harness.h"
#include "test/support/loop.h"
#include "test/system/bench.h"
#include "test/system/json.h"
#include "test/system/net_bench.h"

using test::contains;
using test::Json;
using test::Process;
using test::Ran;
using test::Seconds;

namespace {

struct Case {
  const char* driver;
  const char* set;  // "key=value key=value"
  bool by_itself;
  const char* says;        // of the account of itself
  const char* model = "";  // that the options name
  bool is_subset = true;
};

constexpr Case kCases[] = {
    {"bluesea", "", false, "LDS-50C-2"},
    {"bluesea", "running=on format=AA", true, "LDS-50C-2", "", false},
    {"camsense_x1", "", true, ""},
    {"coin_d4", "running=on", true, "COIN-D4"},
    {"coin_d4", "", false, "COIN-D4", "", false},
    {"delta2", "model=2A", true, "16 packets"},
    {"delta2", "model=2G", true, "15 packets", "", false},
    {"hlds_lds01", "running=off", false, ""},
    {"hlds_lds01", "", true, "", "", false},
    {"hokuyo_scip", "model=UTM-30LX", false, "UTM-30LX"},
    {"hokuyo_scip", "model=URG-04LX", false, "URG-04LX", "", false},
    {"hokuyo_scip", "found=streaming", true, "URG-04LX", "", false},
    {"ldrobot", "model=LD19", true, "", "LD19"},
    {"ldrobot", "model=STL-27L", true, "", "STL-27L"},
    {"ldrobot", "model=LD14P running=off", false, "", "LD14P", false},
    {"lslidar_m10", "model=N10", false, "N10"},
    {"lslidar_m10", "model=M10P running=on", true, "M10P", "", false},
    {"microstrain_mip", "", false, "serial 6286.000042"},
    {"microstrain_mip", "model=gx5 streaming=on", true, "3DM-GX5", "", false},
    {"rplidar", "model=A1", false, "A1M8"},
    {"rplidar", "model=S2 streaming=on", true, "S2M1"},
    {"rplidar", "model=C1", false, "C1M1", "", false},
    {"xv11", "", true, ""},
    {"xv11", "firmware=2.1", true, "", "", false},
    {"ydlidar", "model=X4", false, "X4, model code 6"},
    {"ydlidar", "model=X2", true, "perhaps", "X2"},
    {"ydlidar", "model=TG15", false, "TG15", "", false},
    {"ydlidar", "model=TminiPro streaming=on", true, "TminiPro", "", false},
};
constexpr std::size_t kAtATime = 4;

}  // namespace

TEST_GROUP(SystemProbe) {
  test::Bench bench;

  struct Device {
    const Case* what;
    std::string name;
    std::unique_ptr<Process> device, probe, daemon;
  };

  std::unique_ptr<Process> simulate(const std::string& name, const Case& c) {
    std::vector<std::string> more;
    std::string set = c.set;
    while (!set.empty()) {
      const std::size_t end = set.find(' ');
      more.push_back("--set");
      more.push_back(set.substr(0, end));
      set = end == std::string::npos ? "" : set.substr(end + 1);
    }
    return bench.simulate_pty(name, c.driver, more);
  }

  void check(const Device& d) {
    const Case& c = *d.what;
    const std::string what =
        std::string(c.driver) + " " + c.set + ": " + d.probe->out() + d.probe->err();
    LONGS_EQUAL_TEXT(0, d.probe->wait(Seconds(20)).value_or(-1), what.c_str());
    const Json found = Json::parse(d.probe->out());
    STRCMP_EQUAL_TEXT(c.driver, found["driver"].string().c_str(), what.c_str());
    CHECK_TRUE_TEXT(found["streams"].boolean(), what.c_str());
    CHECK_EQUAL_TEXT(c.by_itself, found["by_itself"].boolean(), what.c_str());
    CHECK_TRUE_TEXT(contains(found["about"].string(), c.says), what.c_str());
    if (*c.model != '\0') {
      STRCMP_EQUAL_TEXT(c.model, found["options"]["model"].string().c_str(), what.c_str());
    }
    const std::string took = std::string(c.driver) + " " + c.set + ": found after";
    test::figure(took.c_str(), found["took_s"].number(), c.by_itself ? 3 : 10, "s");
    // As it stands.
    const std::string config = bench.file(d.name + ".yaml");
    test::write_file(config, found["config"].string());
    const Ran checked = bench.lidarctl({"check", config});
    LONGS_EQUAL_TEXT(0, checked.status, (found["config"].string() + checked.err).c_str());
  }

  // The daemon streams with what was printed, apart from its socket.
  void stream(Device & d) {
    const Json found = Json::parse(d.probe->out());
    const std::string config = bench.file(d.name + ".yaml"), socket = bench.file(d.name + ".sock");
    test::write_file(config, "stream: {unix: '" + socket + "'}\n" + found["config"].string());
    d.daemon = bench.lidard(config, d.name + ".daemon");
    test::StreamReader reader(socket);
    const char* const sensor = std::string(d.what->driver) == "microstrain_mip" ? "imu" : "lidar";
    const bool came =
        reader.read_until([&] { return reader.value(sensor, "state") == "streaming"; });
    if (!came) FAIL((found["config"].string() + d.daemon->err()).c_str());
    d.daemon->signal(SIGTERM);
  }
};

TEST(SystemProbe, EveryFamilyIsFoundAndTheDaemonStreamsWithWhatIsPrinted) {
  const bool all = std::getenv("LIDARD_PROBE_ALL") != nullptr;
  std::vector<const Case*> cases;
  for (const Case& c : kCases) {
    if (all || c.is_subset) cases.push_back(&c);
  }
  for (std::size_t at = 0; at < cases.size(); at += kAtATime) {
    std::vector<Device> devices;
    for (std::size_t i = at; i < std::min(cases.size(), at + kAtATime); ++i) {
      const std::string name = "p" + std::to_string(i);
      devices.push_back({cases[i], name, simulate(name, *cases[i]), nullptr, nullptr});
    }
    for (Device& d : devices) {
      d.probe = bench.start_lidarctl(d.name + ".probe", {"probe", bench.file(d.name), "--json"});
    }
    for (Device& d : devices) d.probe->wait(Seconds(20));
    for (Device& d : devices) check(d);
    for (Device& d : devices) stream(d);
  }
}

TEST(SystemProbe, WhatIsPrintedForPeopleIsAConfigurationToo) {
  const auto device = bench.simulate_pty("front", "ldrobot", {"--set", "model=LD06"});
  const Ran ran = bench.lidarctl({"probe", bench.file("front")});
  LONGS_EQUAL_TEXT(0, ran.status, ran.err.c_str());
  CHECK_TEXT(contains(ran.out, "# it streamed by itself"), ran.out.c_str());
  CHECK_TEXT(contains(ran.out, "model: LD19  # as fast: LD06"), ran.out.c_str());
  test::write_file(bench.file("printed.yaml"), ran.out);
  LONGS_EQUAL(0, bench.lidarctl({"check", bench.file("printed.yaml")}).status);
}

TEST(SystemProbe, APortThatIsMissingOrHeldIsToldAtOnce) {
  const Ran missing = bench.lidarctl({"probe", bench.file("none")});
  LONGS_EQUAL(66, missing.status);
  CHECK_TEXT(contains(missing.err, "no such port: is the device plugged in?"), missing.err.c_str());

  const auto device = bench.simulate_pty("front", "rplidar");
  const auto daemon = bench.lidard(bench.configure(bench.serial("front", "rplidar")));
  test::StreamReader stream(bench.socket());
  CHECK(stream.read_until([&] { return stream.value("front", "state") == "streaming"; }));
  const Ran held = bench.lidarctl({"probe", bench.file("front")});
  LONGS_EQUAL(66, held.status);
  CHECK_TEXT(contains(held.err, "held by"), held.err.c_str());
}

TEST(SystemProbe, NobodyThereIsToldWithinTenSecondsAndAsJsonToo) {
  const test::Pty silent;
  const Ran ran = bench.lidarctl({"probe", silent.path, "--json"});
  LONGS_EQUAL(1, ran.status);
  const Json json = Json::parse(ran.out);
  CHECK_FALSE(json["found"].boolean());
  DOUBLES_EQUAL(0, json["bytes"].number(), 0);
  CHECK_TEXT(contains(ran.err, "is the device powered"), ran.err.c_str());
  test::figure("nobody there, told after", ran.took.count(), 10.5, "s");
}

TEST(SystemProbe, ADeviceAtAnAddressIsFoundAndTheDaemonStreamsWithWhatIsPrinted) {
  const std::string tcp = "127.0.0.1:" + std::to_string(test::free_udp_port());
  const std::string udp = "127.0.0.1:" + std::to_string(test::free_udp_port());
  const auto hokuyo =
      bench.simulate("hokuyo", {"hokuyo_scip", "--tcp", tcp, "--set", "model=UTM-30LX"});
  const std::string control = "127.0.0.1:" + std::to_string(test::free_tcp_port());
  const auto rplidar = bench.simulate("rplidar", {"rplidar", "--udp", udp, "--set", "model=S2E"});
  const auto safety =
      bench.simulate("safety", {"sick_safety", "--tcp", control, "--udp", "127.0.0.1:0"});
  // It answers the driver of its relatives, too, which says whose it is.
  const std::string scan = "127.0.0.1:" + std::to_string(test::free_tcp_port());
  const auto compact =
      bench.simulate("compact", {"sick_compact", "--tcp", scan, "--udp", "127.0.0.1:0"});
  for (const auto& [place, driver] : {std::pair{"tcp:" + tcp, "hokuyo_scip"},
                                      {"tcp:" + scan, "sick_compact"},
                                      {"udp:" + udp, "rplidar"},
                                      {"tcp:" + control, "sick_safety"}}) {
    Device d{nullptr, driver, nullptr, nullptr, nullptr};
    const Case c{driver, "", false, ""};
    d.what = &c;
    d.probe = bench.start_lidarctl(d.name + ".probe", {"probe", place, "--json"});
    check(d);
    stream(d);
  }
}

TEST(SystemProbe, WhoSendsDatagramsIsListedWithAConfiguration) {
  const int port = test::free_udp_port(), own = test::free_udp_port();
  const auto device =
      bench.simulate("front", {"ldrobot", "--udp", "127.0.0.1:" + std::to_string(own), "--to",
                               "127.0.0.1:" + std::to_string(port)});
  const std::string number = std::to_string(port);
  const Ran ran = bench.lidarctl({"probe", "udp", "--port", number});
  LONGS_EQUAL_TEXT(0, ran.status, ran.err.c_str());
  const std::string from = "# 127.0.0.1:" + std::to_string(own) + " to port " + number;
  CHECK_TEXT(contains(ran.out, from), ran.out.c_str());
  CHECK_TEXT(contains(ran.out, "ldrobot (likeness 1.00 of 1)"), ran.out.c_str());
  test::write_file(bench.file("printed.yaml"), ran.out);
  const Ran checked = bench.lidarctl({"check", bench.file("printed.yaml")});
  LONGS_EQUAL_TEXT(0, checked.status, (ran.out + checked.err).c_str());
  const Json json = Json::parse(bench.lidarctl({"probe", "udp", "--port", number, "--json"}).out);
  STRCMP_EQUAL("ldrobot", json["senders"][0]["driver"].string().c_str());
}

TEST(SystemProbe, NobodyOnTheNetworkIsToldWithTheRemedy) {
  const std::string free = std::to_string(test::free_udp_port());
  const Ran refused = bench.lidarctl({"probe", "tcp:127.0.0.1:" + free});
  LONGS_EQUAL(1, refused.status);
  CHECK_TEXT(contains(refused.err, "nothing listens on this port there"), refused.err.c_str());
  const Ran silent = bench.lidarctl({"probe", "udp", "--port", free});
  LONGS_EQUAL(1, silent.status);
  CHECK_TEXT(contains(silent.err, "no datagram came within 3 s, at UDP port " + free),
             silent.err.c_str());
  LONGS_EQUAL(64, bench.lidarctl({"probe", "tcp:lidar.local"}).status);
  LONGS_EQUAL(64, bench.lidarctl({"probe", "/dev/null", "--port", "7"}).status);
}
