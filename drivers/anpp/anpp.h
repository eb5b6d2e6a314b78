// Advanced Navigation Spatial, Orientus, Motus, Certus: their packet protocol on a serial line, by
// UDP or TCP. Sources: the vendor's C code (in its ROS driver) and Rock's independent driver; no
// capture of a device is public.
//
// Packet, little-endian, without a head: u8 LRC (the first five bytes sum to 0) | u8 id | u8 n |
// u16 CRC-16 of the data (0xFFFF first) | n bytes. Read are
//   28 raw sensors: f32 accelerations m/s^2, with gravity; rates rad/s; field mG; deg C; Pa; deg C
//   40 quaternion w x y z; 39 f32 roll, pitch, heading; forward-right-down in north-east-down
//   20 system state, of it statuses, time, angles and rates; 23 statuses
//   49 time since power-on, 21 Unix time; both u32 s, u32 us
// Packets of one tick come in ascending order of their ids, and only 20, 21 and 49 tell its time:
// what was measured is held until 49 comes. Without 49 the time is that of 20 or 21, which jumps
// when the device gets to know the date; without these, it is when the packets arrived.
//
// Where it answers, it is asked who it is, told to send 28, 40 and 49 and, each second, 21 and 23,
// and nothing else, and asked again. Models that refuse that are asked to do without 40, or with 21
// in place of 49. Its accelerations without gravity (20, 37, 38) are of no use here.
#pragma once

#include <span>

#include "drivers/device_driver.h"
#include "drivers/registry.h"

namespace drivers {

class Anpp {
 public:
  struct Framing {
    static constexpr std::size_t kMaxFrame = 5 + 255;
    static std::size_t measure(Bytes b);
    static bool intact(Bytes frame);
  };
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static std::span<const Step<Anpp>> start_script();
  static std::span<const Step<Anpp>> stop_script() { return {}; }

  explicit Anpp(const Options&);

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  void finish(Decoded& out) { give(out); }
  ClockModel clock_model() const { return {.period = hal::from_seconds(1 / rate_hz())}; }
  hal::Duration max_silence() const;
  const hal::Text<96>& about() const { return about_; }

 private:
  // What came of a tick so far.
  struct Tick {
    unsigned newest = 0;    // id
    std::size_t bytes = 0;  // of all its packets
    ImuSample sample{};
    hal::Time arrival{};  // of the packet that the sample is by, and the bytes up to its end
    std::size_t bytes_then = 0;
    std::optional<std::int64_t> running{}, unix_ns{};
  };

  bool ask_info(Request&);
  bool set_timer(Request&);
  bool set_periods(Request&);
  bool ask_periods(Request&);
  Reply take_info(const Frame&);
  Reply acknowledged(const Frame&);
  Reply take_set(const Frame&);
  Reply take_periods(const Frame&);

  double rate_hz() const { return 1000.0 / ticks_; }
  void say(Request&, unsigned id, Bytes data);
  void take(const Frame&, Bytes data, Decoded&);
  void take_state(const Frame&, Bytes data, Decoded&);
  void take_raw(const Frame&, Bytes data, Decoded&);
  void take_attitude(const Frame&, const std::optional<std::array<double, 4>>&);
  void take_status(Bytes data, Decoded&);
  void sampled(const Frame&);
  void give(Decoded&);
  std::optional<std::int64_t> stamp_of(const Tick&);
  void note_lack(const Frame&, Decoded&);

  Framing framing_;
  const unsigned ticks_;  // of 1 ms, from sample to sample
  const bool orientation_, tells_utc_, configure_, save_;

  bool answers_ = false;
  unsigned without_ = 0;  // of what it is told to send: 1 the attitude, 2 the running time, 3 both
  hal::Text<64> name_{};
  unsigned asked_id_ = 0;  // of the command that waits for its acknowledgement, and its check
  std::uint16_t asked_crc_ = 0;
  hal::Text<96> about_{};

  Tick tick_{};
  unsigned usual_last_ = 0;               // id that the tick before ended with
  unsigned without_running_ = 0;          // ticks since the newest 49
  std::optional<std::int64_t> newest_{};  // stamp that was told
  std::int64_t period_ = 0;               // between two, measured or nominal
  std::int64_t since_newest_ = 0;         // ticks
  std::optional<std::int64_t> unix_minus_running_{};
  bool knows_utc_ = false, has_settled_ = true, has_quaternion_ = false;
  std::optional<hal::Time> lacking_since_{};
};

}  // namespace drivers
