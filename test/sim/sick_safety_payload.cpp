#include "test/sim/sick_safety_payload.h"

#include <algorithm>
#include <cmath>

#include "test/sim/room.h"
#include "test/sim/wire.h"

namespace sim::sick_safety {
namespace {

constexpr std::size_t kHeaderBytes = 60;
constexpr std::size_t kDatagramHeaderBytes = 24;
constexpr std::size_t kInputBytes = 140, kApplicationBytes = 260;
constexpr int kCutOffPaths = 7;

enum : std::uint8_t {
  kValid = 1,
  kNoEcho = 2,
  kGlare = 4,
  kReflector = 8,
  kDirty = 16,
  kDirtySoon = 32
};

void put_at(ByteVector& to, std::size_t at, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    to[at + static_cast<std::size_t>(i)] = static_cast<std::byte>((value >> (8 * i)) & 0xFFU);
}

// The first of a path's monitored fields is an arm's length long, each of the others 0.3 m more.
bool intrudes(const Beam& beam, int path, unsigned factor) {
  return (beam.status & kValid) != 0 && beam.distance * factor < 1600U + 300U * unsigned(path);
}

ByteVector general_state(const Condition& condition) {
  ByteVector block(16);
  put_at(block, 0, 1U | (condition.contaminated > 0.0 ? 4U : 0U), 1);
  put_at(block, 1, 0x7F, 1);  // safe cut-off paths
  put_at(block, 10, 1, 1);    // monitoring case of the first table
  put_at(block, 15, (condition.application_error ? 1U : 0U) | (condition.device_error ? 2U : 0U),
         1);
  return block;
}

ByteVector derived_values(const Grid& grid, int first, std::size_t beams, unsigned factor) {
  ByteVector block;
  put_le(block, factor, 2);
  put_le(block, beams, 2);
  put_le(block, static_cast<unsigned>(grid.scan_ms), 2);
  put_le(block, 0, 2);
  put_le(block, static_cast<std::uint32_t>(grid.first + first * grid.step), 4);
  put_le(block, static_cast<std::uint32_t>(grid.step), 4);
  put_le(block, static_cast<std::uint64_t>(grid.beam_us()), 4);
  put_le(block, 0, 4);
  return block;
}

ByteVector measurement(const std::vector<Beam>& beams) {
  ByteVector block;
  put_le(block, beams.size(), 4);
  for (const Beam& beam : beams) {
    put_le(block, beam.distance, 2);
    put8(block, beam.reflectivity);
    put8(block, beam.status);
  }
  return block;
}

ByteVector intrusion(const std::vector<Beam>& beams, unsigned factor) {
  ByteVector block;
  for (int path = 0; path < kCutOffPaths; ++path) {
    ByteVector bits((beams.size() + 7) / 8);
    for (std::size_t i = 0; i < beams.size(); ++i)
      if (intrudes(beams[i], path, factor)) bits[i / 8] |= std::byte{1} << static_cast<int>(i % 8);
    put_le(block, bits.size(), 4);
    block.insert(block.end(), bits.begin(), bits.end());
  }
  return block;
}

ByteVector application() {
  ByteVector block(kApplicationBytes);
  put_at(block, 12, 1, 2);                // monitoring case 1 is wanted
  put_at(block, 52, 1, 4);                // and that is valid
  put_at(block, kInputBytes, 1, 4);       // evaluation path 1 is on,
  put_at(block, kInputBytes + 4, 1, 4);   // safe
  put_at(block, kInputBytes + 8, 1, 4);   // and valid
  put_at(block, kInputBytes + 12, 1, 2);  // monitoring case 1
  put_at(block, kInputBytes + 52, 1, 4);
  return block;
}

}  // namespace

Beam look(TrueBeam& truth, const Model& model, unsigned factor, const Condition& condition,
          Random& random) {
  truth.range = Room::range(truth.angle);
  if (condition.glare > 0.0 && random.chance(condition.glare))
    truth.range = 0.0;
  else if (truth.range == 0.0 || truth.range * 1000.0 > model.max_mm) {
    truth.range = 0.0;
    return {static_cast<std::uint16_t>(static_cast<unsigned>(model.max_mm) / factor), 0, kNoEcho};
  }
  if (truth.range == 0.0) return {0, 0, kGlare};
  Beam beam;
  beam.distance = static_cast<std::uint16_t>(std::lround(truth.range * 1000.0 / factor));
  beam.reflectivity = static_cast<std::uint8_t>(std::lround(200.0 / (1.0 + truth.range)));
  beam.status = kValid;
  if (std::abs(std::remainder(truth.angle, kTurn)) < radians(2.0)) {  // a reflector in front
    beam.reflectivity = 255;
    beam.status |= kReflector;
  }
  if (condition.contaminated > 0.0 && random.chance(condition.contaminated))
    beam.status |= kDirty | kDirtySoon;
  return beam;
}

ByteVector payload(const Numbers& numbers, const ChannelSettings& settings, const Grid& grid,
                   int first, const std::vector<Beam>& beams, unsigned factor,
                   const Condition& condition) {
  ByteVector all;
  put_text(all, "R");
  for (int i = 0; i < 3; ++i) put8(all, i == 0 ? 2 : 0);  // version R2.0.0
  put_le(all, numbers.serial, 4);
  put_le(all, numbers.serial + 1000, 4);  // of the system plug
  put_le(all, numbers.channel, 4);
  put_le(all, numbers.sequence, 4);
  put_le(all, numbers.scan, 4);
  put_le(all, numbers.date, 4);
  put_le(all, numbers.ms, 4);
  all.resize(kHeaderBytes);
  std::size_t place = 32;  // of the block's offset and size in the header
  const auto add = [&](unsigned feature, const ByteVector& block) {
    if ((settings.features & feature) != 0) {
      put_at(all, place, all.size(), 2);
      put_at(all, place + 2, block.size(), 2);
      all.insert(all.end(), block.begin(), block.end());
    }
    place += 4;
  };
  add(kGeneral, general_state(condition));
  add(kDerived, derived_values(grid, first, beams.size(), factor));
  add(kMeasurement, measurement(beams));
  add(kIntrusion, intrusion(beams, factor));
  add(kApplication, application());
  return all;
}

std::vector<ByteVector> fragments(const ByteVector& payload, std::uint32_t identification,
                                  std::size_t bytes) {
  std::vector<ByteVector> all;
  for (std::size_t at = 0; at < payload.size(); at += bytes) {
    const hal::Bytes part = hal::Bytes(payload).subspan(at, std::min(bytes, payload.size() - at));
    ByteVector datagram;
    put_text(datagram, "MS3 MD");
    put8(datagram, 1);
    put8(datagram, 1);
    put_le(datagram, payload.size(), 4);
    put_le(datagram, identification, 4);
    put_le(datagram, at, 4);
    put_le(datagram, 0, 4);
    datagram.insert(datagram.end(), part.begin(), part.end());
    all.push_back(std::move(datagram));
  }
  return all;
}

Extent beams_in(const ByteVector& payload) {
  const std::size_t offset = get_le(payload, 40, 2), size = get_le(payload, 42, 2);
  if (size < 4) return {};
  return {offset + 4, offset + size};
}

void falsify_fragment(ByteVector& fragment, Extent beams, Random& random) {
  if (fragment.size() < kDatagramHeaderBytes) return;
  const std::size_t offset = get_le(fragment, 16, 4);
  const std::size_t end = offset + fragment.size() - kDatagramHeaderBytes;
  for (std::size_t at = beams.begin; at + 4 <= std::min(beams.end, end); at += 4) {
    if (at < offset) continue;
    const std::uint64_t value = random.next();
    put_at(fragment, kDatagramHeaderBytes + at - offset, value & 0x3FFF'FFFFU, 4);
  }
}

}  // namespace sim::sick_safety
