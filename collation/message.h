// What collation carries for another program: one message whose content nobody here looks into.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "hal/bounded.h"
#include "hal/time.h"

namespace collation {

// How the sender declared it; empty where he told nothing. Views of texts that outlive all messages
// of the sensor.
struct MessageFormat {
  std::string_view schema;           // "nav_msgs/msg/Odometry"
  std::string_view schema_encoding;  // "ros2msg"
  std::string_view definition;       // the schema's text
  std::string_view encoding;         // "cdr"
};

struct OpaqueMessage {
  explicit OpaqueMessage(std::size_t max_bytes) : data(max_bytes) {}

  hal::Time at{};
  const MessageFormat* format = nullptr;
  hal::BoundedVector<std::byte> data;
};

using MessagePool = hal::Pool<OpaqueMessage>;

// Bytes that a pool of `count` takes, for the memory budget.
constexpr std::size_t message_pool_bytes(std::size_t count, std::size_t max_bytes) {
  return count * (sizeof(OpaqueMessage) + max_bytes);
}

}  // namespace collation
