// Lidars that send datagrams of twelve blocks, as several makers do after one pattern: framing, and
// what their azimuths and stamps tell of time, turns and losses.
//
// Datagram, 1206 bytes, little-endian:
//    0 12 x {FF EE | u16 azimuth, 0.01 deg; FFFF: an unused block | 96 bytes}
// 1200 u32 us | 1204 two bytes of the maker
// There is no checksum, no counter, no version. Richbeam's last two bytes are 37 40; nothing else
// tells its datagrams from others of this size, which go to the same port.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "drivers/decoded.h"
#include "drivers/framer.h"
#include "drivers/wire.h"

namespace drivers {

namespace blocks {

inline constexpr std::size_t kCount = 12, kSize = 100, kData = 4;
inline constexpr std::size_t kStamp = kCount * kSize, kMaker = kStamp + 4, kDatagram = kMaker + 2;
inline constexpr unsigned kRichbeam = 0x4037;

inline unsigned maker(Bytes datagram) { return wire::u16(datagram, kMaker); }

// Whether the bytes, as far as they have come, are blocks.
inline bool are_flagged(Bytes b) {
  for (std::size_t at = 0; at < std::min(b.size(), kStamp); at += kSize) {
    if (wire::u8(b, at) != 0xFF) return false;
    if (at + 1 < b.size() && wire::u8(b, at + 1) != 0xEE) return false;
  }
  return true;
}

}  // namespace blocks

// `kRichbeam`: Richbeam's datagrams and none else, or all but these.
template <bool kRichbeam>
struct BlockFraming {
  static constexpr std::size_t kMaxFrame = blocks::kDatagram;
  static constexpr bool kDatagrams = true;
  static std::size_t measure(Bytes b) {
    if (!blocks::are_flagged(b)) return kNotAFrame;
    return b.size() < kMaxFrame || is_right(b) ? kMaxFrame : kNotAFrame;
  }
  static bool intact(Bytes) { return true; }  // there is nothing more to check

  // One datagram is enough: 26 bytes stand where they must.
  static double likeness(Bytes b) {
    std::size_t framed = 0;
    for (std::size_t at = 0; at + kMaxFrame <= b.size();) {
      const bool is_one = measure(b.subspan(at)) == kMaxFrame;
      framed += is_one ? kMaxFrame : 0;
      at += is_one ? kMaxFrame : 1;
    }
    const std::size_t cut_off = b.size() % kMaxFrame;
    return static_cast<double>(framed) /
           static_cast<double>(std::max(b.size() - cut_off, kMaxFrame));
  }

 private:
  static bool is_right(Bytes b) { return (blocks::maker(b) == blocks::kRichbeam) == kRichbeam; }
};

// The head's way as the blocks tell it. Angles in 0.01 deg in the direction of rotation.
class BlockSweep {
 public:
  struct Manner {
    std::size_t points;        // of a block
    double usual_hz;           // turns, until stamps show how many
    hal::Duration modulus;     // where the stamp wraps
    bool stamps_last = false;  // the stamp is of the datagram's last beam, else of its first
    bool is_blind = false;     // it looks nowhere behind; how far, the datagrams show
  };
  struct Block {
    std::size_t at = 0;            // of its data, in the datagram
    double azimuth = 0, step = 0;  // of its first point; to where the next one's would be
    double ahead = 0;              // of the datagram's first block
    unsigned unused = 0;           // blocks just before it
    bool follows = false;          // the one before it, without a gap
    bool passes = false;           // the turn boundary lies just before it
  };
  // Blocks that follow each other, of beams at one pace.
  struct Run {
    std::size_t first = 0, count = 0;
    ScanSlice slice{};  // without its beams
    Timing timing{};
  };

  explicit BlockSweep(const Manner& manner) : manner_(manner) { restart(); }

  void restart();
  // `stamp`, here and below: empty where the device tells none; source and raw_ns of it are used.
  // Datagrams come in order (block_order.h), and make sense. One that comes late is given with a
  // stamp of the past, or not at all.
  void read(const Frame&, const std::optional<Timing>& stamp);

  // Its azimuths are angles, and go round once at most.
  static bool makes_sense(Bytes);
  void refuse() { ++refused_; }  // one that does not: it is not lost, too

  struct Used {
    std::size_t unused = 0;  // blocks before it
    double azimuth = 0;
  };
  static std::optional<Used> first_used(Bytes);  // block; empty: none is

  // Whether anything was read, and of the next datagram: whether it was overtaken or comes twice,
  // how far it lies ahead of the newest that was read, and whether nothing is missing between.
  bool began() const { return began_; }
  bool comes_late(const Frame&, const std::optional<Timing>& stamp) const;
  std::int64_t ahead_ns(Bytes, const std::optional<Timing>& stamp) const;
  bool follows(Bytes, const std::optional<Timing>& stamp) const;

  std::span<const Block> blocks() const { return std::span(blocks_).first(size_); }
  std::span<const Run> runs() const { return std::span(runs_).first(runs_size_); }
  std::uint64_t lost() const { return lost_; }  // datagrams before this one

  ClockModel clock_model() const { return {.modulus = manner_.modulus}; }

 private:
  void read_blocks(Bytes);
  void follow(std::optional<std::int64_t> since);
  double span() const;
  double stamped() const;
  void learn_blind(double gap, unsigned unused);
  void make_runs(const Frame&, const std::optional<Timing>& stamp);
  std::optional<std::int64_t> since(const std::optional<Timing>& stamp) const;

  const Manner manner_;
  std::array<Block, blocks::kCount> blocks_{};
  std::array<Run, blocks::kCount> runs_{};
  std::size_t size_ = 0, runs_size_ = 0;
  std::uint64_t lost_ = 0;

  // Of the datagram before.
  bool began_ = false;
  double stamped_ = 0, span_ = 0;  // of its stamp, and its length
  double last_ = 0, next_ = 0;     // where its last block began and ended
  std::optional<std::int64_t> raw_ns_{};
  hal::Time arrival_{};
  unsigned unused_ = 0, trailing_ = 0;  // blocks since its last used one; of the newest datagram
  unsigned refused_ = 0;                // since then

  double step_ = 0;            // of the newest block whose successor was seen
  double turn_ns_ = 0;         // as measured
  unsigned other_speeds_ = 0;  // in a row
  bool is_measured_ = false;
  std::optional<double> blind_{};  // how far it sends no blocks behind
};

}  // namespace drivers
