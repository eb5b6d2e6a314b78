// Registers that are read and written, and what is broadcast at the rates that stand in them.
#include "test/sim/um7.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "test/sim/um7_data.h"
#include "test/sim/um7_packet.h"
#include "test/sim/wire.h"

namespace sim::um7 {
namespace {

constexpr hal::Duration kReplyDelay = std::chrono::milliseconds(1);
constexpr hal::Duration kBaudDelay = std::chrono::milliseconds(20);  // it answers at the old rate
constexpr unsigned kSettings = 9;                                    // registers 0 to 8
constexpr unsigned kLine = 0, kHealthRate = 6, kNmea = 7;
constexpr std::array kBauds{9600U,    14'400U,  19'200U,  38'400U,  57'600U,  115'200U,
                            128'000U, 153'600U, 230'400U, 256'000U, 460'800U, 921'600U};
// By the code in register 6; Hz.
constexpr std::array kHealthHz{0.0, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0};
enum Command : unsigned {
  kFirmware = 0xAA,
  kCommit = 0xAB,
  kFactory = 0xAC,
  kZeroGyros = 0xAD,
  kMagReference = 0xB0,
  kResetFilter = 0xB3,
};

constexpr OptionRow kOptions[] = {
    choice("baud", "115200",
           "9600|14400|19200|38400|57600|115200|128000|153600|230400|256000|460800|921600",
           "line rate"),
    choice(
        "found", "other", "other|silent|streaming|raw",
        "at power-up: a factory's slow mix, nothing, all processed data with attitude at --rate, "
        "or raw data, angles and text"),
    number("health", "0", 0, 0xFFFFFFFFU, "what its health register says"),
    kMotionOption,
};

using Settings9 = std::array<std::uint32_t, kSettings>;

// A rate, and when the next of its instants is: whole periods of the device's clock since power-up,
// so that whatever goes at one rate is measured at the same instants.
struct Beat {
  double hz = 0.0;
  double next_ns = 0.0;  // after power-up, in true time
};

class Model final : public DeviceModel {
 public:
  Model(const ModelInputs& inputs, const Settings9& factory)
      : clock_(inputs.clock),
        motion_(motion_kind(inputs.settings)),
        health_(static_cast<std::uint32_t>(inputs.settings.number("health"))),
        factory_(factory),
        saved_(factory) {}

  void power_up(hal::Time now, Output&) override {
    parser_.clear();
    now_ = saved_;
    baud_ = kBauds[now_[kLine] >> 28];
    new_baud_at_ = kNever;
    origin_ = now;
    beats_.clear();
    find_beats(now);
  }

  void receive(Channel, hal::Bytes bytes, hal::Time now, Output& out) override {
    advance(now, out);
    parser_.add(bytes, now);
    while (const auto packet = parser_.next()) answer(*packet, now, out);
    find_beats(now);
  }

  hal::Time advance(hal::Time now, Output& out) override {
    if (new_baud_at_ <= now) {
      baud_ = kBauds[now_[kLine] >> 28];
      new_baud_at_ = kNever;
    }
    hal::Time next = new_baud_at_;
    for (;;) {
      const auto first =
          std::min_element(beats_.begin(), beats_.end(),
                           [](const Beat& a, const Beat& b) { return a.next_ns < b.next_ns; });
      if (first == beats_.end()) return next;
      const hal::Time due = time_of(*first);
      if (due > now) return std::min(next, due);
      step(due, out);
    }
  }

  unsigned baud() const override { return baud_; }

  void falsify(ByteVector& frame, Random& random) const override {
    if (frame.size() < 23 || u8_at(frame, 4) < 97 || u8_at(frame, 4) > 108) return;
    const float value = random.chance(0.5) ? std::numeric_limits<float>::quiet_NaN() : 1e9F;
    ByteVector word;
    put_be(word, std::bit_cast<std::uint32_t>(value), 4);
    std::copy(word.begin(), word.end(), frame.begin() + 5);
    seal(frame);
  }

 private:
  hal::Time time_of(const Beat& beat) const {
    return origin_ + hal::Duration(static_cast<std::int64_t>(beat.next_ns));
  }
  double rate_of(Broadcast b) const {
    const RatePlace place = place_of(b);
    return static_cast<double>(now_[place.address] >> place.shift & 0xFFU);
  }
  double health_hz() const {
    const std::size_t code = now_[kHealthRate] >> 16 & 0xFU;
    return code < kHealthHz.size() ? kHealthHz[code] : kHealthHz.back();
  }
  double text_hz() const { return now_[kNmea] == 0 ? 0.0 : 1.0; }

  // One for each rate that is set.
  void find_beats(hal::Time now) {
    std::vector<double> wanted{health_hz(), text_hz()};
    for (std::size_t i = 0; i < kBroadcasts; ++i)
      wanted.push_back(rate_of(static_cast<Broadcast>(i)));
    std::erase(wanted, 0.0);
    std::erase_if(beats_, [&](const Beat& beat) {
      return std::find(wanted.begin(), wanted.end(), beat.hz) == wanted.end();
    });
    const auto passed = static_cast<double>((now - origin_).count());
    for (const double hz : wanted) {
      if (std::any_of(beats_.begin(), beats_.end(), [hz](const Beat& b) { return b.hz == hz; }))
        continue;
      const double period = clock_.true_ns(1e9 / hz);
      beats_.push_back({hz, (std::floor(passed / period) + 1.0) * period});
    }
  }

  // All that is measured at one instant.
  void step(hal::Time at, Output& out) {
    std::vector<double> due;
    for (Beat& beat : beats_) {
      if (time_of(beat) > at) continue;
      due.push_back(beat.hz);
      beat.next_ns += clock_.true_ns(1e9 / beat.hz);
    }
    const auto is_due = [&due](double hz) {
      return hz > 0.0 && std::find(due.begin(), due.end(), hz) != due.end();
    };
    const Sample sample = sample_at(at);
    bool measured = false;
    for (std::size_t i = 0; i < kBroadcasts; ++i) {
      const auto broadcast = static_cast<Broadcast>(i);
      if (!is_due(rate_of(broadcast))) continue;
      out.send(at, broadcast_bytes(broadcast, sample));
      measured = true;
    }
    if (is_due(health_hz())) out.send(at, data_packet(kHealth, {health_}));
    if (is_due(text_hz())) {
      ByteVector text;
      put_text(text, "$PCHRH,1.500,0,0.0,0.0,0.0,0,0,0,0,0,0,0,*5E\r\n");
      out.send(at, text);
    }
    if (!measured) return;
    const auto told = static_cast<std::int64_t>(std::llround(double{sample.seconds} * 1e9));
    out.imus.push_back({at, told, sample.motion.accel, sample.motion.gyro});
  }

  Sample sample_at(hal::Time at) {
    return {motion_at(hal::to_seconds(at - origin_), motion_), told_seconds(clock_.stamp(at))};
  }

  void answer(const Packet& packet, hal::Time now, Output& out) {
    const auto reply = [&](unsigned type, Registers data = {}) {
      out.send(now + kReplyDelay, packet_bytes({type, packet.address, std::move(data)}));
    };
    const std::size_t n = packet.count();
    const bool is_setting = packet.address + n <= kSettings;
    const bool is_data = packet.address >= kHealth && packet.address + n <= kLastData + 1;
    if (packet.has_data()) {
      if (!is_setting) return reply(kFailed);
      for (std::size_t i = 0; i < n; ++i) now_[packet.address + i] = packet.data[i];
      if (packet.address == kLine) set_line(now);
      return reply(0);
    }
    if (is_setting || is_data) {
      const Sample sample = sample_at(now);
      Registers data;
      for (unsigned a = packet.address; a < packet.address + n; ++a)
        data.push_back(a < kSettings ? now_[a] : data_register(a, sample, health_));
      return out.send(now + kReplyDelay, data_packet(packet.address, data));
    }
    if (packet.address == kFirmware) return reply(kHasData, {0x55373143});  // "U71C"
    if (packet.address == kCommit) saved_ = now_;
    if (packet.address == kFactory) now_ = factory_;
    const bool known = packet.address == kCommit || packet.address == kFactory ||
                       packet.address == kZeroGyros || packet.address == kMagReference ||
                       packet.address == kResetFilter;
    reply(known ? 0 : kFailed);
  }

  // A rate that it does not know is not taken.
  void set_line(hal::Time now) {
    if (now_[kLine] >> 28 >= kBauds.size()) {
      const auto code = std::find(kBauds.begin(), kBauds.end(), baud_) - kBauds.begin();
      now_[kLine] = (now_[kLine] & 0x0FFFFFFFU) | static_cast<std::uint32_t>(code) << 28;
    }
    new_baud_at_ = now + kReplyDelay + kBaudDelay;
  }

  DeviceClock& clock_;
  const MotionKind motion_;
  const std::uint32_t health_;
  const Settings9 factory_;
  Settings9 saved_, now_{};
  Parser parser_;
  unsigned baud_ = 115200;
  hal::Time new_baud_at_ = kNever;
  hal::Time origin_{};
  std::vector<Beat> beats_;
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const double hz = inputs.rate_hz == 0.0 ? 100.0 : inputs.rate_hz;
  if (hz < 1.0 || hz > 255.0 || hz != std::floor(hz)) {
    hal::Error error{hal::Errc::bad_config, 0, "simulate: --rate", {}};
    error.detail.print("%g samples/s: the device knows whole numbers from 1 to 255", hz);
    return error;
  }
  const auto rate = static_cast<std::uint32_t>(hz);
  const auto baud = static_cast<unsigned>(inputs.settings.number("baud"));
  const auto code = std::find(kBauds.begin(), kBauds.end(), baud) - kBauds.begin();
  Settings9 factory{};
  factory[kLine] = static_cast<std::uint32_t>(code) << 28;
  factory[8] = 0x101;
  const std::string& found = inputs.settings.word("found");
  if (found == "streaming") {
    factory[4] = rate;
    factory[5] = rate << 24;
  } else if (found == "raw") {
    factory[2] = 1U << 24 | rate;
    factory[5] = rate << 16 | 5U << 8 | 5U;
    factory[kHealthRate] = 4U << 16;
    factory[kNmea] = 0x10;
  } else if (found == "other") {
    factory[3] = 0x05050500;
    factory[5] = 0x00140000;
    factory[kHealthRate] = 4U << 16;
  }
  return std::unique_ptr<DeviceModel>(std::make_unique<Model>(inputs, factory));
}

}  // namespace sim::um7
