#include "test/support/rplidar_bench.h"

using drivers::Cause;
using drivers::State;
using test::Stream;
using namespace std::chrono_literals;
namespace device = test::rplidar;

TEST_GROUP_BASE(RplidarModes, device::RplidarBench){};

TEST(RplidarModes, AModeIsFoundByItsNameInAnyCase) {
  set("mode", "sTABILITY");
  start();
  pass(200ms);
  CHECK_TRUE(state() == State::streaming);
  CHECK_TRUE(heard("A5 82 05 04 00 00 00 00 26"));
  CHECK_TRUE(log.step == 201us);
}

TEST(RplidarModes, StandardModeIsStartedByScan) {
  set("mode", "Standard");
  start();
  pass(200ms);
  CHECK_TRUE(state() == State::streaming);
  CHECK_TRUE(heard("A5 20"));
  CHECK_TRUE(log.step == 508us);
}

TEST(RplidarModes, NodesThatWaitComeOutWhenTheDevicePausesOrIsStopped) {
  set("mode", "Standard");
  start();
  pass(300ms);
  while (log.beams % 8 != 0 || log.beams == 0 || log.beams == sent) pass(5ms);
  CHECK_TRUE(log.beams < sent);
  lidar.streams = 0;
  pass(5ms);
  CHECK_TRUE(log.beams < sent);
  pass(5ms);
  LONGS_EQUAL(sent, log.beams);
  pass(340ms);
  CHECK_TRUE(state() == State::silent);
  check_books();

  pass(2000ms);
  CHECK_TRUE(state() == State::streaming);
  while (log.beams == sent) pass(5ms);
  driver->stop(clock.now());
  LONGS_EQUAL(sent, log.beams);
  check_books();
}

TEST(RplidarModes, AnUnknownModeIsRefusedWithTheModesThatExist) {
  set("mode", "Turbo");
  start();
  pass(100ms);
  CHECK_TRUE(state() == State::backoff);
  CHECK_TRUE(driver->health().cause == Cause::refused);
  check_why("'Turbo'");
  check_why("Standard, Express, Boost, Sensitivity, Stability");
}

TEST(RplidarModes, OldFirmwareIsStartedInExpress) {
  lidar.firmware = 0x117;
  start();
  pass(200ms);
  CHECK_TRUE(state() == State::streaming);
  check_heard({"A5 25", "A5 50", "A5 52", "A5 59", "A5 82 05 00 00 00 00 00 22"});
  CHECK_TRUE(log.step == 250us);
}

TEST(RplidarModes, FirmwareWithoutExpressIsStartedInStandard) {
  lidar.firmware = 0x104;
  lidar.knows_express = false;
  start();
  pass(1300ms);
  CHECK_TRUE(state() == State::streaming);
  CHECK_TRUE(lidar.heard.back() == device::hex("A5 20"));
  CHECK_TRUE(log.step == 500us);
}

TEST(RplidarModes, OldFirmwareRefusesModesItCannotHave) {
  lidar.firmware = 0x117;
  set("mode", "Boost");
  start();
  pass(100ms);
  CHECK_TRUE(driver->health().cause == Cause::refused);
  check_why("1.23 has only Standard and Express");
}

TEST(RplidarModes, ExpressOfOldFirmwareByName) {
  lidar.firmware = 0x117;
  set("mode", "Express");
  start();
  pass(200ms);
  CHECK_TRUE(state() == State::streaming);
  CHECK_TRUE(lidar.heard.back() == device::hex("A5 82 05 00 00 00 00 00 22"));
}

TEST(RplidarModes, ConfigurationRepliesWithoutAValueFallBack) {
  lidar.short_conf = true;
  lidar.model = 0x71;
  start();
  pass(300ms);
  CHECK_TRUE(state() == State::streaming);
  CHECK_TRUE(heard("A5 A8 02 58 02 55"));           // 600
  CHECK_TRUE(heard("A5 82 05 00 00 00 00 00 22"));  // legacy express
}

TEST(RplidarModes, ConfigurationRepliesOfAnyLengthAreSurvived) {
  for (std::size_t n = 0; n < 8; ++n) {
    for (const char* mode : {"typical", "Boost"}) {
      set("mode", mode);
      lidar = device::Lidar{};
      served = 0;
      start();
      for (int round = 0; round < 40; ++round) {
        clock.advance(5ms);
        while (served < port->writes.size()) {
          const Stream request = port->writes[served++];
          Stream reply = request.size() > 1 ? lidar.answer(request) : Stream{};
          if (request.size() > 2 && request[1] == std::byte{0x84}) {
            Stream payload(reply.begin() + 7, reply.end());
            payload.resize(n);
            reply = device::reply(0x20, payload);
          }
          if (!reply.empty()) port->deliver(reply);
        }
        driver->tick(clock.now());
      }
      check_books();
    }
  }
}
