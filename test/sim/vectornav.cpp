// Binary outputs and ASCII messages between each other, by one crystal.
#include "test/sim/vectornav.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include "test/sim/sample_pace.h"
#include "test/sim/vn_dialogue.h"
#include "test/sim/wire.h"

namespace sim::vectornav {
namespace {

using std::chrono::milliseconds;

constexpr hal::Duration kReplyDelay = milliseconds(1), kSaves = milliseconds(500),
                        kRestarts = milliseconds(300);
constexpr hal::Duration kForgets = std::chrono::seconds(1);

constexpr OptionRow kOptions[] = {
    choice("model", "VN-100", "VN-100|VN-200|VN-300", "the first knows no satellites"),
    choice("baud", "115200", "9600|19200|38400|57600|115200|128000|230400|460800|921600",
           "line rate"),
    choice(
        "found", "other", "other|silent|streaming|mixed|counts",
        "at power-up: ASCII as delivered; nothing; time, attitude, rate and accel at --rate; two "
        "binary outputs and ASCII; or ASCII with counts and CRC"),
    kMotionOption,
};

class Model final : public DeviceModel {
 public:
  Model(const ModelInputs& inputs, unsigned base_hz, bool has_satellites, const Memory& factory)
      : clock_(inputs.clock),
        pace_(inputs.clock),
        motion_(motion_kind(inputs.settings)),
        base_hz_(base_hz),
        dialogue_(base_hz, has_satellites, factory) {}

  void power_up(hal::Time now, sim::Output&) override { begin(now); }

  void receive(Channel, hal::Bytes bytes, hal::Time now, sim::Output& out) override {
    advance(now, out);
    if (now - heard_ > kForgets) lines_.clear();
    heard_ = now;
    if (now < wakes_) return;
    lines_.add(bytes);
    while (const auto command = lines_.next()) answer(*command, now, out);
  }

  hal::Time advance(hal::Time now, sim::Output& out) override {
    if (wakes_ != hal::Time{} && wakes_ <= now) {
      const hal::Time at = std::exchange(wakes_, hal::Time{});
      clock_.restart(at);
      begin(at);
    }
    if (wakes_ != hal::Time{}) return wakes_;
    while (pace_.next() <= now) step(out);
    return pace_.next();
  }

  unsigned baud() const override { return dialogue_.now().baud; }

  // Of a binary frame, the last three floats.
  void falsify(ByteVector& frame, Random& random) const override {
    if (frame.size() < 40 || frame[0] != std::byte{0xFA}) return;
    ByteVector words;
    const double value = random.chance(0.5) ? std::numeric_limits<double>::quiet_NaN() : 1e9;
    for (int i = 0; i < 3; ++i) put_le_f32(words, value);
    std::copy(words.begin(), words.end(), frame.end() - 14);
    seal(frame);
  }

 private:
  void begin(hal::Time now) {
    dialogue_.power_up();
    lines_.clear();
    pace_.start(now, base_hz_);
  }

  void answer(const Command& command, hal::Time now, sim::Output& out) {
    const Dialogue::Answer answer =
        dialogue_.answer(command, sample_at(now, clock_.stamp(now), base_hz_));
    ByteVector bytes;
    put_text(bytes, answer.line);
    out.send(now + (answer.saves ? kSaves : kReplyDelay), bytes);
    if (answer.restarts) wakes_ = now + kRestarts;
  }

  Sample sample_at(hal::Time at, std::int64_t device_ns, double hz) const {
    Sample sample;
    const double seconds = hal::to_seconds(at - pace_.origin()), delta = 1.0 / hz;
    sample.motion = motion_at(seconds, motion_);
    sample.device_ns = device_ns;
    sample.delta_ns = static_cast<std::int64_t>(1e9 / hz);
    sample.delta_angle = motion_at(seconds - delta / 2.0, motion_).gyro;
    for (double& angle : sample.delta_angle) angle *= delta;
    return sample;
  }

  void step(sim::Output& out) {
    const hal::Time at = pace_.next();
    pace_.pass();
    const Memory& memory = dialogue_.now();
    if (dialogue_.is_paused()) return;
    const std::uint64_t tick = pace_.ticks();
    std::optional<std::int64_t> told;
    const auto sample_for = [&](double hz) {
      if (!told) told = clock_.stamp(at);
      return sample_at(at, *told, hz);
    };
    for (const Output& output : memory.outputs) {
      if ((output.ports & 1) == 0 || output.content.groups == 0) continue;
      if (tick % output.divisor != 0) continue;
      out.send(at, binary_frame(output.content, sample_for(1.0 * base_hz_ / output.divisor)));
    }
    if (memory.async_type != 0 && tick % (base_hz_ / memory.async_hz) == 0) {
      ByteVector bytes;
      put_text(bytes,
               dialogue_.message_line(message_of(memory.async_type, sample_for(memory.async_hz))));
      out.send(at, bytes);
    }
    if (!told) return;
    const Motion motion = sample_for(base_hz_).motion;
    out.imus.push_back({at, *told, motion.accel, motion.gyro});
  }

  DeviceClock& clock_;
  SamplePace pace_;
  const MotionKind motion_;
  const unsigned base_hz_;
  Dialogue dialogue_;
  Lines lines_;
  hal::Time heard_{};
  hal::Time wakes_{};  // from a restart; zero: it is awake
};

Memory memory_of(const Settings& settings, unsigned divisor) {
  Memory memory;
  memory.baud = static_cast<unsigned>(settings.number("baud"));
  const std::string& model = settings.word("model");
  memory.texts = {{0, "none"},
                  {1, model == "VN-100" ? "VN-100T-CR" : model + "T-CR"},
                  {2, "7"},
                  {3, "0100012345"},
                  {4, "2.1.0.0"},
                  {26,
                   "+1.000000,+0.000000,+0.000000,+0.000000,+1.000000,+0.000000,+0.000000,"
                   "+0.000000,+1.000000"},
                  {30, "0,0,0,0,1,0,1"},
                  {32, "3,0,0,0,0,1,0,100000000,0"}};
  const std::string& found = settings.word("found");
  const Output useful{1, divisor, {0x01, {0x0131}}};
  if (found == "silent" || found == "streaming") memory.async_type = 0;
  if (found == "streaming") memory.outputs[0] = useful;
  if (found == "mixed") {
    memory.outputs[0] = {1, 40, {0x06, {0, 0x0001, 0x000E}}};
    memory.outputs[1] = {1, 40, {0x12, {0, 0x0001, 0, 0, 0x0006}}};
    memory.async_hz = 10;
  }
  if (found == "counts") {
    memory.texts[30] = "1,1,0,0,3,0,1";
    memory.async_hz = 20;
  }
  if (memory.baud < 57'600) memory.async_hz = memory.baud < 19'200 ? 5 : 10;
  return memory;
}

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const bool is_fast = inputs.settings.word("model") != "VN-300";
  const unsigned base_hz = is_fast ? 800 : 400;
  const double hz = inputs.rate_hz == 0.0 ? 100.0 : inputs.rate_hz;
  const double divisor = base_hz / hz;
  if (hz < 1.0 || hz > base_hz || divisor != static_cast<unsigned>(divisor)) {
    hal::Error error{hal::Errc::bad_config, 0, "simulate: --rate", {}};
    error.detail.print("%g samples/s: the device has %u Hz divided by an integer", hz, base_hz);
    return error;
  }
  return std::unique_ptr<DeviceModel>(
      std::make_unique<Model>(inputs, base_hz, inputs.settings.word("model") != "VN-100",
                              memory_of(inputs.settings, static_cast<unsigned>(divisor))));
}

}  // namespace sim::vectornav
