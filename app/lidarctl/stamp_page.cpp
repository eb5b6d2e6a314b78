// The figures of `stamps` as one page of HTML with SVG: nothing is loaded from elsewhere.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "app/lidarctl/stamps.h"

namespace lidarctl {
namespace {

constexpr double kWidth = 440, kHeight = 220, kLeft = 64, kBottom = 34, kTop = 26;
constexpr std::size_t kBars = 60, kColumns = 400;

// Values on the axis are for reading, so that they are round.
double round_step(double span) {
  if (!(span > 0)) return 1;
  const double power = std::pow(10, std::floor(std::log10(span / 4)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (span / (factor * power) <= 5) return factor * power;
  }
  return 10 * power;
}

struct Range {
  double low, high;
  double part(double value) const { return high > low ? (value - low) / (high - low) : 0.5; }
};

class Plot {
 public:
  Plot(const std::string& title, const char* x_name, Range x, Range y) : x_(x), y_(y) {
    print(
        "<svg viewBox=\"0 0 %g %g\" width=\"%g\" height=\"%g\"><text x=\"%g\" y=\"15\" "
        "class=\"t\">%s</text>",
        kWidth, kHeight, kWidth, kHeight, kLeft, title.c_str());
    print("<text x=\"%g\" y=\"%g\" text-anchor=\"end\">%s</text>", kWidth - 8, kHeight - 4, x_name);
    axis(x_, true);
    axis(y_, false);
  }
  void bar(double from, double to, double value) {
    if (value <= y_.low) return;
    print("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>", x(from), y(value),
          std::max(1.0, x(to) - x(from)), y(y_.low) - y(value));
  }
  void line(double at, double low, double high) {
    print("<line class=\"d\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>", x(at),
          y(low) + 0.7, x(at), y(high) - 0.7);
  }
  std::string end() { return svg_ + "</svg>\n"; }

 private:
  template <class... Values>
  void print(const char* format, Values... values) {
    std::array<char, 512> text;
    std::snprintf(text.data(), text.size(), format, values...);
    svg_ += text.data();
  }
  double x(double v) const { return kLeft + x_.part(v) * (kWidth - kLeft - 8); }
  double y(double v) const { return kHeight - kBottom - y_.part(v) * (kHeight - kBottom - kTop); }
  void axis(Range range, bool is_x) {
    const double step = round_step(range.high - range.low);
    for (double v = std::ceil(range.low / step) * step; v <= range.high + step * 1e-9; v += step) {
      const double shown = std::abs(v) < step * 1e-6 ? 0 : v;
      if (is_x) {
        print(
            "<line x1=\"%.1f\" y1=\"%g\" x2=\"%.1f\" y2=\"%g\"/><text x=\"%.1f\" y=\"%g\" "
            "text-anchor=\"middle\">%.6g</text>",
            x(v), kTop, x(v), kHeight - kBottom, x(v), kHeight - kBottom + 13, shown);
      } else {
        print(
            "<line x1=\"%g\" y1=\"%.1f\" x2=\"%g\" y2=\"%.1f\"/><text x=\"%g\" y=\"%.1f\" "
            "text-anchor=\"end\">%.6g</text>",
            kLeft, y(v), kWidth - 8, y(v), kLeft - 5, y(v) + 4, shown);
      }
    }
  }

  Range x_, y_;
  std::string svg_;
};

std::string histogram(const std::vector<double>& values) {
  if (values.empty()) return "";
  const auto [low, high] = std::ranges::minmax(values);
  const double margin = std::max(0.02 * (high - low), 1e-6);
  const Range range{low - margin, high + margin};
  std::array<double, kBars> bars{};
  for (const double value : values) {
    const auto i = static_cast<std::size_t>(range.part(value) * double{kBars});
    ++bars[std::min(i, kBars - 1)];
  }
  // Rare ones matter, so the axis is that of the logarithm.
  double top = 0;
  for (double& bar : bars) bar = bar > 0 ? std::log10(bar) + 0.2 : 0, top = std::max(top, bar);
  Plot plot("period: log10 of the number of messages", "ms", range, {0, top});
  for (std::size_t i = 0; i < kBars; ++i) {
    const double width = (range.high - range.low) / double{kBars};
    plot.bar(range.low + width * static_cast<double>(i),
             range.low + width * static_cast<double>(i + 1), bars[i]);
  }
  return plot.end();
}

// Each column shows the lowest and the highest value in it.
std::string over_time(const std::string& title, const std::vector<Plotted>& values) {
  if (values.empty()) return "";
  Range time{values.front().at, values.front().at}, range{0, 0};
  for (const Plotted& p : values) {
    time = {std::min(time.low, p.at), std::max(time.high, p.at)};
    range = {std::min(range.low, p.value), std::max(range.high, p.value)};
  }
  if (range.high - range.low < 1e-6) range.high += 1e-3;
  std::array<Range, kColumns> columns;
  columns.fill({INFINITY, -INFINITY});
  for (const Plotted& p : values) {
    const auto i = static_cast<std::size_t>(time.part(p.at) * double{kColumns});
    Range& column = columns[std::min(i, kColumns - 1)];
    column = {std::min(column.low, p.value), std::max(column.high, p.value)};
  }
  Plot plot(title, "s", time, range);
  for (std::size_t i = 0; i < kColumns; ++i) {
    const double at = time.low + (time.high - time.low) * (static_cast<double>(i) + 0.5) / kColumns;
    if (columns[i].low <= columns[i].high) plot.line(at, columns[i].low, columns[i].high);
  }
  return plot.end();
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else
      out += c;
  }
  return out;
}

}  // namespace

std::string page_of(const std::map<std::string, SensorFigures>& all, const std::string& title) {
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + escaped(title) +
      "</title>\n<style>body{font:14px sans-serif;margin:1em}svg{margin:2px}"
      "svg text{font:10px sans-serif;fill:#444}svg text.t{font-weight:bold}"
      "svg line{stroke:#ddd}svg line.d{stroke:#1660b0}svg rect{fill:#1660b0}"
      "pre{background:#f4f4f4;padding:.6em;overflow-x:auto}</style></head>\n<body><h1>" +
      escaped(title) + "</h1>\n";
  for (const auto& [name, f] : all) {
    page += "<h2>" + escaped(name) + "</h2>\n<pre>" + escaped(table_of({{name, f}})) + "</pre>\n";
    page += histogram(f.periods_ms);
    page += over_time("latency, ms", f.latency_plot);
    page += over_time("error against the truth, ms", f.error_plot);
  }
  return page + "</body></html>\n";
}

}  // namespace lidarctl
