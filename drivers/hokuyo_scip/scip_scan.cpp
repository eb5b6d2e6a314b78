#include "drivers/hokuyo_scip/scip_scan.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace drivers::scip {

bool Geometry::is_sane() const {
  return steps_per_turn > 0 && first >= 0 && last > first && last < 10'000 &&
         last - first < std::min(steps_per_turn, static_cast<int>(kMostBeams)) &&
         turns_per_minute >= 60 && most_mm > least_mm;
}

const Geometry* geometry_of(std::string_view model) {
  const auto found = std::ranges::find(kModels, model, &Model::name);
  return found == kModels.end() ? nullptr : &found->geometry;
}

const Geometry& assumed_geometry(int last_step) {
  return *geometry_of(last_step <= 768 ? "URG-04LX" : "UTM-30LX");
}

// Angles stay as long as the same is measured.
void ScanReader::aim(const Steps& steps, const Geometry& geometry) {
  if (steps == steps_ && geometry == geometry_) return;
  steps_ = steps;
  geometry_ = geometry;
  const double rad = 2 * std::numbers::pi / geometry.steps_per_turn;
  for (std::size_t i = 0; i < steps.n; ++i) {
    const int step = steps.first + static_cast<int>(i) * steps.group - geometry.front;
    beams_[i].angle = static_cast<float>(step * rad);
  }
}

float ScanReader::metres(unsigned mm) const {
  const bool is_return = mm - geometry_.least_mm <= geometry_.most_mm - geometry_.least_mm;
  return is_return ? static_cast<float>(static_cast<int>(mm)) * 1e-3f : 0.0f;
}

bool ScanReader::read(const Head& head, const Steps& steps, Bytes frame, const Geometry& geometry) {
  aim(steps, geometry);
  std::size_t characters = 0;
  for (std::size_t at = head.size + kStampLine; at + 1 < frame.size(); at += kFullLine) {
    const std::size_t n = std::min(kFullLine, frame.size() - 1 - at) - 2;
    std::memcpy(&characters_[characters], &frame[at], n);
    characters += n;
  }
  const std::size_t width = head.symbol->width;
  has_echoes_ = head.symbol->echoes;
  if (has_echoes_) return read_echoes(width, characters);
  if (width == 2) read_single<2, 0>();
  if (width == 3) read_single<3, 0>();
  if (width == 6) read_single<3, 3>();
  return true;
}

template <std::size_t kDistance, std::size_t kIntensity>
void ScanReader::read_single() {
  const std::byte* at = characters_.data();
  for (Beam& beam : std::span(beams_).first(steps_.n)) {
    beam.range = metres(number_at<kDistance>(at));
    beam.intensity = 0;
    if constexpr (kIntensity > 0) {
      beam.intensity = static_cast<float>(number_at<kIntensity>(at + kDistance));
    }
    at += kDistance + kIntensity;
  }
}

// Each further return of a step stands behind '&'.
bool ScanReader::read_echoes(std::size_t width, std::size_t characters) {
  std::size_t at = 0;
  const auto take = [&](float& range, float& intensity) {
    range = intensity = 0;
    if (at + width > characters) return false;
    range = metres(number_at<3>(&characters_[at]));
    if (width == 6) intensity = static_cast<float>(number_at<3>(&characters_[at + 3]));
    at += width;
    return true;
  };
  for (std::size_t i = 0; i < steps_.n; ++i) {
    if (!take(beams_[i].range, beams_[i].intensity)) return false;
    for (std::size_t k = 0; k < kMostEchoes; ++k) {
      Echo& echo = echoes_[kMostEchoes * i + k];
      echo = {};
      if (at == characters || characters_[at] != std::byte{'&'}) continue;
      ++at;
      if (!take(echo.range, echo.intensity)) return false;
    }
  }
  return at == characters;
}

void TurnLength::begin(double nominal_s) {
  *this = {};
  nominal_ms_ = 1e3 * nominal_s;
  length_ = hal::from_seconds(nominal_s);
}

void TurnLength::see(std::int64_t stamp_ms) {
  constexpr std::int64_t kWrap = 1 << 24, kEnough = 32, kMost = 512;
  const std::int64_t last = std::exchange(last_ms_, stamp_ms);
  const std::int64_t moved = (stamp_ms - last + kWrap) % kWrap;
  const auto turns = std::llround(static_cast<double>(moved) / nominal_ms_);
  const bool begins = last < 0 || turns < 1 || turns > 20;
  if (begins || turns_ > kMost) since_ms_ = turns_ = 0;
  if (begins) {
    length_ = hal::from_seconds(nominal_ms_ * 1e-3);
    return;
  }
  since_ms_ += moved;
  turns_ += turns;
  if (turns_ < kEnough) return;
  const double shown_ms = static_cast<double>(since_ms_) / static_cast<double>(turns_);
  const double off_ms = (shown_ms - nominal_ms_) * static_cast<double>(turns_);
  length_ = hal::from_seconds((std::abs(off_ms) > 1.5 ? shown_ms : nominal_ms_) * 1e-3);
}

}  // namespace drivers::scip
