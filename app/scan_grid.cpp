#include "app/scan_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace app {
namespace {

constexpr double kPi = std::numbers::pi;

// The way from one beam to the next, the short way round.
double turned(float from, float to) { return std::remainder(double{to} - double{from}, 2 * kPi); }

}  // namespace

ScanGrid to_grid(std::span<const drivers::Beam> beams, std::span<float> ranges,
                 std::span<float> intensities) {
  std::ranges::fill(ranges, std::numeric_limits<float>::infinity());
  std::ranges::fill(intensities, 0.0f);
  if (beams.empty()) return {};
  double swept = 0;
  for (std::size_t i = 1; i < beams.size(); ++i)
    swept += turned(beams[i - 1].angle, beams[i].angle);

  const double first = std::remainder(double{beams[0].angle}, 2 * kPi);
  const double step = beams.size() > 1 ? swept / static_cast<double>(beams.size() - 1) : 0;
  double angle = 0;
  for (std::size_t i = 0; i < beams.size(); ++i) {
    if (i > 0) angle += turned(beams[i - 1].angle, beams[i].angle);
    const double ray = step == 0 || !std::isfinite(angle) ? 0 : std::round(angle / step);
    const auto at =
        static_cast<std::size_t>(std::clamp(ray, 0.0, static_cast<double>(beams.size() - 1)));
    if (!(beams[i].range > 0) || beams[i].range >= ranges[at]) continue;
    ranges[at] = beams[i].range;
    intensities[at] = beams[i].intensity;
  }
  return {static_cast<float>(first), static_cast<float>(first + swept), static_cast<float>(step)};
}

}  // namespace app
