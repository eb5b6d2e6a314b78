#include "drivers/device_driver.h"

#include <vector>

#include "drivers/decoder.h"
#include "test/support/allocation_counter.h"
#include "test/support/fake_port.h"
#include "test/support/harness.h"
#include "test/support/hex.h"
#include "test/support/manual_clock.h"
#include "test/support/packet_log.h"
#include "test/support/tiny_device.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::joined;
using test::tiny;

namespace {

// Streams unasked.
class Talker : public test::TinyDevice {
 public:
  using TinyDevice::TinyDevice;
  static std::span<const drivers::Step<Talker>> start_script() { return {}; }
  static std::span<const drivers::Step<Talker>> stop_script() { return {}; }
};

// Waits long for its one answer.
class Asker : public test::TinyDevice {
 public:
  using TinyDevice::TinyDevice;
  static std::span<const drivers::Step<Asker>> start_script() {
    static constexpr std::array<drivers::Step<Asker>, 1> kSteps{
        {{"patience", &Asker::say<'p'>, &Asker::answer, 5s}}};
    return kSteps;
  }
  static std::span<const drivers::Step<Asker>> stop_script() { return {}; }
};

// Its motor hangs on DTR.
class Turner : public test::TinyDevice {
 public:
  using TinyDevice::TinyDevice;
  static std::span<const drivers::Step<Turner>> start_script() { return {}; }
  static std::span<const drivers::Step<Turner>> stop_script() {
    static constexpr std::array<drivers::Step<Turner>, 2> kSteps{
        {{"stop", &Turner::halt}, {"motor off", &Turner::motor_off}}};
    return kSteps;
  }
  bool halt(Request& request) { return request.text("s"), true; }
  bool motor_off(Request& request) { return request.text("o").dtr(false), true; }
};

}  // namespace

TEST_GROUP(DeviceDriver) {
  test::ManualClock clock;
  test::PacketLog log;
  Options options{std::span<const OptionSpec>{}};
  test::FakePort* port = nullptr;
  std::unique_ptr<Driver> driver;
  unsigned stamp = 0;
  StampOptions options_of_stamps;

  void setup() override { build(115200); }
  template <class D = test::TinyDevice>
  void build(int baud) {
    DriverSetup setup;
    auto owned = std::make_unique<test::FakePort>(clock);
    port = owned.get();
    setup.first_sensor = 3;
    setup.baud = baud;
    setup.ports[0] = std::move(owned);
    setup.sink = &log;
    setup.stamps = options_of_stamps;
    driver = make_driver<D>(options, std::move(setup));
  }
  void deliver(const std::vector<std::byte>& bytes) { port->deliver(bytes); }
  void tick(hal::Duration d) {
    for (; d > 100ms; d -= 100ms) driver->tick(clock.advance(100ms));
    driver->tick(clock.advance(d));
  }
  void stall(hal::Duration d) { driver->tick(clock.advance(d)); }
  void run(hal::Duration d) {
    for (const hal::Time end = clock.now() + d; clock.now() < end;) tick(10ms);
  }
  void sample() { deliver(tiny({'m', ++stamp & 0xFF})); }
  void stream() {
    driver->start(clock.now());
    deliver(tiny({'a'}));
    tick(50ms);
    sample();
    is(State::streaming);
  }
  Health health() { return driver->health(); }
  void is(State state) { STRCMP_EQUAL(name(state), name(health().state)); }
  void why_is(Cause cause, const char* words) {
    STRCMP_EQUAL(name(cause), name(health().cause));
    STRCMP_EQUAL(words, health().why.c_str());
  }
  void books_balance() {
    const Health h = health();
    CHECK_TRUE(h.balances());
    LONGS_EQUAL(h.packets, log.samples.size());
  }
};

TEST(DeviceDriver, IsIdleUntilItIsStarted) {
  run(1s);
  is(State::idle);
  CHECK_TRUE(driver->stopped());
  LONGS_EQUAL(0, port->opens);
}

TEST(DeviceDriver, HoldsItsDialogueAndThenDelivers) {
  driver->start(clock.now());
  is(State::starting);
  CHECK_TRUE(port->written == hex("67"));
  STRCMP_EQUAL("go", health().step);
  deliver(tiny({'a'}));
  STRCMP_EQUAL("settle", health().step);
  tick(50ms);
  STRCMP_EQUAL("", health().step);
  is(State::starting);
  sample();
  is(State::streaming);
  LONGS_EQUAL(3, log.ids.at(0));
  LONGS_EQUAL(1, health().replies);
  books_balance();
}

TEST(DeviceDriver, APacketDuringTheDialogueIsUnwanted) {
  driver->start(clock.now());
  sample();
  deliver(joined(tiny({'a'}), tiny({'m', 9})));
  is(State::starting);
  LONGS_EQUAL(2, health().unwanted);
  LONGS_EQUAL(0, log.samples.size());
  books_balance();
}

TEST(DeviceDriver, WarmsUpWithoutPacketsAndIsNotSilentMeanwhile) {
  options_of_stamps.warm_up = 1s;
  build(115200);
  stream();
  run(90ms);
  while (health().packets == 0 && stamp < 200) {
    sample();
    tick(10ms);
    is(State::streaming);
  }
  LONGS_EQUAL(92, health().withheld);  // at once, and from 90 ms to 990 ms
  LONGS_EQUAL(1, health().packets);
  books_balance();
}

TEST(DeviceDriver, TakesNoLineTimeOffWhereThereIsNoLine) {
  port->is_line = false;
  stream();
  stamp += 99;  // further than time went: the line must not be above an arrival
  tick(50ms);
  sample();
  CHECK_TRUE(log.samples.back().at == clock.now());
}

TEST(DeviceDriver, EveryFrameIsCountedUnderOneReason) {
  stream();
  deliver(tiny({'m', 1}));                        // stale
  deliver(tiny({'q'}));                           // silent
  deliver(tiny({'x'}));                           // undecodable
  deliver(joined(hex("01 02"), tiny({'m', 2})));  // garbage and a packet
  deliver(hex("AA 05 01"));                       // pending
  const Health h = health();
  LONGS_EQUAL(1, h.stale);
  LONGS_EQUAL(1, h.silent_frames);
  LONGS_EQUAL(1, h.undecodable);
  LONGS_EQUAL(2, h.packets);
  LONGS_EQUAL(2, h.framing.garbage_bytes);
  LONGS_EQUAL(3, h.pending);
  books_balance();
}

TEST(DeviceDriver, StampsAreArrivalsLessTheLineTimeOfTheFrame) {
  stream();
  CHECK_TRUE(log.arrivals.at(0) == clock.now());
  CHECK_TRUE(clock.now() - log.samples.at(0).at == hal::from_seconds(5 * 10.0 / 115200));
  CHECK_TRUE(1'000'000 == log.samples[0].device_ns.value_or(0));
}

TEST(DeviceDriver, AnUnansweredDialogueIsTriedThenBackedOffAndSaysWhy) {
  driver->start(clock.now());
  run(400ms);
  is(State::backoff);
  CHECK_TRUE(port->written == hex("67 67"));
  why_is(Cause::no_bytes,
         "no answer to 'go' (2 tries of 200 ms); no byte at 115200 baud: power, cable, RX and TX "
         "swapped?");
  LONGS_EQUAL(1, health().faults);
  CHECK_FALSE(port->is_open());
}

TEST(DeviceDriver, AnAnswerToSomethingElseIsNoAnswer) {
  driver->start(clock.now());
  for (int i = 0; i < 40; ++i) deliver(tiny({'q'})), tick(10ms);
  why_is(Cause::no_answer, "no answer to 'go' (2 tries of 200 ms)");
}

TEST(DeviceDriver, ARefusalIsTheDevicesWord) {
  driver->start(clock.now());
  deliver(tiny({'n'}));
  is(State::backoff);
  why_is(Cause::refused, "the device refused 'go': not today");
  books_balance();
}

TEST(DeviceDriver, BacksOffFromATenthToHalfASecondAndNeverLonger) {
  port->refuse_open = true;
  driver->start(clock.now());
  std::vector<std::int64_t> pauses;
  for (hal::Time before = clock.now(); pauses.size() < 6;) {
    const int opens = port->opens;
    while (port->opens == opens) tick(1ms);
    pauses.push_back((clock.now() - before).count() / 1'000'000);
    before = clock.now();
  }
  const std::vector<std::int64_t> expected{100, 200, 400, 500, 500, 500};
  CHECK_TRUE(pauses == expected);
}

TEST(DeviceDriver, BackOffBeginsAnewOnceDataCame) {
  port->refuse_open = true;
  driver->start(clock.now());
  run(3s);
  port->refuse_open = false;
  run(500ms);
  deliver(tiny({'a'}));
  tick(50ms);
  sample();
  is(State::streaming);
  port->unplug();
  const int opens = port->opens;
  tick(99ms);
  LONGS_EQUAL(opens, port->opens);
  tick(1ms);
  LONGS_EQUAL(opens + 1, port->opens);
}

TEST(DeviceDriver, SilenceIsToldThenEndsTheConnection) {
  stream();
  tick(99ms);
  is(State::streaming);
  tick(1ms);
  is(State::silent);
  CHECK_TRUE(port->is_open());
  why_is(Cause::no_bytes, "it fell silent while the port stayed open: power or cable?");
  tick(499ms);
  is(State::silent);
  tick(1ms);
  is(State::backoff);
}

TEST(DeviceDriver, WhatComesInsteadOfMeasurementsIsNamed) {
  const auto instead = [this](const std::vector<std::byte>& bytes) {
    build(115200);
    stream();
    for (int i = 0; i < 10; ++i) deliver(bytes), tick(10ms);
    is(State::silent);
  };
  instead(hex("01 02 03 04"));
  why_is(Cause::mismatch,
         "40 bytes at 115200 baud but no frame any more: did it restart, is its supply weak?");
  instead(hex("AA 02 01 01 00"));
  why_is(Cause::bad_checksums,
         "10 frames damaged, 0 good at 115200 baud: baud rate, cable or supply voltage?");
  instead(tiny({'q'}));
  why_is(Cause::no_packets, "10 frames but no measurement in them: wrong mode or model?");
}

TEST(DeviceDriver, ADeviceThatStoppedWithinAFrameFellSilent) {
  stream();
  deliver(hex("AA 05 01"));
  run(100ms);
  why_is(Cause::no_bytes, "it fell silent while the port stayed open: power or cable?");
}

TEST(DeviceDriver, DataEndSilenceAndItsCause) {
  stream();
  run(200ms);
  is(State::silent);
  sample();
  is(State::streaming);
  why_is(Cause::none, "");
}

TEST(DeviceDriver, AStalledHostReadsBeforeItJudges) {
  driver->start(clock.now());
  stall(900ms);
  is(State::starting);
  CHECK_TRUE(port->written == hex("67"));
  deliver(tiny({'a'}));
  tick(50ms);
  sample();
  stall(2s);
  is(State::streaming);
  sample();
  tick(99ms);
  is(State::streaming);
  tick(1ms);
  is(State::silent);
}

TEST(DeviceDriver, FramesWithoutAMeasurementDoNotEndSilence) {
  stream();
  for (int i = 0; i < 65; ++i) deliver(tiny({'q'})), tick(10ms);
  is(State::backoff);
}

TEST(DeviceDriver, ADeviceThatNeverMeasuresIsGivenUpAfterThreeSeconds) {
  driver->start(clock.now());
  deliver(tiny({'a'}));
  tick(50ms);
  tick(2999ms);
  is(State::starting);
  deliver(tiny({'q'}));
  tick(1ms);
  is(State::backoff);
  why_is(Cause::no_packets, "2 frames but no measurement in them: wrong mode or model?");
}

TEST(DeviceDriver, UnpluggingIsNoticedAtOnceAndTheDialogueHeldAgain) {
  stream();
  port->unplug();
  is(State::backoff);
  why_is(Cause::hang_up, "fake: unplug");
  run(100ms);
  is(State::starting);
  CHECK_TRUE(port->written == hex("67 67"));
  deliver(tiny({'a'}));
  tick(50ms);
  stamp += 150;
  sample();
  is(State::streaming);
  LONGS_EQUAL(1, health().faults);
  LONGS_EQUAL(0, health().clock.epoch);  // a clock of its own goes on
  books_balance();
}

TEST(DeviceDriver, APortThatCannotBeOpenedIsNamed) {
  port->refuse_open = true;
  port->refusal = {hal::Errc::permission, 13, "serial: open", {}};
  port->refusal.detail.print("/dev/x: group dialout is missing");
  driver->start(clock.now());
  is(State::backoff);
  why_is(Cause::permission, "/dev/x: group dialout is missing");
}

TEST(DeviceDriver, AWriteThatFailsIsAFault) {
  port->refuse_write = true;
  driver->start(clock.now());
  is(State::backoff);
  why_is(Cause::hang_up, "write: the device does not read");
}

TEST(DeviceDriver, APortThatOpensLaterIsWaitedFor) {
  port->opens_later = true;
  driver->start(clock.now());
  run(5s);
  is(State::starting);
  CHECK_TRUE(port->written.empty());
  port->finish_open();
  CHECK_TRUE(port->written == hex("67"));
}

TEST(DeviceDriver, ADeviceThatRestartedByItselfIsSetUpAnew) {
  stream();
  deliver(joined(tiny({'b'}), tiny({'m', 7})));
  is(State::backoff);
  why_is(Cause::device_reset, "the device restarted by itself: check its power supply");
  LONGS_EQUAL(1, health().resets);
  books_balance();
  run(100ms);
  is(State::starting);
}

TEST(DeviceDriver, ARestartThatTheDialogueCausedIsNoFault) {
  driver->start(clock.now());
  deliver(tiny({'b'}));
  is(State::starting);
  LONGS_EQUAL(0, health().resets);
  LONGS_EQUAL(0, health().faults);
}

TEST(DeviceDriver, BytesWithoutAFrameAreAMismatch) {
  driver->start(clock.now());
  for (int i = 0; i < 40; ++i) deliver(hex("01 02 03 04 05 06")), tick(10ms);
  why_is(Cause::mismatch,
         "no answer to 'go' (2 tries of 200 ms); 240 bytes at 115200 baud but no frame: another "
         "device, protocol or baud rate?");
}

TEST(DeviceDriver, DamagedFramesAreNamedAsSuch) {
  driver->start(clock.now());
  for (int i = 0; i < 40; ++i) deliver(hex("AA 02 01 01 00")), tick(10ms);
  why_is(Cause::bad_checksums,
         "no answer to 'go' (2 tries of 200 ms); 40 frames damaged, 0 good at 115200 baud: baud "
         "rate, cable or supply voltage?");
}

TEST(DeviceDriver, MoreDamagedThanGoodFramesAreTheLinesFault) {
  driver->start(clock.now());
  for (int i = 0; i < 40; ++i) {
    deliver(i % 4 == 0 ? tiny({'q'}) : hex("AA 02 01 01 00"));
    tick(10ms);
  }
  why_is(Cause::bad_checksums,
         "no answer to 'go' (2 tries of 200 ms); 30 frames damaged, 10 good at 115200 baud: baud "
         "rate, cable or supply voltage?");
}

TEST(DeviceDriver, WithoutABaudRateNoneIsNamed) {
  build(0);
  driver->start(clock.now());
  run(400ms);
  why_is(Cause::no_bytes, "no answer to 'go' (2 tries of 200 ms); no byte: power, cable, address?");
}

TEST(DeviceDriver, SaysAfterASecondOfStartingWhatIsMissing) {
  driver->start(clock.now());
  deliver(tiny({'a'}));
  tick(50ms);
  tick(940ms);
  why_is(Cause::none, "");
  tick(10ms);
  why_is(Cause::no_packets, "1 frames but no measurement in them: wrong mode or model?");
}

TEST(DeviceDriver, ALongDialogueTellsWhichStepItWaitsFor) {
  build<Asker>(115200);
  driver->start(clock.now());
  for (int i = 0; i < 101; ++i) deliver(tiny({'q'})), tick(10ms);
  is(State::starting);
  why_is(Cause::no_answer, "waiting for 'patience'");
  deliver(hex("01 02 03"));
  tick(10ms);
  is(State::starting);
}

TEST(DeviceDriver, DataBehindTheLastAnswerOfAChunkAreWanted) {
  build<Asker>(115200);
  driver->start(clock.now());
  deliver(joined(tiny({'a'}), tiny({'m', 1})));
  is(State::streaming);
  LONGS_EQUAL(1, health().packets);
  books_balance();
}

TEST(DeviceDriver, NothingIsWantedBehindARefusal) {
  build<Asker>(115200);
  driver->start(clock.now());
  deliver(joined(joined(tiny({'n'}), tiny({'m', 1})), tiny({'b'})));
  is(State::backoff);
  why_is(Cause::refused, "the device refused 'patience': not today");
  LONGS_EQUAL(1, health().unwanted);
  LONGS_EQUAL(0, health().resets);
  books_balance();
}

TEST(DeviceDriver, AMismatchIsGivenUpAfterASecond) {
  build<Talker>(115200);
  driver->start(clock.now());
  for (int i = 0; i < 99; ++i) deliver(hex("01 02 03 04 05 06")), tick(10ms);
  is(State::starting);
  tick(10ms);
  is(State::backoff);
  why_is(Cause::mismatch,
         "594 bytes at 115200 baud but no frame: another device, protocol or baud rate?");
}

TEST(DeviceDriver, StopHoldsItsDialogue) {
  stream();
  driver->stop(clock.now());
  is(State::stopping);
  CHECK_FALSE(driver->stopped());
  CHECK_TRUE(port->written == hex("67 73"));
  sample();
  LONGS_EQUAL(1, health().unwanted);
  deliver(tiny({'a'}));
  CHECK_TRUE(driver->stopped());
  CHECK_FALSE(port->is_open());
  books_balance();
}

TEST(DeviceDriver, StopEndsWithin400MsWhateverTheDeviceDoes) {
  stream();
  driver->stop(clock.now());
  for (int i = 0; i < 39; ++i) sample(), tick(10ms);
  CHECK_FALSE(driver->stopped());
  tick(10ms);
  CHECK_TRUE(driver->stopped());
  books_balance();
}

TEST(DeviceDriver, ARefusedWriteDoesNotKeepTheMotorOn) {
  build<Turner>(115200);
  driver->start(clock.now());
  port->refuse_write = true;
  driver->stop(clock.now());
  CHECK_FALSE(port->dtr);
  CHECK_TRUE(driver->stopped());
}

TEST(DeviceDriver, ARefusedLineDoesNotKeepBytesBack) {
  build<Turner>(115200);
  driver->start(clock.now());
  port->refuse_dtr = true;
  driver->stop(clock.now());
  CHECK_TRUE(port->written == hex("73 6F"));
}

TEST(DeviceDriver, StopOfAPortThatDoesNotOpenIsDoneAtOnce) {
  port->refuse_open = true;
  driver->start(clock.now());
  is(State::backoff);
  driver->stop(clock.now());
  CHECK_TRUE(driver->stopped());
  run(2s);
  LONGS_EQUAL(2, port->opens);
}

TEST(DeviceDriver, ADeviceThatFellSilentIsToldToStopToo) {
  stream();
  run(640ms);
  is(State::backoff);
  port->written.clear();
  driver->stop(clock.now());
  is(State::stopping);
  CHECK_TRUE(port->written == hex("73"));
  deliver(tiny({'a'}));
  CHECK_TRUE(driver->stopped());
  CHECK_FALSE(port->is_open());
  books_balance();
}

TEST(DeviceDriver, StopWhileThePortIsStillOpeningEndsWithin400Ms) {
  port->opens_later = true;
  driver->start(clock.now());
  driver->stop(clock.now());
  run(400ms);
  CHECK_TRUE(driver->stopped());
}

TEST(DeviceDriver, UnpluggingWhileStoppingIsTheEnd) {
  stream();
  driver->stop(clock.now());
  port->unplug();
  CHECK_TRUE(driver->stopped());
}

TEST(DeviceDriver, CanBeStartedAgain) {
  stream();
  driver->stop(clock.now());
  deliver(tiny({'a'}));
  stream();
  LONGS_EQUAL(2, port->opens);
}

TEST(DeviceDriver, EveryChangeOfStateIsToldOnce) {
  stream();
  run(700ms);
  driver->stop(clock.now());
  deliver(tiny({'a'}));
  using enum State;
  const std::vector<State> expected{starting, streaming, silent, backoff, starting, stopping, idle};
  CHECK_TRUE(log.states == expected);
}

TEST(DeviceDriver, IsDrainedWhenItsPortsAre) {
  CHECK_TRUE(driver->drained());
  port->is_drained = false;
  CHECK_FALSE(driver->drained());
}

TEST(DeviceDriver, TellsWhatTheDeviceSaysAboutItself) {
  stream();
  STRCMP_EQUAL("tiny, 1 times", health().about.c_str());
}

TEST(DeviceDriver, TwoDriversOfOneKindDoNotMeet) {
  stream();
  test::FakePort* const first_port = port;
  std::unique_ptr<Driver> first = std::move(driver);
  build(0);
  stream();
  first_port->unplug();
  CHECK_TRUE(first->health().state == State::backoff);
  is(State::streaming);
}

TEST(DeviceDriver, NothingIsAllocatedOnceItRuns) {
  test::PacketCounter counter;
  DriverSetup setup;
  auto owned = std::make_unique<test::FakePort>(clock);
  test::FakePort& quiet = *owned;
  setup.ports[0] = std::move(owned);
  setup.sink = &counter;
  const auto quiet_driver = make_driver<test::TinyDevice>(options, std::move(setup));
  quiet_driver->start(clock.now());
  quiet.deliver(tiny({'a'}));
  quiet_driver->tick(clock.advance(50ms));
  std::vector<std::vector<std::byte>> frames;
  for (unsigned i = 1; i < 100; ++i) frames.push_back(tiny({'m', i}));
  const std::vector<std::byte> garbage = hex("AA 02 01 01 00 55");
  test::AllocationCounter allocations;
  for (const auto& frame : frames) {
    quiet.deliver(frame);
    quiet.deliver(garbage);
    quiet_driver->tick(clock.advance(1ms));
  }
  for (int i = 0; i < 30; ++i) quiet_driver->tick(clock.advance(10ms));
  LONGS_EQUAL(0, allocations.count());
  LONGS_EQUAL(99, counter.packets);
}
