// A station over two drivers that are the test, with its log and its messages as text.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <map>

#include "app/lidarctl/diagnosis.h"
#include "app/station.h"
#include "test/support/fake_driver.h"
#include "test/support/manual_clock.h"
#include "test/support/message_log.h"
#include "test/support/small_stack.h"

namespace test {

class StationBench {
 public:
  explicit StationBench(const std::string& top = "", const std::string& lidar = "",
                        const std::string& imu = "")
      : stack(small_stack(lidar, imu, top)), plan(config::plan(stack)) {
    if (::pipe2(pipe_.data(), O_NONBLOCK | O_CLOEXEC) != 0) std::perror("pipe");
    read_end_.reset(pipe_[0]), write_end_.reset(pipe_[1]);
    log = hal::Log(pipe_[1], hal::Severity::info, hal::Log::Style::plain);
    station = std::make_unique<app::Station>(stack, plan, messages, log);
    for (drivers::SensorId id = 0; id < 2; ++id) {
      auto driver = std::make_unique<FakeDriver>(id, station->pipeline().input());
      (id == 0 ? lidar_driver : imu_driver) = driver.get();
      station->pipeline().add(std::move(driver));
    }
    station->on_offset(clock.both().unix_ns - hal::to_ns(clock.now()));
  }

  // One pass with a tick, and what `events` does in it.
  template <class Events>
  void pass(Events&& events) {
    clock.advance(app::Station::kTick);
    station->on_pass_begin(clock.now());
    events();
    station->on_tick(clock.now());
    station->on_pass_end(clock.now());
  }
  void pass() {
    pass([] {});
  }
  void run_for(hal::Duration length) {
    for (const hal::Time end = clock.now() + length; clock.now() < end;) pass();
  }
  // The lines logged since the last call.
  std::string said() {
    std::string text;
    std::array<char, 4096> buffer{};
    for (ssize_t n = 0; (n = ::read(pipe_[0], buffer.data(), buffer.size())) > 0;) {
      text.append(buffer.data(), static_cast<std::size_t>(n));
    }
    return text;
  }
  // The events since the last call, as "front stall: why; ".
  std::string events() {
    std::string text;
    const auto all = messages.on("/lidard/events");
    for (; told_ < all.size(); ++told_) {
      for (auto& [name, d] : lidarctl::diagnoses(messages.bytes_of(all[told_]))) {
        text += name + " " + d.values["event"] + ": " + d.message + "; ";
        newest_event = d;
      }
    }
    return text;
  }
  std::map<std::string, lidarctl::Diagnosis> state() {
    return lidarctl::diagnoses(messages.bytes_of(messages.on("/diagnostics").back()));
  }

  ManualClock clock;
  config::Stack stack;
  config::Plan plan;
  MessageLog messages;
  hal::Log log{-1, hal::Severity::info, hal::Log::Style::plain};
  std::unique_ptr<app::Station> station;
  FakeDriver *lidar_driver = nullptr, *imu_driver = nullptr;
  lidarctl::Diagnosis newest_event;

 private:
  std::array<int, 2> pipe_{-1, -1};
  hal::UniqueFd read_end_, write_end_;
  std::size_t told_ = 0;
};

}  // namespace test
