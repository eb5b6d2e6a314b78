// Finds out what device is at the other end: listens first, then lets drivers talk to it, one after
// the other. Passive: it acts when it is ticked, about every 10 ms, so it runs in any time.
//
// What streams by itself is left streaming, what was silent is stopped again by its own script. A
// device that is spoken to may be stopped and started anew on the way.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/lidarctl/probe_plan.h"
#include "app/lidarctl/shared_port.h"
#include "drivers/driver.h"
#include "drivers/recognise.h"

namespace lidarctl {

struct ProbeResult {
  Trial found{};               // row null: nothing was recognised
  bool by_itself = false;      // it streamed before anything was said to it
  bool answered = false;       // it answered its driver
  bool streams = false;        // its driver delivered packets
  int baud = 0;                // where it was found; 0: cannot be seen there
  std::string about{}, why{};  // why: it does not stream, or nothing was recognised
  drivers::Seen seen{};        // `about` lies in the member above
  double packets_hz = 0;
  std::vector<Trial> alternatives{};  // others whose frames the bytes may be
  bool left_streaming = false;
  // Where nothing was recognised:
  bool is_port_fault = false;
  std::uint64_t bytes = 0;
  std::string first_bytes{};  // hexadecimal
  hal::Duration took{};
};

class Prober final : private drivers::PacketSink {
 public:
  using MakePorts = std::function<drivers::Ports(const Trial&)>;

  // On a serial port, which outlives this.
  Prober(std::span<const drivers::Row> rows, SharedPort& port);
  // On ports that are made for each of these trials.
  Prober(std::vector<Trial> trials, MakePorts make);

  void start(hal::Time now);
  void tick(hal::Time now);
  bool is_done() const { return phase_ == Phase::done; }
  const ProbeResult& result() const { return result_; }

  static constexpr hal::Duration kWindow = std::chrono::milliseconds(70);  // at each rate
  static constexpr hal::Duration kLongWindow = std::chrono::milliseconds(500);
  static constexpr hal::Duration kUntilSilent = std::chrono::milliseconds(300);
  // To the first question; less where there are many to ask, so that all are asked in time.
  static constexpr hal::Duration kAnswer = std::chrono::milliseconds(150);
  static constexpr hal::Duration kLeastAnswer = std::chrono::milliseconds(80);
  static constexpr hal::Duration kAllAsked = std::chrono::milliseconds(7500);
  static constexpr hal::Duration kConnect = std::chrono::milliseconds(1500);
  static constexpr hal::Duration kDialogue = std::chrono::seconds(5);
  static constexpr hal::Duration kObserve = std::chrono::milliseconds(900);
  static constexpr hal::Duration kAfterwards = std::chrono::seconds(3);     // motors spin up
  static constexpr hal::Duration kWhole = std::chrono::milliseconds(9300);  // its stop not counted

 private:
  enum class Phase : std::uint8_t { opening, listening, trying, stopping, done };
  // Cumulated beams over arrival: their slope.
  struct Rate {
    double n = 0, t = 0, y = 0, tt = 0, ty = 0, sum = 0;
    hal::Time first{};
    void add(hal::Time at, double more);
    double per_s() const;
  };

  void on_packet(drivers::SensorId, const drivers::Packet&, hal::Time arrival) override;
  void on_state(drivers::SensorId, drivers::State, hal::Time) override {}

  void listen(hal::Time now);
  hal::Duration window() const;
  bool is_second_look() const { return listened_ == 1 && !has_asked_; }
  void ask(hal::Time now);
  void tick_listening(hal::Time now);
  void take_heard(hal::Time now, int baud);
  void try_next(hal::Time now);
  void tick_trial(hal::Time now);
  hal::Duration patience(const drivers::Health&) const;
  void give_up_trial(const drivers::Health&, hal::Time now);
  void after_all_trials(hal::Time now);
  void fill_result(const drivers::Health&);
  void accept(const drivers::Health&, hal::Time now);
  void end(hal::Time now);
  void fail(hal::Time now);
  bool is_tied() const;

  std::span<const drivers::Row> rows_{};
  SharedPort* const port_;  // null: no serial line
  const MakePorts make_;
  Phase phase_ = Phase::opening;
  hal::Time began_{}, since_{}, streams_since_{}, asked_{};
  hal::Duration answer_{};  // how long the trial at work may take to answer first

  std::vector<int> rates_{};  // to listen at
  std::size_t rate_ = 0;
  std::uint64_t bytes_before_ = 0;  // of the port, when the window began
  std::uint64_t heard_before_asking_ = 0;
  std::size_t looked_at_ = 0;  // size of the sample then
  int listened_ = 0;           // times, through all rates
  bool has_asked_ = false;     // the silent trials were held

  std::vector<Trial> trials_{}, unanswered_{}, heard_{};
  std::size_t next_ = 0;
  Trial trial_{};
  std::unique_ptr<drivers::Driver> driver_{};
  bool is_final_ = false;  // of equals, this one was chosen
  Rate beams_{}, packets_{};
  bool has_intensity_ = false;
  std::string last_why_{};
  std::optional<ProbeResult> refused_{};  // of the first that answered and would not stream
  ProbeResult result_{};
};

}  // namespace lidarctl
