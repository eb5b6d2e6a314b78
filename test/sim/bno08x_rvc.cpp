#include "test/sim/bno08x_rvc.h"

#include <algorithm>
#include <cmath>

#include "test/sim/lidar_parts.h"
#include "test/sim/motion.h"
#include "test/sim/wire.h"

// Little-endian: AA AA, u8 index, i16 yaw, pitch, roll in 0.01 degrees, i16 acceleration x, y, z in
// mg, 3 bytes, u8 sum of all behind AA AA. 100 frames a second, whatever the host says.
//
// In the frame of the data sheet (pitch -1.10, roll 20.85; -371, -20, 977 mg) x is -sin(roll) and y
// is sin(pitch): it pitches about x and rolls about y, as a body right-forward-up. Such angles are
// those of a body forward-right-down, whose yaw grows clockwise.
namespace sim::bno08x_rvc {
namespace {

constexpr std::size_t kHead = 2, kFrame = 19;
constexpr double kHz = 100.0;
constexpr double kG = kStandardGravity;

constexpr std::array kOptions = {
    kMotionOption,
    choice("axes", "printed", "printed|rfu",
           "printed x is the body's forward, or its right: right-forward-up"),
    choice("yaw", "clockwise", "clockwise|counter_clockwise", "the turn that makes yaw grow"),
    choice("reserved", "zero", "zero|intent",
           "the last three bytes: 0, or motion intent and request of newer firmware"),
    choice("junk", "off", "off|on", "AA bytes between the frames, as no frame has them"),
};

struct Angles {
  double yaw = 0.0, pitch = 0.0, roll = 0.0;  // rad
};

// Yaw about z (counter-clockwise), then pitch about x, then roll about y.
Angles angles_of(const Quaternion& q) {
  const auto [w, x, y, z] = q;
  return {std::atan2(2.0 * (w * z - x * y), 1.0 - 2.0 * (x * x + z * z)),
          std::asin(std::clamp(2.0 * (y * z + w * x), -1.0, 1.0)),
          std::atan2(2.0 * (w * y - x * z), 1.0 - 2.0 * (x * x + y * y))};
}

std::uint64_t hundredths(double angle) {
  return static_cast<std::uint64_t>(std::lround(degrees(std::remainder(angle, kTurn)) * 100.0));
}

std::uint64_t mg(double metres_per_s2) {
  const double value = std::round(metres_per_s2 / kG * 1000.0);
  return static_cast<std::uint64_t>(std::lround(std::clamp(value, -32768.0, 32767.0)));
}

void seal(ByteVector& frame) {
  std::uint64_t sum = 0;
  for (std::size_t i = kHead; i + 1 < frame.size(); ++i) sum += u8_at(frame, i);
  frame.back() = static_cast<std::byte>(sum & 0xFFU);
}

class Model final : public DeviceModel {
 public:
  explicit Model(const ModelInputs& in)
      : clock_(in.clock),
        motion_(motion_kind(in.settings)),
        is_rfu_(in.settings.word("axes") == "rfu"),
        yaw_sign_(in.settings.word("yaw") == "clockwise" ? -1.0 : 1.0),
        has_intent_(in.settings.word("reserved") == "intent"),
        has_junk_(in.settings.on("junk")) {}

  void power_up(hal::Time now, Output&) override {
    origin_ = now;
    index_ = 0;
    pace_.start(now, period_ns());
    pace_.pass(1, period_ns());  // the first frame a period later
  }
  void receive(Channel, hal::Bytes, hal::Time, Output&) override {}
  hal::Time advance(hal::Time now, Output& out) override {
    while (pace_.at(0) <= now) emit(out);
    return pace_.at(0);
  }
  unsigned baud() const override { return 115200; }

  void falsify(ByteVector& frame, Random& random) const override {
    const std::size_t from = frame.size() - kFrame + kHead + 1;
    for (std::size_t i = from; i < from + 12; ++i)
      frame[i] = static_cast<std::byte>(random.below(256));
    ByteVector whole(frame.end() - kFrame, frame.end());
    seal(whole);
    std::copy(whole.begin(), whole.end(), frame.end() - kFrame);
  }

 private:
  double period_ns() const { return clock_.true_ns(1e9 / kHz); }

  void emit(Output& out) {
    const hal::Time at = pace_.at(0);
    const Motion m = motion_at(hal::to_seconds(at - origin_), motion_);
    const Angles a = angles_of(is_rfu_ ? to_enu_rfu(m.orientation) : m.orientation);
    const Vector3 accel = is_rfu_ ? flu_to_rfu(m.accel) : m.accel;

    ByteVector frame;
    put_be(frame, 0xAAAA, 2);
    put8(frame, index_);
    for (const double angle : {yaw_sign_ * a.yaw, a.pitch, a.roll})
      put_le(frame, hundredths(angle), 2);
    for (const double part : accel) put_le(frame, mg(part), 2);
    put8(frame, has_intent_ ? 1 : 0);
    put8(frame, has_intent_ ? 2 : 0);
    put8(frame, 0);
    put8(frame, 0);  // the sum's place
    seal(frame);
    if (has_junk_) frame.insert(frame.begin(), index_ % 4U, std::byte{0xAA});
    out.send(at, std::move(frame));
    out.imus.push_back({at, clock_.stamp(at), m.accel, m.gyro});
    ++index_;
    pace_.pass(1, period_ns());
  }

  DeviceClock& clock_;
  const MotionKind motion_;
  const bool is_rfu_;
  const double yaw_sign_;
  const bool has_intent_, has_junk_;
  hal::Time origin_{};
  std::uint8_t index_ = 0;
  Pace pace_;
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  if (inputs.rate_hz != 0.0 && inputs.rate_hz != kHz) {
    hal::Error error{hal::Errc::bad_config, 0, "simulate: --rate", {}};
    error.detail.print("%g samples/s: the device has 100 and no other", inputs.rate_hz);
    return error;
  }
  return std::unique_ptr<DeviceModel>(std::make_unique<Model>(inputs));
}

}  // namespace sim::bno08x_rvc
