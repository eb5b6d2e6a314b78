// Two sensors into one order: a lidar at 10 Hz whose clouds arrive late, an IMU at 50 Hz.
#include <array>
#include <chrono>
#include <cstdio>

#include "collation/cloud_builder.h"
#include "collation/collator.h"

namespace {

using std::chrono::milliseconds;

constexpr drivers::SensorId kLidar = 0, kImu = 1;

class Printer final : public collation::CollatedSink {
 public:
  void add_sensor_data(drivers::SensorId, const collation::TimedPointCloud& cloud) override {
    print(cloud.at, "lidar");
    std::printf(" %zu points\n", cloud.points.size());
  }
  void add_sensor_data(drivers::SensorId, const collation::ImuData& imu) override {
    print(imu.at, "imu");
    std::printf(" %.1f m/s^2\n", imu.linear_acceleration.z());
  }
  void add_sensor_data(drivers::SensorId, const collation::OpaqueMessage& message) override {
    print(message.at, "message");
    std::printf(" %zu bytes\n", message.data.size());
  }

 private:
  static void print(hal::Time at, const char* name) {
    std::printf("%3lld ms %s", static_cast<long long>(at.time_since_epoch() / milliseconds(1)),
                name);
  }
};

hal::Time ms(int n) { return hal::Time(milliseconds(n)); }

}  // namespace

int main() {
  Printer out;
  collation::Collator collator(collation::Policy::live, out);
  std::array<collation::CollatedSensor, 2> sensors{};
  sensors[0] = {kLidar, "lidar", {.capacity = 8, .max_wait = milliseconds(50)}};
  sensors[1] = {kImu, "imu", {.capacity = 64, .max_wait = milliseconds(10)}};
  if (!collator.add_trajectory(0, sensors)) return 1;
  for (const auto& sensor : sensors) {
    collator.on_state(sensor.id, drivers::State::streaming, ms(0));
  }

  collation::CloudPool clouds = collation::make_cloud_pool(16, 360, false);
  collation::CloudBuilder builder({.emit = collation::Emit::chunk}, clouds);
  std::array<drivers::Beam, 3> beams{{{0.F, 1.F, 0.F}, {0.1F, 0.F, 0.F}, {0.2F, 2.F, 0.F}}};

  for (int now = 0; now <= 240; now += 20) {
    collation::ImuData imu;
    imu.at = ms(now);
    imu.linear_acceleration.z() = 9.8;
    collator.add(collation::make_datum(kImu, imu), ms(now));
    if (now % 100 == 40) {  // its last beam was measured 30 ms ago
      drivers::ScanSlice slice;
      slice.first = ms(now - 40);
      slice.step = milliseconds(5);
      slice.beams = beams;
      builder.add(slice, true, [&](collation::CloudPool::Lease cloud) {
        collator.add(collation::make_datum(kLidar, std::move(cloud)), ms(now));
      });
    }
    for (const auto& sensor : sensors) collator.read_empty(sensor.id, ms(now));
    collator.release(ms(now));
  }
  collator.flush();
  return 0;
}
