#include "drivers/rplidar/rplidar.h"

#include "drivers/registry.h"
#include "test/support/allocation_counter.h"
#include "test/support/fake_port.h"
#include "test/support/harness.h"
#include "test/support/manual_clock.h"
#include "test/support/rplidar_frames.h"

using drivers::Cause;
using drivers::DeviceDriver;
using drivers::Rplidar;
using drivers::State;
using test::Stream;
using namespace std::chrono_literals;
namespace device = test::rplidar;

namespace {

struct Mode {
  const char* name;
  unsigned answer;
  double us;
};

// Answers as a device would, in zero time. What it is and knows is set by the test.
struct Lidar {
  unsigned model = 0x18, firmware = 0x11D;  // A1M8, 1.29
  std::vector<unsigned> health{0};          // one per question; the last one stays
  bool has_board = false;
  bool prints_banner = true;
  bool answers = true, short_conf = false, knows_express = true;
  unsigned typical = 3;
  std::vector<Mode> modes{{"Standard", 0x81, 508},
                          {"Express", 0x82, 254},
                          {"Boost", 0x84, 127},
                          {"Sensitivity", 0x84, 127},
                          {"Stability", 0x84, 201}};

  std::vector<Stream> heard;
  unsigned streams = 0;  // answer type

  static bool has_payload(unsigned command) { return command >= 0x80; }
  Stream answer(const Stream& request) {
    heard.push_back(request);
    const auto at = [&](std::size_t i) { return std::to_integer<unsigned>(request[i]); };
    if (!answers) return {};
    switch (at(1)) {
      case 0x25:
        streams = 0;
        return {};
      case 0x40:
        streams = 0;
        return prints_banner ? device::banner() : Stream{};
      case 0x50:
        return device::reply(
            0x04, device::join({device::number(model, 1), device::number(firmware & 255, 1),
                                device::number(firmware >> 8, 1), device::number(7, 1),
                                Stream(16, std::byte{0x42})}));
      case 0x52: {
        const unsigned status = health.front();
        if (health.size() > 1) health.erase(health.begin());
        return device::reply(0x06, device::join({device::number(status, 1),
                                                 device::number(status == 2 ? 0x8002 : 0, 2)}));
      }
      case 0x59:
        return device::reply(0x15, device::join({device::number(500, 2), device::number(250, 2)}));
      case 0xFF:
        return device::reply(0xFF, device::number(has_board, 4));
      case 0x84:
        return firmware >= 0x118 ? conf(request) : Stream{};
      case 0x20:
        return start(0x81);
      case 0x82:
        if (!knows_express) return {};
        return start(at(3) == 0 ? 0x82 : modes[at(3)].answer);
      default:
        return {};
    }
  }
  Stream start(unsigned type) {
    streams = type;
    const auto* const format = drivers::rplidar::find_format(type);
    return device::descriptor(type, static_cast<std::uint32_t>(format->bytes), true);
  }
  Stream conf(const Stream& request) const {
    const unsigned type = std::to_integer<unsigned>(request[3]);
    const std::size_t mode = request.size() > 9 ? std::to_integer<std::size_t>(request[7]) : 0;
    if (short_conf) return device::conf_reply(type, {});
    switch (type) {
      case 0x01:
        return device::conf_reply(type,
                                  device::join({device::number(610, 2), device::number(700, 2)}));
      case 0x70:
        return device::conf_reply(type, device::number(modes.size(), 2));
      case 0x71:
        return device::conf_reply(
            type, device::number(static_cast<std::uint64_t>(modes[mode].us * 256), 4));
      case 0x75:
        return device::conf_reply(type, device::number(modes[mode].answer, 1));
      case 0x7C:
        return device::conf_reply(type, device::number(typical, 2));
      case 0x7F:
        return device::conf_reply(
            type, device::join({device::text(modes[mode].name), device::number(0, 1)}));
      default:
        return device::conf_reply(type, {});
    }
  }
};

struct Log final : drivers::PacketSink {
  void on_packet(drivers::SensorId, const drivers::Packet& packet, hal::Time) override {
    ++packets;
    step = std::get<drivers::ScanSlice>(packet).step;
  }
  void on_state(drivers::SensorId, State, hal::Time) override {}
  int packets = 0;
  hal::Duration step{};
};

// Requests of one write: each begins with A5.
std::vector<Stream> requests_in(const Stream& written) {
  std::vector<Stream> out;
  for (std::size_t at = 0; at + 1 < written.size();) {
    const unsigned command = std::to_integer<unsigned>(written[at + 1]);
    const std::size_t size =
        Lidar::has_payload(command) ? 4 + std::to_integer<std::size_t>(written[at + 2]) : 2;
    const auto begin = written.begin() + static_cast<std::ptrdiff_t>(at);
    out.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(size));
    at += size;
  }
  return out;
}

}  // namespace

TEST_GROUP(Rplidar) {
  test::ManualClock clock;
  Log log;
  Lidar lidar;
  drivers::Options options{Rplidar::options()};
  test::FakePort* port = nullptr;  // owned by the driver
  std::unique_ptr<DeviceDriver<Rplidar>> driver;
  std::size_t served = 0;
  unsigned sent = 0;

  void set(std::string_view key, std::string_view value) {
    CHECK_TRUE(static_cast<bool>(options.set(key, value)));
  }
  void start() {
    auto owned = std::make_unique<test::FakePort>(clock);
    port = owned.get();
    drivers::DriverSetup setup{.baud = 115200, .sink = &log};
    setup.ports[0] = std::move(owned);
    driver = std::make_unique<DeviceDriver<Rplidar>>(options, std::move(setup));
    driver->start(clock.now());
  }
  // Answers everything that was asked, until nothing more is asked.
  void serve() {
    while (served < port->writes.size()) {
      const Stream written = port->writes[served++];
      for (const Stream& request : requests_in(written)) {
        const Stream reply = lidar.answer(request);
        if (!reply.empty()) port->deliver(reply);
      }
    }
  }
  void pass(hal::Duration time, hal::Duration step = 5ms) {
    for (; time > 0ms; time -= step) {
      clock.advance(step);
      serve();
      stream(1);
      driver->tick(clock.now());
    }
    serve();
  }
  void stream(int frames) {
    for (; frames > 0 && lidar.streams != 0; --frames, ++sent) {
      if (lidar.streams == 0x81) {
        port->deliver(device::node(std::fmod(1.5 * sent, 360), 1000, 20));
      } else if (lidar.streams == 0x82) {
        port->deliver(device::express(15.0 * sent, 1000));
      } else if (lidar.streams == 0x84) {
        port->deliver(device::ultra(15.0 * sent, {device::cabin(300, 0, 0)}));
      } else {
        port->deliver(device::dense(4.5 * sent, 1000));
      }
    }
  }
  State state() const { return driver->health().state; }
  void check_heard(std::initializer_list<const char*> expected) {
    std::vector<Stream> wanted;
    for (const char* text : expected) wanted.push_back(device::hex(text));
    CHECK_TRUE(lidar.heard == wanted);
  }
  bool heard(const char* text) const {
    return std::ranges::find(lidar.heard, device::hex(text)) != lidar.heard.end();
  }
  void check_books() const {
    const auto h = driver->health();
    LONGS_EQUAL(h.framing.bytes, h.framing.frame_bytes + h.framing.garbage_bytes + h.pending);
    LONGS_EQUAL(h.framing.frames,
                h.replies + h.packets + h.stale + h.unwanted + h.silent_frames + h.undecodable);
  }
  void check_why(const char* part) const {
    CHECK_TRUE_TEXT(driver->health().why.view().find(part) != std::string_view::npos,
                    driver->health().why.c_str());
  }
};

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

TEST(Rplidar, AModeIsFoundByItsNameInAnyCase) {
  set("mode", "sTABILITY");
  start();
  pass(200ms);
  CHECK_TRUE(state() == State::streaming);
  CHECK_TRUE(heard("A5 82 05 04 00 00 00 00 26"));
  CHECK_TRUE(log.step == 201us);
}

TEST(Rplidar, StandardModeIsStartedByScan) {
  set("mode", "Standard");
  start();
  pass(200ms);
  CHECK_TRUE(state() == State::streaming);
  CHECK_TRUE(heard("A5 20"));
  CHECK_TRUE(log.step == 508us);
}

TEST(Rplidar, AnUnknownModeIsRefusedWithTheModesThatExist) {
  set("mode", "Turbo");
  start();
  pass(100ms);
  CHECK_TRUE(state() == State::backoff);
  CHECK_TRUE(driver->health().cause == Cause::refused);
  check_why("'Turbo'");
  check_why("Standard, Express, Boost, Sensitivity, Stability");
}

TEST(Rplidar, OldFirmwareIsStartedInExpress) {
  lidar.firmware = 0x117;
  start();
  pass(200ms);
  CHECK_TRUE(state() == State::streaming);
  check_heard({"A5 25", "A5 50", "A5 52", "A5 59", "A5 82 05 00 00 00 00 00 22"});
  CHECK_TRUE(log.step == 250us);
}

TEST(Rplidar, FirmwareWithoutExpressIsStartedInStandard) {
  lidar.firmware = 0x104;
  lidar.knows_express = false;
  start();
  pass(1300ms);
  CHECK_TRUE(state() == State::streaming);
  CHECK_TRUE(lidar.heard.back() == device::hex("A5 20"));
  CHECK_TRUE(log.step == 500us);
}

TEST(Rplidar, OldFirmwareRefusesModesItCannotHave) {
  lidar.firmware = 0x117;
  set("mode", "Boost");
  start();
  pass(100ms);
  CHECK_TRUE(driver->health().cause == Cause::refused);
  check_why("1.23 has only Standard and Express");
}

TEST(Rplidar, ExpressOfOldFirmwareByName) {
  lidar.firmware = 0x117;
  set("mode", "Express");
  start();
  pass(200ms);
  CHECK_TRUE(state() == State::streaming);
  CHECK_TRUE(lidar.heard.back() == device::hex("A5 82 05 00 00 00 00 00 22"));
}

TEST(Rplidar, ConfigurationRepliesWithoutAValueFallBack) {
  lidar.short_conf = true;
  lidar.model = 0x71;
  start();
  pass(300ms);
  CHECK_TRUE(state() == State::streaming);
  CHECK_TRUE(heard("A5 A8 02 58 02 55"));           // 600
  CHECK_TRUE(heard("A5 82 05 00 00 00 00 00 22"));  // legacy express
}

TEST(Rplidar, ConfigurationRepliesOfAnyLengthAreSurvived) {
  for (std::size_t n = 0; n < 8; ++n) {
    for (const char* mode : {"typical", "Boost"}) {
      set("mode", mode);
      lidar = Lidar{};
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
  pass(250ms);
  CHECK_TRUE(state() == State::silent);
  pass(1300ms);
  CHECK_TRUE(state() == State::streaming);
  LONGS_EQUAL(1, driver->health().faults);
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
  const auto figures = row->figures(options);
  LONGS_EQUAL(4096, figures.beams_per_turn);
  // A chunk must have room for the largest packet, and the fastest models be within the rates.
  CHECK_TRUE(4096 / (figures.packets_hz / figures.turns_hz) >= 95.9);
  CHECK_TRUE(figures.packets_hz >= 800);
}
