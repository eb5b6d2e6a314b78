// The seam between a device and everything above it: bytes, time and port events in; packets,
// bytes and port requests out.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "drivers/channels.h"
#include "drivers/decoded.h"
#include "drivers/options.h"
#include "drivers/packet.h"
#include "hal/port.h"

namespace drivers {

// Why a device does not stream, as far as its bytes and ports tell.
enum class Cause : std::uint8_t {
  none,
  no_port,        // no such path, address refused
  permission,     // the port is there, but not for us
  port_busy,      // somebody else holds it
  hang_up,        // unplugged, or the peer closed
  no_bytes,       // the port is open and nothing comes
  mismatch,       // bytes, but no frame: another protocol or another baud rate
  bad_checksums,  // frames, but most of them damaged
  no_answer,      // a step of the dialogue was not answered
  refused,        // the device answered that it will not
  device_reset,   // the device restarted by itself
  no_packets,     // frames or answers, but no measurement
  device_fault,   // the device reports a fault of its own
  stuck,          // it repeats one measurement
  not_turning,    // beams come, but no turn begins
  wrong_speed,    // it turns faster than it can
};

// One driver's account of itself. Counters only grow.
//   framing.bytes = framing.frame_bytes + framing.garbage_bytes + pending
//   framing.frames + extra_packets =
//       replies + packets + stale + withheld + stuck + unwanted + silent_frames + undecodable
struct Health {
  State state = State::idle;
  Cause cause = Cause::none;  // while it streams: what is wrong with it all the same
  hal::Text<192> why{};       // the cause in words: what, where, and the remedy
  const char* step = "";      // of the dialogue, while one is being held
  hal::Text<96> about{};      // the device's account of itself: model, serial number, rate
  FramerStats framing;
  std::uint64_t pending = 0;        // bytes in the framers
  std::uint64_t packets = 0;        // delivered, of all outputs
  std::uint64_t imu_packets = 0;    // of these, of the output NAME/imu
  std::uint64_t extra_packets = 0;  // of frames that gave several, all but one; at silence, all
  std::uint64_t replies = 0;        // frames that answered a step of the dialogue
  std::uint64_t silent_frames = 0;  // intact frames that gave no packet, or not yet
  std::uint64_t undecodable = 0;    // intact frames whose content makes no sense
  std::uint64_t stale = 0;          // packets whose stamp did not advance
  std::uint64_t withheld = 0;       // packets while the clock warmed up
  std::uint64_t stuck = 0;          // packets of a frame that was repeated again and again
  std::uint64_t lost = 0;           // frames that never came, as the device's own counter shows
  std::uint64_t lost_parts = 0;     // the same, of measurements whose other frames came
  std::uint64_t unwanted = 0;       // packets while a script was held, or behind its end
  std::uint64_t faults = 0;         // ends of streaming or of an attempt to start
  std::uint64_t resets = 0;         // restarts of the device that it announced
  std::uint64_t device_faults = 0;  // frames in which the device reported a fault of its own
  int baud = 0;                     // of the line now; 0: not a serial line
  double turns_hz = 0;              // lidars: as measured; 0: not known
  ClockHealth clock, imu_clock;     // of the outputs
  hal::Time last_byte{}, last_packet{}, last_imu{};  // arrivals; last_packet: of the main output

  bool balances() const {
    return framing.bytes == framing.frame_bytes + framing.garbage_bytes + pending &&
           framing.frames + extra_packets == replies + packets + stale + withheld + stuck +
                                                 unwanted + silent_frames + undecodable;
  }
};

// What a driver is built from.
struct DriverSetup {
  SensorId first_sensor = 0;          // output k of the registry row is sensor first_sensor + k
  std::size_t outputs = kMaxOutputs;  // packets of later ones are unwanted
  int baud = 0;                       // of the data channel; 0: not a serial line
  StampOptions stamps{};
  hal::Address host{};  // our own, as the device is to be told; zeros: as the ports have it
  Ports ports{};
  PacketSink* sink = nullptr;  // outlives the driver
};

// A driver is passive: it acts only when called, and it is told what time it is.
class Driver {
 public:
  virtual ~Driver() = default;
  virtual void start(hal::Time now) = 0;
  virtual void tick(hal::Time now) = 0;  // about every 20 ms
  // When a tick earlier than the next would have something to do; Time::max(): not before that.
  virtual hal::Time due() const = 0;
  virtual void stop(hal::Time now) = 0;  // begins the device's own stop; stopped() tells the end
  // Unix minus inner time as measured now, about every 20 ms.
  virtual void set_wall_clock(std::int64_t unix_minus_inner_ns) = 0;
  virtual bool stopped() const = 0;
  virtual bool drained() const = 0;  // every port was read empty the last time
  virtual Health health() const = 0;
  virtual std::span<const std::unique_ptr<hal::Port>> ports() const = 0;
};

}  // namespace drivers
