#include "test/sim/ximu3.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>

#include "test/sim/sample_pace.h"
#include "test/sim/wire.h"
#include "test/sim/ximu3_commands.h"
#include "test/sim/ximu3_messages.h"

namespace sim::ximu3 {
namespace {

constexpr double kSamplesHz = 400.0;
constexpr unsigned kFieldTicks = 20, kTemperatureTicks = 80, kSlowTicks = 400;  // at divisor 1
constexpr hal::Duration kReplyDelay = std::chrono::milliseconds(3);
constexpr std::size_t kLongestLine = 1024;
constexpr double kFieldUnit = 47.9e-6;  // T; it tells parts of the field where it was calibrated
constexpr std::string_view kAnnouncement =
    "{\"sync\":0,\"name\":\"x-IMU3\",\"sn\":\"0123456789ABCDEF\",\"ip\":\"192.168.1.1\",\"port\":"
    "7000,\"send\":8001,\"receive\":9000,\"rssi\":100,\"battery\":100,\"status\":0}\r\n";

constexpr std::array kOptions = {
    kMotionOption,
    choice("mode", "binary", "binary|ascii", "how it is set to send its messages"),
    choice("streaming", "on", "on|off", "off: it is set to send no inertial data"),
    choice("attitude", "quaternion", "quaternion|matrix|euler|linear|earth",
           "what it is set to tell of it"),
    choice("world", "nwu", "nwu|enu|ned", "frame of the Earth that it is set to"),
    choice("stamps", "equal", "equal|apart", "of all messages of a sample; apart: by 3 us"),
    choice("extras", "on", "on|off", "field, temperature, battery, radio, notes"),
    choice("announce", "off", "off|on", "its announcement, once a second, among the data"),
    choice("bundle", "off", "off|on", "all messages of an instant in one datagram"),
    choice("commands", "obeyed", "obeyed|refused|mute", "what becomes of them"),
    choice("applies", "on_apply", "on_apply|at_once", "when what is written is in force"),
    choice("firmware", "new", "new|old", "old: ahrs_axes_convention is axes_convention"),
    choice("baud", "115200", "usb|115200|230400|460800|921600", "line rate; usb = not paced"),
    number("unix_s", "0", 0, 4e9, "Unix time at power-up, where its clock was set; 0: it was not"),
};

std::string index_of(std::string_view word, std::string_view choices) {
  unsigned n = 0;
  for (std::size_t at = 0; choices.substr(at, word.size()) != word;
       at = choices.find('|', at) + 1) {
    ++n;
  }
  return std::to_string(n);
}

Commands commands_of(const Settings& set, unsigned divisor) {
  const std::string& commands = set.word("commands");
  Commands::Manners manners;
  manners.obeys = commands == "obeyed"    ? Obeys::yes
                  : commands == "refused" ? Obeys::no
                                          : Obeys::mute;
  manners.applies_at_once = set.word("applies") == "at_once";
  manners.is_old = set.word("firmware") == "old";
  return {manners, set.on("streaming") ? divisor : 0U,
          index_of(set.word("attitude"), "quaternion|matrix|euler|linear|earth"),
          index_of(set.word("world"), "nwu|enu|ned"), set.word("mode") == "binary"};
}

class Model final : public DeviceModel {
 public:
  Model(const ModelInputs& in, unsigned divisor)
      : clock_(in.clock),
        pace_(in.clock),
        motion_(motion_kind(in.settings)),
        commands_(commands_of(in.settings, divisor)),
        stamps_apart_(in.settings.word("stamps") == "apart"),
        has_extras_(in.settings.on("extras")),
        announces_(in.settings.on("announce")),
        is_bundled_(in.settings.on("bundle")),
        is_old_(in.settings.word("firmware") == "old"),
        baud_(in.settings.word("baud") == "usb"
                  ? 0U
                  : static_cast<unsigned>(in.settings.number("baud"))),
        unix_us_(std::llround(in.settings.number("unix_s") * 1e6)) {}

  void power_up(hal::Time now, Output&) override {
    commands_.power_up();
    line_.clear();
    pace_.start(now, kSamplesHz);
  }

  void receive(Channel, hal::Bytes bytes, hal::Time now, Output& out) override {
    while (pace_.next() <= now) step(out);
    for (const std::byte byte : bytes) {
      const char c = static_cast<char>(byte);
      if (c != '\n') {
        if (line_.size() < kLongestLine) line_ += c;
        continue;
      }
      if (!line_.empty() && line_.back() == '\r') line_.pop_back();
      const std::string answer =
          line_.empty() || commands_.is_shut_down() ? std::string() : commands_.answer(line_);
      line_.clear();
      if (answer.empty()) continue;
      ByteVector reply;
      put_text(reply, answer + "\r\n");
      out.send(now + kReplyDelay, std::move(reply));
    }
  }

  hal::Time advance(hal::Time now, Output& out) override {
    while (pace_.next() <= now) step(out);
    return pace_.next();
  }
  unsigned baud() const override { return baud_; }

  void falsify(ByteVector& frame, Random& random) const override {
    if (frame.size() < 20 || is_bundled_) return;
    const std::int64_t us = 1'000'000 + static_cast<std::int64_t>(random.below(1'000'000));
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::array inertial{nan, 1e9, 0.0, 1e9, nan, 0.0};
    if (frame[0] == std::byte{'I' | 0x80}) frame = message(Style::binary, 'I', us, inertial);
    if (frame[0] == std::byte{'I'}) frame = message(Style::ascii, 'I', us, inertial);
  }

 private:
  bool is_due(const char* setting, unsigned ticks) const {
    const unsigned divisor = commands_.number(setting);
    return divisor != 0 && pace_.ticks() % (std::uint64_t{divisor} * ticks) == 0;
  }

  void step(Output& out) {
    const hal::Time at = pace_.next();
    pace_.pass();
    if (commands_.is_shut_down()) return;
    const Motion m = motion_at(hal::to_seconds(at - pace_.origin()), motion_);
    const std::int64_t us = unix_us_ + clock_.stamp(at) / 1000;
    const Style style = commands_.is_on("binarymodeenabled") ? Style::binary : Style::ascii;
    ByteVector all;
    const auto send = [&](ByteVector bytes) {
      if (!is_bundled_) return out.send(at, std::move(bytes));
      all.insert(all.end(), bytes.begin(), bytes.end());
    };
    const bool is_inertial = is_due("inertialmessageratedivisor", 1);
    const bool is_attitude = is_due("ahrsmessageratedivisor", 1);
    const auto world =
        static_cast<World>(commands_.number(is_old_ ? "axesconvention" : "ahrsaxesconvention"));
    if (is_inertial) send(inertial(style, us, m, world));
    if (is_attitude) {
      const auto kind = static_cast<Attitude>(commands_.number("ahrsmessagetype"));
      send(attitude(style, us + (stamps_apart_ ? 3 : 0), m, kind, world));
    }
    if (has_extras_) send_extras(style, us, m, send);
    if (announces_ && pace_.ticks() % kSlowTicks == 7) {
      ByteVector text;
      put_text(text, kAnnouncement);
      send(std::move(text));
    }
    if (!all.empty()) out.send(at, std::move(all));
    if (is_inertial || is_attitude) out.imus.push_back({at, us * 1000, m.accel, m.gyro});
  }

  template <class Send>
  void send_extras(Style style, std::int64_t us, const Motion& m, Send&& send) const {
    if (is_due("magnetometermessageratedivisor", kFieldTicks)) {
      std::array<double, 3> field{};
      for (std::size_t i = 0; i < 3; ++i) field[i] = m.mag[i] / kFieldUnit;
      send(message(style, 'M', us, field));
    }
    if (is_due("temperaturemessageratedivisor", kTemperatureTicks)) {
      send(message(style, 'T', us + 10, std::array{25.0}));
    }
    if (is_due("batterymessageratedivisor", kTemperatureTicks)) {
      send(message(style, 'B', us + 20, std::array{100.0, 4.2, 0.0}));
    }
    if (is_due("rssimessageratedivisor", kTemperatureTicks)) {
      send(message(style, 'W', us + 30, std::array{100.0, -50.0}));
    }
    if (pace_.ticks() % kSlowTicks == 3) send(note(style, 'N', us, "All is well, 10 of 10."));
  }

  DeviceClock& clock_;
  SamplePace pace_;
  const MotionKind motion_;
  Commands commands_;
  const bool stamps_apart_, has_extras_, announces_, is_bundled_, is_old_;
  const unsigned baud_;
  const std::int64_t unix_us_;
  std::string line_;
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const double hz = inputs.rate_hz == 0.0 ? 50.0 : inputs.rate_hz;
  const double divisor = kSamplesHz / hz;
  if (divisor < 1.0 || divisor > 400.0 || divisor != std::floor(divisor)) {
    hal::Error error{hal::Errc::bad_config, 0, "simulate: --rate", {}};
    error.detail.print("%g samples/s: the device has 400 divided by a whole number, at least 1",
                       hz);
    return error;
  }
  return std::unique_ptr<DeviceModel>(
      std::make_unique<Model>(inputs, static_cast<unsigned>(divisor)));
}

}  // namespace sim::ximu3
