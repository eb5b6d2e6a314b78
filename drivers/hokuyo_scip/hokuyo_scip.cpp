#include "drivers/hokuyo_scip/hokuyo_scip.h"

#include <algorithm>

namespace drivers {

using namespace scip;
using namespace std::chrono_literals;

namespace {

constexpr hal::Duration kModulus = std::chrono::milliseconds(1 << 24);

constexpr std::array kOptions{
    OptionSpec{.key = "model",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "auto",
               .choices = "auto|URG-04LX|UBG-04LX|UTM-30LX|UST-10LX",
               .help = "for the budgets, and for recorded bytes without PP; what the device tells "
                       "counts"},
    OptionSpec{.key = "mode",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "MD",
               .choices = "MD|MS|ME|ND|NE|GD|GS|GE|HD|HE",
               .help =
                   "M, N: a stream; G, H: scan by scan; N, H: with up to two further returns; S: "
                   "to 4095 mm in fewer bytes; E: with intensities"},
    OptionSpec{.key = "skip",
               .type = OptionType::integer,
               .unit = "",
               .fallback = "0",
               .min = 0,
               .max = 9,
               .help = "scans to leave out between two, for slow lines"},
    OptionSpec{.key = "group",
               .type = OptionType::integer,
               .unit = "",
               .fallback = "1",
               .min = 1,
               .max = 99,
               .help = "steps of which only the nearest is sent, for slow lines"},
    OptionSpec{
        .key = "time_sync",
        .type = OptionType::flag,
        .unit = "",
        .fallback = "true",
        .help =
            "read the device's clock before the start and every 30 s, which bounds the latency"},
    OptionSpec{.key = "stamp",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "first",
               .choices = "first|rear|last",
               .help =
                   "where the device stamps its turn: at its first step, at the rear before it, "
                   "at the last step"},
};

}  // namespace

std::span<const OptionSpec> HokuyoScip::options() { return kOptions; }

// Of a model that is not known: the most beams and turns, and what the line carries.
Figures HokuyoScip::figures(const Options& options, int) {
  constexpr Geometry kMost{0, 0, static_cast<int>(kMostBeams) - 1, 0, 2400, 0, 0};
  const Geometry* const known = geometry_of(options.text("model"));
  const Geometry& g = known ? *known : kMost;
  const Symbol& mode = *find_symbol(options.text("mode"));
  const auto beams = static_cast<std::size_t>((g.last - g.first) / options.integer("group")) + 1;
  const double hz = 1 / g.turn_s() / (1 + options.integer("skip"));
  const std::size_t bytes =
      16 + kStatusLine + kStampLine + in_lines(most_characters(mode, beams)) + 1;
  // A polled scan waits for as long as a turn.
  const bool polled = mode.body == Body::polled;
  return {.packets_hz = hz,
          .turns_hz = hz,
          .beams_per_turn = beams,
          .bytes_per_s = known ? static_cast<double>(bytes) * hz : 0,
          .delivery = polled ? hal::from_seconds(g.turn_s()) : hal::Duration{}};
}

HokuyoScip::HokuyoScip(const Options& options)
    : mode_(*find_symbol(options.text("mode"))),
      polls_(mode_.body == Body::polled),
      synchronises_(options.flag("time_sync")),
      skip_(options.integer("skip")),
      group_(options.integer("group")),
      stamp_(options.text("stamp") == "rear"   ? StampAt::rear
             : options.text("stamp") == "last" ? StampAt::last
                                               : StampAt::first),
      configured_(geometry_of(options.text("model"))),
      two_way_(kModulus, 1ms) {
  restart();
}

void HokuyoScip::restart() {
  is_scip1_ = is_adjusting_ = changes_rate_ = was_reset_ = false;
  baud_ = exchanges_ = 0;
  two_way_.forget();
  model_.clear(), firmware_.clear(), serial_.clear(), state_.clear();
  knows_geometry_ = configured_ != nullptr;
  if (configured_) geometry_ = *configured_;
  polled_ms_ = -1;
  turn_ = {};
}

ClockModel HokuyoScip::clock_model() const { return {.modulus = kModulus, .quantum = 1ms}; }

// Three scans; on a slow line a whole one and what its device left out meanwhile.
hal::Duration HokuyoScip::max_silence() const {
  if (!knows_geometry_) return 1s;
  const auto beams = static_cast<std::size_t>((geometry_.last - geometry_.first) / group_ + 1);
  const auto bytes = static_cast<double>(in_lines(beams * mode_.width));
  const double scan_s = geometry_.turn_s() * (1 + skip_);
  const double line_s = baud_ > 0 ? bytes * 10 / baud_ : 0;
  return std::max<hal::Duration>(
      300ms, hal::from_seconds(std::max(3 * scan_s, 1.25 * line_s + 2 * scan_s)));
}

hal::Text<96> HokuyoScip::about() const {
  hal::Text<96> text;
  if (model_.empty()) return text;
  text.print("%s, firmware %s, serial %s, %g Hz", model_.c_str(), firmware_.c_str(),
             serial_.c_str(), 1 / geometry_.turn_s());
  if (!two_way_.has_exchanged()) return text;
  return hal::Text<96>::of("%s, clock known to %.1f ms", text.c_str(),
                           1e3 * hal::to_seconds(two_way_.uncertainty()));
}

void HokuyoScip::decode(const Frame& frame, Decoded& out) {
  const Head head = head_of(frame.bytes);
  if (head.has(Body::info)) return learn(head, frame.bytes);
  if (head.has_scan()) return decode_scan(head, frame, out);
  if (is_trouble(head.status)) out.fault(in_words(head.status));
}

// VV, PP and II have no key in common. Steps and speed count when all of them are there.
void HokuyoScip::learn(const Head& head, Bytes frame) {
  Geometry told{};
  for_each_info(head, frame, [&](std::string_view key, std::string_view value) {
    const auto note = [value](hal::Text<32>& text, char end) {
      const std::string_view part = value.substr(0, value.find(end));
      text.print("%.*s", static_cast<int>(part.size()), part.data());
    };
    if (key == "MODL") note(model_, '(');
    if (key == "PROD" && model_.empty()) note(model_, '(');
    if (key == "FIRM") note(firmware_, '(');
    if (key == "SERI") note(serial_, ';');
    if (key == "STAT") note(state_, ';');
    if (key == "TIME") told_time_ = time_in(value);
    const int n = number_in<int>(value).value_or(0);
    if (n < 0 || n > 1'000'000) return;
    if (key == "ARES") told.steps_per_turn = n;
    if (key == "AMIN") told.first = n;
    if (key == "AMAX") told.last = n;
    if (key == "AFRT") told.front = n;
    if (key == "SCAN") told.turns_per_minute = n;
    if (key == "DMIN") told.least_mm = static_cast<unsigned>(n);
    if (key == "DMAX") told.most_mm = static_cast<unsigned>(n);
  });
  if (!told.is_sane()) return;
  geometry_ = told;
  knows_geometry_ = true;
  turn_ = {};
}

void HokuyoScip::decode_scan(const Head& head, const Frame& frame, Decoded& out) {
  const Steps steps = steps_of(head);
  const std::int64_t ms = number_at<4>(&frame.bytes[head.size]);
  const std::int64_t before = std::exchange(polled_ms_, ms);
  if (head.has(Body::polled) && ms == before) return;  // it has not measured since
  if (!knows_geometry_) {                              // nobody told
    geometry_ = assumed_geometry(steps.first + static_cast<int>(steps.n) * steps.group - 1);
    knows_geometry_ = true;
  }
  if (!reader_.read(head, steps, frame.bytes, geometry_)) return out.undecodable();
  const Timing timing = timing_of(ms, steps, frame);
  out.add(ScanSlice{.step = turn_.length() / geometry_.steps_per_turn * steps.group,
                    .starts_turn = true,
                    .has_intensity = head.symbol->width == 6,
                    .beams = reader_.beams(),
                    .echoes = reader_.echoes()},
          timing);
}

Timing HokuyoScip::timing_of(std::int64_t ms, const Steps& steps, const Frame& frame) {
  if (!turn_.is_known()) turn_.begin(geometry_.turn_s());
  turn_.see(ms);
  const hal::Duration per_step = turn_.length() / geometry_.steps_per_turn;
  const auto last = static_cast<std::int64_t>(steps.n - 1) * steps.group;
  const hal::Duration to_first = per_step * (steps.first - stamped_step());
  const hal::Duration raw = std::chrono::milliseconds(ms);
  Timing timing{.source = Timing::Source::clock,
                .raw_ns = raw.count(),
                .arrival = frame.last_at,
                .bytes = frame.bytes.size(),
                .to_first = to_first,
                .held = std::max(to_first + per_step * last, hal::Duration{}),
                .period = turn_.length()};
  two_way_.arrived(raw, frame.last_at);
  if (two_way_.knows_latency()) timing.least = two_way_.least(), timing.most = two_way_.most();
  return timing;
}

int HokuyoScip::stamped_step() const {
  switch (stamp_) {
    case StampAt::first:
      return geometry_.first;
    case StampAt::rear:
      return geometry_.front - geometry_.steps_per_turn / 2;
    case StampAt::last:
      return geometry_.last;
  }
  return 0;
}

}  // namespace drivers
