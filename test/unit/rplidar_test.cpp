#include "test/support/rplidar_bench.h"

#include "drivers/registry.h"
#include "test/support/allocation_counter.h"

using drivers::Cause;
using drivers::State;
using test::Stream;
using namespace std::chrono_literals;
namespace device = test::rplidar;

TEST_GROUP_BASE(Rplidar, device::RplidarBench){};

TEST(Rplidar, StartsAnA1InItsTypicalMode) {
  start();
  pass(200ms);
  CHECK_TRUE(state() == State::streaming);
  check_heard({"A5 25", "A5 50", "A5 52", "A5 84 04 7C 00 00 00 59",
               "A5 84 06 75 00 00 00 03 00 51", "A5 84 06 71 00 00 00 03 00 55",
               "A5 82 05 03 00 00 00 00 21"});
  CHECK_FALSE(port->dtr);  // the motor turns
  CHECK_TRUE(log.packets > 10);
  CHECK_TRUE(log.step == 127us);
  check_books();
}

TEST(Rplidar, StopsAnA1ByDtr) {
  start();
  pass(200ms);
  lidar.heard.clear();
  driver->stop(clock.now());
  pass(100ms);
  CHECK_TRUE(driver->stopped());
  check_heard({"A5 25"});
  CHECK_TRUE(port->dtr);
  check_books();
}

TEST(Rplidar, DrivesAnA2WithAccessoryBoardByPwm) {
  lidar.model = 0x28;
  lidar.has_board = true;
  start();
  pass(200ms);
  CHECK_TRUE(state() == State::streaming);
  CHECK_TRUE(heard("A5 FF 04 00 00 00 00 5E"));
  CHECK_TRUE(heard("A5 84 04 01 00 00 00 24"));
  CHECK_TRUE(heard("A5 F0 02 BC 02 E9"));  // 700, as it said
  CHECK_TRUE(port->dtr);
  driver->stop(clock.now());
  pass(100ms);
  CHECK_TRUE(lidar.heard.back() == device::hex("A5 F0 02 00 00 57"));
}

TEST(Rplidar, DrivesAnA2WithoutAccessoryBoardByDtr) {
  lidar.model = 0x28;
  start();
  pass(200ms);
  CHECK_TRUE(state() == State::streaming);
  CHECK_FALSE(port->dtr);
}

TEST(Rplidar, DrivesAnS2ByRpm) {
  lidar.model = 0x71;
  lidar.modes = {{"Standard", 0x81, 62.5}, {"DenseBoost", 0x85, 31.25}};
  lidar.typical = 1;
  start();
  pass(200ms);
  CHECK_TRUE(state() == State::streaming);
  CHECK_TRUE(heard("A5 A8 02 62 02 6F"));  // 610, as it said
  CHECK_FALSE(heard("A5 FF 04 00 00 00 00 5E"));
  CHECK_TRUE(log.step == 31250ns);
  driver->stop(clock.now());
  pass(100ms);
  CHECK_TRUE(lidar.heard.back() == device::hex("A5 A8 02 00 00 0F"));
}

TEST(Rplidar, ConfiguredSpeedsAreUsedAsTheyAre) {
  lidar.model = 0x71;
  set("rpm", "600");
  start();
  pass(200ms);
  CHECK_TRUE(heard("A5 A8 02 58 02 55"));
  CHECK_FALSE(heard("A5 84 04 01 00 00 00 24"));
}

TEST(Rplidar, TheMotorCanBeLeftAlone) {
  set("motor", "none");
  start();
  pass(200ms);
  CHECK_TRUE(state() == State::streaming);
  CHECK_TRUE(port->dtr);  // as the port was opened
}

TEST(Rplidar, TheKindOfMotorCanBeGiven) {
  set("motor", "pwm");
  set("pwm", "660");
  start();
  pass(200ms);
  CHECK_TRUE(heard("A5 F0 02 94 02 C1"));
}

TEST(Rplidar, ADeviceThatStreamsAlreadyIsStoppedFirst) {
  lidar.streams = 0x84;
  start();
  port->deliver(device::ultra(0, {device::cabin(300, 0, 0)}));  // still in flight
  stream(3);
  pass(200ms);
  CHECK_TRUE(state() == State::streaming);
  CHECK_TRUE(log.step == 127us);
  CHECK_TRUE(driver->health().framing.garbage_bytes >= 4 * 132);
  check_books();
}

TEST(Rplidar, BadHealthIsResetOnceAndGoesOn) {
  lidar.health = {2, 0};
  start();
  pass(300ms);
  CHECK_TRUE(state() == State::streaming);
  LONGS_EQUAL(1, std::ranges::count(lidar.heard, device::hex("A5 40")));
  LONGS_EQUAL(0, driver->health().faults);
}

TEST(Rplidar, AResetWithoutABannerIsWaitedFor) {
  lidar.health = {2, 0};
  lidar.prints_banner = false;
  start();
  pass(1000ms);
  CHECK_TRUE(state() == State::starting);
  pass(500ms);
  CHECK_TRUE(state() == State::streaming);
}

TEST(Rplidar, HealthThatStaysBadIsRefusedWithItsCode) {
  lidar.health = {2};
  start();
  pass(100ms);
  CHECK_TRUE(state() == State::backoff);
  CHECK_TRUE(driver->health().cause == Cause::refused);
  check_why("0x8002");
  CHECK_TRUE(port->dtr);  // the motor was not started
}

TEST(Rplidar, AWarningIsNoReasonToStop) {
  lidar.health = {1};
  start();
  pass(200ms);
  CHECK_TRUE(state() == State::streaming);
}

TEST(Rplidar, NoAnswerIsDiagnosed) {
  lidar.answers = false;
  start();
  pass(600ms);
  CHECK_TRUE(state() == State::backoff);
  check_why("no answer to 'get info'");
}

TEST(Rplidar, ABannerInMidStreamStartsTheDeviceAnew) {
  start();
  pass(200ms);
  lidar.streams = 0;
  port->deliver(device::banner());
  CHECK_TRUE(state() == State::backoff);
  CHECK_TRUE(driver->health().cause == Cause::device_reset);
  LONGS_EQUAL(1, driver->health().resets);
  pass(250ms);
  CHECK_TRUE(state() == State::streaming);
  check_books();
}

TEST(Rplidar, ABannerInMidCapsuleIsSeenToo) {
  start();
  pass(200ms);
  lidar.streams = 0;
  Stream torn = device::ultra(0, {device::cabin(300, 0, 0)});
  torn.resize(70);
  port->deliver(torn);
  port->deliver(device::banner());
  LONGS_EQUAL(1, driver->health().resets);
}

TEST(Rplidar, StoppedInTheMiddleOfStartingItStopsEveryKindOfMotor) {
  lidar.answers = false;
  start();
  pass(50ms);
  port->dtr = false;  // as some programs leave it
  driver->stop(clock.now());
  pass(100ms);
  CHECK_TRUE(driver->stopped());
  CHECK_TRUE(port->dtr);
  CHECK_TRUE(heard("A5 F0 02 00 00 57"));
  CHECK_TRUE(heard("A5 A8 02 00 00 0F"));
}

TEST(Rplidar, StoppedAfterAFailedStartItStillKnowsItsMotor) {
  start();
  pass(200ms);
  lidar.answers = false;
  port->unplug();
  pass(200ms);
  CHECK_TRUE(state() == State::starting);
  lidar.heard.clear();
  driver->stop(clock.now());
  pass(100ms);
  check_heard({"A5 25"});
  CHECK_TRUE(port->dtr);
}

TEST(Rplidar, SilenceEndsInANewStart) {
  start();
  pass(200ms);
  lidar.streams = 0;
  pass(350ms);
  CHECK_TRUE(state() == State::silent);
  pass(1800ms);
  CHECK_TRUE(state() == State::streaming);
  LONGS_EQUAL(1, driver->health().faults);
}

TEST(Rplidar, NodesThatWaitForTheirGroupGoOutWhenTheLinePauses) {
  set("mode", "Standard");
  start();
  pass(200ms);
  CHECK_TRUE(state() == State::streaming);
  while (log.beams == sent) stream(1);
  const std::size_t told = log.beams;
  driver->tick(clock.advance(9ms));
  LONGS_EQUAL(told, log.beams);
  CHECK_TRUE(driver->due() == clock.now() + 1ms);
  driver->tick(clock.advance(1ms));
  LONGS_EQUAL(sent, log.beams);
  CHECK_TRUE(driver->due() == hal::Time::max());
  check_books();
}

TEST(Rplidar, FewNodesBeforeSilenceAreNotLostWhileItStarts) {
  set("mode", "Standard");
  start();
  while (lidar.streams == 0) {
    clock.advance(1ms);
    serve();
    driver->tick(clock.now());
  }
  stream(5);
  CHECK_TRUE(state() == State::starting);
  driver->tick(clock.advance(20ms));
  CHECK_TRUE(state() == State::streaming);
  LONGS_EQUAL(5, log.beams);
  check_books();
}

TEST(Rplidar, FewNodesBeforeItIsUnpluggedAreNotLostWhileItStarts) {
  set("mode", "Standard");
  start();
  while (lidar.streams == 0) {
    clock.advance(1ms);
    serve();
    driver->tick(clock.now());
  }
  stream(5);
  port->unplug();
  CHECK_TRUE(state() == State::backoff);
  LONGS_EQUAL(5, log.beams);
  check_books();
}

TEST(Rplidar, RunningItAllocatesNothing) {
  start();
  pass(200ms);
  std::vector<Stream> frames;
  for (int i = 0; i < 100; ++i) {
    frames.push_back(device::ultra(15.0 * (sent + static_cast<unsigned>(i)), {300}));
  }
  unsigned long count = 0;
  {
    test::AllocationCounter allocations;
    for (const Stream& frame : frames) {
      clock.advance(12ms);
      port->deliver(frame);
      driver->tick(clock.now());
    }
    count = allocations.count();
  }
  CHECK_TRUE(state() == State::streaming);
  LONGS_EQUAL(0, count);
}

TEST(Rplidar, IsInTheRegistry) {
  const drivers::Row* const row = drivers::find("rplidar");
  CHECK_TRUE(row != nullptr);
  LONGS_EQUAL(115200, row->default_baud);
}

// A turn of the slowest motor must fit, a chunk have room for the largest packet, and the fastest
// models be within the rates.
TEST(Rplidar, BudgetsFollowTheLine) {
  struct Case {
    int baud;
    double most_samples_hz, slowest_turns_hz;
  };
  for (const Case& c : {Case{115200, 8000, 5.5}, Case{256000, 16000, 5.5}, Case{460800, 32000, 10},
                        Case{1000000, 32000, 10}, Case{0, 32000, 10}}) {
    const auto figures = drivers::Rplidar::figures(options, c.baud);
    const auto beams = static_cast<double>(figures.beams_per_turn);
    CHECK_TRUE(beams >= c.most_samples_hz / c.slowest_turns_hz);
    CHECK_TRUE(beams <= 4096);
    CHECK_TRUE(beams / (figures.packets_hz / figures.turns_hz) >= 95.9);
    CHECK_TRUE(figures.packets_hz >= c.most_samples_hz / 40);
  }
}
