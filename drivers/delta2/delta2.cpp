#include "drivers/delta2/delta2.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "drivers/rounding.h"
#include "drivers/wire.h"

namespace drivers {
namespace {

constexpr double kRadPerDeg = std::numbers::pi / 180;
constexpr unsigned kTurn = 36000;  // 0.01 deg
constexpr std::size_t kHead = 8, kSum = 2, kFirstBeam = kHead + 5, kBeam = 3;
constexpr unsigned kMeasured = 0xAD, kSpeedAlone = 0xAE;
constexpr double kHzPerUnit = 0.05, kUsualHz = 6, kSlowestHz = 4, kMostHz = 12;
constexpr double kBeamsHz = 2100;  // told of none of them more
constexpr unsigned kTold = 16;     // frames, a turn's, before a lack of beams is a fault
constexpr std::array kBauds{115'200, 230'400};

constexpr std::array kOptions{
    OptionSpec{.key = "model",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "auto",
               .choices = "auto|2A|2B|2D|2G|LDS08RR",
               .help = "sets the packets of a turn, 15 of a 2G, 16 of all others; auto: as the "
                       "angles tell, which they do from the second packet on at the latest"},
    // 0.25 mm: what a program does that drives all these models on robots, and it puts the nearest
    // distance of the one dump at 0.14 m, where their range begins. The dump's note reads 1 mm.
    OptionSpec{.key = "unit_mm",
               .type = OptionType::number,
               .unit = "mm",
               .fallback = "0.25",
               .min = 0.1,
               .max = 10,
               .help = "a step of distance; the sources disagree, 0.25 or 1: compare with a wall"},
};

unsigned packets_of(std::string_view model) {
  return model == "auto" ? 0 : model == "2G" ? 15 : 16;
}

}  // namespace

// Both lengths, and what is constant, are looked at before the sum: AA is frequent in the data.
std::size_t Delta2Framing::measure(Bytes b) {
  if (wire::u8(b, 0) != 0xAA) return kNotAFrame;
  if (b.size() < kHead) return kNeedMore;
  const unsigned command = wire::u8(b, 5);
  if (wire::u16be(b, 3) != 0x0161 || (command != kMeasured && command != kSpeedAlone)) {
    return kNotAFrame;
  }
  const std::size_t data = wire::u16be(b, 6), whole = kHead + data + kSum;
  const std::size_t least = command == kMeasured ? kFirstBeam - kHead + kBeam : 1;
  if (wire::u16be(b, 1) + 2U != whole || data < least || whole > kMaxFrame) return kNotAFrame;
  return whole;
}

bool Delta2Framing::intact(Bytes frame) {
  const unsigned sum = wire::sum_of(frame.first(frame.size() - kSum));
  return (sum & 0xFFFF) == wire::u16be(frame, frame.size() - kSum);
}

Finding Delta2::finding() {
  return {
      .bauds = kBauds, .advise = [](const Seen&) -> std::vector<Advice> {
        return {{"unit_mm", "", "compare with a wall: 1 where distances are four times too short"}};
      }};
}

std::span<const OptionSpec> Delta2::options() { return kOptions; }

Figures Delta2::figures(const Options&, int) {
  return {.packets_hz = 16 * kMostHz,
          .turns_hz = kMostHz,
          .beams_per_turn = static_cast<std::size_t>(2 * kBeamsHz / kSlowestHz),
          .bytes_per_s = kBeamsHz * kBeam + 16 * kUsualHz * (kFirstBeam + kSum),
          .delivery = {}};
}

Delta2::Delta2(const Options& options)
    : fixed_packets_(packets_of(options.text("model"))),
      metres_(static_cast<float>(options.number("unit_mm") * 1e-3)) {
  restart();
}

void Delta2::restart() {
  packets_ = fixed_packets_ > 0 ? fixed_packets_ : 16;
  turn_ns_ = 1e9 / kUsualHz;
  last_ = -1;
  unmeasured_ = 0;
  about_.clear();
}

// One way, at one of two rates.
std::span<const Step<Delta2>> Delta2::start_script() {
  using namespace std::chrono_literals;
  static constexpr std::array kSteps{Step<Delta2>{"listen", &Delta2::listen, &Delta2::heard, 400ms,
                                                  1, IfUnanswered::fail, kBauds}};
  return kSteps;
}

Reply Delta2::heard(const Frame& frame) {
  return wire::u8(frame.bytes, 5) == kMeasured ? Reply::measured() : Reply::not_mine();
}

void Delta2::decode(const Frame& frame, Decoded& out) {
  const unsigned speed = wire::u8(frame.bytes, kHead);
  if (speed > 0) turn_ns_ = 1e9 / (kHzPerUnit * speed);
  if (wire::u8(frame.bytes, 5) == kMeasured) return decode_scan(frame, out);
  if (unmeasured_ < kTold && ++unmeasured_ < kTold) return;
  out.fault(hal::Text<96>::of("no measurement at %g turns/s: the motor is the host's (PWM)",
                              kHzPerUnit * speed));
}

void Delta2::decode_scan(const Frame& frame, Decoded& out) {
  const Bytes b = frame.bytes;
  const std::size_t size = b.size() - kFirstBeam - kSum, n = size / kBeam;
  const unsigned first = wire::u16be(b, kHead + 3);
  if (size % kBeam != 0 || first >= kTurn) return out.undecodable();
  unmeasured_ = 0;
  learn_packets(first);

  const double width = static_cast<double>(kTurn) / packets_;
  const double step_deg = width / 100 / static_cast<double>(n);
  for (std::size_t i = 0, at = kFirstBeam; i < n; ++i, at += kBeam) {
    const double deg = first * 0.01 + step_deg * static_cast<double>(i);
    beams_[i] = {static_cast<float>(-deg * kRadPerDeg),
                 static_cast<float>(wire::u16be(b, at + 1)) * metres_,
                 static_cast<float>(wire::u8(b, at))};
  }

  // Packets that are missing by their angles took their time. One that comes again took none.
  const double packet_ns = turn_ns_ / packets_;
  const int turned = last_ < 0 ? 0 : (static_cast<int>(first + kTurn) - last_) % int{kTurn};
  if (turned > 0) raw_ns_ += std::max(1.0, std::round(turned / width)) * packet_ns;
  const bool starts_turn = first == 0 ? last_ != 0 : static_cast<int>(first) < last_;
  last_ = static_cast<int>(first);

  // It is sent when its last beam has been measured.
  const auto per_beam = hal::Duration(nearest(packet_ns / static_cast<double>(n)));
  const Timing timing{.source = Timing::Source::counter,
                      .raw_ns = nearest(raw_ns_),
                      .arrival = frame.last_at,
                      .bytes = b.size(),
                      .to_first = -per_beam * (static_cast<std::int64_t>(n) - 1)};
  out.add(ScanSlice{.step = per_beam,
                    .starts_turn = starts_turn,
                    .has_intensity = true,
                    .beams = std::span(beams_).first(n)},
          timing);
}

// All packets of a turn begin at multiples of its share: of 22.5 or of 24 degrees.
void Delta2::learn_packets(unsigned first) {
  const bool sixteen = first % (kTurn / 16) == 0, fifteen = first % (kTurn / 15) == 0;
  if (fixed_packets_ == 0 && sixteen != fifteen) packets_ = sixteen ? 16 : 15;
  if (sixteen != fifteen && about_.empty()) about_.print("%u packets in a turn", packets_);
}

}  // namespace drivers
