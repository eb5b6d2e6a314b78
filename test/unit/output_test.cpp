#include "app/output.h"

#include <cmath>
#include <numbers>

#include "test/support/harness.h"
#include "test/support/message_log.h"
#include "test/support/small_stack.h"

using namespace std::chrono_literals;
using test::MessageLog;

namespace {

constexpr std::int64_t kOffset = 1'700'000'000'000'000'000;
constexpr drivers::SensorId kLidar = 0, kImu = 1;
const hal::Time t0 = hal::from_ns(1'000'000'000'000);

// Three beams, 10 ms apart, the last at `at`; the middle one has no return.
void fill(collation::TimedPointCloud& cloud, hal::Time at) {
  cloud.clear();
  cloud.first = at - 20ms;
  cloud.at = at;
  cloud.step = 10ms;
  cloud.has_intensity = true;
  cloud.points.push_back({{1, 2, 3}, -0.02F, 7});
  cloud.points.push_back({{4, 5, 6}, 0, 8});
  cloud.beams.push_back({0.1F, 1, 7});
  cloud.beams.push_back({0.2F, 0, 0});
  cloud.beams.push_back({0.3F, 2, 8});
  cloud.beam_count = 3;
}

config::Plan plan() {
  config::Plan result;
  result.sensors.resize(2);
  result.sensors[0].points = 10;
  return result;
}

}  // namespace

TEST_GROUP(Output) {
  MessageLog log;
  app::OutputTime time;
  config::Stack stack;
  collation::TimedPointCloud cloud{10, true};
  std::unique_ptr<app::Output> output;

  void make(const std::string& lidar = "", const std::string& imu = "") {
    stack = test::small_stack(lidar, imu);
    time.set_pass(t0);
    time.set_offset(kOffset);
    output = std::make_unique<app::Output>(stack, plan(), log, time);
    CHECK_TRUE(static_cast<bool>(output->status()));
  }
  void send(hal::Time at) {
    fill(cloud, at);
    output->add_sensor_data(kLidar, cloud);
  }
  void send_imu(hal::Time at) {
    collation::ImuData imu;
    imu.at = at;
    imu.linear_acceleration = {1, 2, 3};
    imu.angular_velocity = {4, 5, 6};
    output->add_sensor_data(kImu, imu);
  }
  app::PointCloud points() { return *app::decode_point_cloud(newest("/front/points")); }
  app::LaserScan scan() { return *app::decode_laser_scan(newest("/front/scan")); }
  hal::Bytes newest(const char* topic) {
    const auto all = log.on(topic);
    CHECK_FALSE(all.empty());
    return log.bytes_of(all.back());
  }
};

TEST(Output, EverySensorHasItsTopics) {
  make();
  CHECK_TRUE((log.topics ==
              std::vector<std::string>{"/front/points", "/front/scan", "/body/imu", "/tf_static"}));
  CHECK_TRUE((log.types ==
              std::vector<std::string>{"sensor_msgs/msg/PointCloud2", "sensor_msgs/msg/LaserScan",
                                       "sensor_msgs/msg/Imu", "tf2_msgs/msg/TFMessage"}));
  CHECK_EQUAL(0, log.latched[0]);
  CHECK_TRUE(log.latched[3] > 0);
}

TEST(Output, ChannelsThatAreNotWantedAreNotThere) {
  make("    outputs: [points]\n");
  CHECK_EQUAL(3, log.topics.size());
  send(t0);
  CHECK_EQUAL(1, log.messages().size());
}

TEST(Output, AnErrorOfTheSinkIsTheStatus) {
  struct Full final : app::MessageSink {
    hal::Result<app::ChannelId> add_channel(std::string_view, const app::MessageType&,
                                            std::size_t) override {
      return hal::Error{hal::Errc::no_space, 0, "full", {}};
    }
    std::span<std::byte> scratch() override { return {}; }
    void publish(app::ChannelId, std::int64_t, std::int64_t, hal::Bytes) override {}
  } full;
  const config::Stack small = test::small_stack();
  CHECK_FALSE(static_cast<bool>(app::Output(small, plan(), full, time).status()));
}

TEST(Output, ACloudIsStampedAtItsLastPointWithTimesBeforeIt) {
  make();
  send(t0 - 30ms);
  const std::int64_t at = hal::to_ns(t0 - 30ms) + kOffset;
  const app::PointCloud c = points();
  CHECK_EQUAL(at, c.header.unix_ns);
  CHECK_EQUAL(2, c.points.size());
  DOUBLES_EQUAL(-0.02, c.points[0].time, 1e-6);
  DOUBLES_EQUAL(0, c.points[1].time, 0);
  DOUBLES_EQUAL(5, c.points[1].y, 0);
  DOUBLES_EQUAL(8, c.points[1].intensity, 0);
  const MessageLog::Message m = log.on("/front/points")[0];
  CHECK_EQUAL(at, m.log_time);
  CHECK_EQUAL(hal::to_ns(t0) + kOffset, m.publish_time);
}

TEST(Output, TimeReferenceStartStampsTheFirstBeam) {
  make("    time_reference: start\n");
  send(t0);
  const app::PointCloud c = points();
  CHECK_EQUAL(hal::to_ns(t0 - 20ms) + kOffset, c.header.unix_ns);
  DOUBLES_EQUAL(0, c.points[0].time, 1e-6);
  DOUBLES_EQUAL(0.02, c.points[1].time, 1e-6);
  CHECK_EQUAL(hal::to_ns(t0) + kOffset, log.on("/front/points")[0].log_time);
}

TEST(Output, AScanIsStampedAtItsFirstRay) {
  make("    min_range: 0.05\n    max_range: 12\n");
  send(t0);
  const app::LaserScan s = scan();
  CHECK_EQUAL(hal::to_ns(t0 - 20ms) + kOffset, s.header.unix_ns);
  CHECK_EQUAL(hal::to_ns(t0) + kOffset, log.on("/front/scan")[0].log_time);
  DOUBLES_EQUAL(0.01, s.time_increment, 1e-7);
  DOUBLES_EQUAL(0.03, s.scan_time, 1e-7);
  DOUBLES_EQUAL(0.05, s.range_min, 1e-6);
  DOUBLES_EQUAL(12, s.range_max, 1e-6);
  DOUBLES_EQUAL(0.1, s.angle_min, 1e-6);
  DOUBLES_EQUAL(0.1, s.angle_increment, 1e-6);
  CHECK_EQUAL(3, s.ranges.size());
  DOUBLES_EQUAL(1, s.ranges[0], 0);
  CHECK_TRUE(std::isinf(s.ranges[1]));
  DOUBLES_EQUAL(8, s.intensities[2], 0);
}

TEST(Output, FramesAreTheTrackingFrameOrTheSensors) {
  make();
  send(t0);
  CHECK_TRUE(points().header.frame == "base");
  CHECK_TRUE(scan().header.frame == "front");
  send_imu(t0);
  CHECK_TRUE(app::decode_imu(newest("/body/imu"))->header.frame == "base");
}

TEST(Output, TheSensorsOwnFrameIsNamedAfterIt) {
  make("    frame: sensor\n");
  send(t0);
  CHECK_TRUE(points().header.frame == "front");
}

TEST(Output, WithoutIntensitiesThePointsHaveZeroAndTheScanNone) {
  make();
  fill(cloud, t0);
  cloud.has_intensity = false;
  output->add_sensor_data(kLidar, cloud);
  DOUBLES_EQUAL(0, points().points[0].intensity, 0);
  CHECK_TRUE(scan().intensities.empty());
}

TEST(Output, AnImuMessageHasWhatTheSampleHas) {
  make();
  send_imu(t0);
  const auto imu = app::decode_imu(newest("/body/imu"));
  CHECK_FALSE(imu->orientation.has_value());
  DOUBLES_EQUAL(2, (*imu->linear_acceleration)[1], 0);
  DOUBLES_EQUAL(6, (*imu->angular_velocity)[2], 0);
}

TEST(Output, OnlyAnOrientationThatIsNotThereIsUnknown) {
  make();
  send_imu(t0);
  const hal::Bytes bytes = newest("/body/imu");
  app::CdrReader r(bytes);
  r.read<std::int32_t>(), r.read<std::uint32_t>(), r.string();
  std::array<double, 4 + 9 + 3 + 9 + 3 + 9> numbers{};
  for (double& n : numbers) n = r.read<double>();
  CHECK_TRUE(r.ok());
  DOUBLES_EQUAL(-1, numbers[4], 0);
  DOUBLES_EQUAL(0, numbers[4 + 9 + 3], 0);
  DOUBLES_EQUAL(0, numbers[4 + 9 + 3 + 9 + 3], 0);
}

TEST(Output, ReadingsThatAreAskedForHaveTopics) {
  make("", "    readings: [mag, pressure, temperature]\n");
  const std::vector<std::string> expected{"/front/points", "/front/scan",    "/body/imu",
                                          "/body/mag",     "/body/pressure", "/body/temperature",
                                          "/tf_static"};
  CHECK_TRUE(log.topics == expected);
  CHECK_TRUE(log.types[3] == "sensor_msgs/msg/MagneticField");
  CHECK_TRUE(log.types[4] == "sensor_msgs/msg/FluidPressure");
  CHECK_TRUE(log.types[5] == "sensor_msgs/msg/Temperature");
  collation::ImuData imu;
  imu.at = t0 - 5ms;
  imu.readings = {Eigen::Vector3d(1e-5, -2e-5, 3e-5), 101'325, 31.5};
  output->add_sensor_data(kImu, imu);
  const std::int64_t at = hal::to_ns(t0 - 5ms) + kOffset;
  const auto mag = app::decode_magnetic_field(newest("/body/mag"));
  DOUBLES_EQUAL(-2e-5, mag->field[1], 0);
  CHECK_TRUE(mag->header.frame == "base");
  CHECK_EQUAL(at, mag->header.unix_ns);
  DOUBLES_EQUAL(101'325, app::decode_fluid_pressure(newest("/body/pressure"))->pressure, 0);
  DOUBLES_EQUAL(31.5, app::decode_temperature(newest("/body/temperature"))->temperature, 0);
  for (const MessageLog::Message& m : log.messages()) CHECK_EQUAL(at, m.log_time);
  CHECK_EQUAL(4, log.messages().size());
  CHECK_EQUAL(1, output->stats(kImu).messages);
}

TEST(Output, ARateThatIsNotMeasuredIsUnknown) {
  make();
  collation::ImuData imu;
  imu.at = t0;
  imu.linear_acceleration = {0, 0, 9.8};
  imu.orientation = Eigen::Quaterniond::Identity();
  imu.without_rate = true;
  output->add_sensor_data(kImu, imu);
  const auto message = app::decode_imu(newest("/body/imu"));
  CHECK_FALSE(message->angular_velocity.has_value());
  CHECK_TRUE(message->linear_acceleration.has_value() && message->orientation.has_value());
}

TEST(Output, ReadingsAloneAreNoImuMessage) {
  make("", "    readings: [temperature]\n");
  collation::ImuData imu;
  imu.at = t0;
  imu.readings.temperature = -3;
  imu.readings_only = true;
  output->add_sensor_data(kImu, imu);
  CHECK_EQUAL(1, log.messages().size());
  CHECK_EQUAL(1, log.on("/body/temperature").size());
  CHECK_EQUAL(1, output->stats(kImu).messages);
}

TEST(Output, LogTimeNeverFallsWhenTheOffsetIsSlewedBack) {
  make();
  send_imu(t0);
  time.set_pass(t0 + 1ms);
  time.set_offset(kOffset - 5'000'000);
  send_imu(t0 + 1ms);
  send(t0 + 2ms);
  send_imu(t0 + 9ms);
  std::int64_t newest_time = 0;
  for (const MessageLog::Message& m : log.messages()) {
    CHECK_TRUE(m.log_time >= newest_time);
    newest_time = m.log_time;
  }
  CHECK_EQUAL(hal::to_ns(t0 + 4ms) + kOffset, newest_time);
}

TEST(Output, ANewSegmentMayBeginEarlier) {
  make();
  send_imu(t0);
  time.set_offset(kOffset - 3'600'000'000'000);
  time.begin_segment();
  send_imu(t0 + 1ms);
  CHECK_EQUAL(hal::to_ns(t0 + 1ms) + kOffset - 3'600'000'000'000, log.messages().back().log_time);
}

TEST(Output, TransformsTellWhereEverySensorIs) {
  make("    pose: {xyz: [1, 2, 3], rpy_deg: [0, 0, 90]}\n");
  output->publish_transforms();
  app::TransformReader reader(newest("/tf_static"));
  const auto front = reader.next();
  CHECK_TRUE(front->child_frame == "front" && front->header.frame == "base");
  DOUBLES_EQUAL(3, front->translation[2], 0);
  DOUBLES_EQUAL(std::numbers::sqrt2 / 2, front->rotation[2], 1e-12);
  DOUBLES_EQUAL(std::numbers::sqrt2 / 2, front->rotation[3], 1e-12);
  CHECK_TRUE(reader.next()->child_frame == "body");
  CHECK_FALSE(reader.next().has_value());
  CHECK_TRUE(reader.ok());
}

TEST(Output, CountsWhatLeft) {
  make();
  send(t0);
  send(t0 + 1s);
  CHECK_EQUAL(2, output->stats(kLidar).messages);
  CHECK_EQUAL(4, output->stats(kLidar).points);
}

TEST(Output, APassthroughSensorDoesNotMoveTheOthers) {
  make("", "    role: passthrough\n");
  send_imu(t0);
  send(t0 - 30ms);
  CHECK_EQUAL(hal::to_ns(t0 - 30ms) + kOffset, log.messages().back().log_time);
}

TEST(Output, WhatIsNotMeasuredStandsBetweenWhatLeftAndWhatMayCome) {
  make();
  output->publish_transforms();
  CHECK_TRUE(log.messages().back().log_time <= hal::to_ns(t0 - 1s) + kOffset);
  send(t0 - 30ms);
  output->publish_transforms();
  CHECK_EQUAL(hal::to_ns(t0 - 30ms) + kOffset, log.messages().back().log_time);
  CHECK_EQUAL(hal::to_ns(t0) + kOffset, log.messages().back().publish_time);
}
