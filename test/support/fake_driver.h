// A driver whose device is the test.
#pragma once

#include "drivers/driver.h"

namespace test {

class FakeDriver final : public drivers::Driver {
 public:
  FakeDriver(drivers::SensorId id, drivers::PacketSink& sink) : id_(id), sink_(sink) {}

  void start(hal::Time now) override { become(drivers::State::starting, now); }
  void tick(hal::Time) override { ++ticks; }
  hal::Time due() const override { return hal::Time::max(); }
  void stop(hal::Time now) override { become(drivers::State::idle, now); }
  void set_wall_clock(std::int64_t unix_minus_inner_ns) override { wall = unix_minus_inner_ns; }
  bool stopped() const override { return health_.state == drivers::State::idle; }
  bool drained() const override { return true; }
  drivers::Health health() const override { return health_; }
  std::span<const std::unique_ptr<hal::Port>> ports() const override { return ports_; }

  void become(drivers::State state, hal::Time now, const char* why = "",
              drivers::Cause cause = drivers::Cause::none) {
    health_.state = state;
    health_.why.print("%s", why);
    health_.cause = cause;
    sink_.on_state(id_, state, now);
  }
  void restart_clock() { ++health_.clock.epoch; }
  void find_utc(drivers::UtcState state) { health_.clock.utc = state; }
  // A sample that arrives when it is taken.
  void sample(hal::Time at, const drivers::ImuSample::Vector& accel = {0, 0, 9.81}) {
    drivers::ImuSample s;
    s.at = at;
    s.accel = accel;
    s.gyro = {0, 0, 0.1};
    ++health_.packets;
    ++health_.framing.frames;
    sink_.on_packet(id_, s, at);
  }

  int ticks = 0;
  std::int64_t wall = 0;  // Unix minus inner time, as told

 private:
  const drivers::SensorId id_;
  drivers::PacketSink& sink_;
  drivers::Health health_;
  std::array<std::unique_ptr<hal::Port>, 1> ports_;
};

}  // namespace test
