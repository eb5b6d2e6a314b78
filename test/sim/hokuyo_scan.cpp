#include "test/sim/hokuyo_scan.h"

#include <algorithm>
#include <cmath>

#include "test/sim/room.h"
#include "test/sim/scip_text.h"

namespace sim::hokuyo_scip {
namespace {

double angle_of(const Model& model, int step) {
  return kTurn * (step - model.front) / model.steps_per_turn;
}

// The range that can be told; 0 = none.
double range_at(const Model& model, const Wanted& wanted, int step, double off) {
  if (step < model.first || step > model.last) return 0.0;
  const double wall = Room::range(angle_of(model, step));
  const double range = wall > 0.0 ? wall + off : 0.0;
  const double mm = std::round(range * 1000.0);
  const double most = std::min<double>(model.max_mm, std::exp2(6 * wanted.chars) - 1.0);
  return mm < model.min_mm || mm > most ? 0.0 : range;
}

}  // namespace

std::string measure(const Model& model, const Wanted& wanted, const Turn& turn, Noise& noise,
                    std::vector<TrueBeam>& beams) {
  std::string data;
  for (int step = wanted.start; step <= wanted.end; step += wanted.cluster) {
    double range = 0.0;
    for (int s = step; s < step + wanted.cluster && s <= wanted.end; ++s) {
      const double one = range_at(model, wanted, s, noise.off());
      if (one > 0.0 && (range == 0.0 || one < range)) range = one;
    }
    const auto error = model.errors[static_cast<std::size_t>(step) % model.errors.size()];
    const auto mm = static_cast<std::uint32_t>(std::lround(range * 1000.0));
    data += encode(range > 0.0 ? mm : error, wanted.chars);
    if (wanted.intensity) data += encode(range > 0.0 ? 12000 - mm : 0, 3);
    for (int k = 1; wanted.echoes && range > 0.0 && k <= further_returns(step); ++k) {
      const auto behind = static_cast<std::uint32_t>(std::lround((range + k * kGlass) * 1000.0));
      data += '&' + encode(behind, wanted.chars);
      if (wanted.intensity) data += encode((12000 - mm) >> k, 3);
    }
    beams.push_back({turn.at(model, step), angle_of(model, step), range});
  }
  return data;
}

}  // namespace sim::hokuyo_scip
