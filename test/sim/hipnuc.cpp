#include "test/sim/hipnuc.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "test/sim/hipnuc_packets.h"
#include "test/sim/sample_pace.h"
#include "test/sim/wire.h"

namespace sim::hipnuc {
namespace {

constexpr hal::Duration kReplyDelay = std::chrono::milliseconds(2);
constexpr hal::Duration kBaudDelay =
    std::chrono::milliseconds(50);  // the reply goes at the old rate
constexpr double kMostHz = 1000.0;
constexpr std::size_t kLongestLine = 80;
constexpr unsigned kBauds[] = {9600, 115200, 230400, 256000, 460800, 921600};
constexpr std::size_t kTagAt = 6;

constexpr OptionRow kOptions[] = {
    choice("model", "HI13", "HI13|CH010", "commands LOG ..., or AT+... of older modules"),
    choice("format", "HI91", "HI91|HI92|HI81|HI83", "packet that it sends from power-up"),
    choice("baud", "115200", "9600|115200|230400|256000|460800|921600", "line rate"),
    choice("streaming", "on", "on|off", "it sends from power-up, as it does unless told otherwise"),
    choice("chatter", "off", "on|off", "lines of text between the packets, once a second"),
    kMotionOption,
};

Format format_of(const std::string& word) {
  if (word == "HI92") return Format::hi92;
  if (word == "HI81") return Format::hi81;
  return word == "HI83" ? Format::hi83 : Format::hi91;
}

// Whether `line` is `command` and something behind it, which is left in `line`.
bool take(std::string& line, std::string_view command) {
  if (!line.starts_with(command)) return false;
  line.erase(0, command.size());
  return true;
}

class Model final : public DeviceModel {
 public:
  Model(const ModelInputs& inputs, double hz)
      : clock_(inputs.clock),
        pace_(inputs.clock),
        random_(inputs.seed),
        motion_(motion_kind(inputs.settings)),
        is_old_(inputs.settings.word("model") == "CH010"),
        chatters_(inputs.settings.on("chatter")),
        saved_{format_of(inputs.settings.word("format")), hz,
               static_cast<unsigned>(inputs.settings.number("baud")),
               inputs.settings.on("streaming")},
        now_(saved_) {}

  void power_up(hal::Time now, Output&) override {
    now_ = saved_;
    line_.clear();
    new_baud_at_ = kNever;
    pace_.start(now, now_.hz);
  }

  void receive(Channel, hal::Bytes bytes, hal::Time now, Output& out) override {
    while (pace_.next() <= now) step(out);
    for (const std::byte byte : bytes) {
      const char c = static_cast<char>(byte);
      if (c == '\n') {
        if (!line_.empty() && line_.back() == '\r') line_.pop_back();
        if (!line_.empty()) say(answer_to(line_, now), now + kReplyDelay, out);
        line_.clear();
      } else if (line_.size() < kLongestLine) {
        line_ += c;
      }
    }
  }

  hal::Time advance(hal::Time now, Output& out) override {
    if (new_baud_at_ <= now) {
      now_.baud = new_baud_;
      new_baud_at_ = kNever;
    }
    while (pace_.next() <= now) step(out);
    return std::min(new_baud_at_, pace_.next());
  }

  unsigned baud() const override { return now_.baud; }
  hal::Duration clock_period() const override {
    return saved_.format == Format::hi83 ? hal::Duration::zero()
                                         : hal::Duration(std::int64_t{1'000'000} << 32);
  }

  void falsify(ByteVector& frame, Random& random) const override {
    if (frame.size() < 40 || frame[0] != std::byte{0x5A}) return;
    const unsigned tag = u8_at(frame, kTagAt);
    const std::size_t first = kTagAt + (tag == 0x91 ? 12 : tag == 0x83 ? 8 : tag == 0x92 ? 10 : 12);
    for (std::size_t i = 0; i < 24; ++i)
      frame[first + i] =
          static_cast<std::byte>(tag == 0x91 || tag == 0x83 ? 0xFF : random.below(256));
    seal(frame);
  }

 private:
  struct Memory {
    Format format;
    double hz;
    unsigned baud;
    bool streams;
  };

  static void say(const std::string& text, hal::Time at, Output& out) {
    if (text.empty()) return;
    ByteVector bytes;
    put_text(bytes, text + "\r\n");
    out.send(at, std::move(bytes));
  }

  std::string answer_to(std::string line, hal::Time now) {
    return is_old_ ? old_answer(std::move(line), now) : new_answer(std::move(line), now);
  }

  std::string new_answer(std::string line, hal::Time now) {
    if (line == "LOG DISABLE") return now_.streams = false, "OK";
    if (line == "LOG ENABLE") return now_.streams = true, "OK";
    if (line == "LOG VERSION") return "PRODUCT=HI13R2\r\nSW=1.5.4\r\nUUID=00E1D0A2B4C6\r\nOK";
    if (line == "SAVECONFIG") return saved_ = now_, "OK";
    if (line == "REBOOT") return reboot(now), "";
    if (take(line, "SERIALCONFIG ")) return set_baud(line, now) ? "OK" : "ERR";
    if (take(line, "LOG HI")) return set_format(line) ? "OK" : "ERR";
    return "ERR";
  }

  std::string old_answer(std::string line, hal::Time now) {
    if (line == "AT+EOUT=0") return now_.streams = false, "OK";
    if (line == "AT+EOUT=1") return now_.streams = true, "OK";
    if (line == "AT+INFO") return "CH010 UID=0123456789AB VER=1.2.1\r\nOK";
    if (line == "AT+RST") return reboot(now), "";
    if (take(line, "AT+ODR=")) return set_rate(std::atof(line.c_str())) ? "OK" : "ERR";
    if (take(line, "AT+BAUD=")) return set_baud(line, now) ? "OK" : "ERR";
    return "ERR";
  }

  // "91 ONTIME 0.01": the period in seconds; 0 ends it.
  bool set_format(const std::string& text) {
    static constexpr std::pair<const char*, Format> kFormats[] = {{"91 ONTIME ", Format::hi91},
                                                                  {"92 ONTIME ", Format::hi92},
                                                                  {"81 ONTIME ", Format::hi81},
                                                                  {"83 ONTIME ", Format::hi83}};
    for (const auto& [head, format] : kFormats) {
      if (!text.starts_with(head)) continue;
      const double period = std::atof(text.c_str() + std::string_view(head).size());
      if (period == 0.0) return now_.streams = false, true;
      if (!set_rate(1.0 / period)) return false;
      now_.format = format;
      return true;
    }
    return false;
  }
  bool set_rate(double hz) {
    if (!(hz >= 1.0 && hz <= kMostHz + 1e-6)) return false;
    now_.hz = hz;
    pace_.set_rate(hz);
    return true;
  }
  bool set_baud(const std::string& text, hal::Time now) {
    const auto wanted = static_cast<unsigned>(std::strtoul(text.c_str(), nullptr, 10));
    if (std::ranges::find(kBauds, wanted) == std::end(kBauds)) return false;
    new_baud_ = wanted;
    new_baud_at_ = now + kReplyDelay + kBaudDelay;
    return true;
  }
  void reboot(hal::Time now) {
    clock_.restart(now);
    now_ = saved_;
    pace_.start(now, now_.hz);
  }

  void step(Output& out) {
    const hal::Time at = pace_.next();
    pace_.pass();
    if (chatters_ && pace_.ticks() % static_cast<std::uint64_t>(std::ceil(now_.hz)) == 0)
      say("OK", at, out);
    if (!now_.streams) return;
    const Motion motion = motion_at(hal::to_seconds(at - pace_.origin()), motion_);
    const std::int64_t ns = clock_.stamp(at);
    const bool fine = now_.format == Format::hi83;
    out.send(at,
             frame_of(now_.format, {motion, ns, static_cast<unsigned>(random_.below(0x10000))}));
    const bool has_clock = now_.format != Format::hi92;
    const std::int64_t quantum = !has_clock ? 1 : fine ? 1000 : 1'000'000;
    out.imus.push_back({at, ns / quantum * quantum, motion.accel, motion.gyro});
  }

  DeviceClock& clock_;
  SamplePace pace_;
  Random random_;
  MotionKind motion_;
  bool is_old_, chatters_;
  Memory saved_, now_;
  std::string line_;
  unsigned new_baud_ = 0;
  hal::Time new_baud_at_ = kNever;
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const auto hz = samples_per_s(inputs, 100.0, 1.0, kMostHz);
  if (!hz) return hz.error();
  return std::unique_ptr<DeviceModel>(std::make_unique<Model>(inputs, *hz));
}

}  // namespace sim::hipnuc
