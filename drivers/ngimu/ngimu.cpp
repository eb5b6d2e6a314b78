#include "drivers/ngimu/ngimu.h"

#include <algorithm>
#include <cmath>

#include "drivers/inertial.h"

namespace drivers {
namespace {

using inertial::kGravity;
using inertial::kRadPerDeg;
using osc::Message;

constexpr std::string_view kSensors = "/sensors", kQuaternion = "/quaternion";
constexpr std::string_view kSensorsRate = "/rate/sensors", kQuaternionRate = "/rate/quaternion";
constexpr double kTeslaPerMicrotesla = 1e-6, kPascalPerHectopascal = 100;
constexpr std::uint64_t kNow = 1;       // of a bundle: at once, whenever that is
constexpr unsigned kMostRead = 7;       // messages of a packet
constexpr unsigned kMostWithout = 100;  // messages
// By its data sheet.
constexpr inertial::Limits kLimits{.accel = 16 * kGravity, .gyro = 2000 * kRadPerDeg};

constexpr std::array kOptions{
    OptionSpec{.key = "rate_hz",
               .type = OptionType::number,
               .unit = "Hz",
               .fallback = "50",  // with the attitude 63 % of 115200 baud
               .min = 1,
               .max = 400,
               .help = "samples per second"},
    OptionSpec{.key = "orientation",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "true",
               .help = "ask for the attitude, as a quaternion"},
    OptionSpec{.key = "configure",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "true",
               .help = "false: nothing is said to it, it is read as it streams"},
};

}  // namespace

// Other rates than that it leaves the factory with are for who knows that it is there.
Finding Ngimu::finding() {
  static constexpr std::array<std::uint16_t, 2> kUdp{8005, 8001};
  return {.asks_first = true, .udp = kUdp};
}

std::span<const OptionSpec> Ngimu::options() { return kOptions; }

// With the end byte and an escape in each packet.
Figures Ngimu::figures(const Options& options, int) {
  const double rate = options.number("rate_hz");
  return {.packets_hz = rate,
          .bytes_per_s = rate * (84 + 2 + (options.flag("orientation") ? 56 + 2 : 0))};
}

Ngimu::Ngimu(const Options& options)
    : rate_hz_(options.number("rate_hz")),
      configure_(options.flag("configure")),
      settings_{
          {{kSensorsRate, static_cast<float>(rate_hz_)},
           {kQuaternionRate, options.flag("orientation") ? static_cast<float>(rate_hz_) : 0.0F}}},
      joined_(hal::from_seconds(0.5 / rate_hz_)) {}

void Ngimu::restart() {
  framing_.forget();
  joined_.forget();
  about_.clear();
  without_inertial_ = 0;
}

// Its samples follow each other by 0.3 % of what is asked for.
ClockModel Ngimu::clock_model() const { return {.period = hal::from_seconds(1 / rate_hz_)}; }

hal::Duration Ngimu::max_silence() const {
  return std::max<hal::Duration>(std::chrono::milliseconds(250), hal::from_seconds(3 / rate_hz_));
}

std::span<const Step<Ngimu>> Ngimu::start_script() {
  using namespace std::chrono_literals;
  using D = Ngimu;
  static constexpr std::array kBauds{115'200, 921'600, 460'800, 230'400};
  static constexpr std::array<Step<D>, 3> kSteps{{
      {"get rate", &D::ask, &D::take_answer, 250ms, 3, IfUnanswered::fail, kBauds},
      {"write rates", &D::write_next, &D::take_written, 250ms, 3},
      {"read rates", &D::read_next, &D::take_read, 250ms, 3},
  }};
  return kSteps;
}

// Empty: the frame does not tell it.
std::optional<double> Ngimu::told(const Frame& frame, std::string_view address) const {
  std::optional<double> found;
  const osc::Packet packet(frame.bytes, framing_.is_line());
  osc::each_message(packet.bytes(), [&](const Message& m) {
    const auto value = m.floats<1>();
    if (m.address == address && value) found = (*value)[0];
  });
  return found;
}

bool Ngimu::ask(Request& request) {
  at_ = 0;
  if (configure_) osc::write(request, kSensorsRate, {});
  return configure_;
}

Reply Ngimu::take_answer(const Frame& frame) {
  return told(frame, kSensorsRate) ? Reply::done() : Reply::not_mine();
}

bool Ngimu::write_next(Request& request) {
  if (configure_) osc::write(request, settings_[at_].address, {settings_[at_].rate_hz});
  return configure_;
}

Reply Ngimu::take_written(const Frame& frame) {
  if (!told(frame, settings_[at_].address)) return Reply::not_mine();
  at_ = (at_ + 1) % settings_.size();
  return at_ == 0 ? Reply::done() : Reply::again();
}

bool Ngimu::read_next(Request& request) {
  if (configure_) osc::write(request, settings_[at_].address, {});
  return configure_;
}

Reply Ngimu::take_read(const Frame& frame) {
  const Setting& wanted = settings_[at_];
  const auto found = told(frame, wanted.address);
  if (!found) return Reply::not_mine();
  if (std::abs(*found - double{wanted.rate_hz}) > 1e-3 * double{wanted.rate_hz}) {
    return Reply::refused(hal::Text<96>::of("%s is %g Hz, %g was written", wanted.address.data(),
                                            *found, double{wanted.rate_hz}));
  }
  at_ = (at_ + 1) % settings_.size();
  return at_ == 0 ? Reply::done() : Reply::again();
}

bool Ngimu::read(const Message& m, ImuSample& s) const {
  if (m.address == kSensors) {
    const auto all = m.floats<10>();
    if (!all) return false;
    const auto vector = [&](std::size_t at, double unit) {
      return inertial::Vector{(*all)[at] * unit, (*all)[at + 1] * unit, (*all)[at + 2] * unit};
    };
    s.gyro = vector(0, kRadPerDeg);
    s.accel = vector(3, kGravity);
    s.mag = vector(6, kTeslaPerMicrotesla);
    s.pressure = (*all)[9] * kPascalPerHectopascal;
  } else if (m.address == kQuaternion) {
    const auto q = m.floats<4>();
    if (!q) return false;
    s.orientation = inertial::from_nwu_flu({(*q)[0], -(*q)[1], -(*q)[2], -(*q)[3]});
  }
  if (s.orientation && !inertial::is_unit(*s.orientation)) return false;
  return inertial::is_sensible(s, kLimits);
}

void Ngimu::take(const Message& m, const Frame& frame, Decoded& out) {
  const bool is_inertial = m.address == kSensors;
  without_inertial_ = is_inertial ? 0 : std::min(without_inertial_ + 1, kMostWithout);
  if (without_inertial_ == kMostWithout) {
    const auto n = static_cast<int>(std::min<std::size_t>(m.address.size(), 40));
    out.fault(hal::Text<96>::of("it sends %.*s, but no /sensors: set /rate/sensors", n,
                                m.address.data()));
  }
  ImuSample sample;
  if (!read(m, sample)) return out.undecodable();
  const bool is_alone = m.time == 0;  // a message, but of a damaged bundle
  if (is_alone || (!sample.accel && !sample.orientation)) return;
  Timing timing{.arrival = frame.last_at, .bytes = frame.bytes.size()};
  if (m.time == kNow) return out.add(sample, timing);
  timing.source = Timing::Source::clock;
  timing.raw_ns = osc::ns_of(m.time);
  joined_.put(sample, timing, out);
}

void Ngimu::decode(const Frame& frame, Decoded& out) {
  const osc::Packet packet(frame.bytes, framing_.is_line());
  unsigned taken = 0;
  osc::each_message(packet.bytes(), [&](const Message& m) {
    if (taken < kMostRead) take(m, frame, out);
    taken += m.address == kSensors || m.address == kQuaternion;
  });
}

}  // namespace drivers
