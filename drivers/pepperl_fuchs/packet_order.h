// Packets in the order of measurement, though a network may swap, repeat and lose them.
//
// A packet that follows the one before leaves at once. One that does not waits for what is missing,
// until kWaiting wait or it waited for kPatience: then what is missing is lost. Order is told by
// the stamps, which are the same whoever is sent the packets: a handle of before a restart of the
// host may still be served, with numbers of its own.
#pragma once

#include <utility>
#include <vector>

#include "drivers/in_order.h"
#include "drivers/pepperl_fuchs/packet.h"

namespace drivers::pepperl {

struct Arrived {
  Header header;
  hal::Time at{};  // of its last byte
  bool starts_turn = false;
  std::vector<Beam> beams = std::vector<Beam>(kMostPoints);
};

class PacketOrder {
 public:
  static constexpr std::size_t kWaiting = 4;
  static constexpr hal::Duration kPatience = std::chrono::milliseconds(50);

  void restart();

  // It came before, or too late: there is no place for it.
  bool is_stale(const Header&) const;
  // Where the beams of any other packet belong; to be followed by take().
  Arrived& place() { return order_.place(); }
  // What is in place(). give(Arrived&) gets the packets that may leave now, oldest first; valid
  // until the next place(). Where the device's clock began anew what waits leaves first.
  template <class Give>
  void take(Give&& give) {
    const Header newest = order_.place().header;
    const hal::Time now = order_.place().at;
    const auto leave = [&](Arrived& next) { leave_as_newest(next), give(next); };
    if (is_anew(newest)) {
      order_.take_anew(number_of(newest), leave);
    } else {
      order_.take_by(
          number_of(newest),
          [&](const Arrived& next) { return follows(next.header) || now - next.at > kPatience; },
          leave);
    }
  }
  // What waits leaves.
  template <class Give>
  void give_up(Give&& give) {
    order_.give_up_all([&](Arrived& next) { leave_as_newest(next), give(next); });
  }
  // Packets that will not come, as their numbers tell; since the last call.
  std::uint64_t take_lost() { return std::exchange(lost_, 0); }

 private:
  static std::uint64_t number_of(const Header& h) { return static_cast<std::uint64_t>(h.stamp_ns); }
  bool follows(const Header& next) const;
  bool is_anew(const Header&) const;
  void leave_as_newest(Arrived&);
  void restart_count();
  std::uint64_t missing_before(const Header& next) const;

  InOrder<Arrived, kWaiting> order_;
  Header newest_{};  // of those that left
  bool has_newest_ = false;
  unsigned packets_in_scan_ = 0;  // 0: no scan has ended yet
  std::uint64_t lost_ = 0;
};

}  // namespace drivers::pepperl
