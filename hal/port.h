// A port moves bytes between one channel of a device and the event loop. It knows nothing about
// what they mean.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "hal/bytes.h"
#include "hal/result.h"
#include "hal/time.h"

namespace hal {

// Bytes as they arrived: one read of a stream, or one whole datagram. Valid only during the call
// that delivers them.
struct Chunk {
  Bytes bytes;
  Time last_at;              // when the last byte arrived; never before that of the chunk before
  Duration per_byte{};       // line time of one byte where it is known (true UARTs); else 0
  std::uint32_t lost = 0;    // datagrams the kernel dropped since the chunk before
  bool is_datagram = false;  // one whole datagram, not a piece of a stream

  // When byte i arrived. May reach before the chunk before: the framer takes care of that.
  Time at(std::size_t i) const {
    return last_at - per_byte * static_cast<std::int64_t>(bytes.size() - 1 - i);
  }
};

class PortListener {
 public:
  virtual void on_port_open(Time now) = 0;
  virtual void on_chunk(const Chunk&) = 0;
  virtual void on_port_fault(const Error&, Time now) = 0;  // the port is closed when this is called

 protected:
  ~PortListener() = default;
};

// Why a write or a baud rate was not taken. The words depend on these alone, so that a replay has
// them too.
Error refused_write(Errc code, int sys);
Error refused_baud(Errc code, int sys, int baud);

// An IPv4 address and port; zeros: not known, or there is none.
struct Address {
  std::array<std::uint8_t, 4> ip{};
  std::uint16_t port = 0;

  bool has_ip() const { return ip != std::array<std::uint8_t, 4>{}; }
  Text<16> host() const { return Text<16>::of("%d.%d.%d.%d", ip[0], ip[1], ip[2], ip[3]); }
  bool operator==(const Address&) const = default;
};

// What a port can tell beyond its bytes. Counters only grow.
struct PortStats {
  std::uint64_t rejected_datagrams = 0;  // from a sender that is not the configured one
  std::uint64_t empty_datagrams = 0;     // accepted sender, no bytes: not delivered
  std::uint64_t lost_datagrams = 0;      // dropped by the kernel: receive buffer full
  std::uint64_t replaced_stamps = 0;     // kernel stamps that converted to the impossible
  std::uint64_t dropped_writes = 0;
  std::uint32_t receive_buffer = 0;  // bytes that were granted; 0: not a socket
  int adapter_timer_ms = 0;          // after which a USB adapter delivers; 0: it has none
  bool low_latency = false;          // a tty whose driver was asked to deliver at once, and took it
  Text<48> last_rejected{};          // the newest sender that was refused
  Text<24> from{};                   // the accepted sender; empty: anybody
  Text<96> note{};                   // what is not as it should be, with the remedy

  bool operator==(const PortStats&) const = default;
};

class Port {
 public:
  virtual ~Port() = default;

  // Ends in exactly one on_port_open or on_port_fault: during the call where nothing has to be
  // waited for (serial, UDP), later where it has (TCP). Chunks follow on_port_open.
  virtual void open(PortListener&) = 0;
  virtual Status write(Bytes) = 0;            // all of it now, or an error; never blocks
  virtual void close() = 0;                   // no callback after this returns
  virtual Status set_dtr(bool asserted) = 0;  // unsupported where there is no such line
  // Until the port is closed; open() begins with the configured rate. What was received and not
  // read is discarded: nobody knows at which rate it came. What was written must have left: wait
  // for its answer, or for its line time. Unsupported where there is no rate (pty, UDP, TCP).
  virtual Status set_baud(int baud) = 0;

  // False while the newest read may have left something behind: nobody knows yet what is there.
  virtual bool drained() const = 0;
  // Whether its bytes pass a serial line, at the baud rate that was set: a frame's own bytes take
  // that long before the last of them can arrive. Networks and devices that are USB have none.
  virtual bool has_line() const = 0;
  // Our own end, as it was when the port opened. UDP: where it listens, with the address that the
  // device sees us at, where one is bound to or there is a route to the device. TCP: the
  // connection's.
  virtual Address local() const { return {}; }
  // Whether open() connects to a port of the device, and to which from its next call on; 0: as
  // configured.
  virtual bool is_connection() const { return false; }
  virtual void connect_to(std::uint16_t /*port*/) {}
  virtual PortStats stats() const = 0;
  virtual std::string_view name() const = 0;  // as configured, for people
};

}  // namespace hal
