// lidarctl monitor: the stream for people, and a table of every sensor at the end.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <map>

#include "app/lidarctl/any_cloud.h"
#include "app/lidarctl/books.h"
#include "app/lidarctl/commands.h"
#include "app/lidarctl/diagnosis.h"
#include "app/lidarctl/stamps.h"
#include "app/lidarctl/stream_client.h"

namespace lidarctl {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct Arguments {
  std::string socket = kDefaultSocket;
  double seconds = 0;
  double lines_hz = 2;
  std::vector<std::string> truth;  // NAME=FILE
  bool verify = false;
};

volatile std::sig_atomic_t interrupted = 0;

std::int64_t unix_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// What was seen of one sensor's topics.
struct Seen {
  std::uint64_t messages = 0, points = 0, missing = 0;
  std::uint32_t sequence = 0;
  std::vector<std::int64_t> ages;  // ns; the newest ones
  double age_ms = 0;               // of the newest
  SteadyClock::time_point next_line{};
};

double percentile_ms(std::vector<std::int64_t>& values, double part) {
  if (values.empty()) return NAN;
  const auto at = static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return static_cast<double>(values[static_cast<std::size_t>(at)]) * 1e-6;
}

class Monitor {
 public:
  explicit Monitor(const Arguments& arguments)
      : arguments_(arguments), stamps_(!arguments.truth.empty()) {}

  void on_message(const StreamMessage& m) {
    if (!arguments_.truth.empty()) stamps_.on_message(m);
    if (m.topic == "/diagnostics") {
      state_ = diagnoses(m.message.data);
    } else if (m.topic == "/lidard/events") {
      print_event(m);
    } else if (m.topic == "/lidard/configuration") {
      take_orders(m.message.data);
    } else if (m.type == "sensor_msgs/msg/PointCloud2") {
      take_cloud(m);
    } else if (m.type == "sensor_msgs/msg/Imu") {
      take_imu(m);
    } else if (m.type == "sensor_msgs/msg/LaserScan") {
      take_scan(m);
    }
  }

  // Prints the table. True when every sensor streamed in order and the books balance.
  bool finish();

 private:
  Seen& note(const StreamMessage& m) {
    const auto log_time = static_cast<std::int64_t>(m.message.log_time);
    const std::string name = sensor_of(m.topic, orders_);
    std::int64_t& newest = newest_[orders_[name]];
    if (log_time < newest) ++backward_;
    newest = std::max(newest, log_time);
    Seen& seen = seen_[name];
    if (seen.messages > 0) seen.missing += m.message.sequence - seen.sequence - 1;
    seen.sequence = m.message.sequence;
    ++seen.messages;
    const std::int64_t age = unix_now() - log_time;
    if (seen.ages.size() < kMostAges) {
      seen.ages.push_back(age);
    } else {
      seen.ages[seen.messages % kMostAges] = age;
    }
    seen.age_ms = static_cast<double>(age) * 1e-6;
    return seen;
  }

  bool may_print(Seen& seen) const {
    const auto now = SteadyClock::now();
    if (arguments_.lines_hz <= 0 || now < seen.next_line) return false;
    seen.next_line = now + std::chrono::duration_cast<SteadyClock::duration>(
                               std::chrono::duration<double>(1 / arguments_.lines_hz));
    return true;
  }

  void take_cloud(const StreamMessage& m) {
    const auto cloud = AnyCloud::decode(m.message.data);
    if (!cloud) return;
    const std::string name = sensor_of(m.topic, orders_);
    has_points_[name] = true;
    Seen& seen = note(m);
    seen.points += cloud->size();
    double nearest = INFINITY, first = 0;
    for (std::size_t i = 0; i < cloud->size(); ++i) {
      const app::PointXyzit p = (*cloud)[i];
      nearest = std::min(nearest, std::hypot(double{p.x}, double{p.y}));
      first = std::min(first, double{p.time});
    }
    if (!may_print(seen)) return;
    std::printf("%.6f  %-10s %4zu points over %5.1f ms, nearest %.3f m, age %.1f ms\n",
                static_cast<double>(cloud->header().unix_ns) * 1e-9, name.c_str(), cloud->size(),
                -first * 1e3, nearest, seen.age_ms);
  }

  void take_imu(const StreamMessage& m) {
    const auto imu = app::decode_imu(m.message.data);
    if (!imu) return;
    Seen& seen = note(m);
    if (!may_print(seen) || !imu->linear_acceleration || !imu->angular_velocity) return;
    const auto& a = *imu->linear_acceleration;
    const auto& w = *imu->angular_velocity;
    std::printf(
        "%.6f  %-10s accel %+7.3f %+7.3f %+7.3f m/s^2, gyro %+7.4f %+7.4f %+7.4f rad/s, "
        "age %.1f ms\n",
        static_cast<double>(imu->header.unix_ns) * 1e-9, sensor_of(m.topic, orders_).c_str(), a[0],
        a[1], a[2], w[0], w[1], w[2], seen.age_ms);
  }

  // A scan stands for its sensor when that publishes no points.
  void take_scan(const StreamMessage& m) {
    const auto scan = app::decode_laser_scan(m.message.data);
    if (!scan || has_points_[sensor_of(m.topic, orders_)]) return;
    Seen& seen = note(m);
    for (std::size_t i = 0; i < scan->ranges.size(); ++i) {
      seen.points += std::isfinite(scan->ranges[i]);
    }
  }

  void take_orders(hal::Bytes message) {
    for (auto& [name, d] : diagnoses(message)) {
      orders_[name] = d.values["role"] == "passthrough" ? name : d.values["trajectory"];
    }
  }

  void print_event(const StreamMessage& m) {
    for (const auto& [name, d] : diagnoses(m.message.data)) {
      const auto event = d.values.find("event");
      if (event != d.values.end() && event->second == "wall_step") newest_.clear();
      std::printf("%.6f  %-10s event %s: %s\n", static_cast<double>(m.message.log_time) * 1e-9,
                  name.c_str(), event == d.values.end() ? "?" : event->second.c_str(),
                  d.message.c_str());
    }
  }

  void print_row(const std::string& name, Seen& seen, const Spread& error_ms);

  static constexpr std::size_t kMostAges = 100'000;

  const Arguments& arguments_;
  std::map<std::string, Seen> seen_;
  std::map<std::string, bool> has_points_;
  std::map<std::string, Diagnosis> state_;
  std::map<std::string, std::string> orders_;   // by sensor: "", its trajectory, or its own
  std::map<std::string, std::int64_t> newest_;  // log time, by order
  StampLog stamps_;
  std::uint64_t backward_ = 0;
};

void Monitor::print_row(const std::string& name, Seen& seen, const Spread& error_ms) {
  const Diagnosis& now = state_[name];
  const auto rate = now.values.find("rate_hz");
  std::printf("%-10s %-10s %9llu %9llu %9llu %8s  %7.1f %7.1f", name.c_str(),
              now.hardware_id.c_str(), static_cast<unsigned long long>(now.count("driver.packets")),
              static_cast<unsigned long long>(seen.messages),
              static_cast<unsigned long long>(seen.points),
              rate == now.values.end() ? "?" : rate->second.c_str(), percentile_ms(seen.ages, 0.5),
              percentile_ms(seen.ages, 0.99));
  if (error_ms.n == 0) {
    std::printf("  %8s %8s", "-", "-");
  } else {
    std::printf("  %8.3f %8.3f", error_ms.p50, error_ms.p99);
  }
  std::printf("  %s\n", drops(now).c_str());
}

bool Monitor::finish() {
  std::printf("\n%-10s %-10s %9s %9s %9s %8s  %7s %7s  %8s %8s  %s\n", "sensor", "driver",
              "packets", "messages", "points", "Hz", "age p50", "p99 ms", "err p50", "p99 ms",
              "dropped by reason");
  bool good = !state_.empty();
  auto stamps = stamps_.figures(read_truths(arguments_.truth), 0);
  for (const auto& [name, now] : state_) {
    if (name == "lidard") continue;
    Seen& seen = seen_[name];
    print_row(name, seen, stamps[name].error_ms);
    const bool may_be_absent = now.values.contains("input.messages");
    if (seen.messages == 0 && !may_be_absent)
      std::printf("  FAULT: %s: nothing came\n", name.c_str()), good = false;
    if (seen.missing > 0) {
      std::printf("  %s: %llu messages were lost on the way to this client\n", name.c_str(),
                  static_cast<unsigned long long>(seen.missing));
    }
    for (const std::string& equation : imbalances(now)) {
      std::printf("  FAULT: %s: %s\n", name.c_str(), equation.c_str());
      good = false;
    }
  }
  if (backward_ > 0) {
    std::printf("  FAULT: the order went back %llu times\n",
                static_cast<unsigned long long>(backward_));
    good = false;
  }
  std::printf("order: %s; books: %s\n", backward_ == 0 ? "never went back" : "went back",
              good ? "balance" : "see above");
  return good;
}

void monitor(const Arguments& arguments) {
  StreamClient client(arguments.socket);
  Monitor monitor(arguments);
  std::signal(SIGINT, [](int) { interrupted = 1; });
  std::signal(SIGTERM, [](int) { interrupted = 1; });
  const auto end = SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(
                                            std::chrono::duration<double>(arguments.seconds));
  const auto on_message = [&](const StreamMessage& m) { monitor.on_message(m); };
  while (!interrupted && (arguments.seconds <= 0 || SteadyClock::now() < end)) {
    if (!client.read(50, on_message)) break;
    std::fflush(stdout);
  }
  const bool good = monitor.finish();
  if (arguments.verify && !good) throw Failure(kFailed, "");
}

}  // namespace

void add_monitor(CLI::App& root) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* const command =
      root.add_subcommand("monitor", "Print the stream for people, then a table of every sensor");
  command->add_option("--socket", arguments->socket, "stream socket")->capture_default_str();
  command->add_option("--for", arguments->seconds, "seconds; 0: until Ctrl-C")
      ->check(finite())
      ->capture_default_str();
  command->add_option("--lines", arguments->lines_hz, "lines per second and sensor")
      ->check(finite())
      ->capture_default_str();
  command
      ->add_option("--truth", arguments->truth,
                   "a sensor's truth file, written by `lidarctl simulate --truth`")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  command->add_flag("--verify", arguments->verify,
                    "exit status 1 unless every sensor streamed in order and the books balance");
  command->callback([arguments] { monitor(*arguments); });
}

}  // namespace lidarctl
