#include "test/sim/leuze_rsl.h"

#include <algorithm>
#include <array>

#include "test/sim/lidar_parts.h"
#include "test/sim/wire.h"

// All little-endian. Datagrams begin with
//   0 u32 bytes of the datagram  4 u8 8  5 u8 0  6 AF FE  8 u8 4  9 u8 15  10 u8 2  11 u8 C8
//   12 u8 kind, u8 device (0 RSL 400, 1 RSL 200)  14 u16 block from 0  16 u32 scan
// Kind 1 opens a scan: 20 bytes of status (RSL 400; scan at 8) or 28 (RSL 200; scan at 16), then
// u16 first index, last, interval, 0. Kinds 3 (u16 mm, u16 amplitude) and 6 (u16 mm) carry up to
// 360 beams, clockwise from the left.
namespace sim::leuze_rsl {
namespace {

constexpr std::size_t kHead = 20, kBeamsPerBlock = 360;
constexpr unsigned kStatus = 1, kWithAmplitude = 3, kDistances = 6;
constexpr double kLeftmostDeg = 135.0, kBrightest = 2000.0;

struct Model {
  const char* name;
  unsigned device;
  double unit_deg;  // of an index
  unsigned last;    // index of the whole field
  double hz;
};

constexpr std::array kModels = {Model{"RSL400", 0, 0.1, 2699, 25.0},
                                Model{"RSL200", 1, 0.2, 1350, 40.0}};

constexpr std::array kOptions = {
    choice("model", "RSL400", "RSL400|RSL200", "device played"),
    choice("amplitude", "on", "on|off", "blocks of distances and amplitudes, or distances only"),
    number("start", "0", 0, 2698, "index of the first beam: 0.1 (RSL200: 0.2) degrees each"),
    number("stop", "0", 0, 2699, "index at which the field ends; 0 = that of the model"),
    number("interval", "1", 1, 100, "indices from beam to beam"),
    choice("report", "measured", "measured|turn",
           "blocks leave when they are measured, or all at the end of the turn"),
};

const Model& find_model(const std::string& name) {
  return name == kModels[0].name ? kModels[0] : kModels[1];
}

class Scanner final : public DeviceModel {
 public:
  Scanner(const ModelInputs& in, const Model& model, unsigned stop)
      : model_(model),
        clock_(in.clock),
        kind_(in.settings.on("amplitude") ? kWithAmplitude : kDistances),
        start_(static_cast<unsigned>(in.settings.number("start"))),
        stop_(stop),
        interval_(static_cast<unsigned>(in.settings.number("interval"))),
        waits_(in.settings.word("report") == "turn"),
        beams_(1 + (stop - start_ + interval_ - 1) / interval_) {}

  void power_up(hal::Time now, Output&) override {
    scan_ = 1;
    block_ = 0;
    pace_.start(now, beam_ns());
  }
  void receive(Channel, hal::Bytes, hal::Time, Output&) override {}  // one way
  hal::Time advance(hal::Time now, Output& out) override {
    while (due() <= now) emit(out);
    return due();
  }
  unsigned baud() const override { return 0; }

  void falsify(ByteVector& frame, Random& random) const override {
    if (frame.size() <= kHead || u8_at(frame, 12) == kStatus) return;
    for (std::size_t i = kHead; i < frame.size(); ++i)
      frame[i] = static_cast<std::byte>(random.below(256));
  }

 private:
  double step_deg() const { return model_.unit_deg * interval_; }
  double beam_ns() const { return clock_.true_ns(1e9 / model_.hz * step_deg() / 360.0); }
  std::size_t done() const { return block_ * kBeamsPerBlock; }
  std::size_t count() const { return std::min(kBeamsPerBlock, beams_ - done()); }
  hal::Time due() const { return pace_.at(waits_ ? beams_ - 1 : done() + count() - 1); }

  ByteVector head(std::size_t bytes, unsigned kind) const {
    ByteVector frame;
    put_le(frame, kHead + bytes, 4);
    put_be(frame, 0x0800AFFE041502C8U, 8);
    put8(frame, kind);
    put8(frame, model_.device);
    put_le(frame, kind == kStatus ? 0 : block_, 2);
    put_le(frame, scan_, 4);
    return frame;
  }

  ByteVector status() const {
    const bool is_400 = model_.device == 0;
    ByteVector frame = head(is_400 ? 28 : 36, kStatus);
    put_be(frame, 0x01010280U, 4);  // image type, mode, outputs, emergency stop
    put_be(frame, 0x00001080U, 4);  // electrical signals
    if (!is_400) {
      put_le(frame, 24000, 2);  // supply
      put_le(frame, 31, 2);     // temperature
      put_le(frame, 0, 4);
    }
    put_le(frame, scan_, 4);
    put_le(frame, 0, 8);  // fields and functions, or signals and errors: none
    for (const unsigned index : {start_, stop_, interval_, 0U}) put_le(frame, index, 2);
    return frame;
  }

  void emit(Output& out) {
    if (block_ == 0) out.send(due(), status());
    const bool with_amplitude = kind_ == kWithAmplitude;
    const std::size_t n = count();
    ByteVector frame = head(n * (with_amplitude ? 4 : 2), kind_);
    ScanTruth truth{clock_.stamp(pace_.at(done())), {}};
    for (std::size_t i = done(); i < done() + n; ++i) {
      const double own = model_.unit_deg * (start_ + static_cast<double>(i) * interval_);
      const TrueBeam beam = look_clockwise(pace_.at(i), own - kLeftmostDeg);
      put_le(frame, millimetres(beam.range), 2);
      if (with_amplitude) put_le(frame, beam.range > 0.0 ? strength(beam.range, kBrightest) : 0, 2);
      truth.beams.push_back(beam);
    }
    out.send(due(), std::move(frame));
    out.scans.push_back(std::move(truth));
    ++block_;
    if (done() < beams_) return;
    block_ = 0;
    ++scan_;
    pace_.pass(static_cast<std::size_t>(std::lround(360.0 / step_deg())), beam_ns());
  }

  const Model& model_;
  DeviceClock& clock_;
  const unsigned kind_, start_, stop_, interval_;
  const bool waits_;
  const std::size_t beams_;  // of a scan

  std::uint32_t scan_ = 1;
  std::size_t block_ = 0;  // of the scan, the next to leave
  Pace pace_;              // of the scan: beam 0 is its first
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const Model& model = find_model(inputs.settings.word("model"));
  const hal::Result<double> hz = turns_per_s(inputs, model.hz, model.hz, model.hz);
  if (!hz) return hz.error();
  const auto start = static_cast<unsigned>(inputs.settings.number("start"));
  const auto wanted = static_cast<unsigned>(inputs.settings.number("stop"));
  const unsigned stop = wanted == 0 ? model.last : wanted;
  if (start < stop && stop <= model.last)
    return std::unique_ptr<DeviceModel>(std::make_unique<Scanner>(inputs, model, stop));
  hal::Error error{hal::Errc::bad_config, 0, "simulate: --set stop", {}};
  error.detail.print("%u is behind start (%u) and at most %u of an %s", stop, start, model.last,
                     model.name);
  return error;
}

}  // namespace sim::leuze_rsl
