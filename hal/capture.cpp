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
  PortStats stats() const override { return port_->stats(); }
  std::string_view name() const override { return port_->name(); }

 private:
  void on_port_open(Time now) override {
    newest_ = now;
    RawRecord record = about(RawKind::open, now);
    record.value = port_->has_line() ? 1 : 0;
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
  Time newest_{};  // of the newest event
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
  if (kind > static_cast<std::uint8_t>(RawKind::offset)) return std::nullopt;
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

std::unique_ptr<Port> tapped(std::unique_ptr<Port> port, Tap& tap, std::uint8_t sensor,
                             std::uint8_t channel) {
  return std::make_unique<TappedPort>(std::move(port), tap, sensor, channel);
}

}  // namespace hal
