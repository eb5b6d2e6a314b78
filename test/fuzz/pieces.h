// How an input of a fuzzer says where it is cut.
#pragma once

#include <algorithm>

#include "hal/bytes.h"

namespace test {

// Calls `take` with pieces of the input: a byte of length before each.
template <class Take>
void in_pieces(hal::Bytes input, Take&& take) {
  while (!input.empty()) {
    const std::size_t wanted = std::to_integer<std::size_t>(input[0]) + 1;
    input = input.subspan(1);
    const hal::Bytes piece = input.first(std::min(wanted, input.size()));
    if (!piece.empty()) take(piece);
    input = input.subspan(piece.size());
  }
}

}  // namespace test
