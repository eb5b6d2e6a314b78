// What an RPLIDAR sends: replies, measurements and, when it resets, an ASCII banner.
//
// Descriptor, 7 bytes: A5 5A | u32 {length:30, loop:2} | u8 type. A single reply is a descriptor
// and its payload, one frame. After a loop descriptor, a frame of its own, measurements follow
// without headers until STOP. Source: Slamtec's rplidar_sdk 2.1.0.
// Banner: "RP LIDAR System.\r\n" and two more lines (A1M8: 64 bytes).
#pragma once

#include <utility>

#include "drivers/rplidar/formats.h"

namespace drivers {

class RplidarFraming {
 public:
  static constexpr std::size_t kMaxFrame = rplidar::kMostBytes;
  enum class Part : std::uint8_t { reply, loop, banner, measurement };

  // Bytes that begin in mid-stream are measurements of type `answer`, until a descriptor comes.
  explicit RplidarFraming(unsigned answer) : format_(rplidar::find_format(answer)) {}
  // A device that will be asked: whatever comes before a descriptor is garbage.
  void forget() { *this = RplidarFraming(0); }

  std::size_t measure(Bytes b) { return is_next_node(b) ? rplidar::kNodeBytes : measure(b, false); }
  std::size_t measure_last(Bytes b) { return measure(b, true); }
  bool intact(Bytes frame) {
    if (frame.size() != rplidar::kNodeBytes) return is_intact(frame);
    aligned_ = Aligned::yes;
    node_at_ = rplidar::node_angle(frame);
    return accept(Part::measurement);
  }

  // Of the frame that was found intact last.
  Part part() const { return part_; }
  // What measurements are now; null when not known.
  const rplidar::Format* format() const { return format_; }
  // Something looked like a measurement since the frame before, and its checksum did not agree.
  bool saw_damage() const { return saw_damage_; }

 private:
  std::size_t measure(Bytes b, bool last);
  std::size_t measure_node(Bytes b, bool last);
  std::size_t measure_run(Bytes b, bool last, bool by_angle) const;
  bool is_intact(Bytes frame);

  // Nearly always what comes is the node behind the one before.
  bool is_next_node(Bytes b) const {
    return aligned_ == Aligned::yes && node_at_ >= 0 && b.size() >= rplidar::kNodeBytes &&
           rplidar::may_be_node(b) && goes_on(node_at_, rplidar::node_angle(b));
  }
  // Angles of nodes grow, but each is corrected by its distance: one in eight goes back a little.
  static constexpr bool goes_on(int from, int to) {
    constexpr int kMostBack = 20 * 64, kMostOn = 30 * 64;
    int turned = to - from;
    if (turned > rplidar::kNodeTurn / 2) turned -= rplidar::kNodeTurn;
    if (turned < -rplidar::kNodeTurn / 2) turned += rplidar::kNodeTurn;
    return turned > -kMostBack && turned < kMostOn;
  }
  bool accept(Part part) {
    part_ = part;
    saw_damage_ = std::exchange(damaged_, false);
    return true;
  }

  const rplidar::Format* format_;
  Part part_ = Part::reply;
  bool damaged_ = false, saw_damage_ = false;
  // Standard nodes: does one begin where the frame before ended? A recording may well begin with
  // a whole one. Of other formats there are none: node_at_ stays -1.
  enum class Aligned : std::uint8_t { no, perhaps, yes } aligned_ = Aligned::perhaps;
  int node_at_ = -1;  // 1/64 deg, of the newest node; -1: none yet
};

}  // namespace drivers
