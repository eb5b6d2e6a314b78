#include <algorithm>

#include "drivers/microstrain_mip/microstrain_mip.h"
#include "test/support/fake_port.h"
#include "test/support/harness.h"
#include "test/support/manual_clock.h"
#include "test/support/mip_sensor.h"
#include "test/support/packet_log.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::joined;
using namespace test::mip;

TEST_GROUP(MicrostrainMipDialogue) {
  test::ManualClock clock;
  test::PacketLog log;
  Options options{MicrostrainMip::options()};
  std::unique_ptr<Driver> driver;
  test::FakePort* port = nullptr;
  std::unique_ptr<Sensor> sensor;

  void set(std::string_view key, std::string_view value) {
    CHECK_TRUE(static_cast<bool>(options.set(key, value)));
  }
  void build() {
    DriverSetup setup;
    auto owned = std::make_unique<test::FakePort>(clock);
    port = owned.get();
    setup.ports[0] = std::move(owned);
    setup.baud = 115200;
    setup.sink = &log;
    driver = make_driver<MicrostrainMip>(options, std::move(setup));
    sensor = std::make_unique<Sensor>(*port);
  }
  void run(hal::Duration d, bool answers = true) {
    for (const hal::Time end = clock.now() + d; clock.now() < end;) {
      driver->tick(clock.advance(10ms));
      if (answers) sensor->answer();
    }
  }
  void start(hal::Duration d = 50ms) {
    driver->start(clock.now());
    run(d);
  }
  void send_sample(std::int64_t ns) {
    port->deliver(packet(0x80, joined(joined(kAccelAtRest, kGyro), reference(ns))));
  }
  Octets last_write() { return port->writes.empty() ? Octets{} : port->writes.back(); }
  bool wrote(const Octets& request) {
    return std::ranges::find(port->writes, request) != port->writes.end();
  }
  void why_is(const char* expected) { STRCMP_EQUAL(expected, driver->health().why.c_str()); }
};

TEST(MicrostrainMipDialogue, TheRequestsAreThoseOfTheProtocolByteForByte) {
  set("orientation", "false");
  build();
  start();
  const Octets expected[] = {
      hex("75 65 01 02 02 02 E1 C7"),
      hex("75 65 01 02 02 03 E2 C8"),
      hex("75 65 01 02 02 04 E3 C9"),
      hex("75 65 0C 03 03 0E 80 7A 7E"),
      hex("75 65 0C 0E 0E 0F 01 80 03 04 00 0A 05 00 0A D5 00 0A 91 EB"),
      packet(0x0C, hex("05 11 01 82 00")),
      hex("75 65 0C 05 05 11 01 80 01 83 18"),
      hex("75 65 01 02 02 06 E5 CB"),
  };
  LONGS_EQUAL(std::size(expected), port->writes.size());
  for (std::size_t i = 0; i < std::size(expected); ++i) CHECK_TRUE(port->writes[i] == expected[i]);
  send_sample(1);
  CHECK_TRUE(driver->health().state == State::streaming);
  LONGS_EQUAL(1, log.samples.size());
}

TEST(MicrostrainMipDialogue, AGx5IsSpokenToInItsOwnShape) {
  set("orientation", "false");
  build();
  sensor->legacy = true;
  sensor->descriptors = {0x0C06, 0x0C08, 0x0C11, 0x8004, 0x8005, 0x8012};
  start();
  CHECK_TRUE(wrote(hex("75 65 0C 02 02 06 F0 F7")));
  CHECK_TRUE(wrote(hex("75 65 0C 0D 0D 08 01 03 04 00 0A 05 00 0A 12 00 0A 45 A1")));
  CHECK_TRUE(wrote(packet(0x0C, hex("05 11 01 03 00"))));
  CHECK_TRUE(wrote(hex("75 65 0C 05 05 11 01 01 01 04 1A")));
  CHECK_TRUE(wrote(hex("75 65 01 02 02 06 E5 CB")));
  CHECK_FALSE(wrote(hex("75 65 0C 03 03 0E 80 7A 7E")));
}

TEST(MicrostrainMipDialogue, AGx5ThatNamesNoDescriptorsIsFoundByItsRefusal) {
  set("orientation", "false");
  build();
  sensor->legacy = true;
  sensor->gives_descriptors = false;
  start();
  CHECK_TRUE(wrote(hex("75 65 0C 03 03 0E 80 7A 7E")));
  CHECK_TRUE(wrote(hex("75 65 0C 02 02 06 F0 F7")));
  CHECK_TRUE(wrote(hex("75 65 0C 0D 0D 08 01 03 04 00 0A 05 00 0A 12 00 0A 45 A1")));
  CHECK_TRUE(last_write() == hex("75 65 01 02 02 06 E5 CB"));
}

TEST(MicrostrainMipDialogue, OnlySupportedFieldsAreAskedFor) {
  set("deltas", "true");
  build();
  sensor->descriptors = {0x0C0E, 0x0C0F, 0x8004, 0x8005, 0x8007, 0x80D5};
  start();
  CHECK_TRUE(wrote(packet(0x0C, hex("11 0F 01 80 04 04 00 0A 05 00 0A D5 00 0A 07 00 0A"))));
  STRCMP_EQUAL("3DM-CV7-AHRS, serial 6286.140291, firmware 1103, 100 Hz, no attitude, no deltas",
               driver->health().about.c_str());
}

TEST(MicrostrainMipDialogue, TheSecondListOfDescriptorsIsReadWhereThereIsOne) {
  build();
  sensor->descriptors = {0x0107, 0x0C0E, 0x0C0F, 0x8004, 0x8005};
  sensor->more_descriptors = {0x800A, 0x80D5};
  start();
  CHECK_TRUE(wrote(packet(0x0C, hex("11 0F 01 80 04 04 00 0A 05 00 0A D5 00 0A 0A 00 0A"))));
}

TEST(MicrostrainMipDialogue, TheRateIsTheNextLowerOneThatDividesTheBaseRate) {
  struct Case {
    const char* asked;
    unsigned base, decimation;
  };
  for (const Case& c : {Case{"100", 500, 5}, Case{"300", 1000, 4}, Case{"1000", 500, 1},
                        Case{"1", 1000, 1000}, Case{"125", 1000, 8}, Case{"99.5", 1000, 20}}) {
    set("rate_hz", c.asked);
    set("orientation", "false");
    build();
    sensor->base_hz = c.base;
    start();
    const Octets decimation = big_endian(c.decimation, 2);
    const Octets& format = port->writes.at(4);
    CHECK_TRUE(std::equal(decimation.begin(), decimation.end(), format.begin() + 10));
  }
}

TEST(MicrostrainMipDialogue, DispensableFieldsThatAreRefusedAreLeftOut) {
  set("deltas", "true");
  build();
  sensor->gives_descriptors = false;
  sensor->unknown_fields = {0x07, 0x0A};
  start();
  CHECK_TRUE(wrote(packet(0x0C, hex("0E 0F 01 80 03 04 00 0A 05 00 0A D5 00 0A"))));
  CHECK_TRUE(last_write() == hex("75 65 01 02 02 06 E5 CB"));
}

TEST(MicrostrainMipDialogue, AnIndispensableFieldThatIsRefusedIsTheEnd) {
  build();
  sensor->unknown_fields = {0x05};
  start();
  CHECK_TRUE(driver->health().state == State::backoff);
  CHECK_TRUE(driver->health().cause == Cause::refused);
  why_is("the device refused 'set message format': invalid parameter (code 3)");
}

TEST(MicrostrainMipDialogue, ADeviceWithoutAGyroscopeIsRefusedInWords) {
  build();
  sensor->descriptors = {0x0C0E, 0x0C0F, 0x8004, 0x80D5};
  start();
  why_is("the device refused 'get base rate': it has no accelerometer or no gyroscope");
}

TEST(MicrostrainMipDialogue, EveryRefusalIsNamedByItsStepAndItsCode) {
  build();
  sensor->failing = {0x0C11};
  start();
  why_is("the device refused 'enable stream': it failed (code 4)");
}

TEST(MicrostrainMipDialogue, ABaseRateOfZeroIsRefused) {
  build();
  sensor->base_hz = 0;
  start();
  why_is("the device refused 'get base rate': it names no base rate");
}

TEST(MicrostrainMipDialogue, ARequestThatWasDamagedIsSentAgain) {
  build();
  sensor->damaged_once = {0x0C0F};
  start(700ms);
  LONGS_EQUAL(2, std::ranges::count(sensor->heard, 0x0C0Fu));
  LONGS_EQUAL(0, driver->health().faults);
  CHECK_TRUE(last_write() == hex("75 65 01 02 02 06 E5 CB"));
}

TEST(MicrostrainMipDialogue, WithoutInfoAndDescriptorsItGoesOn) {
  build();
  sensor->mute_commands = {0x0103, 0x0104};
  start(3500ms);
  CHECK_TRUE(last_write() == hex("75 65 01 02 02 06 E5 CB"));
  STRCMP_EQUAL("100 Hz", driver->health().about.c_str());
}

TEST(MicrostrainMipDialogue, AnAnswerIsFoundBetweenTheSamplesOfAStreamingDevice) {
  build();
  sensor->deaf_once = {0x0102};
  driver->start(clock.now());
  for (int i = 1; i <= 60; ++i) {
    clock.advance(10ms);
    send_sample(i * 10'000'000);
    if (i == 30) sensor->answer();  // to the second request: the first one was not heard
    driver->tick(clock.now());
  }
  CHECK_TRUE(last_write() == hex("75 65 01 02 02 06 E5 CB"));
  const Health health = driver->health();
  LONGS_EQUAL(30, health.unwanted);
  LONGS_EQUAL(30, health.packets);
  CHECK_TRUE(health.balances());
}

TEST(MicrostrainMipDialogue, ALateSecondAcknowledgementDisturbsNothing) {
  build();
  driver->start(clock.now());
  run(300ms, false);  // the first request is still unanswered, the second is on its way
  sensor->answer();
  CHECK_TRUE(last_write() == hex("75 65 01 02 02 06 E5 CB"));
  CHECK_TRUE(driver->health().state == State::starting);
  send_sample(1);
  CHECK_TRUE(driver->health().state == State::streaming);
}

TEST(MicrostrainMipDialogue, WithoutAnyAnswerItSaysSoAndTriesAgain) {
  build();
  driver->start(clock.now());
  run(4050ms, false);
  LONGS_EQUAL(16, port->writes.size());
  CHECK_TRUE(driver->health().cause == Cause::no_bytes);
  STRCMP_CONTAINS("no answer to 'set to idle' (4 tries of 250 ms at each baud rate it knows)",
                  driver->health().why.c_str());
  run(200ms);
  CHECK_TRUE(last_write() == hex("75 65 01 02 02 06 E5 CB"));
}

TEST(MicrostrainMipDialogue, SilenceIsThreePeriodsButNoLessThanAQuarterOfASecond) {
  set("rate_hz", "5");
  build();
  start();
  send_sample(1);
  run(590ms);
  CHECK_TRUE(driver->health().state == State::streaming);
  run(20ms);
  CHECK_TRUE(driver->health().state == State::silent);

  set("rate_hz", "1000");
  build();
  start();
  send_sample(1);
  run(240ms);
  CHECK_TRUE(driver->health().state == State::streaming);
  run(20ms);
  CHECK_TRUE(driver->health().state == State::silent);
}

TEST(MicrostrainMipDialogue, StopMakesTheDeviceIdle) {
  build();
  start();
  send_sample(1);
  driver->stop(clock.now());
  CHECK_TRUE(last_write() == hex("75 65 01 02 02 02 E1 C7"));
  CHECK_FALSE(driver->stopped());
  sensor->answer();
  CHECK_TRUE(driver->stopped());
}

TEST(MicrostrainMipDialogue, StopEndsWhateverTheDeviceDoes) {
  build();
  start();
  send_sample(1);
  driver->stop(clock.now());
  run(400ms, false);
  CHECK_TRUE(driver->stopped());
  LONGS_EQUAL(1, port->closes);
}

TEST(MicrostrainMipDialogue, AfterUnpluggingAllIsAskedAnew) {
  build();
  start();
  send_sample(1);
  port->unplug();
  sensor->descriptors = {0x0C06, 0x0C08, 0x8004, 0x8005, 0x8012};  // another device
  sensor->legacy = true;
  sensor->base_hz = 500;
  run(200ms);
  CHECK_TRUE(wrote(packet(0x0C, hex("0D 08 01 03 04 00 05 05 00 05 12 00 05"))));
  port->deliver(packet(0x80, joined(joined(kAccelAtRest, kGyro), week_time(0x12, 5, 0))));
  CHECK_TRUE(driver->health().state == State::streaming);
}

TEST(MicrostrainMipDialogue, ANewerDeviceInTheOldOnesPlaceIsSpokenToAsSuch) {
  build();
  sensor->legacy = true;
  sensor->gives_descriptors = false;
  start();
  port->unplug();
  sensor->legacy = false;
  sensor->heard.clear();
  run(200ms);
  LONGS_EQUAL(1, std::ranges::count(sensor->heard, 0x0C0Fu));
  LONGS_EQUAL(0, std::ranges::count(sensor->heard, 0x0C06u));
}

TEST(MicrostrainMipDialogue, ReadingsAreAskedForByOptionAndWhatItLacksIsTold) {
  for (const char* option : {"mag", "pressure", "temperature"}) set(option, "true");
  build();
  sensor->descriptors = {0x0C0E, 0x0C0F, 0x8004, 0x8005, 0x80D5, 0x800A, 0x8006, 0x8014};
  start();
  CHECK_TRUE(wrote(packet(0x0C, hex("17 0F 01 80 06 04 00 0A 05 00 0A D5 00 0A 0A 00 0A 06 00 0A "
                                    "14 00 0A"))));
  STRCMP_EQUAL("3DM-CV7-AHRS, serial 6286.140291, firmware 1103, 100 Hz, no pressure",
               driver->health().about.c_str());
}

TEST(MicrostrainMipDialogue, AnotherFormOfAttitudeIsAskedForWhereThereIsNoQuaternion) {
  build();
  sensor->descriptors = {0x0C0E, 0x0C0F, 0x8004, 0x8005, 0x80D5, 0x800C, 0x8009};
  start();
  CHECK_TRUE(wrote(packet(0x0C, hex("11 0F 01 80 04 04 00 0A 05 00 0A D5 00 0A 0C 00 0A"))));
  port->deliver(packet(0x80, joined(joined(kAccelAtRest, kGyro),
                                    joined(reference(1), field(0x0C, floats({0, 0, 0}))))));
  CHECK_TRUE(log.samples.at(0).orientation.has_value());
}

TEST(MicrostrainMipDialogue, AnAttitudeThatOnlyTheFilterHasIsJoinedToItsSample) {
  build();
  sensor->descriptors = {0x0C0E, 0x0C0F, 0x8004, 0x8005, 0x80D5, 0x8203, 0x8205, 0x82D5};
  start(80ms);
  CHECK_TRUE(wrote(hex("75 65 0C 0E 0E 0F 01 80 03 04 00 0A 05 00 0A D5 00 0A 91 EB")));
  CHECK_TRUE(wrote(packet(0x0C, hex("0B 0F 01 82 02 03 00 0A D5 00 0A"))));
  CHECK_TRUE(wrote(packet(0x0C, hex("05 11 01 82 01"))));
  const Octets attitude = field(0x03, floats({1, 0, 0, 0}, 1));
  for (std::int64_t ns = 10'000'000; ns <= 50'000'000; ns += 10'000'000) {
    send_sample(ns);
    port->deliver(packet(0x82, joined(reference(ns), attitude)));
  }
  CHECK_TRUE(log.samples.size() >= 5);
  for (std::size_t i = log.samples.size() - 3; i < log.samples.size(); ++i) {
    CHECK_TRUE(log.samples[i].accel && log.samples[i].gyro && log.samples[i].orientation);
  }
}

TEST(MicrostrainMipDialogue, AFilterThatRefusesLeavesTheSampleWithoutAttitude) {
  build();
  sensor->descriptors = {0x0C0E, 0x0C0F, 0x8004, 0x8005, 0x80D5, 0x8203, 0x82D5};
  sensor->unknown_fields = {0x03};
  start(80ms);
  CHECK_TRUE(wrote(packet(0x0C, hex("05 11 01 82 00"))));
  STRCMP_CONTAINS("100 Hz, no attitude", driver->health().about.c_str());
  send_sample(1);
  LONGS_EQUAL(1, log.samples.size());
}

TEST(MicrostrainMipDialogue, ADeviceAtAnotherRateIsFound) {
  build();
  driver->start(clock.now());
  run(1050ms, false);  // four times unanswered
  LONGS_EQUAL(921600, port->bauds.back());
  run(100ms);
  CHECK_TRUE(last_write() == hex("75 65 01 02 02 06 E5 CB"));
  send_sample(1);
  CHECK_TRUE(driver->health().state == State::streaming);
  LONGS_EQUAL(921600, driver->health().baud);
}

TEST(MicrostrainMipDialogue, DeltasThatTellNoIntervalHaveThatOfTheRate) {
  set("deltas", "true");
  build();
  start();
  port->deliver(packet(0x80, joined(reference(1), field(0x07, floats({0.01F, 0, 0})))));
  CHECK_TRUE(log.samples.at(0).interval == 10ms);
}
