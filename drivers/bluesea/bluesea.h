// Bluesea (LanHai) lidars on a serial line or by UDP: LDS-50C-2, LDS-25, LDS-U50,
// LDS-U80C, LDS-E. Sources: BlueSeaLidar/bluesea2 and BlueSeaLidar/sdk2, two
// code bases of the one vendor. No real bytes.
//
// Packets, little-endian: u16 code | u16 n | ... | points | u16 sum of all
// words behind the code, where a lone byte is a word. CE FA: u16 angle, 0.1 deg
// | n x {u16 mm}, or {energy:3, mm:13}, or {u8 energy, u16 mm}; spans 36 deg CF
// FA: u16 angle, span, 0.1 deg | n x {u8 energy, u16 mm} DF FA: u16 angle,
// span, base, first, last, end; first and last 0.01 deg | n x {u8, u16} C7 FA:
// u16 points of the fan, offset in it | u32 begin, end, 0.001 deg | u32 flags |
// u32 stamp, ms
//        in the hour | u32 device | n x u16 mm | n x u16 angle from begin,
//        0.001 deg | n x u8 energy
// AA FA: as C7 to the flags | u32 s since 1900, ns, device | 16 bytes | as C7
// 99 FA: u16 index of the first point, points of a turn | u32 flags, stamp,
// device | 12 bytes |
//        n x u16 mm | n x u8 energy
// Angles grow clockwise. A fan may come in several packets of one stamp. flags
// bit 0: mm, else cm. Also: ST u32 ED status, CE CE 00 code alarm. Commands and
// replies are text; LSTARH and LSTOPH have no reply.
//
// By UDP a packet is in a datagram, and what is said in a frame: LH | u16 command, 43: text, 53:
// setting, 4B41: keep-alive | u16 serial number, echoed | u16 n | n bytes, zeros to a multiple of 4
// | u32 CRC. The answer is such a frame: a text, OK or ER. It sends to who spoke last, so it is
// spoken to every second: u32 ms in the hour, and 28 zeros.
//
// In doubt: CE, CF, DF are told by one source, which fans of a turn of CE span
// less (18 degrees at 342.0, 9 where fans follow that closely: taken as seen).
// Which instant the stamp is of: taken as the fan's first point. The flags'
// bits: as the layout says, not as the SDK reads them. The meaning of status
// flags and alarm codes; whether keep-alives set its clock (they tell the time
// since the host was started); 9D FA and LMSG, whose layouts are told in part, are
// not read.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "drivers/bluesea/framing.h"
#include "drivers/counted_rate.h"
#include "drivers/device_driver.h"
#include "drivers/registry.h"

namespace drivers {

class Bluesea {
 public:
  using Framing = BlueseaFraming;
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static std::span<const Step<Bluesea>> start_script();
  static std::span<const Step<Bluesea>> stop_script();

  std::span<const Routine<Bluesea>> routines() const;

  explicit Bluesea(const Options&);

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  // Stamps count within the hour; packets without one are counted by the
  // rotation.
  ClockModel clock_model() const {
    return {.modulus = std::chrono::hours(1), .max_skew = kCountedSkew};
  }
  hal::Duration max_silence() const { return std::chrono::milliseconds(200); }
  const hal::Text<96>& about() const { return about_; }

 private:
  enum class Unit : std::uint8_t { as_told, mm, cm };
  static Unit unit_of(const Options&);

  // What a packet's header says. Degrees, clockwise.
  struct Fan {
    double begin = 0, span = 0;  // of the whole fan
    std::size_t points = 0,
                offset = 0;               // in the fan; of the packet's first point
    std::optional<std::int64_t> stamp{};  // ns
    bool is_utc = false;
    bool is_mm = true;
  };

  // In the order of the script.
  bool send_stop(Request&);
  bool ask_type(Request&);
  bool ask_serial(Request&);
  bool ask_version(Request&);
  bool set_unit(Request&);
  bool set_intensity(Request&);
  bool set_speed(Request&);
  bool send_start(Request&);
  bool start_unheard(Request&);
  Reply answered(const Frame&);
  Reply started(const Frame&);
  bool answers() const { return !about_.empty(); }
  bool say(Request&, std::string_view command, std::string_view reply);
  bool keep_alive(Request&);

  void decode_packet(const Frame&, Decoded&);
  std::optional<Fan> fan_of(Bytes packet);
  double span_of_ce(double begin);
  void fill_beams(Bytes packet, const Fan&);
  void turn_on(const Fan&, hal::Time arrival);
  bool passes_turn(double last_deg);

  const Unit unit_;
  const bool has_intensity_, is_clockwise_;
  const int rpm_;

  hal::Text<96> about_{};
  std::string_view expected_{};  // how the reply to what was said begins
  unsigned serial_ = 0;          // of what was said last, by UDP
  int unstopped_ = 0;            // packets that came although it was told to stop
  Framing framing_;

  // Of the data stream. Angles in degrees, clockwise.
  double narrow_ = 36;          // what a fan of CE spans
  double turn_ns_ = 0;          // as measured, or to begin with as asked for
  double slack_ns_ = 0;         // counted too much while that was not known
  CountedRate rate_;            // of the turns
  bool is_new_ = false;         // turn_ns_, with the newest fan
  double at_ = -1;              // where the newest fan began; -1: none yet
  std::int64_t stamp_ns_ = -1;  // of the newest fan; -1: none
  std::size_t taken_ = 0;       // points of it that came
  double raw_ns_ = 0;           // of its first point, counted where it bears no stamp
  double last_ = -1;            // where the newest packet ended; -1: none yet
  std::array<Beam, Framing::kMostPoints> beams_{};
};

}  // namespace drivers
