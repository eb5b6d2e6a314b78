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

hal::Duration step_of(double sample_us) { return hal::Duration(nearest(sample_us * 1e3)); }

void put(hal::Duration step, bool starts_turn, bool has_quality, std::span<const Beam> beams,
         const Timing& timing, Decoded& out) {
  out.add(
      ScanSlice{
          .step = step, .starts_turn = starts_turn, .has_intensity = has_quality, .beams = beams},
      timing);
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
    const bool starts_turn = decode_hq(frame.bytes, beams_);
    return put(step_of(sample_us(format)), starts_turn, true, beams_,
               timing_of(format, samples_, frame.last_at), out);
  }
  if (holds_ && is_next) release(format, frame.bytes, turned, out);
  hold(frame);
}

// Is this frame the direct successor of the one before? Bytes between them need not be a lost
// frame; a step of the angle that is too large is one. Two such steps in a row are the motor's.
bool Measurement::follows(const Format& format, const Frame& frame, double turned, bool damaged) {
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
std::int64_t Measurement::frames_since(const Format& format, const Frame& frame,
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
  const double first = angle_of(format, capsule), last = first + turned - step;
  decode_capsule(format, capsule, next, step, beams_);
  const bool starts_turn = first < last_beam_ || last >= kFullTurn;
  last_beam_ = within(last, kFullTurn);
  put(step_of(sample_us(format)), starts_turn, format.has_quality,
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

// A node that starts a turn ends the one before, which must not wait. Of those that are gathered
// the one that came with least delay tells the time: the others were held up on their way.
void Measurement::take_node(const Format& format, const Frame& frame, bool joins, Decoded& out) {
  if (!joins) finish(out);
  const Timing timing = timing_of(format, samples_, frame.last_at);
  const hal::Duration step = step_of(sample_us(format));
  if (has_start_flag(format, frame.bytes)) {
    finish(out);
    beams_[0] = decode_node(frame.bytes);
    return put(step, true, true, std::span(beams_).first(1), timing, out);
  }
  const auto delay = [](const Timing& t) { return hal::to_ns(t.arrival) - t.raw_ns; };
  if (gathered_ == 0 || delay(timing) <= delay(nodes_timing_)) {
    nodes_timing_ = timing;
    nodes_timing_.to_first = -step * static_cast<std::int64_t>(gathered_);
  }
  nodes_step_ = step;
  nodes_[gathering_][gathered_++] = decode_node(frame.bytes);
  if (gathered_ == kGathered) finish(out);
}

void Measurement::finish(Decoded& out) {
  closed_ = false;
  if (gathered_ == 0) return;
  const auto beams = std::span(nodes_[gathering_]).first(std::exchange(gathered_, 0));
  gathering_ ^= 1;
  put(nodes_step_, false, true, beams, nodes_timing_, out);
}

void Measurement::forget() {
  gathered_ = 0;
  closed_ = false;
}

// `samples` were counted until the end of the frame.
Timing Measurement::timing_of(const Format& format, std::int64_t samples, hal::Time arrival) const {
  return {
      .source = Timing::Source::counter,
      .raw_ns = nearest(static_cast<double>(samples) * sample_us(format) * 1e3),
      .arrival = arrival,
      .bytes = format.bytes,
      .to_first = -step_of(sample_us(format)) * (static_cast<std::int64_t>(format.samples) - 1)};
}

}  // namespace drivers::rplidar
