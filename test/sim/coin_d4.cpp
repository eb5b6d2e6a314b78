#include "test/sim/coin_d4.h"

#include <algorithm>
#include <array>

#include "test/sim/lidar_parts.h"
#include "test/sim/noise.h"
#include "test/sim/wire.h"

namespace sim::coin_d4 {
namespace {

constexpr std::size_t kMostBeams = 25, kHead = 10, kBeamBytes = 3;
constexpr double kLeast = 1.0, kMost = 12.0;
constexpr std::size_t kCommandBytes = 4;
constexpr unsigned kStart = 0xF0, kHighExposure = 0xF1, kLowExposure = 0xF2, kStop = 0xF5;
// Marks of a sample whose distance is doubtful: strong sunlight, here far walls.
constexpr unsigned kAmbientLight = 3;
constexpr double kDoubtfulFrom = 4.4;  // m
constexpr double kIntensity = 250.0;

constexpr std::array kOptions = {
    choice("model", "COIN-D4", "COIN-D4|COIN-D4A", "device played; both send the same"),
    choice("running", "off", "off|on", "found streaming at power-up; off waits for the start"),
    number("rpm", "300", kLeast * 60.0, kMost * 60.0, "turns per minute"),
    // 0.556 degrees apart at 5 turns a second.
    number("samples_hz", "3240", 2000.0, 4800.0, "samples per second, which no source tells"),
    choice("baud", "115200", "115200|230400", "line rate"),
    noise_option(),
};

// Even words are summed by exclusive or: the header's, and for each sample its intensity and then
// its distance. Takes the packet without its own two bytes of checksum, which stand before the
// samples.
unsigned checksum(hal::Bytes head, hal::Bytes samples) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < head.size(); i += 2) sum ^= get_le(head, i, 2);
  for (std::size_t i = 0; i < samples.size(); i += kBeamBytes)
    sum ^= u8_at(samples, i) ^ get_le(samples, i + 1, 2);
  return static_cast<unsigned>(sum);
}

bool is_command(unsigned code) {
  return code == kStart || code == kStop || code == kHighExposure || code == kLowExposure;
}

// 1/64 degrees, above a bit that is always set.
std::uint64_t raw_angle(double clockwise_deg) {
  const auto units = static_cast<std::uint64_t>(std::lround(clockwise_deg * 64.0)) % 23040U;
  return units << 1U | 1U;
}

class Model final : public DeviceModel {
 public:
  Model(const ModelInputs& inputs, double turns)
      : clock_(inputs.clock),
        noise_(inputs),
        turns_per_s_(turns),
        runs_at_power_up_(inputs.settings.on("running")),
        beams_per_s_(inputs.settings.number("samples_hz")),
        baud_(static_cast<unsigned>(inputs.settings.number("baud"))) {}

  void power_up(hal::Time now, Output&) override {
    command_.clear();
    angle_ = 0.0;
    is_turn_start_ = true;
    is_running_ = runs_at_power_up_;
    pace_.start(now, beam_ns());
  }

  void receive(Channel, hal::Bytes bytes, hal::Time now, Output& out) override {
    for (const std::byte b : bytes) {
      command_.push_back(b);
      take_command(now, out);
    }
  }

  hal::Time advance(hal::Time now, Output& out) override {
    while (is_running_ && due() <= now) emit(out);
    return is_running_ ? due() : kNever;
  }
  unsigned baud() const override { return baud_; }

  void falsify(ByteVector& frame, Random& random) const override {
    if (frame.size() <= kHead || frame[0] != std::byte{0xAA}) return;
    for (std::size_t i = kHead; i < frame.size(); ++i)
      frame[i] = static_cast<std::byte>(random.below(256));
    seal(frame);
  }

 private:
  double beam_ns() const { return clock_.true_ns(1e9 / beams_per_s_); }
  double step() const { return 360.0 * turns_per_s_ / beams_per_s_; }
  // The packet that starts a turn holds one sample; no other packet reaches into the next turn.
  std::size_t beams() const {
    if (is_turn_start_) return 1;
    const double left = std::ceil((360.0 - angle_) / step() - 1e-6);
    return std::min(kMostBeams, static_cast<std::size_t>(std::max(left, 1.0)));
  }
  hal::Time due() const { return pace_.at(beams() - 1); }

  // AA 55 command and the exclusive or of the three.
  void take_command(hal::Time now, Output& out) {
    constexpr std::array<std::byte, 2> kSync = {std::byte{0xAA}, std::byte{0x55}};
    for (std::size_t i = 0; i < kSync.size() && i < command_.size(); ++i) {
      if (command_[i] == kSync[i]) continue;
      command_.erase(command_.begin());
      return take_command(now, out);
    }
    if (command_.size() < kCommandBytes) return;
    const unsigned code = u8_at(command_, 2);
    // AA 55 AA 55 would be well summed too: only what is known is a command.
    if (is_command(code) && (0xAAU ^ 0x55U ^ code) == u8_at(command_, 3)) {
      command_.clear();
      return obey(code, now, out);
    }
    command_.erase(command_.begin());
    take_command(now, out);
  }

  // The exposures are taken without a word and change nothing that is played here.
  void obey(unsigned code, hal::Time now, Output& out) {
    if (code == kStop) is_running_ = false;
    if (code != kStart || is_running_) return;
    is_running_ = true;
    pace_.start(now, beam_ns());
    ByteVector name{std::byte{0xA5}, std::byte{0x5A}};
    put_be(name, 0x1400E30201U, 5);
    put_text(name, "COIN-D4");
    name.resize(kNameBytes);
    out.send(now, std::move(name));
    ByteVector begins;
    put_be(begins, 0xA55A0000800181U, 7);
    out.send(now, std::move(begins));
  }

  static void seal(ByteVector& frame) {
    const hal::Bytes all(frame);
    const unsigned sum = checksum(all.first(kHead - 2), all.subspan(kHead));
    frame[kHead - 2] = static_cast<std::byte>(sum & 0xFFU);
    frame[kHead - 1] = static_cast<std::byte>(sum >> 8U);
  }

  void emit(Output& out) {
    const std::size_t count = beams();
    const double last = angle_ + step() * static_cast<double>(count - 1);
    ByteVector frame;
    put_be(frame, 0xAA55U, 2);
    const auto tenths = static_cast<std::uint64_t>(std::lround(turns_per_s_ * 10.0));
    put8(frame, is_turn_start_ ? tenths << 1U | 1U : 0);
    put8(frame, count);
    put_le(frame, raw_angle(angle_), 2);
    put_le(frame, raw_angle(last), 2);
    put_le(frame, 0, 2);  // the checksum's place
    ScanTruth truth{clock_.stamp(pace_.at(0)), {}};
    for (std::size_t i = 0; i < count; ++i) {
      const TrueBeam beam =
          noise_.on(look_clockwise(pace_.at(i), angle_ + step() * static_cast<double>(i)));
      put8(frame, beam.range > 0.0 ? strength(beam.range, kIntensity) : 0);
      put_le(frame,
             millimetres(beam.range) << 2U | (beam.range > kDoubtfulFrom ? kAmbientLight : 0), 2);
      truth.beams.push_back(beam);
    }
    seal(frame);
    out.send(due(), std::move(frame));
    out.scans.push_back(std::move(truth));
    pace_.pass(count, beam_ns());
    angle_ = last + step();
    is_turn_start_ = angle_ > 360.0 - 1e-6;
    if (is_turn_start_) angle_ = std::max(0.0, angle_ - 360.0);
  }

  // Twenty bytes follow the seven in front of them, as far as the recording tells.
  static constexpr std::size_t kNameBytes = 27;

  DeviceClock& clock_;
  Noise noise_;
  double turns_per_s_;
  bool runs_at_power_up_;
  double beams_per_s_;
  unsigned baud_;
  bool is_running_ = false;
  double angle_ = 0.0;         // clockwise, of the next packet's first sample
  bool is_turn_start_ = true;  // the next packet is the one that starts a turn
  ByteVector command_;
  Pace pace_;
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const auto turns = turns_per_s(inputs, inputs.settings.number("rpm") / 60.0, kLeast, kMost);
  if (!turns) return turns.error();
  return std::unique_ptr<DeviceModel>(std::make_unique<Model>(inputs, *turns));
}

}  // namespace sim::coin_d4
