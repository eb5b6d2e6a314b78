#include "drivers/vectornav/vn_ascii.h"

#include <algorithm>
#include <array>

#include "drivers/inertial.h"
#include "drivers/text_line.h"
#include "drivers/wire.h"

namespace drivers::vn {
namespace {

// What the fields of a message are, a letter each: y yaw, pitch, roll; q quaternion x, y, z, w;
// m magnetometer; a acceleration; g rate; t temperature; p pressure; d integral of the rate; v of
// the acceleration; - a field of something else.
struct Layout {
  std::string_view name, fields;
};
constexpr std::array kLayouts{
    Layout{"YPR", "y"},
    Layout{"QTN", "q"},
    Layout{"QMR", "qmag"},
    Layout{"MAG", "m"},
    Layout{"ACC", "a"},
    Layout{"GYR", "g"},
    Layout{"MAR", "mag"},
    Layout{"YMR", "ymag"},
    Layout{"YBA", "y---g"},
    Layout{"YIA", "y---g"},  // accelerations without gravity
    Layout{"IMU", "magtp"},
    Layout{"DTV", "-dv"},
    Layout{"INS", "---y---------"},
    Layout{"INE", "---y---------"},
    Layout{"ISL", "y------ag"},
    Layout{"ISE", "y------ag"},
};

const Layout* layout_of(std::string_view name) {
  const auto* const found = std::ranges::find(kLayouts, name, &Layout::name);
  return found == kLayouts.end() ? nullptr : found;
}

// Takes numbers off the front of the fields.
class Fields {
 public:
  explicit Fields(std::string_view rest) : rest_(rest) {}

  bool skip() {
    if (rest_.empty()) return false;
    take_field(rest_, ',');
    return true;
  }
  bool take(double& into) {
    if (rest_.empty()) return false;
    std::string_view text = take_field(rest_, ',');
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto value = number_in<double>(text);
    into = value.value_or(0);
    return value.has_value();
  }
  template <std::size_t N>
  bool take(std::array<double, N>& into) {
    return std::ranges::all_of(into, [this](double& v) { return take(v); });
  }
  // A count and a status may be appended.
  bool ends() {
    while (rest_.starts_with('T') || rest_.starts_with('S')) take_field(rest_, ',');
    return rest_.empty();
  }

 private:
  std::string_view rest_;
};

bool take_vector(Fields& fields, std::optional<inertial::Vector>& into, double unit) {
  inertial::Vector v{};
  if (!fields.take(v)) return false;
  for (double& x : v) x *= unit;
  into = inertial::from_frd(v);
  return true;
}

bool take_number(Fields& fields, std::optional<double>& into, double unit) {
  double v = 0;
  if (!fields.take(v)) return false;
  into = v * unit;
  return true;
}

bool take_angles(Fields& fields, ImuSample& s) {
  std::array<double, 3> ypr{};
  if (!fields.take(ypr)) return false;
  for (double& angle : ypr) angle *= inertial::kRadPerDeg;
  s.orientation = inertial::from_ned_frd(inertial::from_euler(ypr[2], ypr[1], ypr[0]));
  return true;
}

bool take_quaternion(Fields& fields, ImuSample& s) {
  std::array<double, 4> q{};
  if (!fields.take(q)) return false;
  s.orientation = inertial::from_ned_frd({q[3], q[0], q[1], q[2]});
  return true;
}

bool take(char letter, Fields& fields, ImuSample& s) {
  switch (letter) {
    case 'y':
      return take_angles(fields, s);
    case 'q':
      return take_quaternion(fields, s);
    case 'm':
      return take_vector(fields, s.mag, 1e-4);
    case 'a':
      return take_vector(fields, s.accel, 1);
    case 'g':
      return take_vector(fields, s.gyro, 1);
    case 't':
      return take_number(fields, s.temperature, 1);
    case 'p':
      return take_number(fields, s.pressure, 1e3);
    case 'd':
      return take_vector(fields, s.delta_angle, inertial::kRadPerDeg);
    case 'v':
      return take_vector(fields, s.delta_velocity, 1);
    default:
      return fields.skip();
  }
}

}  // namespace

std::size_t measure_text(Bytes b) {
  for (std::size_t i = 1; i < std::min<std::size_t>(b.size(), 3); ++i) {
    if (wire::u8(b, i) != "$VN"[i]) return kNotAFrame;
  }
  const std::size_t n = measure_line(b.first(std::min(b.size(), kMaxText)), kMaxText);
  // Another message may begin in one that was cut off.
  const std::size_t looked = std::min({n, b.size(), kMaxText});
  for (std::size_t i = 3; i < looked; ++i) {
    if (b[i] == std::byte{'$'}) return kNotAFrame;
  }
  return n;
}

bool is_intact_text(Bytes message) {
  const std::string_view text = text_of(message);
  const std::size_t star = text.find('*');
  if (star == text.npos || star < 6) return false;
  const std::string_view digits = text.substr(star + 1);
  const auto told = number_in<unsigned>(digits, 16);
  const Bytes checked = message.subspan(1, star - 1);
  if (!told || digits.find_first_of("abcdef") != digits.npos) return false;
  if (text.size() == star + 3) return *told == wire::xor8(checked);
  return text.size() == star + 5 && *told == wire::crc16(checked);
}

TextMessage text_message(Bytes message) {
  std::string_view text = text_of(message);
  text = text.substr(3, text.find('*') - 3);
  const std::string_view name = take_field(text, ',');
  return {name, text};
}

bool is_measurement(std::string_view name) { return layout_of(name) != nullptr; }

bool measured(const TextMessage& message, Measurement& into) {
  const Layout* const layout = layout_of(message.name);
  if (layout == nullptr) return true;
  Fields fields(message.rest);
  const bool read = std::ranges::all_of(
      layout->fields, [&](char letter) { return take(letter, fields, into.sample); });
  return read && fields.ends() && inertial::is_sensible(into.sample, {});
}

hal::Text<96> sealed(std::string_view command) {
  const auto sum = wire::xor8(std::as_bytes(std::span(command)));
  return hal::Text<96>::of("$%.*s*%02X\r\n", static_cast<int>(command.size()), command.data(), sum);
}

hal::Text<96> words_for_error(unsigned code) {
  static constexpr std::array kWords{"?",
                                     "hard fault",
                                     "input buffer overflow",
                                     "damaged on the way",
                                     "unknown command",
                                     "too few parameters",
                                     "too many parameters",
                                     "invalid parameter",
                                     "no such register",
                                     "not allowed",
                                     "restarted by its watchdog",
                                     "output buffer overflow",
                                     "its line is too slow for what it is told to send"};
  const char* const words = code < kWords.size() ? kWords[code] : "?";
  return hal::Text<96>::of("%s (error %02X)", code == 0xFF ? "error buffer overflow" : words, code);
}

}  // namespace drivers::vn
