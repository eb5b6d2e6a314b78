// Fields of a record: little-endian numbers, texts and arrays with a u32 size in front.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "hal/bytes.h"
#include "hal/mcap/records.h"

namespace hal::mcap {

inline Bytes as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

// Counts on when `out` is full, so that size() is what the record needs.
class FieldWriter {
 public:
  explicit FieldWriter(std::span<std::byte> out) : out_(out) {}

  template <std::unsigned_integral T>
  void number(T value) {
    std::array<std::byte, sizeof(T)> raw;
    for (std::byte& b : raw) {
      b = static_cast<std::byte>(value & 0xffU);
      value = static_cast<T>(value >> 8);
    }
    bytes(raw);
  }
  void bytes(Bytes b) {
    if (size_ <= out_.size() && b.size() <= out_.size() - size_ && !b.empty()) {
      std::memcpy(out_.data() + size_, b.data(), b.size());
    }
    size_ += b.size();
  }
  void text(std::string_view s) {
    number(static_cast<std::uint32_t>(s.size()));
    bytes(as_bytes(s));
  }
  void pairs(std::span<const KeyValue> pairs) {
    std::size_t length = 0;
    for (const KeyValue& p : pairs) length += 8 + p.key.size() + p.value.size();
    number(static_cast<std::uint32_t>(length));
    for (const KeyValue& p : pairs) text(p.key), text(p.value);
  }

  std::size_t size() const { return size_; }
  // What has been written; empty when it did not fit.
  std::span<std::byte> written() const {
    return size_ <= out_.size() ? out_.first(size_) : std::span<std::byte>{};
  }

 private:
  std::span<std::byte> out_;
  std::size_t size_ = 0;
};

// Reads zeros and empty views after the first field that is not wholly there; then !ok().
class FieldReader {
 public:
  explicit FieldReader(Bytes in) : rest_(in) {}

  template <std::unsigned_integral T>
  T number() {
    T value = 0;
    const Bytes raw = bytes(sizeof(T));
    for (std::size_t i = raw.size(); i-- > 0;) {
      value = static_cast<T>(value << 8 | std::to_integer<T>(raw[i]));
    }
    return value;
  }
  Bytes bytes(std::uint64_t n) {
    if (n > rest_.size()) {
      ok_ = false;
      rest_ = {};
      return {};
    }
    const Bytes taken = rest_.first(static_cast<std::size_t>(n));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  std::string_view text() {
    const Bytes b = bytes(number<std::uint32_t>());
    return {reinterpret_cast<const char*>(b.data()), b.size()};
  }
  std::span<const KeyValue> pairs(std::span<KeyValue> out) {
    FieldReader map(bytes(number<std::uint32_t>()));
    std::size_t n = 0;
    while (map.ok_ && !map.rest_.empty()) {
      const std::string_view key = map.text();
      const std::string_view value = map.text();
      if (map.ok_ && n < out.size()) out[n++] = {key, value};
    }
    ok_ = ok_ && map.ok_;
    return out.first(n);
  }

  Bytes rest() const { return rest_; }
  bool ok() const { return ok_; }

 private:
  Bytes rest_;
  bool ok_ = true;
};

}  // namespace hal::mcap
