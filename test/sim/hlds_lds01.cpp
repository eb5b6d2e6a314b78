#include "test/sim/hlds_lds01.h"

#include <array>

#include "test/sim/lidar_parts.h"
#include "test/sim/noise.h"
#include "test/sim/wire.h"

namespace sim::hlds_lds01 {
namespace {

constexpr unsigned kBaud = 230400;
constexpr std::size_t kBeams = 6, kPackets = 60;
constexpr std::size_t kPacketBytes = 42, kHead = 4;
constexpr std::byte kStart{'b'}, kStop{'e'};
constexpr double kLeast = 0.5, kMost = 9.0;
constexpr double kIntensity = 12000.0;

constexpr std::array kOptions = {
    choice("model", "LDS-01", "LDS-01|HLS-LFCD2", "device played; two names of one"),
    choice("running", "on", "on|off",
           "streams at power-up, as firmware after October 2017 does; off waits for 'b'"),
    number("rpm", "300", kLeast * 60.0, kMost * 60.0, "turns per minute"),
    noise_option(),
};

// Both check bytes are the same: the complement of the sum of all bytes before them.
void put_check(ByteVector& frame) {
  unsigned sum = 0;
  for (const std::byte b : frame) sum += std::to_integer<unsigned>(b);
  const unsigned check = 0xFFU - (sum & 0xFFU);
  put8(frame, check);
  put8(frame, check);
}

class Model final : public DeviceModel {
 public:
  Model(const ModelInputs& inputs, double turns)
      : clock_(inputs.clock),
        noise_(inputs),
        runs_at_power_up_(inputs.settings.on("running")),
        turns_per_s_(turns) {}

  void power_up(hal::Time now, Output&) override {
    index_ = 0;
    is_running_ = runs_at_power_up_;
    pace_.start(now, beam_ns());
  }

  // One letter is a whole command; there is no answer, and other letters mean nothing.
  void receive(Channel, hal::Bytes bytes, hal::Time now, Output&) override {
    for (const std::byte b : bytes) {
      if (b == kStop) is_running_ = false;
      if (b != kStart || is_running_) continue;
      is_running_ = true;
      pace_.start(now, beam_ns());
    }
  }

  hal::Time advance(hal::Time now, Output& out) override {
    while (is_running_ && due() <= now) emit(out);
    return is_running_ ? due() : kNever;
  }
  unsigned baud() const override { return kBaud; }

  void falsify(ByteVector& frame, Random& random) const override {
    if (frame.size() != kPacketBytes) return;
    frame.resize(kPacketBytes - 2);
    for (std::size_t i = kHead; i < frame.size(); ++i)
      frame[i] = static_cast<std::byte>(random.below(256));
    put_check(frame);
  }

 private:
  double beam_ns() const { return 1e9 / (360.0 * turns_per_s_); }
  hal::Time due() const { return pace_.at(kBeams - 1); }

  void emit(Output& out) {
    ByteVector frame;
    put8(frame, 0xFA);
    put8(frame, 0xA0 + index_);
    put_le(frame, static_cast<std::uint64_t>(std::lround(turns_per_s_ * 600.0)), 2);
    ScanTruth truth{clock_.stamp(pace_.at(0)), {}};
    for (std::size_t i = 0; i < kBeams; ++i) {
      // Clockwise; the front is between the last and the first reading of a turn's numbering, so
      // that reading n lies at 359 - n counter-clockwise.
      const auto reading = static_cast<double>(kBeams * index_ + i);
      const TrueBeam beam = noise_.on(look_clockwise(pace_.at(i), reading + 1.0));
      put_le(frame, beam.range > 0.0 ? strength(beam.range, kIntensity) : 0, 2);
      put_le(frame, millimetres(beam.range), 2);
      put_le(frame, 0, 2);
      truth.beams.push_back(beam);
    }
    put_check(frame);
    out.send(due(), std::move(frame));
    out.scans.push_back(std::move(truth));
    index_ = (index_ + 1) % kPackets;
    pace_.pass(kBeams, beam_ns());
  }

  DeviceClock& clock_;
  Noise noise_;
  bool runs_at_power_up_;
  double turns_per_s_;
  bool is_running_ = false;
  std::size_t index_ = 0;  // of the next packet in its turn
  Pace pace_;
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const auto turns = turns_per_s(inputs, inputs.settings.number("rpm") / 60.0, kLeast, kMost);
  if (!turns) return turns.error();
  return std::unique_ptr<DeviceModel>(std::make_unique<Model>(inputs, *turns));
}

}  // namespace sim::hlds_lds01
