#include "hal/capture.h"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstring>
#include <type_traits>
#include <utility>

namespace hal {
namespace {

template <std::integral T>
void put(std::byte*& to, T value) {
  auto bits = static_cast<std::make_unsigned_t<T>>(value);
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    *to++ = static_cast<std::byte>((bits >> (8 * i)) & 0xFFu);
  }
}

template <std::integral T>
T take(const std::byte*& from) {
  std::make_unsigned_t<T> bits = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bits |= static_cast<std::make_unsigned_t<T>>(std::to_integer<std::make_unsigned_t<T>>(*from++)
                                                 << (8 * i));
  }
  return static_cast<T>(bits);
}

constexpr std::array kCounters{&PortStats::rejected_datagrams, &PortStats::empty_datagrams,
                               &PortStats::lost_datagrams, &PortStats::replaced_stamps,
                               &PortStats::dropped_writes};

class TappedPort final : public Port, private PortListener {
 public:
  TappedPort(std::unique_ptr<Port> port, Tap& tap, std::uint8_t sensor, std::uint8_t channel)
      : port_(std::move(port)), tap_(tap), sensor_(sensor), channel_(channel) {}

  void open(PortListener& listener) override {
    listener_ = &listener;
    port_->open(*this);
  }

  Status write(Bytes bytes) override {
    RawRecord record = about(RawKind::tx, newest_);
    record.bytes = bytes;
    return told(record, port_->write(bytes));
  }

  Status set_baud(int baud) override {
    RawRecord record = about(RawKind::tx, newest_);
    record.lost = static_cast<std::uint32_t>(baud);
    return told(record, port_->set_baud(baud));
  }

  void close() override { port_->close(); }
  Status set_dtr(bool asserted) override { return port_->set_dtr(asserted); }

  bool drained() const override {
    const bool drained = port_->drained();
    if (!drained) tap_.on_record(about(RawKind::rx, newest_));
    return drained;
  }

  bool has_line() const override { return port_->has_line(); }
  bool is_connection() const override { return port_->is_connection(); }
  void connect_to(std::uint16_t port) override { port_->connect_to(port); }
  Address local() const override { return port_->local(); }
  PortStats stats() const override {
    const PortStats stats = port_->stats();
    if (stats == told_) return stats;
    told_ = stats;
    std::array<std::byte, kRawStats> bytes;
    RawRecord record = about(RawKind::stats, newest_);
    record.bytes = Bytes(bytes).first(encode(stats, bytes));
    tap_.on_record(record);
    return stats;
  }
  std::string_view name() const override { return port_->name(); }

 private:
  void on_port_open(Time now) override {
    newest_ = now;
    RawRecord record = about(RawKind::open, now);
    record.value = port_->has_line() ? 1 : 0;
    std::array<std::byte, kRawAddress> own;
    if (const Address local = port_->local(); local != Address{}) {
      std::byte* to = own.data();
      for (const std::uint8_t part : local.ip) put(to, part);
      put(to, local.port);
      record.bytes = own;
    }
    tap_.on_record(record);
    listener_->on_port_open(now);
  }

  void on_chunk(const Chunk& chunk) override {
    newest_ = chunk.last_at;
    RawRecord record = about(RawKind::rx, chunk.last_at);
    record.value = chunk.per_byte.count();
    record.lost = chunk.lost;
    record.bytes = chunk.bytes;
    tap_.on_record(record);
    listener_->on_chunk(chunk);
  }

  void on_port_fault(const Error& error, Time now) override {
    newest_ = now;
    const Text<192> words = in_words(error);
    const std::string_view detail = words.view();
    std::array<std::byte, 1 + sizeof words> bytes;
    bytes[0] = static_cast<std::byte>(error.code);
    std::memcpy(&bytes[1], detail.data(), detail.size());
    RawRecord record = about(RawKind::fault, now);
    record.sys = error.sys;
    record.bytes = Bytes(bytes).first(1 + detail.size());
    tap_.on_record(record);
    listener_->on_port_fault(error, now);
  }

  Status told(RawRecord record, const Status& result) {
    if (!result) {
      record.sys = result.error().sys;
      record.value = 1 + static_cast<std::int64_t>(result.error().code);
    }
    tap_.on_record(record);
    return result;
  }

  RawRecord about(RawKind kind, Time at) const {
    RawRecord record;
    record.kind = kind;
    record.sensor = sensor_;
    record.channel = channel_;
    record.at = at;
    return record;
  }

  const std::unique_ptr<Port> port_;
  Tap& tap_;
  const std::uint8_t sensor_, channel_;
  PortListener* listener_ = nullptr;
  Time newest_{};             // of the newest event
  mutable PortStats told_{};  // the newest record of it
};

// Far beyond what happens, and sums of two of them still fit.
constexpr std::int64_t kMost = (std::int64_t{1} << 62) - 1;
constexpr std::int64_t kLongestByteNs = 1'000'000'000;

bool is_plausible(const RawRecord& record) {
  const auto fits = [](std::int64_t v) { return v >= -kMost && v <= kMost; };
  if (!fits(to_ns(record.at)) || !fits(record.value)) return false;
  const std::int64_t most = record.kind == RawKind::open ? 1 : kLongestByteNs;
  const bool bounded = record.kind == RawKind::rx || record.kind == RawKind::open;
  return !bounded || (record.value >= 0 && record.value <= most);
}

}  // namespace

std::size_t encode(const RawRecord& record, std::span<std::byte> out) {
  const std::size_t size = kRawHeader + record.bytes.size();
  if (out.size() < size) return 0;
  std::byte* to = out.data();
  put(to, static_cast<std::uint8_t>(record.kind));
  put(to, record.sensor);
  put(to, record.channel);
  put(to, std::uint8_t{0});
  put(to, record.sys);
  put(to, to_ns(record.at));
  put(to, record.value);
  put(to, record.lost);
  put(to, static_cast<std::uint32_t>(record.bytes.size()));
  std::ranges::copy(record.bytes, to);
  return size;
}

std::optional<RawRecord> decode(Bytes bytes) {
  if (bytes.size() < kRawHeader) return std::nullopt;
  const std::byte* from = bytes.data();
  const auto kind = take<std::uint8_t>(from);
  if (kind > static_cast<std::uint8_t>(RawKind::stats)) return std::nullopt;
  RawRecord record;
  record.kind = static_cast<RawKind>(kind);
  record.sensor = take<std::uint8_t>(from);
  record.channel = take<std::uint8_t>(from);
  ++from;
  record.sys = take<std::int32_t>(from);
  record.at = from_ns(take<std::int64_t>(from));
  record.value = take<std::int64_t>(from);
  record.lost = take<std::uint32_t>(from);
  if (take<std::uint32_t>(from) != bytes.size() - kRawHeader) return std::nullopt;
  record.bytes = bytes.subspan(kRawHeader);
  if (!is_plausible(record)) return std::nullopt;
  return record;
}

std::size_t encode(const PortStats& stats, std::span<std::byte, kRawStats> out) {
  static_assert(kCounters.size() * 8 + 9 + 3 + 24 + 48 + 96 <= kRawStats);
  std::byte* to = out.data();
  for (const auto counter : kCounters) put(to, stats.*counter);
  put(to, stats.receive_buffer);
  put(to, static_cast<std::int32_t>(stats.adapter_timer_ms));
  put(to, std::uint8_t{stats.low_latency});
  for (const std::string_view text :
       {stats.last_rejected.view(), stats.from.view(), stats.note.view()}) {
    put(to, static_cast<std::uint8_t>(text.size()));
    to = std::ranges::copy(std::as_bytes(std::span(text)), to).out;
  }
  return static_cast<std::size_t>(to - out.data());
}

PortStats stats_in(const RawRecord& record) {
  PortStats stats;
  Bytes bytes = record.bytes;
  if (record.kind != RawKind::stats || bytes.size() < kCounters.size() * 8 + 9) return stats;
  const std::byte* from = bytes.data();
  for (const auto counter : kCounters) stats.*counter = take<std::uint64_t>(from);
  stats.receive_buffer = take<std::uint32_t>(from);
  stats.adapter_timer_ms = take<std::int32_t>(from);
  stats.low_latency = take<std::uint8_t>(from) != 0;
  bytes = bytes.subspan(static_cast<std::size_t>(from - bytes.data()));
  const auto text = [&](auto& to) {
    if (bytes.empty() || bytes.size() <= std::to_integer<std::size_t>(bytes[0])) return;
    const std::size_t n = std::to_integer<std::size_t>(bytes[0]);
    std::array<char, 256> chars{};
    std::ranges::transform(bytes.subspan(1, n), chars.begin(),
                           [](std::byte b) { return static_cast<char>(b); });
    to.print("%s", chars.data());
    bytes = bytes.subspan(1 + n);
  };
  text(stats.last_rejected);
  text(stats.from);
  text(stats.note);
  return stats;
}

Address address_in(const RawRecord& record) {
  Address address;
  if (record.kind != RawKind::open || record.bytes.size() != kRawAddress) return address;
  const std::byte* from = record.bytes.data();
  for (std::uint8_t& part : address.ip) part = take<std::uint8_t>(from);
  address.port = take<std::uint16_t>(from);
  return address;
}

std::unique_ptr<Port> tapped(std::unique_ptr<Port> port, Tap& tap, std::uint8_t sensor,
                             std::uint8_t channel) {
  return std::make_unique<TappedPort>(std::move(port), tap, sensor, channel);
}

}  // namespace hal
