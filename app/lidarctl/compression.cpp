#include "app/lidarctl/compression.h"

#include <lz4frame.h>
#include <zstd.h>

#include <string>

namespace lidarctl {
namespace {

hal::Error fault(std::string_view what, const char* why) {
  return {hal::Errc::bad_config, 0, "mcap: chunk",
          hal::Text<192>::of("%.*s: %s", static_cast<int>(what.size()), what.data(), why)};
}

class Zstd final : public hal::mcap::Compressor {
 public:
  std::string_view name() const override { return "zstd"; }
  hal::Result<hal::Bytes> compress(hal::Bytes in) override {
    out_.resize(ZSTD_compressBound(in.size()));
    const std::size_t n = ZSTD_compress(out_.data(), out_.size(), in.data(), in.size(), kLevel);
    if (ZSTD_isError(n)) return fault(name(), ZSTD_getErrorName(n));
    return hal::Bytes(out_).first(n);
  }

 private:
  static constexpr int kLevel = 1;  // twice the bytes of level 3 in the same time
  std::vector<std::byte> out_;
};

class Lz4 final : public hal::mcap::Compressor {
 public:
  std::string_view name() const override { return "lz4"; }
  hal::Result<hal::Bytes> compress(hal::Bytes in) override {
    out_.resize(LZ4F_compressFrameBound(in.size(), nullptr));
    const std::size_t n =
        LZ4F_compressFrame(out_.data(), out_.size(), in.data(), in.size(), nullptr);
    if (LZ4F_isError(n)) return fault(name(), LZ4F_getErrorName(n));
    return hal::Bytes(out_).first(n);
  }

 private:
  std::vector<std::byte> out_;
};

hal::Result<std::size_t> unpack_zstd(hal::Bytes in, std::span<std::byte> out) {
  const std::size_t n = ZSTD_decompress(out.data(), out.size(), in.data(), in.size());
  if (ZSTD_isError(n)) return fault("zstd", ZSTD_getErrorName(n));
  return n;
}

hal::Result<std::size_t> unpack_lz4(hal::Bytes in, std::span<std::byte> out) {
  LZ4F_dctx* made = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&made, LZ4F_VERSION))) {
    return fault("lz4", "no memory");
  }
  const std::unique_ptr<LZ4F_dctx, decltype(&LZ4F_freeDecompressionContext)> context(
      made, &LZ4F_freeDecompressionContext);
  std::size_t done = 0, left = 1;
  while (left != 0 && !in.empty()) {
    std::size_t taken = in.size(), given = out.size() - done;
    left = LZ4F_decompress(context.get(), out.data() + done, &given, in.data(), &taken, nullptr);
    if (LZ4F_isError(left)) return fault("lz4", LZ4F_getErrorName(left));
    if (taken == 0 && given == 0) break;  // more comes out than was said
    done += given;
    in = in.subspan(taken);
  }
  if (left != 0) return fault("lz4", "it is cut, or holds more than was said");
  return done;
}

}  // namespace

std::unique_ptr<hal::mcap::Compressor> make_compressor(std::string_view name) {
  if (name == "zstd") return std::make_unique<Zstd>();
  if (name == "lz4") return std::make_unique<Lz4>();
  return nullptr;
}

hal::Result<std::vector<std::byte>> decompress(std::string_view name, hal::Bytes in,
                                               std::size_t size) {
  const bool is_zstd = name == "zstd";
  if (!is_zstd && name != "lz4") return fault(name, "not a compression that is known here");
  if (size > kLargestChunk) return fault(name, "a chunk is too large");
  std::vector<std::byte> out(size);
  const auto n = is_zstd ? unpack_zstd(in, out) : unpack_lz4(in, out);
  if (!n) return n.error();
  if (*n != size) return fault(name, "it is damaged");
  return out;
}

hal::Status unpack_chunk(hal::Bytes content, hal::mcap::RecordSink& into) {
  std::size_t head = 0;
  const auto chunk = hal::mcap::decode_chunk_head(content, head);
  if (!chunk || chunk->size > content.size() - head) return fault("chunk", "it is malformed");
  const auto records =
      decompress(chunk->compression, content.subspan(head, chunk->size), chunk->uncompressed_size);
  if (!records) return records.error();
  if (chunk->uncompressed_crc != 0 && hal::crc32(*records) != chunk->uncompressed_crc) {
    return hal::Error{hal::Errc::io, 0, "mcap: chunk", hal::Text<192>::of("wrong CRC")};
  }
  hal::mcap::Reader reader(records->size(), hal::mcap::Reader::Begin::records);
  return reader.feed(*records, into);
}

}  // namespace lidarctl
