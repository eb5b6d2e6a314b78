// Which packets LSLIDAR's M10 and N10 send, and where one ends.
#pragma once

#include <span>
#include <string_view>

#include "drivers/framer.h"

namespace drivers {

// One layout of a packet. Offsets in bytes.
struct LslidarKind {
  std::string_view model;
  std::size_t size, points, echoes, start, speed, data;
  std::size_t end;    // where the last point's angle stands; 0: it spans 15 degrees
  bool is_summed;     // the last byte is the sum of the others
  unsigned length;    // u8 (summed) or u16 behind the flag; 0: none
  bool marks_strong;  // bit 15 of a distance flags a strong reflector
  bool drops_last;    // what a number far out of range before it makes void
};

std::span<const LslidarKind> lslidar_kinds();
const LslidarKind* find_lslidar_kind(std::string_view model);  // null: none

class LslidarFraming {
 public:
  static constexpr std::size_t kCommand = 188;  // what it is told, and its device packet
  static constexpr std::size_t kMaxFrame = kCommand + 2;
  static constexpr bool kDatagrams = true;  // on a network one packet is in each

  // `only`: nothing else is sent; null: whatever comes.
  explicit LslidarFraming(const LslidarKind* only = nullptr) : only_(only) {}

  std::size_t measure(Bytes b) const { return measure(b, false); }
  std::size_t measure_last(Bytes b) const { return measure(b, true); }
  bool intact(Bytes frame);
  void forget();

  // Of the newest packet; null: none yet. A device packet is of no kind.
  const LslidarKind* kind() const { return kind_; }
  static bool is_device_packet(Bytes frame);

 private:
  std::size_t measure(Bytes b, bool last) const;
  std::size_t fit(const LslidarKind&, Bytes b, bool last) const;
  bool is_expected(const LslidarKind& kind) const { return &kind == kind_ || &kind == only_; }
  bool is_torn(const LslidarKind&, Bytes b) const;
  bool is_next(const LslidarKind&, Bytes b) const;

  const LslidarKind* only_;
  const LslidarKind* kind_ = nullptr;
  unsigned start_ = 0, speed_ = 0;  // of the newest packet
};

}  // namespace drivers
