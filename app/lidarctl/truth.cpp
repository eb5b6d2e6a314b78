#include "app/lidarctl/truth.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>

#include "app/lidarctl/commands.h"

namespace lidarctl {
namespace {

constexpr std::int64_t kWindow = 100'000'000;  // ns; a stamp that is off by more matches nothing
constexpr double kSameAngle = 0.5 * std::numbers::pi / 180;
constexpr double kFineAngle = 0.05 * std::numbers::pi / 180;

}  // namespace

double SensorPose::angle_of(float x, float y, float z) const {
  const auto [qx, qy, qz, qw] = rotation;
  const double d[3] = {x - translation[0], y - translation[1], z - translation[2]};
  // Rotated by the conjugate: v + 2w (u x v) + 2 u x (u x v) with u = -(qx, qy, qz).
  const double u[3] = {-qx, -qy, -qz};
  const double c[3] = {u[1] * d[2] - u[2] * d[1], u[2] * d[0] - u[0] * d[2],
                       u[0] * d[1] - u[1] * d[0]};
  const double e[2] = {u[1] * c[2] - u[2] * c[1], u[2] * c[0] - u[0] * c[2]};
  return std::atan2(d[1] + 2 * qw * c[1] + 2 * e[1], d[0] + 2 * qw * c[0] + 2 * e[0]);
}

Truth::Truth(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Failure(kNoInput, path + ": there is no such truth file");
  for (std::string line; std::getline(file, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_discarded() || !json.contains("type")) continue;
    if (json["type"] == "imu") {
      samples_.push_back(json["t_ns"].get<std::int64_t>());
      continue;
    }
    for (const auto& beam : json["beams"]) {
      beams_.push_back({beam[0].get<std::int64_t>(), beam[1].get<double>()});
    }
  }
  std::ranges::sort(beams_, {}, &Beam::at);
  std::ranges::sort(samples_);
}

std::optional<std::int64_t> Truth::beam_error(std::int64_t inner_ns, double angle) const {
  std::optional<std::int64_t> best;
  double best_apart = kSameAngle;
  for (auto beam = std::ranges::lower_bound(beams_, inner_ns - kWindow, {}, &Beam::at);
       beam != beams_.end() && beam->at <= inner_ns + kWindow; ++beam) {
    // Beams of one turn are told apart by their angle, the same beam of two turns by its time.
    const double apart = std::abs(std::remainder(beam->angle - angle, 2 * std::numbers::pi));
    const std::int64_t error = inner_ns - beam->at;
    const bool nearer = best && std::abs(error) < std::abs(*best);
    if (apart > best_apart + kFineAngle) continue;
    if (best && apart > best_apart - kFineAngle && !nearer) continue;
    best = error;
    best_apart = std::min(apart, best_apart);
  }
  return best;
}

std::optional<std::int64_t> Truth::sample_error(std::int64_t inner_ns) const {
  const auto after = std::ranges::lower_bound(samples_, inner_ns);
  std::optional<std::int64_t> best;
  if (after != samples_.end()) best = inner_ns - *after;
  if (after != samples_.begin()) {
    const std::int64_t error = inner_ns - *std::prev(after);
    if (!best || std::abs(error) < std::abs(*best)) best = error;
  }
  if (best && std::abs(*best) > kWindow) return std::nullopt;
  return best;
}

}  // namespace lidarctl
