// Open Sound Control 1.0 as a device writes and reads it, and SLIP around it. Source:
// opensoundcontrol.org, specification 1.0; RFC 1055.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "test/sim/device_model.h"

namespace sim::osc {

// Booleans stand in the type tags alone. Blobs are not needed.
using Argument = std::variant<float, std::int32_t, std::string, bool>;

struct Message {
  std::string address;
  std::vector<Argument> arguments;
};

ByteVector bytes_of(const Message& message);
// `time_tag`: NTP, 32.32 bits. Elements are messages or bundles.
ByteVector bundle(std::uint64_t time_tag, const std::vector<ByteVector>& elements);
// A message alone, or all messages of a bundle; what makes no sense is left out.
std::vector<Message> messages_in(hal::Bytes packet);

ByteVector slip(hal::Bytes packet);

class SlipReader {
 public:
  // A packet, where this byte ends one.
  std::optional<ByteVector> add(std::byte byte);
  void clear() { packet_.clear(), escaped_ = false; }

 private:
  ByteVector packet_;
  bool escaped_ = false;
};

}  // namespace sim::osc
