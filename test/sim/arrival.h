// When the host can read what a line or a network has carried: adapters that gather bytes, and the
// noise of schedulers and radio. Nothing arrives early and nothing overtakes.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string_view>

#include "hal/result.h"
#include "test/sim/device_model.h"
#include "test/sim/random.h"

namespace sim {

// Bytes that the host can read at `due`.
struct Write {
  hal::Time due;
  Way way;
  bool is_reply = false;
  ByteVector bytes;
};

enum class Arrival : std::uint8_t { direct, uart, ftdi16, ftdi1, udp, wifi };

// The delay of one write: exponential with mean `noise`, and in `tail_share` of the cases uniform
// up to `tail` more. An adapter hands over what it has at each tick of `timer`, or `packet` bytes
// as soon as it has so many (its USB packet of 64 less 2 of state).
struct ArrivalRow {
  Arrival kind;
  std::string_view name, help;
  bool is_serial, is_network;
  hal::Duration noise, tail;
  double tail_share;
  hal::Duration timer;
  std::size_t packet;
};
std::span<const ArrivalRow> arrivals();  // in the order of Arrival
hal::Result<Arrival> parse_arrival(std::string_view name);

class ArrivalModel {
 public:
  ArrivalModel(Arrival kind, std::uint64_t seed);

  // `write.due`: when its last byte has been carried; each byte takes `byte_time`. In order of due.
  void put(Write write, hal::Duration byte_time);
  // When an adapter's timer hands over what it holds; kNever when it holds nothing.
  hal::Time due() const { return held_.bytes.empty() ? kNever : held_.due; }
  void hand_over() { deliver(std::move(held_)), held_ = {}; }
  void forget() { held_ = {}; }  // the adapter lost its power

  // What the host can read, by due; the caller takes it away.
  std::deque<Write>& arrived() { return arrived_; }

 private:
  void gather(const Write& write, hal::Duration byte_time);
  hal::Time tick_after(hal::Time t) const;
  void deliver(Write write);

  const ArrivalRow& row_;
  Random random_;
  hal::Duration phase_{};
  Write held_{};
  hal::Time newest_ = hal::Time::min();
  std::deque<Write> arrived_;
};

}  // namespace sim
