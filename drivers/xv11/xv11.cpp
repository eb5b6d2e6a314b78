#include "drivers/xv11/xv11.h"

#include <algorithm>
#include <numbers>

#include "drivers/wire.h"

namespace drivers {
namespace {

constexpr double kRadPerDeg = std::numbers::pi / 180;
constexpr unsigned kHead = 0xFA, kFirstIndex = 0xA0, kLastIndex = 0xF9;
constexpr std::array kTurnHead{std::byte{0x5A}, std::byte{0xA5}, std::byte{0x00}, std::byte{0xC0}};
constexpr std::size_t kReading = 4;
constexpr unsigned kInvalid = 0x8000, kDistance = 0x3FFF;
constexpr double kSlowestRpm = 240, kFastestRpm = 350;
constexpr double kTurnsHz = 5;
constexpr unsigned kEnough = 8;  // packets that are no accident

constexpr std::array kOptions{
    OptionSpec{.key = "firmware",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "auto",
               .choices = "auto|2.4|2.1",
               .help = "2.4 and later send packets, 2.1 whole turns without a checksum; auto finds "
                       "out, with the latency budget of packets"},
};

bool is_turn(Bytes frame) { return frame.size() == Xv11Framing::kTurn; }

}  // namespace

std::size_t Xv11Framing::measure(Bytes b) const {
  if (packets_ && wire::u8(b, 0) == kHead) {
    if (b.size() < 2) return kNeedMore;
    const unsigned index = wire::u8(b, 1);
    return index >= kFirstIndex && index <= kLastIndex ? kPacket : kNotAFrame;
  }
  if (!turns_ || seen_ >= kEnough || b[0] != kTurnHead[0]) return kNotAFrame;
  const Bytes turn = b.first(std::min(b.size(), kTurn));
  const std::size_t told = std::min(turn.size(), kTurnHead.size());
  if (!std::equal(kTurnHead.begin(), kTurnHead.begin() + told, turn.begin())) return kNotAFrame;
  if (told < kTurnHead.size()) return kNeedMore;
  const bool torn = !std::ranges::search(turn.subspan(told), kTurnHead).empty();
  return torn ? kNotAFrame : kTurn;
}

bool Xv11Framing::intact(Bytes frame) {
  if (is_turn(frame)) {
    seen_ = 0;
    return true;
  }
  if (wire::fold15(frame.first(kPacket - 2)) != wire::u16(frame, kPacket - 2)) return false;
  if (seen_ < kEnough) ++seen_;
  return true;
}

std::span<const OptionSpec> Xv11::options() { return kOptions; }

Figures Xv11::figures(const Options& options, int) {
  const bool turns = options.text("firmware") == "2.1";
  const double frames = kTurnsHz * (turns ? 1 : 90);
  return {frames, kTurnsHz, 360, frames * (turns ? Framing::kTurn : Framing::kPacket), {}};
}

Xv11::Xv11(const Options& options)
    : framing_(options.text("firmware") != "2.1", options.text("firmware") != "2.4") {}

void Xv11::restart() {
  framing_.forget();
  rotation_.restart();
}

void Xv11::decode(const Frame& frame, Decoded& out) {
  const Bytes b = frame.bytes;
  const bool turn = is_turn(b);
  const double rpm = wire::u16(b, turn ? 4 : 2) / 64.0;
  const double first = turn ? 0 : (wire::u8(b, 1) - kFirstIndex) * 4;
  const std::size_t n = turn ? 360 : 4;

  unsigned valid = 0;
  for (std::size_t i = 0, at = turn ? 6 : 4; i < n; ++i, at += kReading) {
    const unsigned word = wire::u16(b, at);
    const bool counts = (word & kInvalid) == 0;
    valid += counts;
    beams_[i] = {static_cast<float>((first + static_cast<double>(i)) * kRadPerDeg),
                 counts ? static_cast<float>(word & kDistance) * 1e-3f : 0,
                 static_cast<float>(wire::u16(b, at + 2))};
  }
  if (valid == 0 && (rpm < kSlowestRpm || rpm > kFastestRpm)) {
    out.fault(hal::Text<96>::of("no range is valid: its motor turns at %.0f rpm and needs %g to %g",
                                rpm, kSlowestRpm, kFastestRpm));
  }
  rotation_.add(frame, {first, 1, rpm}, std::span(beams_).first(n), out);
}

}  // namespace drivers
