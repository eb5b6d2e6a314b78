// What a scan of SCIP measured: beams, further returns, and how long a turn lasts.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "drivers/hokuyo_scip/scip_text.h"
#include "drivers/packet.h"

namespace drivers::scip {

// What PP tells. Steps count counter-clockwise; `front` is that at angle 0. Distances that are less
// than the least or more than the most are error codes.
struct Geometry {
  int steps_per_turn, first, last, front;
  double turns_per_minute;
  unsigned least_mm, most_mm;

  bool operator==(const Geometry&) const = default;
  double turn_s() const { return 60 / turns_per_minute; }
  bool is_sane() const;
};

// Of models that are configured, or assumed.
struct Model {
  std::string_view name;
  Geometry geometry;
};
inline constexpr std::array kModels{
    Model{"URG-04LX", {1024, 44, 725, 384, 600, 20, 5600}},
    Model{"UBG-04LX", {1024, 44, 725, 384, 60e3 / 28, 20, 5600}},
    Model{"UTM-30LX", {1440, 0, 1080, 540, 2400, 23, 60'000}},
    Model{"UST-10LX", {1440, 0, 1080, 540, 2400, 20, 30'000}},
};
const Geometry* geometry_of(std::string_view model);  // null: unknown
const Geometry& assumed_geometry(int last_step);      // nobody told: the URG has the fewest steps

class ScanReader {
 public:
  // Of an intact frame with a scan. False: its echoes do not fit its steps. The views below are
  // valid until the next.
  bool read(const Head& head, const Steps& steps, Bytes frame, const Geometry& geometry);

  std::span<const Beam> beams() const { return std::span(beams_).first(steps_.n); }
  std::span<const Echo> echoes() const {  // kMostEchoes of each beam, or none
    return std::span(echoes_).first(has_echoes_ ? kMostEchoes * steps_.n : 0);
  }

 private:
  void aim(const Steps& steps, const Geometry& geometry);
  template <std::size_t kDistance, std::size_t kIntensity>
  void read_single();
  bool read_echoes(std::size_t width, std::size_t characters);
  float metres(unsigned mm) const;

  Steps steps_{};
  Geometry geometry_{};
  bool has_echoes_ = false;
  std::array<std::byte, ScipFraming::kMaxFrame> characters_{};  // without the checks
  std::array<Beam, kMostBeams> beams_{};                        // angles stay
  std::array<Echo, kMostEchoes * kMostBeams> echoes_{};
};

// The nominal length of a turn, as long as the stamps agree.
class TurnLength {
 public:
  void begin(double nominal_s);
  void see(std::int64_t stamp_ms);  // of each scan; wraps at 2^24
  bool is_known() const { return length_ > hal::Duration{}; }
  hal::Duration length() const { return length_; }

 private:
  double nominal_ms_ = 0;
  std::int64_t last_ms_ = -1;              // -1: none yet
  std::int64_t since_ms_ = 0, turns_ = 0;  // counted for the length
  hal::Duration length_{};
};

}  // namespace drivers::scip
