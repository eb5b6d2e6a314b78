#include "test/sim/anpp.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "test/sim/anpp_data.h"
#include "test/sim/anpp_dialogue.h"
#include "test/sim/lidar_parts.h"
#include "test/sim/wire.h"

namespace sim::anpp {
namespace {

constexpr hal::Duration kReplyDelay = std::chrono::milliseconds(2);
constexpr hal::Duration kBaudDelay = std::chrono::milliseconds(20);  // the reply goes before
constexpr hal::Duration kBootTime = std::chrono::milliseconds(500);
constexpr std::int64_t kWithoutUtc = 946'684'800'000'000'000;  // its date until it knows it: 2000
constexpr unsigned kOrientationSet = 1, kHeadingSet = 4, kUtcSet = 8;  // of the filter's status

constexpr std::array kOptions = {
    kMotionOption,
    choice("baud", "115200", "115200|230400|460800|921600|usb", "line rate; usb = not paced"),
    choice("streaming", "off", "off|on|state",
           "found sending: times, raw sensors and attitude at --rate; or its state only"),
    choice("commands", "obeyed", "obeyed|mute", "mute: nothing is answered"),
    choice("bundle", "off", "off|on", "all packets of an instant in one datagram"),
    number("lacks", "0", 0, 255, "id of a packet that the model does not know; 0 = none"),
    number("system_status", "0", 0, 65535, "fault bits of the system status"),
    number("settle_s", "0", 0, 60, "until the orientation filter has settled"),
    number("utc_at_s", "0", 0, 1e6, "when it learns the date, and its Unix time jumps; 0 = never"),
    number("unix_s", "1700000000", 1, 4e9, "Unix time at power-up, as it then turns out"),
};

class Model final : public DeviceModel {
 public:
  Model(const ModelInputs& in, Memory saved)
      : clock_(in.clock),
        motion_(motion_kind(in.settings)),
        is_usb_(in.settings.word("baud") == "usb"),
        is_bundled_(in.settings.on("bundle")),
        system_status_(static_cast<unsigned>(in.settings.number("system_status"))),
        settle_s_(in.settings.number("settle_s")),
        utc_at_s_(in.settings.number("utc_at_s")),
        unix_ns_(std::llround(in.settings.number("unix_s") * 1e9)),
        dialogue_(std::move(saved), static_cast<unsigned>(in.settings.number("lacks")),
                  in.settings.word("commands") == "mute") {}

  void power_up(hal::Time now, Output&) override {
    parser_.clear();
    dialogue_.power_up();
    origin_ = now;
    begin_ticks(now);
    reset_at_ = new_baud_at_ = kNever;
  }

  void receive(Channel, hal::Bytes bytes, hal::Time now, Output& out) override {
    advance(now, out);
    if (now < origin_) return;  // it boots
    parser_.add(bytes, now);
    Packet asked;
    for (auto found = parser_.next(asked); found != Parser::Found::nothing;
         found = parser_.next(asked)) {
      const unsigned timer = dialogue_.memory().timer_us;
      const hal::Time at = now + kReplyDelay;
      for (const Packet& p : dialogue_.answer(asked, found == Parser::Found::bad_crc))
        out.send(at, packet_bytes(p));
      for (const unsigned id : dialogue_.take_wanted())
        out.send(at, packet_bytes(data_packet(id, sample_at(at))));
      if (dialogue_.memory().timer_us != timer) begin_ticks(now);
      if (dialogue_.take_reset()) reset_at_ = at + kReplyDelay;
      if (const auto baud = dialogue_.take_wanted_baud()) {
        new_baud_ = *baud;
        new_baud_at_ = at + kBaudDelay;
      }
    }
  }

  hal::Time advance(hal::Time now, Output& out) override {
    for (;;) {
      const hal::Time due = std::min({pace_.at(0), reset_at_, new_baud_at_});
      if (due > now) return due;
      if (due == reset_at_) {
        const hal::Time up = reset_at_ + kBootTime;
        clock_.restart(up);
        power_up(up, out);
      } else if (due == new_baud_at_) {
        dialogue_.set_baud(new_baud_);
        new_baud_at_ = kNever;
      } else {
        step(out);
      }
    }
  }

  unsigned baud() const override { return is_usb_ ? 0 : dialogue_.memory().baud; }

  void falsify(ByteVector& frame, Random& random) const override {
    if (is_bundled_ || frame.size() < kHead + 12) return;
    const unsigned id = u8_at(frame, 1);
    if (id != kRaw && id != kQuaternion && id != 42) return;
    for (std::size_t at = kHead; at < kHead + 12; at += 4) {
      ByteVector word;
      put_le_f32(word, random.chance(0.5) ? std::numeric_limits<double>::quiet_NaN() : 1e9);
      std::copy(word.begin(), word.end(), frame.begin() + static_cast<std::ptrdiff_t>(at));
    }
    seal(frame);
  }

 private:
  double tick_ns() const { return clock_.true_ns(dialogue_.memory().timer_us * 1e3); }
  void begin_ticks(hal::Time now) {
    tick_ = 0;
    pace_.start(now, tick_ns());
    pace_.pass(1, tick_ns());
  }

  Sample sample_at(hal::Time at) {
    Sample s;
    const double seconds = hal::to_seconds(at - origin_);
    s.motion = motion_at(seconds, motion_);
    s.running_ns = clock_.stamp(at) / 1000 * 1000;
    const bool knows_date = utc_at_s_ > 0 && seconds >= utc_at_s_;
    s.unix_ns = (knows_date ? unix_ns_ : kWithoutUtc) + s.running_ns;
    s.system_status = system_status_;
    s.filter_status =
        (seconds >= settle_s_ ? kOrientationSet | kHeadingSet : 0U) | (knows_date ? kUtcSet : 0U);
    return s;
  }

  // All packets of a tick, in the order of their ids.
  void step(Output& out) {
    const hal::Time at = pace_.at(0);
    pace_.pass(1, tick_ns());
    ++tick_;
    std::vector<unsigned> due;
    for (const auto& [id, period] : dialogue_.memory().periods)
      if (tick_ % period == 0) due.push_back(id);
    if (due.empty()) return;
    const Sample sample = sample_at(at);
    ByteVector all;
    for (const unsigned id : due) {
      const ByteVector packet = packet_bytes(data_packet(id, sample));
      if (!is_bundled_) out.send(at, packet);
      all.insert(all.end(), packet.begin(), packet.end());
    }
    if (is_bundled_) out.send(at, std::move(all));
    if (std::ranges::find(due, kRaw) != due.end())
      out.imus.push_back({at, sample.running_ns, sample.motion.accel, sample.motion.gyro});
  }

  DeviceClock& clock_;
  const MotionKind motion_;
  const bool is_usb_, is_bundled_;
  const unsigned system_status_;
  const double settle_s_, utc_at_s_;
  const std::int64_t unix_ns_;
  Dialogue dialogue_;
  Parser parser_;
  hal::Time origin_{}, reset_at_ = kNever, new_baud_at_ = kNever;
  unsigned new_baud_ = 0;
  std::uint64_t tick_ = 0;
  Pace pace_;
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const double hz = inputs.rate_hz == 0.0 ? 100.0 : inputs.rate_hz;
  const double period = 1000.0 / hz;
  if (hz > 1000.0 || std::abs(period - std::round(period)) > 1e-6) {
    hal::Error error{hal::Errc::bad_config, 0, "simulate: --rate", {}};
    error.detail.print("%g samples/s: the device has 1000 Hz divided by an integer", hz);
    return error;
  }
  Memory saved;
  const Settings& set = inputs.settings;
  if (set.word("baud") != "usb") saved.baud = static_cast<unsigned>(set.number("baud"));
  const auto every = static_cast<std::uint64_t>(std::lround(period));
  if (set.word("streaming") == "on") {
    for (const unsigned id : {kUnixTime, kRaw, kQuaternion, kRunningTime})
      saved.periods[id] = every;
    saved.periods[kStatus] = 1000;
  }
  if (set.word("streaming") == "state") saved.periods = {{kState, 50}, {27, 50}};
  return std::unique_ptr<DeviceModel>(std::make_unique<Model>(inputs, std::move(saved)));
}

}  // namespace sim::anpp
