// A station with the input socket: an IMU and a lidar that are the test, senders that are bytes.
#pragma once

#include <string>
#include <vector>

#include "hal/mcap/records.h"
#include "test/support/fake_port.h"
#include "test/support/station_bench.h"

namespace test {

// What a sender sends, record by record.
class McapBytes {
 public:
  McapBytes& magic() { return add(hal::mcap::kMagic); }
  McapBytes& header() { return put(hal::mcap::Header{"ros2", "sender"}); }
  McapBytes& schema(std::uint16_t id, std::string_view name, std::string_view text = "") {
    return put(hal::mcap::Schema{id, name, "ros2msg", std::as_bytes(std::span(text))});
  }
  McapBytes& channel(std::uint16_t id, std::uint16_t schema, std::string_view topic,
                     std::string_view encoding = "cdr") {
    return put(hal::mcap::Channel{id, schema, topic, encoding, {}});
  }
  McapBytes& message(std::uint16_t channel, std::int64_t log_time, std::string_view data) {
    const hal::Bytes bytes = std::as_bytes(std::span(data));
    const auto unix_ns = static_cast<std::uint64_t>(log_time);
    add(encode_head(hal::mcap::Message{channel, 0, unix_ns, unix_ns, bytes}));
    return add(bytes);
  }
  McapBytes& add(hal::Bytes bytes) {
    all.insert(all.end(), bytes.begin(), bytes.end());
    return *this;
  }
  template <class Record>
  McapBytes& put(const Record& record) {
    std::vector<std::byte> bytes(encode(record, {}));
    encode(record, bytes);
    return add(bytes);
  }
  // Up to the messages of /odom, on channel 1.
  static McapBytes odom(std::string_view text = "float64 x") {
    McapBytes bytes;
    bytes.magic().header().schema(7, "nav_msgs/msg/Odometry", text).channel(1, 7, "/odom");
    return bytes;
  }
  std::vector<std::byte> all;
};

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
