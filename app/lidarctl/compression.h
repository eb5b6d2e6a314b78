// Chunks of recordings, made smaller and whole again: zstd and lz4, as MCAP names them.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "hal/mcap/writer.h"

namespace lidarctl {

// Null for a name that is not known; "none" is one, and no compressor.
std::unique_ptr<hal::mcap::Compressor> make_compressor(std::string_view name);

// `size`: of what comes out, as the chunk says; at most kLargestChunk. bad_config: another size, or
// damaged, or a compression that is not known.
inline constexpr std::size_t kLargestChunk = std::size_t{256} << 20;
hal::Result<std::vector<std::byte>> decompress(std::string_view name, hal::Bytes, std::size_t size);

}  // namespace lidarctl
