// Richbeam Lakibeam1, 1L and 1S: lidars that send their blocks by UDP as soon as they have power.
// Sources: the vendor's ROS 2 driver and its SDK; an independent decoder that reads what is built
// from the same layout. No real bytes.
//
// Datagram: twelve blocks, see block_datagram.h; the 96 bytes of a block are
//   16 x {u16 mm, u8 rssi, u16 mm, u8 rssi}, the second is a further return; 0: none
// and u32 is the device's time, us. The azimuth is that of a block's first beam, counter-clockwise
// from the rear; the others lie evenly up to the next block's. What lies outside of 45 to 315 deg
// is left out, or FFFF. A time of 0: taken as that of the datagram before, and the angle since.
//
// In doubt: which beam the time is of (`stamp`). What is set by HTTP (speed, field, laser) is kept
// by the device, and left as it is: no source shows what it answers.
#pragma once

#include <array>
#include <span>

#include "drivers/block_order.h"
#include "drivers/device_driver.h"
#include "drivers/registry.h"

namespace drivers {

class Lakibeam {
 public:
  using Framing = BlockFraming<true>;
  static double likeness(Bytes b) { return Framing::likeness(b); }
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static std::span<const Step<Lakibeam>> start_script() { return {}; }
  static std::span<const Step<Lakibeam>> stop_script() { return {}; }

  explicit Lakibeam(const Options&);

  void restart() { order_.restart(); }
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  void finish(Decoded&);
  ClockModel clock_model() const { return order_.clock_model(); }
  hal::Duration max_silence() const { return std::chrono::milliseconds(300); }

 private:
  static constexpr std::size_t kPoints = 16, kMost = kPoints * blocks::kCount;

  void give(const BlockSweep&, Bytes, Decoded&);
  bool fill(Bytes, const BlockSweep::Block&, std::span<Beam>, std::span<Echo>);

  Framing framing_;
  BlockOrder order_;
  std::size_t given_ = 0;  // datagrams of the newest frame
  std::array<Beam, kMost * BlockOrder::kMostAtOnce> beams_{};
  std::array<Echo, kMost * BlockOrder::kMostAtOnce> echoes_{};
};

}  // namespace drivers
