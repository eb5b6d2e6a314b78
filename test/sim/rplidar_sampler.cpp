#include "test/sim/rplidar_sampler.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "test/sim/room.h"

namespace sim::rplidar {
namespace {

constexpr unsigned kWallQuality = 47, kNoQuality = 0, kSpoiltQuality = 15, kWallQuality8 = 188;
constexpr double kTurnDeg = 360.0;

double wrap(double deg) {
  const double turn = std::fmod(deg, kTurnDeg);
  return turn < 0.0 ? turn + kTurnDeg : turn;
}

unsigned to_q6(double deg) { return static_cast<unsigned>(std::lround(wrap(deg) * 64)) % kTurnQ6; }

unsigned whole_mm(double mm) { return static_cast<unsigned>(std::lround(mm)); }

}  // namespace

ByteVector Sampler::packet(const Sweep& sweep, std::vector<TrueBeam>& beams) {
  sweep_ = sweep;
  start_q6_ = to_q6(sweep.start_deg);
  const unsigned advance_q6 = (to_q6(sweep.next_deg) + kTurnQ6 - start_q6_) % kTurnQ6;
  step_deg_ = advance_q6 / 64.0 / static_cast<double>(samples());
  beams.clear();
  switch (answer_) {
    case Answer::standard:
      return standard(beams);
    case Answer::express:
      return express(beams);
    case Answer::hq:
      return hq(beams);
    case Answer::ultra:
      return ultra(beams);
    case Answer::dense:
      return dense(beams);
    case Answer::ultra_dense:
      return ultra_dense(beams);
  }
  return {};
}

double Sampler::rotor_step_deg() const {
  return wrap(sweep_.next_deg - sweep_.start_deg) / static_cast<double>(samples_);
}

double Sampler::rotor_deg(std::size_t sample) const {
  return wrap(sweep_.start_deg + static_cast<double>(sample) * rotor_step_deg());
}

double Sampler::nominal_deg(std::size_t sample) const {
  return start_q6_ / 64.0 + static_cast<double>(sample) * step_deg_;
}

Sampler::Return Sampler::cast(double clockwise_deg) {
  const double range = random_.chance(spoil_.zeros) ? 0.0 : Room::range(-radians(clockwise_deg));
  return {range * 1000.0, clockwise_deg, range};
}

void Sampler::record(std::vector<TrueBeam>& beams, std::size_t sample, const Return& r) const {
  const auto count = static_cast<std::int64_t>(samples());
  const hal::Duration after(sweep_.length.count() * static_cast<std::int64_t>(sample) / count);
  beams.push_back({sweep_.at + after, radians(-wrap(r.clockwise_deg)), r.range});
}

// The flag of a new turn comes some degrees before the front, not at it (section 7): it is on the
// last sample before an angle that is mostly near 359.5 and rarely as low as 352.5.
bool Sampler::standard_flag(double deg) {
  if (deg < 180.0) turn_due_ = true;
  if (!turn_due_ || deg + rotor_step_deg() <= turn_flag_deg_) return false;
  turn_due_ = false;
  turn_flag_deg_ = 359.5 - 7.0 * std::pow(random_.uniform(0.0, 1.0), 16.0);
  return true;
}

ByteVector Sampler::node(double deg, std::size_t sample, std::vector<TrueBeam>& beams) {
  StandardNode node;
  node.starts_turn = standard_flag(deg);
  node.angle_q6 = to_q6(deg);
  if (random_.chance(spoil_.backwards)) {
    const auto back = static_cast<unsigned>(1 + random_.below(20));
    node.angle_q6 = (last_angle_ + kTurnQ6 - back) % kTurnQ6;
  }
  last_angle_ = node.angle_q6;
  const Return r = cast(node.angle_q6 / 64.0);
  const bool spoilt = r.range == 0.0 && Room::range(-radians(r.clockwise_deg)) > 0.0;
  node.quality = r.range > 0.0 ? kWallQuality : (spoilt ? kSpoiltQuality : kNoQuality);
  node.distance_q2 = whole_mm(4 * r.mm);
  record(beams, sample, r);
  return standard_node(node);
}

ByteVector Sampler::standard(std::vector<TrueBeam>& beams) {
  ByteVector out;
  for (std::size_t i = 0; i < samples_; ++i) {
    const ByteVector one = node(rotor_deg(i), i, beams);
    out.insert(out.end(), one.begin(), one.end());
  }
  return out;
}

ByteVector Sampler::express(std::vector<TrueBeam>& beams) {
  std::array<ExpressSample, kExpressSamples> in{};
  for (std::size_t i = 0; i < in.size(); ++i) {
    const double nominal = nominal_deg(i);
    const double about_mm = 1000.0 * Room::range(-radians(nominal));
    const long offset = std::lround(8.0 * ultra_offset_deg(whole_mm(about_mm)));
    in[i].offset_q3 = static_cast<unsigned>(std::min(offset, 63L));
    const Return r = cast(nominal - in[i].offset_q3 / 8.0);
    in[i].mm = whole_mm(r.mm);
    record(beams, i, r);
  }
  return express_capsule(head(), in);
}

// Finds the ray whose distance, as the format carries it, gives the very offset at which the ray
// was cast. Where the offset's steps leave none, the sample is sent as no return.
template <class Quantise>
Sampler::Return Sampler::settle(double nominal, Quantise&& quantise) {
  const Return none{0.0, nominal - ultra_offset_deg(0), 0.0};
  if (random_.chance(spoil_.zeros)) return none;
  double offset = ultra_offset_deg(0);
  for (int i = 0; i < 8; ++i) {
    const double range = Room::range(-radians(nominal - offset));
    const unsigned mm = range > 0.0 ? quantise(1000.0 * range) : 0;
    const double right = ultra_offset_deg(mm);
    if (right == offset) return {static_cast<double>(mm), nominal - offset, mm > 0 ? range : 0.0};
    offset = right;
  }
  return none;
}

int Sampler::predict(std::size_t sample, Varbit base, std::vector<TrueBeam>& beams) {
  const auto steps_to = [&](double mm) {
    return static_cast<int>(std::lround((mm - base.mm) / (1U << base.level)));
  };
  const auto quantise = [&](double mm) {
    const int steps = steps_to(mm);
    if (steps <= kNoPrediction || steps > kMaxPrediction) return 0U;
    return static_cast<unsigned>(static_cast<int>(base.mm) + steps * (1 << base.level));
  };
  const Return r = settle(nominal_deg(sample), quantise);
  record(beams, sample, r);
  return r.mm > 0.0 ? steps_to(r.mm) : kNoPrediction;
}

ByteVector Sampler::ultra(std::vector<TrueBeam>& beams) {
  const auto quantise = [](double mm) { return varbit_decode(varbit_encode(mm)).mm; };
  std::array<Return, kUltraCabins + 1> majors;
  for (std::size_t i = 0; i < majors.size(); ++i)
    majors[i] = i == 0 && next_major_known_ ? next_major_ : settle(nominal_deg(3 * i), quantise);
  std::array<UltraCabin, kUltraCabins> in{};
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i].major = varbit_encode(majors[i].mm);
    const Varbit base2 = varbit_decode(varbit_encode(majors[i + 1].mm));
    const Varbit base1 = in[i].major == 0 ? base2 : varbit_decode(in[i].major);
    record(beams, 3 * i, majors[i]);
    in[i].predict1 = predict(3 * i + 1, base1, beams);
    in[i].predict2 = predict(3 * i + 2, base2, beams);
  }
  next_major_ = majors.back();
  next_major_known_ = true;
  return ultra_capsule(head(), in);
}

ByteVector Sampler::dense(std::vector<TrueBeam>& beams) {
  std::array<unsigned, kDenseSamples> mm{};
  for (std::size_t i = 0; i < mm.size(); ++i) {
    const Return r = cast(nominal_deg(i));
    mm[i] = whole_mm(r.mm);
    record(beams, i, r);
  }
  return dense_capsule(head(), mm);
}

ByteVector Sampler::ultra_dense(std::vector<TrueBeam>& beams) {
  std::array<std::uint32_t, kUltraDenseSamples> values{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Return r = cast(nominal_deg(i));
    values[i] = r.range > 0.0 ? ultra_dense_value(r.mm, kWallQuality8) : 0U;
    record(beams, i, r);
  }
  return ultra_dense_capsule(head(), static_cast<std::uint32_t>(sweep_.device_us), 0, values);
}

ByteVector Sampler::hq(std::vector<TrueBeam>& beams) {
  std::array<HqNode, kHqSamples> nodes{};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const long angle = std::lround(rotor_deg(i) * 16384.0 / 90.0);
    nodes[i].angle_q14 = static_cast<unsigned>(angle) & 0xFFFFU;
    const Return r = cast(nodes[i].angle_q14 * 90.0 / 16384.0);
    nodes[i].distance_q2 = whole_mm(4 * r.mm);
    nodes[i].quality = r.range > 0.0 ? kWallQuality8 : kNoQuality;
    nodes[i].starts_turn = nodes[i].angle_q14 < last_angle_;
    last_angle_ = nodes[i].angle_q14;
    record(beams, i, r);
  }
  return hq_packet(sweep_.device_us, nodes);
}

}  // namespace sim::rplidar
