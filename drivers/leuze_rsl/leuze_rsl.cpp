#include "drivers/leuze_rsl/leuze_rsl.h"

#include <algorithm>

#include "drivers/wire.h"

namespace drivers {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kHeader = 20;
constexpr unsigned kStatus = 1, kWithAmplitude = 3, kDistance = 6;
constexpr std::size_t kAngles400 = 2700, kAngles200 = 1351;  // most of a scan
constexpr std::uint64_t kLatest = 256;  // a block that is so far behind is of a new count
constexpr double kRadPerDeg = 3.14159265358979323846 / 180;
constexpr double kLeftmost = 135 * kRadPerDeg;

unsigned kind_of(Bytes b) { return wire::u8(b, 12); }
bool is_200(Bytes b) { return wire::u8(b, 13) == 1; }
std::size_t status_size(Bytes b) { return is_200(b) ? 56 : 48; }

hal::Duration period(bool is_200) { return is_200 ? 25ms : 40ms; }
std::size_t beam_size(Bytes b) { return kind_of(b) == kWithAmplitude ? 4 : 2; }

double angle_unit(bool is_200) { return (is_200 ? 0.2 : 0.1) * kRadPerDeg; }
hal::Duration per_unit(bool is_200) { return period(is_200) / (is_200 ? 1800 : 3600); }

}  // namespace

std::size_t LeuzeRslFraming::measure(Bytes b) {
  if (b.size() < kHeader) return kNeedMore;
  const std::uint32_t n = wire::u32(b, 0);
  const bool is_ours = wire::u8(b, 4) == 8 && wire::u16be(b, 6) == 0xAFFE &&
                       wire::u32be(b, 8) == 0x041502C8 && wire::u8(b, 13) <= 1;
  return is_ours && n >= kHeader && n <= kMaxFrame ? n : kNotAFrame;
}

bool LeuzeRslFraming::intact(Bytes frame) {
  const std::size_t data = frame.size() - kHeader;
  switch (kind_of(frame)) {
    case kStatus:
      return frame.size() == status_size(frame);
    case kWithAmplitude:
      return data > 0 && data % 4 == 0;
    case kDistance:
      return data > 0 && data % 2 == 0 && data <= 2 * 360;
    default:
      return true;  // of no interest
  }
}

Figures LeuzeRsl::figures(const Options&, int) {
  Figures f;
  f.packets_hz = 8 / 0.040;
  f.turns_hz = 40;
  f.beams_per_turn = kAngles400;
  f.bytes_per_s = 25 * (48 + 8 * kHeader + 4 * kAngles400);
  f.delivery = 50ms;  // eight blocks that wait for a lost one, and the pause behind the field
  return f;
}

Finding LeuzeRsl::finding() {
  static constexpr std::uint16_t kUdp[] = {9990};
  return {.udp = kUdp};
}

ClockModel LeuzeRsl::clock_model() const { return {.max_skew = kCountedSkew}; }

void LeuzeRsl::restart() {
  field_.reset();
  blocks_.forget();
  scan_.reset();
}

hal::Text<96> LeuzeRsl::about() const {
  if (!field_) return {};
  return hal::Text<96>::of("%s, %zu beams a scan", field_->is_200 ? "RSL 200" : "RSL 400",
                           field_->beams);
}

void LeuzeRsl::decode(const Frame& frame, Decoded& out) {
  switch (kind_of(frame.bytes)) {
    case kStatus:
      return take_status(frame, out);
    case kWithAmplitude:
    case kDistance:
      return take_block(frame, out);
    default:
      return;
  }
}

void LeuzeRsl::finish(Decoded& out) {
  out.lost(blocks_.give_up_all([&](Block& block) { give(block, out); }));
}

// Another field: blocks that still wait are of the old one, or were read as if they were.
void LeuzeRsl::take_status(const Frame& frame, Decoded& out) {
  const Bytes b = frame.bytes, told = b.last(8);
  const unsigned first = wire::u16(told, 0), last = wire::u16(told, 2),
                 interval = wire::u16(told, 4);
  const std::size_t most = is_200(b) ? kAngles200 : kAngles400;
  if (interval == 0 || last < first || last >= most) return out.undecodable();
  const Field field{is_200(b), first, interval, 1 + (last - first + interval - 1) / interval};
  if (field_ == field) return;
  field_ = field;
  blocks_.forget();
}

// Before the first status blocks have no angles.
void LeuzeRsl::take_block(const Frame& frame, Decoded& out) {
  const Bytes b = frame.bytes;
  if (!field_) return;
  const std::size_t block = wire::u16(b, 14), begin = block * kBlock;
  const std::size_t n = (b.size() - kHeader) / beam_size(b);
  if (is_200(b) != field_->is_200 || block >= field_->blocks()) return out.undecodable();
  const bool makes_sense = n == std::min(kBlock, field_->beams - begin);
  now_ = frame.last_at;
  const std::uint32_t scan = wire::u32(b, 16);
  const std::uint64_t number = std::uint64_t{scan} * field_->blocks() + block;
  const bool is_behind = blocks_.is_behind(number);
  const bool is_restarted = is_behind && blocks_.expected() - number > kLatest;
  if (!is_restarted && blocks_.is_waiting(number)) return;  // it came twice
  const auto deliver = [&](Block& ready) { give(ready, out); };
  if (!makes_sense) {  // it takes its place without beams, or it would count as lost, too
    out.undecodable();
    if (!blocks_.is_close(number)) return;
    blocks_.place().slice = {};
    return out.lost(blocks_.take(number, deliver));
  }
  Block& to = blocks_.place();
  const auto step = per_unit(field_->is_200) * static_cast<std::int64_t>(field_->interval);
  const auto after = static_cast<std::int64_t>(n) - 1;
  const auto since_turn = step * (static_cast<std::int64_t>(begin) + after);
  to.scan = scan;
  to.timing = {.source = Timing::Source::counter,
               .raw_ns = (period(field_->is_200) * std::int64_t{scan} + since_turn).count(),
               .to_first = -step * after};
  to.slice.step = step;
  to.slice.has_intensity = kind_of(b) == kWithAmplitude;
  to.slice.beams = std::span(to.beams).first(n);
  fill(b, begin, std::span(to.beams).first(n));
  to.timing.arrival = now_;
  // The stamper drops what is stale.
  if (is_behind && !is_restarted) return out.add(to.slice, to.timing);
  out.lost(is_restarted ? blocks_.take_anew(number, deliver) : blocks_.take(number, deliver));
}

void LeuzeRsl::fill(Bytes b, std::size_t first_beam, std::span<Beam> beams) const {
  const bool has_amplitude = kind_of(b) == kWithAmplitude;
  const std::size_t size = beam_size(b);
  const double unit = angle_unit(field_->is_200), step = unit * field_->interval;
  const double leftmost = kLeftmost - unit * field_->first - step * static_cast<double>(first_beam);
  const std::byte* at = b.data() + kHeader;
  const std::size_t n = beams.size();
  for (std::size_t i = 0; i < n; ++i, at += size) {
    const unsigned mm = wire::u16(Bytes(at, 2), 0);
    beams[i].angle = static_cast<float>(leftmost - step * static_cast<double>(static_cast<int>(i)));
    beams[i].range = mm == 0xFFFF ? 0 : static_cast<float>(mm) * 1e-3F;
    beams[i].intensity = has_amplitude ? static_cast<float>(wire::u16(Bytes(at + 2, 2), 0)) : 0;
  }
}

void LeuzeRsl::give(Block& block, Decoded& out) {
  if (block.slice.beams.empty()) return;
  block.slice.starts_turn = scan_ != block.scan;
  scan_ = block.scan;
  block.timing.arrival = now_;
  out.add(block.slice, block.timing);
}

}  // namespace drivers
