// Frames of SICK's safety scanners: fragments of measurement data over UDP, CoLa 2 over TCP.
#pragma once

#include "drivers/framer.h"
#include "drivers/sick_safety/reassembly.h"

namespace drivers::safety {

inline constexpr std::size_t kFragmentHeader = 24;

class Framing {
 public:
  static constexpr std::size_t kMaxFrame = kFragmentHeader + Reassembly::kMostPayload;
  static constexpr bool kDatagrams = true;
  enum class Of : std::uint8_t { fragments, commands };

  explicit Framing(Of of = Of::fragments) : of_(of) {}

  // A fragment does not tell its length: it ends with its datagram, with its payload, or where in
  // recorded bytes the next one begins.
  std::size_t measure(Bytes b) const { return measure(b, false); }
  std::size_t measure_last(Bytes b) const { return measure(b, true); }
  bool intact(Bytes) const { return true; }  // neither has a checksum

 private:
  std::size_t measure(Bytes b, bool last) const;

  Of of_;
};

bool is_fragment(Bytes frame);
// Of a frame that is one.
Fragment fragment_in(Bytes frame);

}  // namespace drivers::safety
