#include "test/sim/lakibeam.h"

#include <array>

#include "test/sim/lidar_parts.h"
#include "test/sim/wire.h"

// A datagram has 1206 bytes, little-endian: 12 blocks of 100, u32 time in us, 37 40.
//   block: FF EE, u16 azimuth of its first point in 0.01 degrees (FFFF: unused),
//          16 x {u16 mm, u8 strength; the second return likewise}
// Azimuths grow counter-clockwise from the back of the device.
namespace sim::lakibeam {
namespace {

constexpr std::size_t kBlocks = 12, kPoints = 16, kBlockBytes = 100, kDatagramBytes = 1206;
constexpr unsigned kUnused = 0xFFFF;
constexpr double kFrontDeg = 180.0, kBrightest = 250.0, kFirstDeg = 45.0, kLastDeg = 315.0;

constexpr std::array kOptions = {
    choice("model", "1", "1|1L|1S", "device played; they talk alike"),
    choice("mode", "normal", "normal|fine", "points every 0.25 degrees, or every 0.1"),
    choice("blind", "absent", "absent|unused",
           "blocks outside the field are left out, or marked as unused"),
    number("returns", "1", 1, 2, "returns of a point"),
    choice("stamps", "on", "on|off", "the time of a datagram, or 0"),
    choice("stamp", "last", "last|first", "beam of a datagram that its time belongs to"),
};

class Lidar final : public DeviceModel {
 public:
  Lidar(const ModelInputs& in, double hz)
      : clock_(in.clock),
        hz_(hz),
        step_cdeg_(in.settings.word("mode") == "fine" ? 10 : 25),
        marks_unused_(in.settings.word("blind") == "unused"),
        two_returns_(in.settings.number("returns") == 2.0),
        stamps_(in.settings.on("stamps")),
        stamps_first_(in.settings.word("stamp") == "first") {}

  void power_up(hal::Time now, Output&) override {
    block_of_turn_ = 0;
    begin();
    pace_.start(now, beam_ns());
  }
  void receive(Channel, hal::Bytes, hal::Time, Output&) override {}  // one way
  hal::Time advance(hal::Time now, Output& out) override {
    while (due() <= now) take_block(out);
    return due();
  }
  unsigned baud() const override { return 0; }
  hal::Duration clock_period() const override { return std::chrono::microseconds(1LL << 32); }

  void falsify(ByteVector& frame, Random& random) const override {
    if (frame.size() != kDatagramBytes) return;
    for (std::size_t block = 0; block < kBlocks; ++block)
      for (std::size_t i = 4; i < kBlockBytes; ++i)
        frame[block * kBlockBytes + i] = static_cast<std::byte>(random.below(256));
  }

 private:
  unsigned block_cdeg() const { return step_cdeg_ * static_cast<unsigned>(kPoints); }
  double beam_ns() const { return clock_.true_ns(1e9 / hz_ * step_cdeg_ / 36000.0); }
  hal::Time due() const { return pace_.at(kPoints - 1); }

  void begin() {
    frame_.clear();
    beams_.clear();
    blocks_ = 0;
  }

  // The field cuts through blocks: they are sent when they have a point in it, and the first one
  // of a turn always is.
  void take_block(Output& out) {
    const unsigned azimuth = block_of_turn_ * block_cdeg();
    const double last = static_cast<double>(azimuth + (kPoints - 1) * step_cdeg_) / 100.0;
    const bool is_seen = block_of_turn_ == 0 || (last >= kFirstDeg && azimuth / 100.0 <= kLastDeg);
    if (is_seen) {
      put_block(azimuth);
    } else if (marks_unused_) {
      put_be(frame_, 0xFFEE, 2);
      put_le(frame_, kUnused, 2);
      frame_.resize(frame_.size() + kBlockBytes - 4);
      ++blocks_;
    }
    if (blocks_ == kBlocks) send(out);
    block_of_turn_ = (block_of_turn_ + 1) % (36000 / block_cdeg());
    pace_.pass(kPoints, beam_ns());
  }

  void put_block(unsigned azimuth) {
    put_be(frame_, 0xFFEE, 2);
    put_le(frame_, azimuth, 2);
    for (std::size_t i = 0; i < kPoints; ++i) {
      const double deg = static_cast<double>(azimuth + i * step_cdeg_) / 100.0;
      TrueBeam beam = look_clockwise(pace_.at(i), kFrontDeg - deg);
      if (deg < kFirstDeg || deg > kLastDeg) beam.range = 0.0;
      const bool is_hit = beam.range > 0.0;
      const std::uint64_t bright = is_hit ? strength(beam.range, kBrightest) : 0;
      put_le(frame_, millimetres(beam.range), 2);
      put8(frame_, bright);
      const bool again = two_returns_ && is_hit;
      put_le(frame_, again ? millimetres(beam.range + 0.25) : 0, 2);
      put8(frame_, again ? bright / 2 : 0);
      beams_.push_back(beam);
    }
    ++blocks_;
  }

  void send(Output& out) {
    const hal::Time last = due();
    if (beams_.empty()) return begin();  // nothing but unused blocks: no datagram
    const std::int64_t us = clock_.stamp(stamps_first_ ? beams_.front().at : last) / 1000;
    put_le(frame_, stamps_ ? static_cast<std::uint64_t>(us) : 0, 4);
    put_be(frame_, 0x3740, 2);
    out.send(last, std::move(frame_));
    out.scans.push_back(ScanTruth{us * 1000, std::move(beams_)});
    begin();
  }

  DeviceClock& clock_;
  const double hz_;
  const unsigned step_cdeg_;
  const bool marks_unused_, two_returns_, stamps_, stamps_first_;

  unsigned block_of_turn_ = 0;
  ByteVector frame_;  // the datagram in the making
  std::vector<TrueBeam> beams_;
  std::size_t blocks_ = 0;
  Pace pace_;
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const hal::Result<double> hz = turns_per_s(inputs, 20.0, 10.0, 30.0);
  if (!hz) return hz.error();
  return std::unique_ptr<DeviceModel>(std::make_unique<Lidar>(inputs, *hz));
}

}  // namespace sim::lakibeam
