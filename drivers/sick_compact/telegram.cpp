#include "drivers/sick_compact/telegram.h"

#include "hal/crc32.h"

namespace drivers {
namespace compact {
namespace {

constexpr std::size_t kFixed = 32, kPerLine = 28;
constexpr std::size_t kMostLines = 64, kMostBeams = 8192, kMostEchoes = 8, kMostModules = 16;

std::size_t measure_scan(Bytes b) {
  if (b.size() < kHeader) return kNeedMore;
  std::size_t at = kHeader, size = wire::u32(b, 28);
  for (std::size_t i = 0; size != 0; ++i) {
    Module module;
    const std::size_t read = i < kMostModules ? read_module(b, at, size, module) : kNotAFrame;
    if (read == kNotAFrame || read == kNeedMore) return read;
    at += read;
    size = module.next;
  }
  return at + kCrc;
}

}  // namespace

std::size_t read_module(Bytes telegram, std::size_t at, std::size_t size, Module& m) {
  if (size > CompactFraming::kMaxFrame - kCrc - at) return kNotAFrame;
  const bool has_scale = wire::u32(telegram, 24) >= 4;
  const Bytes b = telegram.subspan(std::min(at, telegram.size()));
  if (b.size() < kFixed) return kNeedMore;
  m.segment = wire::u64(b, 0);
  m.frame = wire::u64(b, 8);
  m.serial = wire::u32(b, 16);
  m.lines = wire::u32(b, 20);
  m.beams = wire::u32(b, 24);
  m.echoes = wire::u32(b, 28);
  const bool plausible = m.lines > 0 && m.lines <= kMostLines && m.beams > 0 &&
                         m.beams <= kMostBeams && m.echoes > 0 && m.echoes <= kMostEchoes;
  const std::size_t meta = kFixed + kPerLine * m.lines + (has_scale ? 4 : 0) + 8;
  if (!plausible || meta > size) return kNotAFrame;
  if (b.size() < meta) return kNeedMore;
  m.next = wire::u32(b, meta - 8);
  m.mm = has_scale ? std::bit_cast<float>(wire::u32(b, meta - 12)) : 1;
  const unsigned echo = wire::u8(b, meta - 3), beam = wire::u8(b, meta - 2);
  m.has_distance = (echo & 1) != 0;
  m.has_rssi = (echo & 2) != 0;
  m.has_azimuth = (beam & 2) != 0;
  m.echo_size = 2 * std::size_t{m.has_distance} + 2 * std::size_t{m.has_rssi};
  const std::size_t properties = beam & 1;
  m.azimuth_at = m.echoes * m.echo_size + (has_scale ? properties : 0);
  m.beam_size = m.echoes * m.echo_size + properties + 2 * std::size_t{m.has_azimuth};
  if (size != meta + m.lines * m.beams * m.beam_size) return kNotAFrame;
  if (b.size() >= size) {
    m.meta = b.first(meta);
    m.data = b.subspan(meta, size - meta);
  }
  return size;
}

}  // namespace compact

std::size_t CompactFraming::measure(Bytes b) {
  if (speaks_cola) return cola::measure(b, kMaxFrame);
  using namespace compact;
  for (std::size_t i = 0; i < std::min<std::size_t>(b.size(), 8); ++i) {
    const unsigned v = wire::u8(b, i);
    if (i < 4 ? v != 2 : i == 4 ? v != 1 && v != 2 : v != 0) return kNotAFrame;
  }
  if (b.size() < 8) return kNeedMore;
  const bool is_scan = command_of(b) == Command::scan;
  const std::size_t version_at = is_scan ? 24 : 8;
  if (b.size() < version_at + 4) return kNeedMore;
  const std::uint32_t version = wire::u32(b, version_at);
  if (is_scan) return version == 3 || version == 4 ? measure_scan(b) : kNotAFrame;
  return version == 1 ? kMotion : kNotAFrame;
}

bool CompactFraming::intact(Bytes frame) {
  if (speaks_cola) return cola::intact(frame);
  const std::size_t covered = frame.size() - compact::kCrc;
  return hal::crc32(frame.first(covered)) == wire::u32(frame, covered);
}

}  // namespace drivers
