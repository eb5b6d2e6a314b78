#include "test/sim/xsens.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "test/sim/sample_pace.h"
#include "test/sim/wire.h"
#include "test/sim/xsens_dialogue.h"

namespace sim::xsens {
namespace {

using std::chrono::milliseconds;

constexpr hal::Duration kReplyDelay = milliseconds(2), kWakes = milliseconds(100);
constexpr hal::Duration kWaitsForHost = milliseconds(500), kBacklog = milliseconds(20);
constexpr std::int64_t kGnssAgeNs = 2'490'000'000;
constexpr double kGnssHz = 4.0;

constexpr OptionRow kOptions[] = {
    choice("model", "MTi-300", kModels, "device played"),
    choice("baud", "115200", "9600|38400|57600|115200|230400|460800|921600|2000000|usb",
           "line rate; usb = not paced"),
    choice("streaming", "off", "on|off", "on: it measures already; off: it wakes up first"),
    choice("defect", "on", "on|off", "the first message is of a part of an interval"),
    choice("gnss", "off", "on|off", "MTi-G-710: messages of its receiver, with older stamps"),
    kMotionOption,
};

class Model final : public DeviceModel {
 public:
  Model(const ModelInputs& inputs, const ModelInfo& info, unsigned hz)
      : info_(info),
        clock_(inputs.clock),
        pace_(inputs.clock),
        motion_(motion_kind(inputs.settings)),
        is_usb_(inputs.settings.word("baud") == "usb"),
        streams_(inputs.settings.on("streaming")),
        has_defect_(inputs.settings.on("defect")),
        has_gnss_(inputs.settings.on("gnss") && info.has_gnss),
        baud_(is_usb_ ? 115200 : static_cast<unsigned>(inputs.settings.number("baud"))),
        dialogue_(info, hz, baud_) {}

  void power_up(hal::Time now, Output& out) override {
    parser_.clear();
    baud_ = dialogue_.next_baud();
    pace_.start(now, info_.base_hz);
    counter_ = 0;
    wakes_at_ = measures_at_ = kNever;
    restarts_at_ = kNever;
    state_ = State::waking;
    if (streams_) return measure(now, out);
    wakes_at_ = now + kWakes;
  }

  void receive(Channel, hal::Bytes bytes, hal::Time now, Output& out) override {
    catch_up(now, out);
    parser_.add(bytes, now);
    for (Message message; parser_.next(message);) take(message, now, out);
  }

  hal::Time advance(hal::Time now, Output& out) override {
    catch_up(now, out);
    return std::min({next_sample(), wakes_at_, measures_at_, restarts_at_});
  }

  unsigned baud() const override { return is_usb_ ? 0 : baud_; }
  hal::Duration clock_period() const override {
    return hal::Duration(static_cast<std::int64_t>(info_.wraps_at) * kTickNs);
  }

  void falsify(ByteVector& frame, Random& random) const override {
    if (frame.size() < 8 || u8_at(frame, 2) != kData) return;
    for (std::size_t at = data_at(frame); at + 3 < frame.size(); at += 3U + u8_at(frame, at + 2)) {
      const auto id = static_cast<unsigned>(get_be(frame, at, 2));
      if (id != 0x4020 && id != 0x8020) continue;
      ByteVector word;
      put_be_f32(word, random.chance(0.5) ? std::numeric_limits<double>::quiet_NaN() : 1e9);
      std::copy(word.begin(), word.end(), frame.begin() + static_cast<std::ptrdiff_t>(at) + 3);
    }
    seal(frame);
  }

 private:
  enum class State : std::uint8_t { waking, config, measuring };

  void send(unsigned id, ByteVector data, hal::Time at, Output& out) const {
    out.send(at, bytes_of({bus_, id, std::move(data)}));
  }
  void fail(unsigned code, hal::Time at, Output& out) const {
    send(kError, {static_cast<std::byte>(code)}, at, out);
  }

  hal::Time next_sample() const { return state_ == State::measuring ? pace_.next() : kNever; }

  // What is due by `now`, in order.
  void catch_up(hal::Time now, Output& out) {
    for (;;) {
      const hal::Time due = std::min({pace_.next(), wakes_at_, measures_at_, restarts_at_});
      if (due > now) return;
      if (due == restarts_at_) {
        clock_.restart(due);
        const bool streams = std::exchange(streams_, false);
        power_up(due, out);
        streams_ = streams;
      } else if (due == wakes_at_) {
        wakes_at_ = kNever;
        measures_at_ = due + kWaitsForHost;
        bus_ = kMaster;
        send(kWakeUp, {}, due, out);
      } else if (due == measures_at_) {
        bus_ = kMaster;
        send(kConfiguration, dialogue_.configuration(), due, out);
        measure(due, out);
      } else {
        step(out);
      }
    }
  }

  void measure(hal::Time now, Output& out) {
    state_ = State::measuring;
    measures_at_ = kNever;
    is_first_ = has_defect_;
    line_free_at_ = now;
    overflows_ = !is_usb_ && bytes_per_s() * 10.0 > baud_;
    if (overflows_) fail(kTimerOverflow, now + kReplyDelay, out);
  }

  void take(const Message& message, hal::Time now, Output& out) {
    const hal::Time at = now + kReplyDelay;
    bus_ = message.bus;
    if (message.bus != kMaster && message.bus != 0x01) return;
    const unsigned id = message.id;
    if (id == kWakeUpAck) {
      if (measures_at_ == kNever) return;
      measures_at_ = kNever;
      state_ = State::config;
    } else if (id == kGoToConfig) {
      state_ = State::config;
      wakes_at_ = measures_at_ = kNever;
      send(id + 1, {}, at, out);
    } else if (id == kReset) {
      state_ = State::waking;
      wakes_at_ = measures_at_ = kNever;
      send(id + 1, {}, at, out);
      restarts_at_ = at + milliseconds(50);
    } else if (id == kReqDid) {
      send(id + 1, dialogue_.device_id(info_.did_bytes), at, out);
    } else if (state_ != State::config) {
      fail(kInvalidMessage, at, out);
    } else {
      const Message answer = dialogue_.answer(message);
      send(answer.id, answer.data, at, out);
      if (id == kGoToMeasurement) measure(at, out);
    }
  }

  bool is_due(const Item& item, std::uint64_t tick) const {
    return item.hz != kAccompanies && tick % (info_.base_hz / item.hz) == 0;
  }

  Sample sample_at(hal::Time at) const {
    Sample s;
    s.motion = motion_at(hal::to_seconds(at - pace_.origin()), motion_);
    s.device_ns = clock_.stamp(at);
    s.fine = static_cast<std::uint64_t>(s.device_ns / kTickNs) % info_.wraps_at;
    s.counter = counter_;
    s.is_whole = !is_first_;
    s.status = is_first_ ? 1U : 3U;
    s.interval_s = 1.0 / info_.base_hz;
    for (const Item& item : dialogue_.items())
      if ((item.id & 0xFFF0U) == 0x4010 || (item.id & 0xFFF0U) == 0x8030)
        s.interval_s = 1.0 / item.hz;
    return s;
  }

  ByteVector message_of(const Sample& sample, std::uint64_t tick) const {
    ByteVector data;
    for (const Item& item : dialogue_.items())
      if (item.hz == kAccompanies || is_due(item, tick)) put_item(data, item, sample);
    return bytes_of({kMaster, kData, data});
  }

  double bytes_per_s() const {
    double bytes = 0.0;
    Sample sample;
    for (std::uint64_t tick = 1; tick <= info_.base_hz; ++tick)
      if (std::ranges::any_of(dialogue_.items(), [&](const Item& i) { return is_due(i, tick); }))
        bytes += static_cast<double>(message_of(sample, tick).size());
    return bytes;
  }

  void step(Output& out) {
    const hal::Time at = pace_.next();
    pace_.pass();
    if (state_ != State::measuring) return;
    const std::uint64_t tick = pace_.ticks();
    if (overflows_ && tick % info_.base_hz == 0) fail(kTimerOverflow, at, out);
    if (std::ranges::any_of(dialogue_.items(), [&](const Item& i) { return is_due(i, tick); })) {
      send_sample(at, tick, out);
    }
    if (has_gnss_ && tick % static_cast<std::uint64_t>(info_.base_hz / kGnssHz) == 0)
      send_gnss(at, out);
  }

  void send_sample(hal::Time at, std::uint64_t tick, Output& out) {
    const Sample sample = sample_at(at);
    ByteVector bytes = message_of(sample, tick);
    counter_ = (counter_ + 1) & 0xFFFFU;
    if (overflows_) {  // what does not fit is lost
      if (line_free_at_ > at + kBacklog) return;
      line_free_at_ = std::max(line_free_at_, at) +
                      hal::from_seconds(static_cast<double>(bytes.size()) * 10.0 / baud_);
    }
    out.send(at, std::move(bytes));
    const auto has = [&](unsigned type, unsigned other) {
      return std::ranges::any_of(dialogue_.items(), [&](const Item& i) {
        return is_due(i, tick) && ((i.id & 0xFFF0U) == type || (i.id & 0xFFF0U) == other);
      });
    };
    if (!std::exchange(is_first_, false) && has(0x4020, 0x4040) && has(0x8020, 0x8040)) {
      out.imus.push_back(
          {at, sample.device_ns / kTickNs * kTickNs, sample.motion.accel, sample.motion.gyro});
    }
  }

  // Its stamp is the receiver's, older than what was measured before it.
  void send_gnss(hal::Time at, Output& out) {
    Sample sample = sample_at(at);
    const std::int64_t ns = std::max<std::int64_t>(0, sample.device_ns - kGnssAgeNs);
    sample.fine = static_cast<std::uint64_t>(ns / kTickNs) % info_.wraps_at;
    counter_ = (counter_ + 1) & 0xFFFFU;
    ByteVector data;
    for (const unsigned id : {0x1020U, 0x1060U, 0x7010U}) put_item(data, {id, 0}, sample);
    out.send(at, bytes_of({kMaster, kData, data}));
  }

  const ModelInfo& info_;
  DeviceClock& clock_;
  SamplePace pace_;
  MotionKind motion_;
  bool is_usb_, streams_, has_defect_, has_gnss_;
  unsigned baud_;
  Dialogue dialogue_;
  Parser parser_;
  State state_ = State::waking;
  unsigned bus_ = kMaster;
  unsigned counter_ = 0;
  bool is_first_ = false, overflows_ = false;
  hal::Time wakes_at_ = kNever, measures_at_ = kNever, restarts_at_ = kNever, line_free_at_{};
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const ModelInfo& info = model_of(inputs.settings.word("model"));
  const auto hz = samples_per_s(inputs, 100.0, 1.0, info.base_hz);
  if (!hz) return hz.error();
  const double every = info.base_hz / *hz;
  if (std::abs(every - std::round(every)) > 1e-6) {
    hal::Error error{hal::Errc::bad_config, 0, "simulate: --rate", {}};
    error.detail.print("%g samples/s: the device has %u Hz divided by an integer", *hz,
                       info.base_hz);
    return error;
  }
  return std::unique_ptr<DeviceModel>(
      std::make_unique<Model>(inputs, info, static_cast<unsigned>(std::lround(*hz))));
}

}  // namespace sim::xsens
