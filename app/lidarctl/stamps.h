// What the stamps of one stream are worth, sensor by sensor: figures from the messages alone, and
// errors where a simulator wrote the truth.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/health_checks.h"
#include "app/lidarctl/stream_client.h"
#include "app/lidarctl/truth.h"

namespace lidarctl {

// Of values in ms; empty: `n` is 0.
struct Spread {
  std::size_t n = 0;
  double p50 = 0, p90 = 0, p99 = 0, max = 0;
};
Spread spread_of(std::vector<double> values);

// A value and when it was, s after the first message of the stream.
struct Plotted {
  double at, value;
};

using Truths = std::map<std::string, std::unique_ptr<Truth>>;  // by sensor

struct SensorFigures {
  std::string kind;                      // "points", "scan", "imu"
  std::uint64_t messages = 0, lost = 0;  // lost: on the way to this client
  double seconds = 0;                    // from the first stamp to the last
  double period_ms = 0, jitter_ms = 0;   // median; rms about it, pauses of 3 periods left out
  std::optional<double> drift_ppm;       // of the device's clock, as the daemon fitted it
  std::string clock;                     // "locked", "coarse"; empty: not told
  Spread latency_ms;                     // from stamp to leaving the daemon
  Spread error_ms;                       // of the stamps, against the truth, absolute
  double error_mean_ms = 0;              // signed
  // What arrival times would give: the time of leaving the daemon against the truth, less the
  // smallest, since a constant delay can be configured away.
  Spread arrival_error_ms;
  std::uint64_t unmatched = 0;  // stamps for which the truth has nothing within 100 ms
  app::HealthCheck checks;

  std::vector<double> periods_ms;
  std::vector<Plotted> latency_plot, error_plot;
};

// Takes messages in the order of the stream and keeps what the figures need of the newest
// kMostMessages of each sensor: 40 bytes a message and up to kMostPoints stamps of a cloud for the
// truth. When that is full, the older half is forgotten.
class StampLog {
 public:
  // With `keep_points`, since there will be a truth to compare with.
  explicit StampLog(bool keep_points) : keep_points_(keep_points) {}

  void on_message(const StreamMessage&);

  // By sensor. `truth`: by sensor, where there is one. Messages within `skip_s` after the first of
  // a sensor count for its checks only.
  std::map<std::string, SensorFigures> figures(const Truths& truth, double skip_s) const;
  std::vector<std::string> sensors() const;

  static constexpr std::size_t kMostPoints = 32;
  static constexpr std::size_t kMostMessages = 400'000;

 private:
  struct Entry {
    std::int64_t first = 0, at = 0, published = 0;  // Unix, ns
    bool joins = false;                             // nothing is missing between it and the last
    std::uint32_t points_end = 0;                   // of its stamps in Sensor::points
  };
  struct Stamped {
    std::int64_t at;  // Unix, ns
    float angle;      // rad, as the sensor sees it
  };
  struct Sensor {
    std::string kind;
    std::vector<Entry> entries;
    std::vector<Stamped> points;
    app::HealthCheck checks;
    std::uint32_t sequence = 0;
    std::uint64_t lost = 0;
    bool joins = false;
  };

  Sensor& sensor(const StreamMessage&);
  void take_cloud(const StreamMessage&);
  void take_scan(const StreamMessage&);
  void take_imu(const StreamMessage&);
  void take_state(const StreamMessage&);
  void take_poses(hal::Bytes);
  void add(Sensor&, const Entry&);
  std::int64_t inner(std::int64_t unix_ns) const;
  void compare(const Sensor&, const Truth&, std::size_t from, std::int64_t start,
               SensorFigures&) const;

  bool keep_points_;
  std::map<std::string, Sensor> sensors_;
  std::map<std::string, SensorPose> poses_;
  struct Clock {
    std::string quality;
    double drift_ppm = 0;
  };
  std::map<std::string, Clock> clocks_;
  struct Offset {
    std::int64_t unix_ns, offset_ns;  // Unix minus inner time, when it was told
  };
  std::vector<Offset> offsets_;
};

// Of NAME=FILE each; Failures of key_value() and Truth. Called after the last message: by then a
// simulator has written what the newest stamps belong to.
Truths read_truths(const std::vector<std::string>& pairs);

std::string table_of(const std::map<std::string, SensorFigures>&);
std::string json_of(const std::map<std::string, SensorFigures>&);
// One page with all in it: periods, latency and error of every sensor as SVG.
std::string page_of(const std::map<std::string, SensorFigures>&, const std::string& title);

}  // namespace lidarctl
