// A client of the stream socket that keeps account of what comes, apart from the one in lidarctl.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hal/mcap/reader.h"
#include "hal/unique_fd.h"
#include "test/system/process.h"

namespace test {

struct Topic {
  std::uint64_t messages = 0, missing = 0;  // missing: gaps in the sequence
  std::uint32_t sequence = 0;
  std::int64_t log_time = 0;  // of the newest
  std::chrono::steady_clock::time_point at{};
};

struct Event {
  std::string sensor, event, message;
  std::map<std::string, std::string> values;
};

class StreamReader final : private hal::mcap::RecordSink {
 public:
  explicit StreamReader(const std::string& socket);  // fails the test when nobody listens

  // Takes what comes until `done` or the time is over; true when `done`.
  bool read_until(const std::function<bool()>& done, Seconds within = kEventWithin);
  void read_for(Seconds time) {
    read_until([] { return false; }, time);
  }

  bool has_ended() const { return ended_; }
  bool ended_between_records() const { return ended_ && reader_.partial() == 0; }
  bool has_finished() const { return reader_.finished(); }  // with a footer
  Topic& topic(const std::string& name) { return topics_[name]; }
  const std::map<std::string, Topic>& topics() const { return topics_; }
  std::uint64_t backward() const { return backward_; }  // log times of sensors that went back
  const std::vector<Event>& events() const { return events_; }
  const Event* event(const std::string& sensor, const std::string& event) const;  // the newest
  // Of the newest /diagnostics.
  std::string value(const std::string& sensor, const std::string& key) const;
  std::uint64_t count(const std::string& sensor, const std::string& key) const;
  std::string message(const std::string& sensor) const;

 private:
  void on_record(const hal::mcap::Record&) override;
  void take_diagnostics(hal::Bytes, bool are_events);

  hal::UniqueFd fd_;
  hal::mcap::Reader reader_;
  std::vector<std::byte> buffer_;
  std::map<std::uint16_t, std::string> channels_;
  std::map<std::string, Topic> topics_;
  std::map<std::string, std::map<std::string, std::string>> state_;
  std::map<std::string, std::string> messages_;
  std::vector<Event> events_;
  std::int64_t newest_ = 0;
  std::uint64_t backward_ = 0;
  bool ended_ = false;
};

}  // namespace test
