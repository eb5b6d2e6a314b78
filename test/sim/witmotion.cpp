// Registers that are unlocked, written and saved, and the frames that they choose.
#include "test/sim/witmotion.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "test/sim/sample_pace.h"
#include "test/sim/wire.h"
#include "test/sim/wit_frames.h"

namespace sim::witmotion {
namespace {

constexpr hal::Duration kReplyDelay = std::chrono::milliseconds(2);
constexpr hal::Duration kForgets = std::chrono::milliseconds(100);
constexpr unsigned kSave = 0x00, kContent = 0x02, kRate = 0x03, kLine = 0x04, kRead = 0x27,
                   kUnlock = 0x69;
constexpr unsigned kAccel = 0x34, kQuaternion = 0x51, kVersion = 0x2E;
constexpr std::uint16_t kKey = 0xB588;  // as written: 88 B5
constexpr std::uint16_t kKeep = 0x0000, kFactory = 0x0001, kRestart = 0x00FF;
constexpr std::size_t kCommand = 5;

// By the code of the rate register; 0: none.
constexpr std::array kRates{0.0,  0.2,  0.5,   1.0,   2.0,   5.0, 10.0,
                            20.0, 50.0, 100.0, 125.0, 200.0, 0.0, 0.0};
constexpr unsigned kOnce = 0x0C, kNever13 = 0x0D;
constexpr std::array kBauds{0U,      4800U,    9600U,    19'200U,  38'400U,
                            57'600U, 115'200U, 230'400U, 460'800U, 921'600U};

constexpr OptionRow kOptions[] = {
    choice("baud", "9600", "4800|9600|19200|38400|57600|115200|230400|460800|921600", "line rate"),
    choice("found", "other", "other|silent|streaming|calendar",
           "at power-up: accel, gyro, angles and mag; nothing; accel, gyro, angles and quaternion; "
           "or these with the time before"),
    choice("quaternion", "wxyz", "wxyz|xyzw", "the order in which it is sent"),
    choice("axes", "flu", "flu|rfu", "forward-left-up, or right-forward-up"),
    choice("dead_band", "off", "on|off", "rates below 0.1 deg/s are told as none"),
    kMotionOption,
};

using Registers = std::array<std::uint16_t, 256>;

class Model final : public DeviceModel {
 public:
  Model(const ModelInputs& inputs, const Registers& factory)
      : clock_(inputs.clock),
        pace_(inputs.clock),
        motion_(motion_kind(inputs.settings)),
        manner_{inputs.settings.word("axes") == "rfu" ? Axes::rfu : Axes::flu,
                inputs.settings.word("quaternion") == "wxyz", inputs.settings.on("dead_band")},
        factory_(factory),
        saved_(factory) {}

  void power_up(hal::Time now, Output&) override { begin(now); }

  void receive(Channel, hal::Bytes bytes, hal::Time now, Output& out) override {
    advance(now, out);
    if (now - heard_ > kForgets) held_.clear();
    heard_ = now;
    held_.insert(held_.end(), bytes.begin(), bytes.end());
    for (;;) {
      while (!held_.empty() && !starts()) held_.erase(held_.begin());
      if (held_.size() < kCommand) return;
      const unsigned address = u8_at(held_, 2);
      const auto value = static_cast<std::uint16_t>(get_le(held_, 3, 2));
      held_.erase(held_.begin(), held_.begin() + kCommand);
      command(address, value, now, out);
    }
  }

  hal::Time advance(hal::Time now, Output& out) override {
    while (is_streaming() && pace_.next() <= now) {
      const hal::Time at = pace_.next();
      pace_.pass();
      measure(at, out);
    }
    return is_streaming() ? pace_.next() : kNever;
  }

  unsigned baud() const override { return kBauds[now_[kLine]]; }

  void falsify(ByteVector& frame, Random& random) const override {
    const unsigned type = frame.size() == 11 ? u8_at(frame, 1) : 0;
    if (type != 0x51 && type != 0x52) return;
    for (std::size_t i = 2; i < 8; ++i)
      frame[i] = static_cast<std::byte>(random.chance(0.5) ? 0 : random.below(256));
    seal(frame);
  }

 private:
  bool starts() const {
    return u8_at(held_, 0) == 0xFF && (held_.size() < 2 || u8_at(held_, 1) == 0xAA);
  }
  double hz() const { return kRates[now_[kRate]]; }
  bool is_streaming() const { return hz() > 0.0; }

  void begin(hal::Time now) {
    now_ = saved_;
    held_.clear();
    is_unlocked_ = false;
    origin_ = now;
    if (is_streaming()) pace_.start(now, hz());
  }

  // None is answered but a question.
  void command(unsigned address, std::uint16_t value, hal::Time now, Output& out) {
    if (address == kRead) return tell(value & 0xFFU, now, out);
    if (address == kUnlock) {
      is_unlocked_ = value == kKey;
      return;
    }
    if (!is_unlocked_) return;
    if (address == kSave) return keep(value, now);
    if (address == kRate) return set_rate(value, now, out);
    if (address == kLine && (value == 0 || value >= kBauds.size())) return;
    now_[address] = value;
  }

  void keep(std::uint16_t value, hal::Time now) {
    is_unlocked_ = false;
    if (value == kKeep) saved_ = now_;
    if (value == kFactory) now_ = saved_ = factory_;
    if (value != kRestart) return;
    clock_.restart(now);
    begin(now);
  }

  void set_rate(std::uint16_t code, hal::Time now, Output& out) {
    if (code == 0 || code > kNever13) return;
    const bool streamed = is_streaming();
    if (code == kOnce) measure(now + kReplyDelay, out);
    now_[kRate] = code;
    if (!is_streaming()) return;
    if (streamed)
      pace_.set_rate(hz());
    else
      pace_.start(now, hz());
  }

  void tell(unsigned address, hal::Time now, Output& out) {
    const Raw raw = raw_of(manner_, motion_at(hal::to_seconds(now - origin_), motion_));
    std::array<std::uint16_t, 4> values{};
    for (unsigned i = 0; i < 4; ++i) values[i] = register_at((address + i) & 0xFFU, raw);
    out.send(now + kReplyDelay, register_frame(values));
  }
  std::uint16_t register_at(unsigned address, const Raw& raw) const {
    const auto of = [](int counts) { return static_cast<std::uint16_t>(counts); };
    if (address >= kAccel && address < kAccel + 12) {
      const unsigned i = (address - kAccel) % 3;
      const std::array<int, 3>* const all[] = {&raw.accel, &raw.gyro, &raw.mag, &raw.angle};
      return of((*all[(address - kAccel) / 3])[i]);
    }
    if (address >= kQuaternion && address < kQuaternion + 4)
      return of(raw.quaternion[address - kQuaternion]);
    return now_[address];
  }

  // All of one instant, back to back in the order of their types.
  void measure(hal::Time at, Output& out) {
    const Sample sample{motion_at(hal::to_seconds(at - origin_), motion_), clock_.stamp(at)};
    for (unsigned bit = 0; bit < kTypes; ++bit)
      if ((now_[kContent] >> bit & 1) != 0) out.send(at, data_frame(bit, manner_, sample));
    const bool has_calendar = (now_[kContent] & 1) != 0;
    const std::int64_t told =
        has_calendar ? sample.device_ns / 1'000'000 * 1'000'000 : sample.device_ns;
    out.imus.push_back({at, told, sample.motion.accel, sample.motion.gyro});
  }

  DeviceClock& clock_;
  SamplePace pace_;
  const MotionKind motion_;
  const Manner manner_;
  const Registers factory_;
  Registers saved_, now_{};
  ByteVector held_;
  hal::Time heard_{}, origin_{};
  bool is_unlocked_ = false;
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const double hz = inputs.rate_hz == 0.0 ? 10.0 : inputs.rate_hz;
  const auto rate = std::find(kRates.begin() + 1, kRates.begin() + kOnce, hz);
  if (rate == kRates.begin() + kOnce) {
    hal::Error error{hal::Errc::bad_config, 0, "simulate: --rate", {}};
    error.detail.print("%g samples/s: it knows 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 125 and 200",
                       hz);
    return error;
  }
  const auto baud = static_cast<unsigned>(inputs.settings.number("baud"));
  const std::string& found = inputs.settings.word("found");
  Registers factory{};
  factory[kContent] = found == "other" ? 0x001E : found == "calendar" ? 0x020F : 0x020E;
  factory[kRate] = static_cast<std::uint16_t>(
      found == "silent" ? kNever13 : static_cast<unsigned>(rate - kRates.begin()));
  factory[kLine] =
      static_cast<std::uint16_t>(std::find(kBauds.begin(), kBauds.end(), baud) - kBauds.begin());
  factory[kVersion] = 0x2710;
  return std::unique_ptr<DeviceModel>(std::make_unique<Model>(inputs, factory));
}

}  // namespace sim::witmotion
