#include "drivers/block_datagram.h"

#include <cmath>

#include "drivers/rounding.h"

namespace drivers {
namespace {

constexpr unsigned kUnused = 0xFFFF;
constexpr double kTurn = 36'000, kUsualStep = 400, kMostStep = 1000;
constexpr double kJitter = 50;                     // that a datagram may begin too early
constexpr double kSlowestHz = 2, kFastestHz = 60;  // that are believed
constexpr double kSame = 0.03, kWeight = 0.25;     // of a speed, relative; of a new measurement
constexpr unsigned kOtherSpeeds = 3;
constexpr double kMostTurnsLost = 100;

double forward(double from, double to) {
  const double ahead = to - from;
  return ahead < 0 ? ahead + kTurn : ahead;
}

}  // namespace

void BlockSweep::restart() {
  size_ = runs_size_ = 0;
  lost_ = 0;
  began_ = is_measured_ = false;
  raw_ns_.reset();
  step_ = kUsualStep;
  turn_ns_ = 1e9 / manner_.usual_hz;
  other_speeds_ = 0;
  unused_ = refused_ = 0;
  blind_ = manner_.is_blind ? std::nullopt : std::optional(0.0);
}

void BlockSweep::read(const Frame& frame, const std::optional<Timing>& stamp) {
  runs_size_ = 0;
  lost_ = 0;
  read_blocks(frame.bytes);
  if (size_ == 0) {
    unused_ += blocks::kCount;
    return;
  }
  const auto elapsed = since(stamp);
  const bool is_late = comes_late(frame, stamp);
  if (is_late && !stamp) return;
  if (!is_late) follow(elapsed);
  make_runs(frame, stamp);
  if (is_late) {  // the stamper drops what is stale
    runs_size_ = 1;
    return;
  }
  const Block& last = blocks_[size_ - 1];
  const Timing& timing = runs_[0].timing;
  raw_ns_.reset();
  if (timing.source != Timing::Source::arrival) raw_ns_ = timing.raw_ns;
  began_ = true;
  stamped_ = stamped();
  span_ = span();
  last_ = last.azimuth;
  next_ = std::fmod(last.azimuth + last.step, kTurn);
  arrival_ = frame.last_at;
  unused_ = trailing_;
  refused_ = 0;
}

bool BlockSweep::makes_sense(Bytes b) {
  double turned = 0;
  std::optional<unsigned> before;
  for (std::size_t at = 0; at < blocks::kStamp; at += blocks::kSize) {
    const unsigned azimuth = wire::u16(b, at + 2);
    if (azimuth == kUnused) continue;
    if (azimuth > kTurn) return false;
    if (before) turned += forward(std::fmod(*before, kTurn), std::fmod(azimuth, kTurn));
    before = azimuth;
  }
  return turned <= kTurn;
}

std::optional<BlockSweep::Used> BlockSweep::first_used(Bytes b) {
  for (std::size_t i = 0; i < blocks::kCount; ++i) {
    const unsigned azimuth = wire::u16(b, i * blocks::kSize + 2);
    if (azimuth != kUnused) return Used{i, std::fmod(azimuth, kTurn)};
  }
  return std::nullopt;
}

// Of two blocks the difference is taken where they follow each other, and else the one before: what
// lies behind an unused block, or behind the blind zone, says nothing of the step.
void BlockSweep::read_blocks(Bytes b) {
  size_ = 0;
  unsigned unused = unused_;
  double before = last_;
  bool has_before = began_;
  for (std::size_t at = 0; at < blocks::kStamp; at += blocks::kSize) {
    const unsigned azimuth = wire::u16(b, at + 2);
    if (azimuth == kUnused) {
      ++unused;
      continue;
    }
    Block& block = blocks_[size_];
    block = {.at = at + blocks::kData,
             .azimuth = std::fmod(azimuth, kTurn),
             .step = step_,
             .unused = unused};
    block.passes = has_before && block.azimuth < before;
    if (size_ > 0) {
      Block& previous = blocks_[size_ - 1];
      const double step = forward(previous.azimuth, block.azimuth);
      block.ahead = previous.ahead + step;
      block.follows = unused == 0 && step > 0 && step <= kMostStep;
      if (block.follows) previous.step = block.step = step_ = step;
    }
    before = block.azimuth;
    has_before = true;
    unused = 0;
    ++size_;
  }
  trailing_ = unused;
  // Blocks that no other followed take the step that is known by now.
  for (std::size_t i = 0; i < size_; ++i) {
    const bool is_followed = i + 1 < size_ && blocks_[i + 1].follows;
    if (!is_followed && (i == 0 || !blocks_[i].follows)) blocks_[i].step = step_;
  }
}

// Since the datagram before, by the device's clock.
std::optional<std::int64_t> BlockSweep::since(const std::optional<Timing>& stamp) const {
  if (!stamp || !raw_ns_) return std::nullopt;
  const std::int64_t modulus = manner_.modulus.count();
  const std::int64_t steps = ((stamp->raw_ns - *raw_ns_) % modulus + modulus) % modulus;
  return steps > modulus / 2 ? steps - modulus : steps;
}

bool BlockSweep::comes_late(const Frame& frame, const std::optional<Timing>& stamp) const {
  const std::optional<Used> first = first_used(frame.bytes);
  if (!began_ || !first) return false;
  if (static_cast<double>((frame.last_at - arrival_).count()) > turn_ns_ / 2) return false;
  if (const auto elapsed = since(stamp)) {
    return *elapsed <= 0 && static_cast<double>(*elapsed) > -turn_ns_;
  }
  const double ahead = forward(next_, first->azimuth);
  return ahead > kTurn / 2 && ahead < kTurn - kJitter;
}

// Without a time by the angle, to half a turn either way.
std::int64_t BlockSweep::ahead_ns(Bytes b, const std::optional<Timing>& stamp) const {
  if (const auto elapsed = since(stamp)) return *elapsed;
  const std::optional<Used> first = first_used(b);
  const double usual = (unused_ + blocks::kCount) * step_;
  const double ahead = first ? forward(last_, first->azimuth) : usual;
  return nearest((ahead > kTurn / 2 ? ahead - kTurn : ahead) / kTurn * turn_ns_);
}

// Unused blocks tell no angle, but how long they take is known.
bool BlockSweep::follows(Bytes b, const std::optional<Timing>& stamp) const {
  if (!began_) return true;
  const std::optional<Used> first = first_used(b);
  if (!first) {
    const double turned = static_cast<double>(ahead_ns(b, stamp)) / turn_ns_ * kTurn;
    return turned < (unused_ + 1.5 * blocks::kCount) * step_;
  }
  const bool passes = first->azimuth < last_;
  if (passes && !blind_) return true;
  double gap = forward(next_, first->azimuth);
  if (gap > kTurn - kJitter) gap = 0;
  const double between = gap - (passes ? *blind_ : 0);
  const double unused = unused_ + static_cast<double>(first->unused);
  return (between / step_ - unused) / blocks::kCount - refused_ < 0.5;
}

// From its first block to the end of its last, unused ones behind it with it.
double BlockSweep::span() const {
  const Block& end = blocks_[size_ - 1];
  return end.ahead + end.step * (trailing_ + 1);
}

// The angle that its stamp belongs to.
double BlockSweep::stamped() const {
  return std::fmod(blocks_[0].azimuth + (manner_.stamps_last ? span() : 0), kTurn);
}

// What was turned since the datagram before tells the speed, and what of it never came.
void BlockSweep::follow(std::optional<std::int64_t> elapsed) {
  for (std::size_t i = 1; i < size_; ++i) {
    const Block &block = blocks_[i], &previous = blocks_[i - 1];
    if (block.passes) learn_blind(block.ahead - previous.ahead - previous.step, block.unused);
  }
  if (!began_) return;
  const double turned = forward(stamped_, stamped());
  const bool has_time = elapsed && *elapsed > 0;
  double turns = 0;  // that got lost as a whole
  if (has_time && is_measured_) {
    turns = std::round((static_cast<double>(*elapsed) - turned / kTurn * turn_ns_) / turn_ns_);
    if (turns < 0) turns = 0;
    if (turns > kMostTurnsLost) return;
  }
  if (has_time && turned + turns > 0) {
    const double turn_ns = static_cast<double>(*elapsed) / (turned / kTurn + turns);
    const bool is_believed = turn_ns > 1e9 / kFastestHz && turn_ns < 1e9 / kSlowestHz;
    const bool is_other = is_measured_ && std::abs(turn_ns / turn_ns_ - 1) > kSame;
    other_speeds_ = is_believed && is_other ? other_speeds_ + 1 : 0;
    if (is_believed && (!is_measured_ || other_speeds_ >= kOtherSpeeds)) {
      turn_ns_ = turn_ns;
      other_speeds_ = 0;
      is_measured_ = true;
    } else if (is_believed && !is_other) {
      turn_ns_ += kWeight * (turn_ns - turn_ns_);
    }
  }
  double gap = forward(next_, blocks_[0].azimuth);
  if (gap > kTurn - kJitter) gap = 0;
  const double between = turned + turns * kTurn - (manner_.stamps_last ? span() : span_);
  turns = is_measured_ && has_time ? std::max(0.0, std::round((between - gap) / kTurn)) : 0;
  const bool passes = blocks_[0].passes;
  if (passes && turns == 0) learn_blind(gap, blocks_[0].unused);
  const double passed = turns + (passes ? 1 : 0);
  if (passed > 0 && !blind_) return;
  const double blind = passed > 0 ? passed * *blind_ : 0;
  const double missing =
      ((gap + turns * kTurn - blind) / step_ - blocks_[0].unused) / double{blocks::kCount} -
      refused_;
  if (missing >= 0.5) lost_ = static_cast<std::uint64_t>(std::lround(missing));
}

// Behind, a device leaves blocks out or sends unused ones, or both. What is lost makes the gap
// wider: the least that was seen is the blind zone's.
void BlockSweep::learn_blind(double gap, unsigned unused) {
  if (!manner_.is_blind) return;
  const double left_out = std::max(0.0, gap - unused * step_);
  if (!blind_ || left_out < *blind_) blind_ = left_out;
}

void BlockSweep::make_runs(const Frame& frame, const std::optional<Timing>& stamp) {
  const double per_unit = turn_ns_ / kTurn;
  const auto points = static_cast<double>(manner_.points);
  const auto ns = [](double v) { return hal::Duration(nearest(v)); };
  // To its last beam, or to where that of an unused block would be.
  const double to_last = span() - blocks_[size_ - 1].step / points;

  Timing timing{.arrival = frame.last_at, .bytes = frame.bytes.size()};
  const bool goes_on = raw_ns_ && frame.last_at - arrival_ < std::chrono::seconds(1);
  if (stamp) {
    timing.source = stamp->source;
    timing.raw_ns = stamp->raw_ns;
  } else if (goes_on) {
    const double ahead = forward(stamped_, stamped()) * per_unit;
    timing.source = Timing::Source::clock;
    timing.raw_ns = (*raw_ns_ + nearest(ahead)) % manner_.modulus.count();
  }
  // An arrival is that of the last beam.
  const bool counts_back = manner_.stamps_last || timing.source == Timing::Source::arrival;
  timing.held = counts_back ? hal::Duration{} : ns(to_last * per_unit);

  for (std::size_t i = 0; i < size_; ++i) {
    const Block& block = blocks_[i];
    if (i == 0 || !block.follows) {
      Run& run = runs_[runs_size_++];
      run.first = i;
      run.count = 0;
      run.slice = ScanSlice{.has_intensity = true};
      run.timing = timing;
      run.timing.to_first = ns((block.ahead - (counts_back ? to_last : 0)) * per_unit);
      timing.shared = true;
    }
    Run& run = runs_[runs_size_ - 1];
    ++run.count;
    run.slice.starts_turn |= block.passes;
    const double swept = block.ahead + block.step - blocks_[run.first].ahead;
    run.slice.step = ns(swept * per_unit / (points * static_cast<double>(run.count)));
  }
}

}  // namespace drivers
