// A client of the stream socket, as any other program would be one.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/messages.h"
#include "hal/mcap/reader.h"
#include "hal/unique_fd.h"

namespace lidarctl {

inline constexpr const char* kDefaultSocket = "/run/lidard/stream.sock";

// The stream socket at `path`; a Failure names it and what to do when nobody listens there.
hal::UniqueFd connect(const std::string& path);

struct StreamMessage {
  const std::string& topic;
  const std::string& type;  // "sensor_msgs/msg/Imu"
  hal::mcap::Message message;
};

class StreamClient final : private hal::mcap::RecordSink {
 public:
  using OnMessage = std::function<void(const StreamMessage&)>;

  explicit StreamClient(const std::string& socket);  // or the Failure of connect()

  // Waits up to `timeout_ms` for bytes and hands over the messages in them. False when the stream
  // has ended.
  bool read(int timeout_ms, const OnMessage& on_message);

 private:
  void on_record(const hal::mcap::Record&) override;

  struct Channel {
    std::string topic, type;
  };
  hal::UniqueFd fd_;
  hal::mcap::Reader reader_;
  std::vector<std::byte> buffer_;
  std::map<std::uint16_t, std::string> types_;
  std::map<std::uint16_t, Channel> channels_;
  const OnMessage* on_message_ = nullptr;
};

}  // namespace lidarctl
