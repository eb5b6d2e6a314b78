// Builds network captures by hand: packets from the inside out, then a file around them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "test/support/stream.h"

namespace test::pcap {

inline void put(Stream& s, std::uint64_t v, int n, bool big = true) {
  for (int i = 0; i < n; ++i) s.push_back(static_cast<std::byte>(v >> 8 * (big ? n - 1 - i : i)));
}

inline constexpr std::uint32_t kDevice = 0xC0A8000B, kHost = 0xC0A80002;  // 192.168.0.11, .2

struct Ends {
  std::uint32_t source = kDevice, destination = kHost;
  std::uint16_t source_port = 2111, destination_port = 40000;
};

inline Stream udp(const Stream& payload, const Ends& e = {}) {
  Stream s;
  put(s, e.source_port, 2), put(s, e.destination_port, 2);
  put(s, payload.size() + 8, 2), put(s, 0, 2);
  append(s, payload);
  return s;
}

inline constexpr unsigned kFin = 1, kSyn = 2, kAck = 16;
inline Stream tcp(std::uint32_t sequence, const Stream& payload, const Ends& e = {},
                  unsigned flags = kAck) {
  Stream s;
  put(s, e.source_port, 2), put(s, e.destination_port, 2);
  put(s, sequence, 4), put(s, 1, 4);
  put(s, 0x60, 1), put(s, flags, 1), put(s, 8192, 2), put(s, 0, 4);
  put(s, 0x01010101, 4);  // an option
  append(s, payload);
  return s;
}

struct Ip {
  Ends ends{};
  unsigned protocol = 17, id = 7, at = 0;
  bool more = false;
};
inline Stream ip(const Stream& payload, const Ip& h = {}) {
  Stream s;
  put(s, 0x4500, 2), put(s, payload.size() + 20, 2), put(s, h.id, 2);
  put(s, (h.more ? 0x2000U : 0U) | h.at / 8, 2), put(s, 64, 1), put(s, h.protocol, 1);
  put(s, 0, 2), put(s, h.ends.source, 4), put(s, h.ends.destination, 4);
  append(s, payload);
  return s;
}
inline Stream udp_ip(const Stream& payload, const Ends& e = {}) { return ip(udp(payload, e), {e}); }
inline Stream tcp_ip(std::uint32_t sequence, const Stream& payload, const Ends& e = {},
                     unsigned flags = kAck) {
  return ip(tcp(sequence, payload, e, flags), {e, 6});
}

// With VLAN tags, and padded as short frames are.
inline Stream ethernet(const Stream& packet, std::initializer_list<unsigned> tags = {}) {
  Stream s(12, std::byte{0x11});
  for (const unsigned tag : tags) put(s, tag, 2), put(s, 5, 2);
  put(s, 0x0800, 2);
  append(s, packet);
  while (s.size() < 60) s.push_back(std::byte{0xEE});
  return s;
}

// A file of one link type. `cut`: captured bytes of each frame at most.
class Writer {
 public:
  explicit Writer(bool big = false, bool ns = false, unsigned link = 1) : big_(big), ns_(ns) {
    word(ns ? 0xA1B23C4D : 0xA1B2C3D4);
    put(file, 2, 2, big), put(file, 4, 2, big);
    word(0), word(0), word(65535), word(link);
  }
  void add(const Stream& frame, std::int64_t unix_ns, std::size_t cut = SIZE_MAX) {
    const std::size_t n = std::min(cut, frame.size());
    word(static_cast<std::uint64_t>(unix_ns / 1'000'000'000));
    word(static_cast<std::uint64_t>(unix_ns % 1'000'000'000 / (ns_ ? 1 : 1000)));
    word(n), word(frame.size());
    file.insert(file.end(), frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(n));
  }
  Stream file;

 private:
  void word(std::uint64_t v) { put(file, v, 4, big_); }
  const bool big_, ns_;
};

class NgWriter {
 public:
  explicit NgWriter(bool big = false) { section(big); }
  void section(bool big) {
    big_ = big;
    Stream b;
    put(b, 0x1A2B3C4D, 4, big), put(b, 1, 2, big), put(b, 0, 2, big),
        put(b, ~std::uint64_t{0}, 8, big);
    block(0x0A0D0D0A, b);
  }
  // `resolution` as if_tsresol; 256: not told.
  void interface(unsigned link, unsigned resolution = 256, std::int64_t offset_s = 0) {
    Stream b;
    put(b, link, 2, big_), put(b, 0, 2, big_), put(b, 0, 4, big_);
    put(b, 2, 2, big_), put(b, 3, 2, big_), append(b, Stream(4, std::byte{'x'}));  // a name
    if (resolution < 256)
      put(b, 9, 2, big_), put(b, 1, 2, big_), put(b, resolution, 1), put(b, 0, 3);
    if (offset_s != 0) {
      put(b, 14, 2, big_), put(b, 8, 2, big_),
          put(b, static_cast<std::uint64_t>(offset_s), 8, big_);
    }
    put(b, 0, 4, big_);
    block(1, b);
  }
  void packet(unsigned interface, const Stream& frame, std::uint64_t ticks) {
    Stream b;
    put(b, interface, 4, big_), put(b, ticks >> 32, 4, big_), put(b, ticks, 4, big_);
    put(b, frame.size(), 4, big_), put(b, frame.size(), 4, big_);
    append(b, frame);
    block(6, b);
  }
  void simple_packet(const Stream& frame) {
    Stream b;
    put(b, frame.size(), 4, big_);
    append(b, frame);
    block(3, b);
  }
  void block(std::uint32_t type, Stream body) {
    while (body.size() % 4 != 0) body.push_back(std::byte{0});
    put(file, type, 4, big_), put(file, body.size() + 12, 4, big_);
    append(file, body);
    put(file, body.size() + 12, 4, big_);
  }
  Stream file;

 private:
  bool big_ = false;
};

}  // namespace test::pcap
