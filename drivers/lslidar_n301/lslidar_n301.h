// LSLIDAR N301 and N401: lidars that send their blocks by UDP as soon as they have power. Sources:
// the vendor's ROS drivers; an independent driver of protocol 1.6. No real bytes.
//
// Datagram: twelve blocks, see block_datagram.h; the 96 bytes of a block are two groups of 48, with
//   15 (protocol 1.7) or 1 (1.6) x {u16 distance, 4 mm (1.7) or 2 mm (1.6); u8 intensity}
// and u32 is the time within the second, us. The azimuth is that of a block's first point,
// clockwise; the others lie evenly up to the next block's. Of the date, yy mm dd h m s stand at 49,
// 50, 51, 97, 98, 99 of a block (1.7), or at 94 to 99 (1.6); zeros: no satellites.
//
// Nothing tells the protocol: it is an option. Blocks that have points where it has none, or none
// where it has most, contradict it, and are told as a fault.
//
// In doubt: which point the time is of (`stamp`); whether the date of a block goes with the time of
// its datagram where a second ends; what 1.6 sends in the 15 places of a group that it does not use
// (one source decodes 16 channels there and uses the first). Multicast is not joined.
#pragma once

#include <array>
#include <span>

#include "drivers/block_order.h"
#include "drivers/device_driver.h"
#include "drivers/registry.h"

namespace drivers {

class LslidarN301 {
 public:
  using Framing = BlockFraming<false>;
  static double likeness(Bytes b) { return Framing::likeness(b); }
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static std::span<const Step<LslidarN301>> start_script() { return {}; }
  static std::span<const Step<LslidarN301>> stop_script() { return {}; }

  explicit LslidarN301(const Options&);

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  void finish(Decoded&);
  ClockModel clock_model() const { return order_.clock_model(); }
  hal::Duration max_silence() const { return std::chrono::milliseconds(300); }

 private:
  static constexpr std::size_t kMost = 30 * blocks::kCount;  // points of a datagram

  Timing stamp_of(Bytes) const;
  void give(const BlockSweep&, Bytes, Decoded&);
  void fill(Bytes, const BlockSweep::Block&, std::span<Beam>) const;
  bool contradicts(Bytes) const;

  const bool is_17_;
  const std::size_t points_;  // of a block
  Framing framing_;
  BlockOrder order_;
  std::size_t given_ = 0;        // datagrams of the newest frame
  unsigned contradictions_ = 0;  // in a row
  std::array<Beam, kMost * BlockOrder::kMostAtOnce> beams_{};
};

}  // namespace drivers
