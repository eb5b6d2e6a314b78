// lidard at work: the station on the real loop, clocks, ports and sockets.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "app/mcap_stream.h"
#include "app/notify.h"
#include "app/raw_capture.h"
#include "app/station.h"
#include "hal/clock.h"
#include "hal/event_loop.h"
#include "hal/udp_share.h"
#include "hal/unix_ports.h"
#include "hal/wall_offset.h"

namespace app {

class Daemon final : private hal::PassListener {
 public:
  // Takes all memory. `configuration`: the text of the file, for a capture.
  static hal::Result<std::unique_ptr<Daemon>> create(const config::Stack& stack,
                                                     const config::Plan& plan,
                                                     const std::string& configuration,
                                                     hal::Log& log);
  ~Daemon();

  // Until SIGTERM or SIGINT; then every device is stopped, within kStopWithin in all.
  // An error: it could not begin.
  hal::Status run();

  static constexpr hal::Duration kStopWithin = std::chrono::milliseconds(480);

 private:
  // The stream socket as the place where messages go.
  class StreamSink final : public MessageSink {
   public:
    explicit StreamSink(McapStream& stream) : stream_(stream) {}
    // Takes the memory for the channels of inputs, which are declared while it runs.
    void reserve(const config::Stack& stack);
    hal::Result<ChannelId> add_channel(std::string_view topic, const MessageType&,
                                       std::size_t latched_bytes) override;
    std::span<std::byte> scratch() override { return stream_.scratch(); }
    void publish(ChannelId id, std::int64_t log_time, std::int64_t publish_time,
                 hal::Bytes message) override {
      stream_.publish(id, log_time, publish_time, message);
    }

   private:
    McapStream& stream_;
    std::vector<std::pair<std::string_view, std::uint16_t>> schemas_;
  };

  Daemon(const config::Stack& stack, const config::Plan& plan, hal::Log& log);
  hal::Status open(const std::string& configuration);
  void add_drivers();
  hal::Status add_inputs();
  std::unique_ptr<hal::Port> port(const config::Sensor&, const hal::PortSpec&, std::uint8_t sensor,
                                  drivers::Channel);

  void on_pass_begin(hal::Time now) override;
  void on_pass_end(hal::Time began) override;
  void on_tick(hal::Time now);
  void on_signal(int signal);
  hal::ClockPair update_offset();
  void tell_service();
  void wait_for_due();
  void set_offset();
  void record(hal::RawKind kind, hal::Time at, std::int64_t value = 0);
  void stop_devices();

  const config::Stack& stack_;
  hal::Log& log_;
  hal::InnerClock clock_;
  hal::EventLoop loop_{clock_};
  std::unique_ptr<RawCapture> capture_;
  hal::UnixPorts input_ports_{loop_};
  hal::UdpShares udp_shares_;
  McapStream stream_;
  StreamSink sink_{stream_};
  Station station_;
  hal::WallOffset offset_;
  Notifier notifier_;
  bool stopping_ = false;
  hal::Timer due_timer_{loop_.io()};
  bool due_waits_ = false;
  hal::Time due_at_{};
  std::array<hal::HandlerMemory, 2> due_memory_;
  unsigned due_turn_ = 0;
  hal::Anchor anchor_;
  std::size_t told_streaming_ = SIZE_MAX;
};

}  // namespace app
