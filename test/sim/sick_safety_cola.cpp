#include "test/sim/sick_safety_cola.h"

#include <algorithm>

#include "test/sim/wire.h"

namespace sim::sick_safety {
namespace {

constexpr std::size_t kLead = 8;         // start and length
constexpr std::size_t kFixedBytes = 10;  // what the length counts beside the body
constexpr std::uint64_t kStart = 0x02020202;
constexpr std::size_t kLongest = 4096;

}  // namespace

std::optional<Request> RequestReader::next() {
  while (held_.size() >= kLead + kFixedBytes) {
    const std::size_t length = get_be(held_, 4, 4);
    if (get_be(held_, 0, 4) != kStart || length < kFixedBytes || length > kLongest) {
      held_.erase(held_.begin());
      continue;
    }
    if (held_.size() < kLead + length) return std::nullopt;
    // A socket index follows the number of connections when there is one.
    const std::size_t extra = u8_at(held_, 9) != 0 && length >= kFixedBytes + 4 ? 4 : 0;
    Request request;
    request.session = static_cast<std::uint32_t>(get_be(held_, 10 + extra, 4));
    request.id = static_cast<std::uint16_t>(get_be(held_, 14 + extra, 2));
    request.command = static_cast<char>(held_[16 + extra]);
    request.mode = static_cast<char>(held_[17 + extra]);
    const auto at = [this](std::size_t place) {
      return held_.begin() + static_cast<std::ptrdiff_t>(place);
    };
    request.body.assign(at(kLead + kFixedBytes + extra), at(kLead + length));
    held_.erase(held_.begin(), at(kLead + length));
    return request;
  }
  return std::nullopt;
}

ByteVector reply(const Request& request, std::uint32_t session, const char* letters,
                 const ByteVector& body) {
  ByteVector frame;
  put_be(frame, kStart, 4);
  put_be(frame, kFixedBytes + body.size(), 4);
  put_be(frame, 0, 2);  // hub counter, number of connections
  put_be(frame, session, 4);
  put_be(frame, request.id, 2);
  put_text(frame, letters);
  frame.insert(frame.end(), body.begin(), body.end());
  return frame;
}

ByteVector refusal(const Request& request, Refusal why) {
  ByteVector body;
  put_be(body, static_cast<std::uint16_t>(why), 2);
  return reply(request, request.session, "FA", body);
}

std::optional<std::uint32_t> Sessions::open(hal::Duration timeout, hal::Time now) {
  expire(now);
  if (open_.size() >= most_) return std::nullopt;
  open_.push_back({next_++, timeout, now});
  return open_.back().id;
}

bool Sessions::use(std::uint32_t id, hal::Time now) {
  expire(now);
  const auto found = std::ranges::find(open_, id, &Session::id);
  if (found == open_.end()) return false;
  found->used = now;
  return true;
}

void Sessions::close(std::uint32_t id) {
  std::erase_if(open_, [id](const Session& session) { return session.id == id; });
}

void Sessions::expire(hal::Time now) {
  std::erase_if(open_, [now](const Session& s) { return now - s.used > s.timeout; });
}

}  // namespace sim::sick_safety
