#include "drivers/microstrain_mip/microstrain_mip.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace drivers {
namespace {

using namespace mip;

constexpr unsigned kWrite = 1;
constexpr unsigned kUnknownCommand = 1, kDamaged = 2, kInvalid = 3;
constexpr std::size_t kIndispensable = 2;         // accelerometer and gyroscope come first
constexpr std::int64_t kRestarted = 500'000'000;  // a stamp that went back further began anew

constexpr std::array kOptions{
    OptionSpec{.key = "rate_hz",
               .type = OptionType::number,
               .unit = "Hz",
               .fallback = "100",  // what 115200 baud carries with attitude and deltas
               .min = 1,
               .max = 1000,
               .help = "samples per second; where the device lacks this rate, its next lower one"},
    OptionSpec{.key = "orientation",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "true",
               .help = "ask for the attitude where the device computes one"},
    OptionSpec{.key = "deltas",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "false",
               .help = "ask for the integrals of rate and acceleration over each sample"},
    OptionSpec{.key = "mag",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "false",
               .help = "ask for the magnetometer, for `readings`"},
    OptionSpec{.key = "pressure",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "false",
               .help = "ask for the ambient pressure, for `readings`"},
    OptionSpec{.key = "temperature",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "false",
               .help = "ask for the temperature, for `readings`"},
};

hal::Text<96> words_for(unsigned code) {
  static constexpr std::array kWords{
      "ok",        "unknown command", "damaged on the way", "invalid parameter",
      "it failed", "it timed out"};
  return hal::Text<96>::of("%s (code %u)", code < kWords.size() ? kWords[code] : "?", code);
}

// Texts of the device are padded with spaces in front or behind.
hal::Text<17> trimmed(Bytes b) {
  std::array<char, 16> chars{};
  std::memcpy(chars.data(), b.data(), std::min(b.size(), chars.size()));
  std::string_view text(chars.data(), chars.size());
  text = text.substr(0, text.find('\0'));
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  text = text.substr(0, text.find_last_not_of(' ') + 1);
  return hal::Text<17>::of("%.*s", static_cast<int>(text.size()), text.data());
}

}  // namespace

Finding MicrostrainMip::finding() {
  static constexpr std::array kBauds{115'200, 921'600, 460'800, 230'400};
  return {.bauds = kBauds, .asks_first = true};
}

std::span<const OptionSpec> MicrostrainMip::options() { return kOptions; }

Figures MicrostrainMip::figures(const Options& options, int) {
  const double rate = options.number("rate_hz");
  const auto bytes_if = [&](const char* option, int n) { return options.flag(option) ? n : 0; };
  const int fields = 14 + 14 + 14 + bytes_if("orientation", 18) + bytes_if("deltas", 28) +
                     bytes_if("mag", 14) + bytes_if("pressure", 6) + bytes_if("temperature", 14);
  return {.packets_hz = rate, .bytes_per_s = rate * (6 + fields)};
}

MicrostrainMip::MicrostrainMip(const Options& options)
    : asked_hz_(options.number("rate_hz")),
      orientation_(options.flag("orientation")),
      deltas_(options.flag("deltas")),
      mag_(options.flag("mag")),
      pressure_(options.flag("pressure")),
      temperature_(options.flag("temperature")),
      joined_(hal::from_seconds(0.5 / asked_hz_)) {}

void MicrostrainMip::restart() {
  fields_.reset();
  filter_fields_.reset();
  settings_.reset();
  told_ = more_ = legacy_ = has_reference_ = false;
  base_hz_ = 0;
  decimation_ = 1;
  message_size_ = 0;
  filter_attitude_ = 0;
  filter_decimation_ = 1;
  takes_other_attitude_ = false;
  newest_ = {};
  joined_.forget();
}

// Times of the week wrap. The reference time does not, and the modulus does nothing to it.
ClockModel MicrostrainMip::clock_model() const { return {.modulus = hal::Duration(kWeek)}; }

hal::Duration MicrostrainMip::max_silence() const {
  return std::max<hal::Duration>(std::chrono::milliseconds(250), hal::from_seconds(3 / rate_hz()));
}

// A device that streams answers late: it is made idle first, and asked again until it is.
std::span<const Step<MicrostrainMip>> MicrostrainMip::start_script() {
  using namespace std::chrono_literals;
  using D = MicrostrainMip;
  constexpr auto kGoOn = IfUnanswered::go_on;
  static constexpr std::array kBauds{921'600, 460'800, 230'400, 115'200};
  static constexpr std::array<Step<D>, 11> kSteps{{
      {"set to idle", &D::idle, &D::acknowledged, 250ms, 4, IfUnanswered::fail, kBauds},
      {"get device info", &D::ask_info, &D::take_info, 500ms, 3, kGoOn},
      {"get descriptors", &D::ask_descriptors, &D::take_descriptors, 500ms, 3, kGoOn},
      {"get more descriptors", &D::ask_more, &D::take_descriptors, 500ms, 3, kGoOn},
      {"get base rate", &D::ask_base_rate, &D::take_base_rate, 500ms, 3},
      {"set message format", &D::set_format, &D::take_format, 500ms, 3},
      {"get filter rate", &D::ask_filter_rate, &D::take_filter_rate, 500ms, 3, kGoOn},
      {"set filter format", &D::set_filter_format, &D::take_filter_format, 500ms, 3, kGoOn},
      {"switch filter stream", &D::switch_filter, &D::heard, 250ms, 2, kGoOn},
      {"enable stream", &D::enable, &D::acknowledged, 500ms, 3},
      {"resume", &D::resume, &D::acknowledged, 500ms, 3},
  }};
  return kSteps;
}

std::span<const Step<MicrostrainMip>> MicrostrainMip::stop_script() {
  using namespace std::chrono_literals;
  using D = MicrostrainMip;
  static constexpr std::array<Step<D>, 1> kSteps{
      {{"set to idle", &D::idle, &D::acknowledged, 100ms, 3, IfUnanswered::go_on}}};
  return kSteps;
}

bool MicrostrainMip::say(Request& request, unsigned set, unsigned command,
                         std::initializer_list<unsigned> data) {
  std::array<std::uint8_t, 12> bytes{};
  std::ranges::transform(data, bytes.begin(),
                         [](unsigned v) { return static_cast<std::uint8_t>(v); });
  asked_set_ = set;
  asked_command_ = command;
  write(request, set, command, std::span(bytes).first(data.size()));
  return true;
}

bool MicrostrainMip::ask_base_rate(Request& request) {
  if (legacy_) return say(request, kSettingsSet, 0x06);
  return say(request, kSettingsSet, 0x0E, {kSensorSet});
}

bool MicrostrainMip::enable(Request& request) {
  return say(request, kSettingsSet, 0x11, {kWrite, legacy_ ? 0x01 : kSensorSet, 1});
}

bool MicrostrainMip::ask_filter_rate(Request& request) {
  return filter_attitude_ != 0 && say(request, kSettingsSet, 0x0E, {kFilterSet});
}

bool MicrostrainMip::set_filter_format(Request& request) {
  const unsigned high = filter_decimation_ >> 8, low = filter_decimation_ & 0xFF;
  return filter_attitude_ != 0 &&
         say(request, kSettingsSet, 0x0F,
             {kWrite, kFilterSet, 2, filter_attitude_, high, low, kReference, high, low});
}

// What it was left to send before would take the line's bandwidth.
bool MicrostrainMip::switch_filter(Request& request) {
  const unsigned on = filter_attitude_ != 0 ? 1 : 0;
  return say(request, kSettingsSet, 0x11, {kWrite, legacy_ ? 0x03 : kFilterSet, on});
}

// Not every model has a filter: a refusal is an answer.
Reply MicrostrainMip::heard(const Frame& frame) {
  return code_of(frame) ? Reply::done() : Reply::not_mine();
}

// All of a sample in one packet: in a second one it would be without a stamp.
bool MicrostrainMip::set_format(Request& request) {
  std::array<std::uint8_t, 3 + 3 * std::tuple_size_v<decltype(message_)>> bytes;
  std::size_t n = 0;
  const auto add = [&](std::size_t v) { bytes[n++] = static_cast<std::uint8_t>(v); };
  add(kWrite);
  if (!legacy_) add(kSensorSet);
  add(message_size_);
  for (std::size_t i = 0; i < message_size_; ++i) {
    add(message_[i]), add(decimation_ >> 8), add(decimation_ & 0xFF);
  }
  asked_set_ = kSettingsSet;
  asked_command_ = legacy_ ? 0x08 : 0x0F;
  write(request, asked_set_, asked_command_, std::span(bytes).first(n));
  return true;
}

std::optional<unsigned> MicrostrainMip::code_of(const Frame& frame) const {
  const auto code = mip::code_of(frame.bytes, asked_set_, asked_command_);
  return code == kDamaged ? std::nullopt : code;  // to be sent again when the wait is over
}

Reply MicrostrainMip::acknowledged(const Frame& frame) {
  const auto code = code_of(frame);
  if (!code) return Reply::not_mine();
  return *code == 0 ? Reply::done() : Reply::refused(words_for(*code));
}

Reply MicrostrainMip::take_info(const Frame& frame) {
  if (!code_of(frame)) return Reply::not_mine();
  const Bytes info = field_of(frame.bytes, 0x81);
  if (info.size() < 50) return Reply::done();
  name_.print("%s, serial %s, firmware %u", trimmed(info.subspan(2, 16)).c_str(),
              trimmed(info.subspan(34, 16)).c_str(), unsigned{wire::u16be(info, 0)});
  about_.print("%s", name_.c_str());
  return Reply::done();
}

Reply MicrostrainMip::take_descriptors(const Frame& frame) {
  if (!code_of(frame)) return Reply::not_mine();
  const Bytes list = field_of(frame.bytes, asked_command_ == 0x04 ? 0x82 : 0x86);
  for (std::size_t at = 0; at + 2 <= list.size(); at += 2) {
    const unsigned set = wire::u8(list, at), descriptor = wire::u8(list, at + 1);
    if (set == kSensorSet) fields_.set(descriptor);
    if (set == kFilterSet) filter_fields_.set(descriptor);
    if (set == kSettingsSet) settings_.set(descriptor);
    more_ |= set == kBaseSet && descriptor == 0x07;
  }
  told_ = settings_.any();
  legacy_ = told_ && !(settings_[0x0E] && settings_[0x0F]);
  return Reply::done();
}

Reply MicrostrainMip::take_base_rate(const Frame& frame) {
  const auto code = code_of(frame);
  if (code == kUnknownCommand && !legacy_) {
    legacy_ = true;
    return Reply::again();
  }
  if (!code || *code != 0) return acknowledged(frame);
  const Bytes rate = field_of(frame.bytes, legacy_ ? 0x83 : 0x8E);
  base_hz_ = rate.size() < 2 ? 0 : wire::u16be(rate, rate.size() - 2);
  if (base_hz_ == 0) return Reply::refused(hal::Text<96>::of("it names no base rate"));
  if (!supported(kAccel) || !supported(kGyro)) {
    return Reply::refused(hal::Text<96>::of("it has no accelerometer or no gyroscope"));
  }
  choose();
  return Reply::done();
}

// The device may refuse a field that nothing said it lacks: the sample does without.
Reply MicrostrainMip::take_format(const Frame& frame) {
  if (code_of(frame) == kInvalid && message_size_ > kIndispensable) {
    --message_size_;
    return Reply::again();
  }
  const Reply reply = acknowledged(frame);
  if (reply.kind == Reply::Kind::done) describe();
  return reply;
}

Reply MicrostrainMip::take_filter_rate(const Frame& frame) {
  const auto code = code_of(frame);
  if (!code) return Reply::not_mine();
  const Bytes rate = field_of(frame.bytes, 0x8E);
  const unsigned hz = *code != 0 || rate.size() < 2 ? 0 : wire::u16be(rate, rate.size() - 2);
  if (hz == 0) filter_attitude_ = 0, describe();
  filter_decimation_ = std::max(1U, static_cast<unsigned>(std::lround(hz / rate_hz())));
  return Reply::done();
}

// A refusal leaves the sample without an attitude.
Reply MicrostrainMip::take_filter_format(const Frame& frame) {
  const auto code = code_of(frame);
  if (!code) return Reply::not_mine();
  if (*code != 0) filter_attitude_ = 0;
  describe();
  return Reply::done();
}

// The filter's, where the sensor's set has none and the device said what it has.
void MicrostrainMip::choose_filter() {
  filter_attitude_ = 0;
  if (!orientation_ || legacy_ || !told_ || has_attitude() || !chosen(kReference)) return;
  for (const unsigned d : {kFilterEuler, kFilterMatrix, kFilterAttitude}) {
    if (filter_fields_[d]) filter_attitude_ = d;
  }
}

void MicrostrainMip::choose() {
  decimation_ = 1;
  while (decimation_ < base_hz_ && (base_hz_ % decimation_ != 0 || rate_hz() > asked_hz_)) {
    ++decimation_;
  }
  message_size_ = 0;
  const auto add = [this](unsigned descriptor) {
    if (supported(descriptor)) message_[message_size_++] = static_cast<std::uint8_t>(descriptor);
  };
  add(kAccel);
  add(kGyro);
  if (!legacy_ && supported(kReference)) {
    add(kReference);
  } else {
    add(supported(kGpsTime) ? kGpsTime : kWeekTime);
  }
  if (orientation_) {
    add(supported(kAttitude) ? kAttitude : supported(kEuler) ? kEuler : kMatrix);
  }
  if (deltas_) add(kDeltaAngle), add(kDeltaVelocity);
  if (mag_) add(kMag);
  if (pressure_) add(kPressure);
  if (temperature_) add(kTemperature);
  choose_filter();
  takes_other_attitude_ = chosen(kEuler) || chosen(kMatrix) || filter_attitude_ == kFilterEuler ||
                          filter_attitude_ == kFilterMatrix;
}

bool MicrostrainMip::has_attitude() const {
  return chosen(kAttitude) || chosen(kEuler) || chosen(kMatrix);
}

bool MicrostrainMip::chosen(unsigned descriptor) const {
  return std::ranges::count(std::span(message_).first(message_size_), descriptor) > 0;
}

void MicrostrainMip::describe() {
  const bool clock = chosen(kReference) || chosen(kGpsTime) || chosen(kWeekTime);
  const auto missing = [this](bool asked, unsigned descriptor, const char* words) {
    return asked && !chosen(descriptor) ? words : "";
  };
  const bool attitude = !orientation_ || has_attitude() || filter_attitude_ != 0;
  about_.print("%s%s%g Hz%s%s%s%s%s%s", name_.c_str(), name_.empty() ? "" : ", ", rate_hz(),
               clock ? "" : ", no clock", attitude ? "" : ", no attitude",
               missing(deltas_, kDeltaVelocity, ", no deltas"), missing(mag_, kMag, ", no mag"),
               missing(pressure_, kPressure, ", no pressure"),
               missing(temperature_, kTemperature, ", no temperature"));
}

void MicrostrainMip::decode(const Frame& frame, Decoded& out) {
  Measurement measurement{.sample = out.draft()};
  if (!measured(frame.bytes, measurement)) return out.undecodable();
  ImuSample& sample = measurement.sample;
  if (takes_other_attitude_ && !sample.orientation) sample.orientation = measurement.other_attitude;
  if (!measurement.carries_anything()) return;
  if (deltas_ && sample.interval == hal::Duration::zero() && base_hz_ != 0) {
    sample.interval = hal::from_seconds(1 / rate_hz());
  }
  const Timing timing = timing_of(frame, measurement);
  if (filter_attitude_ == 0 || timing.source != Timing::Source::clock) return out.add_draft(timing);
  const ImuSample part = sample;  // out of the draft, which what is joined is put into
  joined_.put(part, timing, out);
}

// Both data sets tell the time of one clock. A packet of one may tell an instant that the other
// told before, but each advances by itself.
inline Timing MicrostrainMip::timing_of(const Frame& frame, const Measurement& measurement) {
  Timing timing{.arrival = frame.last_at, .bytes = frame.bytes.size()};
  if (measurement.reference_ns && !std::exchange(has_reference_, true)) newest_ = {};
  const auto raw = has_reference_ ? measurement.reference_ns : measurement.week_ns;
  if (!raw) {
    const bool began = newest_[0] || newest_[1];
    timing.source = began ? Timing::Source::previous : Timing::Source::arrival;
    return timing;
  }
  auto& newest = newest_[set_of(frame.bytes) == kFilterSet];
  timing.source = Timing::Source::clock;
  timing.raw_ns = *raw;
  timing.shared = !newest || *raw > *newest || *raw < *newest - kRestarted;
  if (timing.shared) newest = raw;
  return timing;
}

}  // namespace drivers
