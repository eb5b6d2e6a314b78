// A simulated RPLIDAR in simulated time, and the requests that its tests send.
#pragma once

#include "test/support/harness.h"

#include <initializer_list>
#include <memory>
#include <utility>

#include "test/sim/rplidar_model.h"

namespace rplidar_test {

inline sim::ByteVector bytes(std::initializer_list<unsigned> values) {
  sim::ByteVector out;
  for (const unsigned v : values) out.push_back(static_cast<std::byte>(v));
  return out;
}

inline void check_bytes(const sim::ByteVector& expected, const sim::ByteVector& actual) {
  LONGS_EQUAL(expected.size(), actual.size());
  MEMCMP_EQUAL(expected.data(), actual.data(), expected.size());
}

class RplidarBench : public Utest {
 protected:
  sim::DeviceClock clock{1};
  std::unique_ptr<sim::DeviceModel> device;
  hal::Time now = hal::from_ns(1'000'000'000);
  sim::Output out;

  void power_up(const sim::Options& options, std::uint64_t seed = 1) {
    const auto settings = sim::Settings::check(sim::rplidar::options(), options);
    CHECK_TRUE(static_cast<bool>(settings));
    device = std::move(*sim::rplidar::make({*settings, clock, 0.0, seed}));
    clock.restart(now);
    device->power_up(now, out);
  }
  // What the device answers at once, in one piece.
  sim::ByteVector ask(const sim::ByteVector& request) {
    out.clear();
    device->receive(sim::Channel::data, request, now, out);
    return said();
  }
  sim::ByteVector said() const {
    sim::ByteVector all;
    for (const sim::Frame& f : out.frames) all.insert(all.end(), f.bytes.begin(), f.bytes.end());
    return all;
  }
  void run_for(hal::Duration d) {
    out.clear();
    const hal::Time end = now + d;
    for (hal::Time next = device->advance(now, out); next <= end;
         next = device->advance(now, out)) {
      CHECK_TRUE(next > now);
      now = next;
    }
    now = end;
  }

  const sim::ByteVector kStop = bytes({0xA5, 0x25}), kScan = bytes({0xA5, 0x20}),
                        kForceScan = bytes({0xA5, 0x21}), kReset = bytes({0xA5, 0x40}),
                        kInfo = bytes({0xA5, 0x50}), kHealth = bytes({0xA5, 0x52});
};

}  // namespace rplidar_test
