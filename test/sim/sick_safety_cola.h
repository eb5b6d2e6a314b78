// CoLa2 of a SICK safety scanner: frames in, sessions, frames out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "test/sim/device_model.h"

namespace sim::sick_safety {

// 'F','A' and these codes.
enum class Refusal : std::uint16_t {
  access_denied = 1,
  unknown_method = 2,
  unknown_variable = 3,
  local_condition = 4,
  busy = 0xD,
  no_free_session = 0x21,
  unknown_session = 0x22,
};

struct Request {
  std::uint32_t session = 0;
  std::uint16_t id = 0;
  char command = 0, mode = 0;
  ByteVector body;
};

// Cuts the host's bytes into requests; whatever is not one is skipped byte by byte.
class RequestReader {
 public:
  void feed(hal::Bytes bytes) { held_.insert(held_.end(), bytes.begin(), bytes.end()); }
  std::optional<Request> next();
  void clear() { held_.clear(); }

 private:
  ByteVector held_;
};

// A reply to `request`: "OA" and the like, then the body.
ByteVector reply(const Request& request, std::uint32_t session, const char* letters,
                 const ByteVector& body = {});
ByteVector refusal(const Request& request, Refusal why);

// Who is in a session; one that was silent for its time is over.
class Sessions {
 public:
  explicit Sessions(std::size_t most) : most_(most) {}

  std::optional<std::uint32_t> open(hal::Duration timeout, hal::Time now);
  // Whether there is such a session; it lives on from now.
  bool use(std::uint32_t id, hal::Time now);
  void close(std::uint32_t id);
  void clear() { open_.clear(); }

 private:
  struct Session {
    std::uint32_t id;
    hal::Duration timeout;
    hal::Time used;
  };
  void expire(hal::Time now);

  std::size_t most_;
  std::uint32_t next_ = 0x1234;
  std::vector<Session> open_;
};

}  // namespace sim::sick_safety
