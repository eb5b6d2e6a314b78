// The `--set key=value` options of a model: declared as a table, checked once, then read typed.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "hal/result.h"

namespace sim {

using Options = std::map<std::string, std::string>;  // as they stand on the command line

// One option. With `choices` ("a|b|c") the value is one of these words; without, it is a number in
// [min, max].
struct OptionRow {
  const char* key;
  const char* fallback;  // the default, as text
  const char* choices;   // nullptr for a number
  double min, max;
  const char* help;
};

constexpr OptionRow choice(const char* key, const char* fallback, const char* choices,
                           const char* help) {
  return {key, fallback, choices, 0.0, 0.0, help};
}
constexpr OptionRow number(const char* key, const char* fallback, double min, double max,
                           const char* help) {
  return {key, fallback, nullptr, min, max, help};
}

class Settings {
 public:
  // Refuses unknown keys, words and numbers out of range, with what would be right.
  static hal::Result<Settings> check(std::span<const OptionRow> rows, const Options& given);

  const std::string& word(std::string_view key) const;  // the key stands in the table
  double number(std::string_view key) const;
  bool on(std::string_view key) const { return word(key) == "on"; }

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace sim
