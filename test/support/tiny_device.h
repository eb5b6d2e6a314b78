// The smallest device there can be: 0xAA, length of the payload, payload, sum of all before.
// Payload 'm' t ...: measurements with stamps t ms. 'i' t: one of the second output. 'l' k s: a
// scan of one beam at k, which starts a turn if s. 'a': yes. 'n': no. 'b': I have just started. 'f'
// c: fault c. 'k' n: n were lost. 'x': makes no sense. Anything else: silent.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "drivers/device_driver.h"
#include "drivers/wire.h"

namespace test {

struct TinyFraming {
  static constexpr std::size_t kMaxFrame = 16;
  static std::size_t measure(hal::Bytes b) {
    if (drivers::wire::u8(b, 0) != 0xAA) return drivers::kNotAFrame;
    if (b.size() < 2) return drivers::kNeedMore;
    const std::size_t n = drivers::wire::u8(b, 1);
    return n + 3 <= kMaxFrame ? n + 3 : drivers::kNotAFrame;
  }
  static unsigned sum(hal::Bytes b) {
    unsigned s = 0;
    for (const std::byte byte : b) s += std::to_integer<unsigned>(byte);
    return s & 0xFF;
  }
  static bool intact(hal::Bytes f) {
    return sum(f.first(f.size() - 1)) == drivers::wire::u8(f, f.size() - 1);
  }
};

inline std::vector<std::byte> tiny(std::initializer_list<unsigned> payload) {
  std::vector<std::byte> f{std::byte{0xAA}, static_cast<std::byte>(payload.size())};
  for (const unsigned v : payload) f.push_back(static_cast<std::byte>(v));
  f.push_back(static_cast<std::byte>(TinyFraming::sum(f)));
  return f;
}

class TinyDevice {
 public:
  using Framing = TinyFraming;
  using Step = drivers::Step<TinyDevice>;

  explicit TinyDevice(const drivers::Options&) {}
  void restart() { ++restarts; }
  Framing& framing(drivers::Channel) { return framing_; }
  drivers::ClockModel clock_model() const { return {}; }
  hal::Duration max_silence() const { return std::chrono::milliseconds(100); }
  hal::Text<96> about() const { return hal::Text<96>::of("tiny, %d times", restarts); }

  static std::span<const Step> start_script() {
    using namespace std::chrono_literals;
    static constexpr std::array<Step, 2> kSteps{
        {{"go", &TinyDevice::say<'g'>, &TinyDevice::answer, 200ms, 2},
         {"settle", nullptr, nullptr, 50ms}}};
    return kSteps;
  }
  static std::span<const Step> stop_script() {
    using namespace std::chrono_literals;
    static constexpr std::array<Step, 1> kSteps{
        {{"stop", &TinyDevice::say<'s'>, &TinyDevice::answer, 100ms, 9,
          drivers::IfUnanswered::go_on}}};
    return kSteps;
  }

  template <unsigned kWhat>
  bool say(drivers::Request& request) {
    request.u8(kWhat);
    return true;
  }
  drivers::Reply answer(const drivers::Frame& frame) {
    switch (kind(frame)) {
      case 'a':
        return drivers::Reply::done();
      case 'n':
        return drivers::Reply::refused(hal::Text<96>::of("not today"));
      default:
        return drivers::Reply::not_mine();
    }
  }
  void decode(const drivers::Frame& frame, drivers::Decoded& out) {
    switch (kind(frame)) {
      case 'm':
        for (std::size_t at = 3; at + 1 < frame.bytes.size(); ++at) sample(frame, at, 0, out);
        return;
      case 'i':
        return sample(frame, 3, drivers::kImuOutput, out);
      case 'l':
        beam_[0] = {.angle = 1.0F * drivers::wire::u8(frame.bytes, 3), .range = 1, .intensity = 0};
        return out.add(drivers::ScanSlice{.starts_turn = drivers::wire::u8(frame.bytes, 4) != 0,
                                          .beams = beam_},
                       {.arrival = frame.last_at, .bytes = frame.bytes.size()});
      case 'f':
        return out.fault(hal::Text<96>::of("code %u", unsigned{drivers::wire::u8(frame.bytes, 3)}));
      case 'k':
        return out.lost(drivers::wire::u8(frame.bytes, 3));
      case 'b':
        return out.restarted();
      case 'x':
        return out.undecodable();
      default:
        return;
    }
  }
  int restarts = 0;

 private:
  static void sample(const drivers::Frame& frame, std::size_t at, unsigned output,
                     drivers::Decoded& out) {
    drivers::ImuSample sample;
    sample.temperature = 20;
    out.add(sample,
            {.source = drivers::Timing::Source::clock,
             .raw_ns = std::int64_t{drivers::wire::u8(frame.bytes, at)} * 1'000'000,
             .arrival = frame.last_at,
             .bytes = frame.bytes.size()},
            output);
  }
  static int kind(const drivers::Frame& f) {
    return f.bytes.size() > 3 ? drivers::wire::u8(f.bytes, 2) : 0;
  }
  Framing framing_;
  std::array<drivers::Beam, 1> beam_{};
};

}  // namespace test
