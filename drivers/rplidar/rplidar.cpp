#include "drivers/rplidar/rplidar.h"

#include <cmath>

#include "drivers/recognise.h"
#include "drivers/wire.h"

namespace drivers {

using namespace rplidar;

namespace {

constexpr std::array kOptions{
    OptionSpec{.key = "mode",
               .type = OptionType::text,
               .unit = "",
               .fallback = "typical",
               .help = "scan mode: typical, or a name the device knows, such as Standard, Express, "
                       "Boost, Sensitivity, Stability, DenseBoost"},
    OptionSpec{.key = "motor",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "auto",
               .choices = "auto|dtr|pwm|rpm|none",
               .help = "how the motor is switched; auto: by model; none: not by us"},
    OptionSpec{.key = "rpm",
               .type = OptionType::integer,
               .unit = "1/min",
               .fallback = "0",
               .min = 0,
               .max = 1500,
               .help = "speed of a motor set by rpm (S and T models); 0: the device's own"},
    OptionSpec{.key = "pwm",
               .type = OptionType::integer,
               .unit = "",
               .fallback = "0",
               .min = 0,
               .max = 1023,
               .help = "speed of a motor on an accessory board (A2, A3); 0: the device's own"},
    OptionSpec{.key = "answer",
               .type = OptionType::integer,
               .unit = "",
               .fallback = "0x82",
               .min = 0x81,
               .max = 0x86,
               .help = "recordings: format of measurements before the first descriptor"},
    OptionSpec{.key = "sample_us",
               .type = OptionType::number,
               .unit = "us",
               .fallback = "0",
               .min = 0,
               .max = 2000,
               .help = "time between two samples; 0: what the device tells, or usual for the "
                       "format"},
    OptionSpec{.key = "max_beams",
               .type = OptionType::integer,
               .unit = "",
               .fallback = "0",
               .min = 0,
               .max = 16384,
               .help = "room for the beams of one turn; 0: what the line can carry at the usual "
                       "motor speeds"},
};

// 25 turns per second; 8000 nodes; of the capsules with most samples, 96, the slowest typical mode
// is that of the A1: 127 us a sample.
constexpr double kMostTurnsHz = 25, kMostNodesHz = 8000, kSlowestUs = 127;
constexpr double kMostSamplesHz = 32'000, kDensestSamples = 96, kDensestBytes = 132;
constexpr double kSlowestNodeUs = 508;
constexpr double kLeastSamples = 32;  // of a capsule
constexpr int kSlowLine = 256'000;    // up to here the A series and S1

}  // namespace

Finding Rplidar::finding() {
  static constexpr std::array kBauds{115'200, 256'000, 460'800, 1'000'000};
  static constexpr std::array<std::uint16_t, 1> kUdp{8089}, kTcp{20108};
  return {.bauds = kBauds, .asks_first = true, .udp = kUdp, .tcp = kTcp};
}

std::span<const OptionSpec> Rplidar::options() { return kOptions; }

// Only the device knows its rates: bounds that hold for all models on such a line. Each fits its
// own line, so no load is given for that. The last beam of a cloud may be the first of its
// capsule, which waits for its successor, which takes no longer on the line than to measure: three
// capsules.
Figures Rplidar::figures(const Options& options, int baud) {
  const double line_hz = baud / 10.0 / kDensestBytes * kDensestSamples;
  const double samples_hz = baud > 0 ? std::min(line_hz, kMostSamplesHz) : kMostSamplesHz;
  const double slowest_hz = baud > 0 && baud <= kSlowLine ? 5 : 8;  // turns
  const int asked = options.integer("max_beams");
  const double beams = asked > 0 ? asked : std::ceil(samples_hz / slowest_hz);
  const double sample_us = options.number("sample_us");
  const bool nodes = same_name(options.text("mode"), "Standard");
  const double nodes_us =
      static_cast<double>(kGathered) * (sample_us > 0 ? sample_us : kSlowestNodeUs);
  const double capsule_us =
      static_cast<double>(kMostSamples) * (sample_us > 0 ? sample_us : kSlowestUs);
  return {.packets_hz = nodes ? kMostNodesHz : samples_hz / kLeastSamples,
          .turns_hz = kMostTurnsHz,
          .beams_per_turn = static_cast<std::size_t>(beams),
          .bytes_per_s = 0,
          .delivery = hal::from_seconds(nodes ? 1e-6 * nodes_us : 3e-6 * capsule_us)};
}

Rplidar::Rplidar(const Options& options)
    : mode_(options.text("mode")),
      fixed_sample_us_(options.number("sample_us")),
      motor_(options),
      framing_(static_cast<unsigned>(options.integer("answer"))),
      measurement_(fixed_sample_us_) {}

void Rplidar::restart() {
  framing_.forget();
  motor_.forget();
  about_.clear();
  is_ill_ = was_reset_ = has_conf_ = knows_mode_ = is_started_ = false;
  mode_id_ = mode_count_ = mode_answer_ = 0;
  mode_names_.clear();
  mode_us_ = standard_us_ = express_us_ = 0;
  measurement_.forget();
  measurement_.begin(fixed_sample_us_);
}

void Rplidar::begin_measurement() {
  const Answer answer = framing_.format()->answer;
  double us = fixed_sample_us_ > 0 ? fixed_sample_us_ : mode_us_;
  if (us == 0 && answer == Answer::standard) us = standard_us_;
  if (us == 0 && answer == Answer::express) us = express_us_;
  measurement_.begin(us);
}

void Rplidar::decode(const Frame& frame, Decoded& out) {
  switch (framing_.part()) {
    case Framing::Part::reply:
      return;
    case Framing::Part::loop:
      return begin_measurement();
    case Framing::Part::banner:
      measurement_.begin(fixed_sample_us_);
      return out.restarted();
    case Framing::Part::measurement:
      return measurement_.take(*framing_.format(), frame, framing_.saw_damage(), out);
  }
}

double Rplidar::likeness(Bytes b) {
  // Nodes have no check, so the same one again and again is nothing.
  const bool same = b.size() > 5 && std::ranges::equal(b.subspan(5), b.first(b.size() - 5));
  double most = same ? 0 : likeness_of(RplidarFraming(0x81), b);
  for (unsigned answer = 0x82; answer <= 0x86; ++answer) {
    most = std::max(most, likeness_of(RplidarFraming(answer), b));
  }
  return most;
}

}  // namespace drivers
