// A driver whose device is the test.
#pragma once

#include "drivers/driver.h"

namespace test {

class FakeDriver final : public drivers::Driver {
 public:
  FakeDriver(drivers::SensorId id, drivers::PacketSink& sink, std::size_t outputs = 1)
      : id_(id), outputs_(outputs), sink_(sink) {}

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
    for (std::size_t k = 0; k < outputs_; ++k) {
      sink_.on_state(static_cast<drivers::SensorId>(id_ + k), state, now);
    }
  }
  void restart_clock() { ++health_.clock.epoch; }
  void find_utc(drivers::UtcState state) { health_.clock.utc = state; }
  // A sample that arrives when it is taken.
  void sample(hal::Time at, const drivers::ImuSample::Vector& accel = {0, 0, 9.81}) {
    sample(at, at, accel);
  }
  void sample(hal::Time at, hal::Time arrival,
              const drivers::ImuSample::Vector& accel = {0, 0, 9.81},
              const drivers::ImuSample::Vector& gyro = {0, 0, 0.1}) {
    drivers::ImuSample s;
    s.at = at;
    s.accel = accel;
    s.gyro = gyro;
    deliver(s, arrival);
  }
  // A part of a turn with three beams, 1 us apart. No two are equal.
  void slice(hal::Time last, hal::Time arrival, bool starts_turn = false) {
    constexpr hal::Duration kStep = std::chrono::microseconds(1);
    const float range = 1 + 0.001F * static_cast<float>(++slices_ % 1000);
    const std::array<drivers::Beam, 3> beams{{{0, range, 0}, {0.1F, range, 0}, {0.2F, range, 0}}};
    deliver(
        drivers::ScanSlice{
            .first = last - 2 * kStep, .step = kStep, .starts_turn = starts_turn, .beams = beams},
        arrival);
  }

  int ticks = 0;
  std::int64_t wall = 0;  // Unix minus inner time, as told

 private:
  void deliver(const drivers::Packet& packet, hal::Time arrival) {
    const bool second = outputs_ > 1 && std::holds_alternative<drivers::ImuSample>(packet);
    ++health_.packets;
    health_.imu_packets += second;
    ++health_.framing.frames;
    (second ? health_.last_imu : health_.last_packet) = arrival;
    sink_.on_packet(static_cast<drivers::SensorId>(id_ + second), packet, arrival);
  }

  unsigned slices_ = 0;
  const drivers::SensorId id_;
  const std::size_t outputs_;  // the second is of samples
  drivers::PacketSink& sink_;
  drivers::Health health_;
  drivers::Ports ports_;
};

}  // namespace test
