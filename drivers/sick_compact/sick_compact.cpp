#include "drivers/sick_compact/sick_compact.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "drivers/inertial.h"

namespace drivers {
namespace {

using namespace std::chrono_literals;

constexpr double kPi = std::numbers::pi, kDegree = kPi / 180;
constexpr double kFieldEnd = 138 * kDegree;  // of a picoScan
constexpr float kAzimuthsPerRad = 5215, kFront = 16384;
constexpr double kSameLayer = 0.5 * kDegree;
constexpr double kMostAngle = 4 * kPi;          // either way
constexpr double kSlowest = 1, kFastest = 200;  // turns/s
constexpr double kWhole = 6e-3, kOther = 3e-2;  // relative
constexpr unsigned kOtherSpeeds = 12;           // two turns
constexpr float kMostMm = 100;                  // of a unit of distance
constexpr std::uint64_t kMostUs = std::uint64_t{1} << 52;
constexpr std::uint64_t kRestartedUs = 500'000;  // a clock that is so far behind began anew

constexpr std::array kOptions{
    OptionSpec{.key = "family",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "auto",
               .choices = "auto|picoscan|multiscan",
               .help = "A picoScan's field ends at 138 deg to each side, whatever it sends beyond. "
                       "auto: a device with several layers is a multiScan."},
    OptionSpec{.key = "elevation_deg",
               .type = OptionType::number,
               .unit = "deg",
               .fallback = "0",
               .min = -90,
               .max = 90,
               .help = "Of several layers the one that is nearest to this elevation."},
    OptionSpec{.key = "echoes",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "all",
               .choices = "all|first|last|keep",
               .help = "Which returns of a beam are sent; keep: as the device is set."},
    OptionSpec{.key = "imu",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "true",
               .help = "Whether the inertial data are wanted, as the sensor NAME/imu."},
};

float f32(Bytes b, std::size_t at) { return std::bit_cast<float>(wire::u32(b, at)); }

std::int64_t ns(std::uint64_t us) { return static_cast<std::int64_t>(us) * 1000; }

}  // namespace

std::span<const OptionSpec> SickCompact::options() { return kOptions; }

Figures SickCompact::figures(const Options& options, int) {
  // 276 deg at 0.05 deg and 15 Hz, or at 0.25 deg and 50 Hz; 12 segments of a multiScan at 20 Hz.
  Figures f;
  f.packets_hz = 250;
  f.turns_hz = 50;
  f.beams_per_turn = 5600;
  f.bytes_per_s = 2.5e6;
  f.delivery = 25ms;  // three datagrams that wait for a lost one, and the pause behind the field
  f.imu_hz = options.flag("imu") ? 200 : 0;
  return f;
}

Finding SickCompact::finding() {
  static constexpr std::uint16_t kUdp[] = {2115};
  return {.udp = kUdp, .control = 2111};
}

SickCompact::SickCompact(const Options& options)
    : family_(options.text("family") == "picoscan"    ? Family::picoscan
              : options.text("family") == "multiscan" ? Family::multiscan
                                                      : Family::unknown),
      echo_filter_(options.text("echoes") == "first"  ? 0
                   : options.text("echoes") == "all"  ? 1
                   : options.text("echoes") == "last" ? 2
                                                      : -1),
      elevation_(options.number("elevation_deg") * kDegree),
      wants_motion_(options.flag("imu")) {}

void SickCompact::restart() {
  segments_.forget();
  frame_.reset();
  turns_hz_ = 0;
  other_speeds_ = 0;
  nearest_.reset();
  has_layers_ = false;
  has_motion_ = true;
  identity_.clear();
  serial_.clear();
  target_.clear();
}

hal::Text<96> SickCompact::about() const {
  hal::Text<96> text;
  if (serial_.empty() && identity_.empty()) return text;
  text.print("%s, serial number %s", identity_.empty() ? "SICK" : identity_.c_str(),
             serial_.empty() ? "unknown" : serial_.c_str());
  if (target_.empty()) return text;
  return hal::Text<96>::of("%s, sends to %s", text.c_str(), target_.c_str());
}

void SickCompact::decode(const Frame& frame, Decoded& out) {
  if (frame.channel == Channel::control) return;
  if (compact::command_of(frame.bytes) == compact::Command::motion) {
    return decode_motion(frame, out);
  }
  Segment& segment = segments_.place();
  segment.slice = {};
  const bool makes_sense = read(frame.bytes, segment);
  if (!makes_sense) {
    segment.slice = {};
    out.undecodable();
  }
  now_ = frame.last_at;
  put_in_order(segment, makes_sense, out);
}

void SickCompact::decode_motion(const Frame& frame, Decoded& out) {
  const Bytes b = frame.bytes;
  const auto at = [b](std::size_t i) { return double{f32(b, i)}; };
  const std::uint64_t us = wire::u64(b, 52);
  const inertial::Quaternion q{at(36), at(40), at(44), at(48)};
  ImuSample sample;
  sample.accel = {at(12), at(16), at(20)};
  sample.gyro = {at(24), at(28), at(32)};
  sample.orientation = inertial::from_enu_flu(q);
  if (us > kMostUs || !inertial::is_sensible(sample, {})) return out.undecodable();
  out.add(sample, {.source = Timing::Source::utc, .raw_ns = ns(us), .arrival = frame.last_at},
          kImuOutput);
}

// The line whose elevation is the wanted one, or of those that were seen the nearest to it.
std::optional<SickCompact::Line> SickCompact::line_in(Bytes telegram) {
  std::optional<Line> found;
  std::size_t at = compact::kHeader, size = wire::u32(telegram, 28), lines = 0;
  compact::Module module;
  for (; size != 0; size = module.next) {
    at += compact::read_module(telegram, at, size, module);
    lines += module.lines;
    for (std::size_t i = 0; i < module.lines; ++i) {
      const double elevation = double{module.elevation(i)}, off = std::abs(elevation - elevation_);
      if (!std::isfinite(elevation)) continue;
      if (!nearest_ || off < std::abs(*nearest_ - elevation_)) nearest_ = elevation;
      const bool is_it = std::abs(elevation - *nearest_) < kSameLayer;
      const bool nearer =
          !found || off < std::abs(double{found->module.elevation(found->number)} - elevation_);
      if (is_it && nearer) found = Line{module, i};
    }
  }
  has_layers_ |= lines > 1;
  return found;
}

// False: it makes no sense.
bool SickCompact::read(Bytes telegram, Segment& segment) {
  const std::optional<Line> line = line_in(telegram);
  segment.counter = wire::u64(telegram, 8);
  segment.sent_us = wire::u64(telegram, 16);
  if (!line || !line->module.has_distance) return false;
  const compact::Module& m = line->module;
  const std::uint64_t first = m.first_us(line->number), last = m.last_us(line->number);
  if (segment.sent_us > kMostUs || last > segment.sent_us || first > last) return false;
  if (last - first > 1'000'000 || segment.sent_us - last > 10'000'000) return false;
  segment.frame = m.frame;
  segment.number = m.segment;
  segment.timing = {.source = Timing::Source::utc,
                    .raw_ns = ns(first),
                    .held = hal::Duration(ns(segment.sent_us - first))};
  if (serial_.empty()) serial_.print("%u", m.serial);
  return fill(*line, segment);
}

// Only what lies within the field was measured.
std::size_t SickCompact::within_field(const Line& line, std::span<const Beam> beams) const {
  const bool is_multiscan = family_ == Family::unknown ? has_layers_ : family_ == Family::multiscan;
  if (is_multiscan) return beams.size();
  const auto gaps = static_cast<double>(std::max<std::size_t>(beams.size() - 1, 1));
  const double step =
      double{line.module.last_angle(line.number) - line.module.first_angle(line.number)} / gaps;
  const auto end = static_cast<float>(kFieldEnd + step / 2);
  std::size_t n = beams.size();
  while (n > 0 && beams[n - 1].angle > end) --n;
  return n;
}

bool SickCompact::fill(const Line& line, Segment& segment) {
  const compact::Module& m = line.module;
  const std::size_t places = m.echoes - 1, n = m.beams;
  if (n > kMostBeams || n * places > kMostFurther) return false;
  const double first = double{m.first_angle(line.number)}, last = double{m.last_angle(line.number)};
  const bool is_sane = std::abs(first) <= kMostAngle && std::abs(last) <= kMostAngle && m.mm > 0 &&
                       m.mm <= kMostMm;  // false of what is no number
  if (!is_sane) return false;
  const double step = n > 1 ? (last - first) / static_cast<double>(n - 1) : 0;
  const float metres = m.mm * 1e-3F;
  const std::size_t stride = m.lines * m.beam_size, rssi_at = 2;
  const std::byte* at = m.data.data() + line.number * m.beam_size;
  const auto u16 = [](const std::byte* b) {
    std::uint16_t v = 0;
    std::memcpy(&v, b, sizeof v);
    if constexpr (std::endian::native == std::endian::big)
      v = static_cast<std::uint16_t>(v << 8 | v >> 8);
    return static_cast<float>(v);
  };
  Echo* further = segment.further.data();
  for (std::size_t i = 0; i < n; ++i, at += stride) {
    Beam& beam = segment.beams[i];
    beam.angle = m.has_azimuth ? (u16(at + m.azimuth_at) - kFront) / kAzimuthsPerRad
                               : static_cast<float>(first + step * static_cast<double>(i));
    beam.range = u16(at) * metres;
    beam.intensity = m.has_rssi ? u16(at + rssi_at) : 0;
    for (std::size_t k = 1; k <= places; ++k) {
      const std::byte* const echo = at + k * m.echo_size;
      *further++ = {u16(echo) * metres, m.has_rssi ? u16(echo + rssi_at) : 0};
    }
  }
  const std::size_t kept = within_field(line, std::span(segment.beams).first(n));
  // The time of the last beam, or of the end of the field.
  const double swept = kept < n ? step * static_cast<double>(kept) : last - first;
  if (segment.number != 0 || turns_hz_ == 0) {
    measure_speed(swept, m.last_us(line.number) - m.first_us(line.number));
  }
  segment.slice = ScanSlice{};
  segment.slice.has_intensity = m.has_rssi;
  segment.slice.beams = std::span(segment.beams).first(kept);
  segment.slice.echoes = std::span(segment.further).first(kept * places);
  const double turns = std::abs(step) / (2 * kPi);
  if (turns_hz_ > 0) segment.slice.step = hal::Duration(std::llround(turns / turns_hz_ * 1e9));
  return true;
}

// A segment that the field cuts short seems faster than the head turns, never slower. So a slower
// one is believed at once, a faster one when all are.
void SickCompact::measure_speed(double angle, std::uint64_t us) {
  if (us == 0) return;
  double hz = std::abs(angle) / (2 * kPi) / (static_cast<double>(us) * 1e-6);
  if (hz < kSlowest || hz > kFastest) return;
  if (std::abs(hz - std::round(hz)) < kWhole * hz) hz = std::round(hz);
  const bool faster = turns_hz_ > 0 && hz > turns_hz_ * (1 + kOther);
  other_speeds_ = faster ? other_speeds_ + 1 : 0;
  if (faster && other_speeds_ < kOtherSpeeds) return;
  turns_hz_ = hz;
}

// Segments are delivered in the order of their counter. One that makes no sense takes its place
// without beams, or it would count as lost, too.
void SickCompact::put_in_order(Segment& segment, bool makes_sense, Decoded& out) {
  const auto give = [&](Segment& next) { deliver(next, out); };
  const std::uint64_t number = segment.counter;
  const bool behind = segments_.is_behind(number);
  const bool restarted = behind && makes_sense && segment.sent_us + kRestartedUs < newest_us_;
  if (!makes_sense && !segments_.is_close(number)) return;
  if (behind && !restarted) {  // the stamper drops what is stale
    if (segment.slice.beams.empty()) return;
    segment.timing.arrival = now_;
    return out.add(segment.slice, segment.timing);
  }
  if (!restarted && segments_.is_waiting(number)) return;  // it came twice
  if (makes_sense) newest_us_ = restarted ? segment.sent_us : std::max(newest_us_, segment.sent_us);
  out.lost(restarted ? segments_.take_anew(number, give) : segments_.take(number, give));
}

void SickCompact::finish(Decoded& out) {
  out.lost(segments_.give_up_all([&](Segment& next) { deliver(next, out); }));
}

void SickCompact::deliver(Segment& segment, Decoded& out) {
  if (segment.slice.beams.empty()) return;
  segment.slice.starts_turn = frame_ ? segment.frame != *frame_ : segment.number == 0;
  frame_ = segment.frame;
  segment.timing.arrival = now_;
  out.add(segment.slice, segment.timing);
}

}  // namespace drivers
