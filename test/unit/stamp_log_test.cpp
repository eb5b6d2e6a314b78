// The figures of `lidarctl stamps`, from messages made by hand.
#include <cmath>
#include <cstdio>
#include <numbers>

#include "app/lidarctl/stamps.h"
#include "test/sim/truth.h"
#include "test/support/harness.h"
#include "test/support/temp_dir.h"

using lidarctl::SensorFigures;
using lidarctl::StampLog;
using lidarctl::StreamMessage;

namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kOffset = 1'700'000'000'000 * kMs;  // Unix minus inner time
constexpr std::int64_t kStart = kOffset + 5000 * kMs;

class Feed {
 public:
  explicit Feed(StampLog& log) : log_(log) {}

  void imu(std::int64_t at, std::int64_t age = 5 * kMs) {
    app::Imu imu{.header = {at, "base_link"}};
    imu.angular_velocity = app::Vector3{0, 0, 0};
    imu.linear_acceleration = app::Vector3{0, 0, 9.81};
    send("/imu/imu", "sensor_msgs/msg/Imu", app::encode(imu, buffer_), at, at + age, ++imus_);
  }
  void lose_imus(std::uint32_t n) { imus_ += n; }
  // 10 points from 9 ms before `at` on, a quarter turn from `turned` rad on, clockwise.
  void cloud(std::int64_t at, bool from_start = false, double turned = 0) {
    std::vector<app::PointXyzit> points;
    for (int i = 0; i < 10; ++i) {
      const double angle = -turned - i * std::numbers::pi / 18;
      points.push_back({float(2 * std::cos(angle)), float(2 * std::sin(angle)), 0, float(++hits_),
                        float(from_start ? i : i - 9) * 1e-3f});
    }
    const app::PointCloud message{{from_start ? at - 9 * kMs : at, "front"},
                                  app::Packed<app::PointXyzit>(std::span(points))};
    send("/front/points", "sensor_msgs/msg/PointCloud2", app::encode(message, buffer_), at,
         at + 8 * kMs, ++clouds_);
  }
  void offset(std::int64_t when, std::int64_t offset_ns, const char* quality = "locked") {
    app::DiagnosticWriter writer({when, "base_link"}, buffer_);
    writer.status(app::Level::ok, "lidard", "", "");
    writer.value("unix_offset_ns", std::to_string(offset_ns));
    writer.status(app::Level::ok, "imu", "", "");
    writer.value("clock.quality", quality);
    writer.value("clock.drift_ppm", "-12.500");
    send("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", writer.finish(), when, when, 1);
  }
  void wall_step(std::int64_t when) {
    app::DiagnosticWriter writer({when, "base_link"}, buffer_);
    writer.status(app::Level::warn, "lidard", "", "");
    writer.value("event", "wall_step");
    send("/lidard/events", "diagnostic_msgs/msg/DiagnosticArray", writer.finish(), when, when, 1);
  }

 private:
  void send(const std::string& topic, const std::string& type, std::size_t size, std::int64_t log,
            std::int64_t published, std::uint32_t sequence) {
    log_.on_message(StreamMessage{topic,
                                  type,
                                  {.channel = 1,
                                   .sequence = sequence,
                                   .log_time = static_cast<std::uint64_t>(log),
                                   .publish_time = static_cast<std::uint64_t>(published),
                                   .data = hal::Bytes(buffer_).first(size)}});
  }

  StampLog& log_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(1 << 16);
  std::uint32_t imus_ = 0, clouds_ = 0;
  int hits_ = 0;
};

std::uint64_t found(const SensorFigures& figures, app::Check check) {
  return figures.checks.finding(check).count;
}

}  // namespace

TEST_GROUP(StampLog) {
  StampLog log{true};
  Feed feed{log};
  test::TempDir dir;

  SensorFigures of(const char* sensor, double skip_s = 0) {
    return log.figures({}, skip_s).at(sensor);
  }
  // Against a truth in which samples were taken at these inner times.
  SensorFigures compared(const std::vector<std::int64_t>& samples) {
    const std::string path = dir.file("truth");
    std::FILE* const file = std::fopen(path.c_str(), "w");
    sim::TruthWriter truth(file);
    for (const std::int64_t at : samples) truth.write(sim::ImuTruth{hal::from_ns(at), 0, {}, {}});
    std::fclose(file);
    lidarctl::Truths truths;
    truths["imu"] = std::make_unique<lidarctl::Truth>(path);
    return log.figures(truths, 0).at("imu");
  }
};

TEST(StampLog, PeriodJitterAndLatencyAreThoseOfTheStamps) {
  // 10 ms apart, every second one 0.3 ms late.
  for (int i = 0; i < 101; ++i)
    feed.imu(kStart + i * 10 * kMs + (i % 2) * 300'000, 5 * kMs + i * 1000);
  const SensorFigures imu = of("imu");
  STRCMP_EQUAL("imu", imu.kind.c_str());
  CHECK_EQUAL(101, imu.messages);
  DOUBLES_EQUAL(1.0, imu.seconds, 1e-9);
  DOUBLES_EQUAL(0.0, std::abs(imu.period_ms - 10) - 0.3, 1e-9);
  DOUBLES_EQUAL(0.6 / std::sqrt(2.0), imu.jitter_ms, 0.001);
  CHECK_EQUAL(101, imu.latency_ms.n);
  DOUBLES_EQUAL(5.05, imu.latency_ms.p50, 1e-9);
  DOUBLES_EQUAL(5.09, imu.latency_ms.p90, 1e-9);
  DOUBLES_EQUAL(5.099, imu.latency_ms.p99, 1e-9);
  DOUBLES_EQUAL(5.1, imu.latency_ms.max, 1e-9);
}

TEST(StampLog, WhatIsLostOnTheWayIsNoPeriodAndNoGap) {
  for (int i = 0; i < 10; ++i) feed.imu(kStart + i * 10 * kMs);
  feed.lose_imus(30);
  for (int i = 40; i < 50; ++i) feed.imu(kStart + i * 10 * kMs);
  const SensorFigures imu = of("imu");
  CHECK_EQUAL(30, imu.lost);
  CHECK_EQUAL(18, imu.periods_ms.size());
  DOUBLES_EQUAL(0.0, imu.jitter_ms, 1e-9);
  CHECK_EQUAL(0, found(imu, app::Check::gap));
}

TEST(StampLog, APauseIsAGapAndNoJitter) {
  for (int i = 0; i < 20; ++i) feed.imu(kStart + (i < 10 ? i : i + 20) * 10 * kMs);
  const SensorFigures imu = of("imu");
  DOUBLES_EQUAL(10.0, imu.period_ms, 1e-9);
  DOUBLES_EQUAL(0.0, imu.jitter_ms, 1e-9);
  CHECK_EQUAL(1, found(imu, app::Check::gap));
  DOUBLES_EQUAL(0.21, imu.checks.finding(app::Check::gap).worst, 1e-9);
}

TEST(StampLog, TheWallClockBeingSetIsNoGap) {
  for (int i = 0; i < 10; ++i) feed.imu(kStart + i * 10 * kMs);
  feed.wall_step(kStart + 100 * kMs);
  for (int i = 10; i < 20; ++i) feed.imu(kStart + i * 10 * kMs - 3'600'000 * kMs);
  const SensorFigures imu = of("imu");
  CHECK_EQUAL(0, found(imu, app::Check::order));
  CHECK_EQUAL(18, imu.periods_ms.size());
  DOUBLES_EQUAL(10.0, imu.period_ms, 1e-9);
}

TEST(StampLog, OverlapsAreThoseOfTheFirstPointWithTheStampBefore) {
  feed.cloud(kStart);
  feed.cloud(kStart + 10 * kMs);  // its first point is 1 ms behind the last one's end
  CHECK_EQUAL(0, found(of("front"), app::Check::overlap));
  feed.cloud(kStart + 17 * kMs);
  const SensorFigures front = of("front");
  CHECK_EQUAL(1, found(front, app::Check::overlap));
  DOUBLES_EQUAL(0.002, front.checks.finding(app::Check::overlap).worst, 1e-6);
  STRCMP_EQUAL("points", front.kind.c_str());
}

TEST(StampLog, CloudsStampedAtTheirFirstBeamGiveTheSameFigures) {
  StampLog other_log{true};
  Feed other(other_log);
  for (int i = 0; i < 20; ++i) {
    feed.cloud(kStart + i * 20 * kMs);
    other.cloud(kStart + i * 20 * kMs, true);
  }
  const SensorFigures a = of("front"), b = other_log.figures({}, 0).at("front");
  DOUBLES_EQUAL(a.period_ms, b.period_ms, 1e-9);
  DOUBLES_EQUAL(a.latency_ms.p99, b.latency_ms.p99, 1e-9);
  CHECK_EQUAL(0, found(b, app::Check::last_time));
  CHECK_EQUAL(0, found(b, app::Check::overlap));
}

TEST(StampLog, TheErrorIsTheStampLessTheTruthInInnerTime) {
  feed.offset(kStart - kMs, kOffset);
  std::vector<std::int64_t> samples;
  for (int i = 0; i < 50; ++i) {
    const std::int64_t stamp = kStart + i * 10 * kMs;
    feed.imu(stamp, 5 * kMs + (i % 5) * kMs);
    samples.push_back(stamp - kOffset - 300'000 + (i == 7 ? 400'000 : 0));
  }
  const SensorFigures imu = compared(samples);
  CHECK_EQUAL(50, imu.error_ms.n);
  DOUBLES_EQUAL(0.3, imu.error_ms.p50, 1e-9);
  DOUBLES_EQUAL(0.3, imu.error_ms.max, 1e-9);
  DOUBLES_EQUAL((49 * 0.3 - 0.1) / 50, imu.error_mean_ms, 1e-9);
  // Arrivals vary by 0 to 4 ms; the one that is less late by 0.4 ms arrived 2 ms above the least.
  CHECK_EQUAL(50, imu.arrival_error_ms.n);
  DOUBLES_EQUAL(2.0, imu.arrival_error_ms.p50, 1e-9);
  DOUBLES_EQUAL(4.0, imu.arrival_error_ms.max, 1e-9);
  STRCMP_EQUAL("locked", imu.clock.c_str());
  DOUBLES_EQUAL(-12.5, *imu.drift_ppm, 1e-9);
}

TEST(StampLog, ASlewedOffsetIsFollowedBetweenTheTimesItWasTold) {
  feed.offset(kStart, kOffset);
  std::vector<std::int64_t> samples;
  // 500 ppm for a second: half a millisecond.
  for (int i = 0; i < 100; ++i) {
    const std::int64_t stamp = kStart + i * 10 * kMs;
    feed.imu(stamp);
    samples.push_back(stamp - kOffset - i * 5000);
  }
  feed.offset(kStart + 1000 * kMs, kOffset + 500'000);
  const SensorFigures imu = compared(samples);
  CHECK_TRUE(imu.error_ms.max < 1e-5);
}

TEST(StampLog, StampsFarFromAnyTruthAreCountedApart) {
  feed.offset(kStart, kOffset);
  feed.imu(kStart);
  feed.imu(kStart + 500 * kMs);
  const SensorFigures imu = compared({kStart - kOffset});
  CHECK_EQUAL(1, imu.error_ms.n);
  CHECK_EQUAL(1, imu.unmatched);
}

TEST(StampLog, TheBeginCanBeLeftOut) {
  for (int i = 0; i < 100; ++i) feed.imu(kStart + i * 10 * kMs, i < 50 ? 40 * kMs : 5 * kMs);
  CHECK_EQUAL(100, of("imu").messages);
  const SensorFigures imu = of("imu", 0.5);
  CHECK_EQUAL(50, imu.messages);
  DOUBLES_EQUAL(5.0, imu.latency_ms.max, 1e-9);
}

TEST(StampLog, TheOlderHalfIsForgottenWhenItIsFull) {
  StampLog plain{true};
  Feed other(plain);
  const auto n = static_cast<std::int64_t>(StampLog::kMostMessages);
  for (std::int64_t i = 0; i <= n; ++i)
    other.imu(kStart + i * 10 * kMs, i < n / 2 ? 7 * kMs : 5 * kMs);
  const SensorFigures imu = plain.figures({}, 0).at("imu");
  CHECK_EQUAL(n / 2 + 1, imu.messages);
  DOUBLES_EQUAL(5.0, imu.latency_ms.max, 1e-9);
  DOUBLES_EQUAL(10.0, imu.period_ms, 1e-9);
}

TEST(StampLog, PointsAreHeldAgainstTheBeamOfTheirAngle) {
  feed.offset(kStart, kOffset);
  std::FILE* const file = std::fopen(dir.file("truth").c_str(), "w");
  sim::TruthWriter truth(file);
  for (int i = 0; i < 20; ++i) {
    feed.cloud(kStart + i * 10 * kMs, false, i * std::numbers::pi / 2);
    sim::ScanTruth scan;
    for (int k = 0; k < 10; ++k) {
      const std::int64_t at = kStart - kOffset + (i * 10 + k - 9) * kMs - 200'000;
      scan.beams.push_back(
          {hal::from_ns(at), -i * std::numbers::pi / 2 - k * std::numbers::pi / 18, 2});
    }
    truth.write(scan);
  }
  std::fclose(file);
  lidarctl::Truths truths;
  truths["front"] = std::make_unique<lidarctl::Truth>(dir.file("truth"));
  const SensorFigures front = log.figures(truths, 0).at("front");
  CHECK_EQUAL(200, front.error_ms.n);
  DOUBLES_EQUAL(0.2, front.error_ms.p50, 1e-4);
  DOUBLES_EQUAL(0.2, front.error_ms.max, 1e-4);
}

TEST(StampLog, ThePageHoldsEverySensorAndLoadsNothing) {
  for (int i = 0; i < 50; ++i) feed.imu(kStart + i * 10 * kMs), feed.cloud(kStart + i * 10 * kMs);
  const std::string page = lidarctl::page_of(log.figures({}, 0), "a < b & c");
  CHECK_TRUE(page.find("<h1>a &lt; b &amp; c</h1>") != std::string::npos);
  CHECK_TRUE(page.find("<h2>imu</h2>") != std::string::npos);
  CHECK_TRUE(page.find("<h2>front</h2>") != std::string::npos);
  CHECK_TRUE(page.find("src=") == std::string::npos && page.find("http") == std::string::npos);
  CHECK_TRUE(page.find("nan") == std::string::npos && page.find("inf") == std::string::npos);
}
