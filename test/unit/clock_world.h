// A device and its line in simulated time: when samples are measured, what the device stamps them
// with, and when the host gets them. For the figures of the clock mapper.
//
// Errors are relative to the smallest latency, which nobody can see from one side.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numbers>
#include <random>
#include <vector>

#include "drivers/clock_mapper.h"
#include "test/support/harness.h"

namespace test {

using namespace std::chrono_literals;

// How bytes come from the device to the host.
struct Line {
  const char* name;
  double noise_us;        // mean of the exponential noise of every arrival
  double tail;            // part of the arrivals that is late besides
  hal::Duration longest;  // by up to this
  hal::Duration batch;    // delivered in batches as far apart as this; 0: at once
  hal::Duration poll;     // a batch waits up to this for the bus, and the next counts from there
  double limit_ms;        // of the p99 error after 60 s
};

inline constexpr Line kUart{"UART 115200, 1 % of 20 ms", 200, 0.01, 20ms, 0ns, 0ns, 0.05};
inline constexpr Line kFtdi16{"FTDI, batches of 16 ms", 200, 0.01, 20ms, 16ms, 125us, 1.0};
inline constexpr Line kFtdi1{"FTDI, batches of 1 ms", 100, 0.01, 10ms, 1ms, 125us, 0.3};
inline constexpr Line kWired{"wired UDP", 50, 0.005, 5ms, 0ns, 0ns, 0.05};
inline constexpr Line kWifi{"Wi-Fi, 2 ms, 1 % of 100 ms", 2000, 0.01, 100ms, 0ns, 0ns, 0.1};
// Every eighth sample meets the same wait, so the least wait hides up to 2 ms for most of a minute.
inline constexpr Line kRigid16{"rigid batches of 16 ms", 200, 0.01, 20ms, 16ms, 0ns, 2.1};
inline constexpr Line kLines[] = {kUart, kFtdi16, kFtdi1, kWired, kWifi, kRigid16};
inline constexpr unsigned kSeeds[] = {1, 2, 3};

class Chance {
 public:
  explicit Chance(unsigned seed) : engine_(seed) {}
  double uniform() { return std::uniform_real_distribution<double>(0, 1)(engine_); }
  double exponential() { return -std::log(1 - uniform()); }

 private:
  std::mt19937_64 engine_;
};

// A crystal that is `skew` off and wanders by `wander` with the temperature.
struct Crystal {
  double skew = 30e-6, wander = 8e-6, turn_s = 600;

  std::int64_t at(hal::Duration since) const {
    const double s = hal::to_seconds(since), w = 2 * std::numbers::pi / turn_s;
    const double off = skew * s + wander / w * (1 - std::cos(w * s));
    return since.count() + std::llround(off * 1e9);
  }
};

// Arrivals at the host, in order.
class Wire {
 public:
  Wire(const Line& line, unsigned seed) : line_(line), chance_(seed) {}

  // The host does nothing in between; what comes is there when it goes on.
  void stall(hal::Time from, hal::Time to) { from_ = from, to_ = to; }

  hal::Time arrival(hal::Time sent) {
    hal::Time t = sent;
    if (line_.batch > 0ns) t = batch(t);
    double late = line_.noise_us * 1e3 * chance_.exponential();
    if (chance_.uniform() < line_.tail) {
      late += static_cast<double>(line_.longest.count()) * chance_.uniform();
    }
    t += hal::Duration(std::llround(late));
    if (t >= from_ && t < to_) t = to_;
    return newest_ = std::max(newest_, t);
  }

 private:
  // The adapter's own clock is 20 ppm off.
  hal::Time batch(hal::Time t) {
    const auto step = hal::Duration(line_.batch.count() - line_.batch.count() / 50'000);
    if (batch_ + 1s < t) batch_ = t;  // the first; and nobody watches a long pause
    while (batch_ < t) {
      batch_ += step;
      const double wait = static_cast<double>(line_.poll.count()) * chance_.uniform();
      batch_ += hal::Duration(std::llround(wait));
    }
    return batch_;
  }

  const Line& line_;
  Chance chance_;
  hal::Time batch_{};
  hal::Time from_ = hal::Time::max(), to_ = hal::Time::max(), newest_{};
};

// What holds for every stamp, and the errors of those that count.
class Judge {
 public:
  void see(const std::optional<drivers::ClockMapper::Stamp>& stamp, hal::Time truth,
           hal::Time arrival, bool counts) {
    if (!stamp) {
      ++missing_;
      return;
    }
    // Strictly increasing comes first where several samples arrive at once.
    broken_ += stamp->at <= last_ || (stamp->at > arrival && stamp->at - last_ != 1us);
    if (counts) {
      errors_.push_back(std::abs(hal::to_seconds(stamp->at - truth)) * 1e3);
      raw_.push_back(std::abs(hal::to_seconds(arrival - truth)) * 1e3);
    }
    last_ = stamp->at;
  }
  double p99() const { return at(errors_, 0.99); }
  double worst() const { return at(errors_, 1); }
  double raw_p99() const { return at(raw_, 0.99); }  // of the arrivals themselves
  std::size_t missing() const { return missing_; }   // samples without a stamp
  std::size_t broken() const { return broken_; }     // stamps not increasing, or after arrival

 private:
  static double at(std::vector<double> v, double part) {
    CHECK_FALSE(v.empty());
    const auto n = static_cast<std::ptrdiff_t>(part * static_cast<double>(v.size() - 1));
    std::nth_element(v.begin(), v.begin() + n, v.end());
    return v[static_cast<std::size_t>(n)];
  }
  hal::Time last_ = hal::Time::min();
  std::size_t missing_ = 0, broken_ = 0;
  std::vector<double> errors_, raw_;
};

inline void print_figure(const char* what, const char* line, double limit_ms, double p99,
                         double worst, double raw_p99) {
  UT_PRINT(StringFromFormat("%-28s %-28s p99 %.4f ms (limit %.2f), worst %.4f, arrivals p99 %.3f",
                            what, line, p99, limit_ms, worst, raw_p99)
               .asCharString());
}

}  // namespace test
