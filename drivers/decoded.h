// What a device makes of a frame, and how the frame's measurements get their time.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <span>

#include "drivers/clock_mapper.h"
#include "drivers/packet.h"
#include "hal/text.h"

namespace drivers {

// When a packet's measurement happened, as far as its frame tells.
struct Timing {
  enum class Source : std::uint8_t {
    clock,     // raw_ns is the device's own stamp
    utc,       // raw_ns is the device's own stamp, and Unix time when it is synchronised
    counter,   // raw_ns is counted from nominal periods; the device sends no stamp
    arrival,   // nothing is known but the arrival; of what was polled, the middle of the exchange
    previous,  // belongs to the measurement of the packet before
  };
  Source source = Source::arrival;
  std::int64_t raw_ns = 0;  // 0 to 2^62, or differences overflow
  bool anew = false;        // counter: at another rate from here on; what came before is no guide
  bool shared = false;      // clock: another stream of the device may have told this instant before
  hal::Time arrival{};      // of the last byte of the frame that was stamped
  std::size_t bytes = 0;    // its size: line time is the constant part of its latency; 0: none
  hal::Duration to_first{};  // from the stamped instant to the packet's first beam or sample
  hal::Duration held{};  // from the stamped instant until the frame is sent: part of its latency
  // What the whole latency can be at all, where it was measured (see two_way.h).
  hal::Duration least{}, most = hal::Duration::max();
  hal::Duration period{};  // between two stamps, where the device told or shows it; 0: the model's
};

// An output of a registry row: NAME itself, and NAME/imu of a lidar that measures motion, too.
inline constexpr unsigned kMainOutput = 0, kImuOutput = 1;
inline constexpr std::size_t kMaxOutputs = 2;

// Where decode() puts what it makes of one frame: packets in the order of measurement, or why there
// is none. Nothing put in: intact, but no measurement (yet).
class Decoded {
 public:
  // In one frame, with those that waited for it: four of twelve blocks. What is beyond is a
  // programmer's error, left out and asserted.
  static constexpr std::size_t kMostPackets = 48;

  struct Item {
    Packet packet{};
    Timing timing{};
    unsigned output = kMainOutput;
  };

  // Written where it stays, and of a slice not what the Stamper tells: copies of whole packets cost
  // more than the decoding of a small frame. Views are valid until the next frame, so slices of one
  // frame share no beams.
  void add(const ScanSlice& slice, const Timing& timing, unsigned output = kMainOutput) {
    Packet* const packet = reserve(timing, output);
    if (packet == nullptr) return;
    auto* const held = std::get_if<ScanSlice>(packet);
    ScanSlice& to = held != nullptr ? *held : packet->emplace<ScanSlice>();
    to.step = slice.step;
    to.starts_turn = slice.starts_turn;
    to.has_intensity = slice.has_intensity;
    to.turn_at = slice.turn_at;
    to.beams = slice.beams;
    to.echoes = slice.echoes;
  }
  void add(const ImuSample& sample, const Timing& timing, unsigned output = kMainOutput) {
    Packet* const packet = reserve(timing, output);
    if (packet != nullptr) packet->emplace<ImuSample>(sample);
  }
  // A sample is large: it can be written where it stays, too. This one is empty, and is put in by
  // add_draft(); without that it never was.
  ImuSample& draft() {
    Packet& packet = items_[std::min(size_, kMostPackets - 1)].packet;
    auto* const held = std::get_if<ImuSample>(&packet);
    if (held == nullptr) return packet.emplace<ImuSample>();
    held->clear();
    return *held;
  }
  void add_draft(const Timing& timing, unsigned output = kMainOutput) { reserve(timing, output); }
  void undecodable() { what_ = What::undecodable; }  // intact, but its content makes no sense
  void restarted() { what_ = What::restarted; }      // the device says that it has just started
  // The device reports a fault of its own: its code and what that means. It may measure on.
  void fault(const hal::Text<96>& words) { fault_ = words; }
  // Part of a measurement that is not whole yet: nothing to deliver, but the device sends.
  void part() { what_ = What::part; }
  // So many frames with measurements never came, as the device's own counter shows (sequence.h).
  void lost(std::uint64_t frames) { lost_ = frames; }
  // So many never came of measurements that are sent in several frames and whose others came.
  void lost_parts(std::uint64_t frames) { lost_parts_ = frames; }

  void clear() {
    size_ = 0;
    what_ = What::nothing;
    lost_ = lost_parts_ = 0;
    if (!fault_.empty()) fault_.clear();
  }
  std::span<Item> items() { return std::span(items_).first(size_); }
  bool is_undecodable() const { return what_ == What::undecodable; }
  bool is_restarted() const { return what_ == What::restarted; }
  bool is_part() const { return what_ == What::part; }
  const hal::Text<96>& fault() const { return fault_; }  // empty: none
  std::uint64_t lost() const { return lost_; }
  std::uint64_t lost_parts() const { return lost_parts_; }

 private:
  enum class What : std::uint8_t { nothing, undecodable, restarted, part };

  Packet* reserve(const Timing& timing, unsigned output) {  // null: there is no room
    assert(size_ < kMostPackets && output < kMaxOutputs);
    if (size_ == kMostPackets) return nullptr;
    Item& item = items_[size_++];
    item.timing = timing;
    item.output = output;
    return &item.packet;
  }

  std::array<Item, kMostPackets> items_{};
  std::size_t size_ = 0;
  What what_ = What::nothing;
  std::uint64_t lost_ = 0, lost_parts_ = 0;
  hal::Text<96> fault_{};
};

// How a sensor's packets get their times.
struct StampOptions {
  enum class Clock : std::uint8_t {
    mapped,      // the device's clock is only counted by
    device_utc,  // Source::utc is believed while it fits the wall clock
  };
  std::optional<hal::Duration> fixed_latency{};  // empty: the line time of a frame
  std::optional<hal::Duration> warm_up{};        // of the clock's fit, without packets; empty: none
  Clock clock = Clock::mapped;
};

// Puts the packets of one output on the time line: the device's clock, less the constant part of
// the latency. That is what the frame was held back, and `fixed_latency` or else its line time
// (baud 0: none) within what was measured.
class Stamper {
 public:
  Stamper(const ClockModel& model, int baud, const StampOptions& options)
      : mapper_(model), baud_(baud), options_(options) {}

  enum class Outcome : std::uint8_t {
    stamped,
    stale,     // its stamp did not advance
    withheld,  // the clock still warms up
  };

  // Fills in the packet's times. What is not stamped is counted in health(). A slice never begins
  // before the one before it: where a device measures slower than it says, or a burst comes before
  // its clock is known, its beams crowd together.
  Outcome stamp(Packet& packet, const Timing& timing);
  void set_wall_clock(std::int64_t unix_minus_inner_ns) {  // as measured
    utc_.set_wall_clock(unix_minus_inner_ns);
  }
  void reopen() { mapper_.reopened(); }  // the port was opened anew
  void set_baud(int baud) {              // the line goes at another rate now
    baud_ = baud;
    line_bytes_ = 0;
    line_time_ = {};
  }
  ClockHealth health() const;

 private:
  void keep_order(ScanSlice&);
  hal::Duration latency_of(const Timing&);

  ClockMapper mapper_;
  int baud_;
  std::size_t line_bytes_ = 0;  // of the newest frame whose line time was computed, and that time
  hal::Duration line_time_{};
  const StampOptions options_;
  hal::Time newest_first_ = hal::Time::min();  // of the newest slice
  UtcClock utc_;
  std::uint64_t withheld_ = 0;
};

}  // namespace drivers
