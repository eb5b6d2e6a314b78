#include "drivers/pepperl_fuchs/packet_order.h"

#include <algorithm>
#include <cmath>

namespace drivers::pepperl {
namespace {

// A stamp that is so much older is of a clock that began anew.
constexpr std::int64_t kBegunAnew = 1'000'000'000;

bool ends_scan(const Header& h) { return h.first_index + h.points == h.points_in_scan; }

}  // namespace

PacketOrder::PacketOrder() {
  for (Arrived& arrived : all_) arrived.beams.resize(kMostPoints);
}

void PacketOrder::restart() {
  waiting_size_ = leaving_size_ = 0;
  has_newest_ = false;
  packets_in_scan_ = 0;
}

Arrived* PacketOrder::place(const Header& header, hal::Time at) {
  leaving_size_ = 0;
  if (has_newest_ && header.stamp_ns <= newest_.stamp_ns) {
    if (newest_.stamp_ns - header.stamp_ns < kBegunAnew) return nullptr;
    restart();
  }
  if (is_held(header.stamp_ns)) return nullptr;
  Arrived* const free = &*std::ranges::find_if(all_, [this](const Arrived& a) {
    const auto waiting = std::span(waiting_).first(waiting_size_);
    return std::ranges::find(waiting, &a) == waiting.end();
  });
  free->header = header;
  free->at = at;
  waiting_[waiting_size_++] = free;
  return free;
}

std::span<Arrived* const> PacketOrder::release() {
  while (waiting_size_ > 0) {
    const std::size_t i = oldest();
    const Arrived& next = *waiting_[i];
    const hal::Time newest_at =
        std::ranges::max(std::span(waiting_).first(waiting_size_), {}, &Arrived::at)->at;
    const bool is_late = waiting_size_ > kWaiting || newest_at - next.at > kPatience;
    if (!follows(next.header)) {
      if (!is_late) break;
      lost_ += missing_before(next.header);
    }
    leave(i);
  }
  return std::span(leaving_).first(leaving_size_);
}

// The next point is due when the turn has gone on so far: dead angles are passed over.
bool PacketOrder::follows(const Header& next) const {
  if (!has_newest_) return true;
  const double per_point = newest_.point_ns();
  const double due = ends_scan(newest_) ? newest_.turn_ns - newest_.first_index * per_point
                                        : newest_.points * per_point;
  const double off = static_cast<double>(next.stamp_ns - newest_.stamp_ns) - due;
  const unsigned index = ends_scan(newest_) ? 0 : newest_.first_index + newest_.points;
  return next.first_index == index && std::abs(off) < newest_.turn_ns / 2;
}

bool PacketOrder::is_held(std::int64_t stamp_ns) const {
  const auto waiting = std::span(waiting_).first(waiting_size_);
  return std::ranges::any_of(waiting,
                             [&](const Arrived* a) { return a->header.stamp_ns == stamp_ns; });
}

std::size_t PacketOrder::oldest() const {
  const auto waiting = std::span(waiting_).first(waiting_size_);
  const auto found =
      std::ranges::min_element(waiting, {}, [](const Arrived* a) { return a->header.stamp_ns; });
  return static_cast<std::size_t>(found - waiting.begin());
}

void PacketOrder::leave(std::size_t i) {
  Arrived* const next = waiting_[i];
  waiting_[i] = waiting_[--waiting_size_];
  const Header& h = next->header;
  next->starts_turn = !has_newest_ || h.scan != newest_.scan || h.layer != newest_.layer;
  newest_ = h;
  has_newest_ = true;
  if (ends_scan(h)) packets_in_scan_ = h.packet;
  leaving_[leaving_size_++] = next;
}

std::uint64_t PacketOrder::missing_before(const Header& next) const {
  const std::int64_t scans = static_cast<std::uint16_t>(next.scan - newest_.scan);
  if (scans > 0x7FFF || (scans > 0 && packets_in_scan_ == 0)) return 0;  // or not to be told
  const std::int64_t steps = scans * packets_in_scan_ + next.packet - std::int64_t{newest_.packet};
  return steps > 1 ? static_cast<std::uint64_t>(steps - 1) : 0;
}

}  // namespace drivers::pepperl
