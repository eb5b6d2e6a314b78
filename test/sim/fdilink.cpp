#include "test/sim/fdilink.h"

#include <array>
#include <chrono>
#include <cmath>

#include "test/sim/motion.h"
#include "test/sim/sample_pace.h"
#include "test/sim/wire.h"

// FC | u8 type | u8 n | u8 serial number over all types | u8 CRC-8 of these four | u16 CRC-16 of
// the data, high byte first | n bytes, little-endian | FD. It takes no command that any source
// confirms.
namespace sim::fdilink {
namespace {

constexpr unsigned kImu = 0x40, kAhrs = 0x41, kInsGps = 0x42, kPosition = 0x5C, kUnknown = 0x50,
                   kGround = 0xF0;
constexpr std::size_t kHead = 7;
constexpr double kMilligauss = 1e7;  // of a tesla
constexpr double kCelsius = 25.0, kPascal = 101'325.0;
constexpr hal::Duration kApart = std::chrono::microseconds(700);

constexpr std::array kOptions = {
    kMotionOption,
    choice("accel", "specific_force", "specific_force|gravity",
           "what a level device tells of down: -9.8 m/s^2, or +9.8 of the attracting mass"),
    choice("frames", "both", "both|imu|ahrs|none", "what it was set to send"),
    choice("stamps", "equal", "equal|apart", "of both frames of a sample; apart: by 0.7 ms"),
    choice("extras", "on", "on|off", "frames of position and of the maker's program, ten a second"),
    choice("baud", "921600", "115200|230400|460800|921600", "line rate"),
};

// The polynomial is told reflected, and so are the bytes.
unsigned crc8(hal::Bytes bytes) {
  unsigned crc = 0;
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<unsigned>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1U) != 0 ? (crc >> 1) ^ 0x8CU : crc >> 1;
  }
  return crc;
}

unsigned crc16(hal::Bytes bytes) {
  unsigned crc = 0;
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<unsigned>(byte) << 8;
    for (int bit = 0; bit < 8; ++bit)
      crc = ((crc << 1) ^ ((crc & 0x8000U) != 0 ? 0x1021U : 0U)) & 0xFFFFU;
  }
  return crc;
}

void put(ByteVector& to, const Vector3& frd, double scale = 1.0) {
  for (const double v : frd) put_le_f32(to, v * scale);
}

// Heading, then pitch, then roll, of forward-right-down in north-east-down; rad.
Vector3 roll_pitch_heading(const Quaternion& q) {
  const auto [w, x, y, z] = q;
  return {std::atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y)),
          std::asin(std::fmin(std::fmax(2.0 * (w * y - z * x), -1.0), 1.0)),
          std::atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))};
}

struct Manners {
  MotionKind motion;
  bool tells_gravity, sends_imu, sends_ahrs, stamps_apart, has_extras;
  unsigned baud;
};

Manners manners_of(const Settings& set) {
  const std::string& frames = set.word("frames");
  return {motion_kind(set),
          set.word("accel") == "gravity",
          frames == "both" || frames == "imu",
          frames == "both" || frames == "ahrs",
          set.word("stamps") == "apart",
          set.on("extras"),
          static_cast<unsigned>(set.number("baud"))};
}

class Model final : public DeviceModel {
 public:
  Model(const ModelInputs& inputs, double hz)
      : clock_(inputs.clock), pace_(inputs.clock), manners_(manners_of(inputs.settings)), hz_(hz) {}

  void power_up(hal::Time now, Output&) override {
    serial_ = 0;
    pace_.start(now, hz_);
  }
  void receive(Channel, hal::Bytes, hal::Time, Output&) override {}
  hal::Time advance(hal::Time now, Output& out) override {
    while (pace_.next() <= now) step(out);
    return pace_.next();
  }
  unsigned baud() const override { return manners_.baud; }

  void falsify(ByteVector& frame, Random& random) const override {
    if (frame.size() <= kHead || (u8_at(frame, 1) != kImu && u8_at(frame, 1) != kAhrs)) return;
    const std::size_t numbers = u8_at(frame, 1) == kImu ? 12 : 10;
    for (std::size_t i = 0; i < 4 * numbers; ++i)
      frame[kHead + i] = static_cast<std::byte>(random.chance(0.5) ? 0x7F : 0xFF);
    seal(frame);
  }

 private:
  void step(Output& out) {
    const hal::Time at = pace_.next();
    pace_.pass();
    const Motion motion = motion_at(hal::to_seconds(at - pace_.origin()), manners_.motion);
    const std::int64_t us = clock_.stamp(at) / 1000;
    if (manners_.sends_imu) send(kImu, inertial(motion, us), at, out);
    if (manners_.sends_ahrs) {
      const std::int64_t later = manners_.stamps_apart ? kApart.count() / 1000 : 0;
      send(kAhrs, attitude(motion, us + later), at, out);
    }
    if (manners_.sends_imu || manners_.sends_ahrs)
      out.imus.push_back({at, us * 1000, motion.accel, motion.gyro});
    const auto tenth = static_cast<std::uint64_t>(std::ceil(hz_ / 10.0));
    if (manners_.has_extras && pace_.ticks() % tenth == 0) send_extra(at, out);
  }

  ByteVector inertial(const Motion& m, std::int64_t us) const {
    ByteVector data;
    put(data, flu_to_frd(m.gyro));
    put(data, flu_to_frd(m.accel), manners_.tells_gravity ? -1.0 : 1.0);
    put(data, flu_to_frd(m.mag), kMilligauss);
    for (const double v : {kCelsius, kPascal, kCelsius}) put_le_f32(data, v);
    put_le(data, static_cast<std::uint64_t>(us), 8);
    return data;
  }

  static ByteVector attitude(const Motion& m, std::int64_t us) {
    const Quaternion q = to_ned_frd(m.orientation);
    ByteVector data;
    put(data, flu_to_frd(m.gyro));
    put(data, roll_pitch_heading(q));
    for (const double v : q) put_le_f32(data, v);
    put_le(data, static_cast<std::uint64_t>(us), 8);
    return data;
  }

  // One kind after the other.
  void send_extra(hal::Time at, Output& out) {
    static constexpr std::array<std::pair<unsigned, std::size_t>, 5> kKinds{
        {{kInsGps, 72}, {kPosition, 32}, {kGround, 5}, {kInsGps, 84}, {kUnknown, 0}}};
    const auto& [type, size] = kKinds[extra_++ % kKinds.size()];
    ByteVector data(size, std::byte{0xFC});  // as heads look
    send(type, data, at, out);
  }

  void send(unsigned type, const ByteVector& data, hal::Time at, Output& out) {
    ByteVector frame;
    put8(frame, 0xFC), put8(frame, type), put8(frame, data.size()), put8(frame, serial_++);
    put_be(frame, 0, 3);  // the checks' places
    frame.insert(frame.end(), data.begin(), data.end());
    put8(frame, 0xFD);
    seal(frame);
    out.send(at, std::move(frame));
  }

  DeviceClock& clock_;
  SamplePace pace_;
  const Manners manners_;
  const double hz_;
  unsigned serial_ = 0;
  std::size_t extra_ = 0;
};

}  // namespace

void seal(ByteVector& frame) {
  const hal::Bytes all(frame);
  const unsigned data = crc16(all.subspan(kHead, frame.size() - kHead - 1));
  frame[4] = static_cast<std::byte>(crc8(all.first(4)));
  frame[5] = static_cast<std::byte>(data >> 8);
  frame[6] = static_cast<std::byte>(data & 0xFFU);
}

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const auto hz = samples_per_s(inputs, 100.0, 1.0, 500.0);
  if (!hz) return hz.error();
  return std::unique_ptr<DeviceModel>(std::make_unique<Model>(inputs, *hz));
}

}  // namespace sim::fdilink
