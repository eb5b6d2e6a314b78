// CDR as ROS 2 uses it (XCDR version 1, PLAIN_CDR, little-endian), written into and read from
// fixed memory. Four bytes of encapsulation come first; alignment counts from after them.
// Source: OMG DDS-XTypes 1.3, section 7.4.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "hal/bytes.h"

namespace app {

inline constexpr std::array<std::byte, 4> kCdrEncapsulation{std::byte{0}, std::byte{1},
                                                            std::byte{0}, std::byte{0}};

static_assert(std::endian::native == std::endian::little, "lidard runs on little-endian machines");

template <class T>
concept CdrPrimitive = std::is_arithmetic_v<T> && sizeof(T) <= 8;

// Counts on when `out` is full, so that size() is always what the message needs.
class CdrWriter {
 public:
  explicit CdrWriter(std::span<std::byte> out) : out_(out) { put(kCdrEncapsulation); }

  template <CdrPrimitive T>
  void write(T value) {
    align(sizeof(T));
    put(std::as_bytes(std::span(&value, 1)));
  }
  void string(std::string_view s) {
    write(static_cast<std::uint32_t>(s.size() + 1));
    put(std::as_bytes(std::span(s)));
    put(std::array{std::byte{0}});
  }
  // Of primitives of `element` bytes, already little-endian.
  void sequence(hal::Bytes elements, std::size_t element) {
    write(static_cast<std::uint32_t>(elements.size() / element));
    if (!elements.empty()) align(element);
    put(elements);
  }

  // A count that is known only later: where it stands, for set().
  std::size_t reserve_count() {
    write(std::uint32_t{0});
    return size_ - sizeof(std::uint32_t);
  }
  void set(std::size_t at, std::uint32_t count) {
    if (at + sizeof count <= out_.size()) std::memcpy(out_.data() + at, &count, sizeof count);
  }

  std::size_t size() const { return size_; }
  bool overflow() const { return size_ > out_.size(); }  // then nothing useful is in `out`

 private:
  void align(std::size_t to) {
    constexpr std::array<std::byte, 8> kZeros{};
    put(hal::Bytes(kZeros).first((0 - (size_ - kCdrEncapsulation.size())) & (to - 1)));
  }
  void put(hal::Bytes b) {
    if (size_ <= out_.size() && b.size() <= out_.size() - size_ && !b.empty()) {
      std::memcpy(out_.data() + size_, b.data(), b.size());
    }
    size_ += b.size();
  }

  std::span<std::byte> out_;
  std::size_t size_ = 0;
};

// Reads zeros and empty views after the first thing that is not wholly there; then !ok(). Views
// are of the bytes given.
class CdrReader {
 public:
  explicit CdrReader(hal::Bytes in) : in_(in) {
    const hal::Bytes head = take(kCdrEncapsulation.size());
    if (!ok_ || head[0] != kCdrEncapsulation[0] || head[1] != kCdrEncapsulation[1]) fail();
  }

  template <CdrPrimitive T>
  T read() {
    align(sizeof(T));
    T value{};
    const hal::Bytes raw = take(sizeof(T));
    if (!raw.empty()) std::memcpy(&value, raw.data(), sizeof(T));
    return value;
  }
  bool read_bool() { return read<std::uint8_t>() != 0; }
  std::string_view string() {
    const auto size = read<std::uint32_t>();
    const hal::Bytes raw = take(size);
    if (raw.empty() || raw.back() != std::byte{0}) {
      if (size != 0) fail();  // some writers send an empty string without its NUL
      return {};
    }
    return {reinterpret_cast<const char*>(raw.data()), raw.size() - 1};
  }
  hal::Bytes sequence(std::size_t element) {
    const std::uint64_t count = read<std::uint32_t>();
    if (count > 0) align(element);
    return take(count * element);
  }

  bool ok() const { return ok_; }
  std::size_t left() const { return in_.size() - at_; }

 private:
  void fail() {
    ok_ = false;
    at_ = in_.size();
  }
  void align(std::size_t to) { take((0 - (at_ - kCdrEncapsulation.size())) & (to - 1)); }
  hal::Bytes take(std::uint64_t n) {
    if (n > left()) {
      fail();
      return {};
    }
    const hal::Bytes taken = in_.subspan(at_, static_cast<std::size_t>(n));
    at_ += taken.size();
    return taken;
  }

  hal::Bytes in_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace app
