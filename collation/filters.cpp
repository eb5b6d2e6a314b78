#include "collation/filters.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace collation {

namespace {

// Whether the line from `far` to `near` is closer to the beam of `far` than the angle whose squared
// cosine is given.
bool is_veiled(const Eigen::Vector3f& to_sensor, const Eigen::Vector3f& to_near,
               float cos_squared) {
  const float along = to_sensor.dot(to_near);
  return along > 0 && along * along > cos_squared * to_sensor.squaredNorm() * to_near.squaredNorm();
}

}  // namespace

void mark_box(const BoxFilter& filter, std::span<const TimedPoint> points, Marks drop) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Eigen::Array3f p = filter.tracking_from_points * points[i].position;
    drop[i] |= (p >= filter.min.array()).all() && (p <= filter.max.array()).all();
  }
}

void mark_shadow(const ShadowFilter& filter, const Eigen::Vector3f& origin,
                 std::span<const TimedPoint> points, std::span<const Return> returns, Marks drop) {
  const float cosine = std::cos(filter.min_angle);
  const auto window = static_cast<std::uint32_t>(filter.window);
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t k = i + 1; k < points.size() && returns[k].beam - returns[i].beam <= window;
         ++k) {
      const bool is_nearer = returns[i].range < returns[k].range;
      const std::size_t far = is_nearer ? k : i, near = is_nearer ? i : k;
      drop[far] |= is_veiled(origin - points[far].position,
                             points[near].position - points[far].position, cosine * cosine);
    }
  }
}

void mark_speckle(const SpeckleFilter& filter, std::span<const TimedPoint> points,
                  std::span<const Return> returns, Marks drop) {
  const float squared = filter.distance * filter.distance;
  const auto window = static_cast<std::uint32_t>(filter.window);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    while (returns[i].beam - returns[begin].beam > window) ++begin;
    int found = -1;  // it finds itself
    for (std::size_t k = begin; k < points.size() && found < filter.neighbours; ++k) {
      if (returns[k].beam > returns[i].beam + window) break;
      found += (points[k].position - points[i].position).squaredNorm() <= squared;
    }
    drop[i] |= found < filter.neighbours;
  }
}

void smooth(const MedianFilter& filter, const Eigen::Vector3f& origin, std::span<TimedPoint> points,
            std::span<Return> returns, std::span<float> scratch) {
  const auto side = static_cast<std::uint32_t>(filter.window / 2);
  std::array<float, MedianFilter::kLargest> sorted;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    while (returns[i].beam - returns[begin].beam > side) ++begin;
    std::size_t n = 0;
    for (std::size_t k = begin; k < points.size(); ++k) {
      if (returns[k].beam > returns[i].beam + side) break;
      std::size_t at = n++;
      for (; at > 0 && sorted[at - 1] > returns[k].range; --at) sorted[at] = sorted[at - 1];
      sorted[at] = returns[k].range;
    }
    scratch[i] = sorted[(n - 1) / 2];
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (scratch[i] == returns[i].range) continue;
    Eigen::Vector3f& position = points[i].position;
    position = origin + (position - origin) * (scratch[i] / returns[i].range);
    returns[i].range = scratch[i];
  }
}

void mark_decimated(const Decimation& filter, std::span<const Return> returns, Marks drop) {
  const auto every = static_cast<std::uint32_t>(filter.every);
  for (std::size_t i = 0; i < returns.size(); ++i) drop[i] |= returns[i].beam % every != 0;
}

}  // namespace collation
