#include "test/sim/sick_cola_settings.h"

#include <array>
#include <cmath>

namespace sim::sick_cola {
namespace {

constexpr double kUnits = 1e4;  // to the degree

std::int32_t units(double deg) { return static_cast<std::int32_t>(std::lround(deg * kUnits)); }

struct ContentField {
  std::uint64_t Content::*field;
  std::size_t bytes;
};
constexpr std::array<ContentField, 12> kContentFields = {{
    {&Content::channels_low, 1},
    {&Content::channels_high, 1},
    {&Content::remission, 1},
    {&Content::wide_remission, 1},
    {&Content::unit, 1},
    {&Content::encoder_low, 1},
    {&Content::encoder_high, 1},
    {&Content::position, 1},
    {&Content::name, 1},
    {&Content::comment, 1},
    {&Content::time, 1},
    {&Content::interval, 2},
}};

}  // namespace

std::uint32_t Config::step() const { return Sector{0.0, pace.steps_per_turn, 0, 0}.step_units(); }

Sector Config::sector(const Model& model) const {
  Sector sector{model.start_deg, pace.steps_per_turn, 0, 0};
  const auto beam = [&](std::int32_t angle) {
    return (angle / kUnits - model.start_deg) / sector.step_deg();
  };
  sector.first = static_cast<int>(std::ceil(beam(start) - 0.01));
  sector.last = static_cast<int>(std::floor(beam(stop) + 0.01));
  return sector;
}

Config delivered(const Model& model, double rate_hz) {
  Config config;
  config.pace = model.paces.front();
  if (rate_hz > 0.0) config.pace.hz = rate_hz;
  config.start = units(model.start_deg);
  config.stop = units(model.stop_deg);
  return config;
}

unsigned write_output_range(const Model& model, cola::Arguments& arguments, Config& config) {
  const std::uint64_t sectors = arguments.unsigned_value(2), step = arguments.unsigned_value(4);
  const auto start = static_cast<std::int32_t>(arguments.signed_value(4));
  const auto stop = static_cast<std::int32_t>(arguments.signed_value(4));
  if (!arguments.good()) return cola::kInvalidData;
  if (!model.sets_range || sectors != 1 || step != config.step()) return cola::kOutOfRange;
  if (start < units(model.start_deg) || stop > units(model.stop_deg)) return cola::kOutOfRange;
  Config wanted = config;
  wanted.start = start;
  wanted.stop = stop;
  if (wanted.sector(model).beams() < 2) return cola::kOutOfRange;
  config = wanted;
  return 0;
}

unsigned write_content(cola::Arguments& arguments, Config& config) {
  Content wanted;
  for (const ContentField& row : kContentFields)
    wanted.*row.field = arguments.unsigned_value(row.bytes);
  if (!arguments.good()) return cola::kInvalidData;
  if (wanted.interval == 0 || wanted.remission > 1 || wanted.wide_remission > 1 || wanted.time > 1)
    return cola::kOutOfRange;
  config.content = wanted;
  return 0;
}

unsigned write_echo_filter(const Model& model, cola::Arguments& arguments, Config& config) {
  if (model.echoes == 1) return cola::kUnknownVariable;
  const std::uint64_t wanted = arguments.unsigned_value(1);
  if (!arguments.good()) return cola::kInvalidData;
  if (wanted > 2) return cola::kOutOfRange;
  config.filter = static_cast<EchoFilter>(wanted);
  return 0;
}

unsigned set_scan(const Model& model, cola::Arguments& arguments, Config& config) {
  const std::uint64_t centihertz = arguments.unsigned_value(4);
  const std::uint64_t sectors = arguments.unsigned_value(2), step = arguments.unsigned_value(4);
  if (!arguments.good() || sectors != 1) return 1;
  bool speed_exists = false;
  for (const Pace& pace : model.paces) {
    if (std::lround(pace.hz * 100.0) != static_cast<long>(centihertz)) continue;
    speed_exists = true;
    Config wanted = config;
    wanted.pace = pace;
    if (wanted.step() != step) continue;
    config = wanted;
    return 0;
  }
  return speed_exists ? 2 : 1;
}

void put_output_range(cola::Telegram& to, const Config& config) {
  to.u16(1).u32(config.step()).i32(config.start).i32(config.stop);
}

void put_content(cola::Telegram& to, const Config& config) {
  for (const ContentField& row : kContentFields) {
    const std::uint64_t value = config.content.*row.field;
    row.bytes == 1 ? to.u8(value) : to.u16(value);
  }
}

void put_scan(cola::Telegram& to, const Config& config) {
  to.u32(static_cast<std::uint64_t>(std::lround(config.pace.hz * 100.0))).u16(1);
  to.u32(config.step()).i32(config.start).i32(config.stop);
}

}  // namespace sim::sick_cola
