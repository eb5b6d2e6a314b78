// A bounded queue of whole MCAP message records, as bytes that can be sent as they lie.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <memory>

#include "hal/mcap/records.h"

namespace app {

class RecordRing {
 public:
  struct Front {
    std::size_t size = 0;  // of the whole record
    std::uint16_t channel = 0;
    std::uint32_t sequence = 0;
    std::uint64_t log_time = 0;
  };

  explicit RecordRing(std::size_t capacity)
      : data_(std::make_unique<std::byte[]>(capacity)), capacity_(capacity) {}

  bool fits(std::size_t bytes) const { return bytes <= capacity_ - size_; }
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }  // bytes
  std::size_t capacity() const { return capacity_; }
  std::size_t records() const { return records_; }

  // One record in two parts that together fit. `head` is what encode_head() made.
  void push(const std::array<std::byte, hal::mcap::kMessageHead>& head, hal::Bytes data) {
    assert(fits(head.size() + data.size()));
    put(head);
    put(data);
    ++records_;
  }
  Front front() const {
    std::array<std::byte, hal::mcap::kMessageHead> raw;
    copy(0, raw);
    const auto length = hal::mcap::decode_head(raw).length;
    const auto m = hal::mcap::decode_message(hal::Bytes(raw).subspan(hal::mcap::kRecordHead));
    return {hal::mcap::kRecordHead + static_cast<std::size_t>(length), m->channel, m->sequence,
            m->log_time};
  }
  void pop(std::size_t front_size) {
    begin_ = (begin_ + front_size) % capacity_;
    size_ -= front_size;
    --records_;
  }
  void clear() { begin_ = size_ = records_ = 0; }

  // The bytes that begin `from` bytes after the oldest one.
  void copy(std::size_t from, std::span<std::byte> out) const {
    const std::size_t at = (begin_ + from) % capacity_;
    const std::size_t n = std::min(out.size(), capacity_ - at);
    std::memcpy(out.data(), data_.get() + at, n);
    std::memcpy(out.data() + n, data_.get(), out.size() - n);
  }
  // Everything in it, oldest first.
  std::array<hal::Bytes, 2> bytes() const {
    const std::size_t n = std::min(size_, capacity_ - begin_);
    return {hal::Bytes{data_.get() + begin_, n}, hal::Bytes{data_.get(), size_ - n}};
  }

 private:
  void put(hal::Bytes b) {
    const std::size_t at = (begin_ + size_) % capacity_;
    const std::size_t n = std::min(b.size(), capacity_ - at);
    std::copy_n(b.begin(), n, data_.get() + at);
    std::copy(b.begin() + static_cast<std::ptrdiff_t>(n), b.end(), data_.get());
    size_ += b.size();
  }

  std::unique_ptr<std::byte[]> data_;
  std::size_t capacity_, begin_ = 0, size_ = 0, records_ = 0;
};

}  // namespace app
