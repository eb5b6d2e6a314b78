#include "test/sim/settings.h"

#include <cmath>
#include <cstdlib>

namespace sim {
namespace {

hal::Error refused(const char* format, const std::string& key, const std::string& value,
                   const std::string& right) {
  hal::Error error{hal::Errc::bad_config, 0, "simulate: --set", {}};
  error.detail.print(format, key.c_str(), value.c_str(), right.c_str());
  return error;
}

bool is_choice(const std::string& words, const std::string& value) {
  return !value.empty() && value.find('|') == std::string::npos &&
         ("|" + words + "|").find("|" + value + "|") != std::string::npos;
}

bool is_number_within(const OptionRow& row, const std::string& value) {
  char* end = nullptr;
  const double parsed = std::strtod(value.c_str(), &end);
  return !value.empty() && *end == '\0' && std::isfinite(parsed) && parsed >= row.min &&
         parsed <= row.max;
}

hal::Status check_value(const OptionRow& row, const std::string& value) {
  if (row.choices != nullptr) {
    if (is_choice(row.choices, value)) return hal::ok;
    return refused("%s: \"%s\" is not one of %s", row.key, value, row.choices);
  }
  if (is_number_within(row, value)) return hal::ok;
  hal::Text<64> range;
  range.print("%g to %g", row.min, row.max);
  return refused("%s: \"%s\" is not a number from %s", row.key, value, range.c_str());
}

}  // namespace

hal::Result<Settings> Settings::check(std::span<const OptionRow> rows, const Options& given) {
  Settings settings;
  std::string known;
  for (const OptionRow& row : rows) {
    settings.values_[row.key] = row.fallback;
    known += known.empty() ? row.key : std::string(", ") + row.key;
  }
  for (const auto& [key, value] : given) {
    const OptionRow* found = nullptr;
    for (const OptionRow& row : rows)
      if (key == row.key) found = &row;
    if (found == nullptr)
      return refused("%s: no such option (=%s); there are: %s", key, value,
                     known.empty() ? "none" : known);
    const hal::Status good = check_value(*found, value);
    if (!good) return good.error();
    settings.values_[key] = value;
  }
  return settings;
}

const std::string& Settings::word(std::string_view key) const { return values_.find(key)->second; }

double Settings::number(std::string_view key) const {
  return std::strtod(word(key).c_str(), nullptr);
}

}  // namespace sim
