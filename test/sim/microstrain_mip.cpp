#include "test/sim/microstrain_mip.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "test/sim/mip_data.h"
#include "test/sim/mip_dialogue.h"
#include "test/sim/wire.h"

namespace sim::microstrain_mip {
namespace {

using mip::Field;
using mip::Generation;
using mip::Item;
using mip::Stream;

constexpr hal::Duration kReplyDelay = std::chrono::milliseconds(1);
constexpr hal::Duration kBaudDelay =
    std::chrono::milliseconds(20);  // the reply goes at the old rate

constexpr OptionRow kOptions[] = {
    choice("model", "7series", "7series|gx5", "7-series (D5 stamps) or GX5 (legacy commands, 12)"),
    choice("baud", "115200", "115200|230400|460800|921600|usb", "line rate; usb = not paced"),
    choice("streaming", "off", "on|off", "accel, gyro, quaternion flow from power-up at --rate"),
    kMotionOption,
};

class Model final : public DeviceModel {
 public:
  Model(const ModelInputs& inputs, Generation generation, mip::Memory factory, mip::Memory saved)
      : clock_(inputs.clock),
        generation_(generation),
        motion_(motion_kind(inputs.settings)),
        is_usb_(inputs.settings.word("baud") == "usb"),
        dialogue_(generation, std::move(factory), std::move(saved)) {}

  void power_up(hal::Time now, Output&) override {
    parser_.clear();
    dialogue_.power_up();
    new_baud_at_ = kNever;
    origin_ = now;
    tick_ns_ = 0.0;
    tick_ = 0;
  }

  void receive(Channel, hal::Bytes bytes, hal::Time now, Output& out) override {
    while (next_tick_time() <= now) step(out);  // what was due before is not for a resume to revive
    parser_.add(bytes, now);
    mip::Packet packet;
    for (auto found = parser_.next(packet); found != mip::Parser::Found::nothing;
         found = parser_.next(packet)) {
      if (packet.set >= 0x80) continue;
      const bool is_bad = found == mip::Parser::Found::bad_checksum;
      send_split(packet.set, dialogue_.answer(packet, is_bad), now + kReplyDelay, out);
      const std::optional<unsigned> baud = dialogue_.take_wanted_baud();
      if (!baud) continue;
      new_baud_ = *baud;
      new_baud_at_ = now + kReplyDelay + kBaudDelay;
    }
  }

  hal::Time advance(hal::Time now, Output& out) override {
    if (new_baud_at_ <= now) {
      dialogue_.set_baud(new_baud_);
      new_baud_at_ = kNever;
    }
    while (next_tick_time() <= now) step(out);
    return std::min(new_baud_at_, next_due());
  }

  unsigned baud() const override { return is_usb_ ? 0 : dialogue_.baud(); }

  hal::Duration clock_period() const override {
    return generation_ == Generation::gx5 ? std::chrono::seconds(604'800) : hal::Duration::zero();
  }

  void falsify(ByteVector& frame, Random& random) const override {
    if (frame.size() < 8 || std::to_integer<unsigned>(frame[2]) < 0x80) return;
    for (std::size_t at = 4; at + 2 < frame.size() - 2; at += u8_at(frame, at)) {
      const unsigned descriptor = u8_at(frame, at + 1);
      if (descriptor != 0x04 && descriptor != 0x05 && descriptor != 0x0A) continue;
      const double value = random.chance(0.5) ? std::numeric_limits<double>::quiet_NaN() : 1e9;
      ByteVector word;
      put_be_f32(word, value);
      std::copy(word.begin(), word.end(), frame.begin() + static_cast<std::ptrdiff_t>(at) + 2);
    }
    mip::seal(frame);
  }

 private:
  static void send_split(unsigned set, const std::vector<Field>& fields, hal::Time at,
                         Output& out) {
    std::vector<Field> part;
    std::size_t length = 0;
    for (const Field& field : fields) {
      if (length + field.data.size() + 2 > mip::kMaxFieldBytes) {
        out.send(at, mip::packet_bytes(set, part));
        part.clear();
        length = 0;
      }
      length += field.data.size() + 2;
      part.push_back(field);
    }
    if (!part.empty()) out.send(at, mip::packet_bytes(set, part));
  }

  double tick_period_ns() const { return clock_.true_ns(1e9 / mip::kSensorBaseHz); }
  hal::Time next_tick_time(std::uint64_t ahead = 1) const {
    return origin_ + hal::Duration(static_cast<std::int64_t>(tick_ns_ + static_cast<double>(ahead) *
                                                                            tick_period_ns()));
  }
  static bool is_due(const Stream& stream, const Item& item, std::uint64_t tick) {
    return tick % (std::uint64_t{stream.every} * item.decimation) == 0;
  }
  bool is_due(const Stream& stream, std::uint64_t tick) const {
    return !dialogue_.is_idle() && stream.enabled &&
           std::any_of(stream.format.begin(), stream.format.end(),
                       [&](const Item& item) { return is_due(stream, item, tick); });
  }
  hal::Time next_due() const {
    if (dialogue_.is_idle() ||
        (dialogue_.sensor().format.empty() && dialogue_.filter().format.empty()))
      return kNever;
    // Looking a second ahead is enough: an idle wake-up each second does no harm.
    for (std::uint64_t ahead = 1; ahead < mip::kSensorBaseHz; ++ahead)
      if (is_due(dialogue_.sensor(), tick_ + ahead) || is_due(dialogue_.filter(), tick_ + ahead))
        return next_tick_time(ahead);
    return next_tick_time(mip::kSensorBaseHz);
  }

  void step(Output& out) {
    const hal::Time at = next_tick_time();
    tick_ns_ += tick_period_ns();
    ++tick_;
    const bool sensor = is_due(dialogue_.sensor(), tick_);
    const bool filter = is_due(dialogue_.filter(), tick_);
    if (!sensor && !filter) return;
    mip::Sample sample;
    const double seconds = hal::to_seconds(at - origin_);
    sample.motion = motion_at(seconds, motion_);
    sample.device_ns = clock_.stamp(at);
    sample.ticks = tick_;
    sample.generation = generation_;
    if (sensor) send_data(dialogue_.sensor(), sample, seconds, at, out);
    if (filter) send_data(dialogue_.filter(), sample, seconds, at, out);
    out.imus.push_back({at, sample.device_ns, sample.motion.accel, sample.motion.gyro});
  }

  void send_data(const Stream& stream, mip::Sample sample, double seconds, hal::Time at,
                 Output& out) const {
    std::vector<Field> fields;
    for (const Item& item : stream.format) {
      if (!is_due(stream, item, tick_)) continue;
      const std::uint64_t ticks = std::uint64_t{stream.every} * item.decimation;
      sample.delta_ns = static_cast<std::int64_t>(ticks) * (1'000'000'000 / mip::kSensorBaseHz);
      const double delta_s = static_cast<double>(sample.delta_ns) * 1e-9;
      const Vector3 middle = motion_at(seconds - delta_s / 2.0, motion_).gyro;
      sample.delta_angle = {middle[0] * delta_s, middle[1] * delta_s, middle[2] * delta_s};
      fields.push_back(mip::make_field(stream.set, item.descriptor, sample));
    }
    send_split(stream.set, fields, at, out);
  }

  DeviceClock& clock_;
  Generation generation_;
  MotionKind motion_;
  bool is_usb_;
  mip::Dialogue dialogue_;
  mip::Parser parser_;
  unsigned new_baud_ = 0;
  hal::Time new_baud_at_ = kNever;
  hal::Time origin_{};
  double tick_ns_ = 0.0;  // of tick_, after origin_
  std::uint64_t tick_ = 0;
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const double hz = inputs.rate_hz == 0.0 ? 100.0 : inputs.rate_hz;
  const double decimation = mip::kSensorBaseHz / hz;
  if (hz < 1.0 || hz > mip::kSensorBaseHz || std::abs(decimation - std::round(decimation)) > 1e-6) {
    hal::Error error{hal::Errc::bad_config, 0, "simulate: --rate", {}};
    error.detail.print("%g samples/s: the device has 1000 Hz divided by an integer, 1 to 1000", hz);
    return error;
  }
  const bool is_gx5 = inputs.settings.word("model") == "gx5";
  mip::Memory factory;
  if (inputs.settings.word("baud") != "usb")
    factory.baud = static_cast<unsigned>(inputs.settings.number("baud"));
  mip::Memory saved = factory;
  if (inputs.settings.on("streaming"))
    for (const unsigned descriptor : {is_gx5 ? 0x12U : 0xD5U, 0x04U, 0x05U, 0x0AU})
      saved.sensor.format.push_back({descriptor, static_cast<unsigned>(std::lround(decimation))});
  return std::unique_ptr<DeviceModel>(
      std::make_unique<Model>(inputs, is_gx5 ? Generation::gx5 : Generation::series7,
                              std::move(factory), std::move(saved)));
}

}  // namespace sim::microstrain_mip
