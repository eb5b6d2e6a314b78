// A raw capture in memory taken beforehand: a tap, and what a replay reads.
#pragma once

#include <vector>

#include "hal/replay.h"

namespace test {

class RawLog final : public hal::Tap {
 public:
  explicit RawLog(std::size_t room = std::size_t{1} << 20) { bytes_.reserve(room); }

  void on_record(const hal::RawRecord& record) override {
    const std::size_t at = bytes_.size(), size = hal::kRawHeader + record.bytes.size();
    bytes_.resize(at + size);
    hal::encode(record, std::span(bytes_).subspan(at));
    ++records_;
  }
  std::size_t records() const { return records_; }

  // Reads it from the beginning; the log outlives it.
  class Source final : public hal::RecordSource {
   public:
    explicit Source(const RawLog& log) : bytes_(log.bytes_) {}
    std::optional<hal::RawRecord> next() override {
      if (at_ == bytes_.size()) return std::nullopt;
      std::uint32_t n = 0;  // the header's last field
      for (std::size_t i = hal::kRawHeader; i-- > hal::kRawHeader - 4;) {
        n = n << 8 | std::to_integer<std::uint32_t>(bytes_[at_ + i]);
      }
      const hal::Bytes record = bytes_.subspan(at_, hal::kRawHeader + n);
      at_ += record.size();
      return hal::decode(record);
    }

   private:
    hal::Bytes bytes_;
    std::size_t at_ = 0;
  };

 private:
  std::vector<std::byte> bytes_;
  std::size_t records_ = 0;
};

}  // namespace test
