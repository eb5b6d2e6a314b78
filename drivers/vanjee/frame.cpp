#include "drivers/vanjee/frame.h"

#include <array>

#include "drivers/rounding.h"
#include "drivers/wire.h"

namespace drivers {
namespace {

constexpr unsigned k716mini = 0x000D, k718H = 0x000E, k719 = 0x190A;
constexpr std::uint64_t kNtpOfUnix = 2'208'988'800;  // s from 1900 to 1970
constexpr std::size_t kLeast = 30, kTail = 4, kMostPackets = 16;

double hz_716(unsigned code) {
  constexpr std::array kHz = {10.0, 15.0, 25.0, 35.0, 3.0};
  return code < kHz.size() ? kHz[code] : 0;
}
double hz_718(unsigned code) {
  constexpr std::array kHz = {10.0, 15.0, 14.0};
  return code < kHz.size() ? kHz[code] : 0;
}
double hz_719(unsigned code) {
  return code == 3 || code == 4   ? 30
         : code == 5 || code == 6 ? 10
         : code == 7 || code == 8 ? 20
                                  : 0;
}

}  // namespace

std::size_t VanjeeFraming::measure(Bytes b) {
  if (wire::u8(b, 0) != 0xFF) return kNotAFrame;
  if (b.size() >= 2 && wire::u8(b, 1) != 0xAA) return kNotAFrame;
  if (b.size() < 14) return kNeedMore;
  const unsigned device = wire::u16be(b, 12);
  if (device != k716mini && device != k718H && device != k719) return kNotAFrame;
  const std::size_t size = wire::u16be(b, 2) + std::size_t{4};
  const bool fits = size >= kLeast && size <= kMaxFrame;
  if (!fits || wire::u8(b, 10) > 2) return kNotAFrame;
  return b.size() < size || wire::u16be(b, size - 2) == vanjee::kEnd ? size : kNotAFrame;
}

bool VanjeeFraming::intact(Bytes frame) {
  const std::size_t end = frame.size() - kTail;
  if (wire::u16be(frame, end + 2) != vanjee::kEnd) return false;
  return wire::u8(frame, 10) != 1 ||
         wire::xor8(frame.subspan(2, end - 2)) == wire::u8(frame, end + 1);
}

namespace vanjee {

Model model_named(std::string_view option) {
  return option == "718H" ? Model::h718 : option == "719" ? Model::w719 : Model::mini716;
}

const char* name_of(Model model) {
  return model == Model::h718 ? "718H" : model == Model::w719 ? "719" : "716mini";
}

unsigned device_of(Model model) {
  return model == Model::mini716 ? k716mini : model == Model::h718 ? k718H : k719;
}

std::size_t points_per_packet(Model model) {
  return model == Model::w719 ? 300 : model == Model::mini716 ? 600 : 500;
}

hal::Text<96> mismatch(Bytes b, Model wanted) {
  const unsigned device = wire::u16be(b, 12);
  if (device == device_of(wanted)) return {};
  for (const Model model : {Model::mini716, Model::h718, Model::w719}) {
    if (device == device_of(model)) {
      return hal::Text<96>::of("it is a WLR-%s: set model", name_of(model));
    }
  }
  return {};
}

bool is_scan(Bytes b, Model model) {
  if (model == Model::w719) return b.size() == 1234 && wire::u8(b, 16) == 5;
  return b.size() > 89 && wire::u8(b, 22) == 2 && (wire::u8(b, 23) == 2 || wire::u8(b, 23) == 1);
}

std::optional<Head> read_head(Bytes b, Model model) {
  Head head;
  if (model == Model::w719) {
    head.hz = hz_719(wire::u8(b, 17));
    head.number = wire::u8(b, 18);
    head.n = points_per_packet(model);
    head.data = 21;
    head.ntp = 1221;
    if (head.hz == 0) return std::nullopt;
    head.packets = static_cast<std::size_t>(nearest(360 / head.hz));
  } else {
    const bool is_mini = model == Model::mini716;
    const unsigned code = wire::u8(b, 79);
    head.turn = wire::u32be(b, is_mini ? 75 : 74);
    head.hz = is_mini ? hz_716(code) : hz_718(code);
    head.packets = wire::u8(b, 80);
    head.number = wire::u8(b, 81);
    head.is_intensity = wire::u8(b, 82) == 1;
    head.n = wire::u16be(b, 83);
    head.data = 85;
    const std::size_t end = head.data + 2 * head.n;
    const bool tells_time = is_mini || (wire::u8(b, 20) & 1U) != 0;
    if (wire::u8(b, 82) > 1 || head.packets > kMostPackets || end + kTail > b.size()) {
      return std::nullopt;
    }
    if (tells_time && (is_mini || end + 8 + kTail <= b.size())) head.ntp = is_mini ? 14 : end;
    if (head.n > points_per_packet(model)) return std::nullopt;
  }
  const bool is_one = head.number >= 1 && head.number <= head.packets;
  return is_one && head.n > 0 && head.hz > 0 ? std::optional(head) : std::nullopt;
}

std::size_t Head::index() const {
  const std::size_t half = packets / 2;
  const bool behind = is_intensity && number > half;
  return number - 1 - (behind ? half : 0);
}

std::optional<std::int64_t> unix_ns_in(Bytes b, const Head& head) {
  const std::uint64_t seconds = head.ntp == 0 ? 0 : wire::u32be(b, head.ntp);
  if (seconds < kNtpOfUnix) return std::nullopt;
  const std::uint64_t fraction = wire::u32be(b, head.ntp + 4);
  return static_cast<std::int64_t>((seconds - kNtpOfUnix) * 1'000'000'000 +
                                   (fraction * 1'000'000'000 >> 32));
}

}  // namespace vanjee
}  // namespace drivers
