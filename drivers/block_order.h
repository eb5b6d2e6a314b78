// Datagrams of blocks (block_datagram.h) in the order that they were sent in, though a network may
// swap and repeat them. They are not numbered: their time tells the order, or where they tell none
// the angle, and the angle tells whether one is missing between two.
#pragma once

#include "drivers/block_datagram.h"
#include "drivers/in_order.h"

namespace drivers {

class BlockOrder {
 public:
  static constexpr std::size_t kMostWaiting = 3;
  static constexpr std::size_t kMostAtOnce = kMostWaiting + 1;  // that one call may give

  explicit BlockOrder(const BlockSweep::Manner& manner) : sweep_(manner) {}

  void restart();

  // give(const BlockSweep&, Bytes datagram) gets each whose turn has come, as soon as the sweep has
  // read it; the bytes are valid until the next call. What was overtaken by more than kMostWaiting
  // has a stamp of the past. False: the azimuths make no sense.
  template <class Give>
  bool take(const Frame& frame, const std::optional<Timing>& stamp, Give&& give) {
    now_ = frame.last_at;
    if (!BlockSweep::makes_sense(frame.bytes)) {
      sweep_.refuse();
      return false;
    }
    const std::uint64_t number = number_of(frame, stamp);
    if (order_.is_waiting(number)) return true;  // it came twice
    if (comes_late(frame, stamp, number)) {
      if (BlockSweep::first_used(frame.bytes)) read(frame.bytes, stamp, give);
      return true;
    }
    Datagram& place = order_.place();
    std::ranges::copy(frame.bytes, place.bytes.begin());
    place.stamp = stamp;
    place.number = number;
    const auto give_next = [&](const Datagram& next) { this->give_next(next, give); };
    if (begins_anew(frame, stamp)) {
      order_.take_anew(number, give_next);
    } else {
      order_.take_by(
          number, [&](const Datagram& next) { return sweep_.follows(next.bytes, next.stamp); },
          give_next);
    }
    return true;
  }
  // What waits for others that will not come.
  template <class Give>
  void give_up(Give&& give) {
    order_.give_up_all([&](const Datagram& next) { give_next(next, give); });
  }
  // Datagrams that never came; since the last call.
  std::uint64_t take_lost() { return std::exchange(lost_, 0); }

  ClockModel clock_model() const { return sweep_.clock_model(); }

 private:
  struct Datagram {
    std::array<std::byte, blocks::kDatagram> bytes{};
    std::optional<Timing> stamp{};
    std::uint64_t number = 0;
  };

  std::uint64_t number_of(const Frame&, const std::optional<Timing>& stamp) const;
  bool comes_late(const Frame&, const std::optional<Timing>& stamp, std::uint64_t number) const;
  bool begins_anew(const Frame&, const std::optional<Timing>& stamp) const;

  template <class Give>
  void give_next(const Datagram& next, Give&& give) {
    read(next.bytes, next.stamp, give);
    if (!sweep_.blocks().empty()) newest_ = next.number;
  }
  template <class Give>
  void read(Bytes datagram, const std::optional<Timing>& stamp, Give&& give) {
    sweep_.read({datagram, now_, now_}, stamp);
    lost_ += sweep_.lost();
    give(sweep_, datagram);
  }

  BlockSweep sweep_;
  InOrder<Datagram, kMostWaiting> order_;
  std::uint64_t newest_ = 0;  // number of what the sweep has read last, ns
  std::uint64_t lost_ = 0;
  hal::Time now_{};  // arrival of the newest
};

}  // namespace drivers
