// A station with the input socket: an IMU and a lidar that are the test, senders that are bytes.
#pragma once

#include <string>
#include <vector>

#include "test/support/fake_port.h"
#include "test/support/mcap_bytes.h"
#include "test/support/station_bench.h"

namespace test {

class InputBench : public StationBench {
 public:
  // `odom`: more options of its input.
  explicit InputBench(const std::string& odom = "")
      : StationBench(
            "input: {clients: 2}\n"
            "inputs:\n"
            "  odom: {schema: nav_msgs/msg/Odometry, max_bytes: 64, rate_hz: 50" +
            odom +
            "}\n"
            "  gps: {topic: /fix, schema: sensor_msgs/msg/NavSatFix, rate_hz: 5}\n") {
    for (FakePort*& sender : senders) {
      auto port = std::make_unique<FakePort>(clock);
      port->opens_later = true;
      sender = port.get();
      station->pipeline().inputs().add(std::move(port));
    }
    pass();  // the start
  }

  const app::Inputs& inputs() { return station->pipeline().inputs(); }
  const app::InputStats& odom() { return inputs().stats(0); }
  app::SenderStats sent() { return inputs().senders(); }
  std::int64_t unix_now() const { return clock.both().unix_ns; }
  void send(const McapBytes& bytes, std::size_t sender = 0) {
    pass([&] { senders[sender]->deliver(bytes.all); });
  }
  void connect(std::size_t sender = 0) { senders[sender]->finish_open(); }
  // What has left on a topic, as text.
  std::vector<std::string> left(std::string_view topic) {
    std::vector<std::string> texts;
    for (const MessageLog::Message& m : messages.on(topic)) {
      const hal::Bytes bytes = messages.bytes_of(m);
      texts.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    return texts;
  }

  std::array<FakePort*, 2> senders{};  // owned by the station
};

}  // namespace test
