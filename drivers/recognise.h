// Whose bytes are these? For a port where nothing frames, and for probe. Pure functions.
#pragma once

#include <algorithm>
#include <string_view>

#include "drivers/framer.h"

namespace drivers {

// Below this much of a buffer is too little to tell.
inline constexpr std::size_t kLeastToRecognise = 64;
// From this likeness on, bytes are called a device's.
inline constexpr double kAlike = 0.6;

// The share of `b` that lies in intact frames, 0 to 1, what was cut off at its ends not counted.
// Fewer than two frames are no likeness: a weak checksum agrees by chance.
template <Framing F>
double likeness_of(F framing, Bytes b) {
  std::size_t frames = 0, framed = 0, longest = 0, begin = b.size(), end = 0;
  for (std::size_t at = 0; at < b.size();) {
    const std::size_t n = framing.measure(b.subspan(at));
    const bool whole = n != kNotAFrame && n <= F::kMaxFrame && n <= b.size() - at;
    if (!whole || !framing.intact(b.subspan(at, n))) {
      ++at;
      continue;
    }
    ++frames;
    framed += n;
    longest = std::max(longest, n);
    begin = std::min(begin, at);
    end = at += n;
  }
  if (frames < 2) return 0;
  if (begin >= longest) begin = 0;
  if (b.size() - end >= longest) end = b.size();
  return static_cast<double>(framed) / static_cast<double>(end - begin);
}

// Of a device: by its own function, or by a framing as it is made.
template <class D>
double likeness(Bytes b) {
  if (b.size() < kLeastToRecognise) return 0;
  if constexpr (requires { D::likeness(b); }) {
    return D::likeness(b);
  } else {
    return likeness_of(typename D::Framing{}, b);
  }
}

struct Match {
  std::string_view driver{};  // empty: none
  double likeness = 0;
};

// The row of the registry whose frames these bytes, read at one baud rate, are most like.
Match recognise(Bytes b);

}  // namespace drivers
