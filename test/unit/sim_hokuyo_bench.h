// A simulated Hokuyo in simulated time, and a second reading of its scans.
#pragma once

#include "test/support/harness.h"

#include <string>
#include <vector>

#include "test/unit/sim_fixture.h"

namespace hokuyo_test {

inline std::string text_of(hal::Bytes bytes) {
  std::string text;
  for (const std::byte b : bytes) text += static_cast<char>(b);
  return text;
}

inline char sum_of(const std::string& content) {
  unsigned sum = 0;
  for (const char c : content) sum = (sum + static_cast<unsigned char>(c)) % 64;
  return static_cast<char>(sum + 48);
}

inline unsigned value_of(const std::string& chars) {
  unsigned value = 0;
  for (const char c : chars) value = 64 * value + static_cast<unsigned>(c - 48);
  return value;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text)
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  return lines;
}

struct Scan {
  unsigned stamp_ms = 0;
  std::vector<double> mm, intensity;
};

// Checks every character of the frame of a scan but its values.
inline Scan scan_of(const std::string& text, std::size_t chars = 3, bool with_intensity = false) {
  const std::vector<std::string> lines = lines_of(text);
  CHECK_TRUE(lines.size() > 5);
  CHECK_TRUE(lines[lines.size() - 1].empty() && lines[lines.size() - 2].empty());
  std::string data;
  Scan scan;
  for (std::size_t i = 1; i + 2 < lines.size(); ++i) {
    const std::string content = lines[i].substr(0, lines[i].size() - 1);
    CHECK_EQUAL(sum_of(content), lines[i].back());
    if (i == 2) scan.stamp_ms = value_of(content);
    if (i > 2) data += content;
    if (i > 2 && i + 3 < lines.size()) CHECK_EQUAL(64, content.size());
  }
  const std::size_t stride = chars + (with_intensity ? 3 : 0);
  CHECK_EQUAL(0, data.size() % stride);
  for (std::size_t at = 0; at < data.size(); at += stride) {
    scan.mm.push_back(value_of(data.substr(at, chars)));
    if (with_intensity) scan.intensity.push_back(value_of(data.substr(at + chars, 3)));
  }
  return scan;
}

class HokuyoBench : private sim_test::Bench {
 public:
  explicit HokuyoBench(const sim::Options& set, double rate_hz = 0.0)
      : Bench("hokuyo_scip", set, rate_hz) {}

  using Bench::out;
  sim::DeviceModel& model() { return *Bench::model; }
  sim::DeviceClock& clock() { return Bench::clock; }
  hal::Time now() const { return Bench::now; }

  // What it answers at once, in one piece.
  std::string ask(const std::string& request) {
    out.clear();
    sim::ByteVector bytes;
    for (const char c : request) bytes.push_back(static_cast<std::byte>(c));
    Bench::model->receive(sim::Channel::data, bytes, Bench::now, out);
    std::string all;
    for (const sim::Frame& frame : out.frames) all += text_of(frame.bytes);
    out.clear();
    return all;
  }
  // What it says by itself within this time, frame by frame.
  std::vector<std::string> texts(double seconds) {
    out.clear();
    run_for(seconds);
    std::vector<std::string> said;
    for (const sim::Frame& frame : out.frames) said.push_back(text_of(frame.bytes));
    return said;
  }
  std::string first_text(double seconds) {
    const std::vector<std::string> said = texts(seconds);
    CHECK_FALSE(said.empty());
    return said.front();
  }
};

}  // namespace hokuyo_test
