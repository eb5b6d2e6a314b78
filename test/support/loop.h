// The real event loop in tests: passes counted, waiting bounded, what a port tells kept.
#pragma once

#include <pty.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "hal/clock.h"
#include "hal/event_loop.h"
#include "hal/port.h"
#include "hal/unique_fd.h"

namespace test {

using namespace std::chrono_literals;

struct Passes final : hal::PassListener {
  void on_pass_begin(hal::Time now) override {
    ++begun;
    last_begin = now;
    inside = true;
  }
  void on_pass_end(hal::Time began) override {
    ++ended;
    last_end = began;
    inside = false;
  }
  int begun = 0, ended = 0;
  bool inside = false;
  hal::Time last_begin{}, last_end{};
};

struct RealLoop {
  // Runs until the claim holds, at most 10 s: long enough for any busy machine.
  template <class Claim>
  bool run_until(Claim&& claim) {
    const hal::Time end = clock.now() + 10s;
    while (!claim() && clock.now() < end) loop.run_for(passes, 2ms);
    return claim();
  }
  hal::InnerClock clock;
  hal::EventLoop loop{clock};
  Passes passes;
};

struct PortLog final : hal::PortListener {
  explicit PortLog(const Passes* watched = nullptr) : passes(watched) {}
  void on_port_open(hal::Time) override { ++opened; }
  void on_chunk(const hal::Chunk& chunk) override {
    ++chunks;
    lost += chunk.lost;
    per_byte = chunk.per_byte;
    stamps.push_back(chunk.last_at);
    for (std::byte b : chunk.bytes) text.push_back(static_cast<char>(b));
    if (passes != nullptr && !passes->inside) ++outside_pass;
  }
  void on_port_fault(const hal::Error& error, hal::Time) override {
    ++faults;
    last_fault = error;
  }
  const Passes* passes;
  int opened = 0, chunks = 0, faults = 0, outside_pass = 0;
  std::uint32_t lost = 0;
  hal::Duration per_byte{};
  std::string text;
  std::vector<hal::Time> stamps;
  hal::Error last_fault;
};

inline hal::Bytes view_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// A pty whose far end is the test.
struct Pty {
  Pty() {
    int far_end = -1, near_end = -1;
    std::array<char, 128> name{};
    if (::openpty(&far_end, &near_end, name.data(), nullptr, nullptr) != 0) return;
    far.reset(far_end);
    near.reset(near_end);
    path = name.data();
  }
  void write(std::string_view text) const {
    if (::write(far.get(), text.data(), text.size()) < 0) std::perror("pty");
  }
  hal::UniqueFd far;
  hal::UniqueFd near;  // kept open, so that the pty lives while nobody has it
  std::string path;
};

}  // namespace test
