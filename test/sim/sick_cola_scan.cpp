#include "test/sim/sick_cola_scan.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "hal/text.h"
#include "test/sim/room.h"
#include "test/sim/wire.h"

namespace sim::sick_cola {
namespace {

using cola::Dialect;
using cola::Telegram;

constexpr double kBehind = 0.4;  // m between echoes
constexpr double kStrongest16 = 39169.0, kStrongest8 = 254.0;

struct Echoes {
  std::vector<double> ranges;  // m, nearest first; empty = no return
};

Echoes look_at(const Model& model, int beam, double range) {
  Echoes seen;
  if (range == 0.0) return seen;
  int count = beam % 2 == 0 ? 2 : 1;
  if (beam % 4 == 0) count = 3;
  if (beam % 8 == 0) count = model.echoes;
  for (int i = 0; i < std::min(count, model.echoes); ++i)
    seen.ranges.push_back(range + kBehind * i);
  return seen;
}

// The beams of one scan, echo by echo.
std::vector<Echoes> measure(const Model& model, const Scan& scan, const Look& look,
                            std::vector<TrueBeam>& truth) {
  std::vector<Echoes> all;
  const double tilt = std::cos(radians(scan.layer_deg));
  for (int i = 0; i < scan.sector.beams(); ++i) {
    const int beam = scan.sector.first + i;
    const double angle = radians(scan.sector.angle_deg(beam) - 90.0);
    Echoes seen = look_at(model, beam, Room::range(angle) / tilt);
    if (look.filter != EchoFilter::all && !seen.ranges.empty())
      seen.ranges = {look.filter == EchoFilter::first ? seen.ranges.front() : seen.ranges.back()};
    const hal::Time at =
        scan.first +
        hal::Duration(static_cast<std::int64_t>(static_cast<double>(i) * scan.beam_ns));
    truth.push_back({at, angle, seen.ranges.empty() ? 0.0 : seen.ranges.front()});
    all.push_back(std::move(seen));
  }
  return all;
}

void channel_head(Telegram& to, const Scan& scan, const char* kind, int number, double scale,
                  std::size_t count) {
  const auto name = hal::Text<8>::of("%s%d", kind, number);
  to.word(name.view().substr(0, 5)).f32(scale).f32(0.0);
  to.i32(std::lround(scan.sector.angle_deg(scan.sector.first) * 1e4));
  to.u16(scan.sector.step_units());
  to.u16(count);
}

void put_ranges(Telegram& to, const Model& model, const Scan& scan, const Look& look, int echo,
                const std::vector<Echoes>& beams) {
  channel_head(to, scan, "DIST", echo + 1, look.scale, beams.size());
  for (const Echoes& beam : beams) {
    const auto at = static_cast<std::size_t>(echo);
    if (at >= beam.ranges.size()) {
      to.u16(echo == 0 ? model.no_return : 0);
      continue;
    }
    const double steps = beam.ranges[at] * 1000.0 / look.scale;
    to.u16(static_cast<std::uint64_t>(std::lround(std::min(steps, 65535.0))));
  }
}

void put_strengths(Telegram& to, const Scan& scan, bool wide, int echo,
                   const std::vector<Echoes>& beams) {
  channel_head(to, scan, "RSSI", echo + 1, 1.0, beams.size());
  for (const Echoes& beam : beams) {
    const auto at = static_cast<std::size_t>(echo);
    const double most = wide ? kStrongest16 : kStrongest8;
    const double found = at < beam.ranges.size() ? most / (1.0 + 0.2 * beam.ranges[at]) : 0.0;
    const auto value = static_cast<std::uint64_t>(std::lround(found));
    wide ? to.u16(value) : to.u8(value);
  }
}

// Neighbours of 0x0202 look like the beginning of a telegram.
void put_unknown(Telegram& to, const Scan& scan) {
  to.word("VANGL").f32(1.0).f32(0.0);
  to.i32(std::lround(scan.sector.angle_deg(scan.sector.first) * 1e4));
  to.u16(0).u16(7);
  for (int i = 0; i < 7; ++i) to.u16(0x0202);
}

// Without a time server the date is that of 1970 plus the time since power-up.
void put_time(Telegram& to, std::int64_t device_us) {
  const std::int64_t seconds = device_us / 1'000'000;
  const auto part = [&](std::int64_t unit, std::int64_t modulus) {
    return static_cast<std::uint64_t>(seconds / unit % modulus);
  };
  to.u16(1970).u8(1).u8(1 + part(86400, 31)).u8(part(3600, 24)).u8(part(60, 60)).u8(part(1, 60));
  to.u32(static_cast<std::uint64_t>(device_us % 1'000'000));
}

void put_encoders(Telegram& to, const Model& model, const Scan& scan, const Content& content) {
  const int wanted = std::popcount(content.encoder_low & 0x7U);
  const int count = model.has_encoder ? wanted : 0;
  to.u16(static_cast<std::uint64_t>(count));
  for (int i = 0; i < count; ++i)
    to.u32(static_cast<std::uint64_t>(scan.scan_count) * 12 + static_cast<std::uint64_t>(i))
        .u16(180);
}

int echoes_sent(const Model& model, const Look& look) {
  if (look.filter != EchoFilter::all) return 1;
  return std::clamp(std::popcount(look.content.channels_low & 0x1FU), 1, model.echoes);
}

void put_tail(Telegram& to, const Scan& scan, const Content& content, std::string_view location) {
  to.u16(content.position != 0 ? 1 : 0);
  if (content.position != 0) to.f32(1.5).f32(-2.25).f32(0.5).f32(0.0).f32(0.0).f32(30.0).u8(0);
  to.u16(content.name != 0 ? 1 : 0);
  if (content.name != 0) to.text(location, 1);
  to.u16(content.comment != 0 ? 1 : 0);
  if (content.comment != 0) to.text("", 1);  // a name of no letters
  to.u16(content.time != 0 ? 1 : 0);
  if (content.time != 0) put_time(to, scan.device_us);
  to.u16(0);
}

}  // namespace

ByteVector scan_telegram(const Model& model, const Scan& scan, const Look& look, Dialect dialect,
                         std::string_view head, std::string_view location,
                         std::vector<TrueBeam>& truth) {
  const std::vector<Echoes> beams = measure(model, scan, look, truth);
  const Content& content = look.content;
  Telegram to(dialect, head);
  to.u16(model.version).u16(1).u32(model.serial);
  to.u8(model.device_status >> 8).u8(model.device_status & 0xFFU);
  to.u16(scan.telegram_count).u16(scan.scan_count);
  to.u32(static_cast<std::uint32_t>(scan.device_us));
  to.u32(static_cast<std::uint32_t>(scan.transmit_us));
  to.u8(0).u8(0).u8(8).u8(0);
  to.u16(static_cast<std::uint16_t>(std::lround(scan.layer_deg * 100.0)));
  to.u32(static_cast<std::uint64_t>(std::lround(scan.hz * 100.0)));
  to.u32(static_cast<std::uint64_t>(std::lround(scan.hz * scan.sector.steps_per_turn / 100.0)));
  put_encoders(to, model, scan, content);
  const int echoes = echoes_sent(model, look);
  const bool strengths = content.remission != 0;
  const bool wide = strengths && content.wide_remission != 0;
  to.u16(static_cast<std::uint64_t>(echoes * (wide ? 2 : 1) + (look.unknown_channel ? 1 : 0)));
  for (int i = 0; i < echoes; ++i) put_ranges(to, model, scan, look, i, beams);
  if (look.unknown_channel) put_unknown(to, scan);
  for (int i = 0; wide && i < echoes; ++i) put_strengths(to, scan, true, i, beams);
  const bool narrow = strengths && !wide;
  to.u16(static_cast<std::uint64_t>(narrow ? echoes : 0));
  for (int i = 0; narrow && i < echoes; ++i) put_strengths(to, scan, false, i, beams);
  put_tail(to, scan, content, location);
  return to.frame();
}

void falsify_scan(ByteVector& frame, Random& random) {
  std::string text;
  for (const std::byte b : frame) text += static_cast<char>(b);
  const std::size_t name = text.find("LMDscandata ");
  const std::size_t dist = text.find("DIST1");
  if (name == std::string::npos || dist == std::string::npos) return;
  if (text[1] != '\x02') {  // text: each other range reads FFFF
    for (std::size_t i = dist + 40; i + 4 < text.size(); ++i)
      if (text[i] == ' ' && text[i + 4] == ' ' && random.chance(0.5)) text.replace(i + 1, 3, "FFF");
  } else {
    const std::size_t count = dist + 5 + 4 + 4 + 4 + 2, ranges = count + 2;
    if (random.chance(0.25)) text.replace(count, 2, "\xFF\xFF");
    for (std::size_t i = ranges; i + 40 < text.size() && i < ranges + 500; ++i)
      text[i] = static_cast<char>(random.below(256));
    char check = 0;
    for (std::size_t i = 8; i + 1 < text.size(); ++i) check = static_cast<char>(check ^ text[i]);
    text.back() = check;
  }
  frame.clear();
  put_text(frame, text);
}

}  // namespace sim::sick_cola
