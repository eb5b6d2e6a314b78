#include "test/sim/bno055.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "test/sim/motion.h"
#include "test/sim/room.h"
#include "test/sim/sample_pace.h"
#include "test/sim/wire.h"

namespace sim::bno055 {
namespace {

using std::chrono::milliseconds;

constexpr unsigned kBaud = 115200;
constexpr double kFusionHz = 100.0;
constexpr hal::Duration kBoot = milliseconds(650);
constexpr hal::Duration kIntoConfig = milliseconds(19), kOutOfConfig = milliseconds(7);
constexpr hal::Duration kGap = milliseconds(30);  // between the bytes of a request
constexpr unsigned kMostBytes = 128;

enum Status : unsigned {
  kWritten = 0x01,
  kReadFails = 0x02,
  kWriteFails = 0x03,
  kNoSuchAddress = 0x04,
  kWrongStart = 0x06,
  kOverrun = 0x07,
  kTooLong = 0x08,
  kTooShort = 0x09,
};
enum Register : unsigned {
  kChipId = 0x00,
  kPage = 0x07,
  kAccel = 0x08,
  kMag = 0x0E,
  kGyro = 0x14,
  kEuler = 0x1A,
  kQuaternion = 0x20,
  kLinear = 0x28,
  kGravity = 0x2E,
  kTemperature = 0x34,
  kCalibration = 0x35,
  kSelfTest = 0x36,
  kSystemStatus = 0x39,
  kUnits = 0x3B,
  kMode = 0x3D,
  kPower = 0x3E,
  kTrigger = 0x3F,
  kAxisMap = 0x41,
  kAxisSign = 0x42,
  kLast = 0x6A,
};
enum Mode : unsigned { kConfig = 0x00, kAccGyro = 0x05, kFirstFusion = 0x08, kNdof = 0x0C };

constexpr OptionRow kOptions[] = {
    number("overrun_percent", "2", 0, 100, "of the requests that are answered EE 07, at random"),
    choice("junk", "off", "on|off", "a byte too many after each transaction that failed"),
    kMotionOption,
};

class Model final : public DeviceModel {
 public:
  explicit Model(const ModelInputs& inputs)
      : clock_(inputs.clock),
        pace_(inputs.clock),
        random_(inputs.seed),
        motion_(motion_kind(inputs.settings)),
        overruns_(inputs.settings.number("overrun_percent") / 100.0),
        leaves_junk_(inputs.settings.on("junk")) {}

  void power_up(hal::Time now, Output&) override { boot(now); }

  void receive(Channel, hal::Bytes bytes, hal::Time now, Output& out) override {
    measure(now);
    if (now < ready_at_ && is_booting_) return;  // nobody listens yet
    is_booting_ = false;
    if (now - newest_byte_ > kGap) request_.clear();
    newest_byte_ = now;
    for (const std::byte byte : bytes) {
      request_.push_back(byte);
      if (request_.front() != std::byte{0xAA}) {
        fail(kWrongStart, now, out);
      } else if (request_.size() >= 4) {
        take(now, out);
      }
    }
  }

  // Only what it is asked for.
  hal::Time advance(hal::Time now, Output&) override {
    measure(now);
    return kNever;
  }
  unsigned baud() const override { return kBaud; }

  void falsify(ByteVector& frame, Random& random) const override {
    if (frame.size() < 20 || frame[0] != std::byte{0xBB}) return;
    for (std::size_t i = 2; i < frame.size(); ++i)
      frame[i] = static_cast<std::byte>(random.chance(0.5) ? 0x7F : 0x80);
  }

 private:
  void boot(hal::Time now) {
    registers_.fill(0);
    registers_[kChipId] = 0xA0;
    registers_[0x01] = 0xFB, registers_[0x02] = 0x32, registers_[0x03] = 0x0F;
    registers_[0x04] = 0x11, registers_[0x05] = 0x03, registers_[0x06] = 0x15;
    registers_[kSelfTest] = 0x0F;
    registers_[kUnits] = 0x80;
    registers_[kAxisMap] = 0x24;
    registers_[kTemperature] = 25;
    request_.clear();
    ready_at_ = now + kBoot;
    is_booting_ = true;
    pace_.start(now, kFusionHz);
    origin_ = now;
    newest_sample_ = {};
    has_sample_ = is_told_ = false;
  }

  bool is_running() const { return registers_[kMode] != kConfig; }

  // Latches each sample as it is taken; the host gets the newest.
  void measure(hal::Time now) {
    while (pace_.next() <= now) {
      const hal::Time at = pace_.next();
      pace_.pass();
      if (!is_running() || at < ready_at_) continue;
      newest_sample_ = at;
      newest_stamp_ = clock_.stamp(at);
      has_sample_ = true;
      is_told_ = false;
      latch(motion_at(hal::to_seconds(at - origin_), motion_));
    }
  }

  void put(unsigned at, double value) {
    const auto steps = static_cast<int>(std::lround(std::clamp(value, -32768.0, 32767.0)));
    registers_[at] = static_cast<std::uint8_t>(steps & 0xFF);
    registers_[at + 1] = static_cast<std::uint8_t>((steps >> 8) & 0xFF);
  }
  void put(unsigned at, const Vector3& v, double steps) {
    for (unsigned i = 0; i < 3; ++i) put(at + 2 * i, v[i] * steps);
  }

  void latch(const Motion& m) {
    const unsigned units = registers_[kUnits];
    const double accel = (units & 1U) != 0 ? 1000.0 / kStandardGravity : 100.0;
    const double degrees = 360.0 / kTurn;
    const double gyro = (units & 2U) != 0 ? 900.0 : 16.0 * degrees;
    const double angle = (units & 4U) != 0 ? 900.0 : 16.0 * degrees;
    const unsigned mode = registers_[kMode];
    const bool fuses = mode >= kFirstFusion;
    put(kAccel, m.accel, accel);
    put(kMag, mode == kNdof ? m.mag : Vector3{}, 16e6);
    put(kGyro, m.gyro, gyro);
    registers_[kTemperature] = (units & 0x10U) != 0 ? 38 : 25;  // 2 deg F a step
    registers_[kSystemStatus] = fuses ? 5 : 6;
    registers_[kCalibration] = mode == kNdof ? 0xFF : 0x3C;
    if (!fuses) return clear_fusion();
    const double yaw = std::remainder(m.yaw, kTurn);
    const double heading = (units & 0x80U) != 0 ? -yaw : yaw;  // Android: clockwise
    put(kEuler, std::fmod(heading + 2.0 * kTurn, kTurn) * angle);
    put(kEuler + 2, std::remainder(m.roll, kTurn) * angle);
    put(kEuler + 4, std::remainder(m.pitch, kTurn) * angle);
    for (unsigned i = 0; i < 4; ++i) put(kQuaternion + 2 * i, m.orientation[i] * 16384.0);
    const Vector3 gravity = into_body(m.orientation, {0.0, 0.0, kStandardGravity});
    put(kGravity, gravity, accel);
    put(kLinear, {m.accel[0] - gravity[0], m.accel[1] - gravity[1], m.accel[2] - gravity[2]},
        accel);
  }
  void clear_fusion() {
    std::fill(&registers_[kEuler], &registers_[kTemperature], std::uint8_t{0});
  }
  void clear_data() {
    std::fill(&registers_[kAccel], &registers_[kTemperature], std::uint8_t{0});
    has_sample_ = false;
  }

  // A request of which at least the head is here.
  void take(hal::Time now, Output& out) {
    const unsigned what = u8_at(request_, 1), address = u8_at(request_, 2), n = u8_at(request_, 3);
    if (what > 1) return fail(kWrongStart, now, out);
    if (n == 0) return fail(kTooShort, now, out);
    if (n > kMostBytes) return fail(kTooLong, now, out);
    if (what == 0 && request_.size() < 4 + std::size_t{n}) return;
    if (random_.chance(overruns_)) return fail(kOverrun, now, out);
    if (address + n > kLast + 1) return fail(kNoSuchAddress, now, out);
    if (what == 1) return read(address, n, now, out);
    const unsigned status = write(address, hal::Bytes(request_).subspan(4, n), now);
    if (status != kWritten) return fail(status, now, out);
    reply(status, now, out);
  }

  void read(unsigned address, unsigned n, hal::Time now, Output& out) {
    if (now < ready_at_) return fail(kReadFails, now, out);  // between two modes
    ByteVector bytes;
    put8(bytes, 0xBB), put8(bytes, n);
    for (unsigned i = 0; i < n; ++i) put8(bytes, registers_[address + i]);
    out.send(now + delay(), std::move(bytes));
    request_.clear();
    const bool has_motion = address <= kAccel && address + n >= kGyro + 6;
    if (!has_motion || !has_sample_ || std::exchange(is_told_, true)) return;
    const Motion m = motion_at(hal::to_seconds(newest_sample_ - origin_), motion_);
    out.imus.push_back({newest_sample_, newest_stamp_, m.accel, m.gyro});
  }

  // All of its settings but the mode are writable in the configuration mode only.
  unsigned write(unsigned address, hal::Bytes data, hal::Time now) {
    for (std::size_t i = 0; i < data.size(); ++i) {
      const unsigned at = address + static_cast<unsigned>(i), value = u8_at(data, i);
      if (at != kMode && at != kPage && is_running()) return kWriteFails;
      if (at < kUnits && at != kPage) return kWriteFails;
      if (at == kMode && value > kNdof) return kWriteFails;
      if (at == kMode && value != registers_[kMode]) {
        ready_at_ = now + (value == kConfig ? kIntoConfig : kOutOfConfig);
        clear_data();
      }
      if (at == kTrigger && (value & 0x20U) != 0) return boot(now), kWritten;
      registers_[at] = static_cast<std::uint8_t>(value);
    }
    return kWritten;
  }

  hal::Duration delay() { return hal::from_seconds(random_.uniform(0.002, 0.004)); }
  void reply(unsigned status, hal::Time now, Output& out) {
    ByteVector bytes;
    put8(bytes, 0xEE), put8(bytes, status);
    out.send(now + delay(), std::move(bytes));
    request_.clear();
  }
  void fail(unsigned status, hal::Time now, Output& out) {
    reply(status, now, out);
    if (!leaves_junk_) return;
    put8(out.frames.back().bytes, 0x00);
  }

  DeviceClock& clock_;
  SamplePace pace_;
  Random random_;
  MotionKind motion_;
  double overruns_;
  bool leaves_junk_;
  std::array<std::uint8_t, 256> registers_{};
  ByteVector request_;
  hal::Time ready_at_{}, newest_byte_{}, origin_{}, newest_sample_{};
  std::int64_t newest_stamp_ = 0;
  bool is_booting_ = false, has_sample_ = false;
  bool is_told_ = false;  // the newest sample was read
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  if (inputs.rate_hz != 0.0) {
    hal::Error error{hal::Errc::bad_config, 0, "simulate: --rate", {}};
    error.detail.print("the device measures 100 times a second, and is read by who asks");
    return error;
  }
  return std::unique_ptr<DeviceModel>(std::make_unique<Model>(inputs));
}

}  // namespace sim::bno055
