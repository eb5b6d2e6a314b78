#include "test/sim/ydlidar.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "test/sim/noise.h"
#include "test/sim/room.h"
#include "test/sim/wire.h"
#include "test/sim/ydlidar_sampler.h"

namespace sim::ydlidar {
namespace {

using namespace std::chrono_literals;

constexpr std::uint8_t kSettingType = 0x04, kHealthType = 0x06, kScanType = 0x81;
constexpr double kSlowest = 3.0, kFastest = 12.7;                // that the rate field can tell
constexpr double kSlowestCommand = 5.0, kFastestCommand = 12.0;  // turns/s, by command
constexpr hal::Duration kBoot = 500ms, kHeartbeat = 3s;
// Where real triangulating devices begin a turn, before correction; the others at their front.
constexpr double kIndexOfCorrecting = 351.1875;
constexpr std::int64_t kMillisecond = 1'000'000;

constexpr OptionRow kOptions[] = {
    choice("model", "X4", kModelNames,
           "device played: sets baud, samples/s, sample form, dialogue"),
    number("frequency", "0", 0.0, kFastest, "turns/s; 0 = the model's own"),
    number("sample_rate", "0", 0.0, 20.0, "kS/s, one of the model's; 0 = its fastest"),
    choice("intensity", "auto", "auto|none|8|10|16",
           "bits beside each distance; auto = the model's"),
    choice("unit", "auto", "auto|quarter_mm|half_mm|mm", "of distances; auto = the model's"),
    choice("stamps", "off", "off|on", "a time-stamp packet before each turn"),
    choice("module_info", "on", "on|off", "device information between scan reply and points"),
    choice("motor", "on", "on|off", "turns at power-up; off waits for DTR"),
    choice("streaming", "off", "off|on", "found scanning when it appears"),
    number("health", "0", 0.0, 255.0, "status in the health reply"),
    number("health_code", "0", 0.0, 65535.0, "error code beside the health"),
    noise_option(),
};

Carriage carriage_of(const Model& model, const Settings& settings) {
  Carriage carriage{model.form, model.unit, model.corrects, model.flag};
  const std::string& bits = settings.word("intensity");
  if (bits == "none") carriage.form = Form::plain;
  if (bits == "8") carriage.form = Form::intensity8;
  if (bits == "10") carriage.form = Form::intensity10;
  if (bits == "16") carriage.form = Form::intensity16;
  const std::string& unit = settings.word("unit");
  if (unit == "quarter_mm") carriage.unit = Unit::quarter_mm;
  if (unit == "half_mm") carriage.unit = Unit::half_mm;
  if (unit == "mm") carriage.unit = Unit::mm;
  return carriage;
}

double wrap_degrees(double angle) {
  const double turn = std::fmod(angle, 360.0);
  return turn < 0.0 ? turn + 360.0 : turn;
}

unsigned to_q6(double deg) {
  return static_cast<unsigned>(std::lround(wrap_degrees(deg) * 64.0)) % kTurnQ6;
}

class Ydlidar final : public DeviceModel {
 public:
  Ydlidar(const Model& model, const ModelInputs& in)
      : model_(model),
        clock_(in.clock),
        noise_(in),
        settings_(in.settings),
        carriage_(carriage_of(model, in.settings)),
        sampler_(carriage_),
        random_(in.seed),
        serial_(in.seed) {
    const double option = in.settings.number("frequency");
    nominal_hz_ = in.rate_hz > 0.0 ? in.rate_hz : (option > 0.0 ? option : model.turns_per_s);
    const double rate = in.settings.number("sample_rate");
    const auto found = std::find(model.rates.begin(), model.rates.end(), rate);
    first_rate_ =
        rate > 0.0 ? static_cast<std::size_t>(found - model.rates.begin()) : model.rates.size() - 1;
  }

  void power_up(hal::Time now, Output&) override {
    restart();
    ready_at_ = now;
    turning_ = settings_.on("motor");
    scanning_ = model_.one_way || (settings_.on("streaming") && !powered_before_);
    powered_before_ = true;
    begin(now);
  }

  void receive(Channel, hal::Bytes bytes, hal::Time now, Output& out) override {
    if (model_.one_way) return;  // the device has no receiver
    for (const std::byte b : bytes) {
      if (now < ready_at_) return;
      const bool completes = half_;
      half_ = !completes && b == std::byte{0xA5};
      if (!completes) continue;
      // A5 A5 60: the second A5 is no command but may begin one.
      if (b == std::byte{0xA5}) half_ = true;
      obey(std::to_integer<unsigned>(b), now, out);
    }
  }

  hal::Time advance(hal::Time now, Output& out) override {
    while (true) {
      const hal::Time end = samples() ? packet_end() : kNever;
      if (std::min(end, heartbeat_at_) > now) return std::min(end, heartbeat_at_);
      if (heartbeat_at_ < end) {
        stop();
      } else {
        emit_packet(out);
      }
    }
  }

  void set_dtr(bool asserted, hal::Time now) override {
    if (!model_.turns_on_dtr || asserted == turning_) return;
    turning_ = asserted;
    begin(now);
  }

  unsigned baud() const override { return model_.baud; }
  hal::Duration clock_period() const override {
    return settings_.on("stamps") ? hal::Duration(kMillisecond << 32) : hal::Duration::zero();
  }
  void falsify(ByteVector& frame, Random& random) const override {
    falsify_packet(frame, carriage_.form, random);
  }

 private:
  bool samples() const { return scanning_ && turning_; }
  double step_degrees() const { return 360.0 * hz_ / (1000.0 * model_.rates[rate_]); }

  void restart() {
    half_ = false;
    hz_ = wanted_hz_ = nominal_hz_;
    rate_ = first_rate_;
    progress_ = 0.0;
    zero_due_ = true;
    low_power_ = constant_speed_ = heartbeat_ = false;
    stop();
  }
  void stop() {
    scanning_ = false;
    heartbeat_at_ = kNever;
  }
  void begin(hal::Time now) {
    origin_ = now;
    first_ns_ = 0.0;
    plan();
  }
  // The next packet: the zero sample alone, or as many as fit before the turn ends.
  void plan() {
    hz_ = wanted_hz_;
    const auto left = static_cast<std::size_t>(std::ceil((360.0 - progress_) / step_degrees()));
    count_ = zero_due_ ? 1 : std::clamp<std::size_t>(left, 1, model_.most);
  }
  double sample_ns() const { return clock_.true_ns(1e6 / model_.rates[rate_]); }
  hal::Time sample_time(std::size_t i) const {
    const double after = first_ns_ + static_cast<double>(i) * sample_ns();
    return origin_ + hal::Duration(static_cast<std::int64_t>(after));
  }
  hal::Time packet_end() const { return sample_time(count_ - 1); }

  void setting(std::uint64_t value, int bytes, hal::Time now, Output& out) const {
    ByteVector reply = reply_header(static_cast<std::size_t>(bytes), false, kSettingType);
    put_le(reply, value, bytes);
    out.send(now, std::move(reply));
  }

  void info(hal::Time now, Output& out) const {
    ByteVector reply = reply_header(20, false, kSettingType);
    put8(reply, model_.code);
    put8(reply, 5), put8(reply, 1), put8(reply, 1);  // as a real X4 has it
    Random digits(serial_);
    for (int i = 0; i < 16; ++i) put8(reply, digits.below(10));
    out.send(now, std::move(reply));
  }

  void obey(unsigned command, hal::Time now, Output& out) {
    if (command == 0x65) return stop();
    // While it scans it wants STOP and, as a sign of life, the scan command again.
    if (scanning_) {
      const bool alive = heartbeat_ && (command == 0x60 || command == 0x61);
      if (alive) heartbeat_at_ = now + kHeartbeat;
      return;
    }
    switch (command) {
      case 0x60:
      case 0x61:
        return start(now, out);
      case 0x80:
        restart();
        ready_at_ = now + kBoot;
        return;
      case 0x90:
        return info(now, out);
      case 0x91:
      case 0x92:
        return health(now, out);
      case 0x01:
      case 0x02:
        low_power_ = command == 0x01;
        return setting(low_power_ ? 1 : 0, 1, now, out);
      case 0x0E:
      case 0x0F:
        constant_speed_ = command == 0x0E;
        return setting(constant_speed_ ? 1 : 0, 1, now, out);
      case 0xD9:
        heartbeat_ = !heartbeat_;
        return setting(heartbeat_ ? 1 : 0, 1, now, out);
      case 0xD0:
        rate_ = (rate_ + 1) % model_.rates.size();
        return setting(rate_, 1, now, out);
      case 0xD1:
        return setting(rate_, 1, now, out);
      default:
        return speed(command, now, out);
    }
  }

  void speed(unsigned command, hal::Time now, Output& out) {
    constexpr unsigned kFirst = 0x09, kQuery = 0x0D;
    constexpr double kChange[] = {0.1, -0.1, 1.0, -1.0, 0.0};
    if (command < kFirst || command > kQuery) return;  // not a command of this device
    const double changed = wanted_hz_ + kChange[command - kFirst];
    if (command != kQuery) wanted_hz_ = std::clamp(changed, kSlowestCommand, kFastestCommand);
    setting(static_cast<std::uint64_t>(std::lround(wanted_hz_ * 100.0)), 4, now, out);
  }

  void health(hal::Time now, Output& out) const {
    ByteVector reply = reply_header(3, false, kHealthType);
    put8(reply, static_cast<std::uint64_t>(settings_.number("health")));
    put_le(reply, static_cast<std::uint64_t>(settings_.number("health_code")), 2);
    out.send(now, std::move(reply));
  }

  void start(hal::Time now, Output& out) {
    out.send(now, reply_header(5, true, kScanType));
    if (settings_.on("module_info")) info(now, out);
    scanning_ = true;
    if (heartbeat_) heartbeat_at_ = now + kHeartbeat;
    begin(now);
  }

  unsigned rate_field() {
    if (zero_due_) {
      const double told = hz_ - (model_.rate_field == RateField::less_three ? 3.0 : 0.0);
      return static_cast<unsigned>(std::lround(told * 10.0));
    }
    // Of other packets the field means nothing; a Tmini has something else in it.
    return carriage_.form == Form::plain ? 0U : static_cast<unsigned>(random_.below(128));
  }

  // A triangulating device measures nothing in its zero sample.
  Ray ray_of(double raw) {
    return zero_due_ && carriage_.corrects ? Ray{raw, 0.0, 0.0} : sampler_.cast(raw, noise_.off());
  }

  std::int64_t stamp(Output& out) {
    const std::int64_t exact = clock_.stamp(sample_time(0));
    if (!zero_due_ || !settings_.on("stamps")) return exact;
    const std::int64_t ms = exact / kMillisecond;
    out.send(packet_end(), stamp_packet(static_cast<std::uint32_t>(ms)));
    return ms * kMillisecond;
  }

  void emit_packet(Output& out) {
    const double index = carriage_.corrects ? kIndexOfCorrecting : 0.0;
    const double first = index + progress_;
    const double last = first + step_degrees() * static_cast<double>(count_ - 1);
    const PacketHead head{zero_due_, rate_field(), to_q6(first), to_q6(last)};
    const double span = ((head.last_q6 + kTurnQ6 - head.first_q6) % kTurnQ6) / 64.0;
    ScanTruth truth{stamp(out), {}};
    std::vector<Sample> samples;
    for (std::size_t i = 0; i < count_; ++i) {
      const double part = count_ > 1 ? static_cast<double>(i) / double(count_ - 1) : 0.0;
      const Ray ray = ray_of(head.first_q6 / 64.0 + span * part);
      samples.push_back(sampler_.sample(ray));
      truth.beams.push_back({sample_time(i), radians(-ray.clockwise_deg), ray.range});
    }
    out.send(packet_end(), point_packet(head, samples, carriage_.form));
    out.scans.push_back(std::move(truth));
    first_ns_ += static_cast<double>(count_) * sample_ns();
    progress_ += static_cast<double>(count_) * step_degrees();
    zero_due_ = progress_ >= 360.0;
    if (zero_due_) progress_ -= 360.0;
    plan();
  }

  const Model& model_;
  DeviceClock& clock_;
  Noise noise_;
  const Settings settings_;
  const Carriage carriage_;
  const Sampler sampler_;
  Random random_;
  const std::uint64_t serial_;
  double nominal_hz_ = 0.0;
  std::size_t first_rate_ = 0;

  bool powered_before_ = false;
  hal::Time ready_at_{};  // deaf until then
  bool half_ = false;     // A5 has come, its command has not
  bool scanning_ = false, turning_ = false;
  bool low_power_ = false, constant_speed_ = false, heartbeat_ = false;
  hal::Time heartbeat_at_ = kNever;  // when it stops for want of a sign of life
  std::size_t rate_ = 0;
  double hz_ = 0.0, wanted_hz_ = 0.0;  // now; from the next packet on

  double progress_ = 0.0;  // degrees of this turn before the packet in the making
  bool zero_due_ = true;   // that packet begins a turn
  std::size_t count_ = 1;  // its samples
  hal::Time origin_{};
  double first_ns_ = 0.0;  // of its first sample, after origin_
};

hal::Error refused(const char* where, const char* text, double value, double other) {
  hal::Error error{hal::Errc::bad_config, 0, where, {}};
  error.detail.print(text, value, other);
  return error;
}

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const Model& model = find_model(inputs.settings.word("model"));
  if (inputs.rate_hz != 0.0 && (inputs.rate_hz < kSlowest || inputs.rate_hz > kFastest))
    return refused("simulate: --rate", "turns/s are from %g to %g Hz", kSlowest, kFastest);
  const double frequency = inputs.settings.number("frequency");
  if (frequency != 0.0 && frequency < kSlowest)
    return refused("simulate: --set", "frequency: %g Hz is too slow: from %g Hz", frequency,
                   kSlowest);
  const double rate = inputs.settings.number("sample_rate");
  if (rate != 0.0 && std::find(model.rates.begin(), model.rates.end(), rate) == model.rates.end())
    return refused("simulate: --set", "sample_rate: %g is no rate of this model; its fastest: %g",
                   rate, model.rates.back());
  const double fastest = rate > 0.0 ? rate : model.rates.back();
  const Form form = carriage_of(model, inputs.settings).form;
  const double line_baud = fastest * 1e4 * static_cast<double>(sample_bytes(form)) * 1.05;
  if (line_baud > model.baud)
    return refused("simulate: --set", "intensity: samples of %g bytes do not fit a line of %g baud",
                   static_cast<double>(sample_bytes(form)), model.baud);
  return std::unique_ptr<DeviceModel>(std::make_unique<Ydlidar>(model, inputs));
}

}  // namespace sim::ydlidar
