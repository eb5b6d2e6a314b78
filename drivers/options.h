// What a device lets its user choose: one constexpr table per device, read by the configuration,
// by `check`, by the manual and by --set.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hal/result.h"

namespace drivers {

enum class OptionType : std::uint8_t { flag, integer, number, text, choice };

struct OptionSpec {
  std::string_view key;
  OptionType type;
  std::string_view unit;       // empty: none
  std::string_view fallback;   // as it would be written in a file
  double min = 0, max = 0;     // integer, number
  std::string_view choices{};  // "typical|Standard|..."; choice
  std::string_view help;
};

// The values of one device, checked against its table. Built and read while the stack is built,
// never on the data path.
class Options {
 public:
  explicit Options(std::span<const OptionSpec> specs);  // all at their defaults

  // Refuses unknown keys (naming the nearest), wrong types and values out of range.
  hal::Status set(std::string_view key, std::string_view value);

  bool flag(std::string_view key) const { return text(key) == "true"; }
  double number(std::string_view key) const;
  int integer(std::string_view key) const { return static_cast<int>(number(key)); }
  std::string_view text(std::string_view key) const;
  std::span<const OptionSpec> specs() const { return specs_; }

 private:
  std::size_t index_of(std::string_view key) const;  // specs_.size() when unknown

  std::span<const OptionSpec> specs_;
  std::vector<std::string> values_;  // in table order
};

// The candidate that is written most like `word`; empty when none is near. Decimal integers may
// also be written in hexadecimal ("0x82") wherever an option is an integer.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace drivers
