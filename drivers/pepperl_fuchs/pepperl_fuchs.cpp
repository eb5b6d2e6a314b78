#include "drivers/pepperl_fuchs/pepperl_fuchs.h"

#include <algorithm>
#include <cmath>

namespace drivers {
namespace {

using namespace std::chrono_literals;

// An R2000 measures so many points a second, at most; a scan has so many.
constexpr double kMostPointsPerS = 252'000, kMostSamples = 25'200, kMostTurnsHz = 100;
constexpr double kLeastPointsInPacket = 221;  // type B over UDP

constexpr std::array kOptions{
    OptionSpec{.key = "packet_type",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "auto",
               .choices = "auto|A|B|C|C1",
               .help = "A distances, B and C with amplitudes; auto: C, and C1 of an R2300"},
    OptionSpec{.key = "scan_frequency",
               .type = OptionType::number,
               .unit = "Hz",
               .fallback = "0",
               .min = 0,
               .max = kMostTurnsHz,
               .help = "turns per second to set; 0: as the device is set"},
    OptionSpec{.key = "samples_per_scan",
               .type = OptionType::integer,
               .unit = "",
               .fallback = "0",
               .min = 0,
               .max = kMostSamples,
               .help = "points of a turn to set; 0: as the device is set, at most 12600"},
    OptionSpec{.key = "layer",
               .type = OptionType::integer,
               .unit = "",
               .fallback = "-1",
               .min = -1,
               .max = 3,
               .help = "the only layer of an R2300 to take, from 0; -1: all, as if they lay level"},
    OptionSpec{
        .key = "watchdog_s",
        .type = OptionType::integer,
        .unit = "s",
        .fallback = "10",
        .min = 1,
        .max = 500,
        .help = "after which the device stops when it hears nothing; fed three times as often"},
};

struct StatusBit {
  unsigned bit;
  const char* words;
};
constexpr std::array kFaults{StatusBit{17, "lens error: clean or replace the window"},
                             StatusBit{18, "too cold"}, StatusBit{19, "too hot"},
                             StatusBit{20, "overload error"}, StatusBit{30, "device defect"}};

}  // namespace

std::span<const OptionSpec> PepperlFuchs::options() { return kOptions; }

Figures PepperlFuchs::figures(const Options& options, int) {
  const double asked_hz = options.number("scan_frequency");
  const int asked = options.integer("samples_per_scan");
  const double turns = asked_hz > 0 ? asked_hz : kMostTurnsHz;
  const double samples = asked > 0 ? asked : kUsualSamples;
  const double points = std::min(turns * samples, kMostPointsPerS);
  const double packets = points / kLeastPointsInPacket + turns;
  return {packets, turns, static_cast<std::size_t>(samples), points * 6 + packets * 84, {}};
}

Finding PepperlFuchs::finding() { return {.asks_first = true, .control = 80}; }

PepperlFuchs::PepperlFuchs(const Options& options)
    : packet_type_(options.text("packet_type")),
      frequency_hz_(options.number("scan_frequency")),
      samples_(options.integer("samples_per_scan")),
      layer_(options.integer("layer")),
      watchdog_ms_(1000 * options.integer("watchdog_s")) {
  static constexpr std::array<Step<PepperlFuchs>, 1> kFeed{
      {{"feed watchdog", &PepperlFuchs::feed, &PepperlFuchs::done, 300ms, 2}}};
  routines_[0] = {std::chrono::milliseconds(watchdog_ms_ / 3), kFeed};
}

void PepperlFuchs::restart() {
  order_.restart();
  handle_.clear();
  data_port_ = 0;
}

hal::Text<96> PepperlFuchs::about() const {
  if (product_.empty()) return {};
  return hal::Text<96>::of("%s, serial %s, %g Hz, %g points", product_.c_str(), serial_.c_str(),
                           device_hz_, device_samples_);
}

void PepperlFuchs::decode(const Frame& frame, Decoded& out) {
  if (frame.channel != Channel::data) return;
  const auto header = pepperl::read_header(frame.bytes);
  if (!header) return out.undecodable();
  for (const StatusBit& fault : kFaults) {
    if ((header->status >> fault.bit & 1) == 0) continue;
    out.fault(hal::Text<96>::of("status %08x: %s", header->status, fault.words));
    break;
  }
  const auto give = [&](const pepperl::Arrived& next) { deliver(next, out); };
  if (order_.is_stale(*header)) return;
  pepperl::Arrived& place = order_.place();
  place.header = *header;
  place.at = frame.last_at;
  pepperl::read_points(frame.bytes, *header, place.beams);
  order_.take(give);
  out.lost(order_.take_lost());
}

void PepperlFuchs::finish(Decoded& out) {
  order_.give_up([&](const pepperl::Arrived& next) { deliver(next, out); });
  out.lost(order_.take_lost());
}

void PepperlFuchs::deliver(const pepperl::Arrived& packet, Decoded& out) const {
  const pepperl::Header& h = packet.header;
  if (layer_ >= 0 && h.type == pepperl::PacketType::c1 && h.layer != unsigned(layer_)) return;
  const auto step = hal::Duration(std::llround(h.point_ns()));
  const Timing timing{.source = Timing::Source::clock,
                      .raw_ns = h.stamp_ns,
                      .arrival = packet.at,
                      .held = hal::Duration(std::llround(h.point_ns() * (h.points - 1))),
                      .period = step * std::int64_t{h.points}};
  out.add(ScanSlice{.step = step,
                    .starts_turn = packet.starts_turn,
                    .has_intensity = h.type != pepperl::PacketType::a,
                    .beams = std::span(packet.beams).first(h.points)},
          timing);
}

}  // namespace drivers
