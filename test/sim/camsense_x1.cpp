#include "test/sim/camsense_x1.h"

#include <array>

#include "test/sim/lidar_parts.h"
#include "test/sim/neato_checksum.h"
#include "test/sim/noise.h"
#include "test/sim/wire.h"

namespace sim::camsense_x1 {
namespace {

constexpr unsigned kBaud = 115200;
constexpr std::size_t kBeams = 8, kPacketBytes = 36, kFirstBeam = 8, kBeamBytes = 3;
constexpr double kBeamsPerS = 2080.0;  // 0.9 degrees apart at 312 turns/min
constexpr double kLeast = 1.0, kMost = 10.0;
constexpr unsigned kNoReturn = 0x8000;
constexpr double kQuality = 140.0;

constexpr std::array kOptions = {
    choice("model", "X1", "X1", "device played"),
    number("rpm", "312", kLeast * 60.0, kMost * 60.0, "turns per minute"),
    number("zero_deg", "0", -360.0, 360.0,
           "added to the device's own clockwise angles, gives the angles from the front"),
    noise_option(),
};

// 1/64 degrees above -640.
std::uint64_t raw_angle(double angle_deg) {
  return static_cast<std::uint64_t>(std::lround((within_a_turn(angle_deg) + 640.0) * 64.0));
}

class Model final : public DeviceModel {
 public:
  Model(const ModelInputs& inputs, double turns)
      : clock_(inputs.clock),
        noise_(inputs),
        turns_per_s_(turns),
        zero_deg_(inputs.settings.number("zero_deg")) {}

  void power_up(hal::Time now, Output&) override {
    angle_ = 0.0;
    pace_.start(now, beam_ns());
  }
  void receive(Channel, hal::Bytes, hal::Time, Output&) override {}  // one way: no receiver
  hal::Time advance(hal::Time now, Output& out) override {
    while (due() <= now) emit(out);
    return due();
  }
  unsigned baud() const override { return kBaud; }

  void falsify(ByteVector& frame, Random& random) const override {
    if (frame.size() != kPacketBytes) return;
    for (std::size_t i = kFirstBeam; i < kFirstBeam + kBeams * kBeamBytes; ++i)
      frame[i] = static_cast<std::byte>(random.below(256));
    frame.resize(kPacketBytes - 2);
    put_le(frame, neato_checksum(frame), 2);
  }

 private:
  double beam_ns() const { return clock_.true_ns(1e9 / kBeamsPerS); }
  double step() const { return 360.0 * turns_per_s_ / kBeamsPerS; }
  hal::Time due() const { return pace_.at(kBeams - 1); }

  void emit(Output& out) {
    const double end = angle_ + step() * static_cast<double>(kBeams - 1);
    ByteVector frame;
    put_be(frame, 0x55AA0308U, 4);
    put_le(frame, static_cast<std::uint64_t>(std::lround(turns_per_s_ * 60.0 * 64.0)), 2);
    put_le(frame, raw_angle(angle_), 2);
    ScanTruth truth{clock_.stamp(pace_.at(0)), {}};
    for (std::size_t i = 0; i < kBeams; ++i) {
      const double own = angle_ + step() * static_cast<double>(i);
      const TrueBeam beam = noise_.on(look_clockwise(pace_.at(i), own + zero_deg_));
      put_le(frame, beam.range > 0.0 ? millimetres(beam.range) : kNoReturn, 2);
      put8(frame, beam.range > 0.0 ? strength(beam.range, kQuality) : 0);
      truth.beams.push_back(beam);
    }
    put_le(frame, raw_angle(end), 2);
    put_le(frame, neato_checksum(frame), 2);
    out.send(due(), std::move(frame));
    out.scans.push_back(std::move(truth));
    angle_ = within_a_turn(end + step());
    pace_.pass(kBeams, beam_ns());
  }

  DeviceClock& clock_;
  Noise noise_;
  double turns_per_s_;
  double zero_deg_;
  double angle_ = 0.0;  // the device's own, clockwise, of the next packet's first beam
  Pace pace_;
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const auto turns = turns_per_s(inputs, inputs.settings.number("rpm") / 60.0, kLeast, kMost);
  if (!turns) return turns.error();
  return std::unique_ptr<DeviceModel>(std::make_unique<Model>(inputs, *turns));
}

}  // namespace sim::camsense_x1
