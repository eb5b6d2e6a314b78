#include "test/sim/ydlidar_sampler.h"

#include <algorithm>
#include <cmath>

#include "test/sim/room.h"

namespace sim::ydlidar {
namespace {

constexpr unsigned kDarkest = 10;  // some light comes back without a distance, too

}  // namespace

double Sampler::carried_mm(double range) const {
  const double step = distance_step_mm(carriage_.form, carriage_.unit);
  return std::round(range * 1000.0 / step) * step;
}

Ray Sampler::cast(double raw_deg, double off_m) const {
  if (!carriage_.corrects) {
    const double read = Room::range(radians(-raw_deg));
    return {raw_deg, read > 0.0 ? carried_mm(read + off_m) : 0.0, read > 0.0 ? read + off_m : 0.0};
  }
  // The angle depends on the distance, which depends on the angle: a contraction, from afar.
  double angle = raw_deg + correction_deg(8000.0);
  double mm = carried_mm(Room::range(radians(-angle)));
  for (int i = 0; mm > 0.0 && i < 8; ++i) {
    angle = raw_deg + correction_deg(mm);
    const double again = carried_mm(Room::range(radians(-angle)));
    if (again == mm) break;
    mm = again;
  }
  if (mm == 0.0) return {raw_deg, 0.0, 0.0};
  angle = raw_deg + correction_deg(mm);
  const double range = Room::range(radians(-angle));
  if (range == 0.0) return {raw_deg, 0.0, 0.0};
  return {angle, mm, range};
}

Sample Sampler::sample(const Ray& ray) const {
  Sample sample;
  sample.distance = static_cast<unsigned>(std::lround(ray.mm * units_per_mm(carriage_.unit)));
  sample.flag = carriage_.flag;
  const double light = ray.mm > 0.0 ? std::max(250.0 - ray.mm / 40.0, 20.0) : kDarkest;
  double scale = 1.0;
  if (carriage_.form == Form::intensity10) scale = 4.0;
  if (carriage_.form == Form::intensity16) scale = 200.0;
  sample.intensity = static_cast<unsigned>(light * scale);
  return sample;
}

}  // namespace sim::ydlidar
