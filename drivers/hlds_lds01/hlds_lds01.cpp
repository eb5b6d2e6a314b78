#include "drivers/hlds_lds01/hlds_lds01.h"

#include <numbers>

#include "drivers/wire.h"

namespace drivers {
namespace {

constexpr double kRadPerDeg = std::numbers::pi / 180;
constexpr unsigned kHead = 0xFA, kFirstIndex = 0xA0, kLastIndex = 0xDB;
constexpr std::size_t kReadings = 6, kReading = 6, kCheck = 40;
constexpr unsigned kLearnt = 3;     // by chance once in 16 million
constexpr unsigned kUnlearnt = 20;  // a damaged packet's check bytes may still be equal

bool is_index(unsigned byte) { return byte >= kFirstIndex && byte <= kLastIndex; }
unsigned check_of(Bytes packet) { return 0xFF - (wire::sum_of(packet.first(kCheck)) & 0xFF); }

}  // namespace

std::size_t HldsLds01Framing::measure(Bytes b, bool last) const {
  if (wire::u8(b, 0) != kHead) return kNotAFrame;
  if (b.size() < 2) return kNeedMore;
  if (!is_index(wire::u8(b, 1))) return kNotAFrame;
  if (agreed_ == kLearnt) return kPacket;
  if (b.size() < kPacket) return kNeedMore;
  if (wire::u8(b, kCheck) == check_of(b) || last) return kPacket;
  if (b.size() < kMaxFrame) return kNeedMore;
  const bool goes_on = wire::u8(b, kPacket) == kHead && is_index(wire::u8(b, kPacket + 1));
  return goes_on ? kPacket : kNotAFrame;
}

bool HldsLds01Framing::intact(Bytes frame) {
  const unsigned check = wire::u8(frame, kCheck);
  if (check != wire::u8(frame, kCheck + 1)) return false;
  if (check == check_of(frame)) {
    if (agreed_ < kLearnt) ++agreed_;
    differed_ = 0;
    return true;
  }
  if (agreed_ == kLearnt && ++differed_ < kUnlearnt) return false;
  agreed_ = differed_ = 0;
  return true;
}

Figures HldsLds01::figures(const Options&, int) {
  constexpr double kMostTurnsHz = 6, kPackets = 60 * kMostTurnsHz;
  return {kPackets, kMostTurnsHz, 360, kPackets * Framing::kPacket, {}};
}

void HldsLds01::restart() {
  framing_.forget();
  rotation_.restart();
}

std::span<const Step<HldsLds01>> HldsLds01::start_script() {
  using namespace std::chrono_literals;
  static constexpr std::array<Step<HldsLds01>, 1> kSteps{
      {{"start", &HldsLds01::send_start, &HldsLds01::heard, 500ms, 3}}};
  return kSteps;
}

// Nothing tells that it was heard.
std::span<const Step<HldsLds01>> HldsLds01::stop_script() {
  using namespace std::chrono_literals;
  static constexpr std::array<Step<HldsLds01>, 2> kSteps{
      {{"stop", &HldsLds01::send_stop, nullptr, 20ms},
       {"stop again", &HldsLds01::send_stop, nullptr, 5ms}}};
  return kSteps;
}

bool HldsLds01::send_start(Request& request) {
  request.text("b");
  return true;
}

Reply HldsLds01::heard(const Frame&) { return Reply::measured(); }

bool HldsLds01::send_stop(Request& request) {
  request.text("e");
  return true;
}

void HldsLds01::decode(const Frame& frame, Decoded& out) {
  const Bytes b = frame.bytes;
  const unsigned first = (wire::u8(b, 1) - kFirstIndex) * kReadings;
  for (std::size_t i = 0, at = 4; i < kReadings; ++i, at += kReading) {
    const int degree = 359 - static_cast<int>(first + i);
    beams_[i] = {static_cast<float>(degree * kRadPerDeg),
                 static_cast<float>(wire::u16(b, at + 2)) * 1e-3f,
                 static_cast<float>(wire::u16(b, at))};
  }
  rotation_.add(frame, {double(first), 1, wire::u16(b, 2) / 10.0}, beams_, out);
}

}  // namespace drivers
