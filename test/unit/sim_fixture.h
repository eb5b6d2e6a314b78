// What the tests of the simulators share: hexadecimal text, and a model run in simulated time.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "test/sim/models.h"

namespace sim_test {

inline sim::ByteVector bytes_of(const std::string& hex) {
  sim::ByteVector bytes;
  std::string digits;
  for (const char c : hex) {
    if (c == ' ') continue;
    digits += c;
    if (digits.size() < 2) continue;
    bytes.push_back(static_cast<std::byte>(std::stoi(digits, nullptr, 16)));
    digits.clear();
  }
  return bytes;
}

inline std::string hex_of(hal::Bytes bytes) {
  std::string hex;
  for (const std::byte b : bytes) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02X ", std::to_integer<unsigned>(b));
    hex += digits;
  }
  if (!hex.empty()) hex.pop_back();
  return hex;
}

inline constexpr hal::Time kStart = hal::from_ns(1'000'000'000'000);

// A model alone: its clock, what it said, and the time.
class Bench {
 public:
  explicit Bench(const char* driver, const sim::Options& set = {}, double rate_hz = 0.0)
      : row(*sim::find_model(driver)), settings(*sim::Settings::check(row.options, set)) {
    model = std::move(*row.make({settings, clock, rate_hz, 1}));
    clock.restart(now);
    model->power_up(now, out);
  }
  void run_for(double seconds) {
    const hal::Time end = now + hal::from_seconds(seconds);
    for (hal::Time due = model->advance(now, out); due <= end; due = model->advance(due, out))
      now = due;
    now = end;
  }
  // What the model answers at once.
  std::vector<std::string> ask(const std::string& hex) {
    out.clear();
    model->receive(sim::Channel::data, bytes_of(hex), now, out);
    std::vector<std::string> answers;
    for (const sim::Frame& frame : out.frames) answers.push_back(hex_of(frame.bytes));
    out.clear();
    return answers;
  }

  const sim::ModelRow& row;
  sim::Settings settings;
  sim::DeviceClock clock{1};
  std::unique_ptr<sim::DeviceModel> model;
  sim::Output out;
  hal::Time now = kStart;
};

}  // namespace sim_test
