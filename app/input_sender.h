// One program that sends to the input socket: from the bytes of its connection to the messages of
// configured topics.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collation/message.h"
#include "config/plan.h"
#include "config/stack.h"
#include "hal/mcap/reader.h"
#include "hal/port.h"

namespace app {

class InputSender;

// Counters only grow, `pending` and `connected` apart.
//   bytes = record_bytes + discarded_bytes + pending
//   messages = what the inputs count + unknown_topic
struct SenderStats {
  std::uint64_t bytes = 0, record_bytes = 0;
  std::uint64_t discarded_bytes = 0;  // of records that never became whole, or behind a fault
  std::uint64_t pending = 0;          // of a record that is not whole yet
  std::uint64_t messages = 0;         // whole message records
  std::uint64_t unknown_topic = 0;    // of them, on a channel that no input has, or without one
  std::uint64_t connections = 0, connected = 0;
  // Ends of connections, by reason:
  std::uint64_t left = 0;       // the sender closed it
  std::uint64_t malformed = 0;  // no MCAP, a record that is none, a wrong CRC
  std::uint64_t too_long = 0;   // a record longer than any that is of use here
  std::uint64_t compressed = 0;
  std::uint64_t stalled = 0;   // a record was not whole after kLongestRecord
  std::uint64_t flooding = 0;  // more bytes than all inputs may bring

  SenderStats& operator+=(const SenderStats& other);
};

class SenderListener {
 public:
  // A message for an input. `fits`: its channel has the schema that is configured. The format's
  // texts are the sender's: valid until he leaves.
  virtual void on_sent(const InputSender&, std::size_t input, bool fits,
                       const collation::MessageFormat&, const hal::mcap::Message&,
                       hal::Time arrival) = 0;
  // He left, or was sent away for a fault of his; why() says it.
  virtual void on_gone(const InputSender&, bool at_fault, hal::Time now) = 0;

 protected:
  ~SenderListener() = default;
};

// One place: a connection after the other. All memory is taken by the constructor. Work per chunk
// is bounded by its bytes. What breaks the rules loses its connection, and the place stays closed
// for kRest.
class InputSender final : private hal::PortListener, private hal::mcap::RecordSink {
 public:
  // The stack and the listener outlive it.
  InputSender(const config::Stack&, const config::Plan&, SenderListener&,
              std::unique_ptr<hal::Port>);

  void start();
  void tick(hal::Time now);
  void stop();

  bool drained() const { return port_->drained(); }
  SenderStats stats() const;
  const hal::Text<192>& why() const { return why_; }  // of the last end of a connection

  static constexpr hal::Duration kLongestRecord = std::chrono::seconds(2);
  static constexpr hal::Duration kRest = std::chrono::milliseconds(500);
  static constexpr std::size_t kChannels = 64;  // that one sender may declare

  // Bytes per second above which a sender floods: twice what all inputs may bring, at least 1 MiB.
  static double most_bytes(const config::Stack&);

 private:
  static constexpr std::size_t kNoInput = SIZE_MAX;
  struct Declared {  // the schema of one input as this sender declared it
    bool is_known = false;
    std::uint16_t id = 0;
    hal::Text<32> encoding{};
    std::vector<char> text{};  // reserved
  };
  struct Channel {
    std::uint16_t id = 0, schema = 0;
    std::size_t input = kNoInput;
    hal::Text<32> encoding{};
  };
  enum class End : std::uint8_t { left, malformed, too_long, compressed, stalled, flooding };

  void on_port_open(hal::Time now) override;
  void on_chunk(const hal::Chunk&) override;
  void on_port_fault(const hal::Error&, hal::Time now) override;
  void on_record(const hal::mcap::Record&) override;
  bool take_schema(hal::Bytes content);
  bool take_channel(hal::Bytes content);
  bool take_message(hal::Bytes content);
  bool floods(std::size_t bytes, hal::Time now);
  void send_away(End, const hal::Text<192>& why, hal::Time now);
  void leave(End, const hal::Text<192>& why, hal::Time now);

  const config::Stack& stack_;
  SenderListener& listener_;
  const std::unique_ptr<hal::Port> port_;
  const double most_bytes_;
  hal::mcap::Reader reader_;
  std::vector<Declared> declared_;  // by input
  std::array<Channel, kChannels> channels_{};
  std::size_t channel_count_ = 0;
  bool is_connected_ = false, is_started_ = false;
  std::optional<End> verdict_;  // found while a chunk is read
  hal::Text<192> why_{};
  hal::Time arrival_{};       // of the chunk at hand
  hal::Time record_began_{};  // the one that is not whole
  hal::Time rests_until_{};   // the place is closed until then
  bool rests_ = false, awaits_record_ = false;
  double credit_ = 0;  // bytes
  hal::Time credited_{};
  std::uint64_t whole_in_chunk_ = 0;
  SenderStats stats_;
};

}  // namespace app
