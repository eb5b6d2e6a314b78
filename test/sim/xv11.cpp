#include "test/sim/xv11.h"

#include <array>

#include "test/sim/lidar_parts.h"
#include "test/sim/neato_checksum.h"
#include "test/sim/noise.h"
#include "test/sim/wire.h"

namespace sim::xv11 {
namespace {

constexpr unsigned kBaud = 115200;
constexpr std::size_t kBeamsPerPacket = 4, kPackets = 90, kBeamsPerTurn = 360;
constexpr std::size_t kPacketBytes = 22, kPacketHead = 4;
constexpr std::size_t kTurnBytes = 1446, kTurnHead = 6;
// Below this speed, turns/min, every reading is flagged invalid; so it is above 350, but there 90
// packets of 22 bytes a turn are more than the line carries.
constexpr double kSlowestRpm = 240.0;
constexpr double kMostRpm = 349.0, kLeastRpm = 20.0;
constexpr unsigned kInvalid = 0x8000, kWarning = 0x4000;
// Codes that stand in place of the distance. All occur in recordings; that 0x02 is "no light" and
// 0x35 "no distance" fits the signal beside them.
constexpr unsigned kNoReturn = kInvalid | 0x02, kWrongSpeed = kInvalid | 0x35;
constexpr double kWeakFrom = 4.4;  // m; a return from here on is flagged as weak
constexpr double kSignal = 1500.0;

constexpr std::array kOptions = {
    choice("model", "XV-11", "XV-11|LDS01RR|LDS02RR", "device played; all send the same"),
    choice("firmware", "2.6", "2.6|2.1",
           "2.6: packets of four readings with a checksum (2.4 too); 2.1: whole turns without"),
    number("rpm", "300", kLeastRpm, kMostRpm,
           "turns per minute; the motor is the host's: below 240 all is invalid"),
    noise_option(),
};

void put_reading(ByteVector& to, unsigned distance, std::uint64_t signal) {
  put_le(to, distance, 2);
  put_le(to, signal, 2);
}

class Model final : public DeviceModel {
 public:
  Model(const ModelInputs& inputs, double rpm)
      : clock_(inputs.clock),
        noise_(inputs),
        is_old_(inputs.settings.word("firmware") == "2.1"),
        rpm_(rpm) {}

  void power_up(hal::Time now, Output&) override {
    first_ = 0;
    turns_ = 0;
    pace_.start(now, beam_ns());
  }
  void receive(Channel, hal::Bytes, hal::Time, Output&) override {}  // one way: no receiver
  hal::Time advance(hal::Time now, Output& out) override {
    while (due() <= now) emit(out);
    return due();
  }
  unsigned baud() const override { return kBaud; }

  void falsify(ByteVector& frame, Random& random) const override {
    const std::size_t head = is_old_ ? kTurnHead : kPacketHead;
    const std::size_t tail = is_old_ ? 0 : 2;
    if (frame.size() != (is_old_ ? kTurnBytes : kPacketBytes)) return;
    for (std::size_t i = head; i + tail < frame.size(); ++i)
      frame[i] = static_cast<std::byte>(random.below(256));
    if (is_old_) return;
    frame.resize(kPacketBytes - 2);
    put_le(frame, neato_checksum(frame), 2);
  }

 private:
  // One reading per degree: the pace follows the motor.
  double beam_ns() const { return 60e9 / (360.0 * rpm_); }
  std::size_t beams() const { return is_old_ ? kBeamsPerTurn : kBeamsPerPacket; }
  hal::Time due() const { return pace_.at(beams() - 1); }

  void emit(Output& out) {
    ByteVector frame;
    if (is_old_) {
      put_be(frame, 0x5AA500C0U, 4);
    } else {
      put8(frame, 0xFA);
      put8(frame, 0xA0 + first_ / kBeamsPerPacket);
    }
    put_le(frame, static_cast<std::uint64_t>(std::lround(rpm_ * 64.0)), 2);
    ScanTruth truth{clock_.stamp(pace_.at(0)), {}};
    for (std::size_t i = 0; i < beams(); ++i) truth.beams.push_back(read(i, frame));
    if (!is_old_) put_le(frame, neato_checksum(frame), 2);
    out.send(due(), std::move(frame));
    out.scans.push_back(std::move(truth));
    first_ = (first_ + beams()) % kBeamsPerTurn;
    turns_ += first_ == 0;
    pace_.pass(beams(), beam_ns());
  }

  // Angles grow counter-clockwise.
  TrueBeam read(std::size_t i, ByteVector& frame) {
    const double angle = radians(static_cast<double>(first_ + i));
    TrueBeam beam = noise_.on({pace_.at(i), angle, Room::range(angle)});
    if (rpm_ < kSlowestRpm) {
      put_reading(frame, kWrongSpeed, strength(beam.range, kSignal));
      beam.range = 0.0;
    } else if (beam.range == 0.0) {
      put_reading(frame, kNoReturn, 0);
    } else {
      const auto mm = static_cast<unsigned>(millimetres(beam.range));
      put_reading(frame, mm | (beam.range > kWeakFrom ? kWarning : 0U),
                  strength(beam.range, kSignal) + noise());
    }
    return beam;
  }

  // No light is as strong as the last: a turn that is one frame is never the same bytes again.
  std::uint64_t noise() const { return is_old_ ? turns_ % 3 : 0; }

  DeviceClock& clock_;
  Noise noise_;
  bool is_old_;
  double rpm_;
  std::size_t first_ = 0;    // degree of the next packet's first reading
  std::uint64_t turns_ = 0;  // since power-up
  Pace pace_;
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const auto turns =
      turns_per_s(inputs, inputs.settings.number("rpm") / 60.0, kLeastRpm / 60.0, kMostRpm / 60.0);
  if (!turns) return turns.error();
  return std::unique_ptr<DeviceModel>(std::make_unique<Model>(inputs, *turns * 60.0));
}

}  // namespace sim::xv11
