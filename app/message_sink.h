// Where encoded messages go: the stream socket of the daemon, or what a replay makes of them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "app/schemas.h"
#include "hal/bytes.h"
#include "hal/result.h"

namespace app {

using ChannelId = std::uint16_t;

class MessageSink {
 public:
  // At set-up, but for the channel of an input, which is declared as its first sender declares it.
  // The texts of the type outlive the sink. `latched_bytes`: the newest message, up to this size, is kept for those who
  // come later; 0: not latched.
  virtual hal::Result<ChannelId> add_channel(std::string_view topic, const MessageType&,
                                             std::size_t latched_bytes) = 0;
  // Where the next message may be encoded.
  virtual std::span<std::byte> scratch() = 0;
  // Unix times, ns.
  virtual void publish(ChannelId, std::int64_t log_time, std::int64_t publish_time, hal::Bytes) = 0;

 protected:
  ~MessageSink() = default;
};

}  // namespace app
