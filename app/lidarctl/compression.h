// Chunks of recordings, made smaller and whole again: zstd and lz4, as MCAP names them.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "hal/mcap/reader.h"
#include "hal/mcap/writer.h"

namespace lidarctl {

// Null for a name that is not known; "none" is one, and no compressor.
std::unique_ptr<hal::mcap::Compressor> make_compressor(std::string_view name);

// `size`: of what comes out, as the chunk says; at most kLargestChunk. bad_config: another size, or
// damaged, or a compression that is not known.
inline constexpr std::size_t kLargestChunk = std::size_t{256} << 20;
hal::Result<std::vector<std::byte>> decompress(std::string_view name, hal::Bytes, std::size_t size);

// The records in the content of a compressed chunk, to `into`, as if they stood there. io: its CRC
// is wrong; else as decompress() and the reader.
hal::Status unpack_chunk(hal::Bytes content, hal::mcap::RecordSink& into);

}  // namespace lidarctl
