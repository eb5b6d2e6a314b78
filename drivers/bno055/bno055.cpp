#include "drivers/bno055/bno055.h"

#include <algorithm>
#include <utility>

#include "drivers/inertial.h"
#include "drivers/wire.h"

namespace drivers {
namespace {

using namespace std::chrono_literals;
using inertial::Vector;

constexpr unsigned kAnswer = 0xBB, kStatus = 0xEE;
constexpr unsigned kWritten = 0x01, kLastStatus = 0x0A;
constexpr unsigned kChip = 0xA0, kUnits = 0x82;  // m/s^2, rad/s, Android's sense of angles
constexpr unsigned kFirst = 0x08, kBlock = 45;
constexpr unsigned kMostFailures = 5;          // of one request, before it is given up
constexpr hal::Duration kAnswerWithin = 60ms;  // it takes 9, and an adapter 16
constexpr inertial::Limits kLimits{.accel = 16 * inertial::kGravity,
                                   .gyro = 2000 * inertial::kRadPerDeg};

constexpr std::array kOptions{
    OptionSpec{.key = "mode",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "ndof",  // as its other drivers have it
               .choices = "ndof|imu|accgyro",
               .help = "fusion with the magnetometer, without it, or none and no attitude"},
    OptionSpec{.key = "rate_hz",
               .type = OptionType::integer,
               .unit = "Hz",
               .fallback = "100",  // its own; more is beyond its line
               .min = 1,
               .max = 100,
               .help = "how often it is asked for a sample"},
};

unsigned mode_of(const Options& options) {
  const std::string_view mode = options.text("mode");
  return mode == "accgyro" ? 0x05 : mode == "imu" ? 0x08 : 0x0C;
}

bool is_status(Bytes frame) { return wire::u8(frame, 0) == kStatus; }

hal::Text<96> words_for(unsigned status) {
  static constexpr std::array kWords{"?",
                                     "written",
                                     "it cannot read",
                                     "it cannot write",
                                     "no such register",
                                     "writing is disabled",
                                     "a wrong start byte",
                                     "bus over-run",
                                     "too many bytes",
                                     "too few bytes",
                                     "it waited for the rest of a request"};
  return hal::Text<96>::of("%s (status %02X)", status < kWords.size() ? kWords[status] : "?",
                           status);
}

Vector vector(Bytes b, std::size_t at, double steps) {
  return {wire::i16(b, at) / steps, wire::i16(b, at + 2) / steps, wire::i16(b, at + 4) / steps};
}

bool read_block(Bytes b, ImuSample& s) {
  s.accel = vector(b, 0, 100);
  s.gyro = vector(b, 12, 900);
  if (const Vector field = vector(b, 6, 16e6); field != Vector{}) s.mag = field;
  const auto part = [&b](std::size_t at) { return wire::i16(b, at) / 16384.0; };
  s.orientation = inertial::from_enu_flu({part(24), part(26), part(28), part(30)});
  s.temperature = static_cast<std::int8_t>(wire::u8(b, 44));
  return inertial::is_sensible(s, kLimits);
}

}  // namespace

std::size_t bno055::Framing::measure(Bytes b) const {
  const unsigned first = wire::u8(b, 0);
  if (first != kAnswer && first != kStatus) return kNotAFrame;
  if (b.size() < 2) return kNeedMore;
  const std::size_t n = wire::u8(b, 1);
  if (first == kStatus) return n >= kWritten && n <= kLastStatus ? 2 : kNotAFrame;
  const bool is_any = n == 1 || n == 2 || n == 6 || n == kBlock;
  return (asked == 0 ? is_any : n == asked) ? 2 + n : kNotAFrame;
}

// There is nothing to tell by.
bool bno055::Framing::intact(Bytes) const { return true; }

std::span<const OptionSpec> Bno055::options() { return kOptions; }

Figures Bno055::figures(const Options& options, int) {
  const double rate = options.number("rate_hz");
  return {.packets_hz = rate, .bytes_per_s = rate * (2 + kBlock) + 4};
}

Bno055::Bno055(const Options& options)
    : mode_(mode_of(options)),
      rate_hz_(options.number("rate_hz")),
      poll_step_{{{"read sample", &Bno055::poll, &Bno055::take_sample, kAnswerWithin, 3}}},
      fault_step_{{{"read system status", &Bno055::read_fault, &Bno055::take_fault, kAnswerWithin,
                    3, IfUnanswered::go_on}}},
      routines_{{{hal::from_seconds(1 / rate_hz_), poll_step_}, {1s, fault_step_}}} {}

void Bno055::restart() {
  framing_.asked = 0;
  failures_ = 0;
  is_polled_ = is_open_ = false;
  newest_ = {};
  is_repeated_ = false;
  about_.clear();
}

hal::Duration Bno055::max_silence() const {
  return std::max<hal::Duration>(250ms, hal::from_seconds(3 / rate_hz_));
}

// It boots for 650 ms, and takes 19 ms into its configuration mode and 7 ms out of it.
std::span<const Step<Bno055>> Bno055::start_script() {
  using D = Bno055;
  static constexpr std::array<Step<D>, 12> kSteps{{
      {"read chip", &D::read_chip, &D::take_chip, kAnswerWithin, 16},
      {"go to configuration mode", &D::configure, &D::take_written, kAnswerWithin, 5},
      {"wait for it", &D::wait, nullptr, 30ms},
      {"choose page 0", &D::first_page, &D::take_written, kAnswerWithin, 5},
      {"read versions", &D::read_versions, &D::take_versions, kAnswerWithin, 3,
       IfUnanswered::go_on},
      {"set power", &D::full_power, &D::take_written, kAnswerWithin, 5},
      {"set clock", &D::own_clock, &D::take_written, kAnswerWithin, 5},
      {"set units", &D::choose_units, &D::take_written, kAnswerWithin, 5},
      {"read units", &D::read_units, &D::take_units, kAnswerWithin, 5},
      {"set mode", &D::begin, &D::take_written, kAnswerWithin, 5},
      {"wait for the mode", &D::wait, nullptr, 20ms},
      {"read mode", &D::read_mode, &D::take_mode, kAnswerWithin, 5},
  }};
  return kSteps;
}

std::span<const Step<Bno055>> Bno055::stop_script() {
  using D = Bno055;
  static constexpr std::array<Step<D>, 1> kSteps{
      {{"go to configuration mode", &D::configure, &D::take_written, kAnswerWithin, 3,
        IfUnanswered::go_on}}};
  return kSteps;
}

bool Bno055::read(Request& request, unsigned address, unsigned n) {
  framing_.asked = n;
  request.u8(0xAA).u8(0x01).u8(address).u8(n);
  return true;
}

bool Bno055::write(Request& request, unsigned address, unsigned value) {
  framing_.asked = 1;  // is answered by a status
  request.u8(0xAA).u8(0x00).u8(address).u8(1).u8(value);
  return true;
}

bool Bno055::choose_units(Request& request) { return write(request, 0x3B, kUnits); }

bool Bno055::poll(Request& request) {
  is_polled_ = true;
  if (std::exchange(is_open_, false)) return read_chip(request);
  is_open_ = true;
  asked_at_ = request.now();
  return read(request, kFirst, kBlock);
}

Reply Bno055::settled(const Reply& reply) {
  failures_ = 0;
  return reply;
}

// The same again, some times.
Reply Bno055::failed(const Frame& frame) {
  if (++failures_ <= kMostFailures) return Reply::again();
  return settled(Reply::refused(words_for(wire::u8(frame.bytes, 1))));
}

Reply Bno055::matches(const Frame& frame, unsigned wanted, const char* what) {
  if (is_status(frame.bytes)) return failed(frame);
  const unsigned read = wire::u8(frame.bytes, 2);
  if (read == wanted) return settled(Reply::done());
  return settled(Reply::refused(hal::Text<96>::of("%s is %02X, not %02X", what, read, wanted)));
}

Reply Bno055::take_chip(const Frame& frame) { return matches(frame, kChip, "its chip"); }
Reply Bno055::take_units(const Frame& frame) { return matches(frame, kUnits, "its unit register"); }
Reply Bno055::take_mode(const Frame& frame) { return matches(frame, mode_, "its mode"); }

Reply Bno055::take_written(const Frame& frame) {
  if (!is_status(frame.bytes)) return Reply::not_mine();
  return wire::u8(frame.bytes, 1) == kWritten ? settled(Reply::done()) : failed(frame);
}

Reply Bno055::take_versions(const Frame& frame) {
  if (is_status(frame.bytes)) return failed(frame);
  about_.print("BNO055, software %02X.%02X", unsigned{wire::u8(frame.bytes, 6)},
               unsigned{wire::u8(frame.bytes, 5)});
  return settled(Reply::done());
}

// A sample that it cannot give is left out; decode() tells why.
Reply Bno055::take_sample(const Frame& frame) {
  const bool is_sample = std::exchange(is_open_, false);
  if (is_sample && !is_status(frame.bytes)) return settled(Reply::measured());
  return ++failures_ <= kMostFailures ? Reply::again() : settled(Reply::measured());
}

Reply Bno055::take_fault(const Frame& frame) {
  if (!is_status(frame.bytes)) return settled(Reply::measured());
  return settled(Reply::done());  // there will be another time
}

void Bno055::decode(const Frame& frame, Decoded& out) {
  const Bytes data = frame.bytes.subspan(2);
  if (is_status(frame.bytes)) {
    const unsigned status = wire::u8(frame.bytes, 1);
    if (is_polled_ && status != kWritten) out.fault(words_for(status));
    return;
  }
  if (data.size() == 2 && wire::u8(data, 0) == 1) {
    out.fault(hal::Text<96>::of("its system error %u", unsigned{wire::u8(data, 1)}));
  }
  if (data.size() != kBlock) return;
  ImuSample sample;
  if (!read_block(data, sample)) return out.undecodable();
  // Asked faster than it measures it tells a sample twice; at rest it may tell the same for long.
  const bool same = std::ranges::equal(data, newest_);
  std::ranges::copy(data, newest_.begin());
  is_repeated_ = same && !is_repeated_;
  if (is_repeated_) return;
  Timing timing{.arrival = frame.last_at};
  if (is_polled_) timing.arrival = asked_at_ + (frame.first_at - asked_at_) / 2;
  out.add(sample, timing);
}

}  // namespace drivers
