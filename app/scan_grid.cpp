#include "app/scan_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "drivers/rounding.h"

namespace app {
namespace {

constexpr double kPi = std::numbers::pi;

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
constexpr float kNoReturn = std::numeric_limits<float>::infinity();

// Follows the beams' angles, the short way round from each to the next.
class Sweep {
 public:
  // The way from the first beam to this one; empty for an angle that is no number.
  std::optional<double> to(float angle) {
    if (!std::isfinite(angle)) return std::nullopt;
    swept_ += short_way(double{angle} - last_.value_or(double{angle}));
    if (!last_) first_ = short_way(double{angle});
    last_ = double{angle};
    return swept_;
  }
  double first() const { return first_; }
  double swept() const { return swept_; }

 private:
  // Nearly all are short already, and need no call.
  static double short_way(double turned) {
    return std::abs(turned) <= kPi ? turned : std::remainder(turned, 2 * kPi);
  }

  std::optional<double> last_;
  double first_ = 0, swept_ = 0;
};

}  // namespace

ScanGrid to_grid(std::span<const drivers::Beam> beams, std::span<float> ranges,
                 std::span<float> intensities) {
  std::ranges::fill(ranges, kUnknown);
  std::ranges::fill(intensities, 0.0f);
  Sweep whole;
  for (const drivers::Beam& beam : beams) (void)whole.to(beam.angle);
  const double step = beams.size() > 1 ? whole.swept() / static_cast<double>(beams.size() - 1) : 0;
  Sweep sweep;
  for (const auto& [angle, range, intensity] : beams) {
    const std::optional<double> way = sweep.to(angle);
    if (!way) continue;
    const double ray = step == 0 ? 0 : *way / step;
    const auto at = static_cast<std::size_t>(
        drivers::nearest(std::clamp(ray, 0.0, static_cast<double>(beams.size() - 1))));
    if (range == 0 && std::isnan(ranges[at])) ranges[at] = kNoReturn;
    if (!(range > 0) || range >= ranges[at]) continue;
    ranges[at] = range;
    intensities[at] = intensity;
  }
  return {static_cast<float>(whole.first()), static_cast<float>(whole.first() + whole.swept()),
          static_cast<float>(step)};
}

}  // namespace app
