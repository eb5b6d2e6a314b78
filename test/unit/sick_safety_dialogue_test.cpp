// What is said to a safety scanner, in simulated time.
#include "drivers/sick_safety/sick_safety.h"
#include "test/support/safety_data.h"
#include "test/unit/device_driver_bench.h"

using namespace drivers;
using namespace std::chrono_literals;
using namespace test::safety;
using test::hex;
using test::Stream;

TEST_GROUP_BASE(SickSafetyDialogue, test::DriverBench) {
  std::uint32_t scans = 0;

  void setup() override { options = Options(SickSafety::options()); }
  void start(bool with_control = true) {
    build<SickSafety>(0, with_control);
    port->has_datagrams = true;
    port->is_line = false;
    port->own = {{192, 168, 1, 2}, 6060};
    if (control) control->own = {{192, 168, 1, 2}, 40000};
    driver->start(clock.now());
  }
  void says(const char* text) {
    CHECK_FALSE(control->writes.empty());
    CHECK_TRUE_TEXT(control->writes.back() == hex(text), text);
  }
  void answer(const Stream& bytes) { control->deliver(bytes); }
  void send_scan(bool with_derived = true, unsigned scan_ms = 30) {
    Scan scan;
    scan.points = points(100);
    scan.sequence = scan.scan = ++scans;
    scan.ms = 30 * scans;
    scan.has_derived = with_derived;
    scan.scan_ms = scan_ms;
    clock.advance(30ms);
    for (const Stream& datagram : fragments(payload(scan), scans)) deliver(datagram);
  }
  void open_session() {
    answer(message(0x1234, 1, "OA"));
    answer(message(0x1234, 2, "RA", hex("0d00 1200 4d494353332d4342415a3430495a3150303100 00")));
    answer(message(0x1234, 3, "RA", hex("0300 0800 3230343330323431")));
  }
};

TEST(SickSafetyDialogue, TheOutputIsSetToOurAddressAndTheSessionClosed) {
  start();
  says("02020202 0000000f 00 00 00000000 0001 4f58 3c 00000001");
  answer(message(0x1234, 1, "OA"));
  says("02020202 0000000c 00 00 00001234 0002 5249 0d00");
  answer(message(0x1234, 2, "RA", hex("0d00 1200 4d494353332d4342415a3430495a3150303100 00")));
  says("02020202 0000000c 00 00 00001234 0003 5249 0300");
  answer(message(0x1234, 3, "RA", hex("0300 0800 3230343330323431")));
  says(
      "02020202 00000028 00 00 00001234 0004 4d49 b000 00000000 01 01 0000 0201a8c0 ac17 0100 "
      "00000000 00000000 0700 0000");
  answer(message(0x1234, 4, "AI", hex("b000 00")));
  says("02020202 0000000a 00 00 00001234 0005 4358");
  answer(message(0x1234, 5, "CA"));
  send_scan();
  is(State::streaming);
  STRCMP_EQUAL("MICS3-CBAZ40IZ1P01, serial number 20430241", health().about.c_str());
  LONGS_EQUAL(1, log.slices.size());
  books_balance();
}

TEST(SickSafetyDialogue, OptionsGoIntoTheSettings) {
  for (const auto& [key, value] : {std::pair{"channel", "2"},
                                   {"divider", "4"},
                                   {"start_deg", "-90"},
                                   {"end_deg", "45.5"},
                                   {"interface", "profinet"}}) {
    CHECK_TRUE(static_cast<bool>(options.set(key, value)));
  }
  start();
  open_session();
  says(
      "02020202 00000028 00 00 00001234 0004 4d49 b000 02000000 01 03 0000 0201a8c0 ac17 0400 "
      "00000000 0000e021 0700 0000");
}

TEST(SickSafetyDialogue, WithoutAControlPortItOnlyListens) {
  start(false);
  send_scan();
  is(State::streaming);
  STRCMP_EQUAL("serial number 20430241", health().about.c_str());
  books_balance();
}

TEST(SickSafetyDialogue, ARefusalIsToldInWords) {
  start();
  answer(message(0, 1, "FA", hex("0021")));
  why_is(Cause::refused,
         "the device refused 'open session': no session is free: close its other clients, or wait "
         "until they time out (sFA 21)");
}

TEST(SickSafetyDialogue, SettingsThatAreRefusedAreToldInWords) {
  start();
  open_session();
  answer(message(0x1234, 4, "FA", hex("0001")));
  LONGS_EQUAL(int(Cause::refused), int(health().cause));
  STRCMP_CONTAINS("'set data output'", health().why.c_str());
}

TEST(SickSafetyDialogue, WhatItDoesNotTellOfItselfItCanDoWithout) {
  start();
  answer(message(0x1234, 1, "OA"));
  answer(message(0x1234, 2, "FA", hex("0003")));
  answer(message(0x1234, 3, "FA", hex("0003")));
  says(
      "02020202 00000028 00 00 00001234 0004 4d49 b000 00000000 01 00 0000 0201a8c0 ac17 0100 "
      "00000000 00000000 0700 0000");
}

TEST(SickSafetyDialogue, AnswersAreKnownByTheirRequest) {
  start();
  answer(message(0x99, 7, "OA"));  // another request's
  answer(message(0x99, 1, "CA"));  // another answer
  LONGS_EQUAL(1, control->writes.size());
  answer(message(0x1234, 1, "OA"));
  answer(message(0x1234, 2, "RA", hex("0300 0100 41")));  // of another variable
  LONGS_EQUAL(2, control->writes.size());
}

TEST(SickSafetyDialogue, AnswersMayComeInAnyPieces) {
  start();
  const Stream reply = message(0x1234, 1, "OA");
  for (const std::byte b : reply) answer({b});
  LONGS_EQUAL(2, control->writes.size());
}

TEST(SickSafetyDialogue, DataOfTheTimeBeforeTheSettingsAreUnwanted) {
  start();
  send_scan();
  LONGS_EQUAL(0, log.slices.size());
  LONGS_EQUAL(1, health().unwanted);
  is(State::starting);
  books_balance();
}

TEST(SickSafetyDialogue, SilenceBringsTheDialogueAgain) {
  start();
  open_session();
  answer(message(0x1234, 4, "AI", hex("b000 00")));
  answer(message(0x1234, 5, "CA"));
  send_scan();
  const std::size_t said = control->writes.size();
  tick(3s);
  CHECK_TRUE(control->writes.size() > said);
  CHECK_TRUE(control->writes[said] ==
             hex("02020202 0000000f 00 00 00000000 0001 4f58 3c 00000001"));
}

TEST(SickSafetyDialogue, WhileFragmentsComeItIsNotStartedOverThoughNoScanIsWhole) {
  start(false);
  send_scan();
  for (int i = 0; i < 400; ++i) {
    Scan scan;
    scan.points = points(1000);
    scan.sequence = scan.scan = ++scans;
    scan.ms = 30 * scans;
    const std::vector<Stream> all = fragments(payload(scan), scans);
    for (std::size_t k = 1; k < all.size(); ++k) deliver(all[k]);
    clock.advance(30ms);
    driver->tick(clock.now());
  }
  is(State::silent);
  LONGS_EQUAL(0, health().faults);
  CHECK_TRUE(health().cause == Cause::no_packets);
  STRCMP_CONTAINS("each a part of a measurement none of which was whole", health().why.c_str());
  send_scan();
  is(State::streaming);
  books_balance();
}

TEST(SickSafetyDialogue, AnInterfaceThatItTellsNoMoreIsForgotten) {
  start();
  open_session();
  answer(message(0x1234, 4, "AI", hex("b000 00")));
  answer(message(0x1234, 5, "CA"));
  send_scan();
  tick(1700ms);
  answer(message(0x1234, 1, "OA"));
  answer(message(0x1234, 2, "FA", hex("0004")));
  answer(message(0x1234, 3, "FA", hex("0004")));
  says(
      "02020202 00000028 00 00 00001234 0004 4d49 b000 00000000 01 00 0000 0201a8c0 ac17 0100 "
      "00000000 00000000 0700 0000");
}

TEST(SickSafetyDialogue, DataWithoutAnglesAreNamed) {
  start(false);
  for (int i = 0; i < 150; ++i) {
    send_scan(false);
    driver->tick(clock.now());
  }
  LONGS_EQUAL(0, log.slices.size());
  STRCMP_CONTAINS("no derived values", health().why.c_str());
  books_balance();
}

TEST(SickSafetyDialogue, AnglesOfTheTimeBeforeItWasSilentDoNotCount) {
  start(false);
  send_scan();
  LONGS_EQUAL(1, log.slices.size());
  for (int i = 0; i < 30; ++i) tick(100ms);
  for (int i = 0; i < 5; ++i) send_scan(false);
  LONGS_EQUAL(1, log.slices.size());
  books_balance();
}

TEST(SickSafetyDialogue, AScanTimeThatNoModelHasDoesNotHideItsSilence) {
  start(false);
  send_scan(true, 65'535);
  is(State::streaming);
  for (int i = 0; i < 10; ++i) tick(100ms);
  is(State::silent);
}

TEST(SickSafetyDialogue, AStopClosesTheSession) {
  start();
  answer(message(0x1234, 1, "OA"));
  driver->stop(clock.now());
  says("02020202 0000000a 00 00 00001234 0003 4358");
  answer(message(0x1234, 3, "CA"));
  CHECK_TRUE(driver->stopped());
}
