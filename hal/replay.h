// Feeds a raw capture (capture.h) back: the same events in the same order at the same times.
//
// Where the records come from is the caller's business. Whatever the program does otherwise than
// when it was recorded is counted as a divergence; the replay goes on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hal/capture.h"
#include "hal/event_loop.h"

namespace hal {

class RecordSource {
 public:
  // The next record; its bytes are valid until the next call. Nothing: the end.
  virtual std::optional<RawRecord> next() = 0;

 protected:
  ~RecordSource() = default;
};

// A pass lasts until the next one begins, or the capture ends.
class ReplayListener : public PassListener {
 public:
  virtual void on_tick(Time now) = 0;
  virtual void on_suspended(Duration length) = 0;  // the machine slept before this pass
  virtual void on_offset(std::int64_t unix_minus_inner_ns) = 0;      // of the outputs
  virtual void on_wall_clock(std::int64_t unix_minus_inner_ns) = 0;  // as measured before a tick

 protected:
  ~ReplayListener() = default;
};

// The time of the record being handled. Unix time follows the recorded offsets.
class ReplayClock final : public Clock {
 public:
  Time now() const override { return now_; }
  ClockPair both() const override { return {now_, to_ns(now_) + offset_ns_}; }

 private:
  friend class Replayer;
  Time now_{};
  std::int64_t offset_ns_ = 0;
};

class ReplayPort;

class Replayer {
 public:
  explicit Replayer(RecordSource& source);

  const Clock& clock() const { return clock_; }
  // To be made before the first step(), used until the last; the Replayer outlives it.
  std::unique_ptr<Port> make_port(std::uint8_t sensor, std::uint8_t channel, std::string name);

  bool step(ReplayListener& listener);  // handles one record; false: the end
  void run(ReplayListener& listener) {
    while (step(listener)) {
    }
  }
  std::uint64_t divergences() const { return divergences_; }

 private:
  friend class ReplayPort;
  const RawRecord* peek();
  void consume(RawRecord& taken);  // what peek() showed; sets the clock
  void begin_pass(ReplayListener& listener, const RawRecord& record);
  void end_pass(ReplayListener& listener);
  ReplayPort* find(std::uint8_t sensor, std::uint8_t channel) const;
  void handle_port_record(const RawRecord& record);

  RecordSource& source_;
  ReplayClock clock_;
  std::vector<ReplayPort*> ports_;
  std::optional<RawRecord> next_;
  bool in_pass_ = false;
  Time began_{};
  std::uint64_t divergences_ = 0;
  std::unique_ptr<std::byte[]> bytes_;  // of the chunk being handled: next_ may move on meanwhile
};

}  // namespace hal
