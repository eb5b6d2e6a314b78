#include "test/sim/faults.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

namespace sim {
namespace {

constexpr double kForEver = std::numeric_limits<double>::infinity();

struct KindRow {
  FaultKind kind;
  std::string_view name;
  bool takes_value;
  double value, min, max;
  double duration_s;
  double percent;
};

// The order is that of FaultKind.
constexpr KindRow kKinds[] = {
    {FaultKind::off, "off", false, 0, 0, 0, kForEver, 100},
    {FaultKind::stuck, "stuck", false, 0, 0, 0, kForEver, 100},
    {FaultKind::garbage, "garbage", true, 64, 1, 65000, kForEver, 100},
    {FaultKind::wrong, "wrong", false, 0, 0, 0, kForEver, 100},
    {FaultKind::slow, "slow", true, 4, 1, 1e6, kForEver, 100},
    {FaultKind::delayed, "delayed", true, 100, 0, 1e5, kForEver, 100},
    {FaultKind::intermittent, "intermittent", true, 1000, 1, 1e6, kForEver, 100},
    {FaultKind::drop, "drop", false, 0, 0, 0, kForEver, 10},
    {FaultKind::duplicate, "duplicate", false, 0, 0, 0, kForEver, 10},
    {FaultKind::reorder, "reorder", false, 0, 0, 0, kForEver, 10},
    {FaultKind::truncate, "truncate", true, 0, 0, 65000, kForEver, 10},
    {FaultKind::split, "split", true, 1, 1, 65000, kForEver, 100},
    {FaultKind::bitflip, "bitflip", true, 1, 1, 1000, kForEver, 10},
    {FaultKind::reset, "reset", true, 0.5, 0, 1e5, kForEver, 100},
    {FaultKind::wrap, "wrap", true, 5, 0, 1e9, kForEver, 100},
    {FaultKind::drift, "drift", true, 200, -100'000, 100'000, kForEver, 100},
    {FaultKind::jitter, "jitter", true, 1, 0, 1e5, kForEver, 100},
    {FaultKind::jump, "jump", true, 100, -1e9, 1e9, kForEver, 100},
    {FaultKind::stall, "stall", false, 0, 0, 0, 1, 100},
    {FaultKind::baud, "baud", true, 0, 50, 4e6, kForEver, 100},
    {FaultKind::unplug, "unplug", false, 0, 0, 0, 1, 100},
};

hal::Error refused(std::string_view text, const std::string& why) {
  hal::Error error{hal::Errc::bad_config, 0, "simulate: --fault", {}};
  error.detail.print("\"%.*s\": %s", static_cast<int>(text.size()), text.data(), why.c_str());
  return error;
}

// Cuts `text` at `mark` and reads the number behind it; false when there is none or it is no
// number.
bool take_number(std::string& text, char mark, double& value, bool& given) {
  const std::size_t at = text.rfind(mark);
  given = at != std::string::npos;
  if (!given) return true;
  const std::string digits = text.substr(at + 1);
  text.resize(at);
  char* end = nullptr;
  value = std::strtod(digits.c_str(), &end);
  return !digits.empty() && *end == '\0' && std::isfinite(value);
}

// The part from '@' on holds START and, behind a '+', DURATION.
bool take_window(std::string& text, double& start, double& duration, bool& has_duration) {
  const std::size_t at = text.find('@');
  has_duration = false;
  if (at == std::string::npos) return true;
  std::string window = text.substr(at);
  text.resize(at);
  bool given = false;
  if (!take_number(window, '+', duration, has_duration)) return false;
  return take_number(window, '@', start, given) && start >= 0.0 &&
         (!has_duration || duration > 0.0);
}

hal::Duration seconds_or_for_ever(double s) {
  return s < 1e9 ? hal::from_seconds(s) : hal::Duration::max();
}

std::string known_kinds() {
  std::string names;
  for (const KindRow& row : kKinds) {
    if (!names.empty()) names += ' ';
    names += row.name;
  }
  return names;
}

}  // namespace

std::string_view name_of(FaultKind kind) { return kKinds[static_cast<std::size_t>(kind)].name; }

hal::Result<Fault> parse_fault(std::string_view spec) {
  std::string text(spec);
  double percent = 0.0, start = 0.0, duration = 0.0, value = 0.0;
  bool has_percent = false, has_duration = false, has_value = false;
  if (!take_number(text, '%', percent, has_percent) || percent < 0.0 || percent > 100.0)
    return refused(spec, "after % stands a number from 0 to 100");
  if (!take_window(text, start, duration, has_duration))
    return refused(spec, "after @ stands START or START+DURATION, in seconds");
  if (!take_number(text, '=', value, has_value)) return refused(spec, "the value is no number");
  const KindRow* row = nullptr;
  for (const KindRow& candidate : kKinds)
    if (candidate.name == text) row = &candidate;
  if (row == nullptr) return refused(spec, "no such kind; there are: " + known_kinds());
  if (has_value && !row->takes_value) return refused(spec, text + " takes no value");
  if (has_value && (value < row->min || value > row->max)) {
    hal::Text<80> range;
    range.print("the value is out of range: %g to %g", row->min, row->max);
    return refused(spec, range.c_str());
  }
  Fault fault;
  fault.kind = row->kind;
  fault.value = has_value ? value : row->value;
  fault.start = hal::from_seconds(start);
  fault.duration = seconds_or_for_ever(has_duration ? duration : row->duration_s);
  fault.share = (has_percent ? percent : row->percent) / 100.0;
  return fault;
}

}  // namespace sim
