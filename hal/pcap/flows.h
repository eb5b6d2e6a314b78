// From IPv4 packets to what programs received: UDP datagrams, and TCP streams in order.
#pragma once

#include <compare>
#include <vector>

#include "hal/pcap/packet.h"

namespace hal::pcap {

// One direction of a conversation.
struct Flow {
  std::uint8_t protocol = 0;
  std::uint32_t source = 0, destination = 0;  // as in Packet
  std::uint16_t source_port = 0, destination_port = 0;
  auto operator<=>(const Flow&) const = default;
};

class FlowSink {
 public:
  // A datagram, or the next bytes of a stream, valid only during the call. `lost`: bytes of the
  // stream that are missing before them.
  virtual void on_payload(const Flow&, Bytes, std::int64_t unix_ns, std::uint64_t lost) = 0;

 protected:
  ~FlowSink() = default;
};

struct FlowStats {
  std::uint64_t datagrams = 0, segments = 0;  // that bore bytes
  std::uint64_t malformed = 0;                // lengths that do not fit
  std::uint64_t repeated_bytes = 0;           // of streams: sent again
  std::uint64_t reordered = 0;                // segments that came before their turn
  std::uint64_t lost_bytes = 0;               // of streams: never seen
};

// At most kMostStreams at a time: then the one that was silent for longest is given up. A stream's
// bytes that came too early are held until those before them come: for kHold of capture time, and
// kMostHeld bytes in kMostEarly pieces of one stream at most; what is missing then is lost.
class Flows {
 public:
  static constexpr std::size_t kMostStreams = 64, kMostHeld = 1 << 20, kMostEarly = 1024;
  static constexpr std::int64_t kHold = 3'000'000'000;
  static constexpr std::uint32_t kJump = 1 << 24;  // of sequence numbers: another stream

  explicit Flows(FlowSink& sink) : sink_(sink) {}
  void take(const Packet&);
  void finish();  // what is held is delivered
  const FlowStats& stats() const { return stats_; }

 private:
  struct Early {
    std::uint32_t sequence;
    std::int64_t unix_ns;  // when it came
    std::vector<std::byte> bytes;
  };
  struct Stream {
    Flow flow;
    std::uint32_t next = 0;  // sequence number
    std::int64_t newest_ns = 0;
    std::size_t held = 0;        // bytes of early
    std::vector<Early> early{};  // by sequence
  };

  void take_udp(const Packet&);
  void take_tcp(const Packet&);
  Stream& stream_of(const Flow&, std::uint32_t sequence, bool begins, std::int64_t unix_ns);
  void take_segment(Stream&, std::uint32_t sequence, Bytes, std::int64_t unix_ns);
  // Delivers what continues the stream at `sequence`, or a part of it.
  void deliver(Stream&, std::uint32_t sequence, Bytes, std::int64_t unix_ns);
  void deliver_held(Stream&, std::int64_t unix_ns);
  void give_up_hole(Stream&, std::int64_t unix_ns);
  void flush(Stream&);

  FlowSink& sink_;
  std::vector<Stream> streams_{};
  std::uint64_t lost_before_ = 0;  // of what is delivered next
  FlowStats stats_{};
};

}  // namespace hal::pcap
