#include "app/messages.h"

#include <cmath>
#include <random>
#include <vector>

#include "app/drop_notice.h"
#include "test/support/allocation_counter.h"
#include "test/support/bytes.h"
#include "test/support/harness.h"

using test::bytes_of;

namespace {

constexpr std::int64_t kStamp = 2'000'000'003;  // 2 s and 3 ns

void check_bytes(std::initializer_list<int> expected, hal::Bytes actual) {
  const auto want = bytes_of(expected);
  LONGS_EQUAL(want.size(), actual.size());
  MEMCMP_EQUAL(want.data(), actual.data(), want.size());
}

}  // namespace

TEST_GROUP(Messages) {
  std::array<std::byte, 4096> memory{};
  hal::Bytes first(std::size_t n) const { return hal::Bytes(memory).first(n); }
};

TEST(Messages, APointCloudHasExactlyTheseBytes) {
  const app::PointXyzit point{1, 2, -2, 0.5F, 0};
  const std::size_t n = encode(app::PointCloud{{kStamp, "m"}, {{&point, 1}}}, memory);
  // clang-format off
  check_bytes({0, 1, 0, 0,
               2, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 'm', 0, 0, 0,             // header
               1, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0,                           // height, width, fields
               2, 0, 0, 0, 'x', 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0,
               2, 0, 0, 0, 'y', 0, 0, 0, 4, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0,
               2, 0, 0, 0, 'z', 0, 0, 0, 8, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0,
               10, 0, 0, 0, 'i', 'n', 't', 'e', 'n', 's', 'i', 't', 'y', 0, 0, 0,
               12, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0,
               5, 0, 0, 0, 't', 'i', 'm', 'e', 0, 0, 0, 0, 16, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0,
               0, 0, 0, 0, 20, 0, 0, 0, 20, 0, 0, 0, 20, 0, 0, 0,            // steps, data
               0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0, 0xc0, 0, 0, 0, 0x3f, 0, 0, 0, 0,
               1}, first(n));                                                // is_dense
  // clang-format on
}

TEST(Messages, ALaserScanHasExactlyTheseBytes) {
  const std::array<float, 2> ranges{1, 2};
  const app::LaserScan scan{{kStamp, "abc"}, 1, 2, 0.5F, 0, 0, 0, 2, {ranges}, {}};
  const std::size_t n = encode(scan, memory);
  // clang-format off
  check_bytes({0, 1, 0, 0,
               2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 'a', 'b', 'c', 0,
               0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0,
               0, 0, 0, 0, 0, 0, 0, 0x40,
               2, 0, 0, 0, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40,
               0, 0, 0, 0}, first(n));
  // clang-format on
}

TEST(Messages, AnImuMarksUnknownPartsWithACovarianceOfMinusOne) {
  const std::size_t n = encode(app::Imu{{kStamp, "i"}, {}, app::Vector3{1, 0, 0}, {}}, memory);
  // Header 14 of 16, then doubles: 4 + 9, 3 + 9, 3 + 9.
  LONGS_EQUAL(4 + 16 + 37 * 8, n);
  const auto number = [this](std::size_t i) {
    return app::Packed<double>(first(4 + 16 + 37 * 8).subspan(20))[i];
  };
  DOUBLES_EQUAL(1, number(3), 0);    // w of the unknown orientation: still a rotation
  DOUBLES_EQUAL(-1, number(4), 0);   // covariance of the orientation
  DOUBLES_EQUAL(1, number(13), 0);   // angular velocity x
  DOUBLES_EQUAL(0, number(16), 0);   // its covariance: known
  DOUBLES_EQUAL(-1, number(28), 0);  // covariance of the acceleration
}

TEST(Messages, ADiagnosticArrayHasExactlyTheseBytes) {
  app::DiagnosticWriter w({kStamp, ""}, memory);
  w.status(app::Level::warn, "n", "", "h");
  w.value("k", "vv");
  w.status(app::Level::stale, "o", "", "");
  const std::size_t n = w.finish();
  // clang-format off
  check_bytes({0, 1, 0, 0,
               2, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
               2, 0, 0, 0,
               1, 0, 0, 0, 2, 0, 0, 0, 'n', 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 'h', 0, 0, 0,
               1, 0, 0, 0, 2, 0, 0, 0, 'k', 0, 0, 0, 3, 0, 0, 0, 'v', 'v', 0,
               3, 2, 0, 0, 0, 'o', 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
               0, 0, 0, 0}, first(n));
  // clang-format on
}

TEST(Messages, ATransformHasExactlyTheseBytes) {
  const app::Transform t{{kStamp, "a"}, "b", {1, 0, 0}, {0, 0, 0, 1}};
  const std::size_t n = app::encode({&t, 1}, memory);
  // clang-format off
  check_bytes({0, 1, 0, 0, 1, 0, 0, 0,
               2, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 'a', 0, 0, 0, 2, 0, 0, 0, 'b', 0, 0, 0,
               0, 0, 0, 0,
               0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
               0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
               0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, first(n));
  // clang-format on
}

TEST(Messages, StampsBefore1970HavePositiveNanoseconds) {
  const std::size_t n = encode(app::LaserScan{.header = {-1, ""}}, memory);
  LONGS_EQUAL(-1, app::Packed<std::int32_t>(first(n).subspan(4))[0]);
  LONGS_EQUAL(999'999'999, app::Packed<std::int32_t>(first(n).subspan(4))[1]);
  LONGS_EQUAL(-1, app::decode_laser_scan(first(n))->header.unix_ns);
}

TEST(Messages, APointCloudComesBack) {
  const std::vector<app::PointXyzit> points{{1, 2, 3, 4, -0.5F}, {5, 6, 7, 8, 0}};
  const std::size_t n =
      encode(app::PointCloud{{kStamp, "base"}, std::span<const app::PointXyzit>(points)}, memory);
  const auto cloud = app::decode_point_cloud(first(n));
  CHECK_TRUE(cloud.has_value());
  CHECK_TRUE(cloud->header.unix_ns == kStamp && cloud->header.frame == "base");
  LONGS_EQUAL(2, cloud->points.size());
  DOUBLES_EQUAL(-0.5, cloud->points[0].time, 0);
  DOUBLES_EQUAL(7, cloud->points[1].z, 0);
}

TEST(Messages, AMergedCloudComesBackWithItsOriginsAndIsNoOrdinaryOne) {
  const std::vector<app::PointMerged> points{{{1, 2, 3, 4, -0.5F}, 7}, {{5, 6, 7, 8, 0}, 1}};
  const std::size_t n = encode(
      app::MergedPointCloud{{kStamp, "base"}, std::span<const app::PointMerged>(points)}, memory);
  const auto cloud = app::decode_merged_cloud(first(n));
  CHECK_TRUE(cloud.has_value());
  CHECK_TRUE(cloud->header.unix_ns == kStamp && cloud->header.frame == "base");
  LONGS_EQUAL(2, cloud->points.size());
  LONGS_EQUAL(7, cloud->points[0].origin);
  DOUBLES_EQUAL(-0.5, cloud->points[0].point.time, 0);
  DOUBLES_EQUAL(8, cloud->points[1].point.intensity, 0);
  CHECK_FALSE(app::decode_point_cloud(first(n)).has_value());
}

TEST(Messages, PointCloudsOfAnotherLayoutAreRefused) {
  const app::PointXyzit point{};
  const std::size_t n = encode(app::PointCloud{{kStamp, "m"}, {{&point, 1}}}, memory);
  const auto with = [this, n](std::size_t at, int value) {
    auto changed = std::vector(memory.begin(), memory.begin() + static_cast<std::ptrdiff_t>(n));
    changed[at] = static_cast<std::byte>(value);
    return app::decode_point_cloud(changed).has_value();
  };
  CHECK_TRUE(with(0, 0));
  CHECK_FALSE(with(20, 2));       // height
  CHECK_FALSE(with(24, 2));       // width
  CHECK_FALSE(with(28, 4));       // number of fields
  CHECK_FALSE(with(36, 'q'));     // name of the first
  CHECK_FALSE(with(44, 8));       // its type
  CHECK_FALSE(with(n - 37, 1));   // is_bigendian
  CHECK_FALSE(with(n - 33, 24));  // point_step
}

TEST(Messages, ALaserScanComesBack) {
  const std::array<float, 3> ranges{1, 2, 3}, intensities{4, 5, 6};
  const std::size_t n = encode(
      app::LaserScan{{kStamp, "f"}, -1, 1, 0.1F, 0.2F, 0.3F, 0.4F, 0.5F, {ranges}, {intensities}},
      memory);
  const auto scan = app::decode_laser_scan(first(n));
  CHECK_TRUE(scan.has_value());
  DOUBLES_EQUAL(-1, scan->angle_min, 0);
  DOUBLES_EQUAL(0.5, scan->range_max, 0);
  LONGS_EQUAL(3, scan->ranges.size());
  DOUBLES_EQUAL(6, scan->intensities[2], 0);
}

TEST(Messages, ALaserScanWithAnotherNumberOfIntensitiesIsRefused) {
  const std::array<float, 3> ranges{1, 2, 3}, intensities{4, 5, 6};
  const app::LaserScan scan{.header = {kStamp, "f"},
                            .ranges = {ranges},
                            .intensities = {std::span<const float>(intensities).first(2)}};
  const std::size_t n = encode(scan, memory);
  CHECK_FALSE(app::decode_laser_scan(first(n)).has_value());
}

TEST(Messages, AnImuComesBackWithWhatItHas) {
  const app::Imu imu{{kStamp, "i"}, app::Quaternion{0, 0, 1, 0}, {}, app::Vector3{0, 0, 9.81}};
  const auto back = app::decode_imu(first(encode(imu, memory)));
  CHECK_TRUE(back.has_value());
  DOUBLES_EQUAL(1, (*back->orientation)[2], 0);
  CHECK_FALSE(back->angular_velocity.has_value());
  DOUBLES_EQUAL(9.81, (*back->linear_acceleration)[2], 0);
}

TEST(Messages, ReadingsComeBackWithUnknownVariances) {
  const std::size_t n = encode(app::MagneticField{{kStamp, "base"}, {1, 2, 3}}, memory);
  const auto mag = app::decode_magnetic_field(first(n));
  CHECK_TRUE(mag->header.unix_ns == kStamp && mag->header.frame == "base");
  DOUBLES_EQUAL(3, mag->field[2], 0);
  // Header of 4 + 4 + 4 + 5, padded to 24; three numbers; nine that are zero.
  LONGS_EQUAL(4 + 24 + 3 * 8 + 9 * 8, n);
  for (std::size_t i = n - 9 * 8; i < n; ++i) CHECK_TRUE(memory[i] == std::byte{0});
  const std::size_t scalar = encode(app::FluidPressure{{kStamp, "base"}, 101'325}, memory);
  LONGS_EQUAL(4 + 24 + 8 + 8, scalar);
  const auto pressure = app::decode_fluid_pressure(first(scalar));
  CHECK_TRUE(pressure->header.unix_ns == kStamp && pressure->header.frame == "base");
  DOUBLES_EQUAL(101'325, pressure->pressure, 0);
  LONGS_EQUAL(scalar, encode(app::Temperature{{kStamp, "base"}, -40.25}, memory));
  const auto temperature = app::decode_temperature(first(scalar));
  CHECK_TRUE(temperature->header.frame == "base");
  DOUBLES_EQUAL(-40.25, temperature->temperature, 0);
}

TEST(Messages, DiagnosticsComeBackAndUnreadValuesAreSkipped) {
  app::DiagnosticWriter w({kStamp, ""}, memory);
  w.status(app::Level::ok, "front", "streaming", "A1");
  w.value("rate_hz", "10");
  w.value("late", "0");
  w.status(app::Level::error, "rear", "no such port", "");
  w.value("path", "/dev/lidar1");
  app::DiagnosticReader r(first(w.finish()));
  CHECK_TRUE(r.header().unix_ns == kStamp);
  CHECK_TRUE(r.next_status()->message == "streaming");
  CHECK_TRUE(r.next_value()->key == "rate_hz");
  const auto rear = r.next_status();
  CHECK_TRUE(rear->level == app::Level::error && rear->name == "rear");
  CHECK_TRUE(r.next_value()->value == "/dev/lidar1");
  CHECK_FALSE(r.next_value().has_value());
  CHECK_FALSE(r.next_status().has_value());
  CHECK_TRUE(r.ok());
}

TEST(Messages, TransformsComeBack) {
  const app::Transform sent[]{{{kStamp, "base_link"}, "front", {1, 2, 3}, {0, 0, 0, 1}},
                              {{kStamp, "base_link"}, "imu", {4, 5, 6}, {0, 0, 1, 0}}};
  app::TransformReader r(first(app::encode(sent, memory)));
  CHECK_TRUE(r.next()->child_frame == "front");
  DOUBLES_EQUAL(6, r.next()->translation[2], 0);
  CHECK_FALSE(r.next().has_value());
  CHECK_TRUE(r.ok());
}

TEST(Messages, EveryTruncationIsRefused) {
  const std::array<float, 3> floats{1, 2, 3};
  const app::PointXyzit point{};
  const app::Transform transform{{kStamp, "a"}, "b", {}, {}};
  for (std::size_t n = encode(app::PointCloud{{0, "m"}, {{&point, 1}}}, memory); n-- > 0;) {
    CHECK_FALSE(app::decode_point_cloud(first(n)).has_value());
  }
  for (std::size_t n = encode(
           app::LaserScan{.header = {}, .ranges = {floats}, .intensities = {floats}}, memory);
       n-- > 0;) {
    CHECK_FALSE(app::decode_laser_scan(first(n)).has_value());
  }
  for (std::size_t n = encode(app::Imu{}, memory); n-- > 0;) {
    CHECK_FALSE(app::decode_imu(first(n)).has_value());
  }
  for (std::size_t n = encode(app::MagneticField{}, memory); n-- > 0;) {
    CHECK_FALSE(app::decode_magnetic_field(first(n)).has_value());
  }
  for (std::size_t n = encode(app::FluidPressure{}, memory); n-- > 0;) {
    CHECK_FALSE(app::decode_fluid_pressure(first(n)).has_value());
    CHECK_FALSE(app::decode_temperature(first(n)).has_value());
  }
  for (std::size_t n = app::encode({&transform, 1}, memory); n-- > 0;) {
    app::TransformReader r(first(n));
    CHECK_FALSE(r.next().has_value());
    CHECK_FALSE(r.ok());
  }
}

TEST(Messages, RandomBytesAreHarmless) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  for (int round = 0; round < 2000; ++round) {
    for (std::byte& b : memory) b = static_cast<std::byte>(random() & (round % 2 ? 255U : 3U));
    memory[0] = memory[2] = memory[3] = std::byte{0};
    memory[1] = std::byte{1};
    const hal::Bytes bytes = first(random() % 512);
    static_cast<void>(app::decode_point_cloud(bytes));
    static_cast<void>(app::decode_laser_scan(bytes));
    static_cast<void>(app::decode_imu(bytes));
    static_cast<void>(app::decode_magnetic_field(bytes));
    static_cast<void>(app::decode_fluid_pressure(bytes));
    static_cast<void>(app::decode_temperature(bytes));
    app::TransformReader transforms(bytes);
    while (transforms.next()) {
    }
    app::DiagnosticReader diagnostics(bytes);
    std::size_t statuses = 0;
    while (diagnostics.next_status()) ++statuses;
    CHECK_TEXT(statuses <= bytes.size(), hal::Text<32>::of("seed %u", seed).c_str());
  }
}

TEST(Messages, SizesForBudgetsHoldForEveryFrameName) {
  const std::vector<app::PointXyzit> points(7);
  const std::vector<float> rays(7);
  for (std::size_t length = 0; length < 20; ++length) {
    const std::string frame(length, 'f');
    const app::Header h{kStamp, frame};
    const auto within = [](std::size_t size, std::size_t bound) {
      CHECK_TRUE(size <= bound && bound <= size + 14);
    };
    within(encode(app::PointCloud{h, std::span<const app::PointXyzit>(points)}, {}),
           app::point_cloud_size(7, length));
    within(encode(app::LaserScan{.header = h,
                                 .ranges = std::span<const float>(rays),
                                 .intensities = std::span<const float>(rays)},
                  {}),
           app::laser_scan_size(7, length));
    within(encode(app::Imu{h, {}, {}, {}}, {}), app::imu_size(length));
  }
}

TEST(Messages, MemoryThatIsTooSmallIsNotOverrun) {
  memory.fill(std::byte{0xee});
  const std::vector<app::PointXyzit> points(20);
  const std::size_t n = encode(app::PointCloud{{0, "m"}, std::span<const app::PointXyzit>(points)},
                               std::span(memory).first(100));
  CHECK_TRUE(n > 100);
  CHECK_TRUE(memory[100] == std::byte{0xee});
}

TEST(Messages, ADropNoticeSaysHowManyWereLost) {
  const std::size_t n = app::encode_drop_notice({kStamp, 3, 12}, memory);
  app::DiagnosticReader r(first(n));
  CHECK_TRUE(r.header().unix_ns == kStamp);
  CHECK_TRUE(r.next_status()->level == app::Level::warn);
  CHECK_TRUE(r.next_value()->value == "drops");
  CHECK_TRUE(r.next_value()->value == "3");
  CHECK_TRUE(r.next_value()->value == "12");
  LONGS_EQUAL(0, app::encode_drop_notice({kStamp, 3, 12}, std::span(memory).first(n - 1)));
}

TEST(Messages, EncodingAllocatesNothing) {
  const std::vector<app::PointXyzit> points(100);
  const test::AllocationCounter counter;
  encode(app::PointCloud{{0, "m"}, std::span<const app::PointXyzit>(points)}, memory);
  encode(app::Imu{}, memory);
  app::encode_drop_notice({kStamp, 3, 12}, memory);
  LONGS_EQUAL(0, counter.count());
}
