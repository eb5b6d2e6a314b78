// What a driver may ask of its framework beyond a script: bauds, reopening, routines.
#include "test/unit/device_driver_bench.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::joined;
using test::tiny;

namespace {

constexpr std::array kBauds{19200, 57600, 115200};

// Answers at one rate only, which is not known, and is told to go at the configured one.
class Seeker : public test::TinyDevice {
 public:
  using TinyDevice::TinyDevice;
  static std::span<const drivers::Step<Seeker>> start_script() {
    static constexpr std::array<drivers::Step<Seeker>, 3> kSteps{{
        {"find", &Seeker::say<'?'>, &Seeker::answer, 100ms, 2, IfUnanswered::fail, kBauds},
        {"change rate", &Seeker::ask_rate, &Seeker::answer, 100ms},
        {"follow", &Seeker::follow, nullptr, 50ms},
    }};
    return kSteps;
  }
  static std::span<const drivers::Step<Seeker>> stop_script() { return {}; }
  bool ask_rate(Request& r) {
    if (r.rate().current == r.rate().configured) return false;
    return r.text("r"), true;
  }
  bool follow(Request& r) { return r.baud(r.rate().configured), true; }
};

// Does without an answer.
class Optimist : public test::TinyDevice {
 public:
  using TinyDevice::TinyDevice;
  static std::span<const drivers::Step<Optimist>> start_script() {
    static constexpr std::array<drivers::Step<Optimist>, 1> kSteps{
        {{"find", &Optimist::say<'?'>, &Optimist::answer, 100ms, 1, IfUnanswered::go_on, kBauds}}};
    return kSteps;
  }
  static std::span<const drivers::Step<Optimist>> stop_script() { return {}; }
};

// Tells the device where to send: our address, the port of the data, and whether it can answer.
class Receiver : public test::TinyDevice {
 public:
  using TinyDevice::TinyDevice;
  static std::span<const drivers::Step<Receiver>> start_script() {
    static constexpr std::array<drivers::Step<Receiver>, 1> kSteps{
        {{"tell", &Receiver::tell, &Receiver::answer, 100ms}}};
    return kSteps;
  }
  static std::span<const drivers::Step<Receiver>> stop_script() { return {}; }
  bool tell(Request& r) {
    if (!r.own().has_ip()) return false;
    const bool two = r.own().has(Channel::control);
    r.to(two ? Channel::control : Channel::data).text(r.own().host().view());
    r.text(hal::Text<8>::of(":%d", r.own().port(Channel::data)).view());
    return true;
  }
};

// Is polled every 10 ms and asked for its health every 50 ms.
class Polled : public test::TinyDevice {
 public:
  using TinyDevice::TinyDevice;
  static std::span<const drivers::Step<Polled>> start_script() { return {}; }
  static std::span<const drivers::Step<Polled>> stop_script() { return {}; }
  std::span<const Routine<Polled>> routines() const {
    static constexpr std::array<drivers::Step<Polled>, 1> kPoll{
        {{"poll", &Polled::poll, &Polled::take, 100ms, 2, IfUnanswered::fail}}};
    static constexpr std::array<drivers::Step<Polled>, 1> kHealth{
        {{"health", &Polled::say<'h'>, &Polled::answer, 20ms, 1, IfUnanswered::go_on}}};
    static constexpr std::array<Routine<Polled>, 2> kRoutines{{{10ms, kPoll}, {50ms, kHealth}}};
    return kRoutines;
  }
  bool poll(Request& r) {
    asked_ = r.now();
    return r.text("p"), true;
  }
  Reply take(const Frame& frame) {
    if (wire::u8(frame.bytes, 2) != 'm') return Reply::not_mine();
    middle_ = asked_ + (frame.last_at - asked_) / 2;
    return Reply::measured();
  }
  void decode(const Frame&, Decoded& out) {
    ImuSample sample;
    sample.temperature = 20;
    out.add(sample, {.arrival = middle_});
  }

 private:
  hal::Time asked_{}, middle_{};
};

// Speaks a protocol whose control connection ends with each answer.
class Caller : public test::TinyDevice {
 public:
  using TinyDevice::TinyDevice;
  static constexpr bool kControlHangsUp = true;
  static std::span<const drivers::Step<Caller>> start_script() {
    static constexpr std::array<drivers::Step<Caller>, 2> kSteps{
        {{"one", &Caller::call<'1'>, &Caller::answer, 200ms},
         {"two", &Caller::call<'2'>, &Caller::answer, 200ms}}};
    return kSteps;
  }
  static std::span<const drivers::Step<Caller>> stop_script() { return {}; }
  template <unsigned kWhat>
  bool call(Request& r) {
    return r.to(Channel::control).reopen().u8(kWhat), true;
  }
};

// Says in its dialogue where its data are to be had, unless they come as datagrams.
class Offerer : public test::TinyDevice {
 public:
  using TinyDevice::TinyDevice;
  static constexpr bool kDataOpensLater = true;
  static std::span<const drivers::Step<Offerer>> start_script() {
    static constexpr std::array<drivers::Step<Offerer>, 3> kSteps{
        {{"ask", &Offerer::ask, &Offerer::answer, 200ms},
         {"connect", &Offerer::connect, nullptr, 50ms},
         {"go", &Offerer::go, &Offerer::answer, 200ms}}};
    return kSteps;
  }
  static std::span<const drivers::Step<Offerer>> stop_script() { return {}; }
  bool ask(Request& r) {
    is_connection_ = r.own().port(Channel::data) == 0;
    return r.to(Channel::control).u16be(r.own().port(Channel::data)), true;
  }
  bool connect(Request& r) { return r.reopen_at(4711), is_connection_; }
  bool go(Request& r) { return r.to(Channel::control).text("g"), true; }

 private:
  bool is_connection_ = false;
};

// Restarts its line in the dialogue.
class Rebooter : public test::TinyDevice {
 public:
  using TinyDevice::TinyDevice;
  static std::span<const drivers::Step<Rebooter>> start_script() {
    static constexpr std::array<drivers::Step<Rebooter>, 2> kSteps{
        {{"reboot", &Rebooter::say<'r'>, nullptr, 50ms},
         {"go", &Rebooter::again, &Rebooter::answer, 200ms}}};
    return kSteps;
  }
  static std::span<const drivers::Step<Rebooter>> stop_script() { return {}; }
  bool again(Request& r) { return r.reopen().text("g"), true; }
};

}  // namespace

TEST_GROUP_BASE(DeviceTalk, test::DriverBench){};

TEST(DeviceTalk, AStepIsTriedAtTheConfiguredRateThenAtTheOthersInTurn) {
  build<Seeker>(115200);
  driver->start(clock.now());
  CHECK_TRUE(port->bauds.empty());
  tick(200ms);
  CHECK_TRUE(port->bauds == std::vector<int>{19200});
  LONGS_EQUAL(19200, health().baud);
  CHECK_TRUE(port->written == hex("3F 3F 3F"));
  tick(200ms);
  CHECK_TRUE((port->bauds == std::vector<int>{19200, 57600}));
  tick(199ms);
  is(State::starting);
  tick(1ms);
  is(State::backoff);
  why_is(Cause::no_bytes,
         "no answer to 'find' (2 tries of 100 ms at each baud rate it knows); no byte at 57600 "
         "baud: power, cable, RX and TX swapped?");
  tick(100ms);
  LONGS_EQUAL(115200, health().baud);
}

TEST(DeviceTalk, WhatWasAnsweredAtAnotherRateIsAskedToChangeIt) {
  build<Seeker>(115200);
  driver->start(clock.now());
  tick(200ms);
  deliver(tiny({'a'}));
  CHECK_TRUE(port->written == hex("3F 3F 3F 72"));
  LONGS_EQUAL(19200, health().baud);
  deliver(tiny({'a'}));
  CHECK_TRUE((port->bauds == std::vector<int>{19200, 115200}));
  LONGS_EQUAL(115200, health().baud);
  tick(50ms);
  deliver(tiny({'m', 1}));
  is(State::streaming);
  books_balance();
}

TEST(DeviceTalk, AtTheConfiguredRateNothingIsChanged) {
  build<Seeker>(115200);
  driver->start(clock.now());
  deliver(tiny({'a'}));
  tick(50ms);
  CHECK_TRUE(port->bauds.empty());
  CHECK_TRUE(port->written == hex("3F"));
}

TEST(DeviceTalk, WithoutABaudRateNoneIsSought) {
  build<Seeker>(0);
  driver->start(clock.now());
  tick(200ms);
  is(State::backoff);
  CHECK_TRUE(port->bauds.empty());
}

TEST(DeviceTalk, ASearchThatFoundNothingGoesBack) {
  build<Optimist>(115200);
  driver->start(clock.now());
  tick(300ms);
  CHECK_TRUE((port->bauds == std::vector<int>{19200, 57600, 115200}));
  deliver(tiny({'m', 1}));
  is(State::streaming);
}

TEST(DeviceTalk, APortWithoutARateTakesPartInASearch) {
  build<Seeker>(115200);
  port->baud_result = hal::Error{hal::Errc::unsupported, 0, "fake", {}};
  driver->start(clock.now());
  tick(200ms);
  is(State::starting);
}

TEST(DeviceTalk, ARateThatThePortRefusesIsAFault) {
  build<Seeker>(115200);
  port->baud_result = hal::refused_baud(hal::Errc::io, 22, 19200);
  driver->start(clock.now());
  tick(200ms);
  is(State::backoff);
  why_is(Cause::hang_up, "19200 baud: Invalid argument");
}

TEST(DeviceTalk, StampsFollowTheRateOfTheLine) {
  build<Seeker>(115200);
  driver->start(clock.now());
  tick(200ms);
  deliver(tiny({'a'}));
  tick(100ms);  // it stays at 19200: the change was not answered
  is(State::backoff);
}

TEST(DeviceTalk, ADeviceIsPolledInItsRhythmOnceTheScriptIsDone) {
  build<Polled>();
  driver->start(clock.now());
  CHECK_TRUE(port->written.empty());
  CHECK_TRUE(driver->due() == clock.now() + 10ms);
  tick(10ms);
  CHECK_TRUE(port->written == hex("70"));
  clock.advance(4ms);
  deliver(tiny({'m', 1}));
  is(State::streaming);
  LONGS_EQUAL(1, log.samples.size());
  CHECK_TRUE(driver->due() == clock.now() + 6ms);
  tick(6ms);
  CHECK_TRUE(port->written == hex("70 70"));
  books_balance();
}

TEST(DeviceTalk, WhatIsPolledIsMeasuredInTheMiddleOfTheExchange) {
  build<Polled>();
  driver->start(clock.now());
  tick(10ms);
  const hal::Time asked = clock.now();
  clock.advance(4ms);
  deliver(tiny({'m', 1}));
  CHECK_TRUE(log.samples.at(0).at == asked + 2ms);
}

TEST(DeviceTalk, RoutinesThatFallDueTogetherAreHeldOneAfterTheOther) {
  build<Polled>();
  driver->start(clock.now());
  for (unsigned i = 0; i < 5; ++i) tick(10ms), deliver(tiny({'m', i}));
  CHECK_TRUE(port->written == hex("70 70 70 70 70 68"));
  deliver(tiny({'a'}));
  LONGS_EQUAL(1, health().replies);
  tick(10ms);
  CHECK_TRUE(port->written == hex("70 70 70 70 70 68 70"));
  books_balance();
}

TEST(DeviceTalk, ALateRoutineIsNotCaughtUp) {
  build<Polled>();
  driver->start(clock.now());
  driver->tick(clock.advance(100ms));
  deliver(tiny({'m', 1}));
  CHECK_TRUE(port->written == hex("70 68"));  // one poll, and the health that was due, too
  deliver(tiny({'a'}));
  CHECK_TRUE(port->written == hex("70 68"));  // the polls that were missed stay missed
}

TEST(DeviceTalk, AnUnansweredPollIsAFaultThatTellsItsName) {
  build<Polled>();
  driver->start(clock.now());
  tick(10ms);
  deliver(tiny({'m', 1}));
  tick(40ms);
  is(State::streaming);
  tick(200ms);
  is(State::backoff);
  STRCMP_CONTAINS("no answer to 'poll' (2 tries of 100 ms)", health().why.c_str());
}

TEST(DeviceTalk, NothingIsPolledOnceItStops) {
  build<Polled>();
  driver->start(clock.now());
  tick(10ms);
  deliver(tiny({'m', 1}));
  driver->stop(clock.now());
  CHECK_TRUE(driver->stopped());
  CHECK_TRUE(driver->due() == hal::Time::max());
}

TEST(DeviceTalk, AControlChannelMayBeHungUpAfterEachAnswer) {
  build<Caller>(0, true);
  control->opens_later = true;
  driver->start(clock.now());
  control->finish_open();
  CHECK_TRUE(control->written == hex("31"));
  control->deliver(tiny({'a'}));
  LONGS_EQUAL(2, control->opens);  // for the second request, although the first is not closed yet
  CHECK_TRUE(control->written == hex("31"));
  control->finish_open();
  CHECK_TRUE(control->written == hex("31 32"));
  control->deliver(tiny({'a'}));
  control->unplug();
  is(State::starting);
  deliver(tiny({'m', 1}));
  is(State::streaming);
  books_balance();
}

TEST(DeviceTalk, ADataChannelThatIsHungUpIsAFault) {
  build<Caller>(0, true);
  driver->start(clock.now());
  port->unplug();
  is(State::backoff);
}

TEST(DeviceTalk, AChannelThatCannotBeReopenedIsAFault) {
  build<Caller>(0, true);
  driver->start(clock.now());
  control->refuse_open = true;
  control->deliver(tiny({'a'}));
  is(State::backoff);
  why_is(Cause::no_port, "fake: open");
  LONGS_EQUAL(1, health().faults);
}

TEST(DeviceTalk, APortIsReopenedWithinTheDialogue) {
  build<Rebooter>();
  driver->start(clock.now());
  LONGS_EQUAL(1, port->opens);
  port->opens_later = true;
  tick(50ms);
  LONGS_EQUAL(2, port->opens);
  CHECK_TRUE(port->written == hex("72"));
  port->finish_open();
  CHECK_TRUE(port->written == hex("72 67"));
  deliver(tiny({'a'}));
  deliver(tiny({'m', 1}));
  is(State::streaming);
}

TEST(DeviceTalk, TheDeviceIsToldTheAddressOfTheConnectionAndThePortOfTheData) {
  build<Receiver>(0, true);
  port->own = {{}, 2115};
  control->own = {{192, 168, 0, 2}, 40'000};
  driver->start(clock.now());
  CHECK_TRUE(control->written == test::hex("31 39 32 2E 31 36 38 2E 30 2E 32 3A 32 31 31 35"));
}

TEST(DeviceTalk, AnAddressThatIsBoundToIsTold) {
  build<Receiver>(0, true);
  port->own = {{10, 0, 0, 1}, 80};
  control->own = {{192, 168, 0, 2}, 40'000};
  driver->start(clock.now());
  CHECK_TRUE(control->written == test::hex("31 30 2E 30 2E 30 2E 31 3A 38 30"));
}

TEST(DeviceTalk, WhatIsConfiguredIsTold) {
  drivers::DriverSetup setup;
  setup.sink = &log;
  setup.host = {{1, 2, 3, 4}, 5};
  port = add(setup, Channel::data);
  port->own = {{10, 0, 0, 1}, 80};
  driver = drivers::make_driver<Receiver>(options, std::move(setup));
  driver->start(clock.now());
  CHECK_TRUE(port->written == test::hex("31 2E 32 2E 33 2E 34 3A 35"));
}

TEST(DeviceTalk, WithoutAnAddressNothingIsTold) {
  build<Receiver>();
  driver->start(clock.now());
  LONGS_EQUAL(0, port->written.size());
}

TEST(DeviceTalk, DatagramsOfAnotherSenderAreToldWithItsAddress) {
  build<Receiver>(0);
  port->label = "udp:2368";
  port->counters.from.print("192.168.0.1");
  port->counters.rejected_datagrams = 5;  // before it was opened
  driver->start(clock.now());
  tick(1100ms);
  why_is(Cause::no_bytes, "no byte: power, cable, address?");
  port->counters.rejected_datagrams = 9;
  port->counters.last_rejected.print("192.168.0.9:4000");
  tick(20ms);
  why_is(Cause::no_bytes, "datagrams come from 192.168.0.9, not from 192.168.0.1: set from");
}

TEST(DeviceTalk, ADeviceThatAnswersAndIsNotHeardIsToldFromOneThatIsNotThere) {
  build<Receiver>(0, true);
  port->label = "udp:2115";
  port->own = {{}, 2115};
  control->own = {{192, 168, 0, 2}, 40'000};
  driver->start(clock.now());
  tick(150ms);
  why_is(Cause::no_bytes,
         "no answer to 'tell' (1 tries of 100 ms); no byte: power, cable, address?");
  tick(100ms);
  control->deliver(tiny({'a'}));
  tick(1100ms);
  why_is(
      Cause::no_bytes,
      "it answers on its control port, but no datagram arrives on udp:2115 of 192.168.0.2: wrong "
      "interface, a firewall, or is it told another address?");
  is(State::starting);
  tick(2000ms);
  is(State::backoff);
}

TEST(DeviceTalk, ADeviceThatForgotWhereToSendIsToldAgain) {
  build<Receiver>(0, true);
  port->label = "udp:2115";
  control->own = {{192, 168, 0, 2}, 40'000};
  driver->start(clock.now());
  control->deliver(tiny({'a'}));
  deliver(tiny({'m', 1}));
  is(State::streaming);
  LONGS_EQUAL(1, control->writes.size());
  tick(100ms);
  is(State::silent);
  tick(500ms);
  is(State::backoff);
  tick(120ms);
  LONGS_EQUAL(2, control->writes.size());
  CHECK_TRUE(control->writes[0] == control->writes[1]);
  control->deliver(tiny({'a'}));
  deliver(tiny({'m', 2}));
  is(State::streaming);
  books_balance();
}

TEST(DeviceTalk, ADeviceThatSendsDatagramsIsToldWhere) {
  build<Offerer>(0, true);
  port->own = {{127, 0, 0, 1}, 6060};
  driver->start(clock.now());
  LONGS_EQUAL(1, port->opens);
  control->deliver(tiny({'a'}));
  CHECK_TRUE(control->written == hex("17 AC 67"));
  LONGS_EQUAL(1, port->opens);
}

TEST(DeviceTalk, ADataConnectionIsMadeWhereTheDeviceOffersIt) {
  build<Offerer>(0, true);
  port->connects = port->opens_later = true;
  driver->start(clock.now());
  LONGS_EQUAL(0, port->opens);
  CHECK_TRUE(control->written == hex("00 00"));
  control->deliver(tiny({'a'}));
  LONGS_EQUAL(1, port->opens);
  LONGS_EQUAL(4711, port->connected_to);
  port->finish_open();
  CHECK_TRUE(port->written.empty());
  tick(50ms);
  control->deliver(tiny({'a'}));
  deliver(tiny({'m', 1}));
  is(State::streaming);
  port->unplug();
  is(State::backoff);
  tick(100ms);
  is(State::starting);
  LONGS_EQUAL(1, port->opens);
  books_balance();
}

TEST(DeviceTalk, ADataConnectionThatIsNotMadeIsAFault) {
  build<Offerer>(0, true);
  port->connects = port->refuse_open = true;
  driver->start(clock.now());
  control->deliver(tiny({'a'}));
  is(State::backoff);
  why_is(Cause::no_port, "fake: open");
}
