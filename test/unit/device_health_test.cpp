// What is wrong with a device that streams, or seems to; and devices with several packets.
#include "drivers/ldrobot/ldrobot.h"
#include "test/support/allocation_counter.h"
#include "test/unit/device_driver_bench.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::joined;
using test::tiny;

namespace {

class Lidar : public test::TinyDevice {
 public:
  using TinyDevice::TinyDevice;
  static constexpr std::size_t kOutputs = 2;
  static std::span<const drivers::Step<Lidar>> start_script() { return {}; }
  static std::span<const drivers::Step<Lidar>> stop_script() { return {}; }
  struct Fastest {
    double turns_hz;
  };
  static Fastest figures(const Options&, int) { return {10}; }
};

// Its scans carry a stamp: the one 'l' k was measured at k ms.
class Stamped : public test::TinyDevice {
 public:
  using TinyDevice::TinyDevice;
  static std::span<const drivers::Step<Stamped>> start_script() { return {}; }
  static std::span<const drivers::Step<Stamped>> stop_script() { return {}; }
  void decode(const Frame& frame, Decoded& out) {
    out.add(ScanSlice{.beams = beam_}, {.source = Timing::Source::clock,
                                        .raw_ns = wire::u8(frame.bytes, 3) * 1'000'000LL,
                                        .arrival = frame.last_at,
                                        .bytes = frame.bytes.size()});
  }

 private:
  std::array<Beam, 1> beam_{{{.angle = 0, .range = 1, .intensity = 0}}};
};

}  // namespace

TEST_GROUP_BASE(DeviceHealth, test::DriverBench) {
  unsigned angle = 0;

  void setup() override {
    build<Lidar>();
    driver->start(clock.now());
  }
  // A beam every 10 ms, `per_turn` to a turn; 0: it does not turn.
  void scan(int beams, unsigned per_turn) {
    for (int i = 0; i < beams; ++i) {
      const bool starts = per_turn > 0 && ++angle % per_turn == 0;
      deliver(tiny({'l', per_turn > 0 ? angle & 0xFF : unsigned(i) & 0xFF, starts}));
      tick(10ms);
    }
  }
};

TEST(DeviceHealth, AFrameMayGiveSeveralPackets) {
  deliver(tiny({'m', 1, 2, 3}));
  LONGS_EQUAL(3, log.samples.size());
  CHECK_TRUE(2'000'000 == log.samples[1].device_ns.value_or(0));
  LONGS_EQUAL(3, health().packets);
  LONGS_EQUAL(2, health().extra_packets);
  deliver(tiny({'m', 3, 4}));
  LONGS_EQUAL(1, health().stale);
  books_balance();
}

TEST(DeviceHealth, OutputsHaveTheirOwnSensorsStampsAndStates) {
  deliver(tiny({'m', 5}));
  deliver(tiny({'i', 5}));
  deliver(tiny({'m', 5}));
  const std::vector<SensorId> expected{3, 4};
  CHECK_TRUE(log.ids == expected);
  LONGS_EQUAL(1, health().stale);
  const std::vector<State> states{State::starting, State::starting, State::streaming,
                                  State::streaming};
  CHECK_TRUE(log.states == states);
  books_balance();
}

TEST(DeviceHealth, SamplesOfTheSecondOutputDoNotKeepALidarAlive) {
  deliver(tiny({'i', 4}));
  is(State::starting);
  deliver(tiny({'m', 5}));
  is(State::streaming);
  for (unsigned i = 6; i < 16; ++i) deliver(tiny({'i', i})), tick(20ms);
  is(State::silent);
  LONGS_EQUAL(11, health().imu_packets);
  LONGS_EQUAL(12, health().packets);
  books_balance();
}

TEST(DeviceHealth, AnOutputThatNobodyConfiguredIsUnwanted) {
  drivers::DriverSetup setup;
  setup.first_sensor = 3;
  setup.outputs = 1;
  setup.sink = &log;
  port = add(setup, drivers::Channel::data);
  driver = drivers::make_driver<Lidar>(options, std::move(setup));
  log = {};
  driver->start(clock.now());
  deliver(tiny({'i', 5}));
  deliver(tiny({'m', 5}));
  const std::vector<SensorId> expected{3};
  CHECK_TRUE(log.ids == expected);
  const std::vector<State> states{State::starting, State::streaming};
  CHECK_TRUE(log.states == states);
  LONGS_EQUAL(1, health().unwanted);
  books_balance();
}

TEST(DeviceHealth, AFaultThatTheDeviceReportsIsToldWhileItStreams) {
  deliver(tiny({'m', 1}));
  deliver(tiny({'f', 7}));
  is(State::streaming);
  why_is(Cause::device_fault, "the device reports a fault: code 7");
  deliver(tiny({'m', 2}));
  why_is(Cause::device_fault, "the device reports a fault: code 7");
  LONGS_EQUAL(1, health().device_faults);
  for (unsigned i = 3; i < 40; ++i) tick(60ms), deliver(tiny({'m', i}));
  is(State::streaming);
  why_is(Cause::none, "");
  books_balance();
}

TEST(DeviceHealth, WhatTheDeviceCountsAsLostIsCounted) {
  deliver(tiny({'k', 3}));
  deliver(tiny({'m', 1}));
  deliver(tiny({'k', 4}));
  LONGS_EQUAL(7, health().lost);
  books_balance();
}

TEST(DeviceHealth, AFaultIsTheCauseOfTheSilenceAfterIt) {
  deliver(tiny({'m', 1}));
  deliver(tiny({'f', 9}));
  tick(100ms);
  is(State::silent);
  why_is(Cause::device_fault, "the device reports a fault: code 9");
}

TEST(DeviceHealth, AScanThatIsRepeatedBitForBitIsNoMeasurement) {
  scan(10, 10);
  is(State::streaming);
  for (int i = 0; i < 50; ++i) deliver(tiny({'l', 5, 0})), tick(10ms);
  is(State::streaming);
  for (int i = 0; i < 10; ++i) deliver(tiny({'l', 5, 0})), tick(10ms);
  is(State::silent);
  why_is(Cause::stuck, "it repeats one measurement: its motor or its firmware hangs");
  LONGS_EQUAL(10, health().stuck);
  books_balance();
  for (int i = 0; i < 50; ++i) deliver(tiny({'l', 5, 0})), tick(10ms);
  is(State::backoff);
}

TEST(DeviceHealth, AScanThatIsRepeatedWithItsStampIsNamedAtOnce) {
  build<Stamped>();
  driver->start(clock.now());
  for (unsigned k = 10; k < 100; k += 10) deliver(tiny({'l', k, 0})), tick(10ms);
  is(State::streaming);
  for (int i = 0; i < 11; ++i) deliver(tiny({'l', 90, 0})), tick(10ms);
  is(State::silent);
  why_is(Cause::stuck, "it repeats one measurement: its motor or its firmware hangs");
  books_balance();
}

TEST(DeviceHealth, ARepeatedStartOfATurnIsNoSpeed) {
  scan(100, 10);
  for (int i = 0; i < 50; ++i) {
    deliver(tiny({'l', 5, 1})), tick(10ms);
    why_is(Cause::none, "");
  }
  for (int i = 0; i < 11; ++i) deliver(tiny({'l', 5, 1})), tick(10ms);
  why_is(Cause::stuck, "it repeats one measurement: its motor or its firmware hangs");
}

TEST(DeviceHealth, ARestingInertialSensorMayRepeatItself) {
  build<Lidar>();
  driver->start(clock.now());
  for (int i = 0; i < 100; ++i) deliver(tiny({'q'})), deliver(tiny({'m', unsigned(i)})), tick(10ms);
  LONGS_EQUAL(0, health().stuck);
}

TEST(DeviceHealth, TurnsAreMeasured) {
  scan(100, 10);
  DOUBLES_EQUAL(10, health().turns_hz, 0.01);
  why_is(Cause::none, "");
}

TEST(DeviceHealth, AMotorThatStandsIsNamedWithinTwoSeconds) {
  scan(100, 10);
  scan(140, 0);
  why_is(Cause::none, "");
  scan(60, 0);
  is(State::streaming);
  why_is(Cause::not_turning, "it measures but does not turn: motor blocked, unpowered or off?");
  DOUBLES_EQUAL(0, health().turns_hz, 0);
  scan(20, 10);
  why_is(Cause::none, "");
}

TEST(DeviceHealth, AnImpossibleSpeedIsNamedWithinTwoSeconds) {
  scan(90, 4);
  why_is(Cause::none, "");
  scan(20, 4);
  why_is(Cause::wrong_speed, "it seems to turn at 25.0 Hz, which it cannot: wrong model?");
  is(State::streaming);
}

TEST(DeviceHealth, OneTurnThatSeemsToEndAtOnceIsNoSpeed) {
  scan(100, 10);
  deliver(tiny({'l', 1, 1}));
  tick(1ms);
  deliver(tiny({'l', 2, 1}));
  why_is(Cause::none, "");
  CHECK_TRUE(health().turns_hz < 14);
}

TEST(DeviceHealth, APauseIsNoTurn) {
  scan(100, 10);
  clock.advance(5s);
  driver->tick(clock.now());
  scan(5, 10);
  is(State::streaming);
  why_is(Cause::none, "");
}

TEST(DeviceHealth, BytesOfAnotherDeviceAreNamed) {
  const auto ld19 =
      hex("54 2C 68 08 AB 7E E0 00 E4 DC 00 E2 D9 00 E5 D5 00 E3 D3 00 E4 D0 00 E9 CD 00 E4 CA 00 "
          "E2 C7 "
          "00 E9 C5 00 E5 C2 00 E5 C0 00 E5 BE 82 3A 1A 50");
  for (int i = 0; i < 100; ++i) deliver(ld19), tick(10ms);
  is(State::backoff);
  why_is(Cause::mismatch,
         "4700 bytes at 115200 baud but no frame: they are those of driver 'ldrobot'");
}

TEST(DeviceHealth, BytesOfAnotherDeviceAreNamedThoughSomeLookLikeDamagedFrames) {
  const auto ld19 =
      hex("54 2C 68 08 AB 7E E0 00 E4 DC 00 E2 D9 00 E5 D5 00 E3 D3 00 E4 D0 00 E9 CD 00 E4 CA 00 "
          "E2 C7 "
          "00 E9 C5 00 E5 C2 00 E5 C0 00 E5 BE 82 3A 1A 50");
  auto false_frame = tiny({'l', 1, 0});
  false_frame.back() ^= std::byte{1};
  for (int i = 0; i < 100; ++i) {
    deliver(ld19);
    if (i % 10 == 9) deliver(false_frame);
    tick(10ms);
  }
  LONGS_EQUAL(0, health().framing.frames);
  CHECK_TRUE(health().framing.rejected > 1);
  STRCMP_EQUAL("mismatch", drivers::name(health().cause));
  STRCMP_CONTAINS("those of driver 'ldrobot'", health().why.c_str());
}

TEST(DeviceHealth, ManyDamagedFramesAreToldWhileItStreams) {
  const auto scan_with_damage = [this](int beams, int every) {
    for (int i = 0; i < beams; ++i) {
      const bool starts = ++angle % 10 == 0;
      auto frame = tiny({'l', angle & 0xFF, starts});
      deliver(frame);
      frame.back() ^= std::byte{1};
      if (i % every == every - 1) deliver(frame);
      tick(10ms);
    }
  };
  scan_with_damage(220, 25);
  why_is(Cause::none, "");
  scan_with_damage(220, 10);
  is(State::streaming);
  STRCMP_EQUAL("bad_checksums", drivers::name(health().cause));
  STRCMP_CONTAINS("of a second's frames 8 were damaged, 100 good", health().why.c_str());
  scan(220, 10);
  why_is(Cause::none, "");
  books_balance();
}

TEST(DeviceHealth, WhatItSendsAfterASilenceIsNotJudgedByOlderBytes) {
  const auto ld19 =
      hex("54 2C 68 08 AB 7E E0 00 E4 DC 00 E2 D9 00 E5 D5 00 E3 D3 00 E4 D0 00 E9 CD 00 E4 CA 00 "
          "E2 C7 "
          "00 E9 C5 00 E5 C2 00 E5 C0 00 E5 BE 82 3A 1A 50");
  deliver(ld19);
  deliver(ld19);
  scan(100, 10);
  tick(200ms);
  is(State::silent);
  deliver(std::vector<std::byte>(50, std::byte{'#'}));
  tick(410ms);
  is(State::backoff);
  why_is(Cause::mismatch,
         "50 bytes at 115200 baud but no frame any more: did it restart, is its supply weak?");
}
