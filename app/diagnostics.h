// What lidard says about itself in the stream: the state of all sensors once a second, and events.
#pragma once

#include "app/message_sink.h"
#include "app/messages.h"
#include "app/order_watch.h"
#include "app/output.h"
#include "app/pipeline.h"

namespace app {

// hardware_id of what is no device
inline constexpr const char* kMergedId = "merged";
inline constexpr const char* kInputId = "input";

// What only the daemon knows; zeros in a replay. Counters only grow, `clients` apart.
struct ServiceStats {
  std::uint64_t clients = 0, refused_clients = 0, dropped_messages = 0;
  std::uint64_t refused_senders = 0;  // to the input socket: all its places were taken
  std::uint64_t capture_dropped = 0, log_dropped = 0;
};

// /diagnostics (latched): one status "lidard" with the time line (unix_offset_ns, segment), then
// one per sensor, input and merged cloud with its state, cause, counters and books; keys are those
// of Account, so that any client can check them; frames and bytes stand at a device's first output.
// /lidard/events: one status per event, its kind under the key "event". /lidard/configuration
// (latched): what is configured, one status per sensor.
class Diagnostics {
 public:
  // Declares the channels. Everything passed in outlives it.
  Diagnostics(const config::Stack& stack, const config::Plan& plan, MessageSink& sink,
              OutputTime& time);
  const hal::Status& status() const { return status_; }
  ChannelId events_channel() const { return events_; }

  void publish_configuration();
  // `watches`: by sensor.
  void publish_state(const Pipeline& pipeline, const Output& output,
                     std::span<const OrderWatch> watches, std::uint32_t segment,
                     const ServiceStats& service);
  // `name`: the sensor, or "lidard".
  void publish_event(Level level, std::string_view name, const char* event,
                     std::string_view message, std::span<const KeyValue> values = {});

  // What the longest of these messages takes, for memory budgets.
  static std::size_t longest_message(const config::Stack&);

 private:
  // `fault`: what is wrong with its data though it streams; empty: nothing.
  void describe(DiagnosticWriter&, const config::Sensor&, const Account&, const OutputStats&,
                const OrderWatch&, std::string_view fault);
  void describe(DiagnosticWriter&, const config::Merged&, const Derived&, std::size_t merge,
                const OutputStats&);
  void describe(DiagnosticWriter&, std::size_t input, const Pipeline&, const OutputStats&,
                const OrderWatch&);
  void publish(ChannelId, DiagnosticWriter&, std::span<std::byte> out);

  const config::Stack& stack_;
  const config::Plan& plan_;
  MessageSink& sink_;
  OutputTime& time_;
  hal::Status status_ = hal::ok;
  ChannelId diagnostics_ = 0, events_ = 0, configuration_ = 0;
  std::vector<std::string> ports_;                   // as configured, by sensor
  std::vector<collation::ImuStats> samples_before_;  // by sensor, at the last state
  std::vector<std::uint64_t> dropped_before_;        // by input, at the last state
  std::uint64_t too_long_ = 0;
};

}  // namespace app
