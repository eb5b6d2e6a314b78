// Packets in the order of measurement, though a network may swap, repeat and lose them.
//
// A packet that follows the one before leaves at once. One that does not waits for what is missing,
// until kWaiting wait or the oldest waited for kPatience: then what is missing is lost. Order is
// told by the stamps, which are the same whoever is sent the packets: a handle of before a restart
// of the host may still be served, with numbers of its own.
#pragma once

#include <array>
#include <vector>

#include "drivers/pepperl_fuchs/packet.h"

namespace drivers::pepperl {

struct Arrived {
  Header header;
  hal::Time at{};  // of its last byte
  bool starts_turn = false;
  std::vector<Beam> beams;  // room for kMostPoints
};

class PacketOrder {
 public:
  static constexpr std::size_t kWaiting = 4;
  static constexpr hal::Duration kPatience = std::chrono::milliseconds(50);

  PacketOrder();

  void restart();

  // Null: the packet came before, or too late. Else where its beams belong; then call release().
  Arrived* place(const Header& header, hal::Time at);
  // The packets that may leave now, oldest first; valid until the next place().
  std::span<Arrived* const> release();
  // Packets that will not come, as their numbers tell; since the last call.
  std::uint64_t take_lost() { return std::exchange(lost_, 0); }

 private:
  bool follows(const Header& next) const;
  bool is_held(std::int64_t stamp_ns) const;
  std::size_t oldest() const;  // of waiting_
  void leave(std::size_t i);   // of waiting_
  std::uint64_t missing_before(const Header& next) const;

  std::array<Arrived, kWaiting + 1> all_;
  std::array<Arrived*, kWaiting + 1> waiting_{}, leaving_{};
  std::size_t waiting_size_ = 0, leaving_size_ = 0;
  Header newest_{};  // of those that left
  bool has_newest_ = false;
  unsigned packets_in_scan_ = 0;  // 0: no scan has ended yet
  std::uint64_t lost_ = 0;
};

}  // namespace drivers::pepperl
