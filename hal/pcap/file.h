// Reads network captures, pcap and pcapng, both byte orders. Sources: draft-ietf-opsawg-pcap and
// draft-ietf-opsawg-pcapng. What is damaged ends the file there; what came before stands.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hal/bytes.h"

namespace hal::pcap {

// Until about 2115, and as far back: two times differ by what fits, too.
inline constexpr std::int64_t kFarthestNs = 4'600'000'000'000'000'000;

// As captured. Valid for as long as the file's bytes.
struct Frame {
  Bytes data;
  std::int64_t unix_ns = 0;  // at most kFarthestNs either way
  std::uint32_t link = 0;    // LINKTYPE_*
  bool is_cut = false;       // it was longer on the wire
};

class File {
 public:
  // `bytes` of the whole file outlive this. At most kMostInterfaces of a section are known.
  explicit File(Bytes bytes);

  bool is_capture() const { return format_ != Format::none; }
  std::optional<Frame> next();  // nothing: the end
  // Bytes behind the last record that could be read; 0: the file ended well.
  std::size_t unread() const { return bytes_.size() - at_; }

  static constexpr std::size_t kMostInterfaces = 256;

 private:
  enum class Format : std::uint8_t { none, pcap, pcapng };
  struct Interface {
    std::uint32_t link = 0;
    unsigned resolution = 6;    // if_tsresol
    std::int64_t offset_s = 0;  // if_tsoffset
  };

  std::uint32_t u32(std::size_t at) const;
  std::uint32_t u16(std::size_t at) const;
  std::optional<Frame> next_record();
  std::optional<Frame> next_block();
  std::optional<Frame> frame_of(std::size_t block, std::size_t size, std::uint32_t type) const;
  bool begin_section();
  void add_interface(std::size_t block, std::size_t size);
  std::int64_t time_of(const Interface&, std::uint64_t ticks) const;

  Bytes bytes_;
  std::size_t at_ = 0;
  Format format_ = Format::none;
  bool is_big_ = false;     // byte order of the file, or of the section
  bool counts_ns_ = false;  // pcap
  std::uint32_t link_ = 0;  // pcap
  std::vector<Interface> interfaces_{};
};

}  // namespace hal::pcap
