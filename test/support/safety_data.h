// Telegrams and messages of SICK's safety scanners, made from the description of their protocol.
#pragma once

#include <cstdint>
#include <vector>

#include "test/support/stream.h"

namespace test::safety {

inline void put(Stream& to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to.push_back(static_cast<std::byte>(value >> (8 * i)));
}
inline void put_at(Stream& to, std::size_t at, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    to[at + static_cast<std::size_t>(i)] = static_cast<std::byte>(value >> (8 * i));
}

struct Point {
  unsigned distance, reflectivity, status;
};

struct Scan {
  std::uint32_t serial = 20430241;
  unsigned channel = 0;
  std::uint32_t sequence = 100, scan = 100;
  unsigned days = 0;
  std::uint32_t ms = 5000;
  bool has_state = true, has_derived = true, has_measurement = true;
  unsigned state = 1, errors = 0;
  unsigned factor = 1, scan_ms = 30;
  std::int32_t first = -199229440, step = 419430;  // -47.5 and 0.1 deg
  std::uint32_t beam_us = 8;
  std::vector<Point> points;
};

// n points of which each differs from its neighbours.
inline std::vector<Point> points(std::size_t n, unsigned from = 1000) {
  std::vector<Point> out;
  for (unsigned i = 0; i < n; ++i) out.push_back({from + i, i % 256, 1});
  return out;
}

inline Stream payload(const Scan& s) {
  Stream out;
  put(out, 0x00000152, 4);
  put(out, s.serial, 4), put(out, 7, 4);
  put(out, s.channel, 4);
  put(out, s.sequence, 4), put(out, s.scan, 4);
  put(out, s.days, 4), put(out, s.ms, 4);
  out.resize(60);
  const auto block = [&out](std::size_t entry, const Stream& bytes) {
    put_at(out, 32 + 4 * entry, out.size(), 2);
    put_at(out, 34 + 4 * entry, bytes.size(), 2);
    append(out, bytes);
  };
  Stream state(16), derived, measurement;
  put_at(state, 0, s.state, 1), put_at(state, 15, s.errors, 1);
  put(derived, s.factor, 2), put(derived, s.points.size(), 2), put(derived, s.scan_ms, 4);
  put(derived, static_cast<std::uint32_t>(s.first), 4);
  put(derived, static_cast<std::uint32_t>(s.step), 4);
  put(derived, s.beam_us, 4), put(derived, 0, 4);
  put(measurement, s.points.size(), 4);
  for (const Point& p : s.points) {
    put(measurement, p.distance, 2), put(measurement, p.reflectivity, 1);
    put(measurement, p.status, 1);
  }
  if (s.has_state) block(0, state);
  if (s.has_derived) block(1, derived);
  if (s.has_measurement) block(2, measurement);
  return out;
}

inline Stream fragment(const Stream& payload, std::uint32_t id, std::size_t at, std::size_t n) {
  Stream out;
  for (const char c : {'M', 'S', '3', ' ', 'M', 'D', '\1', '\1'}) put(out, std::uint64_t(c), 1);
  put(out, payload.size(), 4), put(out, id, 4), put(out, at, 4), put(out, 0, 4);
  append(out, hal::Bytes(payload).subspan(at, std::min(n, payload.size() - at)));
  return out;
}

// Datagrams of at most 1460 bytes.
inline std::vector<Stream> fragments(const Stream& payload, std::uint32_t id,
                                     std::size_t size = 1436) {
  std::vector<Stream> out;
  for (std::size_t at = 0; at < payload.size(); at += size)
    out.push_back(fragment(payload, id, at, size));
  return out;
}

inline Stream big(std::uint64_t value, int bytes) {
  Stream out;
  for (int i = bytes; i-- > 0;) put(out, value >> (8 * i), 1);
  return out;
}

// A message of CoLa 2 as the device sends it.
inline Stream message(std::uint32_t session, unsigned request, const char* what,
                      const Stream& body = {}) {
  Stream out = big(0x02020202, 4);
  append(out, big(10 + body.size(), 4));
  append(out, big(0, 2)), append(out, big(session, 4)), append(out, big(request, 2));
  put(out, std::uint64_t(what[0]), 1), put(out, std::uint64_t(what[1]), 1);
  append(out, body);
  return out;
}

}  // namespace test::safety
