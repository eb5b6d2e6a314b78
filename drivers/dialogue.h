// What is said to a device and what it must answer: a table of steps, held one after the other.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "drivers/framer.h"
#include "hal/text.h"

namespace drivers {

// The rate of a serial line; 0, 0: not one.
struct LineRate {
  int configured = 0, current = 0;  // baud
};

// What a device must know to send to us: our own address as it sees us, and our ports.
struct OwnEnd {
  std::array<std::uint8_t, 4> ip{};                 // zeros: not known
  std::array<std::uint16_t, kMaxChannels> ports{};  // by Channel; 0: a line
  std::array<bool, kMaxChannels> channels{};        // by Channel: there is one

  bool has_ip() const { return hal::Address{ip, 0}.has_ip(); }
  hal::Text<16> host() const { return hal::Address{ip, 0}.host(); }  // "192.168.1.2"
  std::uint16_t port(Channel c) const { return ports[static_cast<std::size_t>(c)]; }
  bool has(Channel c) const { return channels[static_cast<std::size_t>(c)]; }
};

// How the device is reached, now.
struct Link {
  LineRate rate{};
  OwnEnd own{};
};

// One request in the making: first its line settings take effect, then its bytes are written. Bytes
// beyond its capacity are a programmer's error and are left out.
class Request {
 public:
  static constexpr std::size_t kCapacity = 512;

  Request() = default;
  Request(hal::Time now, const Link& link) : now_(now), link_(link) {}

  // For the device that writes it. What is polled is measured between now() and its answer.
  hal::Time now() const { return now_; }
  const LineRate& rate() const { return link_.rate; }
  // For devices that are told where to send, and those that may have no control port.
  const OwnEnd& own() const { return link_.own; }

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
  // What was written before must have left: its answer came, or a step without one has waited.
  Request& baud(int rate) { return baud_ = rate, *this; }
  // The channel is closed and opened first, unless it was opened just now: for devices that hang up
  // after each answer, or restart. The wait for the answer includes it.
  Request& reopen() { return reopen_ = true, *this; }
  // The same, and the connection is made to this port of the device; 0: as configured.
  Request& reopen_at(std::uint16_t port) { return remote_port_ = port, reopen(); }

  Bytes view() const { return {data_.data(), size_}; }
  Channel channel() const { return channel_; }
  std::optional<bool> dtr() const { return dtr_; }
  std::optional<int> baud() const { return baud_; }
  bool reopens() const { return reopen_; }
  std::uint16_t remote_port() const { return remote_port_; }

 private:
  Request& put(std::uint32_t v, int n) {
    for (; n > 0 && size_ < kCapacity; --n, v >>= 8) data_[size_++] = static_cast<std::byte>(v);
    return *this;
  }
  std::array<std::byte, kCapacity> data_{};
  std::size_t size_ = 0;
  Channel channel_ = Channel::data;
  std::optional<bool> dtr_{};
  std::optional<int> baud_{};
  bool reopen_ = false;
  std::uint16_t remote_port_ = 0;
  hal::Time now_{};
  Link link_{};
};

// What a device says of itself may hold anything, and goes to terminals and into JSON: all but
// printable ASCII becomes '?'.
template <std::size_t N>
hal::Text<N> plain(const hal::Text<N>& said) {
  std::array<char, N> out{};
  std::ranges::transform(said.view(), out.begin(),
                         [](char c) { return c >= ' ' && c <= '~' ? c : '?'; });
  return hal::Text<N>::of("%s", out.data());
}

// What a frame is to the step that waits for an answer.
struct Reply {
  enum class Kind : std::uint8_t { not_mine, done, measured, again, refused };
  Kind kind;
  hal::Text<96> why{};  // refused: what the device said

  static Reply not_mine() { return {Kind::not_mine}; }
  static Reply done() { return {Kind::done}; }          // go on with the next step
  static Reply measured() { return {Kind::measured}; }  // as done, and decode() takes it, too
  static Reply again() { return {Kind::again}; }        // send this step's next request
  static Reply refused(const hal::Text<96>& why) { return {Kind::refused, plain(why)}; }
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
  // Serial lines: where nothing answers at the rate in use, all tries are made at each of these.
  // The line stays at the rate that was answered; without an answer it goes back.
  std::span<const int> bauds{};
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
    bauds_tried_ = 0;
    waiting_ = refused_ = false;
    why_.clear();
  }
  bool waits() const { return waiting_; }
  hal::Time due() const { return due_; }  // while it waits: of the answer, or the next step
  const char* step() const { return at_ < script_.size() ? script_[at_].name : ""; }
  const hal::Text<192>& why() const { return why_; }  // of a failure
  bool refused() const { return refused_; }           // the failure was the device's word

  // The host stalled: an answer may wait to be read.
  void put_off(hal::Duration stalled) { due_ += stalled; }

  // Goes on as far as it can at `now`. `transmit(const Request&)` is called for each request; it
  // keeps `link` up to date.
  template <class Transmit>
  Outcome advance(D& device, hal::Time now, const Link& link, Transmit&& transmit) {
    while (!refused_ && at_ < script_.size()) {
      const Step<D>& step = script_[at_];
      if (!waiting_ && !send(device, step, now, link, transmit)) {
        next();
        continue;
      }
      if (now < due_) return Outcome::running;
      if (step.take && tries_ < step.tries) {
        waiting_ = false;
      } else if (step.take && change_rate(step, link.rate)) {
        waiting_ = false, tries_ = 0;
      } else if (step.take && step.unanswered == IfUnanswered::fail) {
        return fail(step);
      } else {
        if (bauds_tried_ > 0) transmit(Request(now, link).baud(link.rate.configured));
        next();
      }
    }
    return refused_ ? Outcome::failed : Outcome::done;
  }

  // Offers a frame to the step that waits, which takes its answer.
  Reply::Kind offer(D& device, const Frame& frame) {
    if (!waiting_ || at_ >= script_.size() || !script_[at_].take) return Reply::Kind::not_mine;
    const Reply reply = (device.*script_[at_].take)(frame);
    switch (reply.kind) {
      case Reply::Kind::not_mine:
        break;
      case Reply::Kind::done:
      case Reply::Kind::measured:
        next();
        break;
      case Reply::Kind::again:
        waiting_ = false, tries_ = 0;
        break;
      case Reply::Kind::refused:
        refused_ = true;
        why_.print("the device refused '%s': %s", script_[at_].name, reply.why.c_str());
        break;
    }
    return reply.kind;
  }

 private:
  template <class Transmit>
  bool send(D& device, const Step<D>& step, hal::Time now, const Link& link, Transmit&& transmit) {
    Request request(now, link);
    if (step.send && !(device.*step.send)(request)) return false;
    if (tries_ == 0 && bauds_tried_ > 0) request.baud(step.bauds[bauds_tried_ - 1]);
    ++tries_;
    waiting_ = true;
    due_ = now + step.wait;
    transmit(request);
    return true;
  }
  // To the next rate of the step that is not the configured one, which was tried first.
  bool change_rate(const Step<D>& step, const LineRate& rate) {
    if (rate.configured == 0) return false;
    while (bauds_tried_ < step.bauds.size()) {
      if (step.bauds[bauds_tried_++] != rate.configured) return true;
    }
    return false;
  }
  void next() {
    ++at_;
    tries_ = 0;
    bauds_tried_ = 0;
    waiting_ = false;
  }
  Outcome fail(const Step<D>& step) {
    why_.print("no answer to '%s' (%d tries of %lld ms%s)", step.name, step.tries,
               static_cast<long long>(
                   std::chrono::duration_cast<std::chrono::milliseconds>(step.wait).count()),
               bauds_tried_ > 0 ? " at each baud rate it knows" : "");
    return Outcome::failed;
  }

  Script script_{};
  std::size_t at_ = 0;
  int tries_ = 0;
  std::size_t bauds_tried_ = 0;  // of the step's
  bool waiting_ = false, refused_ = false;
  hal::Time due_{};
  hal::Text<192> why_{};
};

}  // namespace drivers
