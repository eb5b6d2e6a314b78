#include "collation/cloud_converter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

namespace collation {

namespace {

using Limits = std::numeric_limits<float>;

constexpr double kAngleTolerance = 1e-5;  // rad, so that a window includes its own ends
constexpr std::size_t kChosen = 64;       // beams whose returns are chosen at one time
constexpr double kRound = 0x1.8p52;       // added and subtracted: rounds to an integer

Eigen::Vector4f four(const Eigen::Vector3f& v) { return {v.x(), v.y(), v.z(), 0}; }

struct Direction {
  float cosine, sine;
};

// Within 1e-7 of the truth, which is what a float can hold: the angle is reduced to an eighth of a
// turn to both sides of the nearest multiple of a quarter, where the Taylor series to the 9th and
// 8th power leave out less than 3e-8. Sine and cosine side by side; a third of the library's time.
Direction direction_of(float angle) {
  using Pair = Eigen::Array2d;  // sine, cosine
  if (!(std::abs(angle) < 1e6F)) return {std::cos(angle), std::sin(angle)};
  const double a = static_cast<double>(angle);
  const double shifted = a * (2 / std::numbers::pi) + kRound;
  const double x = a - (shifted - kRound) * (std::numbers::pi / 2), x2 = x * x;
  constexpr double k2 = 1.0 / 2, k3 = k2 / 3, k4 = k3 / 4, k5 = k4 / 5, k6 = k5 / 6, k7 = k6 / 7,
                   k8 = k7 / 8, k9 = k8 / 9;  // 1 / n!
  const Pair series = Pair(k3, k2) - x2 * (Pair(k5, k4) - x2 * (Pair(k7, k6) - x2 * Pair(k9, k8)));
  const Pair first(x, 1);
  const Eigen::Array2f both = (first - x2 * first * series).cast<float>();
  const auto quarter = static_cast<unsigned>(std::bit_cast<std::uint64_t>(shifted));
  const float c = both[~quarter & 1], s = both[quarter & 1];
  return {(quarter + 1) & 2 ? -c : c, quarter & 2 ? -s : s};
}

}  // namespace

std::size_t CloudConverter::places(const CloudOptions& options, std::size_t max_points) {
  return std::max(options.beams_per_turn, max_points);
}

std::size_t CloudConverter::bytes(const CloudOptions& options, std::size_t max_points) {
  return places(options, max_points) * sizeof(Ray) + max_points * sizeof(Return) +
         FilterChain::bytes(options.filters, max_points);
}

CloudConverter::CloudConverter(const CloudOptions& options, std::size_t max_points)
    : options_(options),
      nearest_(std::max(options.min_range, Limits::denorm_min())),
      farthest_(std::min(options.max_range, Limits::max())),
      x_axis_(four(options.tracking_from_sensor.linear().col(0))),
      y_axis_(four(options.tracking_from_sensor.linear().col(1))),
      origin_(four(options.tracking_from_sensor.translation())),
      places_(places(options, max_points)),
      rays_(std::make_unique<Ray[]>(places_)),
      returns_(max_points),
      filters_(options.filters, max_points) {
  for (const AngleWindow& window : options.windows) {
    const double half = static_cast<double>(window.width) / 2;
    sectors_.push_back({static_cast<double>(window.from) + half, half + kAngleTolerance});
  }
  std::fill_n(rays_.get(), places_, Ray{Eigen::Vector4f::Constant(Limits::quiet_NaN())});
}

void CloudConverter::begin(TimedPointCloud& cloud) {
  cloud.clear();
  cloud.origin = origin_.head<3>();
  returns_.clear();
}

void CloudConverter::append(const drivers::ScanSlice& slice, std::size_t from, std::size_t to,
                            hal::Duration age, std::size_t index, std::size_t place,
                            TimedPointCloud& cloud, CloudStats& stats) {
  while (from < to) {
    place %= places_;
    std::size_t size = std::min(to - from, places_ - place);
    Part part{slice.beams.subspan(from, size), slice.has_intensity, age, slice.step, index, place};
    if (slice.echoes.empty()) {
      convert(part, cloud, stats);
    } else {
      size = std::min(size, kChosen);
      part.beams = part.beams.first(size);
      append_chosen(slice, from, part, cloud, stats);
    }
    from += size, index += size, place += size;
    age += slice.step * static_cast<std::int64_t>(size);
  }
}

void CloudConverter::append_chosen(const drivers::ScanSlice& slice, std::size_t from, Part part,
                                   TimedPointCloud& cloud, CloudStats& stats) {
  std::array<drivers::Beam, kChosen> chosen;
  for (std::size_t i = 0; i < part.beams.size(); ++i) {
    chosen[i] = choose(part.beams[i], slice.echoes_of(from + i), part.has_intensity);
  }
  part.beams = std::span(chosen).first(part.beams.size());
  convert(part, cloud, stats);
}

// Without any return in the window, the first one tells why.
drivers::Beam CloudConverter::choose(const drivers::Beam& first,
                                     std::span<const drivers::Echo> echoes,
                                     bool has_intensity) const {
  drivers::Beam best = first;
  bool found = is_in_range(first.range);
  for (const drivers::Echo& echo : echoes) {
    if (!is_in_range(echo.range)) continue;
    const bool is_better = !found || options_.echo == EchoChoice::last ||
                           (options_.echo == EchoChoice::strongest && has_intensity &&
                            echo.intensity > best.intensity);
    if (is_better) best = {first.angle, echo.range, echo.intensity};
    found = true;
  }
  return best;
}

void CloudConverter::convert(Part part, TimedPointCloud& cloud, CloudStats& stats) {
  const bool keeps_beams = cloud.beams.capacity() > 0;
  if (keeps_beams) {
    cloud.beams.resize(part.index + part.beams.size());
    std::ranges::copy(part.beams, cloud.beams.begin() + part.index);
  }
  const float nearest = nearest_, farthest = farthest_;
  const bool has_intensity = part.has_intensity;
  const float weakest = options_.min_intensity;
  const bool takes_weak = !has_intensity || !(weakest > 0);
  const Eigen::Vector4f origin = origin_;
  learn(part.beams, part.place);
  const Ray* ray = &rays_[part.place];
  TimedPoint* point = cloud.points.end();
  Return* kept = returns_.end();
  auto index = static_cast<std::uint32_t>(part.index);
  hal::Duration age = part.age;
  for (const drivers::Beam& beam : part.beams) {
    const bool passes = beam.range >= nearest && beam.range <= farthest && ray->is_inside() &&
                        (takes_weak || beam.intensity >= weakest);
    if (passes) {
      const Eigen::Vector4f place = origin + ray->lanes * beam.range;
      static_assert(offsetof(TimedPoint, time) == 3 * sizeof(float));
      std::memcpy(static_cast<void*>(point), place.data(), sizeof place);  // the time comes later
      point->intensity = has_intensity ? beam.intensity : 0;
      *kept++ = {age, index, beam.range};
      ++point;
    } else {
      refuse(beam, ray->is_inside(), keeps_beams ? &cloud.beams[index] : nullptr, stats);
    }
    ++ray, ++index;
    age += part.step;
  }
  cloud.points.resize(static_cast<std::size_t>(point - cloud.points.begin()));
  returns_.resize(cloud.points.size());
}

// An angle that is no number never equals itself, so it is always learnt anew. The angle is added
// as a lane, not put in its place: lanes that are written one by one stall the next read.
void CloudConverter::learn(std::span<const drivers::Beam> beams, std::size_t place) {
  for (const drivers::Beam& beam : beams) {
    Ray& ray = rays_[place++];
    const float angle = beam.angle;
    if (ray.angle() == angle) continue;
    if (!std::isfinite(angle) || !(sectors_.empty() || holds(angle))) {
      ray.lanes = {Limits::quiet_NaN(), 0, 0, angle};
      continue;
    }
    const Direction direction = direction_of(angle);
    ray.lanes =
        x_axis_ * direction.cosine + y_axis_ * direction.sine + Eigen::Vector4f::UnitW() * angle;
  }
}

inline bool CloudConverter::holds(float angle) const {
  constexpr double kTurn = 2 * std::numbers::pi;
  return std::ranges::any_of(sectors_, [angle](const Sector& sector) {
    const double off = static_cast<double>(angle) - sector.middle;
    return std::abs(off - kTurn * (off * (1 / kTurn) + kRound - kRound)) <= sector.half;
  });
}

// Counts why a beam gives no point. In the scan `shown`, if any, no return and what is out of range
// stay as they are, but outside the windows nothing is known.
void CloudConverter::refuse(const drivers::Beam& beam, bool is_inside, drivers::Beam* shown,
                            CloudStats& stats) const {
  if (shown && !is_inside) shown->range = Limits::quiet_NaN();
  if (beam.range == 0) {
    ++stats.no_return;
    return;
  }
  const bool is_valid = std::isfinite(beam.angle) && std::isfinite(beam.range) && beam.range > 0;
  if (is_valid && !is_in_range(beam.range)) {
    ++stats.out_of_range;
    return;
  }
  ++(!is_valid ? stats.invalid : is_inside ? stats.weak : stats.out_of_angle);
  if (shown) shown->range = Limits::quiet_NaN();
}

void CloudConverter::finish(hal::Duration span, TimedPointCloud& cloud, CloudStats& stats) {
  const std::size_t size = cloud.points.size();
  for (std::size_t i = 0; i < size; ++i) {
    cloud.points[i].time = static_cast<float>(hal::to_seconds(returns_[i].age - span));
  }
  filters_.apply(cloud, returns_, stats);
  stats.points += cloud.points.size();
}

}  // namespace collation
