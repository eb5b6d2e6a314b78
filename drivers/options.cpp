#include "drivers/options.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>

namespace drivers {
namespace {

using hal::Errc;
using hal::Error;

Error refusal(const char* format, std::string_view a, std::string_view b, std::string_view c) {
  Error error{Errc::bad_config, 0, "options", {}};
  error.detail.print(format, static_cast<int>(a.size()), a.data(), static_cast<int>(b.size()),
                     b.data(), static_cast<int>(c.size()), c.data());
  return error;
}

bool among(std::string_view value, std::string_view choices) {
  while (!choices.empty()) {
    const std::size_t bar = std::min(choices.find('|'), choices.size());
    if (choices.substr(0, bar) == value) return true;
    choices.remove_prefix(std::min(bar + 1, choices.size()));
  }
  return false;
}

std::optional<double> parse(std::string_view text, bool whole) {
  if (text.starts_with("0x")) {
    long value = 0;
    const auto [end, ec] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
    if (ec != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return static_cast<double>(value);
  }
  const std::string owned(text);
  char* end = nullptr;
  const double value = std::strtod(owned.c_str(), &end);
  if (owned.empty() || *end != '\0' || !std::isfinite(value)) return std::nullopt;
  if (whole && value != std::floor(value)) return std::nullopt;
  return value;
}

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

Options::Options(std::span<const OptionSpec> specs) : specs_(specs) {
  for (const OptionSpec& spec : specs_) values_.emplace_back(spec.fallback);
}

hal::Status Options::set(std::string_view key, std::string_view value) {
  const std::size_t i = index_of(key);
  if (i == specs_.size()) {
    std::vector<std::string_view> keys;
    for (const OptionSpec& spec : specs_) keys.push_back(spec.key);
    const std::string_view near = nearest(key, keys);
    if (near.empty()) return refusal("unknown option '%.*s'%.*s%.*s", key, "", "");
    return refusal("unknown option '%.*s'; did you mean '%.*s'?%.*s", key, near, "");
  }
  const OptionSpec& spec = specs_[i];
  switch (spec.type) {
    case OptionType::flag:
      if (value != "true" && value != "false") {
        return refusal("option '%.*s' must be true or false, not '%.*s'%.*s", key, value, "");
      }
      break;
    case OptionType::choice:
      if (!among(value, spec.choices)) {
        return refusal("option '%.*s' cannot be '%.*s'; one of %.*s", key, value, spec.choices);
      }
      break;
    case OptionType::integer:
    case OptionType::number: {
      const std::optional<double> number = parse(value, spec.type == OptionType::integer);
      if (!number || *number < spec.min || *number > spec.max) {
        const auto range = hal::Text<64>::of("%g to %g", spec.min, spec.max);
        return refusal("option '%.*s' cannot be '%.*s'; a number from %.*s", key, value,
                       range.view());
      }
      break;
    }
    case OptionType::text:
      break;
  }
  values_[i] = value;
  return hal::ok;
}

double Options::number(std::string_view key) const { return *parse(text(key), false); }

std::string_view Options::text(std::string_view key) const {
  const std::size_t i = index_of(key);
  assert(i < specs_.size());
  return values_[i];
}

std::size_t Options::index_of(std::string_view key) const {
  const auto found = std::ranges::find(specs_, key, &OptionSpec::key);
  return static_cast<std::size_t>(found - specs_.begin());
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t d = distance(word, candidate);
    if (d < best_distance) best = candidate, best_distance = d;
  }
  return best;
}

}  // namespace drivers
