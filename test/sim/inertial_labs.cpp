#include "test/sim/inertial_labs.h"

#include <algorithm>
#include <chrono>

#include "test/sim/inertial_labs_data.h"
#include "test/sim/sample_pace.h"
#include "test/sim/wire.h"

namespace sim::inertial_labs {
namespace {

constexpr hal::Duration kReplyDelay = std::chrono::milliseconds(2);
constexpr unsigned kInfo = 0x12, kOrientation = 0x33, kParameters = 0x41, kUserDefined = 0x95,
                   kStop = 0xFE;
constexpr std::size_t kCommand = 9, kInfoBytes = 166, kParameterBytes = 60, kAlignmentBytes = 0x32;
constexpr std::int64_t kWeekAtFix =
    345'678'000'000'000;  // ns, time of week when satellites are seen
constexpr double kMostHz = 2000.0;

constexpr std::uint8_t kFine[] = {0x03, 0x21, 0x23, 0x09, 0x52, 0x53};
constexpr std::uint8_t kCoarse[] = {0x01, 0x20, 0x22, 0x07, 0x24, 0x25, 0x52, 0x53};
constexpr std::uint8_t kFull[] = {0x02, 0x08, 0x12, 0x21, 0x23, 0x24, 0x25, 0x3C, 0x53, 0x50};
constexpr std::uint8_t kUnknown[] = {0x03, 0x21, 0x23, 0xEE};

constexpr OptionRow kOptions[] = {
    choice("baud", "115200", "115200|230400|460800|921600", "line rate"),
    choice("streaming", "off", "off|on", "it sends from power-up, or when it is told to"),
    choice("sends", "user_defined", "user_defined|orientation", "what it sends from power-up"),
    choice("types", "fine", "fine|coarse|full|unknown",
           "user-defined data: of 32 bits with a quaternion, of 16 bits with angles, more of them, "
           "or with a type that nobody knows"),
    number("align_s", "1", 0, 60, "time of alignment, between the answer to a start and data, s"),
    number("fix_s", "0", 0, 86400,
           "when satellites are seen, s from power-up: its time jumps; 0: never"),
    number("gravity", "9.80665", 9.7, 9.9, "m/s^2 that it calls a g"),
    number("status", "0", 0, 65535, "its unit status"),
    choice("extra", "off", "off|on", "frames of another code between the others, once a second"),
    kMotionOption,
};

std::span<const std::uint8_t> types_of(const std::string& word) {
  if (word == "coarse") return kCoarse;
  if (word == "full") return kFull;
  return word == "unknown" ? std::span<const std::uint8_t>(kUnknown) : kFine;
}

class Model final : public DeviceModel {
 public:
  Model(const ModelInputs& inputs, double hz)
      : clock_(inputs.clock),
        pace_(inputs.clock),
        motion_(motion_kind(inputs.settings)),
        hz_(hz),
        baud_(static_cast<unsigned>(inputs.settings.number("baud"))),
        types_(types_of(inputs.settings.word("types"))),
        at_first_(!inputs.settings.on("streaming")                 ? 0
                  : inputs.settings.word("sends") == "orientation" ? kOrientation
                                                                   : kUserDefined),
        align_(hal::from_seconds(inputs.settings.number("align_s"))),
        fix_ns_(static_cast<std::int64_t>(inputs.settings.number("fix_s") * 1e9)),
        gravity_(inputs.settings.number("gravity")),
        status_(static_cast<unsigned>(inputs.settings.number("status"))),
        extra_(inputs.settings.on("extra")) {}

  void power_up(hal::Time now, Output&) override {
    pace_.start(now, hz_);
    request_.clear();
    data_from_ = now;
    code_ = at_first_;
  }

  void receive(Channel, hal::Bytes bytes, hal::Time now, Output& out) override {
    while (pace_.next() <= now) step(out);
    request_.insert(request_.end(), bytes.begin(), bytes.end());
    while (request_.size() >= 2) {
      if (get_be(request_, 0, 2) != 0xAA55) {
        request_.erase(request_.begin());
        continue;
      }
      if (request_.size() < kCommand) return;
      obey(now, out);
    }
  }

  hal::Time advance(hal::Time now, Output& out) override {
    while (pace_.next() <= now) step(out);
    return pace_.next();
  }

  unsigned baud() const override { return baud_; }

  void falsify(ByteVector& frame, Random& random) const override {
    if (frame.size() < 36 || u8_at(frame, 2) != 1) return;
    const std::size_t head = u8_at(frame, 3) == kUserDefined ? 7 + types_.size() + 8 : 12;
    for (std::size_t i = head; i < std::min(head + 24, frame.size() - 2); ++i)
      frame[i] = static_cast<std::byte>(random.below(256));
    seal(frame);
  }

 private:
  // AA 55 00 00 07 00 command sum
  void obey(hal::Time now, Output& out) {
    ByteVector frame(request_.begin(), request_.begin() + kCommand);
    ByteVector right = frame;
    seal(right);
    const bool is_command = get_le(frame, 2, 4) == 0x0007'0000U && frame == right;
    request_.erase(request_.begin(),
                   request_.begin() + (is_command ? static_cast<int>(kCommand) : 1));
    if (!is_command) return;
    const unsigned command = u8_at(frame, 6);
    switch (command) {
      case kInfo:
        return reply(kInfo, info(), now, out);
      case kParameters:
        return reply(kParameters, parameters(), now, out);
      case kOrientation:
      case kUserDefined:
        acknowledge(frame, now, out);
        code_ = command;
        data_from_ = now + kReplyDelay + align_;
        reply(0, ByteVector(kAlignmentBytes), data_from_, out);
        return;
      case kStop:
        code_ = 0;
        return acknowledge(frame, now, out);
      default:
        return;  // it answers nothing that it does not know
    }
  }

  static void reply(unsigned code, const ByteVector& payload, hal::Time now, Output& out) {
    out.send(now + kReplyDelay, frame_of(1, code, payload));
  }
  // With the sum of the command.
  static void acknowledge(const ByteVector& command, hal::Time now, Output& out) {
    reply(0, ByteVector(command.end() - 2, command.end()), now, out);
  }

  static ByteVector info() {
    ByteVector payload;
    put_text(payload, "S1234567");
    put_text(payload, "1.2.3.4");
    payload.resize(kInfoBytes);
    return payload;
  }
  ByteVector parameters() const {
    ByteVector payload;
    put_le(payload, static_cast<std::uint64_t>(hz_), 2);
    put_le(payload, static_cast<std::uint64_t>(hal::to_seconds(align_)), 2);
    payload.resize(kParameterBytes);
    return payload;
  }

  void step(Output& out) {
    const hal::Time at = pace_.next();
    pace_.pass();
    if (code_ == 0 || at < data_from_) return;
    const Motion motion = motion_at(hal::to_seconds(at - pace_.origin()), motion_);
    const std::int64_t ns = clock_.stamp(at);
    const bool fixed = fix_ns_ > 0 && ns >= fix_ns_;
    const Sample sample{motion, fixed ? kWeekAtFix + ns - fix_ns_ : ns, status_, gravity_};
    out.send(at, code_ == kOrientation ? orientation_set(sample) : user_defined(types_, sample));
    if (extra_ && pace_.ticks() % static_cast<std::uint64_t>(std::max(hz_, 1.0)) == 0)
      out.send(at, frame_of(1, 0x67, ByteVector(20, std::byte{0xAA})));
    const bool coarse = types_[0] == 0x01;
    const std::int64_t stamp =
        code_ == kOrientation ? ns
                              : sample.gps_ns / (coarse ? 1'000'000 : 1) * (coarse ? 1'000'000 : 1);
    out.imus.push_back({at, stamp, motion.accel, motion.gyro});
  }

  DeviceClock& clock_;
  SamplePace pace_;
  MotionKind motion_;
  double hz_;
  unsigned baud_;
  std::span<const std::uint8_t> types_;
  unsigned at_first_;
  hal::Duration align_;
  std::int64_t fix_ns_;
  double gravity_;
  unsigned status_;
  bool extra_;
  ByteVector request_;
  unsigned code_ = 0;  // of the data that it sends; 0: none
  hal::Time data_from_{};
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const auto hz = samples_per_s(inputs, 100.0, 1.0, kMostHz);
  if (!hz) return hz.error();
  return std::unique_ptr<DeviceModel>(std::make_unique<Model>(inputs, *hz));
}

}  // namespace sim::inertial_labs
