#include "drivers/anpp/anpp.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "drivers/inertial.h"
#include "drivers/wire.h"

namespace drivers {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kHead = 5;
constexpr unsigned kAck = 0, kRequest = 1, kInfo = 3, kFirstOfTicks = 20;
constexpr unsigned kState = 20, kUnix = 21, kStatus = 23, kRaw = 28, kEuler = 39, kQuaternion = 40,
                   kRunning = 49, kTimer = 180, kPeriods = 181;
constexpr unsigned kTickUs = 1000, kEachSecond = 1000;  // ticks
constexpr unsigned kPatience = 8;                       // ticks without 49 until it is not awaited
constexpr hal::Duration kLacking = 1500ms;              // without 28 until that is told
constexpr double kTeslaPerMilligauss = 1e-7;
constexpr std::int64_t kMostSeconds = 4'000'000'000;  // its years end in 2096

constexpr std::array kOptions{
    OptionSpec{.key = "rate_hz",
               .type = OptionType::integer,
               .unit = "Hz",
               .fallback = "100",  // 76 % of 115200 baud
               .min = 1,
               .max = 1000,
               .help = "samples per second; 1000 divided by a whole number, the next higher one"},
    OptionSpec{.key = "orientation",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "true",
               .help = "ask for the attitude"},
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
    OptionSpec{.key = "save",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "false",
               .help = "keep what it is told in its flash, each time it is started"},
};

struct Length {
  unsigned id;
  std::size_t n;
};
constexpr std::array kLengths{Length{kAck, 4},     Length{kRequest, 1}, Length{kInfo, 24},
                              Length{kState, 100}, Length{kUnix, 8},    Length{kStatus, 4},
                              Length{kRaw, 48},    Length{kEuler, 12},  Length{kQuaternion, 16},
                              Length{42, 12},      Length{kRunning, 8}, Length{kTimer, 4}};

unsigned id_of(Bytes packet) { return wire::u8(packet, 1); }
Bytes data_of(Bytes packet) { return packet.subspan(kHead); }

inertial::Vector vector(Bytes data, std::size_t at, double unit) {
  return inertial::from_frd(
      {wire::f32(data, at) * unit, wire::f32(data, at + 4) * unit, wire::f32(data, at + 8) * unit});
}

std::optional<std::array<double, 4>> attitude_of_angles(Bytes data, std::size_t at) {
  return inertial::from_ned_frd(inertial::from_euler(double{wire::f32(data, at)},
                                                     double{wire::f32(data, at + 4)},
                                                     double{wire::f32(data, at + 8)}));
}

// Empty: makes no sense.
std::optional<std::int64_t> time_in(Bytes data, std::size_t at) {
  const std::int64_t s = wire::u32(data, at), us = wire::u32(data, at + 4);
  if (s > kMostSeconds || us >= 1'000'000) return std::nullopt;
  return s * 1'000'000'000 + us * 1000;
}

const char* words_for_result(unsigned result) {
  static constexpr std::array kWords{"ok",
                                     "damaged on the way",
                                     "of another length",
                                     "out of range",
                                     "its flash failed",
                                     "it is not ready",
                                     "it does not know this packet"};
  return result < kWords.size() ? kWords[result] : "?";
}

// Of failures that concern what is measured here.
const char* words_for_status(unsigned system) {
  if ((system & 0x01) != 0) return "it failed";
  if ((system & 0x02) != 0) return "its accelerometer failed";
  if ((system & 0x04) != 0) return "its gyroscope failed";
  if ((system & 0x40) != 0) return "an acceleration is beyond its range";
  if ((system & 0x80) != 0) return "a rate of turn is beyond its range";
  return nullptr;
}

}  // namespace

// Nothing marks where a packet begins: ids that are known have their length.
std::size_t Anpp::Framing::measure(Bytes b) {
  if (b.size() < kHead) return kNeedMore;
  if ((wire::sum_of(b.first(kHead)) & 0xFF) != 0) return kNotAFrame;
  const std::size_t n = wire::u8(b, 2);
  for (const Length& length : kLengths) {
    if (length.id == id_of(b)) return length.n == n ? kHead + n : kNotAFrame;
  }
  return kHead + n;
}

bool Anpp::Framing::intact(Bytes packet) {
  return wire::crc16(data_of(packet), 0xFFFF) == wire::u16(packet, 3);
}

Finding Anpp::finding() {
  static constexpr std::array kBauds{115'200, 921'600, 460'800, 230'400};
  static constexpr std::uint16_t kTcp[] = {16718};
  return {.bauds = kBauds, .asks_first = true, .tcp = kTcp};
}

std::span<const OptionSpec> Anpp::options() { return kOptions; }

Figures Anpp::figures(const Options& options, int) {
  const double rate = 1000.0 / std::floor(1000 / options.number("rate_hz"));
  const double attitude = options.flag("orientation") ? kHead + 16 : 0;
  return {.packets_hz = rate,
          .bytes_per_s = rate * (kHead + 48 + kHead + 8 + attitude) + 2 * kHead + 12};
}

Anpp::Anpp(const Options& options)
    : ticks_(1000 / static_cast<unsigned>(options.integer("rate_hz"))),
      orientation_(options.flag("orientation")),
      tells_utc_(options.text("stamps") == "utc"),
      configure_(options.flag("configure")),
      save_(options.flag("save")) {
  restart();
}

void Anpp::restart() {
  answers_ = false;
  without_ = 0;
  name_.clear(), about_.clear();
  tick_ = {};
  usual_last_ = 0;
  without_running_ = kPatience;
  newest_.reset();
  period_ = hal::from_seconds(1 / rate_hz()).count();
  since_newest_ = 0;
  unix_minus_running_.reset();
  knows_utc_ = has_quaternion_ = false;
  has_settled_ = true;
  lacking_since_.reset();
}

hal::Duration Anpp::max_silence() const {
  return std::max<hal::Duration>(250ms, hal::from_seconds(3 / rate_hz()));
}

std::span<const Step<Anpp>> Anpp::start_script() {
  using D = Anpp;
  constexpr auto kGoOn = IfUnanswered::go_on;
  static constexpr std::array kBauds{115'200, 921'600, 460'800, 230'400};
  static constexpr std::array<Step<D>, 4> kSteps{{
      {"get device info", &D::ask_info, &D::take_info, 250ms, 2, kGoOn, kBauds},
      {"set packet timer", &D::set_timer, &D::acknowledged, 300ms, 3},
      {"set packet periods", &D::set_periods, &D::take_set, 300ms, 3},
      {"get packet periods", &D::ask_periods, &D::take_periods, 300ms, 2, kGoOn},
  }};
  return kSteps;
}

void Anpp::say(Request& request, unsigned id, Bytes data) {
  asked_id_ = id;
  asked_crc_ = wire::crc16(data, 0xFFFF);
  const auto n = static_cast<unsigned>(data.size());
  const unsigned sum = id + n + (asked_crc_ & 0xFF) + (asked_crc_ >> 8);
  request.u8((0x100 - (sum & 0xFF)) & 0xFF).u8(id).u8(n).u16(asked_crc_).bytes(data);
}

bool Anpp::ask_info(Request& request) {
  static constexpr std::array kData{std::byte{kInfo}};
  if (configure_) say(request, kRequest, kData);
  return configure_;
}

// u32 software, device, hardware, and three of its serial number.
Reply Anpp::take_info(const Frame& frame) {
  if (id_of(frame.bytes) != kInfo) return Reply::not_mine();
  const Bytes data = data_of(frame.bytes);
  name_.print("device %u, serial %08X%08X%08X, software %u", unsigned{wire::u32(data, 4)},
              unsigned{wire::u32(data, 12)}, unsigned{wire::u32(data, 16)},
              unsigned{wire::u32(data, 20)}, unsigned{wire::u32(data, 0)});
  about_.print("%s", name_.c_str());
  answers_ = true;
  return Reply::done();
}

bool Anpp::set_timer(Request& request) {
  const std::array data{std::byte{save_}, std::byte{1},  // its ticks keep to the seconds of UTC
                        std::byte{kTickUs & 0xFF}, std::byte{kTickUs >> 8}};
  if (answers_) say(request, kTimer, data);
  return answers_;
}

bool Anpp::set_periods(Request& request) {
  if (!answers_) return false;
  Request data;
  data.u8(save_).u8(1);  // nothing else
  const auto add = [&data](unsigned id, unsigned ticks) { data.u8(id).u32(ticks); };
  const bool has_running = (without_ & 2) == 0;
  add(kUnix, has_running ? kEachSecond : ticks_);
  add(kStatus, kEachSecond);
  add(kRaw, ticks_);
  if (orientation_ && (without_ & 1) == 0) add(kQuaternion, ticks_);
  if (has_running) add(kRunning, ticks_);
  say(request, kPeriods, data.view());
  return true;
}

Reply Anpp::acknowledged(const Frame& frame) {
  const Bytes data = data_of(frame.bytes);
  const bool is_ours = id_of(frame.bytes) == kAck && wire::u8(data, 0) == asked_id_ &&
                       wire::u16(data, 1) == asked_crc_;
  if (!is_ours) return Reply::not_mine();
  const unsigned result = wire::u8(data, 3);
  if (result == 1) return Reply::not_mine();  // damaged: to be sent again when the wait is over
  if (result == 0) return Reply::done();
  return Reply::refused(hal::Text<96>::of("%s (result %u)", words_for_result(result), result));
}

// A packet that it does not know is out of range.
Reply Anpp::take_set(const Frame& frame) {
  const Reply reply = acknowledged(frame);
  if (reply.kind == Reply::Kind::refused && without_ < 3) {
    ++without_;
    return Reply::again();
  }
  about_.print("%s%s%s", name_.c_str(), (without_ & 1) != 0 ? ", no attitude" : "",
               (without_ & 2) != 0 ? ", no running time" : "");
  return reply;
}

bool Anpp::ask_periods(Request& request) {
  static constexpr std::array kData{std::byte{kPeriods}};
  if (answers_) say(request, kRequest, kData);
  return answers_;
}

Reply Anpp::take_periods(const Frame& frame) {
  if (id_of(frame.bytes) != kPeriods) return Reply::not_mine();
  const Bytes data = data_of(frame.bytes);
  for (std::size_t at = 2; at + 5 <= data.size(); at += 5) {
    const unsigned id = wire::u8(data, at), ticks = wire::u32(data, at + 1);
    if ((id == kRaw || id == kRunning) && ticks != ticks_) {
      return Reply::refused(
          hal::Text<96>::of("packet %u comes every %u ticks, %u were set", id, ticks, ticks_));
    }
  }
  return Reply::done();
}

void Anpp::decode(const Frame& frame, Decoded& out) {
  const unsigned id = id_of(frame.bytes);
  if (id < kFirstOfTicks || id >= kTimer) return;  // answers
  if (id <= tick_.newest) {
    usual_last_ = tick_.newest;
    give(out);
  }
  tick_.newest = id;
  tick_.bytes += frame.bytes.size();
  take(frame, data_of(frame.bytes), out);
  const bool is_last = id == kRunning || (without_running_ >= kPatience && id == usual_last_);
  if (is_last) give(out);
  note_lack(frame, out);
}

void Anpp::take(const Frame& frame, Bytes data, Decoded& out) {
  switch (id_of(frame.bytes)) {
    case kState:
      return take_state(frame, data, out);
    case kUnix:
      tick_.unix_ns = time_in(data, 0);
      if (!tick_.unix_ns) out.undecodable();
      return;
    case kStatus:
      return take_status(data, out);
    case kRaw:
      return take_raw(frame, data, out);
    case kEuler:
      if (!has_quaternion_) take_attitude(frame, attitude_of_angles(data, 0));
      return;
    case kQuaternion:
      has_quaternion_ = true;
      return take_attitude(
          frame, inertial::from_ned_frd({wire::f32(data, 0), wire::f32(data, 4), wire::f32(data, 8),
                                         wire::f32(data, 12)}));
    case kRunning:
      tick_.running = time_in(data, 0);
      if (!tick_.running) out.undecodable();
      return;
    default:
      return;
  }
}

// Its acceleration is without gravity.
void Anpp::take_state(const Frame& frame, Bytes data, Decoded& out) {
  take_status(data, out);
  tick_.unix_ns = time_in(data, 4);
  ImuSample sample;
  sample.gyro = vector(data, 76, 1);
  if (!tick_.unix_ns || !inertial::is_sensible(sample, {})) return out.undecodable();
  tick_.sample.gyro = sample.gyro;
  sampled(frame);
  if (!has_quaternion_) take_attitude(frame, attitude_of_angles(data, 64));
}

void Anpp::take_raw(const Frame& frame, Bytes data, Decoded& out) {
  ImuSample sample;
  sample.accel = vector(data, 0, 1);
  sample.gyro = vector(data, 12, 1);
  sample.mag = vector(data, 24, kTeslaPerMilligauss);
  sample.temperature = wire::f32(data, 36);
  sample.pressure = wire::f32(data, 40);
  if (sample.mag == inertial::Vector{}) sample.mag.reset();  // a model without the sensor
  if (sample.pressure == 0.0) sample.pressure.reset();
  if (!inertial::is_sensible(sample, {})) return out.undecodable();
  sample.orientation = tick_.sample.orientation;
  tick_.sample = sample;
  sampled(frame);
}

void Anpp::take_attitude(const Frame& frame, const std::optional<std::array<double, 4>>& attitude) {
  if (!has_settled_ || !attitude) return;
  tick_.sample.orientation = attitude;
  if (tick_.bytes_then == 0) sampled(frame);
}

void Anpp::take_status(Bytes data, Decoded& out) {
  const unsigned system = wire::u16(data, 0), filter = wire::u16(data, 2);
  has_settled_ = (filter & 1) != 0;
  knows_utc_ = (filter & 8) != 0;
  if (const char* const words = words_for_status(system)) {
    out.fault(hal::Text<96>::of("%s (status 0x%04X)", words, system));
  }
}

void Anpp::sampled(const Frame& frame) {
  tick_.arrival = frame.last_at;
  tick_.bytes_then = tick_.bytes;
}

// A tick is over.
void Anpp::give(Decoded& out) {
  const Tick tick = std::exchange(tick_, {});
  const auto stamp = stamp_of(tick);
  if (tick.bytes_then == 0) return;  // nothing was measured
  Timing timing{.arrival = tick.arrival, .bytes = tick.bytes_then};
  if (stamp) {
    timing.source = Timing::Source::clock;
    timing.raw_ns = *stamp;
    const bool is_unix = without_running_ >= kPatience;
    if (knows_utc_ && is_unix) timing.source = Timing::Source::utc;
    if (knows_utc_ && tells_utc_ && !is_unix && unix_minus_running_) {
      timing.source = Timing::Source::utc;
      timing.raw_ns = *stamp + *unix_minus_running_;
    }
  }
  out.add(tick.sample, timing);
}

// What was lost of a tick's time is a period after the one before. Empty: no time is told at all.
std::optional<std::int64_t> Anpp::stamp_of(const Tick& tick) {
  const bool was_running = without_running_ < kPatience;
  without_running_ = tick.running ? 0 : std::min(without_running_ + 1, kPatience);
  if (tick.running && tick.unix_ns) unix_minus_running_ = *tick.unix_ns - *tick.running;
  const bool is_running = without_running_ < kPatience;
  if (is_running != was_running) newest_.reset();
  const auto& told = is_running ? tick.running : tick.unix_ns;
  ++since_newest_;
  if (told) {
    if (newest_ && *told > *newest_) period_ = (*told - *newest_) / since_newest_;
    newest_ = told;
    since_newest_ = 0;
    return told;
  }
  if (!newest_) return std::nullopt;
  return *newest_ + period_ * since_newest_;
}

void Anpp::note_lack(const Frame& frame, Decoded& out) {
  if (id_of(frame.bytes) == kRaw) lacking_since_ = frame.last_at;
  if (!lacking_since_) lacking_since_ = frame.last_at;
  if (frame.last_at - *lacking_since_ < kLacking) return;
  out.fault(hal::Text<96>::of("it sends packet %u, but no raw sensors (28): set their period%s",
                              id_of(frame.bytes), configure_ ? "" : ", or set configure: true"));
}

}  // namespace drivers
