#include "drivers/lpms/lpms.h"

#include <algorithm>
#include <array>

#include "drivers/inertial.h"
#include "drivers/wire.h"

namespace drivers {
namespace {

using inertial::kGravity;
using inertial::kRadPerDeg;
using namespace lpms;

constexpr std::size_t kHead = 7, kAround = 11;  // before the data; with sum and end
constexpr unsigned kAck = 0, kNack = 1, kData = 9;
constexpr unsigned kNarrow = 22;  // bit of the legacy configuration

constexpr std::array kOptions{
    OptionSpec{.key = "generation",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "ig1",
               .choices = "ig1|legacy",
               .help = "legacy: CU2, U2, URS2, B2; the data do not tell, the device does"},
    OptionSpec{.key = "rate_hz",
               .type = OptionType::integer,
               .unit = "Hz",
               .fallback = "100",
               .min = 5,
               .max = 800,
               .help = "samples per second: 5, 10, 50, 100, 250, 500; legacy: 5, 10, 25, 50, 100, "
                       "200, 400, 800"},
    OptionSpec{.key = "orientation",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "true",
               .help = "ask for the attitude"},
    OptionSpec{.key = "extras",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "false",
               .help = "ask for the magnetic field and the temperature"},
    OptionSpec{.key = "accel_sign",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "negative",  // as users and the maker's ROS driver tell
               .choices = "negative|positive",
               .help = "what the device tells of the axis that points up at rest: -1 g or 1 g"},
    OptionSpec{.key = "attitude_of",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "body",
               .choices = "body|world",
               .help = "whose vectors its attitude turns into those of the other; not confirmed"},
    OptionSpec{.key = "address",
               .type = OptionType::integer,
               .unit = "",
               .fallback = "1",
               .min = 0,
               .max = 65535,
               .help = "number of the sensor on its bus"},
};

constexpr std::uint32_t kFlagsOfLegacy = [] {
  std::uint32_t flags = 0;
  for (const Field& f : kLegacy) flags |= 1U << f.bit;
  return flags;
}();

std::span<const Field> table_of(bool legacy) {
  return legacy ? std::span<const Field>(kLegacy) : std::span<const Field>(kIg1);
}

bool wants(const Options& options, Reading reading) {
  switch (reading) {
    case Reading::other:
    case Reading::raw_gyro:
      return false;
    case Reading::accel:
    case Reading::gyro:
      return true;
    case Reading::orientation:
      return options.flag("orientation");
    case Reading::mag:
    case Reading::temperature:
      return options.flag("extras");
  }
  return false;
}

bool is_legacy(const Options& options) { return options.text("generation") == "legacy"; }

std::uint32_t fields_of(const Options& options) {
  std::uint32_t bits = 0;
  for (const Field& f : table_of(is_legacy(options))) {
    if (wants(options, f.reading)) bits |= 1U << f.bit;
  }
  return bits;
}

std::size_t numbers_in(std::span<const Field> table, std::uint32_t fields) {
  std::size_t n = 0;
  for (const Field& f : table) n += (fields >> f.bit & 1) != 0 ? f.size : 0;
  return n;
}

// Its counter runs at the filter's rate, however often samples are sent.
hal::Duration tick_of(bool legacy, std::uint32_t rate_hz) {
  using namespace std::chrono_literals;
  if (!legacy) return 2ms;
  return rate_hz > 400 ? 1250us : 2500us;
}

Bytes data_of(const Frame& frame) {
  return frame.bytes.subspan(kHead, frame.bytes.size() - kAround);
}
unsigned function_of(const Frame& frame) { return wire::u16(frame.bytes, 3); }

hal::Text<25> text_of(const Frame& frame) {
  std::array<char, 25> chars{};
  const Bytes data = data_of(frame);
  std::memcpy(chars.data(), data.data(), std::min(data.size(), chars.size() - 1));
  return plain(hal::Text<25>::of("%s", chars.data()));
}

}  // namespace

std::size_t Lpms::Framing::measure(Bytes b) {
  if (wire::u8(b, 0) != 0x3A) return kNotAFrame;
  if (b.size() > 4 && wire::u8(b, 4) != 0) return kNotAFrame;  // no function is that large
  if (b.size() < kHead) return kNeedMore;
  const std::size_t size = kAround + wire::u16(b, 5);
  return size > kMaxFrame ? kNotAFrame : size;
}

bool Lpms::Framing::intact(Bytes frame) {
  const std::size_t n = frame.size() - 4;
  const bool ends = wire::u8(frame, n + 2) == 0x0D && wire::u8(frame, n + 3) == 0x0A;
  return ends &&
         static_cast<std::uint16_t>(wire::sum_of(frame.subspan(1, n - 1))) == wire::u16(frame, n);
}

std::span<const OptionSpec> Lpms::options() { return kOptions; }

Figures Lpms::figures(const Options& options, int) {
  const double rate = options.number("rate_hz");
  const std::size_t numbers = numbers_in(table_of(is_legacy(options)), fields_of(options));
  return {.packets_hz = rate, .bytes_per_s = rate * static_cast<double>(kAround + 4 + 4 * numbers)};
}

Finding Lpms::finding() {
  static constexpr std::array kBauds{115'200, 921'600};
  static constexpr std::array kVariants{Variant{"generation", "legacy", 115'200},
                                        Variant{"generation", "legacy", 921'600}};
  return {.bauds = kBauds, .asks_first = true, .variants = kVariants};
}

Lpms::Lpms(const Options& options)
    : legacy_(is_legacy(options)),
      address_(static_cast<unsigned>(options.integer("address"))),
      rate_hz_(static_cast<std::uint32_t>(options.integer("rate_hz"))),
      fields_(fields_of(options)),
      accel_unit_(options.text("accel_sign") == "negative" ? -kGravity : kGravity),
      inverse_(options.text("attitude_of") == "world"),
      tick_(tick_of(legacy_, rate_hz_)),
      radians_(legacy_) {}

void Lpms::restart() {
  radians_ = legacy_;
  narrow_ = false;
  model_.clear(), firmware_.clear(), about_.clear();
}

ClockModel Lpms::clock_model() const {
  return {.modulus = tick_ * (std::int64_t{1} << 32), .period = hal::from_seconds(1.0 / rate_hz_)};
}

hal::Duration Lpms::max_silence() const {
  return std::max<hal::Duration>(std::chrono::milliseconds(250), hal::from_seconds(3.0 / rate_hz_));
}

// Some firmwares acknowledge less than they should: what is set is read back.
std::span<const Step<Lpms>> Lpms::start_script() {
  using namespace std::chrono_literals;
  using D = Lpms;
  constexpr auto kFail = IfUnanswered::fail, kGoOn = IfUnanswered::go_on;
  static constexpr std::array kBauds{115'200, 921'600};
  static constexpr std::array<Step<D>, 9> kSteps{{
      {"command mode", &D::command_mode, &D::acknowledged, 250ms, 4, kFail, kBauds},
      {"get firmware", &D::ask_firmware, &D::take_firmware, 250ms, 2, kGoOn},
      {"get model", &D::ask_model, &D::take_model, 250ms, 2, kGoOn},
      {"get serial number", &D::ask_serial, &D::take_serial, 250ms, 2, kGoOn},
      {"set fields", &D::set_fields, &D::acknowledged, 250ms, 2, kGoOn},
      {"set rate", &D::set_rate, &D::acknowledged, 250ms, 2, kGoOn},
      {"get fields", &D::ask_fields, &D::take_fields, 250ms, 3},
      {"get radians", &D::ask_radians, &D::take_radians, 250ms, 2, kGoOn},
      {"stream mode", &D::stream_mode, &D::acknowledged, 250ms, 3, kGoOn},
  }};
  return kSteps;
}

std::span<const Step<Lpms>> Lpms::stop_script() {
  using namespace std::chrono_literals;
  using D = Lpms;
  static constexpr std::array<Step<D>, 1> kSteps{
      {{"command mode", &D::command_mode, &D::acknowledged, 100ms, 3, IfUnanswered::go_on}}};
  return kSteps;
}

void Lpms::say(Request& request, unsigned function, std::optional<std::uint32_t> value) const {
  request.u8(0x3A).u16(address_).u16(function).u16(value ? 4 : 0);
  if (value) request.u32(*value);
  request.u16(wire::sum_of(request.view().subspan(1))).u8(0x0D).u8(0x0A);
}

Reply Lpms::acknowledged(const Frame& frame) {
  if (function_of(frame) == kAck) return Reply::done();
  if (function_of(frame) != kNack) return Reply::not_mine();
  return Reply::refused(hal::Text<96>::of("not taken (nack)"));
}

// Legacy devices take this for a question after their number, and answer with 32 bits.
Reply Lpms::take_firmware(const Frame& frame) {
  const bool refused = function_of(frame) == kNack;
  if (function_of(frame) != 0x15 && !refused) return Reply::not_mine();
  const bool legacy = refused || data_of(frame).size() <= 4;
  if (legacy != legacy_) {
    return Reply::refused(hal::Text<96>::of("it is of the other generation: write 'generation: %s'",
                                            legacy ? "legacy" : "ig1"));
  }
  if (!legacy) firmware_ = text_of(frame);
  return Reply::done();
}

Reply Lpms::take_model(const Frame& frame) {
  if (function_of(frame) != 0x14) return Reply::not_mine();
  model_ = text_of(frame);
  return Reply::done();
}

Reply Lpms::take_serial(const Frame& frame) {
  if (function_of(frame) != 0x16) return Reply::not_mine();
  about_.print("%s, serial %s, firmware %s", model_.c_str(), text_of(frame).c_str(),
               firmware_.c_str());
  return Reply::done();
}

Reply Lpms::take_fields(const Frame& frame) {
  if (function_of(frame) != (legacy_ ? 4U : 0x1FU) || data_of(frame).size() != 4) {
    return Reply::not_mine();
  }
  const std::uint32_t told = wire::u32(data_of(frame), 0);
  const std::uint32_t on = legacy_ ? told & kFlagsOfLegacy : told;
  if (on != fields_) {
    return Reply::refused(hal::Text<96>::of("it sends fields 0x%X, 0x%X were asked for",
                                            static_cast<unsigned>(on),
                                            static_cast<unsigned>(fields_)));
  }
  narrow_ = legacy_ && (told >> kNarrow & 1) != 0;
  return Reply::done();
}

Reply Lpms::take_radians(const Frame& frame) {
  if (function_of(frame) != 0x25 || data_of(frame).size() != 4) return Reply::not_mine();
  radians_ = wire::u32(data_of(frame), 0) != 0;
  return Reply::done();
}

std::size_t Lpms::data_size() const {
  return 4 + numbers_in(table_of(legacy_), fields_) * (narrow_ ? 2 : 4);
}

void Lpms::decode(const Frame& frame, Decoded& out) {
  if (function_of(frame) != kData) return;
  Bytes data = data_of(frame);
  if (data.size() != data_size()) return out.undecodable();
  const std::int64_t counter = wire::u32(data, 0);
  data = data.subspan(4);
  ImuSample sample;
  for (const Field& field : table_of(legacy_)) {
    if ((fields_ >> field.bit & 1) == 0) continue;
    const std::size_t size = field.size * (narrow_ ? 2 : 4);
    take(field, data.first(size), sample);
    data = data.subspan(size);
  }
  if (!inertial::is_sensible(sample, {})) return out.undecodable();
  out.add(sample, {.source = Timing::Source::clock,
                   .raw_ns = counter * tick_.count(),
                   .arrival = frame.last_at,
                   .bytes = frame.bytes.size()});
}

void Lpms::take(const Field& field, Bytes b, ImuSample& into) const {
  const auto number = [&](std::size_t i) {
    return narrow_ ? wire::i16(b, 2 * i) / field.steps : double{wire::f32(b, 4 * i)};
  };
  const auto vector = [&](double unit) {
    return inertial::Vector{number(0) * unit, number(1) * unit, number(2) * unit};
  };
  switch (field.reading) {
    case Reading::accel:
      into.accel = vector(accel_unit_);
      break;
    case Reading::gyro:
    case Reading::raw_gyro:
      into.gyro = vector(radians_ ? 1 : kRadPerDeg);
      break;
    case Reading::mag:
      into.mag = vector(1e-6);
      break;
    case Reading::orientation: {
      const double sign = inverse_ ? -1 : 1;
      into.orientation =
          inertial::from_enu_flu({number(0), sign * number(1), sign * number(2), sign * number(3)});
      break;
    }
    case Reading::temperature:
      into.temperature = number(0);
      break;
    case Reading::other:
      break;
  }
}

}  // namespace drivers
