#include "test/sim/sick_safety_settings.h"

#include <algorithm>
#include <cmath>

#include "test/sim/wire.h"

namespace sim::sick_safety {

Grid::Grid(const Model& model, int ms)
    : beams(model.beams),
      scan_ms(ms),
      first(static_cast<std::int32_t>(
          std::lround((kFrontDeg - model.field_deg / 2.0) * kUnitsPerDegree))),
      step(static_cast<std::int32_t>(model.field_deg / (model.beams - 1) * kUnitsPerDegree)) {}

double Grid::angle_deg(int beam) const {
  return (first + static_cast<double>(beam) * step) / kUnitsPerDegree;
}

long Grid::beam_us() const {
  return std::lround(scan_ms * 1000.0 * (step / kUnitsPerDegree) / 360.0);
}

int Grid::from(const ChannelSettings& settings) const {
  if (settings.start == settings.end) return 0;
  const double steps = std::ceil((static_cast<double>(settings.start) - first) / step);
  return static_cast<int>(std::clamp(steps, 0.0, static_cast<double>(beams)));
}

int Grid::to(const ChannelSettings& settings) const {
  if (settings.start == settings.end) return beams;
  const double steps = std::floor((static_cast<double>(settings.end) - first) / step) + 1.0;
  return static_cast<int>(std::clamp(steps, 0.0, static_cast<double>(beams)));
}

std::optional<ChangeRequest> parse_settings(hal::Bytes given) {
  if (given.size() < 28) return std::nullopt;
  ChangeRequest wanted;
  wanted.channel = static_cast<std::uint8_t>(u8_at(given, 0));
  ChannelSettings& settings = wanted.settings;
  settings.enabled = u8_at(given, 4) != 0;
  settings.interface_type = static_cast<std::uint8_t>(u8_at(given, 5));
  settings.to = {static_cast<std::uint32_t>(get_le(given, 8, 4)),
                 static_cast<std::uint16_t>(get_le(given, 12, 2))};
  settings.divider = static_cast<std::uint16_t>(get_le(given, 14, 2));
  settings.start = static_cast<std::int32_t>(get_le(given, 16, 4));
  settings.end = static_cast<std::int32_t>(get_le(given, 20, 4));
  settings.features = static_cast<std::uint16_t>(get_le(given, 24, 2));
  const bool has_receiver = settings.to.ip != 0 && settings.to.port != 0;
  if (settings.divider == 0 || (settings.enabled && !has_receiver)) return std::nullopt;
  return wanted;
}

void put_persistent(ByteVector& to, const ChannelSettings& settings) {
  put_text(to, "R");
  put_le(to, 2, 3);
  put8(to, settings.enabled ? 1 : 0);
  put8(to, settings.interface_type);
  put_le(to, 0, 2);
  put_le(to, settings.to.ip, 4);
  put_le(to, settings.to.port, 2);
  put_le(to, settings.divider, 2);
  put_le(to, static_cast<std::uint32_t>(settings.start), 4);
  put_le(to, static_cast<std::uint32_t>(settings.end), 4);
  put_le(to, settings.features, 2);
  put_le(to, 0, 2);
}

void put_current(ByteVector& to, const ChannelSettings& settings, const Grid& grid,
                 unsigned factor) {
  put_persistent(to, settings);
  const int first = grid.from(settings);
  put_le(to, factor, 2);
  put_le(to, static_cast<unsigned>(grid.to(settings) - first), 2);
  put_le(to, static_cast<unsigned>(grid.scan_ms), 4);
  put_le(to, static_cast<std::uint32_t>(grid.first + first * grid.step), 4);
  put_le(to, static_cast<std::uint32_t>(grid.step), 4);
  put_le(to, static_cast<std::uint64_t>(grid.beam_us()), 4);
}

}  // namespace sim::sick_safety
