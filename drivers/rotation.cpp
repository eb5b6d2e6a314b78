#include "drivers/rotation.h"

#include "drivers/rounding.h"

namespace drivers {
namespace {

constexpr double kSlowest = 10, kFastest = 3000;  // rpm that are believed
constexpr double kJitter = 1.5;                   // deg that a packet may begin too early
constexpr double kAgain = 30;                     // deg back: it comes again, or nearly all is lost

constexpr double ns_per_deg(double rpm) { return 1e9 / (6 * rpm); }

}  // namespace

void Rotation::add(const Frame& frame, const Sweep& sweep, std::span<const Beam> beams,
                   Decoded& out) {
  if (sweep.rpm >= kSlowest && sweep.rpm <= kFastest) rpm_ = sweep.rpm;
  const double per_deg = ns_per_deg(rpm_);
  const double span = sweep.step * static_cast<double>(beams.size() - 1);

  // From the newest beam to the first of these.
  double ahead = began_ ? sweep.first - newest_ : 0;
  if (ahead < -kJitter) ahead += 360;
  if (ahead > 360 - kJitter) ahead -= 360;
  const auto took = static_cast<double>((frame.last_at - arrival_).count());
  const bool again = began_ && ahead > 360 - kAgain && took < ahead * per_deg / 2;

  bool starts_turn = !began_ && sweep.first < sweep.step;
  if (!again) {
    counted_ += (ahead + span) * per_deg;
    newest_ = (began_ ? newest_ + ahead : sweep.first) + span;
    if (newest_ >= 360) newest_ -= 360, starts_turn = true;
    arrival_ = frame.last_at;
    began_ = true;
  }

  const hal::Duration step(nearest(sweep.step * per_deg));
  const Timing timing{.source = Timing::Source::counter,
                      .raw_ns = nearest(counted_),
                      .arrival = frame.last_at,
                      .bytes = frame.bytes.size(),
                      .to_first = -step * (static_cast<std::int64_t>(beams.size()) - 1)};
  out.add(
      ScanSlice{.step = step, .starts_turn = starts_turn, .has_intensity = true, .beams = beams},
      timing);
}

// What is lost unseen is whole turns.
ClockModel Rotation::clock_model() const {
  return {.period = hal::Duration(nearest(360 * ns_per_deg(usual_rpm_))), .max_skew = kCountedSkew};
}

}  // namespace drivers
