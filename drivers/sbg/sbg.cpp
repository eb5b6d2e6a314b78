#include "drivers/sbg/sbg.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "drivers/inertial.h"
#include "drivers/wire.h"

namespace drivers {
namespace {

using namespace sbg;
using namespace std::chrono_literals;

constexpr unsigned kAck = 0, kSettings = 1, kInfo = 4, kOutput = 30;  // commands
constexpr unsigned kSaveSettings = 1, kEachSecond = 200;
constexpr unsigned kPatience = 100;              // logs of a lesser kind until they will do
constexpr hal::Duration kOthersOnly = 1500ms;    // without inertial logs until that is told
constexpr std::int32_t kOldestPair = 5'000'000;  // us; a pair of UTC comes each second
constexpr unsigned kFilterHz = 200;              // attitudes come no faster
constexpr std::size_t kAround = 9;

struct Rate {
  unsigned hz, mode;
};
constexpr std::array kRates{Rate{1000, 1001}, Rate{500, 1002}, Rate{250, 1004}, Rate{200, 1},
                            Rate{100, 2},     Rate{50, 4},     Rate{40, 5},     Rate{25, 8},
                            Rate{20, 10},     Rate{10, 20},    Rate{5, 40},     Rate{1, 200}};

constexpr std::array kOptions{
    OptionSpec{.key = "rate_hz",
               .type = OptionType::integer,
               .unit = "Hz",
               .fallback = "100",  // 75 % of 115200 baud
               .min = 1,
               .max = 1000,
               .help = "samples per second: 1000, 500, 250 (Ellipse since firmware 3), 200, 100, "
                       "50, 40, 25, 20, 10, 5, 1, or the next lower one"},
    OptionSpec{.key = "orientation",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "true",
               .help = "ask for the attitude, at most 200 a second"},
    OptionSpec{.key = "stamps",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "own",
               .choices = "own|utc",
               .help = "own: time since power-on; utc: Unix time once it knows that, for 'clock: "
                       "device_utc'"},
    OptionSpec{.key = "configure",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "true",
               .help = "tell it what to send, where it answers; false: it is only listened to"},
    OptionSpec{.key = "port",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "A",
               .choices = "A|C|E",
               .help = "its port that is connected here"},
    OptionSpec{.key = "save",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "false",
               .help = "keep in its flash what was changed; it restarts then"},
};

Rate rate_of(unsigned asked_hz) {
  return *std::ranges::find_if(kRates, [&](const Rate& r) { return r.hz <= asked_hz; });
}

unsigned port_of(std::string_view letter) { return letter == "A" ? 0 : letter == "C" ? 2 : 4; }

void say(Request& request, unsigned command, std::initializer_list<unsigned> data) {
  request.u8(0xFF).u8(0x5A).u8(command).u8(kCommands).u16(static_cast<unsigned>(data.size()));
  for (const unsigned byte : data) request.u8(byte);
  request.u16(wire::crc16_reflected(request.view().subspan(2))).u8(0x33);
}

bool is_command(const Frame& frame, unsigned command, std::size_t least) {
  return class_of(frame.bytes) == kCommands && log_of(frame.bytes) == command &&
         data_of(frame.bytes).size() >= least;
}

// The code of the acknowledgement of this command; empty: it is none.
std::optional<unsigned> code_in(const Frame& frame, unsigned command) {
  if (!is_command(frame, kAck, 4)) return std::nullopt;
  const Bytes data = data_of(frame.bytes);
  if (wire::u8(data, 0) != command || wire::u8(data, 1) != kCommands) return std::nullopt;
  return wire::u16(data, 2);
}

}  // namespace

Finding Sbg::finding() {
  static constexpr std::array kBauds{115'200, 921'600, 460'800, 230'400};
  return {.bauds = kBauds, .asks_first = true};
}

std::span<const OptionSpec> Sbg::options() { return kOptions; }

Figures Sbg::figures(const Options& options, int) {
  const unsigned hz = rate_of(static_cast<unsigned>(options.integer("rate_hz"))).hz;
  const double attitudes = options.flag("orientation") ? std::min(hz, kFilterHz) : 0;
  return {.packets_hz = 1.0 * hz,
          .bytes_per_s = hz * (32.0 + kAround) + attitudes * (44.0 + kAround) + 33 + kAround};
}

Sbg::Sbg(const Options& options)
    : asked_hz_(static_cast<unsigned>(options.integer("rate_hz"))),
      orientation_(options.flag("orientation")),
      tells_utc_(options.text("stamps") == "utc"),
      configure_(options.flag("configure")),
      save_(options.flag("save")),
      port_(port_of(options.text("port"))),
      joined_(hal::from_seconds(0.5 / rate_of(asked_hz_).hz)) {}

void Sbg::restart() {
  answers_ = changed_ = false;
  name_.clear(), about_.clear();
  joined_.forget();
  kind_ = Kind::none;
  lesser_ = 0;
  has_quaternion_ = false;
  others_since_.reset();
  utc_.reset();
}

ClockModel Sbg::clock_model() const {
  // Unix time does not wrap. Before it is known the clock does, and begins anew.
  const hal::Duration wrap = std::chrono::microseconds(std::int64_t{1} << 32);
  return {.modulus = tells_utc_ ? hal::Duration{} : wrap,
          .period = hal::from_seconds(1.0 / rate_of(asked_hz_).hz)};
}

hal::Duration Sbg::max_silence() const {
  return std::max<hal::Duration>(250ms, hal::from_seconds(3.0 / rate_of(asked_hz_).hz));
}

std::span<const Step<Sbg>> Sbg::start_script() {
  using D = Sbg;
  constexpr auto kGoOn = IfUnanswered::go_on;
  static constexpr std::array kBauds{115'200, 921'600, 460'800, 230'400};
  static constexpr std::array<Step<D>, 5> kSteps{{
      {"get device info", &D::ask_info, &D::take_info, 250ms, 2, kGoOn, kBauds},
      {"get output", &D::ask_output, &D::take_output, 500ms, 3},
      {"set output", &D::set_output, &D::take_set, 500ms, 3},
      {"get output again", &D::check_output, &D::take_check, 500ms, 3},
      {"save settings", &D::save, &D::take_saved, 2000ms, 1, kGoOn},
  }};
  return kSteps;
}

bool Sbg::ask_info(Request& request) {
  if (configure_) say(request, kInfo, {});
  return configure_;
}

// 32 letters, u32 serial number, u32 and a date of the calibration, u32 hardware, u32 firmware.
Reply Sbg::take_info(const Frame& frame) {
  if (code_in(frame, kInfo)) return Reply::refused(hal::Text<96>::of("it does not tell"));
  if (!is_command(frame, kInfo, 32)) return Reply::not_mine();
  const Bytes data = data_of(frame.bytes);
  std::array<char, 33> product{};
  std::memcpy(product.data(), data.data(), 32);
  name_.print("%s", product.data());
  if (data.size() >= 52) {
    const unsigned firmware = wire::u32(data, 48);
    name_.print("%s, serial %09u, firmware %u.%u", product.data(), unsigned{wire::u32(data, 32)},
                firmware >> 24 & 0x7F, firmware >> 16 & 0xFF);
  }
  about_ = hal::Text<96>::of("%s", name_.c_str());
  answers_ = true;
  at_ = 0;
  outputs_ = {Output{kImuShort, kLogs},   Output{kImuData, kLogs}, Output{kFastImu, kFastLogs},
              Output{kQuaternion, kLogs}, Output{kEuler, kLogs},   Output{kUtc, kLogs}};
  return Reply::done();
}

bool Sbg::ask_output(Request& request) {
  if (answers_) say(request, kOutput, {port_, outputs_[at_].log, outputs_[at_].cls});
  return answers_;
}

// An output that it cannot tell of does not exist.
Reply Sbg::take_output(const Frame& frame) {
  Output& output = outputs_[at_];
  if (code_in(frame, kOutput)) {
    output.exists = false;
  } else {
    if (!is_command(frame, kOutput, 5)) return Reply::not_mine();
    const Bytes data = data_of(frame.bytes);
    if (wire::u8(data, 1) != output.log || wire::u8(data, 2) != output.cls) {
      return Reply::not_mine();
    }
    output.found = wire::u16(data, 3);
  }
  if (++at_ < outputs_.size()) return Reply::again();
  choose();
  return Reply::done();
}

void Sbg::choose() {
  const Rate rate = rate_of(asked_hz_);
  const bool has_short = outputs_[0].exists;
  outputs_[0].wanted = rate.mode;
  outputs_[1].wanted = has_short ? 0 : rate.mode;
  outputs_[3].wanted = orientation_ ? (rate.hz > kFilterHz ? 1 : rate.mode) : 0;
  outputs_[5].wanted = kEachSecond;
  at_ = 0;
}

// To the next one that is not as it should be.
bool Sbg::next_output() {
  while (at_ < outputs_.size() &&
         (!outputs_[at_].exists || outputs_[at_].found == outputs_[at_].wanted)) {
    ++at_;
  }
  return at_ < outputs_.size();
}

bool Sbg::set_output(Request& request) {
  if (!answers_ || !next_output()) return false;
  const Output& output = outputs_[at_];
  say(request, kOutput, {port_, output.log, output.cls, output.wanted & 0xFF, output.wanted >> 8});
  return true;
}

Reply Sbg::take_set(const Frame& frame) {
  const auto code = code_in(frame, kOutput);
  if (!code) return Reply::not_mine();
  if (*code != 0) {
    return Reply::refused(hal::Text<96>::of("log %u at mode %u (code %u)", outputs_[at_].log,
                                            outputs_[at_].wanted, *code));
  }
  changed_ = true;
  outputs_[at_].found = outputs_[at_].wanted;
  return next_output() ? Reply::again() : Reply::done();
}

// What the samples are made of is asked once more, where anything was changed.
bool Sbg::check_output(Request& request) {
  if (!answers_ || !changed_) return false;
  const Output& output = outputs_[outputs_[0].exists ? 0 : 1];
  say(request, kOutput, {port_, output.log, output.cls});
  return true;
}

Reply Sbg::take_check(const Frame& frame) {
  if (!is_command(frame, kOutput, 5)) return Reply::not_mine();
  const Output& output = outputs_[outputs_[0].exists ? 0 : 1];
  const Bytes data = data_of(frame.bytes);
  if (wire::u8(data, 1) != output.log || wire::u8(data, 2) != output.cls) return Reply::not_mine();
  const unsigned found = wire::u16(data, 3);
  if (found == output.wanted) return Reply::done();
  return Reply::refused(
      hal::Text<96>::of("log %u is sent at mode %u, %u was set", output.log, found, output.wanted));
}

bool Sbg::save(Request& request) {
  if (!save_ || !changed_) return false;
  say(request, kSettings, {kSaveSettings});
  return true;
}

Reply Sbg::take_saved(const Frame& frame) {
  const auto code = code_in(frame, kSettings);
  if (!code) return Reply::not_mine();
  return *code == 0 ? Reply::done() : Reply::refused(hal::Text<96>::of("code %u", *code));
}

void Sbg::decode(const Frame& frame, Decoded& out) {
  const unsigned log = log_of(frame.bytes), cls = class_of(frame.bytes);
  if (cls == kCommands) return;
  const Bytes data = data_of(frame.bytes);
  const std::size_t least = size_of(log, cls);
  if (least == 0) return note_other(frame, out);
  if (data.size() < least) return out.undecodable();
  if (cls == kFastLogs || log == kImuShort || log == kImuData) {
    return take_inertial(frame, data, out);
  }
  note_other(frame, out);
  if (log != kUtc) return take_attitude(frame, data, out);
  if (const auto unix_ns = unix_in(data)) {
    utc_ = {wire::u32(data, 0), *unix_ns};
  } else {
    utc_.reset();
  }
}

// Of several inertial logs the best one is the sample, as long as it comes.
void Sbg::take_inertial(const Frame& frame, Bytes data, Decoded& out) {
  const unsigned log = log_of(frame.bytes), cls = class_of(frame.bytes);
  const Kind kind = cls == kFastLogs ? Kind::fast : log == kImuData ? Kind::data : Kind::shorts;
  others_since_.reset();
  if (kind < kind_ && ++lesser_ < kPatience) return;
  kind_ = kind;
  lesser_ = 0;
  const Inertial inertial = inertial_in(data, log, cls);
  const hal::Text<96> words = words_for(inertial.status);
  if (!words.empty()) out.fault(words);
  const bool answers = (inertial.status & kUnitAnswers) != 0;
  if (!answers || !inertial::is_sensible(inertial.sample, {})) return out.undecodable();
  joined_.put(inertial.sample, timing_of(frame, data), out);
}

void Sbg::take_attitude(const Frame& frame, Bytes data, Decoded& out) {
  const bool is_quaternion = log_of(frame.bytes) == kQuaternion;
  if (!is_quaternion && has_quaternion_) return;
  has_quaternion_ |= is_quaternion;
  ImuSample sample;
  sample.orientation = attitude_in(data, log_of(frame.bytes));
  if (sample.orientation) joined_.put(sample, timing_of(frame, data), out);
}

Timing Sbg::timing_of(const Frame& frame, Bytes data) const {
  const std::uint32_t us = wire::u32(data, 0);
  Timing timing{.source = Timing::Source::clock,
                .raw_ns = std::int64_t{us} * 1000,
                .arrival = frame.last_at,
                .bytes = frame.bytes.size()};
  if (!tells_utc_ || !utc_) return timing;
  const auto since = static_cast<std::int32_t>(us - utc_->us);  // across a wrap, too
  if (since > kOldestPair || since < -kOldestPair) return timing;
  timing.source = Timing::Source::utc;
  timing.raw_ns = utc_->unix_ns + std::int64_t{since} * 1000;
  return timing;
}

void Sbg::note_other(const Frame& frame, Decoded& out) {
  if (!others_since_) others_since_ = frame.last_at;
  if (frame.last_at - *others_since_ < kOthersOnly) return;
  out.fault(hal::Text<96>::of("it sends log %u, but no inertial one: switch on IMU_SHORT (44)%s",
                              log_of(frame.bytes), configure_ ? "" : ", or set configure: true"));
}

}  // namespace drivers
