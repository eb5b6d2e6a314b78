#include "drivers/sick_cola/sick_cola.h"

#include <algorithm>
#include <cmath>

namespace drivers {
namespace {

using cola::Dialect;
using sick_cola::Scan;

constexpr std::int64_t kWrap = std::int64_t{1'000} << 32;  // ns
constexpr std::size_t kUsualBeams = 1441;                  // a whole turn of a quarter degree
constexpr double kFastest = 100, kSlowest = 15;            // Hz, unless it is told
constexpr std::uint32_t kLongestHeld = 1'000'000;          // us from the stamp to the transmission

constexpr std::array kOptions{
    OptionSpec{.key = "dialect",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "auto",
               .choices = "auto|binary|ascii",
               .help = "CoLa B or A; auto: as the device is set, else it is switched over"},
    OptionSpec{.key = "login",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "auto",
               .choices = "auto|client|safety|service|none",
               .help = "user level, with its published password; auto: client, or that of safety "
                       "variants; none: nothing is set, scans are only asked for"},
    OptionSpec{.key = "frequency_hz",
               .type = OptionType::number,
               .unit = "Hz",
               .fallback = "0",
               .min = 0,
               .max = 100,
               .help = "scans per second, of models that can choose; 0: as it is set"},
    OptionSpec{.key = "resolution_deg",
               .type = OptionType::number,
               .unit = "deg",
               .fallback = "0",
               .min = 0,
               .max = 2,
               .help = "angle between two beams; 0: as it is set, at most 1441 beams a scan"},
    OptionSpec{.key = "start_deg",
               .type = OptionType::number,
               .unit = "deg",
               .fallback = "-180",
               .min = -180,
               .max = 180,
               .help = "first angle that is sent, 0 is the front; -180: as it is set"},
    OptionSpec{.key = "end_deg",
               .type = OptionType::number,
               .unit = "deg",
               .fallback = "180",
               .min = -180,
               .max = 180,
               .help = "last angle that is sent; 180: as it is set"},
    OptionSpec{.key = "echoes",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "first",
               .choices = "first|all|last",
               .help = "which returns of a beam are sent, of models that tell several"},
    OptionSpec{.key = "intensities",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "16",
               .choices = "16|8|off",
               .help = "bits of the intensities; 8 where a model has no 16"},
    OptionSpec{.key = "layer_deg",
               .type = OptionType::number,
               .unit = "deg",
               .fallback = "0",
               .min = -90,
               .max = 90,
               .help = "elevation of the layer that is used, of models with several"},
    OptionSpec{.key = "stamp",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "auto",
               .choices = "auto|first_beam|last_beam",
               .help = "what the device's stamp is of; auto: of the first beam, or of the last "
                       "where it transmits too soon for that"},
};

std::uint32_t in_steps(double value, double per_unit) {
  return static_cast<std::uint32_t>(std::lround(value * per_unit));
}

std::optional<std::int32_t> limit(double deg, std::int32_t front) {
  if (std::abs(deg) >= 180) return std::nullopt;
  return static_cast<std::int32_t>(std::lround(deg * 1e4)) + front;
}

std::size_t room(const Options& options) {
  const double step = options.number("resolution_deg");
  if (step <= 0) return kUsualBeams;
  const double span = std::max(options.number("end_deg") - options.number("start_deg"), step);
  return std::min(static_cast<std::size_t>(std::ceil(span / step)) + 1,
                  sick_cola::ScanReader::kMostBeams);
}

template <class Choice>
Choice choice(const Options& options, std::string_view key,
              std::initializer_list<std::pair<std::string_view, Choice>> names) {
  const auto found =
      std::ranges::find(names, options.text(key), &std::pair<std::string_view, Choice>::first);
  return found == names.end() ? names.begin()->second : found->second;
}

}  // namespace

std::span<const OptionSpec> SickCola::options() { return kOptions; }

// The rest of a turn passes before a scan is sent, and some milliseconds more.
Figures SickCola::figures(const Options& options, int) {
  const double told = options.number("frequency_hz"), hz = told > 0 ? told : kFastest;
  const std::size_t beams = room(options);
  const double values =
      (options.text("echoes") == "all" ? 5 : 1) * (options.text("intensities") == "off" ? 2 : 4);
  return {.packets_hz = hz,
          .turns_hz = hz,
          .beams_per_turn = beams,
          .bytes_per_s = hz * (200 + values * static_cast<double>(beams)),
          .delivery = hal::from_seconds(0.5 / (told > 0 ? told : kSlowest) + 0.01)};
}

Finding SickCola::finding() {
  static constexpr std::array<std::uint16_t, 2> kPorts{2112, 2111};
  return {.asks_first = true, .tcp = kPorts};
}

// A scan alone fills what there is to look at: the head of a telegram tells enough.
double SickCola::likeness(Bytes b) {
  std::size_t framed = 0;
  for (std::size_t at = 0; at < b.size();) {
    const Bytes rest = b.subspan(at);
    const std::size_t n = cola::measure(rest, Framing::kMaxFrame);
    if (n == kNeedMore) break;
    if (n != kNotAFrame && (n > rest.size() || cola::intact(rest.first(n)))) {
      framed += std::min(n, rest.size());
      at += n;
    } else {
      ++at;
    }
  }
  return static_cast<double>(framed) / static_cast<double>(b.size());
}

SickCola::SickCola(const Options& options)
    : wanted_dialect_(choice<std::optional<Dialect>>(
          options, "dialect",
          {{"auto", std::nullopt}, {"binary", Dialect::binary}, {"ascii", Dialect::ascii}})),
      login_(choice<Login>(options, "login",
                           {{"auto", Login::automatic},
                            {"client", Login::client},
                            {"safety", Login::safety},
                            {"service", Login::service},
                            {"none", Login::none}})),
      frequency_(in_steps(options.number("frequency_hz"), 100)),
      step_(in_steps(options.number("resolution_deg"), 1e4)),
      first_(limit(options.number("start_deg"), kFront)),
      last_(limit(options.number("end_deg"), kFront)),
      echoes_(
          choice<Echoes>(options, "echoes",
                         {{"first", Echoes::first}, {"all", Echoes::all}, {"last", Echoes::last}})),
      intensity_bits_(choice<unsigned>(options, "intensities", {{"16", 16}, {"8", 8}, {"off", 0}})),
      stamp_(choice<Stamp>(options, "stamp",
                           {{"auto", Stamp::automatic},
                            {"first_beam", Stamp::first_beam},
                            {"last_beam", Stamp::last_beam}})),
      layer_(static_cast<int>(std::lround(options.number("layer_deg") * 100))),
      most_beams_(room(options)) {}

void SickCola::restart() {
  asked_ = answered_ = as_safety_client_ = false;
  bits_ = intensity_bits_;
  polls_ = 0;
  model_.clear(), firmware_.clear(), serial_.clear();
  pace_ = {};
  field_ = {};
  scans_.forget();
}

ClockModel SickCola::clock_model() const { return {.modulus = hal::Duration(kWrap)}; }

hal::Duration SickCola::max_silence() const {
  const auto least = hal::Duration(std::chrono::milliseconds(400));
  return scans_hz_ > 0 ? std::max(least, hal::from_seconds(3 / scans_hz_)) : least;
}

hal::Text<96> SickCola::about() const {
  hal::Text<96> text;
  if (!answered_) return text;
  text.print("%s%s%s%s%s, CoLa %c", model_.empty() ? "SICK" : model_.c_str(),
             firmware_.empty() ? "" : " ", firmware_.c_str(), serial_.empty() ? "" : ", serial ",
             serial_.c_str(), dialect_ == Dialect::binary ? 'B' : 'A');
  if (scans_hz_ > 0) {
    text =
        hal::Text<96>::of("%s, %g Hz, %.4g deg", hal::Text<96>(text).c_str(), scans_hz_, step_deg_);
  }
  return text;
}

void SickCola::decode(const Frame& frame, Decoded& out) {
  const cola::Telegram telegram = cola::telegram_in(frame.bytes);
  if (telegram.name != "LMDscandata" || (telegram.kind != "sSN" && telegram.kind != "sRA")) return;
  const std::optional<Scan> scan = reader_.read(telegram.fields);
  if (!scan) return out.undecodable();
  out.lost(scans_.missing_before(scan->scans));
  const bool may_have_layers = model_.empty() || model_.view().starts_with("MRS");
  if (scan->beams.empty() || (may_have_layers && scan->layer != layer_)) return;
  scans_hz_ = scan->scans_hz;
  step_deg_ = scan->step_deg;
  out.add(ScanSlice{.step = scan->step(),
                    .starts_turn = true,
                    .has_intensity = scan->has_intensity,
                    .beams = scan->beams,
                    .echoes = scan->echoes},
          timing_of(frame, *scan));
}

Timing SickCola::timing_of(const Frame& frame, const Scan& scan) const {
  const std::uint32_t held = scan.transmitted - scan.since_power_up;
  const bool told = held <= kLongestHeld;
  const hal::Duration until_sent = told ? std::chrono::microseconds(held) : hal::Duration{};
  const bool of_last = stamp_ == Stamp::last_beam ||
                       (stamp_ == Stamp::automatic && told && until_sent < scan.span());
  Timing timing{.source = Timing::Source::clock,
                .raw_ns = std::int64_t{scan.since_power_up} * 1'000,
                .arrival = frame.last_at};
  timing.to_first = of_last ? -scan.span() : hal::Duration{};
  timing.held = of_last ? until_sent : std::max(until_sent, scan.span());
  return timing;
}

}  // namespace drivers
