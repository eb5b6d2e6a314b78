// SICK safety laser scanners: microScan3, nanoScan3, outdoorScan3. Measurement data in fragments
// over UDP; with `control:` the output is set up by CoLa 2 over TCP, without it data come as they
// were set up in Safety Designer. Sources: SICKAG/sick_safetyscanners_base and _2, Wireshark's
// dissector of CoLa 2, two independent parsers, the header of one real device.
//
// Fragment, little-endian: "MS3 MD" | u8 1 | u8 minor | u32 length of the payload | u32 its number
//   | u32 offset of this fragment | u32 reserved | bytes. Payload: telegram.h. Commands: cola2.h.
// Method B0 sets the output: u8 channel | 3 x 0 | u8 on | u8 interface | 2 x 0 | u32 our address,
// its
//   last octet first | u16 our port | u16 each nth scan | i32 first, i32 last angle (2^-22 deg;
//   equal: all) | u16 blocks (bit 0 state, 1 derived values, 2 measurement) | u16 0.
//
// In doubt:
// * Which instant is stamped (`stamp`: no source tells), and whether days and ms are UTC. Of a part
//   of the field, too, the first or last beam of the whole is taken, and that it is sent behind it.
// * A whole scan that a later one overtook is stale: to be overtaken it must have been on its way
// for
//   20 ms more than the next, and to wait for one that is lost would hold back all later ones.
// * Method B0: one source; the settings cannot be read back.
// * Beams without `valid` and without `no echo`: no return, unless they are marked as contaminated.
#pragma once

#include "drivers/device_driver.h"
#include "drivers/registry.h"
#include "drivers/sequence.h"
#include "drivers/sick_safety/cola2.h"
#include "drivers/sick_safety/framing.h"
#include "drivers/sick_safety/telegram.h"

namespace drivers {

class SickSafety {
 public:
  using Framing = safety::Framing;
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static double likeness(Bytes);
  static std::span<const Step<SickSafety>> start_script();
  static std::span<const Step<SickSafety>> stop_script();

  explicit SickSafety(const Options&);

  void restart();
  Framing& framing(Channel c) { return c == Channel::control ? commands_ : fragments_; }
  void decode(const Frame&, Decoded&);
  ClockModel clock_model() const;
  hal::Duration max_silence() const;
  // Model and serial number, once it told them; of recorded data the serial number.
  const hal::Text<96>& about() const { return about_; }

 private:
  bool open_session(Request&);
  Reply take_session(const Frame&);
  template <unsigned kVariable>
  bool ask(Request&);
  Reply take_type_code(const Frame&);
  Reply take_serial(const Frame&);
  bool set_output(Request&);
  Reply take_output(const Frame&);
  bool close_session(Request&);
  Reply take_closed(const Frame&);

  void take_note(const safety::Telegram&, Decoded&);
  bool is_mine(const safety::Telegram&);
  void learn_angles(const safety::Derived&, std::size_t n);
  void add_scan(const safety::Telegram&, const Frame&, Decoded&);
  void describe();

  // As configured.
  const int channel_;    // -1: the first that is heard
  const int interface_;  // -1: by the type code
  const unsigned divider_;
  const std::int32_t first_, last_;  // 2^-22 deg, as the device counts
  const bool stamps_last_, has_flags_;

  Framing fragments_{Framing::Of::fragments}, commands_{Framing::Of::commands};

  // Of the dialogue.
  cola2::Session session_;
  unsigned told_interface_ = 0;
  hal::Text<32> type_code_{}, serial_{};
  hal::Text<96> about_{};

  // Of the data.
  safety::Reassembly reassembly_;
  std::uint64_t missing_ = 0;  // of reassembly_.stats(), that was told
  Sequence sequence_{32};
  std::optional<std::pair<std::uint32_t, unsigned>> source_{};  // serial number, channel
  struct Counters {
    std::uint32_t sequence, scan;
  };
  std::optional<Counters> newest_{};
  std::uint32_t every_;  // scans from one that is sent to the next
  safety::Derived derived_{};
  bool knows_angles_ = false;
  std::size_t angles_ = 0;  // beams_ has the angles of so many
  std::array<Beam, safety::kMostBeams> beams_{};
};

}  // namespace drivers
