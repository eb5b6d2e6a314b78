// Turns a Device (how frames look, what they mean, what is said to it) into a Driver: life cycle,
// retries, dialogue, counters and diagnosis are here, once for all devices.
#pragma once

#include "drivers/channels.h"
#include "drivers/conversation.h"
#include "drivers/device.h"
#include "drivers/driver.h"
#include "drivers/examiner.h"
#include "drivers/outlet.h"
#include "drivers/unheard.h"

namespace drivers {

template <Device D>
class DeviceDriver final : public Driver {
 public:
  DeviceDriver(const Options& options, DriverSetup setup)
      : device_(options),
        outlet_(setup, outputs_of<D>(), device_.clock_model()),
        link_{.rate = {setup.baud, setup.baud}, .own = {}},
        host_(setup.host),
        channels_(*this, std::move(setup.ports)),
        examiner_(health_, most_turns_hz<D>(options, setup.baud)) {}

  void start(hal::Time now) override {
    last_tick_ = now;
    raise(Event::go, now);
  }

  void tick(hal::Time now) override {
    const hal::Duration gap = now - std::exchange(last_tick_, now);
    if (health_.state == State::backoff && now >= deadline_) return raise(Event::go, now);
    if (gap > kStalled && health_.state != State::stopping) put_off(gap);
    if (channels_.are_open()) run(now);
    if (now >= rest_due() && is_wanted()) deliver_rest();
    if (health_.state == State::starting && channels_.are_open() &&
        now >= opened_ + kDiagnoseAfter) {
      diagnose_start();
      // No later step will make frames of these bytes.
      if (!talk_.is_scripted() && health_.cause == Cause::mismatch)
        return raise(Event::silence, now);
    }
    const bool waiting = health_.state != State::idle && health_.state != State::backoff;
    if (!waiting || now < deadline_) return;
    if (health_.state != State::stopping) diagnose(nullptr);
    raise(Event::silence, now);
  }

  hal::Time due() const override {
    return channels_.are_open() ? std::min(talk_.due(), rest_due()) : hal::Time::max();
  }

  void stop(hal::Time now) override { raise(Event::stop, now); }
  void set_wall_clock(std::int64_t unix_minus_inner_ns) override {
    outlet_.stampers().set_wall_clock(unix_minus_inner_ns);
  }
  bool stopped() const override { return health_.state == State::idle; }
  bool drained() const override { return channels_.are_drained(); }
  std::span<const std::unique_ptr<hal::Port>> ports() const override { return channels_.ports(); }

  Health health() const override {
    Health h = health_;
    h.framing = channels_.framing();
    h.pending = channels_.pending();
    outlet_.tell(h);
    h.step = talk_.step();
    h.baud = link_.rate.current;
    if constexpr (requires { device_.about(); }) h.about = plain(device_.about());
    return h;
  }

 private:
  friend Channels<typename D::Framing, DeviceDriver>;
  static constexpr bool kControlHangsUp = control_hangs_up<D>();
  static constexpr bool kDataOpensLater = data_opens_later<D>();

  // The host stalled: what came meanwhile is read before silence is judged.
  void put_off(hal::Duration stalled) {
    if (deadline_ != hal::Time::max()) deadline_ += stalled;
    opened_ += stalled;
    talk_.put_off(stalled);
  }

  // Every change of state passes here, with the actions that belong to entering the new one.
  // Entering starting or stopping may end in further changes, so that comes last.
  void raise(Event event, hal::Time now) {
    const State from = health_.state, to = next(from, event);
    if (to == from) return;
    // Data are being handed out: what waits behind them goes on waiting.
    if (event != Event::data && is_wanted()) deliver_rest();
    health_.state = to;
    outlet_.tell(to, now);
    switch (to) {
      case State::starting:
        deadline_ = hal::Time::max();  // ports and steps have their own
        return open_ports(now);
      case State::streaming:
        retry_ = kFirstRetry;
        return examiner_.set(Cause::none);
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
        talk_.end();
        deadline_ = now + kStopWithin;
        if (from == State::backoff) return open_ports(now);  // its motor may still turn
        if (channels_.are_open()) begin_script(D::stop_script(), now);
        return;
      case State::idle:
        return close_ports();
    }
  }

  void open_ports(hal::Time now) {
    health_.unwanted += take_rest().size();
    device_.restart();
    outlet_.stampers().reopen();
    set_rate(link_.rate.configured);
    opened_ = now;
    examiner_.reopened(channels_.framing());
    unheard_.reopened(data_port());
    talk_.end();
    channels_.open();
  }

  void close_ports() {
    talk_.end();
    channels_.close();
  }

  void on_port_open(hal::Time now) {
    if (!channels_.are_open()) return;
    set_rate(link_.rate.current);  // only now it is known whether there is a line
    link_.own = channels_.own_end(host_);
    if (health_.state == State::stopping) return begin_script(D::stop_script(), now);
    opened_ = now;
    begin_script(D::start_script(), now);
  }

  void on_fault(const hal::Error& error, hal::Time now) {
    health_.cause = cause_of(error);
    health_.why = in_words(error);
    raise(Event::fault, now);
  }

  // What is whole without the bytes that will not come any more is a frame.
  void on_hang_up(Channel channel, hal::Time now) {
    channels_.framer(channel).finish(device_.framing(channel),
                                     [&](const Frame& frame) { on_frame(frame, channel); });
    run(now);
  }

  void on_chunk(Channel channel, const hal::Chunk& chunk) {
    health_.last_byte = chunk.last_at;
    if (channel == Channel::data) unheard_.on_data(chunk.last_at);
    // At the other rates that a script tries they tell nothing.
    const bool is_at_its_rate = link_.rate.current == link_.rate.configured;
    if (health_.state == State::starting && is_at_its_rate) examiner_.on_bytes(chunk.bytes);
    channels_.framer(channel).feed(device_.framing(channel), chunk,
                                   [&](const Frame& frame) { on_frame(frame, channel); });
    if (std::exchange(restarted_, false)) {
      ++health_.resets;
      health_.cause = Cause::device_reset;
      health_.why.print("the device restarted by itself: check its power supply");
      return raise(Event::fault, chunk.last_at);
    }
    run(chunk.last_at);
  }

  void on_frame(Frame frame, Channel channel) {
    frame.channel = channel;
    const Reply::Kind reply = talk_.offer(device_, frame);
    if (reply != Reply::Kind::not_mine && reply != Reply::Kind::measured) {
      ++health_.replies;
      return run(frame.last_at);  // data may follow in the same chunk
    }
    decoded_.clear();
    newest_frame_ = frame.last_at;
    device_.decode(frame, decoded_);
    health_.lost += decoded_.lost();
    health_.lost_parts += decoded_.lost_parts();
    if (!decoded_.fault().empty()) examiner_.on_device_fault(decoded_.fault(), frame.last_at);
    if (decoded_.items().empty()) {
      if (decoded_.is_part()) note_part(frame.last_at);
      if (decoded_.is_restarted()) restarted_ = is_wanted();  // else the script itself caused it
      ++(decoded_.is_undecodable() ? health_.undecodable : health_.silent_frames);
    } else {
      health_.undecodable += decoded_.is_undecodable();
      health_.extra_packets += decoded_.items().size() - (decoded_.is_undecodable() ? 0 : 1);
      deliver(frame);
    }
    if (reply == Reply::Kind::measured) run(frame.last_at);
  }

  // When what waits for the next frame has waited long enough; Time::max(): nothing does.
  hal::Time rest_due() const {
    if constexpr (requires { device_.patience(); }) {
      const hal::Duration patience = device_.patience();
      if (patience != hal::Duration::max()) return newest_frame_ + patience;
    }
    return hal::Time::max();
  }

  // What waits for frames that will not come; those it waited for, too, were silent ones.
  std::span<Decoded::Item> take_rest() {
    decoded_.clear();
    if constexpr (requires { device_.finish(decoded_); }) device_.finish(decoded_);
    health_.lost += decoded_.lost();
    health_.lost_parts += decoded_.lost_parts();
    health_.extra_packets += decoded_.items().size();
    return decoded_.items();
  }
  void deliver_rest() { hand_over(take_rest(), newest_frame_); }

  // A script may have ended the connection within a chunk: what follows there is unwanted, too.
  bool is_wanted() const {
    const State s = health_.state;
    return !talk_.is_scripted() &&
           (s == State::starting || s == State::streaming || s == State::silent);
  }

  void deliver(const Frame& frame) {
    const std::span<Decoded::Item> items = decoded_.items();
    if (!is_wanted()) {
      health_.unwanted += items.size();
      return;
    }
    const bool scan = std::holds_alternative<ScanSlice>(items[0].packet);
    if (scan && examiner_.is_stuck(frame)) {
      health_.stuck += items.size();
      return;
    }
    hand_over(items, frame.last_at);
  }

  void hand_over(std::span<Decoded::Item> items, hal::Time at) {
    outlet_.hand_out(
        items, at, health_, [&](unsigned output) { note_arrival(output, at); },
        [&](const Packet& packet) { examiner_.on_packet(packet, channels_.framing(), at); });
  }

  // Nothing is delivered, so it may be silent; to start it over would lose what is in the making.
  void note_part(hal::Time at) {
    examiner_.on_part();
    const bool is_missed = health_.state == State::silent || health_.state == State::starting;
    if (is_missed) deadline_ = std::max(deadline_, at + 5 * device_.max_silence());
  }

  // The device lives by its main output: inertial data alone are no scans.
  void note_arrival(unsigned output, hal::Time at) {
    if (output != kMainOutput) {
      health_.last_imu = at;
      return;
    }
    health_.last_packet = at;
    raise(Event::data, at);
    deadline_ = at + device_.max_silence();
  }

  void begin_script(std::span<const Step<D>> script, hal::Time now) {
    talk_.begin(script);
    run(now);
  }

  // Goes on with what is being said.
  void run(hal::Time now) {
    const bool stopping = health_.state == State::stopping;  // then all is tried
    const std::uint64_t faults = health_.faults;
    hal::Status written = hal::ok;
    const auto outcome = talk_.advance(device_, now, link_, [&](const Request& request) {
      if (!written && !stopping) return;
      written = channels_.transmit(request, link_.rate);
      set_rate(link_.rate.current);
    });
    if (health_.faults != faults) return;  // a port that was opened for a request failed at once
    if (!written && !stopping) return on_fault(written.error(), now);
    switch (outcome) {
      case Conversation<D>::Outcome::running:
        return;
      case Conversation<D>::Outcome::failed:
        diagnose(talk_.why().c_str());
        if (talk_.refused()) health_.cause = Cause::refused;
        return raise(Event::fault, now);
      case Conversation<D>::Outcome::done:
        if (stopping) return raise(Event::done, now);
        deadline_ = now + kFirstPacketWithin;
        if constexpr (requires { device_.routines(); }) {
          talk_.begin_routines(device_.routines(), now);
        }
    }
  }

  void set_rate(int baud) {
    link_.rate.current = baud;
    const hal::Port* const data = data_port();
    outlet_.stampers().set_baud(data && data->has_line() ? baud : 0);
  }

  void diagnose_start() {
    if (!talk_.is_scripted()) return diagnose(nullptr);
    diagnose(hal::Text<96>::of("waiting for '%s'", talk_.step()).c_str());
  }

  void diagnose(const char* step) {
    const hal::Time since = std::max(opened_, health_.last_packet);
    examiner_.diagnose(channels_.framing(), link_.rate.current, step,
                       unheard_.why(data_port(), since, link_.own, step));
  }

  const hal::Port* data_port() const { return channels_.port(Channel::data); }

  D device_;
  Outlet outlet_;
  Link link_;
  const hal::Address host_;
  Channels<typename D::Framing, DeviceDriver> channels_;
  Conversation<D> talk_;
  bool restarted_ = false;
  Decoded decoded_;
  Health health_;
  Examiner<D::Framing::kMaxFrame> examiner_;
  UnheardWatch unheard_;
  hal::Time opened_{}, deadline_{}, last_tick_{};
  hal::Time newest_frame_{};  // arrival of the newest that was decoded
  hal::Duration retry_ = kFirstRetry;
};

template <Device D>
std::unique_ptr<Driver> make_driver(const Options& options, DriverSetup setup) {
  return std::make_unique<DeviceDriver<D>>(options, std::move(setup));
}

}  // namespace drivers
