#include "drivers/bno08x_rvc/bno08x_rvc.h"

#include <array>

#include "drivers/inertial.h"
#include "drivers/wire.h"

namespace drivers {
namespace {

using namespace std::chrono_literals;

constexpr std::byte kHead{0xAA};
constexpr std::size_t kIndex = 2, kYaw = 3, kPitch = 5, kRoll = 7, kAccel = 9, kSum = 18;
constexpr hal::Duration kPeriod = 10ms;
constexpr double kRate = 100;                               // Hz
constexpr double kAngleUnit = 0.01 * inertial::kRadPerDeg;  // rad
constexpr double kAccelUnit = 1e-3 * inertial::kGravity;    // m/s^2
constexpr int kHalfTurn = 18'000, kQuarterTurn = 9'000;     // units
constexpr inertial::Limits kLimits{.accel = 16 * inertial::kGravity};

constexpr std::array kOptions{
    OptionSpec{.key = "axes",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "printed",
               .choices = "printed|rfu",
               .help = "printed: x is taken for forward, y for left; rfu: x is right, y forward"},
    OptionSpec{.key = "yaw",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "clockwise",
               .choices = "clockwise|counter_clockwise",
               .help = "which turn, seen from above, makes its yaw grow; not confirmed"},
};

bool is_within(int angle, int limit) { return angle >= -limit && angle <= limit; }

// Of axes right-forward-up in a world of which y is ahead: yaw about up, pitch about right, roll
// about forward. That is the usual order where the axes are forward-left-up.
inertial::Quaternion attitude(double yaw, double pitch, double roll) {
  const inertial::Quaternion q = inertial::from_euler(roll, -pitch, yaw);
  return {q.w, -q.y, q.x, q.z};
}

}  // namespace

std::size_t Bno08xRvc::Framing::measure(Bytes b) {
  if (b[0] != kHead) return kNotAFrame;
  if (b.size() < 2) return kNeedMore;
  return b[1] == kHead ? kMaxFrame : kNotAFrame;
}

bool Bno08xRvc::Framing::intact(Bytes frame) {
  const Bytes summed = frame.subspan(kIndex, kSum - kIndex);
  return static_cast<std::uint8_t>(wire::sum_of(summed)) == wire::u8(frame, kSum);
}

std::span<const OptionSpec> Bno08xRvc::options() { return kOptions; }

Figures Bno08xRvc::figures(const Options&, int) {
  return {.packets_hz = kRate, .bytes_per_s = kRate * Framing::kMaxFrame};
}

Bno08xRvc::Bno08xRvc(const Options& options)
    : rfu_(options.text("axes") == "rfu"), yaw_sign_(options.text("yaw") == "clockwise" ? -1 : 1) {}

ClockModel Bno08xRvc::clock_model() const {
  return {.modulus = 256 * kPeriod, .period = kPeriod, .max_skew = kCountedSkew};
}

void Bno08xRvc::decode(const Frame& frame, Decoded& out) {
  const Bytes b = frame.bytes;
  const unsigned index = wire::u8(b, kIndex);
  out.lost(indices_.missing_before(index));
  const int yaw = wire::i16(b, kYaw), pitch = wire::i16(b, kPitch), roll = wire::i16(b, kRoll);
  const bool angles_make_sense =
      is_within(yaw, kHalfTurn) && is_within(pitch, kQuarterTurn) && is_within(roll, kHalfTurn);
  ImuSample sample;
  const inertial::Vector accel{wire::i16(b, kAccel) * kAccelUnit,
                               wire::i16(b, kAccel + 2) * kAccelUnit,
                               wire::i16(b, kAccel + 4) * kAccelUnit};
  sample.accel = rfu_ ? inertial::from_rfu(accel) : accel;
  if (!angles_make_sense || !inertial::is_sensible(sample, kLimits)) return out.undecodable();
  const inertial::Quaternion q =
      attitude(yaw_sign_ * yaw * kAngleUnit, pitch * kAngleUnit, roll * kAngleUnit);
  sample.orientation = rfu_ ? inertial::from_enu_rfu(q) : inertial::from_enu_flu(q);
  out.add(sample, {.source = Timing::Source::counter,
                   .raw_ns = (kPeriod * index).count(),
                   .arrival = frame.last_at,
                   .bytes = b.size()});
}

}  // namespace drivers
