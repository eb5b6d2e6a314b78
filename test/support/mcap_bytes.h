// What a program sends to the input socket, as bytes.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "hal/mcap/records.h"

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

}  // namespace test
