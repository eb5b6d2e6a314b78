#include "drivers/bluesea/bluesea.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "drivers/rounding.h"
#include "drivers/text_line.h"
#include "drivers/wire.h"

namespace drivers {
namespace {

using Format = BlueseaFraming::Format;

constexpr double kRadPerDeg = std::numbers::pi / 180;
constexpr int kUsualRpm = 600;
constexpr double kMostTurnsHz = 30, kLeastTurnsHz = 5;
constexpr int kUnstopped = 5;  // packets
constexpr std::uint32_t kUnixInNtp = 2'208'988'800;
// One rate is documented; the others are usual.
constexpr std::array kBauds{768'000, 230'400, 460'800, 921'600, 115'200};

constexpr std::array kOptions{
    OptionSpec{.key = "unit",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "auto",
               .choices = "auto|mm|cm",
               .help = "of distance; auto: asks for mm and believes what "
                       "packets say of it"},
    OptionSpec{.key = "intensity",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "true",
               .help = "asks for intensities; packets of two bytes a point "
                       "then measure to 8.191 m"},
    OptionSpec{.key = "clockwise",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "true",
               .help = "false: the device was set to turn the other way (LSCCW)"},
    OptionSpec{.key = "rpm",
               .type = OptionType::integer,
               .unit = "1/min",
               .fallback = "0",
               .min = 0,
               .max = 1800,
               .help = "turns per minute to ask for, at least 120; 0: as it is"},
};

int asked_rpm(const Options& options) {
  const int rpm = options.integer("rpm");
  return rpm > 0 ? std::max(rpm, 120) : 0;
}

// By UDP commands stand in frames, and not all that a line knows are known there.
constexpr unsigned kText = 0x43, kSet = 0x53, kKeepAlive = 0x4B41;
// A line whose rate is not known (a pty) is none.
bool is_network(const Request& request) { return request.own().port(Channel::data) != 0; }

void frame_of(Request& request, unsigned command, unsigned serial, std::string_view payload) {
  const std::size_t padded = (payload.size() + 3) / 4 * 4;
  request.text("LH").u16(command).u16(serial).u16(static_cast<unsigned>(padded)).text(payload);
  for (std::size_t i = payload.size(); i < padded; ++i) request.u8(0);
  request.u32(BlueseaFraming::crc_of(request.view()));
}

// What a reply says, of a line or in a frame of this serial number; empty: nothing.
std::string_view said_in(Bytes frame, unsigned serial) {
  if (BlueseaFraming::kind_of(frame) == BlueseaFraming::Kind::text) return text_of(frame);
  if (wire::u16(frame, 4) != serial) return {};
  const std::string_view text = text_of(frame.subspan(8, wire::u16(frame, 6)));
  return text.substr(0, text.find('\0'));
}

double forward(double from, double to) { return std::fmod(to - from + 720, 360); }

bool tells_angles(Format format) { return format == Format::c7 || format == Format::aa; }

}  // namespace

Finding Bluesea::finding() {
  static constexpr std::uint16_t kUdp[] = {6668};
  return {.bauds = kBauds, .asks_first = true, .udp = kUdp};
}

std::span<const OptionSpec> Bluesea::options() { return kOptions; }

// The number of points is nowhere told: the most that the line carries.
Figures Bluesea::figures(const Options& options, int baud) {
  const int rpm = asked_rpm(options);
  const double beams_hz = (baud > 0 ? baud : kBauds[0]) / 10.0 / 2;
  return {.packets_hz = std::min(beams_hz / 10, 40 * kMostTurnsHz),
          .turns_hz = kMostTurnsHz,
          .beams_per_turn = static_cast<std::size_t>(
              std::ceil(beams_hz / (rpm > 0 ? rpm / 120.0 : kLeastTurnsHz))),
          .bytes_per_s = 0,
          .delivery = {}};
}

Bluesea::Unit Bluesea::unit_of(const Options& options) {
  const std::string_view unit = options.text("unit");
  return unit == "cm" ? Unit::cm : unit == "mm" ? Unit::mm : Unit::as_told;
}

Bluesea::Bluesea(const Options& options)
    : unit_(unit_of(options)),
      has_intensity_(options.flag("intensity")),
      is_clockwise_(options.flag("clockwise")),
      rpm_(asked_rpm(options)) {
  restart();
}

void Bluesea::restart() {
  about_.clear();
  framing_.forget();
  unstopped_ = 0;
  narrow_ = 36;
  turn_ns_ = 60e9 / (rpm_ > 0 ? rpm_ : kUsualRpm);
  rate_.restart(false);
  is_new_ = false;
  at_ = last_ = -1;
  stamp_ns_ = -1;
  raw_ns_ = slack_ns_ = 0;
  taken_ = 0;
}

std::span<const Step<Bluesea>> Bluesea::start_script() {
  using namespace std::chrono_literals;
  using B = Bluesea;
  constexpr auto go_on = IfUnanswered::go_on;
  static constexpr std::array kSteps{
      Step<B>{"stop", &B::send_stop, nullptr, 30ms},
      Step<B>{"get type", &B::ask_type, &B::answered, 60ms, 1, go_on, kBauds},
      Step<B>{"get serial number", &B::ask_serial, &B::answered, 100ms, 2, go_on},
      Step<B>{"get version", &B::ask_version, &B::answered, 100ms, 2, go_on},
      Step<B>{"set unit", &B::set_unit, &B::answered, 100ms, 2, go_on},
      Step<B>{"set intensity", &B::set_intensity, &B::answered, 100ms, 2, go_on},
      Step<B>{"set speed", &B::set_speed, &B::answered, 200ms, 3},
      // Its motor may take a while; who never answered is tried anew soon.
      Step<B>{"start", &B::send_start, &B::started, 1s, 4},
      Step<B>{"start unheard", &B::start_unheard, &B::started, 300ms, 2},
  };
  return kSteps;
}

std::span<const Step<Bluesea>> Bluesea::stop_script() {
  using namespace std::chrono_literals;
  static constexpr std::array kSteps{Step<Bluesea>{"stop", &Bluesea::send_stop, nullptr, 10ms}};
  return kSteps;
}

std::span<const Routine<Bluesea>> Bluesea::routines() const {
  using namespace std::chrono_literals;
  static constexpr std::array kSteps{Step<Bluesea>{"keep alive", &Bluesea::keep_alive}};
  static constexpr std::array kRoutines{Routine<Bluesea>{1s, kSteps}};
  return kRoutines;
}

bool Bluesea::say(Request& request, std::string_view command, std::string_view reply) {
  expected_ = reply;
  if (is_network(request)) {
    serial_ = (serial_ + 1) & 0xFFFF;
    frame_of(request, command.starts_with("LSRPM") ? kSet : kText, serial_, command);
  } else {
    request.text(command);
  }
  return true;
}

bool Bluesea::keep_alive(Request& request) {
  if (!is_network(request)) return false;
  const std::int64_t ms = hal::to_ns(request.now()) / 1'000'000 % 3'600'000;
  std::array<char, 32> payload{};
  for (std::size_t i = 0; i < 4; ++i) payload[i] = static_cast<char>(ms >> 8 * i & 0xFF);
  serial_ = (serial_ + 1) & 0xFFFF;
  frame_of(request, kKeepAlive, serial_, {payload.data(), payload.size()});
  return true;
}

bool Bluesea::send_stop(Request& request) { return say(request, "LSTOPH", {}); }
// One that still streams is stopped again first.
bool Bluesea::ask_type(Request& request) {
  return !is_network(request) && say(request, "LSTOPHLTYPEH", "TYPE ID:");
}
bool Bluesea::ask_serial(Request& request) {
  return answers() && !is_network(request) && say(request, "LUUIDH", "PRODUCT SN:");
}
bool Bluesea::ask_version(Request& request) {
  return (answers() || is_network(request)) && say(request, "LVERSH", "MOTOR VERSION:");
}
bool Bluesea::set_unit(Request& request) {
  return answers() && !is_network(request) &&
         say(request, unit_ == Unit::cm ? "LMDCMH" : "LMDMMH", "SET LiDAR ");
}
bool Bluesea::set_intensity(Request& request) {
  return answers() && !is_network(request) &&
         say(request, has_intensity_ ? "LOCONH" : "LNCONH", "LiDAR ");
}
bool Bluesea::set_speed(Request& request) {
  if (rpm_ == 0) return false;
  const char* const reply = is_network(request) ? "OK" : "Set RPM:";
  return say(request, hal::Text<24>::of("LSRPM:%dH", rpm_).view(), reply);
}
bool Bluesea::send_start(Request& request) { return answers() && say(request, "LSTARH", {}); }
bool Bluesea::start_unheard(Request& request) { return !answers() && say(request, "LSTARH", {}); }

Reply Bluesea::answered(const Frame& frame) {
  // One that does not stop may not listen at all, and measures.
  const bool packet = Framing::kind_of(frame.bytes) == Framing::Kind::packet;
  if (packet && ++unstopped_ >= kUnstopped) return Reply::measured();
  const Framing::Kind kind = Framing::kind_of(frame.bytes);
  if (kind != Framing::Kind::text && kind != Framing::Kind::answer) return Reply::not_mine();
  const std::string_view text = said_in(frame.bytes, serial_);
  if (text == "ER") return Reply::refused(hal::Text<96>::of("it answered ER"));
  if (!text.starts_with(expected_)) return Reply::not_mine();
  if (expected_.ends_with(':') && expected_ != "Set RPM:") {
    const std::string_view value = text.substr(expected_.size());
    const auto before = about_;
    about_.print("%s%s%.*s", before.c_str(), before.empty() ? "" : ", ",
                 static_cast<int>(value.size()), value.data());
  }
  return Reply::done();
}

Reply Bluesea::started(const Frame& frame) {
  return Framing::kind_of(frame.bytes) == Framing::Kind::packet ? Reply::measured()
                                                                : Reply::not_mine();
}

void Bluesea::decode(const Frame& frame, Decoded& out) {
  switch (Framing::kind_of(frame.bytes)) {
    case Framing::Kind::packet:
      return decode_packet(frame, out);
    case Framing::Kind::alarm:
      return out.fault(hal::Text<96>::of("alarm 0x%02X", unsigned{wire::u8(frame.bytes, 3)}));
    case Framing::Kind::status:
    case Framing::Kind::text:
    case Framing::Kind::answer:
      return;
  }
}

void Bluesea::decode_packet(const Frame& frame, Decoded& out) {
  const Bytes b = frame.bytes;
  const std::size_t n = Framing::points_of(b);
  const std::optional<Fan> fan = fan_of(b);
  if (!fan) return out.undecodable();
  const bool goes_on = fan->stamp && *fan->stamp == stamp_ns_;
  if (goes_on && fan->offset < taken_) return;  // it comes twice
  if (!goes_on) turn_on(*fan, frame.last_at);
  taken_ = fan->offset + n;

  fill_beams(b, *fan);
  const double per_point = fan->span / static_cast<double>(fan->points);
  const double last = fan->begin + per_point * static_cast<double>(fan->offset + n - 1);
  const hal::Duration step(nearest(per_point / 360 * turn_ns_));
  const auto clock = fan->is_utc ? Timing::Source::utc : Timing::Source::clock;
  const Timing timing{.source = fan->stamp ? clock : Timing::Source::counter,
                      .raw_ns = fan->stamp.value_or(nearest(raw_ns_ + slack_ns_)),
                      .anew = !fan->stamp && is_new_,
                      .shared = goes_on,
                      .arrival = frame.last_at - step * static_cast<std::int64_t>(taken_ - 1),
                      .bytes = b.size(),
                      .to_first = step * static_cast<std::int64_t>(fan->offset),
                      .period = hal::Duration(fan->stamp ? 0 : nearest(turn_ns_))};
  const bool two = Framing::point_size(b) == 2;
  out.add(ScanSlice{.step = step,
                    .starts_turn = passes_turn(within(last, 360)),
                    .has_intensity = !two || has_intensity_,
                    .beams = std::span(beams_).first(n)},
          timing);
}

// Empty: it makes no sense.
std::optional<Bluesea::Fan> Bluesea::fan_of(Bytes b) {
  const std::size_t n = Framing::points_of(b);
  Fan fan{.points = n, .is_mm = unit_ != Unit::cm};
  std::uint32_t flags = fan.is_mm ? 1 : 0;
  const Format format = Framing::format_of(b);
  const auto ms = [](std::uint32_t v) { return std::int64_t{v} * 1'000'000; };
  switch (format) {
    case Format::ce:
      fan.begin = wire::u16(b, 4) / 10.0;
      fan.span = span_of_ce(fan.begin);
      break;
    case Format::cf:
      fan.begin = wire::u16(b, 4) / 10.0;
      fan.span = wire::u16(b, 6) / 10.0;
      break;
    case Format::df: {
      fan.begin = wire::u16(b, 10) / 100.0;
      const double between = forward(fan.begin, wire::u16(b, 12) / 100.0);
      const auto steps = static_cast<double>(n);
      fan.span = n > 1 ? between * steps / (steps - 1) : wire::u16(b, 6) / 10.0;
      break;
    }
    case Format::c7:
    case Format::aa:
      fan.points = wire::u16(b, 4);
      fan.offset = wire::u16(b, 6);
      fan.begin = wire::u32(b, 8) / 1000.0;
      fan.span = (wire::u32(b, 12) - wire::u32(b, 8)) / 1000.0;
      flags = wire::u32(b, 16);
      fan.stamp = ms(wire::u32(b, 20));
      if (format == Format::aa) {
        const std::uint32_t s = wire::u32(b, 20), ns = wire::u32(b, 24);
        fan.is_utc = s >= kUnixInNtp;
        fan.stamp = std::int64_t{fan.is_utc ? s - kUnixInNtp : s} * 1'000'000'000 + ns;
      }
      break;
    case Format::x99: {
      const double step = 360.0 / wire::u16(b, 6);
      fan.begin = wire::u16(b, 4) * step;
      flags = wire::u32(b, 8);
      fan.stamp = ms(wire::u32(b, 12));
      if (*fan.stamp == stamp_ns_) {
        fan.offset = static_cast<std::size_t>(nearest(forward(at_, fan.begin) / step));
        fan.begin = at_;
      }
      fan.points = fan.offset + n;
      fan.span = step * static_cast<double>(fan.points);
      break;
    }
  }
  if (unit_ == Unit::as_told) fan.is_mm = (flags & 1) != 0;
  const bool good =
      fan.begin <= 360 && fan.span > 0 && fan.span <= 361 && fan.offset + n <= fan.points;
  return good ? std::optional(fan) : std::nullopt;
}

double Bluesea::span_of_ce(double begin) {
  if (at_ >= 0 && std::abs(forward(at_, begin) - 9) < 0.05) narrow_ = 9;
  return narrow_ > 9 && begin == 342 ? 18 : narrow_;
}

// A new fan. Whole turns that got lost without a stamp are left to the clock.
void Bluesea::turn_on(const Fan& fan, hal::Time arrival) {
  const double counted = at_ < 0 ? 0 : forward(at_, fan.begin) / 360 * turn_ns_;
  raw_ns_ += counted;
  if (fan.stamp && rate_.is_known()) rate_.restart(false);  // its speed is asked for the step only
  const bool was_known = rate_.is_known();
  const double longer = rate_.see(raw_ns_, fan.stamp.value_or(hal::to_ns(arrival)));
  turn_ns_ *= longer;
  if (!rate_.is_known()) slack_ns_ += CountedRate::kSlack * counted;
  is_new_ = rate_.is_known() && (!was_known || longer != 1);
  at_ = fan.begin;
  stamp_ns_ = fan.stamp.value_or(-1);
}

bool Bluesea::passes_turn(double last_deg) {
  return std::exchange(last_, last_deg) - 180 > last_deg;
}

void Bluesea::fill_beams(Bytes b, const Fan& fan) {
  const Format format = Framing::format_of(b);
  const std::size_t n = Framing::points_of(b), head = Framing::head_of(format);
  const std::size_t size = Framing::point_size(b);
  const bool mixed =
      format == Format::cf || format == Format::df || (format == Format::ce && size == 3);
  const bool packed = format == Format::ce && size == 2 && has_intensity_;
  const double m = fan.is_mm ? 1e-3 : 1e-2;
  // Energies stand before each word or behind all of them.
  const std::size_t stride = mixed ? 3 : 2, word = mixed ? head + 1 : head;
  const std::size_t energy = mixed ? head : head + (size - 1) * n, energy_stride = mixed ? 3 : 1;
  const unsigned mask = packed ? 0x1FFF : 0xFFFF;
  for (std::size_t i = 0; i < n; ++i) {
    const unsigned told = wire::u16(b, word + stride * i);
    const unsigned strength = size > 2 ? wire::u8(b, energy + energy_stride * i)
                              : packed ? told >> 13
                                       : 0;
    beams_[i].range = static_cast<float>((told & mask) * m);
    beams_[i].intensity = static_cast<float>(strength);
  }

  const double sense = (is_clockwise_ ? -1 : 1) * kRadPerDeg;
  if (tells_angles(format)) {
    for (std::size_t i = 0; i < n; ++i) {
      const double deg = fan.begin + wire::u16(b, head + 2 * n + 2 * i) * 1e-3;
      beams_[i].angle = static_cast<float>(deg * sense);
    }
    return;
  }
  const double per_point = fan.span / static_cast<double>(fan.points);
  for (std::size_t i = 0; i < n; ++i) {
    const double deg = fan.begin + per_point * static_cast<double>(fan.offset + i);
    beams_[i].angle = static_cast<float>(deg * sense);
  }
}

}  // namespace drivers
