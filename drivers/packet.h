// What drivers produce: the only thing of drivers/ that the data path of collation/ sees.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "drivers/lifecycle.h"
#include "hal/time.h"

namespace drivers {

using SensorId = std::uint16_t;  // index of an output in the configured list

struct Beam {
  float angle;      // rad, counter-clockwise seen from above, 0 = the device's front; any turn
  float range;      // m; 0 = no return
  float intensity;  // the device's own number; meaningless unless the slice has intensities
};

// A further return of a beam, behind the one that stands in Beam.
struct Echo {
  float range;      // m; 0 = no further return
  float intensity;  // as in Beam
};

// Consecutive beams of one 2D lidar in the order of acquisition, measured at a constant step: a
// part of a turn or a whole scan. `beams` and `echoes` are valid only during the call that delivers
// them.
struct ScanSlice {
  static constexpr std::uint16_t kWhereItJumps = 0xFFFF;

  hal::Time first{};         // when beams[0] was measured
  hal::Duration step{};      // between two beams
  bool starts_turn = false;  // the device passed its turn boundary within or just before this slice
  bool has_intensity = false;
  // The first beam of that turn, where the device tells: its angles may be corrected by the
  // distance, and then jump elsewhere and back.
  std::uint16_t turn_at = kWhereItJumps;
  std::optional<std::int64_t> device_ns{};  // the frame's own stamp, unwrapped, unmapped
  std::span<const Beam> beams{};            // of each, the first return
  // The further returns, for devices that tell them: as many places for every beam, beam after
  // beam, in the device's order. Empty: one return per beam.
  std::span<const Echo> echoes{};

  std::span<const Echo> echoes_of(std::size_t beam) const {
    const std::size_t places = beams.empty() ? 0 : echoes.size() / beams.size();
    return echoes.subspan(beam * places, places);
  }
  hal::Time last() const { return first + step * (static_cast<std::int64_t>(beams.size()) - 1); }
};

// What an inertial sensor sent together. Body axes forward-left-up, world east-north-up.
struct ImuSample {
  using Vector = std::array<double, 3>;
  hal::Time at{};
  std::optional<std::int64_t> device_ns{};
  std::optional<Vector> accel{};                       // m/s^2, specific force: +9.8 up at rest
  std::optional<Vector> gyro{};                        // rad/s
  std::optional<std::array<double, 4>> orientation{};  // x y z w, body to world
  std::optional<Vector> mag{};                         // T
  std::optional<double> pressure{};                    // Pa
  std::optional<double> temperature{};                 // deg C
  std::optional<Vector> delta_velocity{};              // m/s over the device's interval
  std::optional<Vector> delta_angle{};                 // rad over the device's interval
  hal::Duration interval{};                            // that of the deltas; 0: not known

  // As new. What is empty is not written: that is most of it.
  void clear() {
    at = {};
    device_ns.reset();
    accel.reset();
    gyro.reset();
    orientation.reset();
    mag.reset();
    pressure.reset();
    temperature.reset();
    delta_velocity.reset();
    delta_angle.reset();
    interval = {};
  }
};

using Packet = std::variant<ScanSlice, ImuSample>;

class PacketSink {
 public:
  // `arrival`: of the packet's last byte. Stamps of one sensor strictly increase.
  virtual void on_packet(SensorId, const Packet&, hal::Time arrival) = 0;
  virtual void on_state(SensorId, State, hal::Time now) = 0;

 protected:
  ~PacketSink() = default;
};

}  // namespace drivers
