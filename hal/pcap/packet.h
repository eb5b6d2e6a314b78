// From a captured frame to the IPv4 packet in it, whole again where it came in fragments.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "hal/pcap/file.h"

namespace hal::pcap {

// An IPv4 payload. Addresses as numbers, the first byte highest.
struct Packet {
  std::uint8_t protocol = 0;  // kUdp, kTcp
  std::uint32_t source = 0, destination = 0;
  Bytes payload;
  std::int64_t unix_ns = 0;
};
inline constexpr std::uint8_t kTcp = 6, kUdp = 17;

struct PacketStats {
  std::uint64_t frames = 0;
  std::uint64_t other = 0;      // not IPv4, or a link that is not known
  std::uint64_t cut = 0;        // the capture kept less than was sent
  std::uint64_t malformed = 0;  // lengths that do not fit
  std::uint64_t fragments = 0;
  std::uint64_t unfinished = 0;  // datagrams of which fragments were missing, or the room for them
};

// Links: Ethernet with VLAN tags, Linux "any" (SLL, SLL2), raw IP, BSD loopback.
std::optional<Bytes> ip_in(const Frame&);

// Puts fragments together, at most kMost datagrams at a time, each for kAge of capture time; then
// the oldest is given up. Of what comes twice the first counts.
class Reassembly {
 public:
  static constexpr std::size_t kMost = 32;
  static constexpr std::int64_t kAge = 30'000'000'000;

  // The packet that this frame holds or makes whole. Its payload is valid until the next call, and
  // for as long as the frame.
  std::optional<Packet> take(const Frame&);
  void finish();  // no more frames will come: what is left is unfinished
  const PacketStats& stats() const { return stats_; }

 private:
  struct Datagram {
    std::uint32_t source, destination;
    std::uint16_t id;
    std::uint8_t protocol;
    std::int64_t first_ns;
    std::size_t whole = 0;  // bytes; 0: the last fragment did not come yet
    std::size_t have = 0;
    std::vector<std::byte> bytes{};
    std::vector<bool> filled{};  // by 8 bytes
  };
  std::optional<Packet> add(const Packet& fragment, std::uint16_t id, std::size_t at, bool is_last);

  std::vector<Datagram> open_{};
  std::vector<std::byte> whole_{};  // the newest that was put together
  PacketStats stats_{};
};

}  // namespace hal::pcap
