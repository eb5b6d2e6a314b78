#include "drivers/camsense_x1/camsense_x1.h"

#include <algorithm>
#include <numbers>

#include "drivers/wire.h"

namespace drivers {
namespace {

constexpr double kRadPerDeg = std::numbers::pi / 180;
constexpr std::array kHead{std::byte{0x55}, std::byte{0xAA}, std::byte{0x03}, std::byte{0x08}};
constexpr std::size_t kBeams = 8, kBeam = 3, kCheck = 34;
constexpr unsigned kZero = 0xA000, kTurn = 360 * 64, kNoReturn = 0x8000;  // angles: 1/64 deg

constexpr std::array kOptions{
    OptionSpec{.key = "zero_deg",
               .type = OptionType::number,
               .unit = "deg",
               .fallback = "0",
               .min = -360,
               .max = 360,
               .help = "added to the device's clockwise angles to have 0 at its front; 196 has been "
                       "reported"},
};

}  // namespace

std::size_t CamsenseX1Framing::measure(Bytes b) {
  const std::size_t told = std::min(b.size(), kHead.size());
  if (!std::equal(kHead.begin(), kHead.begin() + told, b.begin())) return kNotAFrame;
  return told < kHead.size() ? kNeedMore : kMaxFrame;
}

bool CamsenseX1Framing::intact(Bytes frame) {
  return wire::fold15(frame.first(kCheck)) == wire::u16(frame, kCheck);
}

Finding CamsenseX1::finding() {
  return {.advise = [](const Seen&) -> std::vector<Advice> {
    return {{"zero_deg", "", "turn it until its front is at angle 0; 196 has been reported"}};
  }};
}

std::span<const OptionSpec> CamsenseX1::options() { return kOptions; }

Figures CamsenseX1::figures(const Options&, int) {
  constexpr double kBeamsPerS = 2130, kTurnsHz = 5.2, kPackets = kBeamsPerS / kBeams;
  // A motor that is slow to spin up measures more beams in a turn.
  const auto beams = static_cast<std::size_t>(kBeamsPerS / kTurnsHz * 2);
  return {kPackets, kTurnsHz, beams, kPackets * Framing::kMaxFrame, {}};
}

CamsenseX1::CamsenseX1(const Options& options) : zero_deg_(options.number("zero_deg")) {}

void CamsenseX1::decode(const Frame& frame, Decoded& out) {
  const Bytes b = frame.bytes;
  const unsigned first = wire::u16(b, 6), last = wire::u16(b, 32);
  if (first < kZero || last < kZero) return out.undecodable();
  const double from = (first - kZero) % kTurn / 64.0;
  const double span = (last - first + 2 * kTurn) % kTurn / 64.0;
  if (span > 180) return out.undecodable();
  const double step = span / (kBeams - 1);

  for (std::size_t i = 0, at = 8; i < kBeams; ++i, at += kBeam) {
    const unsigned word = wire::u16(b, at);
    const double clockwise = from + step * static_cast<double>(i) + zero_deg_;
    beams_[i] = {static_cast<float>(-clockwise * kRadPerDeg),
                 (word & kNoReturn) ? 0 : static_cast<float>(word) * 1e-3f,
                 static_cast<float>(wire::u8(b, at + 2))};
  }
  rotation_.add(frame, {from, step, wire::u16(b, 4) / 64.0}, beams_, out);
}

}  // namespace drivers
