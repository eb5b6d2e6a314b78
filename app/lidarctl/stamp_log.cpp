// What `stamps` takes from the messages, and the figures made of it.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "app/lidarctl/any_cloud.h"
#include "app/lidarctl/diagnosis.h"
#include "app/lidarctl/stamps.h"

namespace lidarctl {
namespace {

constexpr double kMs = 1e-6;                 // per ns
constexpr double kPause = 3;                 // periods; longer is no jitter
constexpr std::int64_t kStep = 100'000'000;  // ns; offsets that differ by more are two segments

hal::Time time_of(std::int64_t ns) { return hal::from_ns(ns); }

double percentile(const std::vector<double>& sorted, double part) {
  return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
}

void set_periods(const std::vector<double>& periods, SensorFigures& out) {
  if (periods.empty()) return;
  std::vector<double> sorted = periods;
  std::ranges::sort(sorted);
  out.period_ms = percentile(sorted, 0.5);
  double sum = 0;
  std::size_t n = 0;
  for (const double period : periods) {
    if (period > kPause * out.period_ms) continue;
    sum += (period - out.period_ms) * (period - out.period_ms);
    ++n;
  }
  out.jitter_ms = n == 0 ? 0 : std::sqrt(sum / static_cast<double>(n));
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  return {values.size(), percentile(values, 0.5), percentile(values, 0.9), percentile(values, 0.99),
          values.back()};
}

void StampLog::on_message(const StreamMessage& m) {
  if (m.topic == "/diagnostics") {
    take_state(m);
  } else if (m.topic == "/tf_static") {
    take_poses(m.message.data);
  } else if (m.topic == "/lidard/events") {
    for (const auto& [name, d] : diagnoses(m.message.data)) {
      const auto event = d.values.find("event");
      if (event == d.values.end() || event->second != "wall_step") continue;
      for (auto& [sensor, s] : sensors_) s.joins = false, s.checks.restart();
    }
  } else if (m.type == "sensor_msgs/msg/PointCloud2") {
    take_cloud(m);
  } else if (m.type == "sensor_msgs/msg/LaserScan") {
    take_scan(m);
  } else if (m.type == "sensor_msgs/msg/Imu") {
    take_imu(m);
  }
}

StampLog::Sensor& StampLog::sensor(const StreamMessage& m) {
  Sensor& s = sensors_[sensor_of(m.topic, clocks_)];
  const std::string kind = m.topic.substr(m.topic.rfind('/') + 1);
  if (s.kind != kind) s = Sensor{}, s.kind = kind;
  if (s.sequence != 0 && m.message.sequence != s.sequence + 1) {
    s.lost += m.message.sequence - s.sequence - 1;
    s.joins = false;
    s.checks.restart();
  }
  s.sequence = m.message.sequence;
  return s;
}

void StampLog::add(Sensor& s, const Entry& entry) {
  if (s.entries.size() == kMostMessages) {
    constexpr std::ptrdiff_t kHalf = kMostMessages / 2;
    const std::uint32_t points = s.entries[kHalf - 1].points_end;
    s.entries.erase(s.entries.begin(), s.entries.begin() + kHalf);
    for (Entry& kept : s.entries) kept.points_end -= points;
    s.points.erase(s.points.begin(), s.points.begin() + static_cast<std::ptrdiff_t>(points));
  }
  s.entries.push_back(entry);
  s.entries.back().joins = std::exchange(s.joins, true);
  s.entries.back().points_end = static_cast<std::uint32_t>(s.points.size());
}

void StampLog::take_cloud(const StreamMessage& m) {
  const auto decoded = AnyCloud::decode(m.message.data);
  if (!decoded) return;
  const AnyCloud& points = *decoded;
  Sensor& s = sensor(m);
  const std::string name = sensor_of(m.topic, clocks_);
  // With `time_reference: start` the header is the first beam; the log time is the last's.
  const std::int64_t head = points.header().unix_ns;
  const auto logged = static_cast<std::int64_t>(m.message.log_time);
  const float newest = points.size() == 0 ? 0 : points[points.size() - 1].time;
  const bool from_start = newest > 0 && static_cast<double>(logged - head) > 0.5e9 * double{newest};
  const std::int64_t at = from_start ? logged : head;
  const auto time_of_point = [&](std::size_t i) {
    return head + std::llround(double{points[i].time} * 1e9);
  };
  Entry entry{.first = points.size() == 0 ? at : time_of_point(0), .at = at, .published = 0};
  entry.published = static_cast<std::int64_t>(m.message.publish_time);
  app::CloudFacts facts{.first = time_of(entry.first),
                        .at = time_of(at),
                        .arrival = time_of(entry.published),
                        .points = points.size()};
  app::Checksum sum;
  const SensorPose pose = points.header().frame == name ? SensorPose{} : poses_[name];
  for (std::size_t i = 0; i < points.size(); ++i) {
    const app::PointXyzit p = points[i];
    sum.add(p.x), sum.add(p.y), sum.add(p.intensity);
  }
  facts.checksum = sum.value();
  if (points.size() > 0 && !from_start) {
    facts.first_time = points[0].time;
    facts.last_time = newest;
  }
  s.checks.take(facts);
  // The last point is among them: it tells when the cloud was whole.
  const std::size_t step = (points.size() + kMostPoints - 1) / kMostPoints;
  for (std::size_t k = 0; keep_points_ && step > 0 && k < points.size(); k += step) {
    const std::size_t i = points.size() - 1 - k;
    const app::PointXyzit p = points[i];
    s.points.push_back({time_of_point(i), static_cast<float>(pose.angle_of(p.x, p.y, p.z))});
  }
  add(s, entry);
}

// A scan stands for its sensor when that publishes no points.
void StampLog::take_scan(const StreamMessage& m) {
  const std::string name = sensor_of(m.topic, clocks_);
  const auto known = sensors_.find(name);
  if (known != sensors_.end() && known->second.kind == "points") return;
  const auto scan = app::decode_laser_scan(m.message.data);
  if (!scan) return;
  Sensor& s = sensor(m);
  const std::size_t n = scan->ranges.size();
  const double step = double{scan->time_increment};
  const auto ray = [&](std::size_t i) {
    return scan->header.unix_ns + std::llround(step * static_cast<double>(i) * 1e9);
  };
  const auto published = static_cast<std::int64_t>(m.message.publish_time);
  const Entry entry{scan->header.unix_ns, n == 0 ? scan->header.unix_ns : ray(n - 1), published};
  app::Checksum sum;
  for (std::size_t i = 0; i < n; ++i) sum.add(scan->ranges[i]);
  for (std::size_t i = 0; i < scan->intensities.size(); ++i) sum.add(scan->intensities[i]);
  s.checks.take(app::CloudFacts{.first = time_of(entry.first),
                                .at = time_of(entry.at),
                                .arrival = time_of(published),
                                .points = n,
                                .checksum = sum.value()});
  add(s, entry);
}

void StampLog::take_imu(const StreamMessage& m) {
  const auto imu = app::decode_imu(m.message.data);
  if (!imu) return;
  Sensor& s = sensor(m);
  const std::int64_t at = imu->header.unix_ns;
  const auto published = static_cast<std::int64_t>(m.message.publish_time);
  s.checks.take(app::SampleFacts{time_of(at), time_of(published), imu->linear_acceleration});
  if (keep_points_) s.points.push_back({at, 0});
  add(s, {at, at, published});
}

void StampLog::take_state(const StreamMessage& m) {
  for (auto& [name, d] : diagnoses(m.message.data)) {
    if (name == "lidard") {
      const auto offset = std::strtoll(d.values["unix_offset_ns"].c_str(), nullptr, 10);
      offsets_.push_back({static_cast<std::int64_t>(m.message.publish_time), offset});
    } else if (d.values.contains("clock.quality")) {
      clocks_[name] = {d.values["clock.quality"],
                       std::strtod(d.values["clock.drift_ppm"].c_str(), nullptr)};
    }
  }
}

void StampLog::take_poses(hal::Bytes message) {
  app::TransformReader reader(message);
  while (const auto t = reader.next()) {
    poses_[std::string(t->child_frame)] = {t->translation, t->rotation};
  }
}

// The offset is slewed between two times that it was told.
std::int64_t StampLog::inner(std::int64_t unix_ns) const {
  if (offsets_.empty()) return unix_ns;
  const auto after = std::ranges::lower_bound(offsets_, unix_ns, {}, &Offset::unix_ns);
  if (after == offsets_.begin()) return unix_ns - after->offset_ns;
  const Offset& before = *std::prev(after);
  if (after == offsets_.end() || std::abs(after->offset_ns - before.offset_ns) > kStep) {
    return unix_ns - before.offset_ns;
  }
  const double part =
      static_cast<double>(unix_ns - before.unix_ns) /
      static_cast<double>(std::max<std::int64_t>(1, after->unix_ns - before.unix_ns));
  const double moved = part * static_cast<double>(after->offset_ns - before.offset_ns);
  return unix_ns - before.offset_ns - std::llround(moved);
}

std::vector<std::string> StampLog::sensors() const {
  std::vector<std::string> names;
  for (const auto& [name, sensor] : sensors_) {
    if (!sensor.entries.empty()) names.push_back(name);
  }
  return names;
}

std::map<std::string, SensorFigures> StampLog::figures(const Truths& truth, double skip_s) const {
  std::map<std::string, SensorFigures> all;
  std::int64_t start = INT64_MAX;
  for (const auto& [name, s] : sensors_) {
    if (!s.entries.empty()) start = std::min(start, s.entries.front().at);
  }
  for (const auto& [name, s] : sensors_) {
    if (s.entries.empty()) continue;
    SensorFigures& out = all[name];
    out.kind = s.kind;
    out.lost = s.lost;
    out.checks = s.checks;
    if (const auto clock = clocks_.find(name); clock != clocks_.end()) {
      out.clock = clock->second.quality;
      out.drift_ppm = clock->second.drift_ppm;
    }
    const std::int64_t begin_ns = s.entries.front().at;
    const std::int64_t skip_ns = std::llround(skip_s * 1e9);
    // A wall clock that was set back ends the skipping too.
    const auto begin = std::ranges::find_if(
        s.entries, [&](const Entry& e) { return e.at >= begin_ns + skip_ns || e.at < begin_ns; });
    const auto from = static_cast<std::size_t>(begin - s.entries.begin());
    out.messages = s.entries.size() - from;
    std::vector<double> latency;
    for (std::size_t i = from; i < s.entries.size(); ++i) {
      const Entry& entry = s.entries[i];
      const double age = static_cast<double>(entry.published - entry.at) * kMs;
      latency.push_back(age);
      out.latency_plot.push_back({static_cast<double>(entry.at - start) * 1e-9, age});
      if (i > from && entry.joins) {
        out.periods_ms.push_back(static_cast<double>(entry.at - s.entries[i - 1].at) * kMs);
      }
    }
    if (out.messages > 0) {
      out.seconds = static_cast<double>(s.entries.back().at - s.entries[from].at) * 1e-9;
    }
    set_periods(out.periods_ms, out);
    out.latency_ms = spread_of(std::move(latency));
    if (const auto known = truth.find(name); known != truth.end()) {
      compare(s, *known->second, from, start, out);
    }
  }
  return all;
}

void StampLog::compare(const Sensor& s, const Truth& truth, std::size_t from, std::int64_t start,
                       SensorFigures& out) const {
  std::vector<double> errors, arrivals;
  double sum = 0;
  std::size_t point = from == 0 ? 0 : s.entries[from - 1].points_end;
  for (std::size_t i = from; i < s.entries.size(); ++i) {
    const Entry& entry = s.entries[i];
    for (bool newest = true; point < entry.points_end; ++point, newest = false) {
      const Stamped& stamp = s.points[point];
      const std::int64_t at = inner(stamp.at);
      const auto error =
          s.kind == "imu" ? truth.sample_error(at) : truth.beam_error(at, double{stamp.angle});
      if (!error) {
        ++out.unmatched;
        continue;
      }
      const double ms = static_cast<double>(*error) * kMs;
      sum += ms;
      errors.push_back(std::abs(ms));
      if (!newest) continue;
      out.error_plot.push_back({static_cast<double>(stamp.at - start) * 1e-9, ms});
      arrivals.push_back(static_cast<double>(inner(entry.published) - (at - *error)) * kMs);
    }
  }
  if (!errors.empty()) out.error_mean_ms = sum / static_cast<double>(errors.size());
  out.error_ms = spread_of(std::move(errors));
  if (arrivals.empty()) return;
  const double smallest = *std::ranges::min_element(arrivals);
  for (double& arrival : arrivals) arrival -= smallest;
  out.arrival_error_ms = spread_of(std::move(arrivals));
}

}  // namespace lidarctl
