// Xbus messages of Xsens (Movella) MTi sensors, and what MTData2 measures. Sources: "MT Low Level
// Communication Protocol" MT0101P of 2020; an independent decoder in Go with real recordings.
//
// Message, big-endian: FA | u8 FF | u8 kind | u8 n | n bytes | u8 sum: all behind FA add up to 0.
// Where n is FF, u16 n follows, 255 to 2048. MTData2 (36) is made of items: u16 id | u8 n | n
// bytes. The lowest two bits of an id tell its numbers: float32; i32 / 2^20; 32 bits of fraction
// before 16 of an integer; float64. The next two tell the world: east-north-up, north-east-down,
// north-west-up. The sensor's own axes are forward-left-up in all of them.
#pragma once

#include <cstdint>
#include <optional>

#include "drivers/dialogue.h"
#include "drivers/framer.h"
#include "drivers/packet.h"
#include "drivers/wire.h"

namespace drivers::xsens {

struct Framing {
  static constexpr std::size_t kMostData = 2048;
  static constexpr std::size_t kMaxFrame = 7 + kMostData;
  static std::size_t measure(Bytes b);
  static bool intact(Bytes message);
};

enum Kind : unsigned {
  kWakeUp = 0x3E,
  kData = 0x36,
  kError = 0x42,
  kWarning = 0x43,
};

inline unsigned kind_of(Bytes message) { return wire::u8(message, 2); }
Bytes data_of(Bytes message);
void write(Request&, unsigned kind, Bytes data = {});

struct Measurement {
  ImuSample sample{};                    // without its times
  std::optional<std::uint32_t> ticks{};  // of 100 us: when it was sampled
  std::optional<std::uint16_t> counter{};
  std::optional<std::uint32_t> status{};
  bool of_satellites = false;  // its ticks are of another, earlier instant

  bool carries_anything() const;
};
// Of the data of an MTData2, into what is empty; what is not known is skipped. `field`: T of what
// the magnetometer calls 1; 0: it is not known, and left out. False when its content makes no
// sense.
bool measured(Bytes data, double field, Measurement& into);

// The ticks of either counter without its wrap: at 2^32, or after a day of 864 000 000.
class Ticks {
 public:
  enum class Wrap : std::uint8_t { unknown, day, bits32 };

  void forget() { *this = {}; }
  // ns. A counter that goes back where it cannot have wrapped has begun anew, and so does this.
  std::int64_t unwrapped_ns(std::uint32_t ticks, Wrap wrap);
  std::optional<std::uint32_t> newest() const { return newest_; }

 private:
  std::optional<std::uint32_t> newest_{};
  std::int64_t wrapped_ = 0;  // ticks of all wraps
};

}  // namespace drivers::xsens
