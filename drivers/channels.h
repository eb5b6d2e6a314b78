// The ports of one device: opened, closed, written and read together, each with its own framer.
#pragma once

#include <algorithm>
#include <memory>
#include <span>

#include "drivers/dialogue.h"
#include "drivers/framer.h"

namespace drivers {

using Ports = std::array<std::unique_ptr<hal::Port>, kMaxChannels>;  // by Channel; unused: null

// `Owner` is told: on_open(now) when the last port has opened; on_chunk(Channel, const
// hal::Chunk&); on_fault(const hal::Error&, now); on_hang_up(Channel, now) when the device closed
// the control channel and Owner::kControlHangsUp says that it may. With Owner::kDataOpensLater,
// open() makes no data connection: the device offers it in its dialogue, and a request makes it.
template <Framing F, class Owner>
class Channels {
 public:
  Channels(Owner& owner, Ports ports) : ports_(std::move(ports)) {
    for (std::size_t i = 0; i < kMaxChannels; ++i) {
      inlets_[i].owner = &owner;
      inlets_[i].all = this;
      inlets_[i].channel = static_cast<Channel>(i);
    }
  }

  // Calls the owner for each port that opens or fails at once; stops when it closes them then.
  void open() {
    const unsigned opening = ++opening_;
    for (Inlet& inlet : inlets_) inlet.framer.reset();
    for (std::size_t i = 0; i < kMaxChannels && opening == opening_; ++i) {
      if (!ports_[i]) continue;
      if (opens_later(i)) {
        inlets_[i].state = Inlet::State::hung_up;
      } else {
        ports_[i]->open(inlets_[i]);
      }
    }
  }
  void close() {
    ++opening_;
    for (std::size_t i = 0; i < kMaxChannels; ++i) {
      inlets_[i].state = Inlet::State::closed;
      inlets_[i].has_queued = false;
      if (ports_[i]) ports_[i]->close();
    }
  }
  // A channel that the device hung up, or offers later, counts as open: a request opens it.
  bool are_open() const {
    for (std::size_t i = 0; i < kMaxChannels; ++i) {
      if (ports_[i] && inlets_[i].state == Inlet::State::closed) return false;
    }
    return true;
  }
  bool are_drained() const {
    return std::ranges::all_of(ports_, [](const auto& p) { return !p || p->drained(); });
  }

  // Line settings that a port lacks are left out. A request that reopens its channel is written
  // when that is open again.
  hal::Status transmit(const Request& request, LineRate& rate) {
    const auto i = static_cast<std::size_t>(request.channel());
    if (!ports_[i])
      return hal::Error{hal::Errc::bad_config, 0, "driver: write to a missing channel", {}};
    Inlet& inlet = inlets_[i];
    if (request.reopens() && (inlet.state != Inlet::State::open || inlet.is_used)) {
      inlet.state = Inlet::State::closed;
      inlet.queued = request;
      inlet.rate = &rate;
      inlet.has_queued = true;
      inlet.framer.reset();
      rate.current = rate.configured;
      ports_[i]->connect_to(request.remote_port());
      ports_[i]->open(inlet);
      return hal::ok;
    }
    inlet.is_used = true;
    return write(*ports_[i], inlet, request, rate);
  }

  // `given` stands for what it has. Else our address is that of a port that is bound to one, and
  // then that of the connection, or of the way, to the device.
  OwnEnd own_end(const hal::Address& given) const {
    OwnEnd own;
    for (std::size_t i = 0; i < kMaxChannels; ++i) {
      if (!ports_[i]) continue;
      const hal::Address local = ports_[i]->local();
      own.channels[i] = true;
      own.ports[i] = local.port;
      if (!own.has_ip()) own.ip = local.ip;
    }
    if (given.has_ip()) own.ip = given.ip;
    if (given.port != 0) own.ports[static_cast<std::size_t>(Channel::data)] = given.port;
    return own;
  }

  const hal::Port* port(Channel c) const {  // null: there is none
    return ports_[static_cast<std::size_t>(c)].get();
  }
  StreamFramer<F>& framer(Channel c) { return inlets_[static_cast<std::size_t>(c)].framer; }
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
  std::size_t pending() const {
    std::size_t sum = 0;
    for (const Inlet& inlet : inlets_) sum += inlet.framer.pending();
    return sum;
  }
  std::span<const std::unique_ptr<hal::Port>> ports() const { return ports_; }

 private:
  // One channel: the listener of its port.
  struct Inlet final : hal::PortListener {
    enum class State : std::uint8_t { closed, open, hung_up };

    void on_port_open(hal::Time now) override {
      state = State::open;
      is_used = false;
      if (!std::exchange(has_queued, false)) return owner->on_port_open(now);
      if (const hal::Status sent = all->transmit(queued, *rate); !sent) {
        owner->on_fault(sent.error(), now);
      }
    }
    void on_chunk(const hal::Chunk& chunk) override { owner->on_chunk(channel, chunk); }
    void on_port_fault(const hal::Error& error, hal::Time now) override {
      has_queued = false;
      const bool may = Owner::kControlHangsUp && channel == Channel::control;
      if (!may || state != State::open || error.code != hal::Errc::closed) {
        return owner->on_fault(error, now);
      }
      state = State::hung_up;
      owner->on_hang_up(channel, now);
      framer.reset();
    }

    Owner* owner = nullptr;
    Channels* all = nullptr;
    Channel channel{};
    State state = State::closed;
    bool is_used = false;  // something was written since it was opened
    bool has_queued = false;
    Request queued{};  // waits for the port to open
    LineRate* rate = nullptr;
    StreamFramer<F> framer;
  };

  bool opens_later(std::size_t i) const {
    return Owner::kDataOpensLater && i == 0 && ports_[i]->is_connection();
  }

  static hal::Status ignoring_lack(const hal::Status& set) {
    return !set && set.error().code == hal::Errc::unsupported ? hal::ok : set;
  }

  hal::Status write(hal::Port& port, Inlet& inlet, const Request& request, LineRate& rate) {
    hal::Status line = hal::ok;
    if (request.dtr()) line = ignoring_lack(port.set_dtr(*request.dtr()));
    if (request.baud() && *request.baud() != rate.current) {
      if (const hal::Status set = ignoring_lack(port.set_baud(*request.baud())); !set) return set;
      rate.current = *request.baud();
      inlet.framer.reset();
    }
    const hal::Status sent = request.view().empty() ? hal::ok : port.write(request.view());
    return sent ? line : sent;
  }

  Ports ports_;
  std::array<Inlet, kMaxChannels> inlets_{};
  unsigned opening_ = 0;  // which open() this is
};

}  // namespace drivers
