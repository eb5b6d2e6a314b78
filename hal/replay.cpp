#include "hal/replay.h"

#include <algorithm>
#include <array>
#include <utility>

namespace hal {
namespace {

constexpr std::size_t kLongestChunk = EventLoop::kReadBuffer;

Errc code_of(std::int64_t number) {
  const bool is_known = number >= 0 && number <= static_cast<std::int64_t>(Errc::unsupported);
  return is_known ? static_cast<Errc>(number) : Errc::io;
}

Error error_of(const RawRecord& record) {
  Error error{Errc::io, record.sys, "replay: port", {}};
  if (record.bytes.empty()) return error;
  error.code = code_of(std::to_integer<std::int64_t>(record.bytes[0]));
  std::array<char, 192> text{};
  const std::size_t n = std::min(record.bytes.size() - 1, text.size() - 1);
  std::ranges::transform(record.bytes.subspan(1, n), text.begin(),
                         [](std::byte b) { return static_cast<char>(b); });
  error.detail.print("%s", text.data());
  return error;
}

}  // namespace

class ReplayPort final : public Port {
 public:
  ReplayPort(Replayer& replayer, std::uint8_t sensor, std::uint8_t channel, std::string name)
      : sensor_(sensor),
        channel_(channel),
        replayer_(replayer),
        name_(std::move(name)),
        is_datagram_(name_.starts_with("udp:")) {}

  void open(PortListener& listener) override {
    listener_ = &listener;
    const RawRecord* const next = replayer_.peek();
    if (next == nullptr || !is_mine(next->sensor, next->channel)) return;
    if (next->kind != RawKind::open && next->kind != RawKind::fault) return;
    RawRecord record;
    replayer_.consume(record);
    handle(record);
  }

  Status write(Bytes bytes) override {
    RawRecord record;
    if (!take_tx(record)) return ok;
    if (!std::ranges::equal(record.bytes, bytes)) ++replayer_.divergences_;
    if (record.value == 0) return ok;
    return refused_write(code_of(record.value - 1), record.sys);
  }

  Status set_baud(int baud) override {
    RawRecord record;
    if (!take_tx(record)) return ok;
    const bool same = record.bytes.empty() && record.lost == static_cast<std::uint32_t>(baud);
    if (!same) ++replayer_.divergences_;
    if (record.value == 0) return ok;
    return refused_baud(code_of(record.value - 1), record.sys, baud);
  }

  void close() override { listener_ = nullptr; }
  Status set_dtr(bool) override { return ok; }
  bool drained() const override { return drained_; }
  bool has_line() const override { return has_line_; }
  bool is_connection() const override { return name_.starts_with("tcp:"); }
  Address local() const override { return local_; }
  PortStats stats() const override {
    const RawRecord* const next = replayer_.peek();
    if (next != nullptr && next->kind == RawKind::stats && is_mine(next->sensor, next->channel)) {
      RawRecord record;
      replayer_.consume(record);
      stats_ = stats_in(record);
    }
    return stats_;
  }
  std::string_view name() const override { return name_; }

  // The record's bytes must not be the source's.
  void handle(const RawRecord& record) {
    if (record.kind == RawKind::rx && record.bytes.empty()) {
      drained_ = false;
      return;
    }
    if (record.kind == RawKind::stats) {
      stats_ = stats_in(record);
      return;
    }
    if (listener_ == nullptr || record.kind == RawKind::tx) {
      ++replayer_.divergences_;
    } else if (record.kind == RawKind::open) {
      has_line_ = record.value != 0;
      local_ = address_in(record);
      listener_->on_port_open(record.at);
    } else if (record.kind == RawKind::fault) {
      std::exchange(listener_, nullptr)->on_port_fault(error_of(record), record.at);
    } else {
      listener_->on_chunk(
          {record.bytes, record.at, Duration(record.value), record.lost, is_datagram_});
    }
  }
  void on_pass_end() { drained_ = true; }
  bool is_mine(std::uint8_t sensor, std::uint8_t channel) const {
    return sensor == sensor_ && channel == channel_;
  }

 private:
  // What was written at this place of the capture. False, counted, when it was something else.
  bool take_tx(RawRecord& record) {
    const RawRecord* const next = replayer_.peek();
    if (next == nullptr || next->kind != RawKind::tx || !is_mine(next->sensor, next->channel)) {
      ++replayer_.divergences_;
      return false;
    }
    replayer_.consume(record);
    return true;
  }

  const std::uint8_t sensor_, channel_;
  Replayer& replayer_;
  const std::string name_;
  const bool is_datagram_;
  PortListener* listener_ = nullptr;
  bool has_line_ = false;
  Address local_;
  mutable PortStats stats_;  // as they were told last
  bool drained_ = true;
};

Replayer::Replayer(RecordSource& source)
    : source_(source), bytes_(std::make_unique<std::byte[]>(kLongestChunk)) {}

std::unique_ptr<Port> Replayer::make_port(std::uint8_t sensor, std::uint8_t channel,
                                          std::string name) {
  auto port = std::make_unique<ReplayPort>(*this, sensor, channel, std::move(name));
  ports_.push_back(port.get());
  return port;
}

const RawRecord* Replayer::peek() {
  if (!next_) next_ = source_.next();
  return next_ ? &*next_ : nullptr;
}

void Replayer::consume(RawRecord& taken) {
  taken = *next_;
  next_.reset();
  clock_.now_ = std::max(clock_.now_, taken.at);  // a kernel stamp lies before its pass
}

bool Replayer::step(ReplayListener& listener) {
  // The end of a pass has no record; a write that nothing else explains came from it.
  const RawRecord* const next = peek();
  if (next == nullptr || next->kind == RawKind::pass || next->kind == RawKind::tx) {
    end_pass(listener);
  }
  if (peek() == nullptr) return false;
  RawRecord record;
  consume(record);
  switch (record.kind) {
    case RawKind::pass:
      begin_pass(listener, record);
      break;
    case RawKind::tick:
      if (record.value != 0) listener.on_wall_clock(record.value);
      listener.on_tick(record.at);
      break;
    case RawKind::offset:
      clock_.offset_ns_ = record.value;
      listener.on_offset(record.value);
      break;
    case RawKind::rx:
    case RawKind::tx:
    case RawKind::open:
    case RawKind::fault:
    case RawKind::stats:
      handle_port_record(record);
      break;
  }
  return true;
}

void Replayer::begin_pass(ReplayListener& listener, const RawRecord& record) {
  in_pass_ = true;
  began_ = record.at;
  listener.on_pass_begin(record.at);
  if (record.value > 0) listener.on_suspended(Duration(record.value));
}

void Replayer::end_pass(ReplayListener& listener) {
  if (!std::exchange(in_pass_, false)) return;
  listener.on_pass_end(began_);
  for (ReplayPort* port : ports_) port->on_pass_end();
}

ReplayPort* Replayer::find(std::uint8_t sensor, std::uint8_t channel) const {
  const auto found = std::ranges::find_if(
      ports_, [&](const ReplayPort* port) { return port->is_mine(sensor, channel); });
  return found == ports_.end() ? nullptr : *found;
}

void Replayer::handle_port_record(const RawRecord& record) {
  ReplayPort* const port = find(record.sensor, record.channel);
  if (port == nullptr || record.bytes.size() > kLongestChunk) {
    ++divergences_;
    return;
  }
  RawRecord own = record;
  std::ranges::copy(record.bytes, bytes_.get());
  own.bytes = Bytes(bytes_.get(), record.bytes.size());
  port->handle(own);
}

}  // namespace hal
