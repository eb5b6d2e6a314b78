#include "drivers/rplidar/measurement.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "drivers/rounding.h"

namespace drivers::rplidar {
namespace {

constexpr double kFastestHz = 100;      // no device turns faster
constexpr double kLongestTurnUs = 4e5;  // nor slower, while it measures

bool is_capsule(const Format& format) {
  return format.answer != Answer::standard && format.answer != Answer::hq;
}

// A loss of one frame doubles the step from frame to frame. Nodes jitter, and come in groups of
// 40 where datagrams get lost.
double most_turn(const Format& format, double usual) {
  return format.answer == Answer::standard ? 20 : 1.5 * usual + 0.5;
}

std::int64_t ns_of(std::int64_t samples, double sample_us) {
  return nearest(static_cast<double>(samples) * sample_us * 1e3);
}

hal::Duration step_of(double sample_us) { return hal::Duration(nearest(sample_us * 1e3)); }

// `turn_at`: where a turn starts; the number of beams or more: nowhere.
void put(hal::Duration step, std::size_t turn_at, bool has_quality, std::span<const Beam> beams,
         const Timing& timing, Decoded& out) {
  const bool starts_turn = turn_at < beams.size();
  out.add(ScanSlice{.step = step,
                    .starts_turn = starts_turn,
                    .has_intensity = has_quality,
                    .turn_at = starts_turn ? static_cast<std::uint16_t>(turn_at)
                                           : ScanSlice::kWhereItJumps,
                    .beams = beams},
          timing);
}

// The first of n samples behind the nominal front; n when there is none. `before`: the sample
// before the first.
std::size_t turn_in(double before, double first, double step, std::size_t n) {
  if (first >= kFullTurn) return 0;
  if (first + step * static_cast<double>(n - 1) >= kFullTurn) {
    return std::min(n - 1, static_cast<std::size_t>(std::ceil((kFullTurn - first) / step)));
  }
  return first < before ? 0 : n;
}

}  // namespace

void Measurement::begin(double sample_us) {
  sample_us_ = sample_us;
  start_ = last_beam_ = -1;
  usual_turn_ = 0;
  doubted_ = holds_ = false;
  closed_ = true;
}

void Measurement::take(const Format& format, const Frame& frame, bool damaged, Decoded& out) {
  const double start = angle_of(format, frame.bytes);
  if (start > kFullTurn) {
    holds_ = false;
    closed_ = true;
    return out.undecodable();
  }
  if (is_capsule(format) && has_start_flag(format, frame.bytes)) begin(sample_us_);
  double turned = start_ < 0 ? 0 : within(start - start_ + kFullTurn, kFullTurn);
  if (format.answer == Answer::standard && turned > kFullTurn - 20) turned -= kFullTurn;

  const std::int64_t frames = start_ < 0 ? 1 : frames_since(format, frame, turned);
  samples_ += frames * static_cast<std::int64_t>(format.samples);
  const bool is_next = start_ >= 0 && follows(format, frame, turned, damaged);
  start_ = start;

  if (format.answer == Answer::standard) {
    const bool joins = !closed_ && is_next && frames == 1 && frame.skipped == 0;
    return take_node(format, frame, joins, out);
  }
  finish(out);
  if (format.answer == Answer::hq) {
    const std::size_t turn_at = decode_hq(frame.bytes, beams_);
    return put(step_of(sample_us(format)), turn_at, true, beams_,
               timing_of(format, samples_, frame.last_at), out);
  }
  if (holds_ && is_next) release(format, frame.bytes, turned, out);
  hold(frame);
}

// Is this frame the direct successor of the one before? Bytes between them need not be a lost
// frame; a step of the angle that is too large is one. Two such steps in a row are the motor's.
inline bool Measurement::follows(const Format& format, const Frame& frame, double turned,
                                 bool damaged) {
  const double frame_s = static_cast<double>(format.samples) * sample_us(format) * 1e-6;
  if (turned > kFullTurn * kFastestHz * frame_s) return false;

  const bool known = usual_turn_ > 0;
  const bool strange =
      known ? turned > most_turn(format, usual_turn_) : frame.skipped > 0 && damaged;
  const bool believed = !strange || doubted_;
  doubted_ = !believed;
  if (format.answer == Answer::standard) {
    if (!strange) usual_turn_ = known ? usual_turn_ + (turned - usual_turn_) / 64 : turned;
  } else if (believed || !known) {
    usual_turn_ = turned;
  }
  return believed && frame.skipped < format.bytes;
}

// Counts this frame and those that were lost before it.
inline std::int64_t Measurement::frames_since(const Format& format, const Frame& frame,
                                              double turned) const {
  const double frame_us = static_cast<double>(format.samples) * sample_us(format);
  const bool lost = frame.skipped > 0 || turned > most_turn(format, usual_turn_);
  if (!lost) return 1;
  const double frames = usual_turn_ > 0 ? turned / usual_turn_
                                        : 1.0 + static_cast<double>(frame.skipped / format.bytes);
  return nearest(std::clamp(frames, 1.0, std::max(1.0, kLongestTurnUs / frame_us)));
}

void Measurement::release(const Format& format, Bytes next, double turned, Decoded& out) {
  const Bytes capsule = Bytes(held_).first(held_size_);
  const double step = turned / static_cast<double>(format.samples);
  const double first = angle_of(format, capsule);
  decode_capsule(format, capsule, next, step, beams_);
  const std::size_t turn_at = turn_in(last_beam_, first, step, format.samples);
  last_beam_ = within(first + turned - step, kFullTurn);
  put(step_of(sample_us(format)), turn_at, format.has_quality,
      std::span(beams_).first(format.samples), timing_of(format, held_samples_, held_arrival_),
      out);
}

void Measurement::hold(const Frame& frame) {
  std::ranges::copy(frame.bytes, held_.begin());
  held_size_ = frame.bytes.size();
  held_samples_ = samples_;
  held_arrival_ = frame.last_at;
  holds_ = true;
}

// A node that starts a turn ends the one before, which must not wait.
inline void Measurement::take_node(const Format& format, const Frame& frame, bool joins,
                                   Decoded& out) {
  if (!joins) finish(out);
  if (has_start_flag(format, frame.bytes)) {
    finish(out);
    beams_[0] = decode_node(frame.bytes);
    return put(step_of(sample_us(format)), 0, true, std::span(beams_).first(1),
               timing_of(format, samples_, frame.last_at), out);
  }
  nodes_us_ = sample_us(format);
  const auto delay = [this](hal::Time at, std::int64_t samples) {
    return hal::to_ns(at) - ns_of(samples, nodes_us_);
  };
  // Of those that came together it is the last.
  if (gathered_ == 0 || frame.last_at == swiftest_at_ ||
      delay(frame.last_at, samples_) <= delay(swiftest_at_, swiftest_samples_)) {
    swiftest_ = gathered_;
    swiftest_samples_ = samples_;
    swiftest_at_ = frame.last_at;
  }
  nodes_[gathering_][gathered_++] = decode_node(frame.bytes);
  if (gathered_ == kGathered) finish(out);
}

void Measurement::finish(Decoded& out) {
  closed_ = false;
  if (gathered_ == 0) return;
  const auto beams = std::span(nodes_[gathering_]).first(std::exchange(gathered_, 0));
  gathering_ ^= 1;
  const hal::Duration step = step_of(nodes_us_);
  const Timing timing{.source = Timing::Source::counter,
                      .raw_ns = ns_of(swiftest_samples_, nodes_us_),
                      .arrival = swiftest_at_,
                      .bytes = kNodeBytes,
                      .to_first = -step * static_cast<std::int64_t>(swiftest_)};
  put(step, beams.size(), true, beams, timing, out);
}

void Measurement::forget() {
  gathered_ = 0;
  closed_ = false;
}

// `samples` were counted until the end of the frame.
Timing Measurement::timing_of(const Format& format, std::int64_t samples, hal::Time arrival) const {
  return {
      .source = Timing::Source::counter,
      .raw_ns = ns_of(samples, sample_us(format)),
      .arrival = arrival,
      .bytes = format.bytes,
      .to_first = -step_of(sample_us(format)) * (static_cast<std::int64_t>(format.samples) - 1)};
}

}  // namespace drivers::rplidar
