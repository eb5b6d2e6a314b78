// Builds the Compact telegrams of SICK's picoScan and multiScan, from their description.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "hal/crc32.h"
#include "test/support/stream.h"

namespace test::compact {

inline void put(Stream& s, std::uint64_t v, int bytes) {
  for (; bytes > 0; --bytes, v >>= 8) s.push_back(static_cast<std::byte>(v & 0xFF));
}
inline void put_f32(Stream& s, float v) { put(s, std::bit_cast<std::uint32_t>(v), 4); }
inline void close(Stream& s) { put(s, hal::crc32(s), 4); }

struct Line {
  std::uint64_t first_us = 0, last_us = 0;
  float phi = 0, first_angle = 0, last_angle = 0;
};

struct Module {
  std::uint64_t segment = 0, frame = 0;
  std::uint32_t serial = 23020001;
  std::vector<Line> lines{1};
  unsigned beams = 240, echoes = 1;
  float scale = 1;
  unsigned echo_content = 3, beam_content = 3;
  // Distance and RSSI of an echo, in their own units, and azimuth of a beam.
  unsigned (*distance)(unsigned beam, unsigned line,
                       unsigned echo) = [](unsigned beam, unsigned line, unsigned echo) {
    return echo == 0 ? 1000 + beam + 10 * line : 0;
  };
  unsigned (*rssi)(unsigned beam, unsigned echo) = [](unsigned beam, unsigned echo) {
    return 20'000 + beam + echo;
  };
};

inline Stream module_bytes(const Module& m, unsigned version, std::size_t next) {
  Stream s;
  put(s, m.segment, 8);
  put(s, m.frame, 8);
  put(s, m.serial, 4);
  put(s, m.lines.size(), 4);
  put(s, m.beams, 4);
  put(s, m.echoes, 4);
  for (const Line& l : m.lines) put(s, l.first_us, 8);
  for (const Line& l : m.lines) put(s, l.last_us, 8);
  for (const Line& l : m.lines) put_f32(s, l.phi);
  for (const Line& l : m.lines) put_f32(s, l.first_angle);
  for (const Line& l : m.lines) put_f32(s, l.last_angle);
  if (version >= 4) put_f32(s, m.scale);
  put(s, next, 4);
  put(s, 1, 1);
  put(s, m.echo_content, 1);
  put(s, m.beam_content, 1);
  put(s, 0, 1);
  for (unsigned b = 0; b < m.beams; ++b) {
    for (unsigned l = 0; l < m.lines.size(); ++l) {
      for (unsigned e = 0; e < m.echoes; ++e) {
        if (m.echo_content & 1) put(s, m.distance(b, l, e), 2);
        if (m.echo_content & 2) put(s, m.rssi(b, e), 2);
      }
      const Line& line = m.lines[l];
      const float at = static_cast<float>(b) / static_cast<float>(m.beams > 1 ? m.beams - 1 : 1);
      const float angle = line.first_angle + at * (line.last_angle - line.first_angle);
      const auto azimuth = static_cast<std::uint64_t>(16384.5F + 5215 * angle);
      if (version < 4 && (m.beam_content & 2)) put(s, azimuth, 2);
      if (m.beam_content & 1) put(s, 0, 1);
      if (version >= 4 && (m.beam_content & 2)) put(s, azimuth, 2);
    }
  }
  return s;
}

inline Stream telegram(std::uint64_t counter, std::uint64_t sent_us,
                       const std::vector<Module>& modules, unsigned version = 4) {
  std::vector<Stream> parts;
  std::size_t next = 0;
  for (std::size_t i = modules.size(); i > 0; --i) {
    parts.insert(parts.begin(), module_bytes(modules[i - 1], version, next));
    next = parts.front().size();
  }
  Stream s;
  put(s, 0x02020202, 4);
  put(s, 1, 4);
  put(s, counter, 8);
  put(s, sent_us, 8);
  put(s, version, 4);
  put(s, next, 4);
  for (const Stream& part : parts) append(s, part);
  close(s);
  return s;
}

inline constexpr float kDegree = 3.14159265F / 180;

// Segment `n` counted from the first of frame 100, of a picoScan that turns 40 times a second: five
// of 240 beams in a turn of 25 ms, the last of which is real to 138 deg only.
inline Module pico_module(std::uint64_t n, unsigned echoes = 1) {
  Module m;
  m.segment = n % 5;
  m.frame = 100 + n / 5;
  m.echoes = echoes;
  const float first = -138.0F + 60.0F * static_cast<float>(n % 5);
  const std::uint64_t first_us = 1'000'000 + 25'000 * (n / 5) + 12'500 * (n % 5) / 3;
  const bool cut = n % 5 == 4;
  m.lines[0] = {first_us, first_us + (cut ? 2517 : 4149), 0, first * kDegree,
                (first + 59.75F) * kDegree};
  if (cut) {
    m.distance = [](unsigned beam, unsigned, unsigned echo) {
      return echo == 0 && beam < 145 ? 1000 + beam : 0;
    };
  }
  return m;
}
inline Stream pico(std::uint64_t n, unsigned echoes = 1, std::uint64_t counter_from = 500) {
  const Module m = pico_module(n, echoes);
  return telegram(counter_from + n, m.lines[0].last_us + 1900, {m});
}

inline Stream motion(std::uint64_t us, float ax = 0.5F) {
  Stream s;
  put(s, 0x02020202, 4);
  put(s, 2, 4);
  put(s, 1, 4);
  for (const float v : {ax, -0.25F, 9.75F, 0.125F, -0.5F, 1.5F, 0.5F, 0.1F, 0.7F, 0.5F})
    put_f32(s, v);
  put(s, us, 8);
  close(s);
  return s;
}

}  // namespace test::compact
