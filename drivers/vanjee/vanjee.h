// Vanjee WLR-716mini (716N), WLR-718H and WLR-719 over UDP or TCP. Sources: the vendor's SDK; of
// the 716mini an independent driver, too. No real bytes. The layout stands in frame.h.
//
// Intensities come in packets behind all distances of the turn, or each behind its distances: a
// packet waits for its own until the next turn. Packets that come out of order wait for those that
// are missing, until four wait.
//
// In doubt:
// * The places of a 718H from 74 on, device and request of a 719: the SDK alone.
// * The unit of the time is not told, so it is not used. Beams are timed by NTP, when the device
//   has it (`stamp`: which beam of a packet), else turns are counted by their number and rate.
// * Where a 719 begins and that a 718H and a 719 turn counter-clockwise (`zero_deg`, `clockwise`).
// * CRC: which one is not told, so it is not checked. What stops the device is not known.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "drivers/device_driver.h"
#include "drivers/in_order.h"
#include "drivers/registry.h"
#include "drivers/vanjee/frame.h"

namespace drivers {

class Vanjee {
 public:
  using Framing = VanjeeFraming;
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static std::span<const Step<Vanjee>> start_script();
  static std::span<const Step<Vanjee>> stop_script() { return {}; }

  explicit Vanjee(const Options&);

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  void finish(Decoded&);
  ClockModel clock_model() const { return {.max_skew = kCountedSkew}; }
  hal::Duration max_silence() const { return std::chrono::seconds(1); }
  hal::Text<96> about() const;

 private:
  using Model = vanjee::Model;
  using Head = vanjee::Head;
  static constexpr std::size_t kMostBeams = 600, kMostWaiting = 4, kMostHeld = 16;

  struct Part {
    bool waits = false;  // for its intensities
    bool is_intensity = false;
    std::uint32_t turn = 0;
    std::size_t index = 0;  // of the distances of its turn
    ScanSlice slice{};
    Timing timing{};
    std::array<Beam, kMostBeams> beams{};
  };

  bool ask_scan(Request&);
  Reply take_scan(const Frame&);
  std::uint64_t number_of(const Head&);
  void learn_field(const Head&, std::size_t index);
  bool fill(Bytes, const Head&, Part&) const;
  void time(Bytes, const Head&, hal::Time arrival, Part&) const;
  void give(Part&, Decoded&);
  void hold(const Part&);
  void take_intensities(const Part&, Decoded&);
  void release_before(std::uint32_t turn, Decoded&);
  void deliver(Part&, Decoded&);
  void deliver_without(Part&, Decoded&);  // intensities

  // As configured.
  const Model model_;
  const std::size_t points_;  // 0: as the last packet of a turn tells
  const bool wants_intensities_, stamps_first_, is_clockwise_;
  const double zero_;  // rad

  Framing framing_;
  std::size_t field_ = 0;  // beams of a turn; 0: not known yet
  bool between_ = false;   // intensities come behind their distances
  bool has_intensities_ = false;
  std::uint64_t newest_bank_ = 0;        // counted over the turns
  std::optional<std::uint32_t> turn_{};  // of the packet that was given last
  InOrder<Part, kMostWaiting> parts_;
  std::array<Part, kMostHeld> held_{};
  std::size_t next_held_ = 0;
  hal::Time newest_{};  // arrival
};

}  // namespace drivers
