#include "config/plan.h"

#include <algorithm>
#include <cmath>

#include "hal/event_loop.h"
#include "hal/text.h"

namespace config {
namespace {

using namespace std::chrono_literals;

constexpr hal::Duration kUsbTimer = 16ms;     // FTDI's default
constexpr hal::Duration kUsbLowTimer = 1ms;   // the least it can be set to
constexpr std::size_t kLeastCapacity = 8;     // data
constexpr std::size_t kCloudsInHand = 3;      // being built, just ended, being given out

bool is_serial(const Sensor& s) { return s.port->kind == hal::PortSpec::Kind::serial; }

// The device sends whole turns or scans, not parts of them.
bool whole_turns(const drivers::Figures& f) { return f.packets_hz <= f.turns_hz * 1.5; }

hal::Duration delivery(const Sensor& s, const drivers::Figures& f) {
  const bool at_packet_end =
      s.driver->kind == drivers::Kind::imu || s.emit.by == Emit::By::chunk ||
      (s.emit.by == Emit::By::turn && whole_turns(f));
  if (at_packet_end || f.packets_hz <= 0) return f.delivery;
  // The last beam of a cloud may be the first of its packet.
  return f.delivery + hal::from_seconds(1 / f.packets_hz);
}

Delay delay_of(const Sensor& s, const drivers::Figures& f) {
  Delay delay{.delivery = delivery(s, f)};
  if (s.latency == hal::Latency::batched) delay.batch = hal::EventLoop::kBatchPeriod;
  if (!is_serial(s)) return delay;
  if (f.packets_hz > 0) {
    delay.wire = hal::from_seconds(f.bytes_per_s / f.packets_hz * 10 / s.baud);
  }
  if (s.line != hal::Line::uart) {
    delay.adapter = s.latency == hal::Latency::low ? kUsbLowTimer : kUsbTimer;
  }
  return delay;
}

double rate_of(const Sensor& s, const drivers::Figures& f) {
  if (s.driver->kind == drivers::Kind::imu || s.emit.by == Emit::By::chunk) return f.packets_hz;
  return f.turns_hz * s.emit.subdivisions;
}

std::size_t points_of(const Sensor& s, const drivers::Figures& f) {
  if (s.driver->kind == drivers::Kind::imu) return 0;
  double parts = s.emit.subdivisions;
  if (s.emit.by == Emit::By::chunk && f.turns_hz > 0) parts = f.packets_hz / f.turns_hz;
  const double points = static_cast<double>(f.beams_per_turn) / std::max(parts, 1.0);
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(points)));
}

bool waited_for(const Stack& stack, const Sensor& s, const Sensor& by) {
  if (s.role == Role::passthrough || by.role == Role::passthrough) return false;
  return !stack.collation.by_trajectory || s.trajectory == by.trajectory;
}

}  // namespace
}  // namespace config
