#include "test/sim/sbg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "test/sim/lidar_parts.h"
#include "test/sim/motion.h"
#include "test/sim/sbg_dialogue.h"
#include "test/sim/sbg_logs.h"
#include "test/sim/wire.h"

namespace sim::sbg {
namespace {

constexpr unsigned kTicksHz = 1000, kLoopTicks = 5;  // the main loop goes at 200 Hz
constexpr hal::Duration kReplyDelay = std::chrono::milliseconds(2);
constexpr hal::Duration kBootTime = std::chrono::milliseconds(500);
constexpr unsigned kShort = 44, kQuaternion = 7, kUtc = 2, kEuler = 6, kStatus = 1, kImuData = 3;

constexpr std::array kOptions = {
    kMotionOption,
    choice("baud", "115200", "115200|230400|460800|921600|usb", "line rate; usb = not paced"),
    choice("streaming", "on", "on|off", "found sending at --rate; off: only what it is told to"),
    choice("log", "short", "short|data|fast|none", "the inertial log that it is found sending"),
    choice("extras", "on", "on|off",
           "attitude as angles, status, a large page and NMEA between the other logs"),
    choice("commands", "obeyed", "obeyed|refused|mute",
           "mute: a model that is configured by its REST interface"),
    choice("firmware", "old", "old|new", "new: fields are appended to some logs"),
    choice("bundle", "off", "off|on", "all logs of an instant in one datagram"),
    number("settle_s", "0", 0, 60, "until the attitude is valid"),
    number("unix_s", "0", 0, 4e9, "Unix time at power-up; 0 = it has none"),
};

struct Manners {
  Outputs outputs;
  Manner commands = Manner::obeys;
};

class Model final : public DeviceModel {
 public:
  Model(const ModelInputs& in, Manners manners)
      : clock_(in.clock),
        motion_(motion_kind(in.settings)),
        baud_(in.settings.word("baud") == "usb"
                  ? 0U
                  : static_cast<unsigned>(in.settings.number("baud"))),
        has_extras_(in.settings.on("extras")),
        is_bundled_(in.settings.on("bundle")),
        is_new_(in.settings.word("firmware") == "new"),
        settle_s_(in.settings.number("settle_s")),
        unix_ns_(std::llround(in.settings.number("unix_s") * 1e9)),
        dialogue_(std::move(manners.outputs), manners.commands) {}

  void power_up(hal::Time now, Output&) override {
    parser_.clear();
    dialogue_.power_up();
    origin_ = now;
    tick_ = 0;
    pace_.start(now, tick_ns());
    pace_.pass(1, tick_ns());
    reboot_at_ = kNever;
  }

  void receive(Channel, hal::Bytes bytes, hal::Time now, Output& out) override {
    advance(now, out);
    if (now < origin_) return;  // it boots
    parser_.add(bytes, now);
    while (const std::optional<Message> asked = parser_.next()) {
      if (const auto answer = dialogue_.answer(*asked))
        out.send(now + kReplyDelay, frame_bytes(*answer));
      if (dialogue_.take_reboot()) reboot_at_ = now + kReplyDelay + kReplyDelay;
    }
  }

  hal::Time advance(hal::Time now, Output& out) override {
    for (;;) {
      const hal::Time due = std::min(pace_.at(0), reboot_at_);
      if (due > now) return due;
      if (reboot_at_ <= due) {
        const hal::Time up = reboot_at_ + kBootTime;
        clock_.restart(up);
        power_up(up, out);
      } else {
        step(out);
      }
    }
  }

  unsigned baud() const override { return baud_; }
  hal::Duration clock_period() const override { return hal::Duration(4'294'967'296'000); }

  void falsify(ByteVector& frame, Random& random) const override {
    if (frame.size() < kHead + kTail + 10 || get_be(frame, 0, 2) != 0xFF5A) return;
    const unsigned id = u8_at(frame, 2), cls = u8_at(frame, 3);
    if (!is_inertial(id, cls) && id != kQuaternion) return;
    if (is_bundled_) return;
    for (std::size_t i = kHead + 6; i + kTail < frame.size(); ++i)
      frame[i] = static_cast<std::byte>(random.below(256));
    if (cls == kLogs && id == kImuData) {
      ByteVector word;
      put_le_f32(word, std::numeric_limits<double>::quiet_NaN());
      std::copy(word.begin(), word.end(), frame.begin() + kHead + 6);
    }
    seal(frame);
  }

 private:
  double tick_ns() const { return clock_.true_ns(1e9 / kTicksHz); }

  bool is_due(unsigned mode) const {
    if (mode == 0) return false;
    if (mode == 10'000 || mode == 200) return tick_ % kTicksHz == 0;
    if (mode == 10'001) return tick_ % kLoopTicks == 0;
    return tick_ % (mode > 1000 ? mode - 1000 : mode * kLoopTicks) == 0;
  }

  void step(Output& out) {
    const hal::Time at = pace_.at(0);
    pace_.pass(1, tick_ns());
    ++tick_;
    std::vector<std::pair<unsigned, unsigned>> due;
    for (const auto& [log, mode] : dialogue_.outputs())
      if (is_due(mode)) due.push_back(log);
    const bool once_a_second = has_extras_ && tick_ % kTicksHz == 3;
    if (due.empty() && !once_a_second) return;

    Sample sample;
    const double seconds = hal::to_seconds(at - origin_);
    sample.motion = motion_at(seconds, motion_);
    sample.device_ns = clock_.stamp(at) / 1000 * 1000;
    sample.unix_ns = unix_ns_ == 0 ? 0 : unix_ns_ + sample.device_ns;
    sample.has_settled = seconds >= settle_s_;
    sample.has_new_fields = is_new_;
    ByteVector all;
    bool is_measured = false;
    for (const auto& [cls, id] : due) {
      const ByteVector frame = frame_bytes(log(id, cls, sample));
      is_measured = is_measured || is_inertial(id, cls);
      if (!is_bundled_) out.send(at, frame);
      all.insert(all.end(), frame.begin(), frame.end());
    }
    if (is_bundled_ && !all.empty()) out.send(at, std::move(all));
    if (once_a_second) send_extras(at, out);
    if (is_measured)
      out.imus.push_back({at, sample.device_ns, sample.motion.accel, sample.motion.gyro});
  }

  // A page of a large transfer, and a sentence of NMEA.
  static void send_extras(hal::Time at, Output& out) {
    Message page{9, 0x80U | kLogs, {}};
    put8(page.data, 1);
    put_le(page.data, 0, 2);
    put_le(page.data, 2, 2);
    page.data.resize(64);
    out.send(at, frame_bytes(page));
    ByteVector text;
    put_text(text, "$GPGGA,000000.00,,,,,0,00,,,M,,M,,*78\r\n");
    out.send(at, std::move(text));
  }

  DeviceClock& clock_;
  const MotionKind motion_;
  const unsigned baud_;
  const bool has_extras_, is_bundled_, is_new_;
  const double settle_s_;
  const std::int64_t unix_ns_;
  Dialogue dialogue_;
  Parser parser_;
  hal::Time origin_{}, reboot_at_ = kNever;
  std::uint64_t tick_ = 0;
  Pace pace_;
};

// --rate as a mode of the output configuration; 0: it has none.
unsigned mode_of(double hz) {
  for (const unsigned ms : {1U, 2U, 4U})
    if (hz == 1000.0 / ms) return 1000 + ms;
  for (const unsigned every : {1U, 2U, 4U, 5U, 8U, 10U, 20U, 40U, 200U})
    if (hz == 200.0 / every) return every;
  return 0;
}

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const double hz = inputs.rate_hz == 0.0 ? 100.0 : inputs.rate_hz;
  const unsigned mode = mode_of(hz);
  if (mode == 0) {
    hal::Error error{hal::Errc::bad_config, 0, "simulate: --rate", {}};
    error.detail.print(
        "%g samples/s: the device has 1000, 500, 250, or 200 divided by 1, 2, 4, 5, "
        "8, 10, 20, 40 or 200",
        hz);
    return error;
  }
  const Settings& set = inputs.settings;
  Manners manners;
  const std::string& log = set.word("log");
  if (set.on("streaming")) {
    if (log == "short") manners.outputs[{kLogs, kShort}] = mode;
    if (log == "data") manners.outputs[{kLogs, kImuData}] = mode;
    if (log == "fast") manners.outputs[{kFastLogs, 0}] = mode;
    const unsigned slow = std::max(mode, 1U) > 1000 ? 1U : mode;
    manners.outputs[{kLogs, kQuaternion}] = slow;
    manners.outputs[{kLogs, kUtc}] = 200;
    if (set.on("extras")) {
      manners.outputs[{kLogs, kEuler}] = 20;
      manners.outputs[{kLogs, kStatus}] = 200;
    }
  }
  if (set.word("commands") == "refused") manners.commands = Manner::refuses;
  if (set.word("commands") == "mute") manners.commands = Manner::is_mute;
  return std::unique_ptr<DeviceModel>(std::make_unique<Model>(inputs, std::move(manners)));
}

}  // namespace sim::sbg
