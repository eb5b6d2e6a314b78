#include "drivers/lslidar_m10/lslidar_m10.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "drivers/rounding.h"
#include "drivers/wire.h"

namespace drivers {
namespace {

constexpr double kRadPerUnit = std::numbers::pi / 18000;
constexpr unsigned kTurn = 36000, kSpan = 1500;  // 0.01 deg; of an M10's packet
constexpr unsigned kNone = 0xFFFF, kStrong = 0x8000;
constexpr double kPeriodsPerTurn = 24, kUsualHz = 10, kSlowestHz = 5, kMostHz = 20;
constexpr double kPointsHz = 4500;  // of an N10
constexpr unsigned kRun = 0x01, kSpeed = 0x0A;
constexpr std::array kBauds{230'400, 460'800, 500'000, 921'600};

constexpr std::array kOptions{
    OptionSpec{.key = "model",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "auto",
               .choices = "auto|N10|L10|N10P|M10|M10GPS|M10P|M10PLUS",
               .help = "auto: as the packets look"},
    OptionSpec{.key = "scan_hz",
               .type = OptionType::number,
               .unit = "Hz",
               .fallback = "0",
               .min = 0,
               .max = 20,
               .help =
                   "turns per second to ask for: 6 to 12 of an N10, N10P or L10, 5, 10 or 20 of "
                   "an M10PLUS; 0: as it is"},
    OptionSpec{.key = "strong_bit",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "auto",
               .choices = "auto|on|off",
               .help = "bit 15 of an M10's distance marks a strong reflector and is no distance; "
                       "auto: of M10 and M10GPS, not of M10P and M10PLUS"},
};

int strong_bit_of(const Options& options) {
  const std::string_view text = options.text("strong_bit");
  return text == "on" ? 1 : text == "off" ? 0 : -1;
}

// 188 bytes: what is to be done, its value, and two more where a command has them.
void command(Request& request, unsigned what, unsigned value, std::size_t at = 3,
             unsigned two = 0) {
  std::array<std::byte, LslidarFraming::kCommand> bytes{};
  const auto put = [&bytes](std::size_t to, unsigned v) {
    bytes[to] = static_cast<std::byte>(v >> 8), bytes[to + 1] = static_cast<std::byte>(v);
  };
  put(0, 0xA55A), put(2, 0x5500), put(at, two);
  put(184, what << 8 | value), put(186, 0xFAFB);
  request.bytes(bytes);
}

// How an asked speed is written; empty: this device does not take it.
struct SpeedField {
  std::size_t at;
  unsigned value;
};
std::optional<SpeedField> speed_field(const LslidarKind& kind, double hz) {
  const auto whole = static_cast<unsigned>(std::lround(hz));
  if (kind.is_summed && whole >= 6 && whole <= 12) return SpeedField{171, whole};
  const bool has = whole == 5 || whole == 10 || whole == 20;
  if (kind.model == "M10PLUS" && has) return SpeedField{141, whole * 60};
  return std::nullopt;
}

// Of `size` layouts the most demanding.
Figures figures_of(const LslidarKind& kind) {
  const double points = static_cast<double>(kind.points);
  if (kind.is_summed) {
    const double packets = kPointsHz / points;
    return {packets,
            12,
            static_cast<std::size_t>(kPointsHz / kSlowestHz) + kind.points,
            packets * static_cast<double>(kind.size),
            {}};
  }
  const double most_hz = kind.model == "M10P" ? 13 : kMostHz;
  return {.packets_hz = kPeriodsPerTurn * most_hz,
          .turns_hz = most_hz,
          .beams_per_turn = 25 * kind.points,
          .bytes_per_s = kPeriodsPerTurn * kUsualHz * static_cast<double>(kind.size),
          .delivery = hal::from_seconds(1 / kPeriodsPerTurn / kSlowestHz)};
}

}  // namespace

Finding LslidarM10::finding() {
  static constexpr std::uint16_t kUdp[] = {2368};
  return {.bauds = kBauds, .udp = kUdp};
}

std::span<const OptionSpec> LslidarM10::options() { return kOptions; }

Figures LslidarM10::figures(const Options& options, int) {
  if (const LslidarKind* const kind = find_lslidar_kind(options.text("model"))) {
    return figures_of(*kind);
  }
  Figures most{};
  for (const LslidarKind& kind : lslidar_kinds()) {
    const Figures f = figures_of(kind);
    most.packets_hz = std::max(most.packets_hz, f.packets_hz);
    most.turns_hz = std::max(most.turns_hz, f.turns_hz);
    most.beams_per_turn = std::max(most.beams_per_turn, f.beams_per_turn);
    most.delivery = std::max(most.delivery, f.delivery);
  }
  return most;
}

LslidarM10::LslidarM10(const Options& options)
    : framing_(find_lslidar_kind(options.text("model"))),
      asked_hz_(options.number("scan_hz")),
      strong_bit_(strong_bit_of(options)) {
  restart();
}

void LslidarM10::restart() {
  framing_.forget();
  turn_ns_ = 1e9 / kUsualHz;
  last_ = -1;
  since_turn_ = kTurn;
  told_ = nullptr;
  about_.clear();
}

// Nothing is answered: what is heard tells that it was started, and at which rate.
std::span<const Step<LslidarM10>> LslidarM10::start_script() {
  using namespace std::chrono_literals;
  using L = LslidarM10;
  static constexpr std::array kSteps{
      Step<L>{"start", &L::send_start, &L::heard, 240ms, 2, IfUnanswered::fail, kBauds},
      Step<L>{"set scan frequency", &L::send_speed, &L::speed_taken, 200ms, 2, IfUnanswered::go_on},
  };
  return kSteps;
}

// A command may be lost among the data. The vendor says it ten times.
std::span<const Step<LslidarM10>> LslidarM10::stop_script() {
  using namespace std::chrono_literals;
  using L = LslidarM10;
  static constexpr std::array kSteps{
      Step<L>{"stop", &L::send_stop, &L::nothing, 40ms, 3, IfUnanswered::go_on}};
  return kSteps;
}

bool LslidarM10::send_start(Request& request) {
  command(request, kRun, 1);
  return true;
}

bool LslidarM10::send_stop(Request& request) {
  command(request, kRun, 0);
  return true;
}

bool LslidarM10::send_speed(Request& request) {
  if (asked_hz_ == 0 || framing_.kind() == nullptr) return false;
  if (const auto field = speed_field(*framing_.kind(), asked_hz_)) {
    command(request, kSpeed, 1, field->at, field->value);
  }
  return true;
}

Reply LslidarM10::heard(const Frame& frame) {
  return Framing::is_device_packet(frame.bytes) ? Reply::not_mine() : Reply::measured();
}

Reply LslidarM10::speed_taken(const Frame& frame) {
  const LslidarKind& kind = *framing_.kind();
  if (speed_field(kind, asked_hz_)) return heard(frame);
  return Reply::refused(hal::Text<96>::of(
      kind.is_summed            ? "an %.*s turns at 6 to 12 Hz, not at %g: change scan_hz"
      : kind.model == "M10PLUS" ? "an %.*s turns at 5, 10 or 20 Hz, not at %g: change scan_hz"
                                : "an %.*s takes no speed, remove scan_hz: %g",
      static_cast<int>(kind.model.size()), kind.model.data(), asked_hz_));
}

void LslidarM10::decode(const Frame& frame, Decoded& out) {
  if (Framing::is_device_packet(frame.bytes)) return;
  const Bytes b = frame.bytes;
  const LslidarKind& kind = *framing_.kind();
  const unsigned n = static_cast<unsigned>(kind.points), first = wire::u16be(b, kind.start);
  if (first > kTurn || (kind.end > 0 && wire::u16be(b, kind.end) > kTurn)) return out.undecodable();
  const double span =
      kind.end > 0 ? (wire::u16be(b, kind.end) + kTurn - first) % kTurn : kSpan - double{kSpan} / n;
  if (span > kTurn / 4) return out.undecodable();
  if (std::exchange(told_, &kind) != &kind) {
    about_.print("its packets are of an %.*s", static_cast<int>(kind.model.size()),
                 kind.model.data());
  }

  measure_turn(kind, b);
  const double step = span / (n - 1);
  for (unsigned i = 0; i < n; ++i) {
    beams_[i].angle = static_cast<float>(-(first + step * i) * kRadPerUnit);
  }
  kind.is_summed ? fill_returns(kind, b) : fill_distances(kind, b);

  // Packets that are missing by their angles took their time. One that comes again took none.
  const unsigned last = (first + static_cast<unsigned>(std::lround(span))) % kTurn;
  const unsigned turned = last_ < 0 ? 0 : (last + kTurn - static_cast<unsigned>(last_)) % kTurn;
  const double ns_per_unit = turn_ns_ / kTurn;
  raw_ns_ += turned * ns_per_unit;
  const bool starts_turn = passes_turn(first % kTurn, last, turned);

  // It is sent when its last point has been measured.
  const auto per_beam = hal::Duration(nearest(step * ns_per_unit));
  const Timing timing{.source = Timing::Source::counter,
                      .raw_ns = nearest(raw_ns_),
                      .arrival = frame.last_at,
                      .bytes = b.size(),
                      .to_first = -per_beam * (std::int64_t{n} - 1)};
  out.add(ScanSlice{.step = per_beam,
                    .starts_turn = starts_turn,
                    .has_intensity = kind.is_summed,
                    .beams = std::span(beams_).first(n),
                    .echoes = std::span(echoes_).first(kind.echoes > 1 ? n : 0)},
          timing);
}

// A packet that tells no speed goes on as the one before.
void LslidarM10::measure_turn(const LslidarKind& kind, Bytes b) {
  const unsigned told = wire::u16be(b, kind.speed);
  if (told > 0) turn_ns_ = kind.is_summed ? told * kPeriodsPerTurn * 1e3 : 60e9 / told;
}

void LslidarM10::fill_returns(const LslidarKind& kind, Bytes b) {
  const auto metres = [b](std::size_t at) {
    const unsigned mm = wire::u16be(b, at);
    return mm == kNone ? 0.0F : static_cast<float>(mm) * 1e-3F;
  };
  for (std::size_t i = 0, at = kind.data; i < kind.points; ++i, at += 3 * kind.echoes) {
    beams_[i].range = metres(at);
    beams_[i].intensity = wire::u8(b, at + 2);
    if (kind.echoes == 1) continue;
    echoes_[i] = {metres(at + 3), static_cast<float>(wire::u8(b, at + 5))};
  }
}

void LslidarM10::fill_distances(const LslidarKind& kind, Bytes b) {
  const bool marks = strong_bit_ < 0 ? kind.marks_strong : strong_bit_ == 1;
  const unsigned mask = marks ? kStrong - 1 : kNone;
  for (std::size_t i = 0; i < kind.points; ++i) {
    const unsigned mm = wire::u16be(b, kind.data + 2 * i);
    beams_[i].range = mm == kNone ? 0.0F : static_cast<float>(mm & mask) * 1e-3F;
    beams_[i].intensity = 0;
  }
  constexpr std::size_t kVoid = 40;
  const bool is_void = wire::u16be(b, kind.data + 2 * (kVoid - 1)) == kNone ||
                       wire::u16be(b, kind.data + 2 * kVoid) >= 0xF500;
  if (kind.drops_last && is_void) beams_[kVoid].range = 0;
}

// Jitter of the angles makes no second turn.
bool LslidarM10::passes_turn(unsigned first, unsigned last, unsigned turned) {
  const bool wrapped = last_ >= 0 && static_cast<int>(first) < last_ - 1000;
  since_turn_ += turned;
  last_ = static_cast<int>(last);
  if (!(wrapped || last < first) || since_turn_ <= kTurn / 2) return false;
  since_turn_ = 0;
  return true;
}

}  // namespace drivers
