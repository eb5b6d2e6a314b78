// Turns a Device (how frames look, what they mean, what is said to it) into a Driver: life cycle,
// ports, retries, dialogue, clock, counters and diagnosis are here, once for all devices.
#pragma once

#include <algorithm>

#include "drivers/decoded.h"
#include "drivers/diagnosis.h"
#include "drivers/dialogue.h"
#include "drivers/driver.h"

namespace drivers {

// A device is passive and pure: no ports, no clock, no allocation after construction. It may also
// say what it found out about itself: hal::Text<96> about() const.
template <class D>
concept Device = requires(D d, const D c, const Frame& frame, const Options& options) {
  requires Framing<typename D::Framing>;
  D(options);
  d.restart();  // forget what earlier frames said: the port was opened anew
  { d.framing(Channel::data) } -> std::same_as<typename D::Framing&>;
  { d.decode(frame) } -> std::same_as<Decoded>;  // its views are valid until the next frame
  { c.clock_model() } -> std::same_as<ClockModel>;
  { D::start_script() } -> std::convertible_to<std::span<const Step<D>>>;
  { D::stop_script() } -> std::convertible_to<std::span<const Step<D>>>;
  { c.max_silence() } -> std::same_as<hal::Duration>;  // about three periods
};

inline constexpr hal::Duration kFirstRetry = std::chrono::milliseconds(100);
inline constexpr hal::Duration kLastRetry = std::chrono::milliseconds(500);
inline constexpr hal::Duration kFirstPacketWithin = std::chrono::seconds(3);
inline constexpr hal::Duration kDiagnoseAfter = std::chrono::seconds(1);
inline constexpr hal::Duration kStalled = std::chrono::milliseconds(120);  // between two ticks
inline constexpr hal::Duration kStopWithin = std::chrono::milliseconds(400);

template <Device D>
class DeviceDriver final : public Driver {
 public:
  DeviceDriver(const Options& options, DriverSetup setup)
      : device_(options),
        setup_(std::move(setup)),
        stamper_(device_.clock_model(), setup_.baud, setup_.fixed_latency) {
    for (std::size_t i = 0; i < kMaxChannels; ++i) {
      inlets_[i].driver = this;
      inlets_[i].channel = static_cast<Channel>(i);
    }
  }

  void start(hal::Time now) override {
    last_tick_ = now;
    raise(Event::go, now);
  }

  void tick(hal::Time now) override {
    const hal::Duration gap = now - std::exchange(last_tick_, now);
    if (health_.state == State::backoff && now >= deadline_) return raise(Event::go, now);
    if (gap > kStalled && health_.state != State::stopping) put_off(gap);
    if (all_open()) run_script(now);
    if (health_.state == State::starting && all_open() && now >= opened_ + kDiagnoseAfter) {
      diagnose_start();
      // No later step will make frames of these bytes.
      if (script_done_ && health_.cause == Cause::mismatch) return raise(Event::silence, now);
    }
    const bool waiting = health_.state != State::idle && health_.state != State::backoff;
    if (waiting && now >= deadline_) on_silence(now);
  }

  void stop(hal::Time now) override { raise(Event::stop, now); }
  bool stopped() const override { return health_.state == State::idle; }

  bool drained() const override {
    return std::ranges::all_of(setup_.ports, [](const auto& p) { return !p || p->drained(); });
  }

  Health health() const override {
    Health h = health_;
    h.framing = framing();
    for (const Inlet& inlet : inlets_) h.pending += inlet.framer.pending();
    h.clock = stamper_.health();
    h.stale = h.clock.stale;
    h.step = script_done_ ? "" : script_.step();
    if constexpr (requires { device_.about(); }) h.about = device_.about();
    return h;
  }

  std::span<const std::unique_ptr<hal::Port>> ports() const override { return setup_.ports; }

 private:
  // The host stalled: what came meanwhile is read before silence is judged.
  void put_off(hal::Duration stalled) {
    if (deadline_ != hal::Time::max()) deadline_ += stalled;
    opened_ += stalled;
    script_.put_off(stalled);
  }

  // One channel: the listener of its port, with its own framer.
  struct Inlet final : hal::PortListener {
    void on_port_open(hal::Time now) override { driver->on_open(*this, now); }
    void on_chunk(const hal::Chunk& chunk) override { driver->on_chunk(*this, chunk); }
    void on_port_fault(const hal::Error& error, hal::Time now) override {
      driver->on_fault(error, now);
    }
    DeviceDriver* driver = nullptr;
    Channel channel{};
    bool open = false;
    StreamFramer<typename D::Framing> framer;
  };

  // Every change of state passes here, with the actions that belong to entering the new one.
  // Entering starting or stopping may end in further changes, so that comes last.
  void raise(Event event, hal::Time now) {
    const State from = health_.state, to = next(from, event);
    if (to == from) return;
    health_.state = to;
    setup_.sink->on_state(setup_.first_sensor, to, now);
    switch (to) {
      case State::starting:
        deadline_ = hal::Time::max();  // ports and steps have their own
        return open_ports(now);
      case State::streaming:
        retry_ = kFirstRetry;
        health_.cause = Cause::none;
        health_.why.clear();
        return;
      case State::silent:
        deadline_ = now + 5 * device_.max_silence();
        return;
      case State::backoff:
        close_ports();
        ++health_.faults;
        deadline_ = now + retry_;
        retry_ = std::min(2 * retry_, kLastRetry);
        return;
      case State::stopping:
        deadline_ = now + kStopWithin;
        if (from == State::backoff) return open_ports(now);  // its motor may still turn
        if (all_open()) begin_stop(now);
        return;
      case State::idle:
        return close_ports();
    }
  }

  void open_ports(hal::Time now) {
    device_.restart();
    stamper_.reopen();
    for (Inlet& inlet : inlets_) inlet.framer.reset();
    opened_ = now;
    since_ = framing();
    script_done_ = true;
    const State wanted = health_.state;
    for (std::size_t i = 0; i < kMaxChannels && health_.state == wanted; ++i) {
      if (setup_.ports[i]) setup_.ports[i]->open(inlets_[i]);
    }
  }

  void close_ports() {
    script_done_ = true;
    for (std::size_t i = 0; i < kMaxChannels; ++i) {
      inlets_[i].open = false;
      if (setup_.ports[i]) setup_.ports[i]->close();
    }
  }

  bool all_open() const {
    for (std::size_t i = 0; i < kMaxChannels; ++i) {
      if (setup_.ports[i] && !inlets_[i].open) return false;
    }
    return true;
  }

  void on_open(Inlet& inlet, hal::Time now) {
    inlet.open = true;
    if (!all_open()) return;
    if (health_.state == State::stopping) return begin_stop(now);
    opened_ = now;
    begin_script(D::start_script());
    run_script(now);
  }

  void begin_stop(hal::Time now) {
    begin_script(D::stop_script());
    run_script(now);
  }

  void on_fault(const hal::Error& error, hal::Time now) {
    health_.cause = cause_of(error);
    health_.why = in_words(error);
    raise(Event::fault, now);
  }

  void on_chunk(Inlet& from, const hal::Chunk& chunk) {
    health_.last_byte = chunk.last_at;
    from.framer.feed(device_.framing(from.channel), chunk, [&](const Frame& frame) {
      Frame named = frame;
      named.channel = from.channel;
      on_frame(named);
    });
    if (std::exchange(restarted_, false)) {
      ++health_.resets;
      health_.cause = Cause::device_reset;
      health_.why.print("the device restarted by itself: check its power supply");
      return raise(Event::fault, chunk.last_at);
    }
    run_script(chunk.last_at);
  }

  void on_frame(const Frame& frame) {
    if (!script_done_ && script_.offer(device_, frame)) {
      ++health_.replies;
      return run_script(frame.last_at);  // data may follow in the same chunk
    }
    const Decoded decoded = device_.decode(frame);
    switch (decoded.kind) {
      case Decoded::Kind::nothing:
        ++health_.silent_frames;
        return;
      case Decoded::Kind::undecodable:
        ++health_.undecodable;
        return;
      case Decoded::Kind::restarted:
        ++health_.silent_frames;
        restarted_ = wanted();  // while it is being held, the script itself caused it
        return;
      case Decoded::Kind::packet:
        return deliver(decoded, frame.last_at);
    }
  }

  // A script may have ended the connection within a chunk: what follows there is unwanted, too.
  bool wanted() const {
    const State s = health_.state;
    return script_done_ && (s == State::starting || s == State::streaming || s == State::silent);
  }

  void deliver(const Decoded& decoded, hal::Time arrival) {
    if (!wanted()) {
      ++health_.unwanted;
      return;
    }
    Packet packet = decoded.packet;
    if (!stamper_.stamp(packet, decoded.timing)) return;
    ++health_.packets;
    health_.last_packet = arrival;
    since_ = framing();
    raise(Event::data, arrival);
    deadline_ = arrival + device_.max_silence();
    setup_.sink->on_packet(setup_.first_sensor, packet, arrival);
  }

  void begin_script(std::span<const Step<D>> script) {
    script_.begin(script);
    script_done_ = false;
  }

  void run_script(hal::Time now) {
    if (script_done_) return;
    const bool stopping = health_.state == State::stopping;  // then all is tried
    hal::Status written = hal::ok;
    const auto outcome = script_.advance(device_, now, [&](const Request& request) {
      if (written || stopping) written = transmit(request);
    });
    if (!written && !stopping) return on_fault(written.error(), now);
    switch (outcome) {
      case ScriptRunner<D>::Outcome::running:
        return;
      case ScriptRunner<D>::Outcome::failed:
        diagnose(script_.why().c_str());
        if (script_.refused()) health_.cause = Cause::refused;
        return raise(Event::fault, now);
      case ScriptRunner<D>::Outcome::done:
        script_done_ = true;
        if (health_.state == State::stopping) return raise(Event::done, now);
        deadline_ = now + kFirstPacketWithin;
    }
  }

  hal::Status transmit(const Request& request) {
    hal::Port* const port = setup_.ports[static_cast<std::size_t>(request.channel())].get();
    if (!port)
      return hal::Error{hal::Errc::bad_config, 0, "driver: write to a missing channel", {}};
    hal::Status line = hal::ok;
    if (request.dtr()) line = port->set_dtr(*request.dtr());
    if (!line && line.error().code == hal::Errc::unsupported) line = hal::ok;
    const hal::Status sent = request.view().empty() ? hal::ok : port->write(request.view());
    return sent ? line : sent;
  }

  void on_silence(hal::Time now) {
    if (health_.state != State::stopping) diagnose(nullptr);
    raise(Event::silence, now);
  }

  void diagnose_start() {
    if (script_done_) return diagnose(nullptr);
    diagnose(hal::Text<96>::of("waiting for '%s'", script_.step()).c_str());
  }

  // `step`: what the dialogue complains of, if it does.
  void diagnose(const char* step) {
    const bool was_streaming = health_.state == State::streaming || health_.state == State::silent;
    const Evidence evidence{since_, framing(), setup_.baud, was_streaming, step};
    health_.cause = cause_of(evidence);
    health_.why = in_words(evidence);
  }

  FramerStats framing() const {
    FramerStats sum;
    for (const Inlet& inlet : inlets_) {
      const FramerStats& s = inlet.framer.stats();
      sum.bytes += s.bytes;
      sum.frames += s.frames;
      sum.frame_bytes += s.frame_bytes;
      sum.rejected += s.rejected;
      sum.garbage_bytes += s.garbage_bytes;
    }
    return sum;
  }

  D device_;
  DriverSetup setup_;
  Stamper stamper_;
  std::array<Inlet, kMaxChannels> inlets_{};
  ScriptRunner<D> script_;
  bool script_done_ = true, restarted_ = false;
  Health health_;
  FramerStats since_;  // what the framers had seen when the port opened, or at the newest packet
  hal::Time opened_{}, deadline_{}, last_tick_{};
  hal::Duration retry_ = kFirstRetry;
};

template <Device D>
std::unique_ptr<Driver> make_driver(const Options& options, DriverSetup setup) {
  return std::make_unique<DeviceDriver<D>>(options, std::move(setup));
}

}  // namespace drivers
