#include "drivers/lslidar_m10/framing.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "drivers/wire.h"

namespace drivers {
namespace {

constexpr unsigned kFlag = 0xA55A, kTurn = 36000;  // 0.01 deg
constexpr std::size_t kHead = 8;
constexpr unsigned kSlowestRpm = 120, kFastestRpm = 1500;
constexpr unsigned kSpan = 1500, kNearby = 20;  // 0.01 deg: of an M10's packet; of its jitter

// In the order of being looked for: what has a sum or a length first.
constexpr std::array kKinds{
    LslidarKind{"N10", 58, 16, 1, 5, 3, 7, 55, true, 0x3A, false, false},
    LslidarKind{"N10P", 108, 16, 2, 5, 3, 7, 105, true, 0, false, false},
    LslidarKind{"M10P", 160, 70, 1, 4, 6, 8, 0, false, 160, false, false},
    LslidarKind{"M10PLUS", 104, 42, 1, 4, 6, 8, 0, false, 104, false, false},
    LslidarKind{"M10", 92, 42, 1, 2, 4, 6, 0, false, 0, true, true},
    LslidarKind{"M10GPS", 102, 42, 1, 2, 4, 6, 0, false, 0, true, true},
};

bool is_flag(Bytes b, std::size_t at) { return at + 2 <= b.size() && wire::u16be(b, at) == kFlag; }

bool has_length(const LslidarKind& kind, Bytes b) {
  if (kind.length == 0) return true;
  return (kind.is_summed ? wire::u8(b, 2) : wire::u16be(b, 2)) == kind.length;
}

// Whether two angles are those of an M10's packets of one turn.
bool are_in_step(unsigned a, unsigned b) {
  return (a + kTurn - b + kNearby) % kSpan <= 2 * kNearby;
}

bool agrees(const LslidarKind& kind, Bytes b) {
  return (wire::sum_of(b.first(kind.size - 1)) & 0xFF) == wire::u8(b, kind.size - 1);
}

}  // namespace

std::span<const LslidarKind> lslidar_kinds() { return kKinds; }

const LslidarKind* find_lslidar_kind(std::string_view model) {
  const auto found = std::ranges::find(kKinds, model == "L10" ? "N10" : model, &LslidarKind::model);
  return found == kKinds.end() ? nullptr : &*found;
}

void LslidarFraming::forget() { kind_ = nullptr; }

bool LslidarFraming::is_device_packet(Bytes frame) { return frame.size() == kCommand; }

// The kind that came last is what comes next, if it fits.
std::size_t LslidarFraming::measure(Bytes b, bool last) const {
  if (wire::u8(b, 0) != kFlag >> 8) return kNotAFrame;
  if (b.size() >= 2 && !is_flag(b, 0)) return kNotAFrame;
  if (b.size() < kHead) return kNeedMore;
  std::size_t fits = kNotAFrame;
  if (kind_ != nullptr) fits = fit(*kind_, b, last);
  if (fits != kNotAFrame) return fits;
  bool undecided = false;
  for (const LslidarKind& kind : kKinds) {
    if (&kind == kind_ || (only_ != nullptr && &kind != only_)) continue;
    fits = fit(kind, b, last);
    if (fits != kNotAFrame && fits != kNeedMore) return fits;
    undecided |= fits == kNeedMore;
  }
  if (wire::u16be(b, 2) == 0x5500) {
    if (b.size() < kCommand) return kNeedMore;
    if (wire::u16be(b, kCommand - 2) == 0xFAFB) return kCommand;
  }
  if (undecided) return kNeedMore;
  // One whose sum does not agree.
  const bool known = kind_ != nullptr && kind_->is_summed;
  const LslidarKind& kind = only_ != nullptr ? *only_ : known ? *kind_ : kKinds[0];
  const bool is_damaged = kind.is_summed && has_length(kind, b) && !agrees(kind, b);
  return is_damaged ? kind.size : kNotAFrame;
}

// Its size; kNotAFrame; or kNeedMore. A sum is believed, unless another packet seems to begin
// within. What has none is believed where the next packet follows; or where something damaged does,
// but it continues the packet before.
std::size_t LslidarFraming::fit(const LslidarKind& kind, Bytes b, bool last) const {
  if (!has_length(kind, b)) return kNotAFrame;
  if (!kind.is_summed) {
    const unsigned rpm = wire::u16be(b, kind.speed);
    if (wire::u16be(b, kind.start) > kTurn) return kNotAFrame;
    if (!is_expected(kind) && (rpm < kSlowestRpm || rpm > kFastestRpm)) return kNotAFrame;
  }
  if (b.size() < kind.size) return kNeedMore;
  if (kind.is_summed && !agrees(kind, b)) return kNotAFrame;
  const bool is_doubtful = is_torn(kind, b);
  if (kind.is_summed && (is_expected(kind) || kind.length > 0) && !is_doubtful) return kind.size;
  if (!kind.is_summed && is_doubtful) return kNotAFrame;
  if (is_flag(b, kind.size)) return kind.size;
  if (b.size() >= kind.size + 2) return is_next(kind, b) ? kind.size : kNotAFrame;
  if (!last) return kNeedMore;
  return is_doubtful ? kNotAFrame : kind.size;
}

// Whether another packet begins within this one: one of the kind where that is expected, else any.
bool LslidarFraming::is_torn(const LslidarKind& kind, Bytes b) const {
  const std::byte* const end = b.data() + kind.size;
  for (const std::byte* p = b.data() + 2;; ++p) {
    const auto left = static_cast<std::size_t>(end - p);
    p = static_cast<const std::byte*>(std::memchr(p, kFlag >> 8, left));
    if (p == nullptr) return false;
    const Bytes rest = b.subspan(static_cast<std::size_t>(p - b.data()));
    if (!is_flag(rest, 0)) continue;
    if (!is_expected(kind) && !kind.is_summed) return true;
    if (rest.size() < 4) return false;  // see is_next
    const bool alike = kind.is_summed    ? wire::u8(rest, 2) == wire::u8(b, 2)
                       : kind.length > 0 ? has_length(kind, rest)
                                         : are_in_step(wire::u16be(rest, 2), wire::u16be(b, 2));
    if (alike) return true;
  }
}

// Angles of an M10 step by its packets' span, whatever got lost, and its speed is steady.
bool LslidarFraming::is_next(const LslidarKind& kind, Bytes b) const {
  if (kind_ != &kind || kind.is_summed) return false;
  for (std::size_t at = kind.size - 3; at <= kind.size; ++at) {
    if (is_flag(b, at)) return false;
  }
  const unsigned speed = wire::u16be(b, kind.speed);
  return are_in_step(wire::u16be(b, kind.start), start_) && speed >= speed_ - speed_ / 4 &&
         speed <= speed_ + speed_ / 4;
}

bool LslidarFraming::intact(Bytes frame) {
  if (is_device_packet(frame)) return true;
  const auto kind = std::ranges::find(kKinds, frame.size(), &LslidarKind::size);
  if (kind->is_summed && !agrees(*kind, frame)) return false;
  kind_ = &*kind;
  start_ = wire::u16be(frame, kind->start);
  speed_ = wire::u16be(frame, kind->speed);
  return true;
}

}  // namespace drivers
