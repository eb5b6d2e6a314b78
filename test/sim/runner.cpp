#include "test/sim/runner.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <string_view>

#include "hal/clock.h"
#include "test/sim/endpoint.h"
#include "test/sim/player.h"
#include "test/sim/transport.h"
#include "test/sim/uart.h"

namespace sim {
namespace {

// Bytes that should have left this long ago are lost: a wire does not catch up with a process that
// was stopped. Less than that is the scheduler's doing, and the host's buffer would have held it.
constexpr hal::Duration kTooLate = std::chrono::milliseconds(100);
// How often a pty that nobody has open is looked at.
constexpr hal::Duration kLookAgain = std::chrono::milliseconds(10);
constexpr int kParentThreadEnded = SIGUSR2;

hal::Error wrong_use(const char* text) {
  hal::Error error{hal::Errc::bad_config, 0, "simulate", {}};
  error.detail.print("%s", text);
  return error;
}

std::string quoted_or_null(const std::string& text) {
  if (text.empty()) return "null";
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
  return json + "\"";
}

// HOST:PORT with another port.
std::string with_port(const std::string& address, unsigned port) {
  return address.substr(0, address.rfind(':') + 1) + std::to_string(port);
}

class FileCloser {
 public:
  void operator()(std::FILE* file) const { std::fclose(file); }
};

class Runner final : private DataPorts {
 public:
  explicit Runner(const RunOptions& options) : options_(options) {}
  ~Runner() override {
    if (signals_ >= 0) ::close(signals_);
  }

  hal::Status start() {
    hal::Status status = choose_ports();
    if (!status) return status;
    watch_signals();
    status = open_truth();
    if (!status) return status;
    status = make_player();
    if (!status) return status;
    status = plug(true);
    if (!status) return status;
    const auto address = [](const auto& port) { return port ? port->address() : std::string(); };
    std::printf("{\"type\":\"ready\",\"pty\":%s,\"udp\":%s,\"tcp\":%s}\n",
                quoted_or_null(address(pty_)).c_str(), quoted_or_null(address(udp_)).c_str(),
                quoted_or_null(address(tcp_)).c_str());
    std::fflush(stdout);
    return hal::ok;
  }

  hal::Status play() {
    const hal::Time end =
        options_.for_s > 0.0 ? ready_ + hal::from_seconds(options_.for_s) : kNever;
    while (!is_ended_) {
      (void)clock_.sample_sleep();
      const hal::Time now = clock_.now();
      if (now >= end) break;
      const hal::Time due = std::min(player_->advance(now), end);
      const hal::Status plugged = plug(player_->is_plugged(now));
      if (!plugged) return plugged;
      deliver(now);
      wait_until(due);
    }
    return hal::ok;
  }

 private:
  hal::Status choose_ports() {
    row_ = find_model(options_.driver);
    if (row_ == nullptr) return wrong_use(("no such device: " + options_.driver).c_str());
    const bool has_socket = !options_.udp.empty() || !options_.tcp.empty() || !options_.to.empty();
    if (options_.pty.empty() == !has_socket)
      return wrong_use("one of --pty, --udp, --tcp is wanted: where is the device?");
    if (!options_.tcp.empty() && !options_.udp.empty() && !row_->two_ports)
      return wrong_use("this device has one port: --udp or --tcp, not both");
    if (!options_.pty.empty()) pty_ = make_pty(options_.pty);
    if (!options_.tcp.empty()) tcp_ = make_tcp(options_.tcp);
    // A two-port device of which one port is named sends its data from a port of its own choice.
    const bool sends_from_any = row_->two_ports && !options_.tcp.empty();
    const std::string any = sends_from_any ? with_port(options_.tcp, 0) : ":0";
    if (!options_.udp.empty() || !options_.to.empty() || sends_from_any)
      udp_ = make_udp(options_.udp.empty() ? any : options_.udp, options_.to);
    return hal::ok;
  }

  void watch_signals() {
    ::signal(SIGPIPE, SIG_IGN);
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, kParentThreadEnded}) sigaddset(&set, signal);
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    signals_ = ::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    parent_ = ::getppid();
    ::prctl(PR_SET_PDEATHSIG, kParentThreadEnded);
    ::prctl(PR_SET_TIMERSLACK, 1'000UL);
  }

  hal::Status open_truth() {
    if (options_.truth.empty()) return hal::ok;
    truth_file_.reset(std::fopen(options_.truth.c_str(), "we"));
    if (!truth_file_) return system_error("simulate: --truth", options_.truth);
    std::setvbuf(truth_file_.get(), nullptr, _IOLBF, std::size_t{1} << 16);
    truth_ = std::make_unique<TruthWriter>(truth_file_.get());
    return hal::ok;
  }

  hal::Status make_player() {
    Options set = options_.set;
    // Somebody who looks at it would take a room that is always the same for a sensor that hangs.
    const auto is_noise = [](const OptionRow& row) { return row.key == std::string_view("noise"); };
    if (std::ranges::any_of(row_->options, is_noise)) set.try_emplace("noise", "1");
    PlayerInputs inputs{*row_,
                        set,
                        {},
                        options_.rate_hz,
                        options_.seed,
                        pty_ != nullptr,
                        truth_.get(),
                        Arrival::direct,
                        this,
                        !options_.to.empty()};
    for (const std::string& text : options_.faults) {
      const hal::Result<Fault> fault = parse_fault(text);
      if (!fault) return fault.error();
      inputs.faults.push_back(*fault);
    }
    if (!options_.arrival.empty()) {
      const hal::Result<Arrival> arrival = parse_arrival(options_.arrival);
      if (!arrival) return arrival.error();
      inputs.arrival = *arrival;
    }
    ready_ = clock_.now();
    auto player = Player::make(inputs, ready_);
    if (!player) return player.error();
    player_ = std::move(*player);
    return hal::ok;
  }

  hal::Status plug(bool in) {
    if (in == is_plugged_) return hal::ok;
    is_plugged_ = in;
    if (!in) data_ports_.clear();
    for (Transport* const port : {pty_.get(), udp_.get(), tcp_.get()}) {
      if (port == nullptr) continue;
      if (!in) {
        port->close();
        continue;
      }
      const hal::Status status = port->open();
      if (!status) return status;
    }
    return hal::ok;
  }

  unsigned open(unsigned wanted) override {
    auto port = make_tcp(with_port(options_.tcp.empty() ? options_.udp : options_.tcp, wanted));
    if (data_ports_.contains(wanted) || !port->open()) return 0;
    const std::string address = port->address();
    const unsigned number =
        static_cast<unsigned>(std::stoul(address.substr(address.rfind(':') + 1)));
    data_ports_[number] = std::move(port);
    return number;
  }

  void close(unsigned port) override { data_ports_.erase(port); }

  // On a two-port device UDP carries the data and TCP the dialogue. nullptr: a port that the device
  // has closed since.
  Transport* port_of(const Way& way) {
    if (pty_) return pty_.get();
    if (way.channel == Channel::connection) {
      const auto found = data_ports_.find(way.to.port);
      return found == data_ports_.end() ? nullptr : found->second.get();
    }
    if (udp_ && (way.channel == Channel::data || !tcp_)) return udp_.get();
    return tcp_ ? tcp_.get() : udp_.get();
  }

  void deliver(hal::Time now) {
    Write write;
    while (player_->take(now, write)) {
      if (now - write.due > kTooLate) continue;
      Transport* const port = port_of(write.way);
      if (port == nullptr) continue;
      if (!player_->has_wrong_baud(now)) {
        port->write(write.bytes, write.way, write.is_reply);
        continue;
      }
      const ByteVector garbled = resample(write.bytes, player_->line_baud(now), port->host_baud());
      port->write(garbled, write.way, write.is_reply);
    }
  }

  void wait_until(hal::Time due) {
    polls_.clear();
    polls_.push_back({signals_, POLLIN, 0});
    for (const Transport* const port : {pty_.get(), udp_.get(), tcp_.get()})
      if (port != nullptr) port->add_polls(polls_);
    for (const auto& [number, port] : data_ports_) port->add_polls(polls_);
    const hal::Time now = clock_.now();
    hal::Duration left = std::max(due - now, hal::Duration::zero());
    left = std::min<hal::Duration>(left, pty_ ? kLookAgain : std::chrono::seconds(1));
    const timespec timeout{0, static_cast<long>(left.count() % 1'000'000'000)};
    const timespec second{1, 0};
    const bool is_long = left >= std::chrono::seconds(1);
    const int ready = ::ppoll(polls_.data(), polls_.size(), is_long ? &second : &timeout, nullptr);
    if (ready > 0 && polls_[0].revents != 0) read_signals();
    // A pty is read in any case: a host may write its last command and hang up at once.
    if (ready > 0 || pty_) read_ports();
  }

  void read_ports() {
    const auto into = [this](Channel channel) {
      return [this, channel](hal::Bytes bytes) { hear(channel, bytes); };
    };
    if (pty_) pty_->read(into(Channel::data));
    if (udp_) udp_->read(into(Channel::data));
    if (tcp_) tcp_->read(into(udp_ ? Channel::control : Channel::data));
    for (const auto& [number, port] : data_ports_) port->read([](hal::Bytes) {});
  }

  void hear(Channel channel, hal::Bytes bytes) {
    const hal::Time now = clock_.now();
    if (!player_->has_wrong_baud(now)) return player_->receive(channel, bytes, now);
    const ByteVector heard =
        resample(bytes, port_of({channel})->host_baud(), player_->line_baud(now));
    player_->receive(channel, heard, now);
  }

  void read_signals() {
    signalfd_siginfo info{};
    while (::read(signals_, &info, sizeof info) == sizeof info) {
      // The kernel tells of the end of the parent's thread; the process may live on.
      const bool is_parent_alive =
          static_cast<int>(info.ssi_signo) == kParentThreadEnded && ::getppid() == parent_;
      if (!is_parent_alive) is_ended_ = true;
    }
  }

  const RunOptions& options_;
  hal::InnerClock clock_;
  const ModelRow* row_ = nullptr;
  std::unique_ptr<std::FILE, FileCloser> truth_file_;
  std::unique_ptr<TruthWriter> truth_;
  std::unique_ptr<Player> player_;
  std::unique_ptr<Transport> pty_, udp_, tcp_;
  std::map<unsigned, std::unique_ptr<Transport>> data_ports_;  // by number
  std::vector<pollfd> polls_;
  hal::Time ready_{};
  int signals_ = -1;
  pid_t parent_ = 0;
  bool is_plugged_ = false;
  bool is_ended_ = false;
};

int report(const hal::Status& status) {
  if (status) return 0;
  const hal::Error& error = status.error();
  std::fprintf(stderr, "%s: %s\n", error.where, error.detail.c_str());
  return 2;
}

}  // namespace

int run(const RunOptions& options) {
  Runner runner(options);
  const int failed = report(runner.start());
  return failed != 0 ? failed : report(runner.play());
}

}  // namespace sim
