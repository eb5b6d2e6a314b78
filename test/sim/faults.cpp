#include "test/sim/faults.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

namespace sim {
namespace {

constexpr double kForEver = std::numeric_limits<double>::infinity();

constexpr FaultRow kKinds[] = {
    {FaultKind::off, "off", "power", "", 0, 0, 0, kForEver, 100,
     "silent and deaf; then a cold start"},
    {FaultKind::stuck, "stuck", "frame", "", 0, 0, 0, kForEver, 100,
     "measurements repeat the last one, stamp too"},
    {FaultKind::garbage, "garbage", "byte", "longest run, bytes", 64, 1, 65000, kForEver, 100,
     "random bytes before a frame (own datagram)"},
    {FaultKind::wrong, "wrong", "frame", "", 0, 0, 0, kForEver, 100,
     "measurements are nonsense, checksum good"},
    {FaultKind::slow, "slow", "frame", "one in so many is sent", 4, 1, 1e6, kForEver, 100,
     "the other measurements are never sent"},
    {FaultKind::delayed, "delayed", "frame", "delay, ms", 100, 0, 1e5, kForEver, 100,
     "each frame leaves that much later, in order"},
    {FaultKind::intermittent, "intermittent", "frame", "period, ms", 1000, 1, 1e6, kForEver, 100,
     "mute in the second half of each period"},
    {FaultKind::drop, "drop", "frame", "", 0, 0, 0, kForEver, 10, "the frame is lost"},
    {FaultKind::duplicate, "duplicate", "frame", "", 0, 0, 0, kForEver, 10,
     "the frame is sent twice"},
    {FaultKind::reorder, "reorder", "frame", "", 0, 0, 0, kForEver, 10,
     "the frame leaves behind the next one"},
    {FaultKind::truncate, "truncate", "frame", "bytes kept, 0 = random", 0, 0, 65000, kForEver, 10,
     "the end of the frame is missing"},
    {FaultKind::split, "split", "byte", "piece, bytes", 1, 1, 65000, kForEver, 100,
     "the frame goes in pieces, a write each"},
    {FaultKind::bitflip, "bitflip", "byte", "bits", 1, 1, 1000, kForEver, 10,
     "random bits of the frame are inverted"},
    {FaultKind::reset, "reset", "power", "boot time, s", 0.5, 0, 1e5, kForEver, 100,
     "at START: silence, banner text, cold start"},
    {FaultKind::wrap, "wrap", "clock", "time before the wrap, s", 5, 0, 1e9, kForEver, 100,
     "at START the clock is VALUE before its wrap"},
    {FaultKind::drift, "drift", "clock", "ppm", 200, -100'000, 100'000, kForEver, 100,
     "the device's crystal is fast; negative: slow"},
    {FaultKind::wander, "wander", "clock", "ppm", 8, 0, 1000, kForEver, 100,
     "its drift swings by VALUE within 5 minutes"},
    {FaultKind::jitter, "jitter", "clock", "half width, ms", 1, 0, 1e5, kForEver, 100,
     "each stamp is off by up to VALUE, uniform"},
    {FaultKind::jump, "jump", "clock", "step, s", 100, -1e9, 1e9, kForEver, 100,
     "at START the device clock steps"},
    {FaultKind::stall, "stall", "transport", "", 0, 0, 0, 1, 100,
     "output held for DURATION, then a burst"},
    {FaultKind::baud, "baud", "transport", "bit/s, 0 = half the rate", 0, 50, 4e6, kForEver, 100,
     "garbled unless the host's tty is at VALUE"},
    {FaultKind::unplug, "unplug", "transport", "", 0, 0, 0, 1, 100,
     "port gone for DURATION; cold start"},
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
  for (const FaultRow& row : kKinds) {
    if (!names.empty()) names += ' ';
    names += row.name;
  }
  return names;
}

}  // namespace

std::span<const FaultRow> fault_kinds() { return kKinds; }

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
  const FaultRow* row = nullptr;
  for (const FaultRow& candidate : kKinds)
    if (candidate.name == text) row = &candidate;
  if (row == nullptr) return refused(spec, "no such kind; there are: " + known_kinds());
  if (has_value && row->value_means.empty()) return refused(spec, text + " takes no value");
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
