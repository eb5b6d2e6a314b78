// An RPLIDAR that answers in zero time, a driver that talks to it, and what the two said.
#pragma once

#include "drivers/rplidar/rplidar.h"
#include "test/support/fake_port.h"
#include "test/support/harness.h"
#include "test/support/manual_clock.h"
#include "test/support/rplidar_frames.h"

namespace test::rplidar {

using drivers::DeviceDriver;
using drivers::Rplidar;
using drivers::State;

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
        return prints_banner ? rplidar::banner() : Stream{};
      case 0x50:
        return rplidar::reply(
            0x04, rplidar::join({rplidar::number(model, 1), rplidar::number(firmware & 255, 1),
                                 rplidar::number(firmware >> 8, 1), rplidar::number(7, 1),
                                 Stream(16, std::byte{0x42})}));
      case 0x52: {
        const unsigned status = health.front();
        if (health.size() > 1) health.erase(health.begin());
        return rplidar::reply(0x06, rplidar::join({rplidar::number(status, 1),
                                                   rplidar::number(status == 2 ? 0x8002 : 0, 2)}));
      }
      case 0x59:
        return rplidar::reply(0x15,
                              rplidar::join({rplidar::number(500, 2), rplidar::number(250, 2)}));
      case 0xFF:
        return rplidar::reply(0xFF, rplidar::number(has_board, 4));
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
    return rplidar::descriptor(type, static_cast<std::uint32_t>(format->bytes), true);
  }
  Stream conf(const Stream& request) const {
    const unsigned type = std::to_integer<unsigned>(request[3]);
    const std::size_t mode = request.size() > 9 ? std::to_integer<std::size_t>(request[7]) : 0;
    if (short_conf) return rplidar::conf_reply(type, {});
    switch (type) {
      case 0x01:
        return rplidar::conf_reply(
            type, rplidar::join({rplidar::number(610, 2), rplidar::number(700, 2)}));
      case 0x70:
        return rplidar::conf_reply(type, rplidar::number(modes.size(), 2));
      case 0x71:
        return rplidar::conf_reply(
            type, rplidar::number(static_cast<std::uint64_t>(modes[mode].us * 256), 4));
      case 0x75:
        return rplidar::conf_reply(type, rplidar::number(modes[mode].answer, 1));
      case 0x7C:
        return rplidar::conf_reply(type, rplidar::number(typical, 2));
      case 0x7F:
        return rplidar::conf_reply(
            type, rplidar::join({rplidar::text(modes[mode].name), rplidar::number(0, 1)}));
      default:
        return rplidar::conf_reply(type, {});
    }
  }
};

struct Log final : drivers::PacketSink {
  void on_packet(drivers::SensorId, const drivers::Packet& packet, hal::Time) override {
    ++packets;
    const auto& slice = std::get<drivers::ScanSlice>(packet);
    step = slice.step;
    beams += slice.beams.size();
  }
  void on_state(drivers::SensorId, State, hal::Time) override {}
  int packets = 0;
  std::size_t beams = 0;
  hal::Duration step{};
};

// Requests of one write: each begins with A5.
inline std::vector<Stream> requests_in(const Stream& written) {
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

struct RplidarBench : Utest {
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
    drivers::DriverSetup setup{.outputs = 1, .baud = 115200, .sink = &log};
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
        port->deliver(rplidar::node(std::fmod(1.5 * sent, 360), 1000, 20));
      } else if (lidar.streams == 0x82) {
        port->deliver(rplidar::express(15.0 * sent, 1000));
      } else if (lidar.streams == 0x84) {
        port->deliver(rplidar::ultra(15.0 * sent, {rplidar::cabin(300, 0, 0)}));
      } else {
        port->deliver(rplidar::dense(4.5 * sent, 1000));
      }
    }
  }
  State state() const { return driver->health().state; }
  void check_heard(std::initializer_list<const char*> expected) {
    std::vector<Stream> wanted;
    for (const char* text : expected) wanted.push_back(rplidar::hex(text));
    CHECK_TRUE(lidar.heard == wanted);
  }
  bool heard(const char* text) const {
    return std::ranges::find(lidar.heard, rplidar::hex(text)) != lidar.heard.end();
  }
  void check_books() const { CHECK_TRUE(driver->health().balances()); }
  void check_why(const char* part) const {
    CHECK_TRUE_TEXT(driver->health().why.view().find(part) != std::string_view::npos,
                    driver->health().why.c_str());
  }
};

}  // namespace test::rplidar
