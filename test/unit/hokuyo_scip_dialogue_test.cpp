// What is said to a SCIP device, with answers from the description of the protocol.
#include "drivers/hokuyo_scip/hokuyo_scip.h"
#include "test/support/scip_text.h"
#include "test/unit/device_driver_bench.h"

using namespace drivers;
using namespace std::chrono_literals;
using namespace test::scip;

namespace {

const std::string kQuiet = "QT\n00P\n\n";
const std::string kState =
    info("II", {"MODL:URG-04LX-UG01", "LASR:OFF", "STAT:Sensor works well."});

std::vector<unsigned> distances() { return std::vector<unsigned>(682, 1500); }

}  // namespace

TEST_GROUP_BASE(HokuyoScipDialogue, test::DriverBench) {
  int ms = 0;  // of the device's clock

  void setup() override { options = Options(HokuyoScip::options()); }
  void set(std::string_view key, std::string_view value) {
    CHECK_TRUE(static_cast<bool>(options.set(key, value)));
  }
  void run(int baud = 115'200) {
    build<HokuyoScip>(baud);
    driver->start(clock.now());
  }
  void asked(const char* request) {
    CHECK_FALSE(port->writes.empty());
    const auto& b = port->writes.back();
    const std::string last(reinterpret_cast<const char*>(b.data()), b.size());
    STRCMP_EQUAL((std::string(request) + "\n").c_str(), last.c_str());
  }
  void answer(const char* request, const std::string& text) {
    asked(request);
    deliver(bytes(text));
  }
  void introduce() {
    answer("VV", kUrgVersion);
    answer("PP", urg_parameters());
    answer("II", kState);
  }
  // The device's clock is 123456 ms ahead of the test's.
  void synchronise() {
    answer("TM0", "TM0\n00P\n\n");
    for (int i = 0; i < 8; ++i) {
      tick(1ms);
      const auto now = hal::to_ns(clock.now()) / 1'000'000 + 123'456;
      answer("TM1", "TM1\n00P\n" + checked(number(unsigned(now), 4)) + "\n");
    }
    answer("TM2", "TM2\n00P\n\n");
  }
  void stream(int scans = 5, const char* echo = "MD0044072501000") {
    for (int i = 0; i < scans; ++i) {
      tick(100ms);
      deliver(bytes(scan(echo, unsigned(ms += 100), distances())));
    }
  }
  void start() {
    run();
    answer("QT", kQuiet);
    introduce();
    synchronise();
    answer("MD0044072501000", "MD0044072501000\n00P\n\n");
  }
};

TEST(HokuyoScipDialogue, IsStoppedAskedSynchronisedAndStarted) {
  start();
  stream();
  is(State::streaming);
  STRCMP_CONTAINS("URG-04LX-UG01, firmware 3.4.03, serial H1510998, 10 Hz", health().about.c_str());
  LONGS_EQUAL(5, log.slices.size());
  LONGS_EQUAL(682, log.beams[0].size());
  books_balance();
}

TEST(HokuyoScipDialogue, AStreamThatRunsAtStartIsStoppedFirst) {
  run();
  const std::string old = scan("MD0044072501000", 100, distances());
  deliver(bytes(old.substr(500)));
  deliver(bytes(old + old.substr(0, 300) + kQuiet));
  introduce();
  LONGS_EQUAL(0, log.slices.size());
  LONGS_EQUAL(1, health().unwanted);
  books_balance();
}

TEST(HokuyoScipDialogue, TheStreamIsTheAnswerWhereThatGotLost) {
  set("time_sync", "false");
  run();
  answer("QT", kQuiet);
  introduce();
  asked("MD0044072501000");
  stream();
  is(State::streaming);
  LONGS_EQUAL(4, log.slices.size());
  LONGS_EQUAL(1, health().unwanted);  // that which answered
}

TEST(HokuyoScipDialogue, IsFoundAtAnotherRateWhichIsChanged) {
  set("time_sync", "false");
  run(115'200);
  tick(200ms);
  tick(200ms);
  LONGS_EQUAL(19'200, health().baud);
  answer("QT", kQuiet);
  answer("SS115200", "SS115200\n00P\n\n");
  LONGS_EQUAL(115'200, health().baud);
  asked("SS115200");
  tick(160ms);
  answer("QT", kQuiet);
  introduce();
  asked("MD0044072501000");
}

TEST(HokuyoScipDialogue, ADeviceThatTookARateAndWasNotHeardIsFoundThere) {
  set("time_sync", "false");
  run(115'200);
  tick(400ms);
  answer("QT", kQuiet);
  tick(600ms);  // its answer got lost
  LONGS_EQUAL(115'200, health().baud);
  tick(160ms);
  answer("QT", kQuiet);
  introduce();
  asked("MD0044072501000");
}

TEST(HokuyoScipDialogue, ADeviceThatDidNotHearTheRateIsFoundAtItsOwn) {
  set("time_sync", "false");
  run(115'200);
  tick(400ms);
  answer("QT", kQuiet);
  tick(600ms);
  tick(160ms);
  tick(240ms);
  LONGS_EQUAL(19'200, health().baud);
  answer("QT", kQuiet);
  introduce();
  asked("MD0044072501000");
}

TEST(HokuyoScipDialogue, TheClockIsAskedAgainByItsStateEvery30Seconds) {
  start();
  for (const char* time : {"01E240", "0N90", "nonsense", ""}) {
    stream(299);
    tick(100ms);
    for (int i = 0; i < 4; ++i) {
      answer("II", info("II", {"MODL:URG-04LX-UG01", std::string("TIME:") + time}));
    }
    is(State::streaming);
  }
  stream(10);
  is(State::streaming);
  LONGS_EQUAL(4 * 299 + 10, log.slices.size());
  books_balance();
}

TEST(HokuyoScipDialogue, ARateThatItLacksIsRefusedWithThatWhichItHas) {
  run(57'600);
  tick(400ms);
  answer("QT", kQuiet);
  answer("SS057600", reply("SS057600", "02"));
  is(State::backoff);
  STRCMP_EQUAL("the device refused 'set baud rate': it has no rate of 57600 baud: configure 19200",
               health().why.c_str());
}

TEST(HokuyoScipDialogue, ADeviceOfScip1IsAskedForScip2) {
  run();
  answer("QT", "QT\nE\n\n");
  answer("SCIP2.0", "SCIP2.0\n0\n\n");
  introduce();
}

TEST(HokuyoScipDialogue, ADeviceThatStaysWithScip1IsNamed) {
  run();
  answer("QT", "QT\nE\n\n");
  answer("SCIP2.0", "SCIP2.0\nE\n\n");
  answer("VV", "VV\nE\n\n");
  is(State::backoff);
  STRCMP_CONTAINS("'get version': status E, which is SCIP 1.1", health().why.c_str());
}

TEST(HokuyoScipDialogue, ADeviceLeftInTimeAdjustmentIsTakenOutOfIt) {
  run();
  answer("QT", "QT\n0Ee\n\n");
  answer("TM2", "TM2\n00P\n\n");
  introduce();
}

TEST(HokuyoScipDialogue, ADeviceWithoutTimeAdjustmentStartsAllTheSame) {
  run();
  answer("QT", kQuiet);
  introduce();
  answer("TM0", "TM0\n0Ee\n\n");
  asked("MD0044072501000");
}

TEST(HokuyoScipDialogue, ADeviceThatDoesNotTellItsTimeStartsAllTheSame) {
  run();
  answer("QT", kQuiet);
  introduce();
  answer("TM0", "TM0\n00P\n\n");
  tick(100ms);
  tick(100ms);
  answer("TM2", "TM2\n00P\n\n");
  asked("MD0044072501000");
}

// 70 ms pass between a scan's end and its arrival, on a line of which nobody knows that.
TEST(HokuyoScipDialogue, TheExchangeBoundsTheLatencyOfTheStamps) {
  start();
  const hal::Duration off = 123'456ms;
  for (int i = 0; i < 30; ++i) {
    tick(100ms);
    const auto first = clock.now() - 70ms - hal::from_seconds(0.1 * 681 / 1024);
    const auto stamp = (hal::to_ns(first) + off.count()) / 1'000'000;
    deliver(bytes(scan("MD0044072501000", unsigned(stamp), distances())));
    CHECK_TRUE(std::chrono::abs(log.slices.back().first - first) < 2500us);
  }
  STRCMP_CONTAINS(", clock known to ", health().about.c_str());
}

// The stamp is that of another step: only the exchange shows where the beams lie.
TEST(HokuyoScipDialogue, TheStampIsThatOfTheConfiguredStep) {
  const std::pair<const char*, int> kSteps[] = {{"first", 0}, {"rear", 172}, {"last", -681}};
  for (const auto& [at, steps] : kSteps) {
    set("stamp", at);
    start();
    for (int i = 0; i < 30; ++i) {
      tick(100ms);
      const auto first = clock.now() - 150ms;
      const auto stamped = first - hal::from_seconds(0.1 * steps / 1024);
      const auto stamp = (hal::to_ns(stamped) + hal::Duration(123'456ms).count()) / 1'000'000;
      deliver(bytes(scan("MD0044072501000", unsigned(stamp), distances())));
      CHECK_TRUE_TEXT(std::chrono::abs(log.slices.back().first - first) < 3ms, at);
    }
    log = {};
  }
}

// Before the start an answer takes 40 ms, later none.
TEST(HokuyoScipDialogue, TheTimeThatItsStateTellsNarrowsTheLatency) {
  for (const bool hexadecimal : {true, false}) {
    run();
    answer("QT", kQuiet);
    introduce();
    answer("TM0", "TM0\n00P\n\n");
    const auto clock_ms = [&] { return unsigned(hal::to_ns(clock.now()) / 1'000'000 % (1 << 24)); };
    for (int i = 0; i < 8; ++i) {
      const unsigned told = clock_ms();
      tick(40ms);
      answer("TM1", "TM1\n00P\n" + checked(number(told, 4)) + "\n");
    }
    answer("TM2", "TM2\n00P\n\n");
    answer("MD0044072501000", "MD0044072501000\n00P\n\n");
    const auto stream_on = [&](int scans) {
      for (int i = 0; i < scans; ++i) {
        tick(100ms);
        deliver(bytes(scan("MD0044072501000", clock_ms() - 100, distances())));
      }
    };
    stream_on(299);
    STRCMP_CONTAINS("clock known to 20.5 ms", health().about.c_str());
    tick(100ms);
    for (int i = 0; i < 4; ++i) {
      const std::string time =
          hexadecimal ? hal::Text<8>::of("%06X", clock_ms()).c_str() : number(clock_ms(), 4);
      answer("II", info("II", {"MODL:URG-04LX-UG01", "TIME:" + time}));
    }
    stream_on(30);
    STRCMP_CONTAINS("clock known to 0.", health().about.c_str());
  }
}

TEST(HokuyoScipDialogue, ADeviceWithoutARateKeepsTheOneItWasFoundAt) {
  for (const char* status : {"04", "0F"}) {
    run(115'200);
    tick(400ms);
    answer("QT", kQuiet);
    answer("SS115200", reply("SS115200", status));
    introduce();
    LONGS_EQUAL(19'200, health().baud);
  }
}

TEST(HokuyoScipDialogue, ScanByScanTheLaserIsTurnedOnAndScansAreFetched) {
  set("mode", "GD");
  set("time_sync", "false");
  run();
  answer("QT", kQuiet);
  introduce();
  answer("BM", "BM\n02R\n\n");
  for (unsigned i = 1; i < 10; ++i) {
    tick(100ms);
    answer("GD0044072501", scan("GD0044072501", 100 * i, distances()));
  }
  is(State::streaming);
  LONGS_EQUAL(9, log.slices.size());
  books_balance();
}

TEST(HokuyoScipDialogue, ALaserThatDoesNotLightIsNamedAndResetAtTheNextAttempt) {
  set("mode", "GD");
  set("time_sync", "false");
  run();
  answer("QT", kQuiet);
  introduce();
  answer("BM", "BM\n01Q\n\n");
  is(State::backoff);
  STRCMP_CONTAINS("'turn laser on': status 01, the laser does not light", health().why.c_str());
  tick(110ms);
  answer("QT", kQuiet);
  answer("RS", "RS\n00P\n\n");
  answer("QT", kQuiet);
  introduce();
}

TEST(HokuyoScipDialogue, HardwareTroubleIsNamedWithTheDevicesOwnWords) {
  set("time_sync", "false");
  run();
  answer("QT", kQuiet);
  answer("VV", kUrgVersion);
  answer("PP", urg_parameters());
  answer("II", info("II", {"MODL:URG-04LX-UG01", "STAT:Laser trouble"}));
  answer("MD0044072501000", reply("MD0044072501000", "55"));
  is(State::backoff);
  STRCMP_CONTAINS("status 55, hardware trouble", health().why.c_str());
  STRCMP_CONTAINS("it says \"Laser trouble\"", health().why.c_str());
}

TEST(HokuyoScipDialogue, ADeviceThatIsNotStableYetIsAskedAgain) {
  set("time_sync", "false");
  run();
  answer("QT", kQuiet);
  introduce();
  answer("MD0044072501000", reply("MD0044072501000", "0M"));
  is(State::starting);
  tick(500ms);
  answer("MD0044072501000", "MD0044072501000\n00P\n\n");
  stream();
  is(State::streaming);
}

TEST(HokuyoScipDialogue, AModeThatItLacksIsRefusedWithTheRemedy) {
  set("mode", "ME");
  set("time_sync", "false");
  run();
  answer("QT", kQuiet);
  introduce();
  answer("ME0044072501000", "ME0044072501000\n0Ee\n\n");
  STRCMP_CONTAINS("it does not know the command: choose another mode", health().why.c_str());
}

TEST(HokuyoScipDialogue, AFaultOfAStreamIsTheDevicesOwn) {
  start();
  stream();
  deliver(bytes(reply("MD0044072501000", "21")));
  LONGS_EQUAL(1, health().device_faults);
  STRCMP_EQUAL(name(Cause::device_fault), name(health().cause));
  stream(30);
  STRCMP_EQUAL(name(Cause::none), name(health().cause));
  is(State::streaming);
}

TEST(HokuyoScipDialogue, SkippedScansAndGroupsAreAskedFor) {
  set("time_sync", "false");
  set("mode", "MS");
  set("skip", "2");
  set("group", "3");
  run();
  answer("QT", kQuiet);
  introduce();
  asked("MS0044072503200");
}

TEST(HokuyoScipDialogue, LaserAndMotorAreTurnedOffAtTheEnd) {
  start();
  stream();
  driver->stop(clock.now());
  answer("QT", kQuiet);
  CHECK_FALSE(driver->stopped());
  answer("%SL", "%SL\n00P\n\n");
  CHECK_TRUE(driver->stopped());
  books_balance();
}

TEST(HokuyoScipDialogue, AMotorThatCannotBeStoppedHoldsNothingUp) {
  start();
  stream();
  driver->stop(clock.now());
  answer("QT", kQuiet);
  answer("%SL", "%SL\n0Ee\n\n");
  CHECK_TRUE(driver->stopped());
  books_balance();
}
