// The ROS 2 messages that lidard writes: from plain structs to CDR and back. Nothing allocates;
// what is decoded are views of the bytes given.
//
// encode() returns the size of the message; when `out` is smaller than that nothing useful is in
// it. decode() is empty for bytes that are not such a message.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>

#include "app/cdr.h"
#include "app/schemas.h"
#include "hal/bytes.h"

namespace app {

struct Header {
  std::int64_t unix_ns = 0;  // seconds beyond 2038 wrap, as the message has only 32 bits
  std::string_view frame{};
};

// Elements that lie in a message without alignment, or in an array of the caller.
template <class T>
class Packed {
 public:
  Packed() = default;
  Packed(std::span<const T> elements) : bytes_(std::as_bytes(elements)) {}
  explicit Packed(hal::Bytes bytes) : bytes_(bytes) {}

  std::size_t size() const { return bytes_.size() / sizeof(T); }
  bool empty() const { return bytes_.empty(); }
  T operator[](std::size_t i) const {
    T value;
    std::memcpy(&value, bytes_.data() + i * sizeof(T), sizeof(T));
    return value;
  }
  hal::Bytes bytes() const { return bytes_; }

 private:
  hal::Bytes bytes_;
};

struct PointXyzit {
  float x = 0, y = 0, z = 0;  // m
  float intensity = 0;        // the device's raw number
  float time = 0;             // s, relative to the header's stamp
};
static_assert(sizeof(PointXyzit) == 20);  // point_step

struct PointMerged {
  PointXyzit point{};
  std::uint32_t origin = 0;  // index of the lidar in the merged cloud's list
};
static_assert(sizeof(PointMerged) == 24);

// sensor_msgs/msg/PointCloud2, height 1, is_dense, little-endian. Other layouts are not decoded.
struct PointCloud {
  Header header{};  // stamp: the last point, unless time_reference is start
  Packed<PointXyzit> points{};
};

// The same message with the field `origin` (uint32) behind the others.
struct MergedPointCloud {
  Header header{};  // stamp: up to which the lidars are merged
  Packed<PointMerged> points{};
};

// sensor_msgs/msg/LaserScan.
struct LaserScan {
  Header header;                                            // stamp: the first ray
  float angle_min = 0, angle_max = 0, angle_increment = 0;  // rad, counter-clockwise
  float time_increment = 0, scan_time = 0;                  // s
  float range_min = 0, range_max = 0;                       // m
  Packed<float> ranges{}, intensities{};                    // intensities: as many, or none
};

using Vector3 = std::array<double, 3>;
using Quaternion = std::array<double, 4>;  // x, y, z, w

// sensor_msgs/msg/Imu. A part that is not known has -1 as first element of its covariance (the
// message's rule); known parts have the covariance 0, which means unknown.
struct Imu {
  Header header{};
  std::optional<Quaternion> orientation{};
  std::optional<Vector3> angular_velocity{};     // rad/s
  std::optional<Vector3> linear_acceleration{};  // m/s^2
};

// sensor_msgs/msg/MagneticField, FluidPressure and Temperature. Their variances are 0, which means
// unknown.
struct MagneticField {
  Header header{};
  Vector3 field{};  // T
};
struct FluidPressure {
  Header header{};
  double pressure = 0;  // Pa
};
struct Temperature {
  Header header{};
  double temperature = 0;  // deg C
};

// One of tf2_msgs/msg/TFMessage.
struct Transform {
  Header header{};
  std::string_view child_frame{};
  Vector3 translation{};
  Quaternion rotation{0, 0, 0, 1};
};

std::size_t encode(const PointCloud&, std::span<std::byte> out);
std::size_t encode(const MergedPointCloud&, std::span<std::byte> out);
std::size_t encode(const LaserScan&, std::span<std::byte> out);
std::size_t encode(const Imu&, std::span<std::byte> out);
std::size_t encode(const MagneticField&, std::span<std::byte> out);
std::size_t encode(const FluidPressure&, std::span<std::byte> out);
std::size_t encode(const Temperature&, std::span<std::byte> out);
std::size_t encode(std::span<const Transform>, std::span<std::byte> out);

std::optional<PointCloud> decode_point_cloud(hal::Bytes);
std::optional<MergedPointCloud> decode_merged_cloud(hal::Bytes);
std::optional<LaserScan> decode_laser_scan(hal::Bytes);
std::optional<Imu> decode_imu(hal::Bytes);
std::optional<MagneticField> decode_magnetic_field(hal::Bytes);
std::optional<FluidPressure> decode_fluid_pressure(hal::Bytes);
std::optional<Temperature> decode_temperature(hal::Bytes);

// What a message of this many elements takes at most, for memory budgets.
std::size_t point_cloud_size(std::size_t points, std::size_t frame_length);
std::size_t laser_scan_size(std::size_t rays, std::size_t frame_length);  // with intensities
std::size_t imu_size(std::size_t frame_length);

enum class Level : std::uint8_t { ok, warn, error, stale };

// Writes a diagnostic_msgs/msg/DiagnosticArray piece by piece: status(), its values, the next
// status(), ..., finish().
class DiagnosticWriter {
 public:
  DiagnosticWriter(const Header&, std::span<std::byte> out);

  void status(Level, std::string_view name, std::string_view message, std::string_view hardware_id);
  void value(std::string_view key, std::string_view value);  // of the last status
  std::size_t finish();                                      // what encode() returns

 private:
  CdrWriter cdr_;
  std::size_t statuses_at_, values_at_ = 0;
  std::uint32_t statuses_ = 0, values_ = 0;
};

struct Status {
  Level level{};
  std::string_view name, message, hardware_id;
};

struct KeyValue {
  std::string_view key, value;
};

// Reads it back. next_value() belongs to the status returned last; values that were not read are
// skipped. After the last one: ok() tells whether the message was whole.
class DiagnosticReader {
 public:
  explicit DiagnosticReader(hal::Bytes);

  const Header& header() const { return header_; }
  std::optional<Status> next_status();
  std::optional<KeyValue> next_value();
  bool ok() const { return cdr_.ok(); }

 private:
  CdrReader cdr_;
  Header header_;
  std::uint32_t statuses_ = 0, values_ = 0;  // not read yet
};

class TransformReader {
 public:
  explicit TransformReader(hal::Bytes);

  std::optional<Transform> next();
  bool ok() const { return cdr_.ok(); }

 private:
  CdrReader cdr_;
  std::uint32_t left_ = 0;
};

}  // namespace app
