// Raw capture: every chunk, write, port event, tick, loop pass and clock offset in the order in
// which they were handled, so that a replay meets the same world. Lateness depends on when time
// was read, so passes are part of it.
//
// One record is the payload of one message of the channel `raw`, encoding `lidard-raw`,
// little-endian: u8 kind, u8 sensor, u8 channel, u8 0, i32 errno, i64 t_ns, i64 value, u32 lost,
// u32 n, n bytes. An rx without bytes says that the port was not drained when this pass ended; a tx
// without bytes is a change of the baud rate to `lost`. What a port tells of itself is recorded
// when it was asked for and is not as it was when it was asked before.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "hal/port.h"

namespace hal {

enum class RawKind : std::uint8_t { pass, rx, tx, open, fault, tick, offset, stats };

struct RawRecord {
  RawKind kind{};
  std::uint8_t sensor = 0, channel = 0;
  std::int32_t sys = 0;  // errno of a fault or a refused write
  Time at{};             // pass begin, arrival of the last byte, tick, event; tx: the event before
  // Line time of a byte in ns (rx), 1 for a port that has a line (open), how long the machine had
  // slept in ns (pass), Unix minus inner time in ns (offset: of the outputs; tick: as measured), 0
  // for a write or rate that was taken or else 1 + its Errc (tx).
  std::int64_t value = 0;
  std::uint32_t lost = 0;  // datagrams (rx), baud (tx without bytes)
  // rx, tx; of a fault: u8 code and its detail text; open: u8[4] and u16 of our own end, if it has
  // an address; stats: what encode(PortStats) gives. Not owned.
  Bytes bytes{};
};

inline constexpr std::size_t kRawHeader = 32, kRawAddress = 6, kRawStats = 256;

// Writes the record into `out` and returns its size, or 0 when `out` is too small.
std::size_t encode(const RawRecord&, std::span<std::byte> out);
// Empty for what is no record or holds impossible times. Its bytes are views into the argument.
std::optional<RawRecord> decode(Bytes);
// Counters, u32 buffer, i32 timer, u8 low latency, then each text with its length before it.
std::size_t encode(const PortStats&, std::span<std::byte, kRawStats> out);
PortStats stats_in(const RawRecord&);  // what is missing stays 0
// Our own end, as an `open` tells it; zeros: it tells none.
Address address_in(const RawRecord&);

// Where records go. Called in the order of handling, before the thing is handled; a write is
// recorded with its result.
class Tap {
 public:
  virtual void on_record(const RawRecord&) = 0;

 protected:
  ~Tap() = default;
};

// A port that tells `tap` all that passes through it. The tap outlives it.
std::unique_ptr<Port> tapped(std::unique_ptr<Port> port, Tap& tap, std::uint8_t sensor,
                             std::uint8_t channel);

}  // namespace hal
