#include "drivers/lakibeam/lakibeam.h"

#include <numbers>

namespace drivers {
namespace {

using namespace std::chrono_literals;

constexpr double kRadPerUnit = std::numbers::pi / 18'000;
constexpr double kFront = 18'000;  // 0.01 deg
constexpr std::size_t kPoint = 6;

constexpr std::array kOptions{
    OptionSpec{.key = "stamp",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "last",
               .choices = "last|first",
               .help = "beam of a datagram that its time belongs to; no source tells"},
};

}  // namespace

std::span<const OptionSpec> Lakibeam::options() { return kOptions; }

// 30 turns a second of 0.1 degrees; a datagram at 10 is of 48 degrees, three may wait for a lost
// one, and the blind zone's 90.
Figures Lakibeam::figures(const Options&, int) {
  return {.packets_hz = 600,
          .turns_hz = 30,
          .beams_per_turn = 3600,
          .bytes_per_s = 563.0 * Framing::kMaxFrame,
          .delivery = 79ms};
}

Finding Lakibeam::finding() {
  static constexpr std::uint16_t kUdp[] = {2368};
  return {.udp = kUdp};
}

Lakibeam::Lakibeam(const Options& options)
    : order_({.points = kPoints,
              .usual_hz = 20,
              .modulus = hal::Duration(1000 * (std::int64_t{1} << 32)),
              .stamps_last = options.text("stamp") == "last",
              .is_blind = true}) {}

void Lakibeam::decode(const Frame& frame, Decoded& out) {
  const std::uint32_t us = wire::u32(frame.bytes, blocks::kStamp);
  std::optional<Timing> stamp;
  if (us != 0) stamp = Timing{.source = Timing::Source::clock, .raw_ns = std::int64_t{us} * 1000};
  given_ = 0;
  const auto give = [&](const BlockSweep& sweep, Bytes b) { this->give(sweep, b, out); };
  if (!order_.take(frame, stamp, give)) out.undecodable();
  out.lost(order_.take_lost());
}

void Lakibeam::finish(Decoded& out) {
  given_ = 0;
  order_.give_up([&](const BlockSweep& sweep, Bytes b) { give(sweep, b, out); });
  out.lost(order_.take_lost());
}

void Lakibeam::give(const BlockSweep& sweep, Bytes b, Decoded& out) {
  const auto beams = std::span(beams_).subspan(kMost * given_, kMost);
  const auto echoes = std::span(echoes_).subspan(kMost * given_, kMost);
  ++given_;
  bool has_further = false;
  for (std::size_t i = 0; const BlockSweep::Block& block : sweep.blocks()) {
    has_further |= fill(b, block, beams.subspan(i, kPoints), echoes.subspan(i, kPoints));
    i += kPoints;
  }
  for (const BlockSweep::Run& run : sweep.runs()) {
    ScanSlice slice = run.slice;
    const std::size_t first = kPoints * run.first, count = kPoints * run.count;
    slice.beams = beams.subspan(first, count);
    if (has_further) slice.echoes = echoes.subspan(first, count);
    out.add(slice, run.timing);
  }
}

// True: there are further returns.
bool Lakibeam::fill(Bytes b, const BlockSweep::Block& block, std::span<Beam> beams,
                    std::span<Echo> echoes) {
  const auto from = static_cast<float>((block.azimuth - kFront) * kRadPerUnit);
  const auto step = static_cast<float>(block.step / kPoints * kRadPerUnit);
  std::uint64_t further = 0;
  for (std::size_t j = 0; j < kPoints; ++j) {
    const std::uint64_t both = wire::u64(b, block.at + kPoint * j);
    beams[j] = {from + step * static_cast<float>(j), static_cast<float>(both & 0xFFFF) * 1e-3F,
                static_cast<float>(both >> 16 & 0xFF)};
    echoes[j] = {static_cast<float>(both >> 24 & 0xFFFF) * 1e-3F,
                 static_cast<float>(both >> 40 & 0xFF)};
    further |= both >> 24 & 0xFFFF;
  }
  return further != 0;
}

}  // namespace drivers
