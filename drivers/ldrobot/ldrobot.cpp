#include "drivers/ldrobot/ldrobot.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "drivers/rounding.h"
#include "drivers/wire.h"

namespace drivers {
namespace {

constexpr double kRadPerDeg = std::numbers::pi / 180;
constexpr unsigned kTurn = 36000;  // 0.01 deg; a full turn is 0
constexpr unsigned kStart = 0xA0, kStop = 0xA1, kSetSpeed = 0xA2;

struct Model {
  std::string_view name;
  double beams_per_s;
  double turns_hz;
  bool takes_commands, triangulates;
};
constexpr std::array kModels{
    Model{"LD06", 4500, 10, false, false},    Model{"LD19", 4500, 10, false, false},
    Model{"STL-06P", 5000, 10, false, false}, Model{"STL-19P", 5000, 10, false, false},
    Model{"STL-26", 5000, 10, false, false},  Model{"STL-27L", 21600, 10, false, false},
    Model{"LD14", 2300, 6, true, true},       Model{"LD14P", 4000, 6, true, true},
};

// 0: as it is. Below 2 the motor would not turn.
double asked_hz(const Options& options) {
  const double hz = options.number("scan_hz");
  return hz > 0 ? std::max(hz, 2.0) : 0;
}

const Model& model_of(const Options& options) {
  const auto found = std::ranges::find(kModels, options.text("model"), &Model::name);
  return found == kModels.end() ? kModels[1] : *found;
}

constexpr std::array kOptions{
    OptionSpec{.key = "model",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "LD19",
               .choices = "LD06|LD19|STL-06P|STL-19P|STL-26|STL-27L|LD14|LD14P",
               .help = "sets the beam rate; LD14 and LD14P take commands and triangulate"},
    OptionSpec{.key = "scan_hz",
               .type = OptionType::number,
               .unit = "Hz",
               .fallback = "0",
               .min = 0,
               .max = 8,
               .help = "turns per second to ask an LD14 or LD14P for, at least 2; 0: as it is"},
};

}  // namespace

std::size_t LdrobotFraming::measure(Bytes b) {
  if (wire::u8(b, 0) != 0x54) return kNotAFrame;
  if (b.size() < 2) return kNeedMore;
  switch (wire::u8(b, 1)) {
    case 0x2C:
      return 47;
    case 0xE0:
      return 4;
    case 0x0F:
      return 23;
    case kStart:
    case kStop:
    case kSetSpeed:
    case 0xA8:
      if (b.size() < 3) return kNeedMore;
      return wire::u8(b, 2) == 4 ? 8 : kNotAFrame;
    default:
      return kNotAFrame;
  }
}

bool LdrobotFraming::intact(Bytes frame) {
  return wire::crc8<0x4D>(frame.first(frame.size() - 1)) == wire::u8(frame, frame.size() - 1);
}

// Nothing but the rate of its beams tells which one it is.
Finding Ldrobot::finding() {
  static constexpr std::array kBauds{230'400, 921'600, 115'200};
  static constexpr std::array kVariants{Variant{"model", "LD14P", 230'400},
                                        Variant{"model", "LD14", 115'200}};
  return {.bauds = kBauds, .variants = kVariants, .advise = [](const Seen& seen) {
            const auto off = [&](const Model& m) {
              return std::abs(m.beams_per_s - seen.beams_hz);
            };
            const Model* nearest = &model_of(Options(kOptions));
            for (const Model& m : kModels) {
              if (seen.beams_hz > 0 && off(m) < off(*nearest)) nearest = &m;
            }
            std::string others;
            for (const Model& m : kModels) {
              if (&m == nearest || m.beams_per_s != nearest->beams_per_s) continue;
              others.append(others.empty() ? "as fast: " : ", ").append(m.name);
            }
            return std::vector<Advice>{{"model", std::string(nearest->name), others}};
          }};
}

std::span<const OptionSpec> Ldrobot::options() { return kOptions; }

Figures Ldrobot::figures(const Options& options, int) {
  const Model& model = model_of(options);
  const double asked = asked_hz(options);
  const double turns = model.takes_commands && asked > 0 ? asked : model.turns_hz;
  const double packets = model.beams_per_s / kBeams;
  // A motor that is slow to spin up measures more beams in a turn than the nominal speed gives.
  const auto beams = static_cast<std::size_t>(model.beams_per_s / turns * 2);
  return {packets, turns, beams, packets * 47, {}};
}

Ldrobot::Ldrobot(const Options& options)
    : beams_per_s_(model_of(options).beams_per_s),
      takes_commands_(model_of(options).takes_commands),
      triangulates_(model_of(options).triangulates),
      speed_(static_cast<unsigned>(std::lround(asked_hz(options) * 360))) {}

void Ldrobot::restart() {
  last_angle_ = -1;
  shift_ = 0;
}

// The stamp counts milliseconds while a packet spans 2.7: nominal packet times carry it on.
ClockModel Ldrobot::clock_model() const {
  return {.modulus = std::chrono::seconds(30),
          .quantum = std::chrono::milliseconds(1),
          .period = hal::from_seconds(kBeams / beams_per_s_)};
}

std::span<const Step<Ldrobot>> Ldrobot::start_script() {
  using namespace std::chrono_literals;
  static constexpr std::array<Step<Ldrobot>, 2> kSteps{{
      {"set scan frequency", &Ldrobot::set_speed, &Ldrobot::acknowledged, 200ms, 2,
       IfUnanswered::go_on},
      {"start", &Ldrobot::send_start, &Ldrobot::acknowledged, 200ms, 2, IfUnanswered::go_on},
  }};
  return kSteps;
}

std::span<const Step<Ldrobot>> Ldrobot::stop_script() {
  using namespace std::chrono_literals;
  static constexpr std::array<Step<Ldrobot>, 1> kSteps{
      {{"stop", &Ldrobot::send_stop, &Ldrobot::acknowledged, 100ms, 2, IfUnanswered::go_on}}};
  return kSteps;
}

namespace {

void command(Request& request, unsigned mode, std::uint32_t value) {
  request.u8(0x54).u8(mode).u8(4).u32(value);
  request.u8(wire::crc8<0x4D>(request.view()));
}

}  // namespace

bool Ldrobot::set_speed(Request& request) {
  if (!takes_commands_ || speed_ == 0) return false;
  command(request, asked_ = kSetSpeed, speed_);
  return true;
}

bool Ldrobot::send_start(Request& request) {
  if (!takes_commands_) return false;
  command(request, asked_ = kStart, 0);
  return true;
}

bool Ldrobot::send_stop(Request& request) {
  if (!takes_commands_) return false;
  command(request, asked_ = kStop, 0);
  return true;
}

Reply Ldrobot::acknowledged(const Frame& frame) {
  return wire::u8(frame.bytes, 1) == asked_ ? Reply::done() : Reply::not_mine();
}

void Ldrobot::decode(const Frame& frame, Decoded& out) {
  if (wire::u8(frame.bytes, 1) == 0x2C) decode_scan(frame, out);
}

void Ldrobot::decode_scan(const Frame& frame, Decoded& out) {
  const Bytes b = frame.bytes;
  if (wire::u16(b, 4) > kTurn || wire::u16(b, 42) > kTurn) return out.undecodable();
  const double first = wire::u16(b, 4) % kTurn * 0.01, last = wire::u16(b, 42) % kTurn * 0.01;

  const double step = within(last - first + 360, 360) / (kBeams - 1);
  for (std::size_t i = 0; i < kBeams; ++i) {
    const std::size_t at = 6 + i * 3;
    const unsigned mm = wire::u16(b, at);
    const double angle = true_angle(first + step * static_cast<double>(i), mm);
    beams_[i] = {static_cast<float>(-angle * kRadPerDeg),  // the device turns clockwise
                 static_cast<float>(mm) * 1e-3f, static_cast<float>(wire::u8(b, at + 2))};
  }
  // A frame that comes again is no turn.
  const bool starts_turn = first < last_angle_ - 180 || last < first;
  last_angle_ = last;

  // The packet is sent, and stamped, when its last beam has been measured.
  const auto per_beam = hal::from_seconds(1 / beams_per_s_);
  const Timing timing{.source = Timing::Source::clock,
                      .raw_ns = std::int64_t{wire::u16(b, 44)} * 1'000'000,
                      .arrival = frame.last_at,
                      .bytes = b.size(),
                      .to_first = -per_beam * (std::int64_t{kBeams} - 1)};
  out.add(ScanSlice{.step = per_beam,
                    .starts_turn = starts_turn,
                    .has_intensity = true,
                    .beams = beams_},
          timing);
}

// LD14 and LD14P triangulate from beside the axis: the angle depends on the distance (mm).
double Ldrobot::true_angle(double angle_deg, unsigned mm) {
  if (!triangulates_) return angle_deg;
  if (mm > 0) shift_ = std::atan2(0.11923 * mm - 18.975571, mm + 5.9) / kRadPerDeg;
  return angle_deg - shift_;
}

}  // namespace drivers
