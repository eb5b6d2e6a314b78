// How YDLIDAR packets, stamps and replies look on the line; see ydlidar.h.
#pragma once

#include "drivers/framer.h"

namespace drivers {

class YdlidarFraming {
 public:
  static constexpr std::size_t kHead = 10, kDescriptor = 7;  // before samples, before a payload
  static constexpr std::size_t kMaxFrame = kHead + 4 * 100;  // documented: 80 samples
  enum class Kind : std::uint8_t { packet, stamp, reply };
  // Of replies.
  static constexpr unsigned kSettings = 0x04, kHealth = 0x06, kMeasurement = 0x81;

  std::size_t measure(Bytes b) { return measure(b, false); }
  std::size_t measure_last(Bytes b) { return measure(b, true); }
  bool intact(Bytes frame);
  void forget() { learnt_ = 0, misses_ = 0; }

  static Kind kind_of(Bytes frame);
  static std::size_t sample_size(Bytes packet);
  // Does the check of this packet agree, if its samples have `sample` bytes?
  static bool agrees(Bytes packet, std::size_t sample);
  static bool is_reply(Bytes frame, unsigned type, std::size_t payload);

 private:
  std::size_t measure(Bytes b, bool last) const;

  std::size_t learnt_ = 0;  // bytes of a sample, as the newest packet told; 0: not known
  int misses_ = 0;          // in a row
};

}  // namespace drivers
