// What a device makes of a frame, and how the frame's measurement gets its time.
#pragma once

#include "drivers/clock_mapper.h"
#include "drivers/packet.h"

namespace drivers {

// When a packet's measurement happened, as far as its frame tells.
struct Timing {
  enum class Source : std::uint8_t {
    clock,     // raw_ns is the device's own stamp
    counter,   // raw_ns is counted from nominal periods; the device sends no stamp
    arrival,   // nothing is known but the arrival
    previous,  // belongs to the measurement of the packet before
  };
  Source source = Source::arrival;
  std::int64_t raw_ns = 0;  // 0 to 2^62, or differences overflow
  bool shared = false;      // clock: another stream of the device may have told this instant before
  hal::Time arrival{};      // of the last byte of the frame that was stamped
  std::size_t bytes = 0;    // its size: line time is the constant part of its latency
  hal::Duration to_first{};  // from the stamped instant to the packet's first beam or sample
};

struct Decoded {
  enum class Kind : std::uint8_t {
    nothing,  // intact, but no measurement (yet)
    packet,
    undecodable,  // intact, but its content makes no sense
    restarted,    // the device says that it has just started
  };
  Kind kind = Kind::nothing;
  Packet packet{};
  Timing timing{};

  static Decoded undecodable() { return {Kind::undecodable, {}, {}}; }
  static Decoded restarted() { return {Kind::restarted, {}, {}}; }
  static Decoded of(const Packet& packet, const Timing& timing) {
    return {Kind::packet, packet, timing};
  }
};

// Puts packets on the time line: the device's clock, less the constant part of the latency, which
// is `fixed_latency` or else the line time of the stamped frame (baud 0: none).
class Stamper {
 public:
  Stamper(const ClockModel& model, int baud, std::optional<hal::Duration> fixed_latency)
      : mapper_(model), baud_(baud), fixed_latency_(fixed_latency) {}

  // Fills in the packet's times. False when its stamp did not advance (counted as stale).
  bool stamp(Packet& packet, const Timing& timing);
  void reopen() { mapper_.reopened(); }  // the port was opened anew
  const ClockHealth& health() const { return mapper_.health(); }

 private:
  ClockMapper mapper_;
  const int baud_;
  const std::optional<hal::Duration> fixed_latency_;
};

}  // namespace drivers
