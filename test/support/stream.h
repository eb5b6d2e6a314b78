// Bytes that a test puts together.
#pragma once

#include <vector>

#include "hal/bytes.h"

namespace test {

using Stream = std::vector<std::byte>;

inline void append(Stream& stream, hal::Bytes bytes) {
  stream.insert(stream.end(), bytes.begin(), bytes.end());
}

}  // namespace test
