#include "drivers/sick_cola/scan.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "drivers/wire.h"

namespace drivers::sick_cola {
namespace {

using cola::Dialect;
using cola::Fields;

constexpr unsigned kLeast = 20;   // mm as sent; below it are codes for "no return"
constexpr unsigned kNoEcho = 34;  // another such code, of TiM5xx
constexpr unsigned kMostEncoders = 16;
constexpr double kFront = 90;  // deg: the device's x axis points to the right

// The step is cut to 1e-4 deg. What comes near to a whole part of a degree, or of two, is that.
double exact(std::size_t step) {
  const auto told = static_cast<double>(step);
  for (const double whole : {10'000.0, 20'000.0}) {
    const double parts = std::round(whole / told);
    if (parts > 0 && parts <= 24 && std::abs(whole / parts - told) < 1) return whole / parts;
  }
  return told;
}

// "DIST3" is place 2; no place: -1.
int place_of(std::string_view name, std::string_view kind) {
  if (name.size() != 5 || !name.starts_with(kind)) return -1;
  const int place = name[4] - '1';
  return place >= 0 && place < static_cast<int>(ScanReader::kMostReturns) ? place : -1;
}

// Of a channel's values that lie at `at`, one after the other.
struct Wide {
  Bytes at;
  unsigned operator()(std::size_t i) const { return wire::u16be(at, 2 * i); }
};
struct Narrow {
  Bytes at;
  unsigned operator()(std::size_t i) const { return wire::u8(at, i); }
};
struct Text {
  Fields at;
  std::size_t width;
  unsigned operator()(std::size_t) { return width == 2 ? at.u16() : at.u8(); }
};

// Calls use(reader) with what reads `count` values of a channel in their order.
template <class Use>
void with_reader(Fields at, std::size_t width, std::size_t count, Use&& use) {
  if (at.dialect() == Dialect::ascii) return use(Text{at, width});
  const Bytes b = at.bytes(width * count);
  if (width == 2) return use(Wide{b});
  use(Narrow{b});
}

// What may follow the channels is of no use here, but must make sense.
bool skip_tail(Fields& f) {
  if (f.u16() != 0) {
    for (int i = 0; i < 6; ++i) f.f32();
    f.u8();
  }
  for (int i = 0; i < 2; ++i) {  // name and comment
    if (f.u16() != 0) f.text(f.u8());
  }
  if (f.u16() != 0) {
    f.u16();
    for (int i = 0; i < 5; ++i) f.u8();
    f.u32();
  }
  f.u16();  // of an event nothing more is known
  return f.ok();
}

}  // namespace

hal::Duration Scan::step() const { return hal::from_seconds(step_deg / 360 / scans_hz); }

ScanReader::ScanReader()
    : beams_(std::make_unique_for_overwrite<Beam[]>(kMostBeams)),
      echoes_(std::make_unique_for_overwrite<Echo[]>(kMostBeams * (kMostReturns - 1))) {}

std::optional<Scan> ScanReader::read(Fields f) {
  Scan scan;
  f.u16(), f.u16();
  scan.serial = f.u32();
  f.u8(), f.u8();
  scan.telegrams = f.u16();
  scan.scans = f.u16();
  scan.since_power_up = f.u32();
  scan.transmitted = f.u32();
  for (int i = 0; i < 4; ++i) f.u8();
  scan.layer = f.i16();
  scan.scans_hz = f.u32() / 100.0;
  f.u32();
  const unsigned encoders = f.u16();
  if (!f.ok() || encoders > kMostEncoders) return std::nullopt;
  for (unsigned i = 0; i < encoders; ++i) f.u32(), f.u16();

  for (Values& values : distances_) values.grid.count = 0;
  for (Values& values : intensities_) values.grid.count = 0;
  for (const std::size_t width : {2U, 1U}) {
    const unsigned channels = f.u16();
    if (!f.ok() || channels > kMostChannels) return std::nullopt;
    for (unsigned i = 0; i < channels; ++i) {
      if (!find(f, width)) return std::nullopt;
    }
  }
  if (!skip_tail(f)) return std::nullopt;
  const Grid& grid = distances_[0].grid;
  if (grid.count == 0) return scan;
  if (!check() || scan.scans_hz <= 0 || scan.scans_hz > 1000) return std::nullopt;

  aim(grid);
  std::size_t places = kMostReturns;
  while (distances_[places - 1].grid.count == 0) --places;
  for (std::size_t place = 0; place < places; ++place) fill(place, places);
  scan.step_deg = exact(grid.step) * 1e-4;
  scan.has_intensity = intensities_[0].grid.count > 0;
  scan.beams = {beams_.get(), grid.count};
  scan.echoes = {echoes_.get(), grid.count * (places - 1)};
  return scan;
}

// Where the values of a channel lie.
bool ScanReader::find(Fields& f, std::size_t width) {
  const std::string_view name = f.word(5);
  Values values;
  values.width = width;
  values.scale = f.f32();
  values.offset = f.f32();
  values.grid.first = f.i32();
  values.grid.step = f.u16();
  values.grid.count = f.u16();
  values.at = f;
  f.skip(values.grid.count, width);
  const int distance = place_of(name, "DIST"), intensity = place_of(name, "RSSI");
  if (distance >= 0) distances_[static_cast<std::size_t>(distance)] = values;
  if (intensity >= 0) intensities_[static_cast<std::size_t>(intensity)] = values;
  return f.ok();
}

// All returns and their intensities are of the same beams.
bool ScanReader::check() const {
  const Grid& grid = distances_[0].grid;
  constexpr double kTurns = 2 * 3.6e6;
  const bool fits = grid.step > 0 && grid.count <= kMostBeams &&
                    static_cast<double>(grid.step * grid.count) <= kTurns &&
                    std::abs(double{1} * grid.first) <= kTurns;
  const auto agrees = [&](const Values& v) {
    return v.grid.count == 0 ||
           (v.grid == grid && v.scale > 0 && v.scale <= 1e4F && std::abs(v.offset) <= 1e7F);
  };
  return fits && std::ranges::all_of(distances_, agrees) &&
         std::ranges::all_of(intensities_, agrees);
}

void ScanReader::aim(const Grid& grid) {
  if (grid == grid_) return;
  grid_ = grid;
  const double step = exact(grid.step);
  for (std::size_t i = 0; i < grid.count; ++i) {
    const double deg = (grid.first + step * static_cast<double>(i)) * 1e-4 - kFront;
    beams_[i] = {
        .angle = static_cast<float>(deg * std::numbers::pi / 180), .range = 0, .intensity = 0};
  }
}

void ScanReader::fill(std::size_t place, std::size_t places) {
  const Values &distances = distances_[place], &intensities = intensities_[place];
  const std::size_t count = grid_.count;
  const float factor = intensities.scale, shift = intensities.offset;
  const auto write = [&](auto&& at) {
    if (distances.grid.count == 0) {
      for (std::size_t i = 0; i < count; ++i) at(i).range = 0, at(i).intensity = 0;
      return;
    }
    const float scale = distances.scale * 1e-3F, offset = distances.offset * 1e-3F;
    const auto put = [=](std::size_t i, unsigned raw, unsigned strength, float intensity) {
      const float range = std::max(static_cast<float>(raw) * scale + offset, 0.0F);
      const bool none = (raw < kLeast) | (raw == kNoEcho) | (strength == 0);
      at(i).range = none ? 0.0F : range;
      at(i).intensity = intensity;
    };
    if (intensities.grid.count == 0) {
      return with_reader(distances.at, distances.width, count, [&](auto raw) {
        for (std::size_t i = 0; i < count; ++i) put(i, raw(i), 1, 0);
      });
    }
    with_reader(distances.at, distances.width, count, [&](auto raw) {
      with_reader(intensities.at, intensities.width, count, [&](auto strength) {
        for (std::size_t i = 0; i < count; ++i) {
          const unsigned v = strength(i);
          put(i, raw(i), v, static_cast<float>(v) * factor + shift);
        }
      });
    });
  };
  if (place == 0) return write([beams = beams_.get()](std::size_t i) -> Beam& { return beams[i]; });
  write([echoes = echoes_.get(), place, places](std::size_t i) -> Echo& {
    return echoes[i * (places - 1) + place - 1];
  });
}

}  // namespace drivers::sick_cola
