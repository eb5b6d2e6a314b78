// Leuze RSL 400 and RSL 200: safety laser scanners that send an image of their state and their
// measurements over UDP. They are set up by their own tool and listen to nothing.
//
// Datagram, little-endian: u32 its length | u8 8 | u8 follow | AF FE | 04 15 02 C8 |
// u8 kind | u8 device (0: RSL 400, 1: RSL 200) | u16 block | u32 scan number | data
//   kind 1, status: 20 bytes (RSL 200: 28) | u16 first, u16 last, u16 interval of angles | u16
//   kind 3: per beam u16 mm, u16 amplitude. kind 6: per beam u16 mm. 360 beams a block.
// Each scan is a status and then its blocks from 0 on, all with its number. An angle counts 0.1 deg
// (RSL 200: 0.2 deg) clockwise from 135 deg to the left of the front.
//
// Source: the maker's leuze_rsl_ros2_drivers (Apache-2.0) alone, and one recorded status of an
// RSL 400. There is neither a checksum nor a stamp. In doubt:
// * The sense of rotation and the place of the front: as that driver has them.
// * That 0 and 65535 mm are no return.
// * The time of a beam: scans are counted by their numbers, 40 ms (RSL 200: 25 ms) apart, and a
//   turn of the mirror is taken to last as long. A block is taken to be sent after its last beam.
// * A scan whose status is lost is taken to have the angles of the one before.
// Blocks that come out of order wait for those that are missing, until eight wait; then these are
// lost. What comes twice, or later, is stale.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "drivers/device_driver.h"
#include "drivers/in_order.h"
#include "drivers/registry.h"

namespace drivers {

struct LeuzeRslFraming {
  static constexpr std::size_t kMaxFrame = 1460;
  static constexpr bool kDatagrams = true;
  static std::size_t measure(Bytes b);
  static bool intact(Bytes frame);  // does its length agree with what it holds?
};

class LeuzeRsl {
 public:
  using Framing = LeuzeRslFraming;
  static std::span<const OptionSpec> options() { return {}; }
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static std::span<const Step<LeuzeRsl>> start_script() { return {}; }
  static std::span<const Step<LeuzeRsl>> stop_script() { return {}; }

  explicit LeuzeRsl(const Options&) {}

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  void finish(Decoded&);
  ClockModel clock_model() const;
  hal::Duration max_silence() const { return std::chrono::milliseconds(200); }
  hal::Text<96> about() const;

 private:
  static constexpr std::size_t kBlock = 360;  // beams

  static constexpr std::size_t kMostWaiting = 8;

  // The field that a status tells.
  struct Field {
    bool is_200 = false;
    unsigned first = 0, interval = 1;  // of angles
    std::size_t beams = 0;
    std::size_t blocks() const { return (beams + kBlock - 1) / kBlock; }
    bool operator==(const Field&) const = default;
  };
  // What a datagram gave.
  struct Block {
    std::uint32_t scan = 0;
    ScanSlice slice{};
    Timing timing{};
    std::array<Beam, kBlock> beams{};
  };

  void take_status(const Frame&, Decoded&);
  void take_block(const Frame&, Decoded&);
  void fill(Bytes datagram, std::size_t first_beam, std::span<Beam>) const;
  void give(Block&, Decoded&);

  Framing framing_;
  std::optional<Field> field_{};
  InOrder<Block, kMostWaiting> blocks_;
  std::optional<std::uint32_t> scan_{};  // of the block that was given last
  hal::Time now_{};                      // arrival of the newest datagram
};

}  // namespace drivers
