#include "drivers/sick_safety/sick_safety.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace drivers {

using namespace safety;
using namespace std::chrono_literals;

namespace {

constexpr double kPerDegree = 1 << 22;
constexpr double kFrontDeg = 90;                       // as the device counts
constexpr unsigned kFastestMs = 20, kSlowestMs = 100;  // no model's scan takes less, or more

constexpr std::array kOptions{
    OptionSpec{.key = "channel",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "auto",
               .choices = "auto|0|1|2|3",
               .help =
                   "output of the device: which is set up, and whose data count; auto: 0 is set "
                   "up, the first that is heard counts"},
    OptionSpec{.key = "divider",
               .type = OptionType::integer,
               .unit = "",
               .fallback = "1",
               .min = 1,
               .max = 1000,
               .help = "each nth scan is sent; with a control port"},
    OptionSpec{.key = "start_deg",
               .type = OptionType::number,
               .unit = "deg",
               .fallback = "0",
               .min = -180,
               .max = 180,
               .help = "first angle that is sent, 0 is the front; with a control port"},
    OptionSpec{.key = "end_deg",
               .type = OptionType::number,
               .unit = "deg",
               .fallback = "0",
               .min = -180,
               .max = 180,
               .help = "last angle that is sent; equal to start_deg: all are"},
    OptionSpec{
        .key = "interface",
        .type = OptionType::choice,
        .unit = "",
        .fallback = "auto",
        .choices = "auto|efi_pro|ethernet_ip|profinet|ethernet",
        .help = "interface of the device, with a control port; auto: as its type code has it"},
    OptionSpec{.key = "stamp",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "first",
               .choices = "first|last",
               .help = "which beam of a scan the device's time belongs to"},
    OptionSpec{.key = "intensity",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "reflectivity",
               .choices = "reflectivity|flags",
               .help =
                   "flags: 256 times the beam's status is added: 1 valid, 2 no echo, 4 glare, 8 "
                   "reflector, 16 contamination, 32 warning of it"},
};

// By the names of the option, in the order of its choices.
constexpr std::array<int, 5> kInterfaces{-1, 0, 1, 3, 4};

int interface_named(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames{"auto", "efi_pro", "ethernet_ip", "profinet",
                                                   "ethernet"};
  return kInterfaces[static_cast<std::size_t>(std::ranges::find(kNames, name) - kNames.begin())];
}

std::int32_t device_angle(double front_deg) {
  return static_cast<std::int32_t>(std::lround((front_deg + kFrontDeg) * kPerDegree));
}

}  // namespace

std::span<const OptionSpec> SickSafety::options() { return kOptions; }

// Of the fastest model with the most beams; with them comes what is around them.
Figures SickSafety::figures(const Options& options, int) {
  constexpr double kAround = 1.1 * 4;  // bytes per beam
  const double hz = 1e3 / kFastestMs / options.integer("divider");
  return {.packets_hz = hz,
          .turns_hz = hz,
          .beams_per_turn = kMostBeams,
          .bytes_per_s = hz * kMostBeams * kAround,
          .delivery = 10ms};
}

Finding SickSafety::finding() {
  static constexpr std::array<std::uint16_t, 1> kUdp{6060};
  return {.udp = kUdp, .control = 2122};
}

// A fragment does not end in bytes that were cut off.
double SickSafety::likeness(Bytes b) {
  return is_fragment(b) && Framing().measure_last(b) != kNotAFrame ? 1 : 0;
}

SickSafety::SickSafety(const Options& options)
    : channel_(options.text("channel") == "auto" ? -1 : options.integer("channel")),
      interface_(interface_named(options.text("interface"))),
      divider_(static_cast<unsigned>(options.integer("divider"))),
      first_(device_angle(options.number("start_deg"))),
      last_(device_angle(options.number("end_deg"))),
      stamps_last_(options.text("stamp") == "last"),
      has_flags_(options.text("intensity") == "flags"),
      every_(divider_) {}

void SickSafety::restart() {
  session_.forget();
  told_interface_ = 0;
  type_code_.clear(), serial_.clear(), about_.clear();
  reassembly_.forget();
  sequence_.forget();
  source_.reset();
  newest_.reset();
  every_ = divider_;
  derived_ = {};
  knows_angles_ = false;
}

// Milliseconds since power-on wrap; the time of the day with its date does not.
ClockModel SickSafety::clock_model() const {
  return {.modulus = std::chrono::milliseconds(1LL << 32), .quantum = 1ms};
}

hal::Duration SickSafety::max_silence() const {
  const hal::Duration scan =
      std::chrono::milliseconds(std::clamp(derived_.scan_ms, 40U, kSlowestMs));
  return std::max<hal::Duration>(3 * scan * every_, 200ms);
}

void SickSafety::decode(const Frame& frame, Decoded& out) {
  if (frame.channel == Channel::control) return;
  const Bytes payload = reassembly_.add(fragment_in(frame.bytes), frame.last_at);
  const std::uint64_t missing = reassembly_.stats().missing;
  out.lost_parts(missing - std::exchange(missing_, missing));
  if (payload.empty()) return out.part();
  const std::optional<Telegram> telegram = telegram_in(payload);
  if (!telegram) return out.undecodable();
  if (!is_mine(*telegram)) return;
  take_note(*telegram, out);
  const std::size_t n = telegram->beams();
  if (n == 0) return;
  if (!telegram->derived.empty()) learn_angles(derived_in(telegram->derived), n);
  if (!knows_angles_) {
    return out.fault(hal::Text<96>::of(
        "its data have no derived values, so no angles: switch them on in Safety Designer"));
  }
  add_scan(*telegram, frame, out);
}

// Of other channels and of a second device at the same port nothing is told.
bool SickSafety::is_mine(const Telegram& telegram) {
  if (channel_ >= 0 && telegram.channel != static_cast<unsigned>(channel_)) return false;
  if (!source_) {
    source_ = {telegram.serial, telegram.channel};
    if (serial_.empty()) {
      serial_ = hal::Text<32>::of("%lu", static_cast<unsigned long>(telegram.serial));
      describe();
    }
  }
  return source_->first == telegram.serial && source_->second == telegram.channel;
}

// What it lost and what ails it.
void SickSafety::take_note(const Telegram& telegram, Decoded& out) {
  out.lost(sequence_.missing_before(telegram.sequence));
  if (newest_ && telegram.sequence - newest_->sequence == 1) {
    const std::uint32_t scans = telegram.scan - newest_->scan;
    if (scans >= 1 && scans <= 1000) every_ = scans;
  }
  newest_ = {telegram.sequence, telegram.scan};
  if (telegram.state.empty()) return;
  const unsigned state = wire::u8(telegram.state, 0), errors = wire::u8(telegram.state, 15);
  const char* const words = errors & 2   ? "device error: see Safety Designer"
                            : errors & 1 ? "application error: see Safety Designer"
                            : state & 8  ? "contamination error: clean its optics cover"
                            : state & 4  ? "contamination warning: clean its optics cover"
                                         : nullptr;
  if (words != nullptr) out.fault(hal::Text<96>::of("%s", words));
}

void SickSafety::learn_angles(const Derived& derived, std::size_t n) {
  const bool same = knows_angles_ && derived == derived_;
  if (same && n <= angles_) return;
  derived_ = derived;
  knows_angles_ = true;
  constexpr double kRadians = std::numbers::pi / 180;
  for (std::size_t k = 0; k < beams_.size(); ++k) {
    const double deg = (derived.first + static_cast<double>(k) * derived.step) / kPerDegree;
    beams_[k].angle = static_cast<float>((deg - kFrontDeg) * kRadians);
  }
  angles_ = beams_.size();
}

namespace {

constexpr unsigned kValid = 1, kNoEcho = 2, kContaminated = 16 | 32;

// The angles are there already.
void fill(Beam* beams, const std::byte* at, std::size_t n, float factor_m, float flags) {
  for (std::size_t k = 0; k < n; ++k, at += 4) {
    const std::uint32_t point = wire::u32(Bytes(at, 4), 0);
    const unsigned status = point >> 24;
    const bool returns = (status & (kValid | kContaminated)) != 0 && (status & kNoEcho) == 0;
    const float range = static_cast<float>(point & 0xFFFF) * factor_m;
    beams[k].range = returns ? range : 0.0f;
    beams[k].intensity =
        static_cast<float>(point >> 16 & 0xFF) + flags * static_cast<float>(status);
  }
}

constexpr std::int64_t kDay = 86'400'000'000'000;  // ns
constexpr std::int64_t kDaysTo1972 = 730;          // since 1970

}  // namespace

void SickSafety::add_scan(const Telegram& telegram, const Frame& frame, Decoded& out) {
  const std::size_t n = telegram.beams();
  fill(beams_.data(), telegram.measurement.data() + 4, n,
       static_cast<float>(derived_.factor) * 1e-3f, has_flags_ ? 256.0f : 0.0f);
  const hal::Duration step = beam_time(derived_);
  const Field field = field_of(derived_, n);
  const hal::Duration before = step * field.before, length = step * field.length;
  const bool has_date = telegram.days != 0;
  const std::int64_t date = has_date ? (telegram.days + kDaysTo1972) * kDay : 0;
  out.add(ScanSlice{.step = step,
                    .starts_turn = true,
                    .has_intensity = true,
                    .beams = std::span(beams_).first(n)},
          Timing{.source = has_date ? Timing::Source::utc : Timing::Source::clock,
                 .raw_ns = date + std::int64_t{telegram.ms} * 1'000'000,
                 .arrival = frame.last_at,
                 .bytes = frame.bytes.size(),
                 .to_first = stamps_last_ ? before - length : before,
                 .held = stamps_last_ ? hal::Duration{} : length,
                 .period = std::chrono::milliseconds(derived_.scan_ms) * every_});
}

}  // namespace drivers
