#include "drivers/fdilink/fdilink.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "drivers/inertial.h"
#include "drivers/wire.h"

namespace drivers {
namespace {

constexpr unsigned kInertial = 0x40, kAttitude = 0x41;
constexpr std::size_t kInertialBytes = 56, kAttitudeBytes = 48, kHead = 7, kAround = 8;
constexpr double kTeslaPerMilligauss = 1e-7;
constexpr std::int64_t kLargestStamp = std::int64_t{1} << 50;  // us: 35 years
constexpr unsigned kMostWithout = 100;    // frames: half a second of both at 100 Hz
constexpr unsigned kMostUndecided = 200;  // samples

constexpr std::array kOptions{
    OptionSpec{.key = "rate_hz",
               .type = OptionType::number,
               .unit = "Hz",
               .fallback = "100",
               .min = 1,
               .max = 1000,
               .help = "samples per second that it is set to send"},
    OptionSpec{.key = "accel_sign",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "auto",
               .choices = "auto|specific_force|gravity",
               .help = "what its acceleration is at rest: the force that holds it up, or gravity "
                       "that pulls it down; auto: seen at rest, by the attitude or upright"},
};

constexpr auto kCrc8 = [] {
  std::array<std::uint8_t, 256> table{};
  for (unsigned v = 0; v < 256; ++v) {
    unsigned crc = v;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0x8C : crc >> 1;
    table[v] = static_cast<std::uint8_t>(crc);
  }
  return table;
}();

std::uint8_t crc8(Bytes b) {
  std::uint8_t crc = 0;
  for (const std::byte byte : b) crc = kCrc8[crc ^ std::to_integer<unsigned>(byte)];
  return crc;
}

inertial::Vector vector(Bytes b, std::size_t at, double unit) {
  return inertial::from_frd(
      {wire::f32(b, at) * unit, wire::f32(b, at + 4) * unit, wire::f32(b, at + 8) * unit});
}

// Up in the world, of a vector of the body.
double upward(const std::array<double, 4>& q, const inertial::Vector& v) {
  const auto [x, y, z, w] = q;
  return 2 * (x * z - w * y) * v[0] + 2 * (y * z + w * x) * v[1] + (1 - 2 * (x * x + y * y)) * v[2];
}

double sign_of(std::string_view option) {
  if (option == "auto") return 0;
  return option == "gravity" ? -1 : 1;
}

}  // namespace

std::size_t fdilink::Framing::measure(Bytes b) {
  if (wire::u8(b, 0) != 0xFC) return kNotAFrame;
  if (b.size() < 5) return kNeedMore;
  if (crc8(b.first(4)) != wire::u8(b, 4)) return kNotAFrame;
  return kAround + wire::u8(b, 2);
}

bool fdilink::Framing::intact(Bytes frame) {
  const std::size_t n = frame.size() - 1;
  return wire::u8(frame, n) == 0xFD &&
         wire::crc16(frame.first(n).subspan(kHead)) == wire::u16be(frame, 5);
}

Finding Fdilink::finding() {
  static constexpr std::array kBauds{921'600, 460'800, 230'400, 115'200};
  return {.bauds = kBauds};
}

std::span<const OptionSpec> Fdilink::options() { return kOptions; }

Figures Fdilink::figures(const Options& options, int) {
  const double rate = options.number("rate_hz");
  return {.packets_hz = rate,
          .bytes_per_s = rate * (kInertialBytes + kAttitudeBytes + 2 * kAround)};
}

Fdilink::Fdilink(const Options& options)
    : rate_hz_(options.number("rate_hz")),
      told_sign_(sign_of(options.text("accel_sign"))),
      joined_(hal::from_seconds(0.5 / rate_hz_)) {
  restart();
}

void Fdilink::restart() {
  sign_ = told_sign_;
  known_by_ = told_sign_ == 0 ? KnownBy::nothing : KnownBy::option;
  joined_.forget();
  number_.forget();
  attitude_.reset();
  without_inertial_ = undecided_ = 0;
}

hal::Duration Fdilink::max_silence() const {
  return std::max<hal::Duration>(std::chrono::milliseconds(250), hal::from_seconds(3 / rate_hz_));
}

// Of a sensor that is not shaken: the specific force points up.
void Fdilink::find_sign(const inertial::Vector& accel) {
  const double length = std::hypot(accel[0], accel[1], accel[2]);
  const bool at_rest = length >= 9.3 && length <= 10.3;
  const KnownBy by = attitude_ ? KnownBy::attitude : KnownBy::upright;
  if (!at_rest || known_by_ >= by) return;
  const double up = attitude_ ? upward(*attitude_, accel) : accel[2];
  if (std::abs(up) < length / 2) return;
  sign_ = std::copysign(1.0, up);
  known_by_ = by;
}

// Without an acceleration while its sign is not known.
bool Fdilink::read_inertial(Bytes data, ImuSample& s) {
  s.gyro = vector(data, 0, 1);
  s.accel = vector(data, 12, 1);
  s.mag = vector(data, 24, kTeslaPerMilligauss);
  s.temperature = wire::f32(data, 36);
  s.pressure = wire::f32(data, 40);
  if (!inertial::is_sensible(s, {})) return false;
  find_sign(*s.accel);
  for (double& part : *s.accel) part *= sign_;
  if (s.mag == inertial::Vector{}) s.mag.reset();  // a model without the sensor
  if (s.pressure == 0.0) s.pressure.reset();
  undecided_ = sign_ == 0 ? undecided_ + 1 : 0;
  if (sign_ == 0) s.accel.reset();
  return true;
}

void Fdilink::decode(const Frame& frame, Decoded& out) {
  const unsigned type = wire::u8(frame.bytes, 1);
  out.lost(number_.missing_before(wire::u8(frame.bytes, 3)));
  const Bytes data = frame.bytes.subspan(kHead, frame.bytes.size() - kAround);
  without_inertial_ = type == kInertial ? 0 : without_inertial_ + 1;
  if (without_inertial_ >= kMostWithout) {
    out.fault(hal::Text<96>::of("it sends 0x%02X, but no inertial data (0x40): '#fmsg 0x40 %g'",
                                type, rate_hz_));
  }
  if (undecided_ >= kMostUndecided) {
    out.fault(hal::Text<96>::of(
        "it was not at rest yet, so the sign of its acceleration is not known: set accel_sign"));
  }
  const bool is_inertial = type == kInertial;
  if (!is_inertial && type != kAttitude) return;
  if (data.size() != (is_inertial ? kInertialBytes : kAttitudeBytes)) return out.undecodable();

  ImuSample sample;
  const auto us = static_cast<std::int64_t>(wire::u64(data, data.size() - 8));
  if (us < 0 || us > kLargestStamp) return out.undecodable();
  if (is_inertial) {
    if (!read_inertial(data, sample)) return out.undecodable();
  } else {
    sample.orientation = inertial::from_ned_frd(
        {wire::f32(data, 24), wire::f32(data, 28), wire::f32(data, 32), wire::f32(data, 36)});
    attitude_ = sample.orientation;
    if (!attitude_) return;
  }
  joined_.put(sample,
              {.source = Timing::Source::clock,
               .raw_ns = us * 1000,
               .arrival = frame.last_at,
               .bytes = frame.bytes.size()},
              out);
}

}  // namespace drivers
