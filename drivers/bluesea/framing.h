// How Bluesea packets, messages and replies look on the line, and where the
// parts of a packet lie. The layouts and their sources stand in bluesea.h.
#pragma once

#include "drivers/framer.h"

namespace drivers {

class BlueseaFraming {
 public:
  static constexpr std::size_t kMostPoints = 512;
  static constexpr std::size_t kMaxFrame = 48 + 5 * kMostPoints + 2;
  static constexpr bool kDatagrams = true;  // on a network one packet is in each
  // answer: to a command that came by UDP, in a frame like that.
  enum class Kind : std::uint8_t { packet, status, alarm, text, answer };
  // Of packets: the first byte of their code.
  enum class Format : std::uint8_t {
    ce = 0xCE,
    cf = 0xCF,
    df = 0xDF,
    c7 = 0xC7,
    aa = 0xAA,
    x99 = 0x99
  };

  std::size_t measure(Bytes b) { return measure(b, false); }
  std::size_t measure_last(Bytes b) { return measure(b, true); }
  bool intact(Bytes frame);
  void forget() { learnt_ = 0, misses_ = 0; }

  static Kind kind_of(Bytes frame);
  static std::uint32_t crc_of(Bytes frame);  // of its words
  static Format format_of(Bytes packet);
  static std::size_t head_of(Format);
  static std::size_t points_of(Bytes packet);
  static std::size_t point_size(Bytes packet);  // bytes

 private:
  std::size_t measure(Bytes b, bool last) const;
  std::size_t measure_ce(Bytes b, std::size_t n) const;

  std::size_t learnt_ = 0;  // bytes of a point of CE packets, as the newest told; 0: not known
  int misses_ = 0;          // in a row
};

}  // namespace drivers
