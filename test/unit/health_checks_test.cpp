// What is found wrong with a sensor's data while the robot runs.
#include "app/health_checks.h"

#include "test/support/allocation_counter.h"
#include "test/support/harness.h"

using app::Check;
using app::CloudFacts;
using app::SampleFacts;
using namespace std::chrono_literals;

namespace {

constexpr hal::Time kStart = hal::from_ns(1'000'000'000'000);

// A sound cloud of 90 ms that ends at `at`.
CloudFacts cloud(hal::Duration at, std::uint64_t checksum) {
  return {.first = kStart + at - 90ms,
          .at = kStart + at,
          .arrival = kStart + at + 3ms,
          .first_time = -0.09f,
          .last_time = 0,
          .points = 400,
          .checksum = checksum};
}

SampleFacts sample(hal::Duration at, double z = 9.81) {
  return {.at = kStart + at, .arrival = kStart + at + 2ms, .accel = {{0, 0, z}}};
}

}  // namespace

TEST_GROUP(HealthChecks) {
  app::HealthCheck checks;

  std::uint64_t count(Check check) const { return checks.finding(check).count; }
  std::uint64_t all() const {
    std::uint64_t sum = 0;
    for (const app::CheckRow& row : app::check_rows()) sum += count(row.check);
    return sum;
  }
  void expect_only(Check check, std::uint64_t times, double worst) {
    CHECK_EQUAL(times, count(check));
    CHECK_EQUAL(times, all());
    DOUBLES_EQUAL(worst, checks.finding(check).worst, 1e-6);
  }
};

TEST(HealthChecks, TheTableHasARowForEveryCheckInOrder) {
  std::size_t i = 0;
  for (const app::CheckRow& row : app::check_rows()) {
    CHECK_EQUAL(i, static_cast<std::size_t>(row.check));
    CHECK_FALSE(row.name.empty());
    CHECK_TRUE(row.low <= row.high);
    ++i;
  }
  CHECK_EQUAL(app::kChecks, i);
}

TEST(HealthChecks, SoundDataGiveNoFinding) {
  for (std::uint64_t i = 0; i < 100; ++i) checks.take(cloud(100ms * i, i));
  app::HealthCheck clouds = checks;
  checks = {};
  for (int i = 0; i < 3000; ++i) checks.take(sample(10ms * i));
  CHECK_EQUAL(0, all());
  DOUBLES_EQUAL(9.81, checks.accel_mean(), 1e-9);
  CHECK_EQUAL(99, clouds.gaps()[7]);  // at an edge the next bucket begins
  STRCMP_EQUAL("<20ms 2999", app::in_words(checks.gaps()).c_str());
}

TEST(HealthChecks, AnAccelerationThatNoRobotSurvivesIsFound) {
  checks.take(sample(0ms, 2.9));
  checks.take(sample(10ms, 3.1));
  checks.take(sample(20ms, 29.9));
  checks.take(sample(30ms, 45.2));
  checks.take(sample(40ms, 31));
  expect_only(Check::accel, 3, 45.2);
  CHECK_TRUE(checks.finding(Check::accel).newest == kStart + 42ms);
  STRCMP_EQUAL("|accel| 45.2 m/s^2, outside 3 to 30, 3 times",
               app::in_words(Check::accel, checks.finding(Check::accel)).c_str());
}

TEST(HealthChecks, AnAccelerationThatIsNoNumberIsFound) {
  checks.take(sample(0ms, std::numeric_limits<double>::quiet_NaN()));
  CHECK_EQUAL(1, count(Check::accel));
}

TEST(HealthChecks, AMeanThatIsNotGravityIsFoundOncePerThousandSamples) {
  for (int i = 0; i < 2500; ++i) checks.take(sample(10ms * i, 9.4));
  expect_only(Check::accel_mean, 2, 9.4);
  checks = {};
  for (int i = 0; i < 1000; ++i) checks.take(sample(10ms * i, 10.6));
  expect_only(Check::accel_mean, 1, 10.6);
}

TEST(HealthChecks, DataReceivedLateAreFoundInTwoDegrees) {
  SampleFacts late = sample(0ms);
  late.arrival = late.at + 100ms;
  checks.take(late);
  CHECK_EQUAL(0, all());
  late = sample(10ms);
  late.arrival = late.at + 101ms;
  checks.take(late);
  expect_only(Check::late, 1, 0.101);
  late = sample(20ms);
  late.arrival = late.at - 501ms;
  checks.take(late);
  CHECK_EQUAL(2, count(Check::late));
  CHECK_EQUAL(1, count(Check::very_late));
  DOUBLES_EQUAL(-0.501, checks.finding(Check::very_late).worst, 1e-9);
}

TEST(HealthChecks, StampsThatDoNotIncreaseAreFound) {
  checks.take(sample(20ms));
  checks.take(sample(20ms));
  checks.take(sample(15ms));
  checks.take(sample(30ms));
  expect_only(Check::order, 2, -0.005);
}

TEST(HealthChecks, GapsOfSamplesAreJudgedByAnotherLimitThanThoseOfClouds) {
  checks.take(sample(0ms));
  checks.take(sample(50ms));
  CHECK_EQUAL(0, all());
  checks.take(sample(101ms));
  expect_only(Check::gap, 1, 0.051);
  checks = {};
  checks.take(cloud(0ms, 1));
  checks.take(cloud(190ms, 2));  // begins 100 ms after the one before has ended
  CHECK_EQUAL(0, all());
  checks.take(cloud(381ms, 3));
  expect_only(Check::gap, 1, 0.101);
}

TEST(HealthChecks, OverlapsAreFoundWithTheLongest) {
  checks.take(cloud(0ms, 1));
  checks.take(cloud(90ms, 2));
  CHECK_EQUAL(0, all());
  checks.take(cloud(150ms, 3));
  checks.take(cloud(230ms, 4));
  expect_only(Check::overlap, 2, 0.03);
}

TEST(HealthChecks, ACloudEqualToTheOneBeforeIsFound) {
  checks.take(cloud(0ms, 7));
  checks.take(cloud(100ms, 7));
  checks.take(cloud(200ms, 8));
  checks.take(cloud(300ms, 7));
  CHECK_EQUAL(1, count(Check::repeated));
  CHECK_EQUAL(1, all());
}

TEST(HealthChecks, CloudsWithoutPointsAreNoRepetition) {
  for (int i = 0; i < 3; ++i) {
    CloudFacts empty = cloud(100ms * i, 0);
    empty.points = 0;
    checks.take(empty);
  }
  CHECK_EQUAL(0, all());
}

TEST(HealthChecks, ALidarThatSeesNothingForMoreThanASecondIsFound) {
  const auto seen = [&](int i, std::size_t points) {
    CloudFacts facts = cloud(100ms * i, static_cast<std::uint64_t>(i));
    facts.points = points;
    checks.take(facts);
  };
  for (int i = 0; i < 10; ++i) seen(i, 0);
  seen(10, 1);
  for (int i = 11; i < 21; ++i) seen(i, 0);
  CHECK_EQUAL(0, all());
  seen(21, 0);
  seen(22, 0);
  CHECK_EQUAL(2, count(Check::empty));
  CHECK_EQUAL(2, all());
  STRCMP_EQUAL("time without any point: up to 1.2 s: window covered, laser off, nothing in range?",
               app::in_words(Check::empty, checks.finding(Check::empty)).c_str());
  checks.restart();
  seen(30, 0);
  CHECK_EQUAL(2, all());
}

TEST(HealthChecks, PointsLaterThanTheStampAreFound) {
  CloudFacts bad = cloud(0ms, 1);
  bad.first_time = 0.001f;
  checks.take(bad);
  expect_only(Check::first_time, 1, 0.001);
  bad = cloud(100ms, 2);
  bad.last_time = 0.09f;
  checks.take(bad);
  CHECK_EQUAL(1, count(Check::last_time));
  bad = cloud(200ms, 3);
  bad.last_time = -0.002f;  // the last beams had no return
  checks.take(bad);
  CHECK_EQUAL(2, all());
}

TEST(HealthChecks, ANewStartIsComparedWithNothing) {
  checks.take(cloud(5s, 7));
  checks.restart();
  checks.take(cloud(0ms, 7));
  CHECK_EQUAL(0, all());
}

TEST(HealthChecks, MessageGapsAreCountedInTenBuckets) {
  hal::Duration at{};
  for (const auto gap : {0ms, 1ms, 4ms, 9ms, 19ms, 49ms, 99ms, 199ms, 499ms, 500ms, 900ms}) {
    at += gap;
    checks.take(sample(at + 500us));
  }
  const app::GapHistogram expected = {0, 1, 1, 1, 1, 1, 1, 1, 1, 2};
  CHECK_TRUE(checks.gaps() == expected);
  DOUBLES_EQUAL(0.9, checks.longest_gap(), 1e-9);
}

TEST(HealthChecks, EqualPointsHaveEqualSumsAndAnyChangeShows) {
  app::Checksum a, b, c, d;
  for (const float value : {1.0f, 2.5f, -3.0f}) a.add(value), b.add(value);
  for (const float value : {1.0f, 2.5f, -3.0000002f}) c.add(value);
  for (const float value : {2.5f, 1.0f, -3.0f}) d.add(value);
  CHECK_TRUE(a.value() == b.value());
  CHECK_TRUE(a.value() != c.value());
  CHECK_TRUE(a.value() != d.value());
}

TEST(HealthChecks, NothingIsAllocated) {
  const test::AllocationCounter counter;
  for (int i = 0; i < 1000; ++i) {
    checks.take(sample(10ms * (i % 7), 100));
    (void)app::in_words(Check::accel, checks.finding(Check::accel));
  }
  CHECK_EQUAL(0, counter.count());
}

TEST(HealthChecks, ARateThatIsNotTheOneAskedForIsFoundAfterSeconds) {
  const auto send = [this](hal::Duration period, hal::Duration length) {
    for (hal::Duration at{}; at <= length; at += period) checks.take(sample(at));
  };
  checks = app::HealthCheck(200);
  send(5ms, 21s);
  CHECK_EQUAL(0, all());
  checks = app::HealthCheck(200);
  send(10ms, 4990ms);
  CHECK_EQUAL(0, count(Check::rate));
  checks = app::HealthCheck(200);
  send(10ms, 21s);
  expect_only(Check::rate, 4, 100);
  STRCMP_EQUAL("sends 100 Hz, 200 Hz were asked for: it took another rate, or data are lost",
               app::in_words(Check::rate, checks.finding(Check::rate)).c_str());
  checks = app::HealthCheck(100);
  send(5ms, 6s);
  expect_only(Check::rate, 1, 200);
  checks = {};  // nobody knows what was asked for
  send(5ms, 6s);
  CHECK_EQUAL(0, all());
}

TEST(HealthChecks, ARateIsThatOfMotionAndBeginsAnewWithTheSensor) {
  checks = app::HealthCheck(100);
  for (int i = 0; i <= 700; ++i) {
    checks.take(sample(10ms * i));
    SampleFacts other = sample(10ms * i + 5ms);
    other.accel.reset();
    other.is_motion = false;
    checks.take(other);
  }
  CHECK_EQUAL(0, count(Check::rate));
  checks.restart();
  for (int i = 0; i <= 600; ++i) checks.take(sample(60s + 10ms * i));
  CHECK_EQUAL(0, count(Check::rate));
}
