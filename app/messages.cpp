#include "app/messages.h"

namespace app {
namespace {

constexpr std::int64_t kNsPerS = 1'000'000'000;
constexpr std::uint8_t kUint32 = 6, kFloat32 = 7;  // sensor_msgs/msg/PointField

struct Field {
  std::string_view name;
  std::uint8_t type = kFloat32;
};
constexpr std::array<Field, 6> kAllFields{
    {{"x"}, {"y"}, {"z"}, {"intensity"}, {"time"}, {"origin", kUint32}}};
static_assert(sizeof(float) == sizeof(std::uint32_t));

// As many as the point has.
template <class Point>
constexpr std::span<const Field> fields_of() {
  return std::span(kAllFields).first(sizeof(Point) / sizeof(float));
}

void write(CdrWriter& w, const Header& h) {
  std::int64_t s = h.unix_ns / kNsPerS;
  std::int64_t ns = h.unix_ns % kNsPerS;
  if (ns < 0) s -= 1, ns += kNsPerS;
  w.write(static_cast<std::int32_t>(s));
  w.write(static_cast<std::uint32_t>(ns));
  w.string(h.frame);
}

Header read_header(CdrReader& r) {
  Header h;
  h.unix_ns = r.read<std::int32_t>() * kNsPerS;
  h.unix_ns += r.read<std::uint32_t>();
  h.frame = r.string();
  return h;
}

template <std::size_t N>
void write(CdrWriter& w, const std::array<double, N>& values) {
  for (const double v : values) w.write(v);
}

template <std::size_t N>
std::array<double, N> read_doubles(CdrReader& r) {
  std::array<double, N> values;
  for (double& v : values) v = r.read<double>();
  return values;
}

template <class T>
void write_with_covariance(CdrWriter& w, const std::optional<T>& part, const T& unknown) {
  write(w, part.value_or(unknown));
  std::array<double, 9> covariance{};
  if (!part) covariance[0] = -1;
  write(w, covariance);
}

template <class T>
std::optional<T> read_with_covariance(CdrReader& r) {
  const T part = read_doubles<std::tuple_size_v<T>>(r);
  const auto covariance = read_doubles<9>(r);
  if (covariance[0] == -1) return {};
  return part;
}

// One number and its variance.
std::size_t encode_scalar(const Header& header, double value, std::span<std::byte> out) {
  CdrWriter w(out);
  write(w, header);
  w.write(value);
  w.write(0.0);
  return w.size();
}

bool decode_scalar(hal::Bytes bytes, Header& header, double& value) {
  CdrReader r(bytes);
  header = read_header(r);
  value = r.read<double>();
  r.read<double>();
  return r.ok();
}

bool has_fields(CdrReader& r, std::span<const Field> fields) {
  if (r.read<std::uint32_t>() != fields.size()) return false;
  std::uint32_t offset = 0;
  for (const Field& field : fields) {
    const bool same = r.string() == field.name && r.read<std::uint32_t>() == offset &&
                      r.read<std::uint8_t>() == field.type && r.read<std::uint32_t>() == 1;
    if (!same) return false;
    offset += sizeof(float);
  }
  return true;
}

template <class Point>
std::size_t encode_cloud(const Header& header, const Packed<Point>& points,
                         std::span<std::byte> out) {
  CdrWriter w(out);
  const auto n = static_cast<std::uint32_t>(points.size());
  constexpr std::uint32_t kStep = sizeof(Point);
  write(w, header);
  w.write(std::uint32_t{1});  // height
  w.write(n);
  w.write(static_cast<std::uint32_t>(fields_of<Point>().size()));
  std::uint32_t offset = 0;
  for (const Field& field : fields_of<Point>()) {
    w.string(field.name);
    w.write(offset);
    w.write(field.type);
    w.write(std::uint32_t{1});
    offset += sizeof(float);
  }
  w.write(false);  // is_bigendian
  w.write(kStep);
  w.write(n * kStep);
  w.sequence(points.bytes(), 1);
  w.write(true);  // is_dense
  return w.size();
}

template <class Cloud, class Point>
std::optional<Cloud> decode_cloud(hal::Bytes bytes) {
  CdrReader r(bytes);
  Cloud cloud;
  cloud.header = read_header(r);
  const auto height = r.read<std::uint32_t>();
  const auto width = r.read<std::uint32_t>();
  if (!has_fields(r, fields_of<Point>())) return {};
  const bool is_bigendian = r.read_bool();
  const auto step = r.read<std::uint32_t>();
  r.read<std::uint32_t>();  // row_step
  cloud.points = Packed<Point>(r.sequence(1));
  r.read_bool();
  const bool is_whole = cloud.points.bytes().size() == std::uint64_t{width} * sizeof(Point);
  if (!r.ok() || height != 1 || is_bigendian || step != sizeof(Point) || !is_whole) return {};
  return cloud;
}

}  // namespace

std::size_t encode(const PointCloud& cloud, std::span<std::byte> out) {
  return encode_cloud(cloud.header, cloud.points, out);
}

std::size_t encode(const MergedPointCloud& cloud, std::span<std::byte> out) {
  return encode_cloud(cloud.header, cloud.points, out);
}

std::optional<PointCloud> decode_point_cloud(hal::Bytes bytes) {
  return decode_cloud<PointCloud, PointXyzit>(bytes);
}

std::optional<MergedPointCloud> decode_merged_cloud(hal::Bytes bytes) {
  return decode_cloud<MergedPointCloud, PointMerged>(bytes);
}

std::size_t encode(const LaserScan& scan, std::span<std::byte> out) {
  CdrWriter w(out);
  write(w, scan.header);
  for (const float f : {scan.angle_min, scan.angle_max, scan.angle_increment, scan.time_increment,
                        scan.scan_time, scan.range_min, scan.range_max}) {
    w.write(f);
  }
  w.sequence(scan.ranges.bytes(), sizeof(float));
  w.sequence(scan.intensities.bytes(), sizeof(float));
  return w.size();
}

std::optional<LaserScan> decode_laser_scan(hal::Bytes bytes) {
  CdrReader r(bytes);
  LaserScan scan;
  scan.header = read_header(r);
  for (float* f : {&scan.angle_min, &scan.angle_max, &scan.angle_increment, &scan.time_increment,
                   &scan.scan_time, &scan.range_min, &scan.range_max}) {
    *f = r.read<float>();
  }
  scan.ranges = Packed<float>(r.sequence(sizeof(float)));
  scan.intensities = Packed<float>(r.sequence(sizeof(float)));
  const bool is_whole = scan.intensities.empty() || scan.intensities.size() == scan.ranges.size();
  if (!r.ok() || !is_whole) return {};
  return scan;
}

std::size_t encode(const Imu& imu, std::span<std::byte> out) {
  CdrWriter w(out);
  write(w, imu.header);
  write_with_covariance(w, imu.orientation, {0, 0, 0, 1});
  write_with_covariance(w, imu.angular_velocity, {});
  write_with_covariance(w, imu.linear_acceleration, {});
  return w.size();
}

std::optional<Imu> decode_imu(hal::Bytes bytes) {
  CdrReader r(bytes);
  Imu imu;
  imu.header = read_header(r);
  imu.orientation = read_with_covariance<Quaternion>(r);
  imu.angular_velocity = read_with_covariance<Vector3>(r);
  imu.linear_acceleration = read_with_covariance<Vector3>(r);
  if (!r.ok()) return {};
  return imu;
}

std::size_t encode(const MagneticField& mag, std::span<std::byte> out) {
  CdrWriter w(out);
  write(w, mag.header);
  write(w, mag.field);
  write(w, std::array<double, 9>{});
  return w.size();
}

std::optional<MagneticField> decode_magnetic_field(hal::Bytes bytes) {
  CdrReader r(bytes);
  MagneticField mag;
  mag.header = read_header(r);
  mag.field = read_doubles<3>(r);
  read_doubles<9>(r);
  if (!r.ok()) return {};
  return mag;
}

std::size_t encode(const FluidPressure& p, std::span<std::byte> out) {
  return encode_scalar(p.header, p.pressure, out);
}

std::optional<FluidPressure> decode_fluid_pressure(hal::Bytes bytes) {
  FluidPressure p;
  if (!decode_scalar(bytes, p.header, p.pressure)) return {};
  return p;
}

std::size_t encode(const Temperature& t, std::span<std::byte> out) {
  return encode_scalar(t.header, t.temperature, out);
}

std::optional<Temperature> decode_temperature(hal::Bytes bytes) {
  Temperature t;
  if (!decode_scalar(bytes, t.header, t.temperature)) return {};
  return t;
}

std::size_t encode(std::span<const Transform> transforms, std::span<std::byte> out) {
  CdrWriter w(out);
  w.write(static_cast<std::uint32_t>(transforms.size()));
  for (const Transform& t : transforms) {
    write(w, t.header);
    w.string(t.child_frame);
    write(w, t.translation);
    write(w, t.rotation);
  }
  return w.size();
}

TransformReader::TransformReader(hal::Bytes bytes)
    : cdr_(bytes), left_(cdr_.read<std::uint32_t>()) {}

std::optional<Transform> TransformReader::next() {
  if (left_ == 0 || !cdr_.ok()) return {};
  --left_;
  Transform t;
  t.header = read_header(cdr_);
  t.child_frame = cdr_.string();
  t.translation = read_doubles<3>(cdr_);
  t.rotation = read_doubles<4>(cdr_);
  if (!cdr_.ok()) return {};
  return t;
}

// The padding after the frame differs with its length, hence the 3 (float) and 7 (double).
std::size_t point_cloud_size(std::size_t points, std::size_t frame_length) {
  return encode(PointCloud{}, {}) + frame_length + 3 + points * sizeof(PointXyzit);
}

std::size_t laser_scan_size(std::size_t rays, std::size_t frame_length) {
  return encode(LaserScan{}, {}) + frame_length + 3 + rays * 2 * sizeof(float);
}

std::size_t imu_size(std::size_t frame_length) { return encode(Imu{}, {}) + frame_length + 7; }

DiagnosticWriter::DiagnosticWriter(const Header& header, std::span<std::byte> out) : cdr_(out) {
  write(cdr_, header);
  statuses_at_ = cdr_.reserve_count();
}

void DiagnosticWriter::status(Level level, std::string_view name, std::string_view message,
                              std::string_view hardware_id) {
  cdr_.write(static_cast<std::uint8_t>(level));
  cdr_.string(name);
  cdr_.string(message);
  cdr_.string(hardware_id);
  values_at_ = cdr_.reserve_count();
  values_ = 0;
  cdr_.set(statuses_at_, ++statuses_);
}

void DiagnosticWriter::value(std::string_view key, std::string_view value) {
  cdr_.string(key);
  cdr_.string(value);
  cdr_.set(values_at_, ++values_);
}

std::size_t DiagnosticWriter::finish() { return cdr_.size(); }

DiagnosticReader::DiagnosticReader(hal::Bytes bytes)
    : cdr_(bytes), header_(read_header(cdr_)), statuses_(cdr_.read<std::uint32_t>()) {}

std::optional<Status> DiagnosticReader::next_status() {
  while (next_value()) {
  }
  if (statuses_ == 0 || !cdr_.ok()) return {};
  --statuses_;
  Status s;
  s.level = static_cast<Level>(cdr_.read<std::uint8_t>());
  s.name = cdr_.string();
  s.message = cdr_.string();
  s.hardware_id = cdr_.string();
  values_ = cdr_.read<std::uint32_t>();
  if (!cdr_.ok()) return {};
  return s;
}

std::optional<KeyValue> DiagnosticReader::next_value() {
  if (values_ == 0 || !cdr_.ok()) return {};
  --values_;
  KeyValue kv;
  kv.key = cdr_.string();
  kv.value = cdr_.string();
  if (!cdr_.ok()) return {};
  return kv;
}

}  // namespace app
