#include "test/sim/lslidar_n301.h"

#include <array>
#include <chrono>

#include "test/sim/lidar_parts.h"
#include "test/sim/wire.h"

// A datagram has 1206 bytes, little-endian: 12 blocks of 100, u32 us of the second, 2 bytes.
//   block: FF EE, u16 azimuth of its first point in 0.01 degrees, clockwise; then two groups of 48
//   bytes with 15 (protocol 1.7: 4 mm) or 1 (1.6: 2 mm) times {u16 distance, u8 strength}.
//   Date and time of a GPS in bytes that no point uses: 1.7 at 49 (year, month, day) and 97 (hour,
//   minute, second), 1.6 all six at 94; 0 without.
namespace sim::lslidar_n301 {
namespace {

constexpr std::size_t kBlocks = 12, kBlockBytes = 100, kDatagramBytes = 1206, kGroupBytes = 48;
constexpr unsigned kTurn = 36000;
constexpr double kBrightest = 250.0;

constexpr std::array kOptions = {
    choice("model", "N301", "N301", "device played"),
    choice("protocol", "1.7", "1.7|1.6", "layout of its datagrams"),
    number("block_cdeg", "0", 0, 1200, "0.01 degrees from block to block; 0 = 60 (1.6: 36)"),
    number("unix_s", "0", 0, 4e9, "Unix time of its GPS at power-up; 0 = it has none"),
    choice("stamp", "last", "last|first", "beam of a datagram that its time belongs to"),
};

class Lidar final : public DeviceModel {
 public:
  Lidar(const ModelInputs& in, double hz)
      : clock_(in.clock),
        hz_(hz),
        is_17_(in.settings.word("protocol") == "1.7"),
        block_cdeg_(cdeg_of_a_block(in.settings)),
        unix_ns_(std::llround(in.settings.number("unix_s") * 1e9)),
        stamps_first_(in.settings.word("stamp") == "first") {}

  void power_up(hal::Time now, Output&) override {
    azimuth_ = 0;
    pace_.start(now, beam_ns());
  }
  void receive(Channel, hal::Bytes, hal::Time, Output&) override {}  // one way
  hal::Time advance(hal::Time now, Output& out) override {
    while (due() <= now) emit(out);
    return due();
  }
  unsigned baud() const override { return 0; }
  hal::Duration clock_period() const override { return std::chrono::seconds(1); }

  void falsify(ByteVector& frame, Random& random) const override {
    if (frame.size() != kDatagramBytes) return;
    for (std::size_t block = 0; block < kBlocks; ++block)
      for (std::size_t group = 0; group < 2; ++group)
        for (std::size_t i = 0; i < per_group() * 3; ++i)
          frame[block * kBlockBytes + 4 + group * kGroupBytes + i] =
              static_cast<std::byte>(random.below(256));
  }

 private:
  unsigned cdeg_of_a_block(const Settings& settings) const {
    const auto wanted = static_cast<unsigned>(settings.number("block_cdeg"));
    return wanted != 0 ? wanted : is_17_ ? 60 : 36;
  }
  std::size_t per_group() const { return is_17_ ? 15 : 1; }
  std::size_t per_block() const { return 2 * per_group(); }
  double step_deg() const { return block_cdeg_ / 100.0 / static_cast<double>(per_block()); }
  double beam_ns() const { return clock_.true_ns(1e9 / hz_ * step_deg() / 360.0); }
  hal::Time due() const { return pace_.at(kBlocks * per_block() - 1); }

  void emit(Output& out) {
    const hal::Time stamped = stamps_first_ ? pace_.at(0) : due();
    const std::int64_t told_ns = unix_ns_ + clock_.stamp(stamped);
    ByteVector frame;
    ScanTruth truth{told_ns, {}};
    for (std::size_t block = 0; block < kBlocks; ++block) {
      put_be(frame, 0xFFEE, 2);
      put_le(frame, azimuth_, 2);
      put_points(frame, block, truth);
      azimuth_ = (azimuth_ + block_cdeg_) % kTurn;
    }
    if (unix_ns_ != 0) put_date(frame, told_ns);
    put_le(frame, static_cast<std::uint64_t>(told_ns % 1'000'000'000 / 1000), 4);
    put_le(frame, 0, 2);
    out.send(due(), std::move(frame));
    out.scans.push_back(std::move(truth));
    pace_.pass(kBlocks * per_block(), beam_ns());
  }

  void put_points(ByteVector& frame, std::size_t block, ScanTruth& truth) const {
    const double unit_mm = is_17_ ? 4.0 : 2.0;
    for (std::size_t i = 0; i < per_block(); ++i) {
      const double own = azimuth_ / 100.0 + static_cast<double>(i) * step_deg();
      const TrueBeam beam = look_clockwise(pace_.at(block * per_block() + i), own);
      put_le(frame, static_cast<std::uint64_t>(std::lround(beam.range * 1000.0 / unit_mm)), 2);
      put8(frame, beam.range > 0.0 ? strength(beam.range, kBrightest) : 0);
      truth.beams.push_back(beam);
      if ((i + 1) % per_group() != 0) continue;
      const std::size_t group = (i + 1) / per_group();
      frame.resize(block * kBlockBytes + 4 + group * kGroupBytes);
    }
  }

  void put_date(ByteVector& frame, std::int64_t unix_ns) const {
    const std::chrono::sys_seconds now{std::chrono::seconds(unix_ns / 1'000'000'000)};
    const auto day = std::chrono::floor<std::chrono::days>(now);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(now - day);
    const std::array<unsigned, 6> fields = {
        static_cast<unsigned>(static_cast<int>(date.year()) - 2000),
        static_cast<unsigned>(date.month()),
        static_cast<unsigned>(date.day()),
        static_cast<unsigned>(time.hours().count()),
        static_cast<unsigned>(time.minutes().count()),
        static_cast<unsigned>(time.seconds().count())};
    for (std::size_t block = 0; block < kBlocks; ++block)
      for (std::size_t i = 0; i < fields.size(); ++i) {
        const std::size_t place = is_17_ ? (i < 3 ? 49 + i : 94 + i) : 94 + i;
        frame[block * kBlockBytes + place] = static_cast<std::byte>(fields[i]);
      }
  }

  DeviceClock& clock_;
  const double hz_;
  const bool is_17_;
  const unsigned block_cdeg_;
  const std::int64_t unix_ns_;
  const bool stamps_first_;

  unsigned azimuth_ = 0;  // of the next block, 0.01 degrees
  Pace pace_;
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const hal::Result<double> hz = turns_per_s(inputs, 10.0, 5.0, 30.0);
  if (!hz) return hz.error();
  return std::unique_ptr<DeviceModel>(std::make_unique<Lidar>(inputs, *hz));
}

}  // namespace sim::lslidar_n301
