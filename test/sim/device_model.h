// What a simulated device is: bytes from the host in, frames and their truth out, no I/O.
//
// The runner owns transport, pacing and faults. A model is always called at the instant a thing is
// due, in order, however late the process runs; it never asks what time it is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "hal/bytes.h"
#include "hal/time.h"
#include "test/sim/random.h"

namespace sim {

// The port a frame leaves or arrives by. `control` exists on two-port devices only (TCP beside
// UDP); `connection` is a TCP port that the model opened for its data (DataPorts).
enum class Channel : std::uint8_t { data, control, connection };

// IPv4, as the host named it to the device; port 0 = none was named.
struct Address {
  std::uint32_t ip = 0;  // 127.0.0.1 is 0x7F000001
  std::uint16_t port = 0;
};

// How a frame leaves. `to` of data: who gets the datagram (none: --to, or the last one that asked);
// of a connection: the port that was opened. `hangs_up`: the connection that asked is closed behind
// the frame.
struct Way {
  Channel channel = Channel::data;
  Address to{};
  bool hangs_up = false;
};

// TCP ports that a device opens for its data while it runs.
class DataPorts {
 public:
  virtual ~DataPorts() = default;

  // Listens on `wanted`, on any when that is 0; returns the port, 0 when it cannot be had.
  virtual unsigned open(unsigned wanted) = 0;
  // Hangs up on who is connected, too.
  virtual void close(unsigned port) = 0;
};

using ByteVector = std::vector<std::byte>;

// What the device hands to its line at `at` (never before the call that makes it; a reply may name
// a later instant): one packet, one reply, one datagram on UDP. A serial line then takes bytes * 10
// / baud to carry it; the runner adds that, the model does not.
struct Frame {
  hal::Time at;
  Way way;
  ByteVector bytes;
};

struct TrueBeam {
  hal::Time at;        // the instant the beam was measured
  double angle = 0.0;  // rad, counter-clockwise, 0 = front of the device
  double range = 0.0;  // m, exact; 0 = no return
};

// One packet's worth of beams, in order of acquisition. `device_ns` is the stamp that the frame
// carries, unwrapped, in ns; of a device without a stamp, its clock at the first beam.
struct ScanTruth {
  std::int64_t device_ns = 0;
  std::vector<TrueBeam> beams;
};

// One inertial sample at the instant it was taken, in body FLU: m/s^2 (specific force), rad/s.
struct ImuTruth {
  hal::Time at;
  std::int64_t device_ns = 0;
  std::array<double, 3> accel{};
  std::array<double, 3> gyro{};
};

// Collects what a model has to say. The runner empties it after each call.
struct Output {
  std::vector<Frame> frames;
  std::vector<ScanTruth> scans;
  std::vector<ImuTruth> imus;

  void send(hal::Time at, ByteVector bytes, const Way& way = {}) {
    frames.push_back(Frame{at, way, std::move(bytes)});
  }
  void clear() { frames.clear(), scans.clear(), imus.clear(); }
};

inline constexpr hal::Time kNever = hal::Time::max();

class DeviceModel {
 public:
  virtual ~DeviceModel() = default;

  // The device starts from cold at `now`: volatile settings are forgotten, the dialogue begins
  // anew. Called once before anything else and after each loss of power. The device clock given to
  // the model has been restarted already.
  virtual void power_up(hal::Time now, Output& out) = 0;

  // Bytes of the host in any portions; on UDP one call is one datagram.
  virtual void receive(Channel channel, hal::Bytes bytes, hal::Time now, Output& out) = 0;

  // Emits all that is due by `now`; returns when the next thing is due, kNever when only the host
  // can make it talk. The return value is later than `now`. Called again after each receive().
  virtual hal::Time advance(hal::Time now, Output& out) = 0;

  // Modem line of a serial adapter; a pty carries none, so only tests call it.
  virtual void set_dtr(bool /*asserted*/, hal::Time /*now*/) {}

  // Line rate at this moment; 0 = not a serial device.
  virtual unsigned baud() const = 0;

  // Period of the counter behind the device's stamps (30 s for a u16 that wraps at 30000 ms);
  // zero = it never wraps. The `wrap` fault starts the clock shortly before it.
  virtual hal::Duration clock_period() const { return hal::Duration::zero(); }

  // For the `wrong` fault: puts implausible values (random ranges, NaN, full scale) into a frame of
  // this model and makes its checksum good again. Leaves frames that carry no measurement alone.
  virtual void falsify(ByteVector& /*frame*/, Random& /*random*/) const {}
};

}  // namespace sim
