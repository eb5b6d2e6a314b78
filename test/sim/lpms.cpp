#include "test/sim/lpms.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "test/sim/lpms_data.h"
#include "test/sim/sample_pace.h"
#include "test/sim/wire.h"

namespace sim::lpms {
namespace {

using namespace std::chrono_literals;

constexpr hal::Duration kReplyDelay = 2ms, kBaudDelay = 50ms;
// Of both generations, then of the one before the IG1, then of the IG1, whose numbers are those of
// the maker's manual.
constexpr unsigned kAck = 0, kNack = 1, kCommandMode = 6, kStreamMode = 7, kSensorData = 9,
                   kSave = 15, kResetTime = 66, kSetBaud = 84, kGetBaud = 85;
constexpr unsigned kLegacyConfig = 4, kLegacyFields = 10, kLegacyRate = 11, kLegacyAddress = 21,
                   kLegacySerial = 90, kLegacyName = 91, kLegacyFirmware = 92;
constexpr unsigned kModel = 20, kFirmware = 21, kSerial = 22, kSetFields = 30, kGetFields = 31,
                   kSetRate = 34, kGetRate = 35, kGetRadians = 37;
constexpr std::size_t kHead = 7, kAround = 11, kMostData = 64;
constexpr unsigned kRates[] = {5, 10, 25, 50, 100, 200, 400, 800};  // by legacy index
constexpr unsigned kIg1Rates[] = {5, 10, 50, 100, 250, 500};
constexpr unsigned kBauds[] = {115200, 230400, 460800, 921600};
constexpr unsigned kIg1Default = 1U << 1 | 1U << 6 | 1U << 9 | 1U << 11;
constexpr unsigned kLegacyDefault = 1U << 10 | 1U << 11 | 1U << 12 | 1U << 16 | 1U << 18;

constexpr OptionRow kOptions[] = {
    choice("generation", "ig1", "ig1|legacy", "IG1 and BE1, or the one before"),
    choice("baud", "115200", "115200|230400|460800|921600", "line rate"),
    choice("streaming", "on", "on|off", "it streams from power-up, or waits in command mode"),
    choice("gyro_unit", "deg", "deg|rad", "unit of the rates of an IG1"),
    choice("accel_sign", "minus", "minus|plus", "minus: at rest z is -1 g"),
    choice("low_precision", "off", "off|on", "legacy: numbers of 16 bits from power-up"),
    number("address", "1", 1, 255, "its own in the frames"),
    kMotionOption,
};

class Model final : public DeviceModel {
 public:
  Model(const ModelInputs& inputs, double hz)
      : clock_(inputs.clock),
        pace_(inputs.clock),
        motion_(motion_kind(inputs.settings)),
        legacy_(inputs.settings.word("generation") == "legacy"),
        degrees_(inputs.settings.word("gyro_unit") == "deg"),
        sign_(inputs.settings.word("accel_sign") == "minus" ? -1.0 : 1.0),
        address_(static_cast<unsigned>(inputs.settings.number("address"))),
        streams_at_first_(inputs.settings.on("streaming")),
        saved_{legacy_ ? kLegacyDefault : kIg1Default, hz,
               static_cast<unsigned>(inputs.settings.number("baud"))} {
    if (legacy_ && inputs.settings.on("low_precision")) saved_.fields |= kLowPrecision;
  }

  void power_up(hal::Time now, Output&) override {
    now_ = saved_;
    streams_ = streams_at_first_;
    request_.clear();
    new_baud_at_ = kNever;
    count_from_ = 0;
    pace_.start(now, now_.hz);
  }

  void receive(Channel, hal::Bytes bytes, hal::Time now, Output& out) override {
    while (pace_.next() <= now) step(out);
    request_.insert(request_.end(), bytes.begin(), bytes.end());
    while (!request_.empty() && take_request(now, out)) {
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
  hal::Duration clock_period() const override { return hal::Duration(count_ns() << 32); }

  void falsify(ByteVector& frame, Random& random) const override {
    if (frame.size() < kAround + 4 + 24 || get_le(frame, 3, 2) != kSensorData) return;
    const bool low = legacy_ && (now_.fields & kLowPrecision) != 0;
    for (std::size_t i = kHead + 4; i < frame.size() - 4; ++i)
      frame[i] = static_cast<std::byte>(low ? random.below(256) : 0xFF);
    seal(frame);
  }

 private:
  struct Memory {
    unsigned fields;
    double hz;
    unsigned baud;
  };

  std::int64_t count_ns() const {
    return !legacy_ ? 2'000'000 : now_.hz > 400.0 ? 1'250'000 : 2'500'000;
  }

  // False: more bytes are needed.
  bool take_request(hal::Time now, Output& out) {
    if (u8_at(request_, 0) != 0x3A) return request_.erase(request_.begin()), true;
    if (request_.size() < kHead) return false;
    const std::size_t data = get_le(request_, 5, 2);
    if (data > kMostData) return request_.erase(request_.begin()), true;
    if (request_.size() < data + kAround) return false;
    const ByteVector frame(request_.begin(),
                           request_.begin() + static_cast<std::ptrdiff_t>(data + kAround));
    ByteVector right = frame;
    seal(right);
    const bool is_whole = right == frame && get_be(frame, frame.size() - 2, 2) == 0x0D0A;
    request_.erase(request_.begin(),
                   request_.begin() + static_cast<std::ptrdiff_t>(is_whole ? frame.size() : 1));
    if (is_whole && get_le(frame, 1, 2) == address_) {
      obey(static_cast<unsigned>(get_le(frame, 3, 2)), hal::Bytes(frame).subspan(kHead, data), now,
           out);
    }
    return true;
  }

  void say(unsigned function, const ByteVector& data, hal::Time now, Output& out) const {
    out.send(now + kReplyDelay, frame_of(address_, function, data));
  }

  // All but the modes is for command mode.
  void obey(unsigned function, hal::Bytes data, hal::Time now, Output& out) {
    if (function == kCommandMode || function == kStreamMode) {
      streams_ = function == kStreamMode;
      return say(kAck, {}, now, out);
    }
    if (streams_) return say(kNack, {}, now, out);
    const auto value = static_cast<unsigned>(data.size() == 4 ? get_le(data, 0, 4) : 0);
    if (function == kGetBaud) return say_number(kGetBaud, now_.baud, now, out);
    if (legacy_ ? tell_legacy(function, now, out) : tell_ig1(function, now, out)) return;
    say(data.size() <= 4 && set(function, value, now) ? kAck : kNack, {}, now, out);
  }

  // False: that is no question.
  bool tell_legacy(unsigned function, hal::Time now, Output& out) const {
    switch (function) {
      case kLegacyConfig:
        return say_number(function, config(), now, out), true;
      case kLegacyAddress:
        return say_number(function, address_, now, out), true;
      case kLegacySerial:
        return say_text(function, "LPMSSIM00000042", now, out), true;
      case kLegacyName:
        return say_text(function, "LPMS-CU2", now, out), true;
      case kLegacyFirmware:
        return say_text(function, "1.3.4", now, out), true;
      default:
        return false;
    }
  }
  bool tell_ig1(unsigned function, hal::Time now, Output& out) const {
    switch (function) {
      case kGetFields:
        return say_number(function, now_.fields, now, out), true;
      case kGetRate:
        return say_number(function, static_cast<unsigned>(now_.hz), now, out), true;
      case kGetRadians:
        return say_number(function, degrees_ ? 0 : 1, now, out), true;
      case kSerial:
        return say_text(function, "LPMSSIM00000042", now, out), true;
      case kModel:
        return say_text(function, "LPMS-IG1", now, out), true;
      case kFirmware:
        return say_text(function, "IG1-2.0.7", now, out), true;
      default:
        return false;
    }
  }

  bool set(unsigned function, unsigned value, hal::Time now) {
    if (function == (legacy_ ? kLegacyFields : kSetFields)) return set_fields(value);
    if (function == (legacy_ ? kLegacyRate : kSetRate)) return set_rate(value);
    switch (function) {
      case kSave:
        saved_ = now_;
        return true;
      case kResetTime:
        count_from_ = clock_.stamp(now);
        return true;
      case kSetBaud:
        if (std::ranges::find(kBauds, value) == std::end(kBauds)) return false;
        new_baud_ = value;
        new_baud_at_ = now + kReplyDelay + kBaudDelay;
        return true;
      default:
        return false;
    }
  }

  // How precise the numbers are is not among them.
  bool set_fields(unsigned fields) {
    if (fields == 0) return false;
    now_.fields = (fields & ~kLowPrecision) | (now_.fields & kLowPrecision);
    return true;
  }
  bool set_rate(unsigned hz) {
    const std::span<const unsigned> rates =
        legacy_ ? std::span<const unsigned>(kRates) : std::span<const unsigned>(kIg1Rates);
    if (std::ranges::find(rates, hz) == rates.end()) return false;
    now_.hz = hz;
    pace_.set_rate(hz);
    return true;
  }

  // With the index of its rate.
  unsigned config() const {
    const auto* const rate =
        std::ranges::find_if(kRates, [this](unsigned hz) { return hz >= now_.hz; });
    const auto index =
        static_cast<unsigned>(std::min<std::ptrdiff_t>(rate - std::begin(kRates), 7));
    return (now_.fields & ~7U) | index;
  }

  void say_number(unsigned function, unsigned value, hal::Time now, Output& out) const {
    ByteVector data;
    put_le(data, value, 4);
    say(function, data, now, out);
  }
  void say_text(unsigned function, std::string_view text, hal::Time now, Output& out) const {
    ByteVector data;
    put_text(data, text);
    data.resize(24);
    say(function, data, now, out);
  }

  void step(Output& out) {
    const hal::Time at = pace_.next();
    pace_.pass();
    if (!streams_) return;
    const Motion motion = motion_at(hal::to_seconds(at - pace_.origin()), motion_);
    const std::int64_t ns = std::max<std::int64_t>(0, clock_.stamp(at) - count_from_);
    const std::int64_t count = (ns + count_ns() / 2) / count_ns();
    const Sample sample{motion, static_cast<std::uint32_t>(count), sign_, degrees_};
    out.send(at,
             frame_of(address_, kSensorData,
                      legacy_ ? legacy_data(sample, now_.fields) : ig1_data(sample, now_.fields)));
    out.imus.push_back({at, count * count_ns(), motion.accel, motion.gyro});
  }

  DeviceClock& clock_;
  SamplePace pace_;
  MotionKind motion_;
  bool legacy_, degrees_;
  double sign_;
  unsigned address_;
  bool streams_at_first_, streams_ = false;
  Memory saved_, now_{saved_};
  ByteVector request_;
  std::int64_t count_from_ = 0;
  unsigned new_baud_ = 0;
  hal::Time new_baud_at_ = kNever;
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const auto hz = samples_per_s(inputs, 100.0, 1.0, 800.0);
  if (!hz) return hz.error();
  return std::unique_ptr<DeviceModel>(std::make_unique<Model>(inputs, *hz));
}

}  // namespace sim::lpms
