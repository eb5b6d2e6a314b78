// The life of every driver, as a pure function. Actions live in DeviceDriver; nothing happens here.
#pragma once

#include <cstdint>

#include "hal/time.h"

namespace drivers {

enum class State : std::uint8_t { idle, starting, streaming, silent, backoff, stopping };
enum class Event : std::uint8_t {
  go,       // start, or the back-off has passed
  data,     // a packet after the start script ended
  silence,  // nothing for as long as this state allows
  fault,    // a port failed, a step of the dialogue failed, the device restarted
  stop,     // the daemon or a reload wants it to end
  done,     // the stop script ended
};

//            go         data       silence    fault      stop       done
// idle       starting   -          -          -          -          -
// starting   -          streaming  backoff    backoff    stopping   -
// streaming  -          -          silent     backoff    stopping   -
// silent     -          streaming  backoff    backoff    stopping   -
// backoff    starting   -          -          -          stopping   -
// stopping   -          -          idle       idle       -          idle
constexpr State next(State s, Event e) {
  switch (s) {
    case State::idle:
      return e == Event::go ? State::starting : s;
    case State::starting:
    case State::silent:
      if (e == Event::data) return State::streaming;
      if (e == Event::stop) return State::stopping;
      return e == Event::silence || e == Event::fault ? State::backoff : s;
    case State::streaming:
      if (e == Event::silence) return State::silent;
      if (e == Event::stop) return State::stopping;
      return e == Event::fault ? State::backoff : s;
    case State::backoff:
      if (e == Event::go) return State::starting;
      return e == Event::stop ? State::stopping : s;
    case State::stopping:
      return e == Event::silence || e == Event::fault || e == Event::done ? State::idle : s;
  }
  return s;
}

// How long states are borne with.
inline constexpr hal::Duration kFirstRetry = std::chrono::milliseconds(100);  // backoff, then twice
inline constexpr hal::Duration kLastRetry = std::chrono::milliseconds(500);   // as long, up to this
inline constexpr hal::Duration kFirstPacketWithin = std::chrono::seconds(3);  // of the start script
inline constexpr hal::Duration kDiagnoseAfter = std::chrono::seconds(1);      // starting
inline constexpr hal::Duration kStopWithin = std::chrono::milliseconds(400);
inline constexpr hal::Duration kStalled = std::chrono::milliseconds(120);  // between two ticks

constexpr const char* name(State s) {
  switch (s) {
    case State::idle:
      return "idle";
    case State::starting:
      return "starting";
    case State::streaming:
      return "streaming";
    case State::silent:
      return "silent";
    case State::backoff:
      return "backoff";
    case State::stopping:
      return "stopping";
  }
  return "?";
}

}  // namespace drivers
