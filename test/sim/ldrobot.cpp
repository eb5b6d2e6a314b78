#include "test/sim/ldrobot.h"

#include <cmath>
#include <string_view>

#include "test/sim/room.h"
#include "test/sim/wire.h"

namespace sim::ldrobot {
namespace {

constexpr std::size_t kBeams = 12;
constexpr std::size_t kPacketBytes = 47;
constexpr std::size_t kCommandBytes = 8;
constexpr unsigned kHeader = 0x54;
constexpr unsigned kStart = 0xA0, kStop = 0xA1, kSetSpeed = 0xA2, kFirmware = 0xA8;
constexpr double kSlowest = 2.0, kFastestLd14 = 8.0, kFastest = 20.0;  // turns/s
constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kClockModulus = 30'000;  // ms

// From the development manuals of LDROBOT for each model.
struct Type {
  std::string_view name;
  unsigned baud;
  double beams_per_s;
  double turns_per_s;
  bool commands;  // listens to start, stop and speed
  bool off_axis;  // triangulation: the origin is beside the axis
};
constexpr Type kTypes[] = {
    {"LD06", 230400, 4500.0, 10.0, false, false},   {"LD19", 230400, 4500.0, 10.0, false, false},
    {"STL-06P", 230400, 5000.0, 10.0, true, false}, {"STL-19P", 230400, 5000.0, 10.0, true, false},
    {"STL-26", 230400, 5000.0, 10.0, true, false},  {"STL-27L", 921600, 21600.0, 10.0, true, false},
    {"LD14", 115200, 2300.0, 6.0, true, true},      {"LD14P", 230400, 4000.0, 6.0, true, true},
};

constexpr OptionRow kOptions[] = {
    choice("model", "LD19", "LD06|LD19|STL-06P|STL-19P|STL-26|STL-27L|LD14|LD14P",
           "device played: sets baud, beams/s, turns/s, geometry"),
    choice("running", "on", "on|off", "streams at power-up; off waits for the start command"),
};

const Type& type_of(std::string_view name) {
  for (const Type& type : kTypes)
    if (type.name == name) return type;
  return kTypes[0];
}

// CRC-8, polynomial 0x4D, most significant bit first, bit by bit.
unsigned crc8(hal::Bytes bytes) {
  unsigned crc = 0;
  for (const std::byte b : bytes) {
    crc ^= std::to_integer<unsigned>(b);
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc & 0x80U) != 0 ? ((crc << 1) ^ 0x4DU) & 0xFFU : crc << 1;
  }
  return crc;
}

double wrap_degrees(double angle) {
  const double turn = std::fmod(angle, 360.0);
  return turn < 0.0 ? turn + 360.0 : turn;
}

unsigned hundredths(double angle) {
  return static_cast<unsigned>(std::lround(wrap_degrees(angle) * 100.0)) % 36000U;
}

// What the LD14 geometry turns a beam of `mm` by, degrees (section 4).
double shift_degrees(double mm) {
  const double x = mm + 5.9;
  const double y = 0.11923 * mm - 18.975571;
  return degrees(std::atan(y / x));
}

class Model final : public DeviceModel {
 public:
  Model(const Type& type, const ModelInputs& inputs)
      : type_(type),
        clock_(inputs.clock),
        random_(inputs.seed),
        nominal_turns_per_s_(inputs.rate_hz > 0.0 ? inputs.rate_hz : type.turns_per_s),
        runs_at_power_up_(inputs.settings.on("running")) {}

  void power_up(hal::Time now, Output&) override {
    command_.clear();
    turns_per_s_ = nominal_turns_per_s_;
    angle_ = 0.0;
    last_shift_ = 0.0;
    running_ = runs_at_power_up_;
    start_spinning(now);
  }

  void receive(Channel, hal::Bytes bytes, hal::Time now, Output& out) override {
    if (!type_.commands) return;  // one way: the device has no receiver
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
  hal::Duration clock_period() const override {
    return hal::Duration(kClockModulus * kMillisecond);
  }

  void falsify(ByteVector& frame, Random& random) const override {
    if (frame.size() != kPacketBytes) return;
    for (std::size_t i = 6; i < 42; ++i) frame[i] = static_cast<std::byte>(random.below(256));
    frame.back() = static_cast<std::byte>(crc8(hal::Bytes(frame).first(kPacketBytes - 1)));
  }

 private:
  void start_spinning(hal::Time now) {
    origin_ = now;
    first_beam_ns_ = 0.0;
  }
  double beam_ns() const { return clock_.true_ns(1e9 / type_.beams_per_s); }
  hal::Time beam_time(std::size_t i) const {
    return origin_ + hal::Duration(static_cast<std::int64_t>(first_beam_ns_ +
                                                             static_cast<double>(i) * beam_ns()));
  }
  hal::Time packet_end() const { return beam_time(kBeams - 1); }
  // Of the light that comes back; without it no turn would differ from the one before.
  std::uint64_t noise() { return random_.below(3); }
  double step_degrees() const { return 360.0 * turns_per_s_ / type_.beams_per_s; }

  void take_command(hal::Time now, Output& out) {
    while (!command_.empty() && command_[0] != std::byte{kHeader}) command_.erase(command_.begin());
    if (command_.size() < kCommandBytes) return;
    const hal::Bytes whole(command_);
    if (u8_at(whole, 2) == 4 && u8_at(whole, 7) == crc8(whole.first(7))) {
      obey(u8_at(whole, 1), static_cast<std::uint32_t>(get_le(whole, 3, 4)), now, out);
      command_.clear();
    } else {
      command_.erase(command_.begin());
      take_command(now, out);
    }
  }

  void obey(unsigned mode, std::uint32_t data, hal::Time now, Output& out) {
    if (mode == kStart && !running_) {
      running_ = true;
      start_spinning(now);
    } else if (mode == kStop) {
      running_ = false;
    } else if (mode == kSetSpeed) {
      const double turns = static_cast<double>(data) / 360.0;
      if (turns < kSlowest || turns > (type_.off_axis ? kFastestLd14 : kFastest)) return;
      turns_per_s_ = turns;
    } else if (mode == kFirmware) {
      data = 0x0102;
    } else if (mode != kStart) {
      return;
    }
    ByteVector answer;
    put_le(answer, kHeader, 1), put_le(answer, mode, 1), put_le(answer, 4, 1);
    put_le(answer, data, 4);
    put8(answer, crc8(answer));
    out.send(now, std::move(answer));
  }

  // The distance, mm, that the device measures when its optics point `raw` degrees clockwise, and
  // the direction, degrees clockwise, in which the measured point truly lies.
  double measure(double raw, double& true_angle) {
    true_angle = raw - (type_.off_axis ? last_shift_ : 0.0);
    double mm = std::round(Room::range(radians(-true_angle)) * 1000.0);
    // The corrected angle depends on the distance, which depends on the angle: a contraction.
    for (int i = 0; type_.off_axis && mm > 0.0 && i < 8; ++i) {
      true_angle = raw - shift_degrees(mm);
      mm = std::round(Room::range(radians(-true_angle)) * 1000.0);
    }
    if (!type_.off_axis) return mm;
    if (mm > 0.0) last_shift_ = shift_degrees(mm);
    true_angle = raw - last_shift_;
    return mm;
  }

  void emit_packet(Output& out) {
    const double end_angle = angle_ + step_degrees() * static_cast<double>(kBeams - 1);
    // The packet is stamped when its last beam is in.
    const std::int64_t stamp_ms = clock_.stamp(packet_end()) / kMillisecond;
    ByteVector frame;
    ScanTruth truth{stamp_ms * kMillisecond, {}};
    put8(frame, kHeader);
    put8(frame, 0x2C);
    put_le(frame, static_cast<std::uint64_t>(std::lround(360.0 * turns_per_s_)), 2);
    put_le(frame, hundredths(angle_), 2);
    for (std::size_t i = 0; i < kBeams; ++i) {
      double true_angle = 0.0;
      const double mm = measure(angle_ + step_degrees() * static_cast<double>(i), true_angle);
      put_le(frame, static_cast<std::uint64_t>(mm), 2);
      // Light without a distance does occur (section 2).
      put8(frame, mm > 0.0 ? static_cast<std::uint64_t>(250.0 - mm / 40.0) + noise() : 40U);
      const double ccw = radians(-true_angle);
      truth.beams.push_back({beam_time(i), ccw, mm > 0.0 ? Room::range(ccw) : 0.0});
    }
    put_le(frame, hundredths(end_angle), 2);
    put_le(frame, static_cast<std::uint64_t>(stamp_ms % kClockModulus), 2);
    put8(frame, crc8(frame));
    out.send(packet_end(), std::move(frame));
    out.scans.push_back(std::move(truth));
    angle_ = wrap_degrees(end_angle + step_degrees());
    first_beam_ns_ += static_cast<double>(kBeams) * beam_ns();
  }

  const Type& type_;
  DeviceClock& clock_;
  Random random_;
  double nominal_turns_per_s_;
  bool runs_at_power_up_;
  bool running_ = false;
  double turns_per_s_ = 0.0;
  double angle_ = 0.0;       // degrees clockwise of the next packet's first beam
  double last_shift_ = 0.0;  // degrees; of the last beam that had a return
  hal::Time origin_{};
  double first_beam_ns_ = 0.0;  // of the next packet, after origin_
  ByteVector command_;
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const Type& type = type_of(inputs.settings.word("model"));
  if (inputs.rate_hz != 0.0 && (inputs.rate_hz < 1.0 || inputs.rate_hz > 20.0)) {
    hal::Error error{hal::Errc::bad_config, 0, "simulate: --rate", {}};
    error.detail.print("%g turns/s is out of range: 1 to 20 Hz", inputs.rate_hz);
    return error;
  }
  return std::unique_ptr<DeviceModel>(std::make_unique<Model>(type, inputs));
}

}  // namespace sim::ldrobot
