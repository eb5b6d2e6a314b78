#include "test/sim/lslidar_m10.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string_view>

#include "test/sim/noise.h"
#include "test/sim/room.h"
#include "test/sim/wire.h"

namespace sim::lslidar_m10 {
namespace {

constexpr unsigned kFlag0 = 0xA5, kFlag1 = 0x5A;
constexpr std::size_t kCommandBytes = 188;
constexpr double kPeriodsPerTurn = 24.0;  // of the encoder; of an M10 a period is a packet
constexpr double kSpanM10 = 15.0;         // degrees in an M10 packet
constexpr double kStrongSector = 5.0;     // degrees about the front where the wall is a reflector
constexpr unsigned kStrong = 0x8000, kNoReturn = 0xFFFF;

// Layouts: `period` has angles at both ends and intensities; `speed` has a start, a speed in rpm
// and a fixed span.
enum class Layout : std::uint8_t { period, speed };
struct Type {
  std::string_view name;
  Layout layout;
  unsigned baud;
  std::size_t bytes, points, echoes;
  bool length16;             // u16 length behind the flag
  bool date;                 // twelve bytes of date and time at the end
  bool marks_reflectors;     // bit 15 of a range
  double turns_per_s, most;  // its own speed, and the fastest that its line can carry
};
constexpr Type kTypes[] = {
    {"N10", Layout::period, 230400, 58, 16, 1, false, false, false, 10.0, 12.0},
    {"L10", Layout::period, 230400, 58, 16, 1, false, false, false, 10.0, 12.0},
    {"N10P", Layout::period, 460800, 108, 16, 2, false, false, false, 10.0, 12.0},
    {"M10", Layout::speed, 460800, 92, 42, 1, false, false, true, 10.0, 20.0},
    {"M10GPS", Layout::speed, 460800, 102, 42, 1, false, true, true, 10.0, 18.0},
    {"M10P", Layout::speed, 500000, 160, 70, 1, true, true, false, 10.0, 13.0},
    {"M10PLUS", Layout::speed, 921600, 104, 42, 1, true, true, false, 10.0, 20.0},
};
constexpr double kSlowest = 5.0, kSlowestCommand = 6.0, kFastestCommand = 12.0;
constexpr double kN10PointsPerS = 4500.0;

constexpr OptionRow kOptions[] = {
    choice("model", "N10", "N10|L10|N10P|M10|M10GPS|M10P|M10PLUS",
           "device played: sets baud, packet layout, points"),
    choice("running", "off", "off|on", "streams at power-up; off waits for the start command"),
    choice("no_return", "auto", "auto|zero|ffff",
           "range of a beam without return; auto = ffff of an M10, zero of the others"),
    choice("reflector", "on", "on|off",
           "M10, M10GPS: the front wall within 5 degrees reflects strongly"),
    choice("second_echo", "none", "none|behind", "N10P: a second echo 0.5 m behind the first"),
    noise_option(),
};

const Type& type_of(std::string_view name) {
  for (const Type& type : kTypes)
    if (type.name == name) return type;
  return kTypes[0];
}

double wrap_degrees(double angle) {
  const double turn = std::fmod(angle, 360.0);
  return turn < 0.0 ? turn + 360.0 : turn;
}

unsigned hundredths(double angle) {
  return static_cast<unsigned>(std::lround(wrap_degrees(angle) * 100.0)) % 36000U;
}

unsigned sum_of(hal::Bytes bytes) {
  unsigned sum = 0;
  for (const std::byte b : bytes) sum += std::to_integer<unsigned>(b);
  return sum & 0xFFU;
}

// The calendar of a device that got its date from satellites when its clock was at zero.
constexpr std::chrono::sys_days kFirstDay{std::chrono::year{2025} / 1 / 1};

std::int64_t utc_us(std::int64_t device_ns) {
  return std::chrono::microseconds(kFirstDay.time_since_epoch()).count() + device_ns / 1000;
}

void put_date(ByteVector& to, std::int64_t us) {
  const std::chrono::sys_time<std::chrono::microseconds> time{std::chrono::microseconds(us)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  put8(to, static_cast<unsigned>(static_cast<int>(date.year()) - 2000));
  put8(to, static_cast<unsigned>(date.month()));
  put8(to, static_cast<unsigned>(date.day()));
  put8(to, static_cast<std::uint64_t>(clock.hours().count()));
  put8(to, static_cast<std::uint64_t>(clock.minutes().count()));
  put8(to, static_cast<std::uint64_t>(clock.seconds().count()));
  const auto part = static_cast<std::uint64_t>(clock.subseconds().count());
  put_be(to, part / 1000, 2);
  put_be(to, part % 1000, 2);
}

class Model final : public DeviceModel {
 public:
  Model(const Type& type, const ModelInputs& inputs)
      : type_(type),
        clock_(inputs.clock),
        noise_(inputs),
        random_(inputs.seed),
        nominal_turns_per_s_(inputs.rate_hz > 0.0 ? inputs.rate_hz : type.turns_per_s),
        runs_at_power_up_(inputs.settings.on("running")),
        reflector_(type.marks_reflectors && inputs.settings.on("reflector")),
        second_echo_(inputs.settings.word("second_echo") == "behind") {
    const std::string& none = inputs.settings.word("no_return");
    const bool all_ones = none == "ffff" || (none == "auto" && type.layout == Layout::speed);
    no_return_ = all_ones ? kNoReturn : 0;
  }

  void power_up(hal::Time now, Output&) override {
    command_.clear();
    turns_per_s_ = nominal_turns_per_s_;
    angle_ = 0.0;
    running_ = runs_at_power_up_;
    start_spinning(now);
  }

  void receive(Channel, hal::Bytes bytes, hal::Time now, Output& out) override {
    for (const std::byte b : bytes) {
      command_.push_back(b);
      take_command(now, out);
    }
  }

  hal::Time advance(hal::Time now, Output& out) override {
    while (running_ && packet_end() <= now) emit_packet(out);
    return running_ ? packet_end() : kNever;
  }

  unsigned baud() const override { return type_.baud; }

  void falsify(ByteVector& frame, Random& random) const override {
    if (frame.size() != type_.bytes) return;
    const std::size_t first = head_bytes();
    const std::size_t size = type_.points * bytes_per_point();
    for (std::size_t i = 0; i < size; ++i)
      frame[first + i] = static_cast<std::byte>(random.below(256));
    if (type_.layout == Layout::period)
      frame.back() = static_cast<std::byte>(sum_of(hal::Bytes(frame).first(type_.bytes - 1)));
  }

 private:
  std::size_t head_bytes() const {
    return type_.layout == Layout::period ? 7U : (type_.length16 ? 8U : 6U);
  }
  std::size_t bytes_per_point() const {
    return type_.layout == Layout::period ? 3 * type_.echoes : 2;
  }
  void start_spinning(hal::Time now) {
    origin_ = now;
    first_beam_ns_ = 0.0;
  }
  double step_degrees() const {
    return type_.layout == Layout::period ? 360.0 * turns_per_s_ / kN10PointsPerS
                                          : kSpanM10 / static_cast<double>(type_.points);
  }
  double beam_ns() const { return clock_.true_ns(1e9 * step_degrees() / (360.0 * turns_per_s_)); }
  hal::Time beam_time(std::size_t i) const {
    return origin_ + hal::Duration(static_cast<std::int64_t>(first_beam_ns_ +
                                                             static_cast<double>(i) * beam_ns()));
  }
  hal::Time packet_end() const { return beam_time(type_.points - 1); }

  // A command is found wherever it begins; what is none costs a byte.
  void take_command(hal::Time now, Output& out) {
    constexpr std::byte kStart[] = {std::byte{kFlag0}, std::byte{kFlag1}, std::byte{0x55}};
    const auto begins_well = [&] {
      const std::size_t n = std::min(command_.size(), std::size(kStart));
      return std::equal(command_.begin(), command_.begin() + static_cast<std::ptrdiff_t>(n),
                        kStart);
    };
    while (!begins_well()) command_.erase(command_.begin());
    if (command_.size() < kCommandBytes) return;
    if (get_be(command_, 186, 2) == 0xFAFB) {
      const ByteVector whole = std::move(command_);
      command_.clear();
      obey(whole, now, out);
    } else {
      command_.erase(command_.begin());
      take_command(now, out);
    }
  }

  void obey(hal::Bytes command, hal::Time now, Output& out) {
    const unsigned what = u8_at(command, 184), value = u8_at(command, 185);
    if (what == 0x01 && value == 0) running_ = false;
    if (what == 0x01 && value == 1 && !running_) {
      running_ = true;
      start_spinning(now);
    }
    if (what == 0x08 && value == 1) send_device_packet(now, out);
    if (what == 0x0A && value == 1) change_speed(command);
  }

  void change_speed(hal::Bytes command) {
    if (type_.layout == Layout::period) {
      const double turns = u8_at(command, 172);
      if (turns >= kSlowestCommand && turns <= kFastestCommand) wanted_turns_per_s_ = turns;
    } else if (type_.name == "M10PLUS") {
      const double rpm = static_cast<double>(get_be(command, 141, 2));
      if (rpm == 300.0 || rpm == 600.0 || rpm == 1200.0) wanted_turns_per_s_ = rpm / 60.0;
    }
    if (!running_) take_speed();
  }
  void take_speed() {
    if (wanted_turns_per_s_ > 0.0) turns_per_s_ = wanted_turns_per_s_;
    wanted_turns_per_s_ = 0.0;
  }

  void send_device_packet(hal::Time now, Output& out) {
    ByteVector packet(kCommandBytes);
    packet[0] = std::byte{kFlag0}, packet[1] = std::byte{kFlag1}, packet[2] = std::byte{0x55};
    packet[186] = std::byte{0xFA}, packet[187] = std::byte{0xFB};
    out.send(now, std::move(packet));
  }

  void put_point(ByteVector& frame, double degrees_clockwise, double range) {
    const auto mm = static_cast<unsigned>(std::lround(range * 1000.0));
    if (type_.layout == Layout::speed) {
      const bool strong =
          reflector_ && std::cos(radians(degrees_clockwise)) >= std::cos(radians(kStrongSector));
      return put_be(frame, mm == 0 ? no_return_ : mm | (strong ? kStrong : 0U), 2);
    }
    put_be(frame, mm == 0 ? no_return_ : mm, 2);
    put8(frame, mm == 0 ? 0U : 250U - mm / 40U);
    if (type_.echoes == 1) return;
    const bool again = second_echo_ && mm != 0;
    put_be(frame, again ? mm + 500 : no_return_, 2);
    put8(frame, again ? 20U : 0U);
  }

  void put_head(ByteVector& frame) const {
    put8(frame, kFlag0), put8(frame, kFlag1);
    if (type_.layout == Layout::period) {
      put8(frame, type_.bytes);
      put_be(frame, static_cast<std::uint64_t>(std::lround(1e6 / (kPeriodsPerTurn * turns_per_s_))),
             2);
      return put_be(frame, hundredths(angle_), 2);
    }
    if (type_.length16) put_be(frame, type_.bytes, 2);
    put_be(frame, hundredths(angle_), 2);
    put_be(frame, static_cast<std::uint64_t>(std::lround(60.0 * turns_per_s_)), 2);
  }

  void put_tail(ByteVector& frame, double end_angle, std::int64_t us) {
    if (type_.date) put_date(frame, us);
    // What the two bytes behind the points of an N10P, and the last two of an M10, mean is not
    // known: any value must do.
    const std::size_t behind = type_.layout == Layout::period ? 3 : 0;
    while (frame.size() + behind < type_.bytes) put8(frame, random_.below(256));
    if (type_.layout == Layout::speed) return;
    put_be(frame, hundredths(end_angle), 2);
    put8(frame, sum_of(frame));
  }

  void emit_packet(Output& out) {
    const hal::Time end = packet_end();
    const std::int64_t us = utc_us(clock_.stamp(beam_time(0)));
    ScanTruth truth;
    truth.device_ns = type_.date ? us * 1000 : (us - utc_us(0)) * 1000;
    ByteVector frame;
    put_head(frame);
    for (std::size_t i = 0; i < type_.points; ++i) {
      const double clockwise = angle_ + step_degrees() * static_cast<double>(i);
      const double angle = radians(-clockwise);
      truth.beams.push_back(noise_.on({beam_time(i), angle, Room::range(angle)}));
      put_point(frame, clockwise, truth.beams.back().range);
    }
    put_tail(frame, angle_ + step_degrees() * static_cast<double>(type_.points - 1), us);
    out.send(end, std::move(frame));
    out.scans.push_back(std::move(truth));
    const auto points = static_cast<double>(type_.points);
    first_beam_ns_ += points * beam_ns();
    angle_ = wrap_degrees(angle_ + points * step_degrees());
    take_speed();
  }

  const Type& type_;
  DeviceClock& clock_;
  Noise noise_;
  Random random_;
  double nominal_turns_per_s_;
  bool runs_at_power_up_, reflector_, second_echo_;
  unsigned no_return_ = 0;
  bool running_ = false;
  double turns_per_s_ = 0.0;
  double wanted_turns_per_s_ = 0.0;  // from the next packet on; 0 = as it is
  double angle_ = 0.0;               // degrees clockwise of the next packet's first beam
  hal::Time origin_{};
  double first_beam_ns_ = 0.0;  // of the next packet, after origin_
  ByteVector command_;
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const Type& type = type_of(inputs.settings.word("model"));
  if (inputs.rate_hz != 0.0 && (inputs.rate_hz < kSlowest || inputs.rate_hz > type.most)) {
    hal::Error error{hal::Errc::bad_config, 0, "simulate: --rate", {}};
    error.detail.print("%g turns/s is out of range: %g to %g Hz", inputs.rate_hz, kSlowest,
                       type.most);
    return error;
  }
  return std::unique_ptr<DeviceModel>(std::make_unique<Model>(type, inputs));
}

}  // namespace sim::lslidar_m10
