// The figures of `stamps` as a table and as JSON.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/lidarctl/stamps.h"

namespace lidarctl {
namespace {

template <class... Values>
void append(std::string& text, const char* format, Values... values) {
  char line[320];
  std::snprintf(line, sizeof line, format, values...);
  text += line;
}

unsigned long long count(std::uint64_t n) { return n; }

void append_spread(std::string& text, const char* what, const Spread& s, const char* note) {
  if (s.n == 0) return;
  append(text, "  %-14s p50 %9.3f  p90 %9.3f  p99 %9.3f  max %9.3f ms%s\n", what, s.p50, s.p90,
         s.p99, s.max, note);
}

double rate_of(const SensorFigures& f) { return f.period_ms > 0 ? 1e3 / f.period_ms : 0; }

nlohmann::json json_spread(const Spread& s) {
  if (s.n == 0) return nullptr;
  return {{"n", s.n}, {"p50", s.p50}, {"p90", s.p90}, {"p99", s.p99}, {"max", s.max}};
}

nlohmann::json json_checks(const app::HealthCheck& checks) {
  nlohmann::json found = nlohmann::json::object();
  for (const app::CheckRow& row : app::check_rows()) {
    const app::Finding& finding = checks.finding(row.check);
    found[std::string(row.name)] = {
        {"count", finding.count},
        {"worst",
         std::isfinite(finding.worst) ? nlohmann::json(finding.worst) : nlohmann::json(nullptr)},
        {"unit", row.unit}};
  }
  return found;
}

nlohmann::json json_gaps(const app::HealthCheck& checks) {
  nlohmann::json buckets = nlohmann::json::array();
  for (std::size_t i = 0; i < checks.gaps().size(); ++i) {
    const bool open = i == app::kGapEdges.size();
    buckets.push_back(
        {{"below_s", open ? nlohmann::json(nullptr) : nlohmann::json(app::kGapEdges[i])},
         {"count", checks.gaps()[i]}});
  }
  return buckets;
}

}  // namespace

std::string table_of(const std::map<std::string, SensorFigures>& all) {
  std::string text;
  for (const auto& [name, f] : all) {
    append(text, "%s (%s): %llu messages in %.1f s, %llu lost on the way\n", name.c_str(),
           f.kind.c_str(), count(f.messages), f.seconds, count(f.lost));
    append(text, "  %-14s %.4f ms (%.3f Hz), jitter %.4f ms rms\n", "period", f.period_ms,
           rate_of(f), f.jitter_ms);
    if (f.drift_ppm) {
      append(text, "  %-14s %s, drift %+.3f ppm\n", "device clock", f.clock.c_str(), *f.drift_ppm);
    }
    append_spread(text, "latency", f.latency_ms, "");
    append_spread(text, "error", f.error_ms, "");
    if (f.error_ms.n > 0) append(text, "  %-14s %+.4f ms\n", "  mean", f.error_mean_ms);
    append_spread(text, "of arrivals", f.arrival_error_ms, " (less the smallest)");
    if (f.unmatched > 0) {
      append(text, "  %-14s %llu stamps have no true measurement near them\n", "unmatched",
             count(f.unmatched));
    }
    append(text, "  %-14s %s\n", "message gaps", app::in_words(f.checks.gaps()).c_str());
    std::size_t found = 0;
    for (const app::CheckRow& row : app::check_rows()) {
      const app::Finding& finding = f.checks.finding(row.check);
      if (finding.count == 0) continue;
      ++found;
      append(text, "  %-14s %s\n", row.level == app::Level::error ? "ERROR" : "WARNING",
             app::in_words(row.check, finding).c_str());
    }
    if (found == 0) append(text, "  %-14s nothing wrong\n", "checks");
  }
  return text;
}

std::string json_of(const std::map<std::string, SensorFigures>& all) {
  nlohmann::json sensors = nlohmann::json::object();
  for (const auto& [name, f] : all) {
    nlohmann::json& out = sensors[name];
    out = {{"kind", f.kind},
           {"messages", f.messages},
           {"lost", f.lost},
           {"seconds", f.seconds},
           {"period_ms", f.period_ms},
           {"rate_hz", rate_of(f)},
           {"jitter_ms", f.jitter_ms},
           {"clock", f.clock.empty() ? nlohmann::json(nullptr) : nlohmann::json(f.clock)},
           {"drift_ppm", f.drift_ppm ? nlohmann::json(*f.drift_ppm) : nlohmann::json(nullptr)},
           {"latency_ms", json_spread(f.latency_ms)},
           {"error_ms", json_spread(f.error_ms)},
           {"arrival_error_ms", json_spread(f.arrival_error_ms)},
           {"unmatched", f.unmatched},
           {"checks", json_checks(f.checks)},
           {"message_gaps", json_gaps(f.checks)}};
    out["error_mean_ms"] =
        f.error_ms.n > 0 ? nlohmann::json(f.error_mean_ms) : nlohmann::json(nullptr);
  }
  return nlohmann::json{{"sensors", sensors}}.dump(2) + "\n";
}

}  // namespace lidarctl
