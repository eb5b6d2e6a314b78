// Bytes are std::byte: plain char is signed on x86 and unsigned on ARM.
#pragma once

#include <cstddef>
#include <span>

namespace hal {

using Bytes = std::span<const std::byte>;

}  // namespace hal
