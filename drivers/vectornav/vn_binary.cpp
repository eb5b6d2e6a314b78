#include "drivers/vectornav/vn_binary.h"

#include <array>
#include <bit>
#include <span>

#include "drivers/inertial.h"
#include "drivers/wire.h"

namespace drivers::vn {
namespace {

using inertial::Vector;

constexpr std::size_t kGroupBytes = 3, kCrc = 2, kMostWords = 16;
constexpr unsigned kMore = 0x80, kMoreFields = 0x8000;
constexpr std::int64_t kLargestStamp = std::int64_t{1} << 60;  // 36 years
constexpr double kTesla = 1e-4, kPascal = 1e3;                 // a gauss, a kilopascal

// Bytes of the fields of a group, by bit; 0: there is no such field.
using Sizes = std::array<std::uint16_t, 32>;
constexpr Sizes kNone{};
constexpr Sizes kCommon{8, 8, 8, 12, 16, 12, 24, 12, 12, 24, 20, 28, 2, 4, 8};
constexpr Sizes kTime{8, 8, 8, 2, 8, 8, 8, 4, 4, 1};
constexpr Sizes kImu{2, 12, 12, 12, 4, 4, 16, 12, 12, 12, 12, 2, 40};
constexpr std::uint16_t kSatellites = 1, kRaw = 2;  // as many as the field itself tells
constexpr Sizes kGnss = [] {
  Sizes sizes{8, 8, 2, 1, 1, 24, 24, 12, 12, 12, 4, 4, 2, 28};
  sizes[14] = kSatellites, sizes[16] = kRaw;
  sizes[17] = 2, sizes[18] = 8;
  return sizes;
}();
constexpr Sizes kAttitude{2, 12, 16, 36, 12, 12, 12, 12, 12, 12, 28, 24, 12, 4};
constexpr Sizes kIns{2, 24, 24, 12, 12, 12, 12, 12, 12, 4, 4, 68, 64};
constexpr Sizes kFilter{48, 48, 48, 92, 80, 76, 68, 20, 40, 60, 320, 192};
constexpr Sizes kCalibration{8, 2, 2, 12, 36, 12, 36, 4, 4, 4, 4, 40, 144, 12, 36};

// A group byte has seven groups: 7, 15 and 23 say that another byte follows.
constexpr std::array<const Sizes*, 24> kGroups{
    &kCommon, &kTime,        &kImu,  &kGnss, &kAttitude, &kIns,  &kGnss, &kNone,
    &kNone,   &kNone,        &kNone, &kNone, &kGnss,     &kNone, &kNone, &kNone,
    &kFilter, &kCalibration, &kNone, &kNone, &kNone,     &kNone, &kNone, &kNone};
constexpr unsigned kCommonGroup = 0, kTimeGroup = 1, kImuGroup = 2, kAttitudeGroup = 4;

bool is_gnss(unsigned group) { return kGroups[group] == &kGnss; }

// Size of a GNSS field whose first bytes tell it; 0: they are not there yet.
std::size_t told_size(std::uint16_t kind, Bytes field) {
  if (kind == kSatellites) return field.empty() ? 0 : 2 + 8 * std::size_t{wire::u8(field, 0)};
  return field.size() < 11 ? 0 : 12 + 28 * std::size_t{wire::u8(field, 10)};
}

struct Word {
  std::uint8_t group, first_bit;  // bit 0 of the word is this field of the group
  std::uint16_t fields;
};
struct Header {
  std::array<Word, kMostWords> words{};
  std::size_t count = 0, size = 0;
};
enum class Read : std::uint8_t { whole, more, wrong };

Read read_header(Bytes b, Header& into) {
  std::array<std::uint8_t, kGroupBytes> groups{};
  std::size_t bytes = 0, at = 1;
  do {
    if (bytes == kGroupBytes) return Read::wrong;
    if (at == b.size()) return Read::more;
    groups[bytes++] = wire::u8(b, at++);
  } while ((groups[bytes - 1] & kMore) != 0);
  for (std::size_t i = 0; i < bytes; ++i) {
    for (unsigned rest = groups[i] & 0x7FU; rest != 0; rest &= rest - 1) {
      const auto group =
          static_cast<std::uint8_t>(8 * i + static_cast<unsigned>(std::countr_zero(rest)));
      if (kGroups[group] == &kNone) return Read::wrong;
      for (std::uint8_t first = 0;; first = 16) {
        if (at + 2 > b.size()) return Read::more;
        const std::uint16_t fields = wire::u16(b, at);
        const bool ends = (fields & kMoreFields) == 0;
        at += 2;
        if (into.count == kMostWords || fields == 0 || (first != 0 && !ends)) return Read::wrong;
        into.words[into.count++] = {group, first, static_cast<std::uint16_t>(fields & 0x7FFF)};
        if (ends) break;
      }
    }
  }
  into.size = at;
  return into.count == 0 ? Read::wrong : Read::whole;
}

// Calls visit(group, field, offset) for each field; returns the message's length, kNeedMore or
// kNotAFrame.
template <class Visit>
std::size_t walk(Bytes b, Visit&& visit) {
  Header header;
  const Read read = read_header(b, header);
  if (read != Read::whole) return read == Read::more ? kNeedMore : kNotAFrame;
  std::size_t at = header.size;
  for (std::size_t i = 0; i < header.count; ++i) {
    const Word& word = header.words[i];
    for (unsigned rest = word.fields; rest != 0; rest &= rest - 1) {
      const unsigned field = word.first_bit + static_cast<unsigned>(std::countr_zero(rest));
      std::size_t size = (*kGroups[word.group])[field];
      if (size == 0) return kNotAFrame;
      if (is_gnss(word.group) && (field == 14 || field == 16)) {
        size = told_size(static_cast<std::uint16_t>(size), b.subspan(std::min(at, b.size())));
        if (size == 0) return kNeedMore;
      }
      visit(word.group, field, at);
      at += size;
      if (at + kCrc > kMaxBinary) return kNotAFrame;
    }
  }
  return at + kCrc;
}

double f32(Bytes b, std::size_t at) { return std::bit_cast<float>(wire::u32(b, at)); }
Vector vector(Bytes b, std::size_t at, double unit = 1) {
  return inertial::from_frd({f32(b, at) * unit, f32(b, at + 4) * unit, f32(b, at + 8) * unit});
}

// What is taken only where nothing better is in the message.
struct Second {
  std::optional<Vector> accel{}, gyro{}, mag{};
  std::optional<std::size_t> angles{};  // where they are
  bool is_quaternion_there = false;
};

void take_quaternion(ImuSample& s, Second& second, Bytes b, std::size_t at) {
  second.is_quaternion_there = true;
  s.orientation =
      inertial::from_ned_frd({f32(b, at + 12), f32(b, at), f32(b, at + 4), f32(b, at + 8)});
}

void take(Measurement& m, Second& second, Bytes b, unsigned group, unsigned field, std::size_t at) {
  ImuSample& s = m.sample;
  const auto key = [](unsigned of_group, unsigned bit) { return of_group << 8 | bit; };
  switch (key(group, field)) {
    case key(kCommonGroup, kTimeStartup):
    case key(kTimeGroup, 0):
      m.since_start_ns = static_cast<std::int64_t>(wire::u64(b, at));
      break;
    case key(kCommonGroup, 3):
    case key(kAttitudeGroup, 1):
      second.angles = at;
      break;
    case key(kCommonGroup, kQuaternion):
    case key(kAttitudeGroup, 2):
      take_quaternion(s, second, b, at);
      break;
    case key(kCommonGroup, kRate):
    case key(kImuGroup, 10):
      s.gyro = vector(b, at);
      break;
    case key(kCommonGroup, kAccel):
    case key(kImuGroup, 9):
      s.accel = vector(b, at);
      break;
    case key(kCommonGroup, 9):
      second.accel = vector(b, at);
      second.gyro = vector(b, at + 12);
      break;
    case key(kCommonGroup, kMagPres):
      s.mag = vector(b, at, kTesla);
      s.temperature = f32(b, at + 12);
      s.pressure = f32(b, at + 16) * kPascal;
      break;
    case key(kCommonGroup, kDeltas):
      s.delta_angle = vector(b, at + 4, inertial::kRadPerDeg);
      s.delta_velocity = vector(b, at + 16);
      break;
    case key(kImuGroup, 1):
      second.mag = vector(b, at, kTesla);
      break;
    case key(kImuGroup, 2):
      second.accel = vector(b, at);
      break;
    case key(kImuGroup, 3):
      second.gyro = vector(b, at);
      break;
    case key(kImuGroup, 4):
      s.temperature = f32(b, at);
      break;
    case key(kImuGroup, 5):
      s.pressure = f32(b, at) * kPascal;
      break;
    case key(kImuGroup, 6):
      s.delta_angle = vector(b, at + 4, inertial::kRadPerDeg);
      break;
    case key(kImuGroup, 7):
      s.delta_velocity = vector(b, at);
      break;
    case key(kImuGroup, 8):
      s.mag = vector(b, at, kTesla);
      break;
    default:  // nothing that an inertial sample has
      break;
  }
}

}  // namespace

std::size_t measure_binary(Bytes b) {
  return walk(b, [](unsigned, unsigned, std::size_t) {});
}

bool is_intact_binary(Bytes message) { return wire::crc16(message.subspan(1)) == 0; }

std::size_t size_of_common(unsigned fields) {
  std::size_t size = 4 + kCrc;
  for (unsigned bit = 0; bit < 15; ++bit) size += (fields >> bit & 1) != 0 ? kCommon[bit] : 0;
  return size;
}

bool Measurement::carries_anything() const {
  const ImuSample& s = sample;
  return s.accel || s.gyro || s.orientation || s.mag || s.pressure || s.temperature ||
         s.delta_velocity || s.delta_angle;
}

bool measured(Bytes message, Measurement& into) {
  Second second;
  walk(message, [&](unsigned group, unsigned field, std::size_t at) {
    take(into, second, message, group, field, at);
  });
  ImuSample& s = into.sample;
  if (!s.accel) s.accel = second.accel;
  if (!s.gyro) s.gyro = second.gyro;
  if (!s.mag) s.mag = second.mag;
  if (second.angles && !second.is_quaternion_there) {
    const auto rad = [&](std::size_t i) {
      return f32(message, *second.angles + 4 * i) * inertial::kRadPerDeg;
    };
    s.orientation = inertial::from_ned_frd(inertial::from_euler(rad(2), rad(1), rad(0)));
  }
  const bool sane =
      !into.since_start_ns || (*into.since_start_ns >= 0 && *into.since_start_ns <= kLargestStamp);
  return sane && inertial::is_sensible(s, {});
}

std::uint32_t kind_of(Bytes message) {
  Header header;
  read_header(message, header);
  std::uint32_t kind = 0;
  for (const Word& word : std::span(header.words).first(header.count)) {
    kind = kind * 0x0100'0193U + (word.fields | std::uint32_t{word.group} << 16);
  }
  return kind;
}

}  // namespace drivers::vn
