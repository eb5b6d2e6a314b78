// SICK's Compact telegrams, as they lie in a datagram. Little-endian; sources in sick_compact.h.
//
// Scan:   u32 02 02 02 02 | u32 1 | u64 counter | u64 sent, us | u32 version, 3 or 4
//         | u32 size of the first module | modules | u32 CRC-32 of all before it
// Module: u64 segment | u64 frame | u32 serial number | u32 lines L | u32 beams B | u32 echoes E
//         | u64 first beam[L], us | u64 last beam[L], us | f32 phi[L], rad, downwards
//         | f32 first angle[L] | f32 last angle[L], rad | from version 4 on f32 mm of a distance
//         | u32 size of the next module, 0: none | u8 availability | u8 content of an echo, 1
//         distance, 2 RSSI | u8 content of a beam, 1 properties, 2 azimuth | u8
//         | for each beam, of each line: E x {u16 distance, u16 RSSI} u8 properties u16 azimuth
//         The size counts all of it. Version 3 has the azimuth before the properties.
// Motion: u32 02 02 02 02 | u32 2 | u32 1 | f32 acceleration[3] | f32 rate[3] | f32 w x y z
//         | u64 us | u32 CRC-32
// Distance 0: no echo. Azimuth: 5215 to the rad, 16384 is the front.
#pragma once

#include "drivers/cola.h"
#include "drivers/framer.h"
#include "drivers/wire.h"

namespace drivers::compact {

inline constexpr std::size_t kHeader = 32, kCrc = 4, kMotion = 64;

enum class Command : std::uint8_t { scan = 1, motion = 2 };
inline Command command_of(Bytes telegram) { return Command{wire::u8(telegram, 4)}; }

// One module; valid as long as its telegram.
struct Module {
  std::uint64_t segment = 0, frame = 0;
  std::uint32_t serial = 0;
  std::size_t lines = 0, beams = 0, echoes = 0;
  std::size_t next = 0;  // size of the module behind it; 0: none
  float mm = 1;          // of a unit of distance
  // Within the beam of a line; its size.
  bool has_distance = false, has_rssi = false, has_azimuth = false;
  std::size_t echo_size = 0, azimuth_at = 0, beam_size = 0;
  Bytes meta{}, data{};

  std::uint64_t first_us(std::size_t line) const { return wire::u64(meta, 32 + 8 * line); }
  std::uint64_t last_us(std::size_t line) const { return wire::u64(meta, 32 + 8 * (lines + line)); }
  float elevation(std::size_t line) const { return -f32(4, line); }
  float first_angle(std::size_t line) const { return f32(5, line); }
  float last_angle(std::size_t line) const { return f32(6, line); }

 private:
  // `column`: in units of 4 bytes a line behind the fixed part.
  float f32(std::size_t column, std::size_t line) const {
    return std::bit_cast<float>(wire::u32(meta, 32 + 4 * (column * lines + line)));
  }
};

// The module of `size` bytes at `at` in a telegram that may not be all there: its size; kNeedMore;
// or kNotAFrame where it contradicts itself. `module` is filled in when all of it is there.
std::size_t read_module(Bytes telegram, std::size_t at, std::size_t size, Module& module);

}  // namespace drivers::compact

namespace drivers {

// Of the data and inertial channels; the control channel speaks CoLa.
struct CompactFraming {
  static constexpr std::size_t kMaxFrame = 1 << 16;  // a datagram
  static constexpr bool kDatagrams = true;
  bool speaks_cola = false;
  std::size_t measure(Bytes b);
  bool intact(Bytes frame);
};

}  // namespace drivers
