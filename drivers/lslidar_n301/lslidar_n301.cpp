#include "drivers/lslidar_n301/lslidar_n301.h"

#include <numbers>

namespace drivers {
namespace {

using namespace std::chrono_literals;

constexpr double kRadPerUnit = std::numbers::pi / 18'000;
constexpr std::size_t kGroup = 48, kPoint = 3;
constexpr unsigned kContradictions = 50;  // in a row: that many are no chance

constexpr std::array kOptions{
    OptionSpec{
        .key = "protocol",
        .type = OptionType::choice,
        .unit = "",
        .fallback = "1.7",
        .choices = "1.7|1.6",
        .help = "what the device speaks, as its label or manual tells; its datagrams do not"},
    OptionSpec{.key = "stamp",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "last",
               .choices = "last|first",
               .help = "point of a datagram that its time belongs to; no source tells"},
};

bool speaks_17(const Options& options) { return options.text("protocol") == "1.7"; }

}  // namespace

std::span<const OptionSpec> LslidarN301::options() { return kOptions; }

// How fast it measures is nowhere told: 1.7 may have a point in 0.03 degrees, 1.6 in 0.09. A
// datagram takes 10 ms at most, and three may wait for a lost one.
Figures LslidarN301::figures(const Options& options, int) {
  const bool is_17 = speaks_17(options);
  const double packets_hz = is_17 ? 600 : 1000;
  return {.packets_hz = packets_hz,
          .turns_hz = 30,
          .beams_per_turn = is_17 ? 12'000U : 4000U,
          .bytes_per_s = packets_hz * Framing::kMaxFrame,
          .delivery = 40ms};
}

Finding LslidarN301::finding() {
  static constexpr std::uint16_t kUdp[] = {2368};
  return {
      .udp = kUdp, .advise = [](const Seen&) -> std::vector<Advice> {
        return {{"protocol", "", "1.6 or 1.7: distances are wrong by a factor of two otherwise"}};
      }};
}

LslidarN301::LslidarN301(const Options& options)
    : is_17_(speaks_17(options)),
      points_(is_17_ ? 30 : 2),
      order_({.points = points_,
              .usual_hz = 10,
              .modulus = 1s,
              .stamps_last = options.text("stamp") == "last"}) {}

void LslidarN301::restart() {
  order_.restart();
  contradictions_ = 0;
}

void LslidarN301::decode(const Frame& frame, Decoded& out) {
  given_ = 0;
  const auto give = [&](const BlockSweep& sweep, Bytes b) { this->give(sweep, b, out); };
  if (!order_.take(frame, stamp_of(frame.bytes), give)) out.undecodable();
  out.lost(order_.take_lost());
  contradictions_ = contradicts(frame.bytes) ? contradictions_ + 1 : 0;
  if (contradictions_ >= kContradictions) {
    out.fault(hal::Text<96>::of("its blocks look like protocol %s: set protocol",
                                is_17_ ? "1.6" : "1.7"));
  }
}

void LslidarN301::finish(Decoded& out) {
  given_ = 0;
  order_.give_up([&](const BlockSweep& sweep, Bytes b) { give(sweep, b, out); });
  out.lost(order_.take_lost());
}

void LslidarN301::give(const BlockSweep& sweep, Bytes b, Decoded& out) {
  const auto beams = std::span(beams_).subspan(kMost * given_++, kMost);
  for (std::size_t i = 0; const BlockSweep::Block& block : sweep.blocks()) {
    fill(b, block, beams.subspan(points_ * i++, points_));
  }
  for (const BlockSweep::Run& run : sweep.runs()) {
    ScanSlice slice = run.slice;
    slice.beams = beams.subspan(points_ * run.first, points_ * run.count);
    out.add(slice, run.timing);
  }
}

// Within the second, or since 1970 where it has satellites.
Timing LslidarN301::stamp_of(Bytes b) const {
  const std::int64_t ns = std::int64_t{wire::u32(b, blocks::kStamp)} % 1'000'000 * 1000;
  const auto at = [b](std::size_t i) { return unsigned{wire::u8(b, i)}; };
  const std::size_t date = is_17_ ? 49 : 94, time = 97;
  const std::chrono::year_month_day day{std::chrono::year{2000 + static_cast<int>(at(date))},
                                        std::chrono::month{at(date + 1)},
                                        std::chrono::day{at(date + 2)}};
  if (!day.ok() || at(time) > 23 || at(time + 1) > 59 || at(time + 2) > 59) {
    return {.source = Timing::Source::clock, .raw_ns = ns};
  }
  const std::int64_t s =
      std::chrono::seconds(std::chrono::sys_days(day).time_since_epoch()).count() +
      3600 * at(time) + 60 * at(time + 1) + at(time + 2);
  return {.source = Timing::Source::utc, .raw_ns = s * 1'000'000'000 + ns};
}

void LslidarN301::fill(Bytes b, const BlockSweep::Block& block, std::span<Beam> beams) const {
  const auto from = static_cast<float>(-block.azimuth * kRadPerUnit);
  const auto step = static_cast<float>(-block.step / static_cast<double>(points_) * kRadPerUnit);
  const float metres = is_17_ ? 4e-3F : 2e-3F;
  const std::size_t half = points_ / 2;
  for (std::size_t group = 0; group < 2; ++group) {
    const std::size_t at = block.at + kGroup * group;
    Beam* const to = &beams[half * group];
    for (std::size_t k = 0; k < half; ++k) {
      const std::uint32_t point = wire::u32(b, at + kPoint * k);
      to[k] = {from + step * static_cast<float>(half * group + k),
               static_cast<float>(point & 0xFFFF) * metres, static_cast<float>(point >> 16 & 0xFF)};
    }
  }
}

// Looks at a few blocks: 1.6 has a first point and nothing (but a date) behind it, 1.7 has more.
bool LslidarN301::contradicts(Bytes b) const {
  std::size_t lone = 0, more = 0;
  for (std::size_t block = 0; block < blocks::kCount; block += 4) {
    const std::size_t at = block * blocks::kSize + blocks::kData;
    std::uint64_t others = 0;
    for (std::size_t i = kPoint; i + 8 <= kPoint * 15; i += 8) others |= wire::u64(b, at + i);
    lone += wire::u16(b, at) != 0 && others == 0;
    more += others != 0;
  }
  return is_17_ ? lone > 0 && more == 0 : more > lone;
}

}  // namespace drivers
