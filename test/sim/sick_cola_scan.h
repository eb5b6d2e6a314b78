// One scan of a simulated SICK scanner as LMDscandata.
//
// u16 version, u16 device, u32 serial, u8 u8 status, u16 telegram, u16 scan counter, u32 time since
// power-up us, u32 transmit time us, u8 u8 inputs, u8 u8 outputs, u16 layer (1/100 deg), u32 scan
// frequency (1/100 Hz), u32 measurement frequency (100 Hz), u16 encoders x {u32, u16}, u16 channels
// of 16 bits x {5 letters, f32 scale, f32 offset, i32 start, u16 step (1/10000 deg), u16 count,
// count x u16}, u16 channels of 8 bits alike, then flags: position {6 x f32, u8}, name {u8 length,
// letters}, comment {alike}, time {u16 year, u8 month, day, hour, minute, second, u32 us}, event.
//
// A beam that hits the wall sees what is behind it, too, where the format has room: every second
// beam one more echo 0.4 m farther, every fourth two, every eighth all that the device can tell.
#pragma once

#include <cstdint>

#include "test/sim/cola_wire.h"
#include "test/sim/sick_cola_catalogue.h"

namespace sim::sick_cola {

// As LMDscandatacfg has it, field by field.
struct Content {
  std::uint64_t channels_low = 1, channels_high = 0, remission = 0, wide_remission = 0, unit = 0,
                encoder_low = 0, encoder_high = 0, position = 0, name = 0, comment = 0, time = 1,
                interval = 1;
};

enum class EchoFilter : std::uint8_t { first, all, last };

// The beams `first` to `last` of a field of view, counted from its start.
struct Sector {
  double field_start_deg = 0.0;
  int steps_per_turn = 360;
  int first = 0, last = 0;
  double step_deg() const { return 360.0 / steps_per_turn; }
  // 1/10000 deg, cut off as devices send it.
  std::uint32_t step_units() const { return static_cast<std::uint32_t>(step_deg() * 1e4 + 0.4); }
  double angle_deg(int i) const { return field_start_deg + i * step_deg(); }
  int beams() const { return last - first + 1; }
};

struct Scan {
  Sector sector;
  hal::Time first;         // the beam sector.first
  double beam_ns = 0.0;    // true time from beam to beam
  double hz = 0.0;         // as the device says
  double layer_deg = 0.0;  // tilt, upwards
  std::uint16_t telegram_count = 0, scan_count = 0;
  std::int64_t device_us = 0, transmit_us = 0;
};

struct Look {
  Content content;
  EchoFilter filter = EchoFilter::first;
  double scale = 1.0;            // of the ranges: a step in mm
  bool unknown_channel = false;  // one that no host knows between ranges and strengths
};

// The scan in bytes, behind `head` ("sSN LMDscandata"); appends what it saw to `truth`.
ByteVector scan_telegram(const Model& model, const Scan& scan, const Look& look,
                         cola::Dialect dialect, std::string_view head, std::string_view location,
                         std::vector<TrueBeam>& truth);

// For the `wrong` fault: random ranges, or a count that is greater than the telegram, under a good
// checksum. Anything but a scan stays as it is.
void falsify_scan(ByteVector& frame, Random& random);

}  // namespace sim::sick_cola
