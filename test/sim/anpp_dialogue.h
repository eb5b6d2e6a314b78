// The command side of a simulated Advanced Navigation device: timer, packet periods, baud rate.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "test/sim/anpp_wire.h"

namespace sim::anpp {

struct Memory {
  unsigned timer_us = 1000;
  std::map<unsigned, std::uint64_t> periods{};  // by id, in ticks of the timer
  unsigned baud = 115200;
};

class Dialogue {
 public:
  // `lacks`: an id that the model does not have; 0: none.
  Dialogue(Memory saved, unsigned lacks, bool is_mute)
      : saved_(saved), now_(std::move(saved)), lacks_(lacks), is_mute_(is_mute) {}

  void power_up() { now_ = saved_; }
  // Of what was asked for, data packets are left to the model: take_wanted().
  std::vector<Packet> answer(const Packet& asked, bool bad_crc);

  const Memory& memory() const { return now_; }
  bool is_sent(unsigned id) const;
  std::vector<unsigned> take_wanted() { return std::exchange(wanted_, {}); }
  bool take_reset() { return std::exchange(wants_reset_, false); }
  // The rate a command asked for, once; it holds when the reply is out, from set_baud() on.
  std::optional<unsigned> take_wanted_baud() { return std::exchange(wanted_baud_, std::nullopt); }
  void set_baud(unsigned baud) { now_.baud = baud; }

 private:
  enum Result : unsigned { kOk = 0, kBadCrc = 1, kLength = 2, kRange = 3, kUnknown = 6 };
  static Packet ack(const Packet& asked, Result result);
  void request(const Packet& asked, std::vector<Packet>& answers);
  Result set_timer(hal::Bytes data);
  Result set_periods(hal::Bytes data);
  Result set_baud_rates(hal::Bytes data);
  Packet timer() const;
  Packet periods() const;

  Memory saved_, now_;
  unsigned lacks_;
  bool is_mute_, wants_reset_ = false;
  std::vector<unsigned> wanted_;
  std::optional<unsigned> wanted_baud_;
};

}  // namespace sim::anpp
