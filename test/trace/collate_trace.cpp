// collate_trace strict|live: plays a schedule through the collator and writes what leaves it, so
// that any other implementation of the order can be compared with this one, datum by datum.
//
//   collate_trace strict [--capacity N] [--by-trajectory]
//   collate_trace live   [--capacity N] [--by-trajectory] [--max-wait NS]
//
// Standard input, one operation per line; T: trajectory, an int; S: sensor, any word without
// blanks; t: ns, a signed 64-bit integer:
//   queue T S   sensor S of trajectory T has a queue from here on (also again, after its end)
//   add T S t   a datum stamped t
//   finish T S  no more data of it
//   flush       all queues are finished and everything leaves
//   now t       live only: it is t, and the pass that began at t has read every port empty. What is
//               added afterwards arrives at t, up to the next `now`; before the first, at its
//               stamp.
// Empty lines and lines that begin with # are skipped.
//
// Standard output: `T S t` per datum that leaves, in order; then, for the same operation,
// `error REASON` per datum that was dropped or call that was refused:
//   unknown_sensor  a datum without a queue             late       earlier than what has left
//   duplicate       live: stamped as the previous one   backward   live: stamped before it
//   future          live: more than 1 ms ahead          overflow   the queue was full
//   forced          left early, since a queue was full  queue      there is one already, or no room
//   finish          no such queue, or finished already  line       not an operation
// Output is flushed whenever the input has to be waited for, so it may be used as a dialogue.
//
// Exit status: 0; 1 when a line was no operation (standard error says which and why); 2: usage.
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collation/collator.h"

namespace {

constexpr std::size_t kMostSensors = std::numeric_limits<drivers::SensorId>::max();

struct Options {
  collation::Policy policy = collation::Policy::strict;
  // Of each queue. Memory that is not used is not touched.
  std::size_t capacity = std::size_t{1} << 22;
  hal::Duration max_wait = std::chrono::milliseconds(30);
  bool by_trajectory = false;
};

template <class Integer>
std::optional<Integer> number(std::string_view text) {
  Integer value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Collects output until the program has to wait.
class Output {
 public:
  Output& operator<<(std::string_view text) { return buffer_ += text, *this; }
  Output& operator<<(std::int64_t value) {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    return *this << std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data()));
  }
  void end_line() {
    buffer_ += '\n';
    if (buffer_.size() > (1U << 16)) flush();
  }
  void flush() {
    std::fwrite(buffer_.data(), 1, buffer_.size(), stdout);
    std::fflush(stdout);
    buffer_.clear();
  }

 private:
  std::string buffer_;
};

class Trace final : private collation::CollatedSink {
 public:
  explicit Trace(const Options& options) : options_(options) {
    collation::CollatedSink& self = *this;
    if (options.by_trajectory) {
      collator_ = std::make_unique<collation::TrajectoryCollator>(options.policy, self);
    } else {
      collator_ = std::make_unique<collation::Collator>(options.policy, self);
    }
  }

  // Null, or why the line is not an operation.
  const char* run(std::string_view line) {
    const std::vector<std::string_view>& words = split(line);
    if (words.empty() || words[0].starts_with('#')) return nullptr;
    const char* const wrong = operate(words);
    if (wrong == nullptr) tell_errors();
    return wrong;
  }
  void error(const char* reason) {
    out_ << "error " << reason;
    out_.end_line();
  }
  void flush() { out_.flush(); }

 private:
  using Key = std::pair<int, std::string>;
  struct Counted {
    const char* reason;
    std::uint64_t collation::QueueStats::*count;
  };
  static constexpr Counted kCounted[] = {{"late", &collation::QueueStats::late},
                                         {"duplicate", &collation::QueueStats::duplicate},
                                         {"backward", &collation::QueueStats::backward},
                                         {"future", &collation::QueueStats::future},
                                         {"overflow", &collation::QueueStats::overflow},
                                         {"forced", &collation::QueueStats::forced}};
  struct Sensor {
    Key key;
    std::array<std::uint64_t, std::size(kCounted)> told{};
  };

  const std::vector<std::string_view>& split(std::string_view line) {
    constexpr std::string_view kBlanks = " \t\r";
    words_.clear();
    for (std::size_t at = 0; (at = line.find_first_not_of(kBlanks, at)) != line.npos;) {
      const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
      words_.push_back(line.substr(at, end - at));
      at = end;
    }
    return words_;
  }

  const char* operate(const std::vector<std::string_view>& words) {
    const std::string_view what = words[0];
    if (what == "flush") return words.size() == 1 ? flush_queues() : "flush takes nothing";
    if (what == "now") {
      if (options_.policy != collation::Policy::live) return "now belongs to live";
      const auto t = words.size() == 2 ? number<std::int64_t>(words[1]) : std::nullopt;
      return t ? pass(*t) : "expected: now t, t a 64-bit integer";
    }
    const bool is_add = what == "add";
    if (!is_add && what != "queue" && what != "finish") {
      return "no such operation, expected queue, add, finish, flush or now";
    }
    if (words.size() != (is_add ? 4U : 3U)) return "expected: queue T S, add T S t, finish T S";
    const auto trajectory = number<int>(words[1]);
    if (!trajectory) return "the trajectory is not an int";
    Key key{*trajectory, words[2]};
    if (what == "queue") return add_queue(std::move(key));
    if (what == "finish") return finish(key);
    const auto t = number<std::int64_t>(words[3]);
    return t ? add(key, hal::from_ns(*t)) : "the stamp is not a 64-bit integer";
  }

  const char* add_queue(Key key) {
    const int trajectory = key.first;
    const auto id = id_for(key);
    if (!id) return error("queue"), nullptr;
    if (!known_trajectories_[trajectory]) {
      known_trajectories_[trajectory] = bool(collator_->add_trajectory(trajectory, {}));
    }
    const collation::CollatedSensor sensor{
        *id, key.second, {.capacity = options_.capacity, .max_wait = options_.max_wait}};
    if (!collator_->add_sensor(trajectory, sensor)) {
      told_misuse_ = collator_->misuse();
      return error("queue"), nullptr;
    }
    collator_->set_waiting(*id, true, now_.value_or(hal::Time::min()));
    sensors_[*id].key = key;
    const collation::QueueStats& stats = collator_->stats(*id);
    for (std::size_t i = 0; i < std::size(kCounted); ++i) {
      sensors_[*id].told[i] = stats.*kCounted[i].count;
    }
    ids_[std::move(key)] = *id;
    return nullptr;
  }

  // Its old one, a new one, or that of a queue that is gone.
  std::optional<drivers::SensorId> id_for(const Key& key) {
    if (const auto known = ids_.find(key); known != ids_.end()) return known->second;
    if (sensors_.size() < kMostSensors) {
      sensors_.emplace_back();
      return static_cast<drivers::SensorId>(sensors_.size() - 1);
    }
    for (std::size_t i = 0; i < sensors_.size(); ++i) {
      const auto id = static_cast<drivers::SensorId>(i);
      if (!collator_->is_done(id)) continue;
      ids_.erase(sensors_[i].key);
      return id;
    }
    std::fprintf(stderr, "collate_trace: more than %zu sensors at a time\n", kMostSensors);
    return std::nullopt;
  }

  const char* add(const Key& key, hal::Time at) {
    const auto id = ids_.find(key);
    if (id == ids_.end()) return error("unknown_sensor"), nullptr;
    collation::ImuData imu;
    imu.at = at;
    collator_->add(collation::make_datum(id->second, imu), now_.value_or(at));
    return nullptr;
  }

  const char* finish(const Key& key) {
    const auto id = ids_.find(key);
    if (id == ids_.end()) return error("finish"), nullptr;
    collator_->finish_sensor(id->second);
    return nullptr;
  }

  const char* flush_queues() { return collator_->flush(), nullptr; }

  const char* pass(std::int64_t t) {
    const hal::Time began = std::max(now_.value_or(hal::Time::min()), hal::from_ns(t));
    now_ = began;
    for (std::size_t i = 0; i < sensors_.size(); ++i) {
      collator_->read_empty(static_cast<drivers::SensorId>(i), began);
    }
    return collator_->release(began), nullptr;
  }

  // What was counted since the last operation.
  void tell_errors() {
    for (; told_unknown_ < collator_->unknown_sensor(); ++told_unknown_) error("unknown_sensor");
    for (; told_misuse_ < collator_->misuse(); ++told_misuse_) error("finish");
    for (std::size_t i = 0; i < sensors_.size(); ++i) {
      const collation::QueueStats& stats = collator_->stats(static_cast<drivers::SensorId>(i));
      for (std::size_t k = 0; k < std::size(kCounted); ++k) {
        for (; sensors_[i].told[k] < stats.*kCounted[k].count; ++sensors_[i].told[k]) {
          error(kCounted[k].reason);
        }
      }
    }
  }

  void add_sensor_data(drivers::SensorId, const collation::TimedPointCloud&) override {}
  void add_sensor_data(drivers::SensorId id, const collation::ImuData& imu) override {
    const Key& key = sensors_[id].key;
    out_ << key.first << " " << key.second << " " << hal::to_ns(imu.at);
    out_.end_line();
  }
  void add_sensor_data(drivers::SensorId, const collation::OpaqueMessage&) override {}

  const Options options_;
  std::unique_ptr<collation::Collator> collator_;
  std::map<Key, drivers::SensorId> ids_;
  std::vector<Sensor> sensors_;  // by id
  std::map<int, bool> known_trajectories_;
  std::vector<std::string_view> words_;
  std::optional<hal::Time> now_;  // the last `now`
  std::uint64_t told_unknown_ = 0, told_misuse_ = 0;
  Output out_;
};

// Whole lines of standard input; `wait` is called before each read that may block.
template <class OnLine, class Wait>
void read_lines(OnLine&& on_line, Wait&& wait) {
  std::string rest;
  std::vector<char> buffer(1 << 16);
  for (;;) {
    wait();
    const ssize_t n = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    rest.append(buffer.data(), static_cast<std::size_t>(n));
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = rest.find('\n', begin)) != rest.npos; begin = end + 1) {
      on_line(std::string_view(rest).substr(begin, end - begin));
    }
    rest.erase(0, begin);
  }
  if (!rest.empty()) on_line(std::string_view(rest));
}

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  if (argc < 2) return std::nullopt;
  if (std::strcmp(argv[1], "live") == 0) {
    options.policy = collation::Policy::live;
  } else if (std::strcmp(argv[1], "strict") != 0) {
    return std::nullopt;
  }
  for (int i = 2; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--by-trajectory") {
      options.by_trajectory = true;
      continue;
    }
    const auto value = i + 1 < argc ? number<std::int64_t>(argv[++i]) : std::nullopt;
    if (!value || *value < 1) return std::nullopt;
    if (option == "--capacity") {
      options.capacity = static_cast<std::size_t>(*value);
    } else if (option == "--max-wait" && options.policy == collation::Policy::live) {
      options.max_wait = hal::Duration(*value);
    } else {
      return std::nullopt;
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Options> options = parse(argc, argv);
  if (!options) {
    std::fprintf(stderr,
                 "usage: collate_trace strict|live [--capacity N] [--by-trajectory] "
                 "[--max-wait NS, live only]\n");
    return 2;
  }
  Trace trace(*options);
  unsigned long line_number = 0, bad = 0;
  const auto on_line = [&](std::string_view line) {
    ++line_number;
    const char* const wrong = trace.run(line);
    if (wrong == nullptr) return;
    ++bad;
    trace.error("line");
    std::fprintf(stderr, "collate_trace: line %lu: '%.*s': %s\n", line_number,
                 static_cast<int>(std::min<std::size_t>(line.size(), 200)), line.data(), wrong);
  };
  try {
    read_lines(on_line, [&] { trace.flush(); });
  } catch (const std::bad_alloc&) {
    trace.flush();
    std::fprintf(stderr, "collate_trace: line %lu: no memory for a queue: a smaller --capacity\n",
                 line_number);
    return 1;
  }
  trace.flush();
  return bad == 0 ? 0 : 1;
}
