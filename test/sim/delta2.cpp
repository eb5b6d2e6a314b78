#include "test/sim/delta2.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "test/sim/lidar_parts.h"
#include "test/sim/noise.h"
#include "test/sim/wire.h"

namespace sim::delta2 {
namespace {

struct Type {
  std::string_view name;
  const char* bauds;    // that it exists with; the first is the usual one
  std::size_t packets;  // in one turn
};
constexpr Type kTypes[] = {
    {"2A", "115200|230400", 16}, {"2B", "230400", 16},      {"2D", "115200", 16},
    {"2G", "115200", 15},        {"LDS08RR", "115200", 16},
};

constexpr double kBeamsPerS = 2066.0;  // 21 beams in a packet at 6.15 turns/s
constexpr double kLeast = 1.0, kMost = 12.0;
// Below this speed the device measures nothing and says only how fast it turns.
constexpr double kMeasuresFrom = 4.0;
constexpr std::size_t kHead = 13, kBeamBytes = 3, kMostBeams = 255;
constexpr unsigned kMeasurement = 0xAD, kSpeedOnly = 0xAE;
constexpr unsigned kOffset = 0xFFDC;  // -0.36 degrees in every recorded packet; nobody applies it
constexpr double kQuality = 250.0;

constexpr std::array kOptions = {
    choice("model", "2A", "2A|2B|2D|2G|LDS08RR", "device played: sets baud and packets per turn"),
    choice("baud", "auto", "auto|115200|230400", "auto = the model's; a 2A exists with both"),
    number("rpm", "369", kLeast * 60.0, kMost * 60.0,
           "turns per minute; the motor is the host's: below 240 only the speed is sent"),
    choice("unit_mm", "0.25", "0.25|1", "what one unit of distance is, in mm"),
    noise_option(),
};

const Type& type_of(std::string_view name) {
  for (const Type& type : kTypes)
    if (type.name == name) return type;
  return kTypes[0];
}

void put_sum(ByteVector& frame) {
  unsigned sum = 0;
  for (const std::byte b : frame) sum += std::to_integer<unsigned>(b);
  put_be(frame, sum & 0xFFFFU, 2);
}

ByteVector head_of(unsigned command, std::size_t data_bytes) {
  ByteVector frame;
  put8(frame, 0xAA);
  put_be(frame, data_bytes + 8, 2);
  put8(frame, 0x01);
  put8(frame, 0x61);
  put8(frame, command);
  put_be(frame, data_bytes, 2);
  return frame;
}

class Model final : public DeviceModel {
 public:
  Model(const ModelInputs& inputs, const Type& type, unsigned baud, double turns)
      : clock_(inputs.clock),
        noise_(inputs),
        type_(type),
        baud_(baud),
        turns_per_s_(turns),
        unit_m_(inputs.settings.number("unit_mm") / 1000.0) {
    const double beams = std::round(kBeamsPerS / (turns * static_cast<double>(type.packets)));
    beams_ = std::min(static_cast<std::size_t>(beams), kMostBeams);
  }

  void power_up(hal::Time now, Output&) override {
    packet_ = 0;
    pace_.start(now, beam_ns());
  }
  void receive(Channel, hal::Bytes, hal::Time, Output&) override {}  // one way: no receiver
  hal::Time advance(hal::Time now, Output& out) override {
    while (due() <= now) emit(out);
    return due();
  }
  unsigned baud() const override { return baud_; }

  void falsify(ByteVector& frame, Random& random) const override {
    if (frame.size() <= kHead + 2) return;
    frame.resize(frame.size() - 2);
    for (std::size_t i = kHead; i < frame.size(); ++i)
      frame[i] = static_cast<std::byte>(random.below(256));
    put_sum(frame);
  }

 private:
  double packets() const { return static_cast<double>(type_.packets); }
  // A packet covers its share of the turn, so the pace follows the motor.
  double beam_ns() const { return 1e9 / (turns_per_s_ * packets() * static_cast<double>(beams_)); }
  hal::Time due() const { return pace_.at(beams_ - 1); }
  std::uint64_t speed() const {
    return static_cast<std::uint64_t>(std::lround(turns_per_s_ / 0.05));
  }

  void emit(Output& out) {
    if (turns_per_s_ < kMeasuresFrom) {
      ByteVector frame = head_of(kSpeedOnly, 1);
      put8(frame, speed());
      put_sum(frame);
      out.send(due(), std::move(frame));
    } else {
      emit_measurement(out);
    }
    packet_ = (packet_ + 1) % type_.packets;
    pace_.pass(beams_, beam_ns());
  }

  void emit_measurement(Output& out) {
    const double width = 360.0 / packets();
    const double start = width * static_cast<double>(packet_);
    ByteVector frame = head_of(kMeasurement, 5 + kBeamBytes * beams_);
    put8(frame, speed());
    put_be(frame, kOffset, 2);
    put_be(frame, static_cast<std::uint64_t>(std::lround(start * 100.0)), 2);
    ScanTruth truth{clock_.stamp(pace_.at(0)), {}};
    for (std::size_t i = 0; i < beams_; ++i) {
      const double along = width * static_cast<double>(i) / static_cast<double>(beams_);
      const TrueBeam beam = noise_.on(look_clockwise(pace_.at(i), start + along));
      put8(frame, beam.range > 0.0 ? strength(beam.range, kQuality) : 0);
      put_be(frame, static_cast<std::uint64_t>(std::lround(beam.range / unit_m_)), 2);
      truth.beams.push_back(beam);
    }
    put_sum(frame);
    out.send(due(), std::move(frame));
    out.scans.push_back(std::move(truth));
  }

  DeviceClock& clock_;
  Noise noise_;
  const Type& type_;
  unsigned baud_;
  double turns_per_s_;
  double unit_m_;
  std::size_t beams_ = 0;   // in each packet
  std::size_t packet_ = 0;  // the next one's place in its turn
  Pace pace_;
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const auto turns = turns_per_s(inputs, inputs.settings.number("rpm") / 60.0, kLeast, kMost);
  if (!turns) return turns.error();
  const Type& type = type_of(inputs.settings.word("model"));
  const std::string_view bauds = type.bauds;
  const std::string& wanted = inputs.settings.word("baud");
  if (wanted != "auto" && bauds.find(wanted) == std::string_view::npos) {
    hal::Error error{hal::Errc::bad_config, 0, "simulate: --set", {}};
    error.detail.print("baud: there is no %s with %s, only %s",
                       inputs.settings.word("model").c_str(), wanted.c_str(), type.bauds);
    return error;
  }
  const unsigned baud =
      (wanted == "auto" ? bauds.substr(0, 6) : wanted) == "230400" ? 230400U : 115200U;
  return std::unique_ptr<DeviceModel>(std::make_unique<Model>(inputs, type, baud, *turns));
}

}  // namespace sim::delta2
