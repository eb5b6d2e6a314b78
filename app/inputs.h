// The input socket: messages of other programs, gated, on their way into the order.
//
// A message is ordered by its log time, which is Unix time: it becomes inner time with the offset
// that the stream announces, so the stream gives it out with the log time that it came with. A
// topic belongs to the first sender that gets a message through, until he leaves.
#pragma once

#include <memory>
#include <vector>

#include "app/input_sender.h"
#include "drivers/lifecycle.h"

namespace app {

class InputSink {
 public:
  virtual void on_input(std::size_t input, collation::MessagePool::Lease, hal::Time arrival) = 0;
  // streaming, silent, or backoff: nobody sends it.
  virtual void on_input_state(std::size_t input, drivers::State, hal::Time now) = 0;

 protected:
  ~InputSink() = default;
};

// Messages of one topic. Counters only grow. The books:
//   messages = passed + wrong_schema + other_sender + too_large + bad_time + too_fast +
//   without_pool
struct InputStats {
  std::uint64_t messages = 0;      // of all senders
  std::uint64_t passed = 0;        // into the order
  std::uint64_t wrong_schema = 0;  // another schema than configured, or not encoded as before
  std::uint64_t other_sender = 0;  // another sender has the topic
  std::uint64_t too_large = 0;     // longer than max_bytes
  std::uint64_t bad_time = 0;      // log time further from the arrival than any wait
  std::uint64_t too_fast = 0;      // more than rate_hz, see Inputs
  std::uint64_t without_pool = 0;  // all its messages are in the queue

  std::uint64_t dropped() const { return messages - passed; }
};

class Inputs final : private SenderListener {
 public:
  // Takes all memory. Everything passed in outlives it, and it outlives the messages given out.
  Inputs(const config::Stack& stack, const config::Plan& plan, InputSink& sink);

  void add(std::unique_ptr<hal::Port>);  // one per sender, before start()
  void start(hal::Time now);
  void tick(hal::Time now);
  void stop();
  // As measured, not as announced: the senders' clock is the wall clock of this moment.
  void set_wall_clock(std::int64_t unix_minus_inner_ns) { offset_ns_ = unix_minus_inner_ns; }
  bool drained() const;  // every sender's connection was read empty the last time

  std::size_t size() const { return topics_.size(); }
  const InputStats& stats(std::size_t input) const { return topics_[input].stats; }
  drivers::State state(std::size_t input) const { return topics_[input].state; }
  // Why it does not come, and what to do. Empty: it comes.
  const hal::Text<192>& why(std::size_t input) const { return topics_[input].why; }
  // What was wrong with the newest message that was dropped. Empty: none was.
  const hal::Text<192>& why_dropped(std::size_t input) const { return topics_[input].why_dropped; }
  hal::Time last_message(std::size_t input) const { return topics_[input].last; }

  SenderStats senders() const;  // the sum
  // Connections that ended by a fault of the sender, and what the last one was.
  std::uint64_t faults() const { return faults_; }
  const hal::Text<192>& last_fault() const { return last_fault_; }

  // A tenth more than rate_hz in the long run, for clocks that differ; and as many as are in the
  // queue at once, for what was held up.
  static constexpr double kRateMargin = 1.1;

 private:
  struct Topic {
    std::unique_ptr<collation::MessagePool> pool;
    collation::MessageFormat format{};  // of the first message; views of the texts below
    std::vector<char> texts{};          // reserved
    bool has_format = false;
    const InputSender* owner = nullptr;
    drivers::State state = drivers::State::idle;
    hal::Time last{};  // arrival of the newest message that passed
    hal::Time credited{};
    double credit = 0;  // messages
    double depth = 0;
    hal::Text<192> why{}, why_dropped{};
    InputStats stats{};
  };

  void on_sent(const InputSender&, std::size_t input, bool fits, const collation::MessageFormat&,
               const hal::mcap::Message&, hal::Time arrival) override;
  void on_gone(const InputSender&, bool at_fault, hal::Time now) override;
  bool admits(const InputSender&, std::size_t input, bool fits, const collation::MessageFormat&,
              const hal::mcap::Message&, hal::Time arrival);
  bool has_credit(Topic&, double rate_hz, hal::Time arrival);
  void keep_format(Topic&, const collation::MessageFormat&);
  void set_state(std::size_t input, drivers::State, hal::Time now);

  const config::Stack& stack_;
  const config::Plan& plan_;
  InputSink& sink_;
  std::vector<Topic> topics_;
  std::vector<std::unique_ptr<InputSender>> senders_;
  std::int64_t offset_ns_ = 0;
  std::uint64_t faults_ = 0;
  hal::Text<192> last_fault_{};
};

}  // namespace app
