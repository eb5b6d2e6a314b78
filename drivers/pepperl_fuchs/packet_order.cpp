#include "drivers/pepperl_fuchs/packet_order.h"

#include <cmath>

namespace drivers::pepperl {
namespace {

// A stamp that is so much older is of a clock that began anew.
constexpr std::int64_t kBegunAnew = 1'000'000'000;

bool ends_scan(const Header& h) { return h.first_index + h.points == h.points_in_scan; }

}  // namespace

void PacketOrder::restart() {
  order_.forget();
  restart_count();
}

bool PacketOrder::is_stale(const Header& header) const {
  return !is_anew(header) &&
         (order_.is_behind(number_of(header)) || order_.is_waiting(number_of(header)));
}

bool PacketOrder::is_anew(const Header& header) const {
  return has_newest_ && newest_.stamp_ns - header.stamp_ns >= kBegunAnew;
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

void PacketOrder::leave_as_newest(Arrived& next) {
  const Header& h = next.header;
  if (is_anew(h)) restart_count();
  if (has_newest_ && !follows(h)) lost_ += missing_before(h);
  next.starts_turn = !has_newest_ || h.scan != newest_.scan || h.layer != newest_.layer;
  newest_ = h;
  has_newest_ = true;
  if (ends_scan(h)) packets_in_scan_ = h.packet;
}

void PacketOrder::restart_count() {
  has_newest_ = false;
  packets_in_scan_ = 0;
}

std::uint64_t PacketOrder::missing_before(const Header& next) const {
  const std::int64_t scans = static_cast<std::uint16_t>(next.scan - newest_.scan);
  if (scans > 0x7FFF || (scans > 0 && packets_in_scan_ == 0)) return 0;  // or not to be told
  const std::int64_t steps = scans * packets_in_scan_ + next.packet - std::int64_t{newest_.packet};
  return steps > 1 ? static_cast<std::uint64_t>(steps - 1) : 0;
}

}  // namespace drivers::pepperl
