// A client of the stream socket, as any other program would be one, and of what it recorded.
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

using OnMessage = std::function<void(const StreamMessage&)>;

// Messages out of the bytes of a stream or of a recording.
class MessageReader final : private hal::mcap::RecordSink {
 public:
  // A Failure naming `source` when the bytes are no MCAP, or damaged.
  void feed(hal::Bytes bytes, const std::string& source, const OnMessage& on_message);
  bool finished() const { return reader_.finished(); }

 private:
  void on_record(const hal::mcap::Record&) override;

  struct Channel {
    std::string topic, type;
  };
  hal::mcap::Reader reader_{std::size_t{16} << 20};
  std::map<std::uint16_t, std::string> types_;
  std::map<std::uint16_t, Channel> channels_;
  const OnMessage* on_message_ = nullptr;
  hal::Status unpacked_ = hal::ok;  // of the newest compressed chunk
};

class StreamClient {
 public:
  explicit StreamClient(const std::string& socket);  // or the Failure of connect()

  // Waits up to `timeout_ms` for bytes and hands over the messages in them. False when the stream
  // has ended.
  bool read(int timeout_ms, const OnMessage& on_message);

 private:
  hal::UniqueFd fd_;
  MessageReader reader_;
  std::vector<std::byte> buffer_;
};

}  // namespace lidarctl
