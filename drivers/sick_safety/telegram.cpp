#include "drivers/sick_safety/telegram.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "drivers/rounding.h"
#include "hal/time.h"

namespace drivers::safety {
namespace {

constexpr std::size_t kHeader = 52;
constexpr unsigned kLastDay = 50'000;  // of 2108: what comes later does not fit the time line
enum Block : std::size_t { kState, kDerived, kMeasurement, kBlocks = 5 };
// What is read of each.
constexpr std::array<std::size_t, kBlocks> kLeast{16, 20, 4, 0, 0};

}  // namespace

std::optional<Telegram> telegram_in(Bytes payload) {
  if (payload.size() < kHeader || wire::u8(payload, 0) != 'R') return std::nullopt;
  std::array<Bytes, kBlocks> blocks{};
  for (std::size_t i = 0; i < kBlocks; ++i) {
    const std::size_t offset = wire::u16(payload, 32 + 4 * i);
    const std::size_t size = wire::u16(payload, 34 + 4 * i);
    if (offset == 0 || size == 0) continue;
    const bool fits = offset >= kHeader && offset + size <= payload.size() && size >= kLeast[i];
    if (!fits) return std::nullopt;
    blocks[i] = payload.subspan(offset, size);
  }
  Telegram telegram{.serial = wire::u32(payload, 4),
                    .channel = wire::u8(payload, 12),
                    .sequence = wire::u32(payload, 16),
                    .scan = wire::u32(payload, 20),
                    .days = wire::u16(payload, 24),
                    .ms = wire::u32(payload, 28),
                    .state = blocks[kState],
                    .derived = blocks[kDerived],
                    .measurement = blocks[kMeasurement]};
  const std::size_t n = telegram.beams();
  if (telegram.days > kLastDay) return std::nullopt;
  if (n > kMostBeams || (n > 0 && 4 + 4 * n > telegram.measurement.size())) return std::nullopt;
  return telegram;
}

Derived derived_in(Bytes block) {
  return {.factor = wire::u16(block, 0),
          .scan_ms = wire::u16(block, 4),
          .first = static_cast<std::int32_t>(wire::u32(block, 8)),
          .step = static_cast<std::int32_t>(wire::u32(block, 12)),
          .beam_us = wire::u32(block, 16)};
}

hal::Duration beam_time(const Derived& derived) {
  constexpr double kTurn = 360.0 * (1 << 22);
  const double turning_ns = derived.scan_ms * 1e6 * std::abs(derived.step / kTurn);
  const double told_ns = derived.beam_us * 1e3;
  const bool agree = derived.beam_us == 0 || std::abs(turning_ns - told_ns) <= 1000.0;
  // Beams of one scan do not take longer than the scan.
  const double most_ns = derived.scan_ms == 0 ? 1e6 : derived.scan_ms * 1e6;
  return hal::Duration(nearest(agree || told_ns > most_ns ? turning_ns : told_ns));
}

Field field_of(const Derived& derived, std::size_t sent) {
  constexpr double kFirst = -47.5 * (1 << 22), kDegrees = 275.0 * (1 << 22);
  const auto last = static_cast<std::int64_t>(sent) - 1;
  if (derived.step <= 0) return {0, last};
  const auto before =
      std::max<std::int64_t>(std::llround((derived.first - kFirst) / derived.step), 0);
  return {before, std::max<std::int64_t>(std::llround(kDegrees / derived.step), before + last)};
}

}  // namespace drivers::safety
