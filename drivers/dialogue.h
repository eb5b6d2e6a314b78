// What is said to a device and what it must answer: a table of steps, held one after the other.
#pragma once

#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "drivers/framer.h"
#include "hal/text.h"

namespace drivers {

// One request in the making. Bytes beyond its capacity are a programmer's error and are left out.
class Request {
 public:
  static constexpr std::size_t kCapacity = 512;

  Request& u8(unsigned v) { return put(v, 1); }
  Request& u16(unsigned v) { return put(v, 2); }  // little-endian
  Request& u32(std::uint32_t v) { return put(v, 4); }
  Request& u16be(unsigned v) { return u8(v >> 8).u8(v); }
  Request& u32be(std::uint32_t v) { return u16be(v >> 16).u16be(v & 0xFFFF); }
  Request& text(std::string_view s) { return bytes(std::as_bytes(std::span(s))); }
  Request& bytes(Bytes b) {
    for (const std::byte byte : b) u8(std::to_integer<unsigned>(byte));
    return *this;
  }
  Request& to(Channel channel) { return channel_ = channel, *this; }  // default: data
  Request& dtr(bool asserted) { return dtr_ = asserted, *this; }

  Bytes view() const { return {data_.data(), size_}; }
  Channel channel() const { return channel_; }
  std::optional<bool> dtr() const { return dtr_; }

 private:
  Request& put(std::uint32_t v, int n) {
    for (; n > 0 && size_ < kCapacity; --n, v >>= 8) data_[size_++] = static_cast<std::byte>(v);
    return *this;
  }
  std::array<std::byte, kCapacity> data_{};
  std::size_t size_ = 0;
  Channel channel_ = Channel::data;
  std::optional<bool> dtr_{};
};

// What a frame is to the step that waits for an answer.
struct Reply {
  enum class Kind : std::uint8_t { not_mine, done, again, refused };
  Kind kind;
  hal::Text<96> why{};  // refused: what the device said

  static Reply not_mine() { return {Kind::not_mine}; }
  static Reply done() { return {Kind::done}; }    // go on with the next step
  static Reply again() { return {Kind::again}; }  // send this step's next request
  static Reply refused(const hal::Text<96>& why) { return {Kind::refused, why}; }
};

enum class IfUnanswered : std::uint8_t { fail, go_on };

template <class D>
struct Step {
  const char* name;                          // for people: "no answer to 'get info'"
  bool (D::*send)(Request&) = nullptr;       // false: this step is not needed
  Reply (D::*take)(const Frame&) = nullptr;  // null: nothing is expected
  hal::Duration wait{};  // for the answer, each time; without one: before the next step
  int tries = 1;
  IfUnanswered unanswered = IfUnanswered::fail;
};

// Holds a script. Knows neither ports nor clocks: it is told what time it is and says what to send.
template <class D>
class ScriptRunner {
 public:
  using Script = std::span<const Step<D>>;
  enum class Outcome : std::uint8_t { running, done, failed };

  void begin(Script script) {
    script_ = script;
    at_ = 0;
    tries_ = 0;
    waiting_ = refused_ = false;
    why_.clear();
  }
  const char* step() const { return at_ < script_.size() ? script_[at_].name : ""; }
  const hal::Text<192>& why() const { return why_; }  // of a failure
  bool refused() const { return refused_; }           // the failure was the device's word

  // The host stalled: an answer may wait to be read.
  void put_off(hal::Duration stalled) { due_ += stalled; }

  // Goes on as far as it can at `now`. `transmit(const Request&)` is called for each request.
  template <class Transmit>
  Outcome advance(D& device, hal::Time now, Transmit&& transmit) {
    while (!refused_ && at_ < script_.size()) {
      const Step<D>& step = script_[at_];
      if (!waiting_ && !send(device, step, now, transmit)) {
        next();
        continue;
      }
      if (now < due_) return Outcome::running;
      if (step.take && tries_ < step.tries) {
        waiting_ = false;
      } else if (step.take && step.unanswered == IfUnanswered::fail) {
        return fail(step);
      } else {
        next();
      }
    }
    return refused_ ? Outcome::failed : Outcome::done;
  }

  // Offers a frame to the step that waits. True when it was its answer.
  bool offer(D& device, const Frame& frame) {
    if (!waiting_ || at_ >= script_.size() || !script_[at_].take) return false;
    const Reply reply = (device.*script_[at_].take)(frame);
    switch (reply.kind) {
      case Reply::Kind::not_mine:
        return false;
      case Reply::Kind::done:
        next();
        return true;
      case Reply::Kind::again:
        waiting_ = false, tries_ = 0;
        return true;
      case Reply::Kind::refused:
        refused_ = true;
        why_.print("the device refused '%s': %s", script_[at_].name, reply.why.c_str());
        return true;
    }
    return false;
  }

 private:
  template <class Transmit>
  bool send(D& device, const Step<D>& step, hal::Time now, Transmit&& transmit) {
    Request request;
    if (step.send && !(device.*step.send)(request)) return false;
    ++tries_;
    waiting_ = true;
    due_ = now + step.wait;
    transmit(request);
    return true;
  }
  void next() {
    ++at_;
    tries_ = 0;
    waiting_ = false;
  }
  Outcome fail(const Step<D>& step) {
    why_.print("no answer to '%s' (%d tries of %lld ms)", step.name, step.tries,
               static_cast<long long>(
                   std::chrono::duration_cast<std::chrono::milliseconds>(step.wait).count()));
    return Outcome::failed;
  }

  Script script_{};
  std::size_t at_ = 0;
  int tries_ = 0;
  bool waiting_ = false, refused_ = false;
  hal::Time due_{};
  hal::Text<192> why_{};
};

}  // namespace drivers
