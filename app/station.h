// All that is the same in the daemon and in a replay: the pipeline, its outputs, what is said about
// them, driven by passes, ticks and clock offsets from outside.
#pragma once

#include <array>
#include <vector>

#include "app/diagnostics.h"
#include "app/order_watch.h"
#include "app/output.h"
#include "app/pipeline.h"
#include "hal/log.h"
#include "hal/replay.h"

namespace app {

class Station final : public hal::ReplayListener, private EventListener {
 public:
  // Takes all memory. Everything passed in outlives the station.
  Station(const config::Stack& stack, const config::Plan& plan, MessageSink& sink, hal::Log& log);
  // Of declaring the channels; checked before anything else is done.
  hal::Status status() const;

  Pipeline& pipeline() { return pipeline_; }
  const Diagnostics& diagnostics() const { return diagnostics_; }

  void on_pass_begin(hal::Time now) override;
  void on_pass_end(hal::Time began) override;
  void on_tick(hal::Time now) override;  // about every 20 ms; the first one starts the drivers
  // A change of more than 100 ms begins a new segment of the stream.
  void on_offset(std::int64_t unix_minus_inner_ns) override;
  void on_wall_clock(std::int64_t unix_minus_inner_ns) override;
  void on_suspended(hal::Duration length) override;
  // The last pass: what is held leaves, and the last state is told. Before stop(), since devices
  // that are being stopped have nothing more to say that a replay could know of.
  void finish(hal::Time now);
  void stop(hal::Time now);  // begins the devices' own stop; see Pipeline::stopped()

  // For the next state that is published.
  void set_service(const ServiceStats& service) { service_ = service; }

  std::size_t streaming() const;

  static constexpr hal::Duration kTick = std::chrono::milliseconds(20);

 private:
  // What was last said of a sensor, so that a change is one line and an attempt none.
  struct Said {
    hal::Text<192> why{};
    std::uint32_t epoch = 0;
    drivers::UtcState utc{};
    drivers::Cause warned = drivers::Cause::none;  // of, while it streams
    RestCheck::Verdict rest{};                     // the last that was fine or wrong
    hal::Time last_datum{};                        // before it stalled
    hal::RateLimit lines{10, std::chrono::seconds(10)};
    // Findings told, and when the next one of that check may be.
    std::array<std::uint64_t, kChecks> findings{};
    std::array<hal::Time, kChecks> next_finding{};
  };

  void on_sensor_state(drivers::SensorId, drivers::State from, drivers::State to,
                       hal::Time now) override;
  void on_input_state(std::size_t input, drivers::State from, drivers::State to,
                      hal::Time now) override;
  void tell(drivers::SensorId, Level, const char* event, std::string_view message,
            std::span<const KeyValue> values);
  void tell(drivers::SensorId, Level, const char* event, std::string_view message, drivers::Cause);
  void look_at_clocks();
  void look_for_findings(hal::Time now);
  void look_for_warnings();
  void look_at_rest();
  void look_at_order(hal::Time now);
  void look_at_inputs(hal::Time now);
  void tell_order(drivers::SensorId, bool stalled_before, hal::Time now);
  void on_stalled(hal::Duration length);
  void log_rates();

  const config::Stack& stack_;
  const config::Plan& plan_;
  hal::Log& log_;
  OutputTime time_;
  Output output_;
  Diagnostics diagnostics_;
  Pipeline pipeline_;
  std::vector<Said> said_;  // by sensor, then by input, as
  std::vector<OrderWatch> watches_;
  struct SaidInput {
    std::uint64_t dropped = 0;
    hal::Time next_drops{};
  };
  std::vector<SaidInput> said_inputs_;  // by input
  std::uint64_t said_faults_ = 0;       // of senders
  hal::Time next_fault_{};
  ServiceStats service_;
  std::uint32_t segment_ = 0;
  bool started_ = false, has_offset_ = false;
  hal::Time now_{};        // begin of the pass under way
  hal::Duration slept_{};  // found in it
  hal::Time next_state_{}, next_rates_{};
};

}  // namespace app
