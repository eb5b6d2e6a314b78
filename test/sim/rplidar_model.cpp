#include "test/sim/rplidar_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "test/sim/rplidar_catalogue.h"
#include "test/sim/rplidar_replies.h"
#include "test/sim/rplidar_requests.h"
#include "test/sim/rplidar_rotor.h"
#include "test/sim/rplidar_sampler.h"
#include "test/sim/wire.h"

namespace sim::rplidar {
namespace {

using namespace std::chrono_literals;

// Measured on an A1: the text comes 0.67 s after a reset, requests are taken 4 ms later.
constexpr hal::Duration kBootToBanner = 670ms, kBannerToReady = 4ms;
constexpr double kDefaultPwm = 660.0;
constexpr std::size_t kNodesPerDatagram = 40;
// No motor keeps the speed that it was told; if one did, each turn would repeat the one before.
constexpr double kMotor = 1.0003;
// At this speed and full PWM the longest packet still covers less than a turn.
constexpr double kFastestRpm = 2000.0;

constexpr std::array<OptionRow, 9> kOptions = {{
    choice("model", "A1", kModelNames, "the model to play"),
    number("rpm", "0", 0.0, kFastestRpm, "turns per minute; 0 = the model's own speed"),
    number("health", "0", 0.0, 2.0, "0 good, 1 warning, 2 error until the next RESET"),
    number("health_code", "0", 0.0, 65535.0, "error code beside the health"),
    choice("streaming", "off", "off|on", "found streaming, in its typical mode, when it appears"),
    choice("motor", "auto", "auto|dtr|pwm|rpm", "what turns the motor; auto = as the model has it"),
    choice("banner", "auto", "auto|on|off",
           "boot text: auto = after a restart of an A1; on = any model, also at the first start"),
    number("zeros", "0", 0.0, 100.0, "percent of samples without return, beside the room's own"),
    number("backwards", "0", 0.0, 100.0, "percent of standard samples whose angle falls back"),
}};

class Rplidar final : public DeviceModel {
 public:
  explicit Rplidar(const ModelInputs& in);

  void power_up(hal::Time now, Output& out) override;
  void receive(Channel channel, hal::Bytes bytes, hal::Time now, Output& out) override;
  hal::Time advance(hal::Time now, Output& out) override;
  void set_dtr(bool asserted, hal::Time now) override;
  unsigned baud() const override { return model_.baud; }
  hal::Duration clock_period() const override;
  void falsify(ByteVector& frame, Random& random) const override;

 private:
  void boot(hal::Time now);
  void handle(const Request& request, hal::Time now, Output& out);
  void scan(const Mode& mode, bool forced, hal::Time now, Output& out);
  void express(const Request& request, hal::Time now, Output& out);
  void start(const Mode& mode, bool forced, bool first, hal::Time now);
  void stop(hal::Time now);
  void turn(double rpm, hal::Time now);
  void begin_sweep(hal::Time at);
  void emit_packet(Output& out);
  hal::Time packet_due() const;
  ByteVector banner_text() const;

  const Model& model_;
  DeviceClock& clock_;
  Identity identity_;
  const bool streaming_at_first_;
  const std::string banner_;
  const Spoil spoil_;
  Random random_;
  RequestParser parser_;

  bool powered_before_ = false;
  hal::Time banner_at_ = kNever, ready_at_ = kNever;  // kNever: done

  Rotor rotor_;
  double wanted_deg_per_s_ = 0.0;  // the rotor's speed from the next packet on
  const Mode* mode_ = nullptr;     // what is streamed; nullptr = idle
  bool forced_ = false;            // samples though the motor stands
  bool first_ = false;             // no packet has been sent since the start
  std::optional<Sampler> sampler_;
  double carry_ns_ = 0.0;       // part of a nanosecond by which the next packet is later
  std::optional<Sweep> sweep_;  // the packet in the making; none while the motor stands
};

Motor motor_of(const std::string& word, const Model& model) {
  if (word == "dtr") return Motor::dtr;
  if (word == "pwm") return Motor::pwm;
  return word == "rpm" ? Motor::rpm : model.motor;
}

Rplidar::Rplidar(const ModelInputs& in)
    : model_(find_model(in.settings.word("model"))),
      clock_(in.clock),
      identity_(make_identity(model_, motor_of(in.settings.word("motor"), model_), in.seed)),
      streaming_at_first_(in.settings.on("streaming")),
      banner_(in.settings.word("banner")),
      spoil_{in.settings.number("zeros") / 100.0, in.settings.number("backwards") / 100.0},
      random_(in.seed) {
  const double option = in.settings.number("rpm");
  const double rpm = in.rate_hz > 0.0 ? 60.0 * in.rate_hz : (option > 0.0 ? option : model_.rpm);
  identity_.rpm = static_cast<std::uint16_t>(std::lround(std::min(rpm, 65535.0)));
  identity_.health = static_cast<std::uint8_t>(in.settings.number("health"));
  identity_.health_code = static_cast<std::uint16_t>(in.settings.number("health_code"));
}

void Rplidar::power_up(hal::Time now, Output&) {
  rotor_ = Rotor{0.0, 0.0, now};
  mode_ = nullptr;
  sweep_.reset();
  const bool found_streaming = streaming_at_first_ && !powered_before_;
  if (powered_before_ || banner_ == "on") boot(now);
  powered_before_ = true;
  // The accessory board of a PWM motor waits for its first command; the others turn by themselves.
  turn(identity_.motor == Motor::pwm && !found_streaming ? 0.0 : identity_.rpm, now);
  if (found_streaming) start(model_.modes[model_.typical], false, false, now);
}

void Rplidar::boot(hal::Time now) {
  stop(now);
  parser_.clear();
  const bool prints = banner_ == "on" || (banner_ == "auto" && model_.banner());
  banner_at_ = prints ? now + kBootToBanner : kNever;
  ready_at_ = now + kBootToBanner + kBannerToReady;
}

void Rplidar::receive(Channel, hal::Bytes bytes, hal::Time now, Output& out) {
  if (ready_at_ != kNever) return;
  parser_.feed(bytes);
  Request request;
  while (ready_at_ == kNever && parser_.next(request)) handle(request, now, out);
}

void Rplidar::handle(const Request& request, hal::Time now, Output& out) {
  switch (request.command) {
    case Command::stop:
      return stop(now);
    case Command::reset:
      identity_.health = 0;
      identity_.health_code = 0;
      return boot(now);
    case Command::scan:
    case Command::force_scan:
      return scan(model_.modes.front(), request.command == Command::force_scan, now, out);
    case Command::express_scan:
      return express(request, now, out);
    case Command::rpm: {
      if (identity_.motor != Motor::rpm || request.payload.size() < 2) return;
      const std::uint32_t rpm = request.field(0, 2);
      return turn(
          rpm == 0 ? 0 : std::clamp<std::uint32_t>(rpm, identity_.min_rpm(), identity_.max_rpm()),
          now);
    }
    case Command::pwm:
      if (identity_.motor != Motor::pwm || request.payload.size() < 2) return;
      return turn(identity_.rpm * std::min(request.field(0, 2), 1023U) / kDefaultPwm, now);
    case Command::info:
    case Command::health:
    case Command::sample_rate:
    case Command::unnamed_79:
    case Command::get_conf:
    case Command::set_conf:
    case Command::new_baud:
    case Command::board_flag:
      break;
  }
  // Until STOP the line carries packets and nothing between them: other questions get no answer.
  if (mode_ != nullptr) return;
  ByteVector answer = reply(identity_, request);
  if (!answer.empty()) out.send(now, std::move(answer));
}

void Rplidar::express(const Request& request, hal::Time now, Output& out) {
  if (request.payload.size() < 5) return;
  const std::uint32_t id = request.field(0, 1);
  if (id >= model_.modes.size()) return;
  scan(id == 0 ? model_.express() : model_.modes[id], false, now, out);
}

void Rplidar::scan(const Mode& mode, bool forced, hal::Time now, Output& out) {
  if (identity_.health == 2 && !forced) return;
  out.send(now,
           descriptor(packet_bytes(mode.answer), true, static_cast<std::uint8_t>(mode.answer)));
  start(mode, forced, true, now);
}

void Rplidar::start(const Mode& mode, bool forced, bool first, hal::Time now) {
  mode_ = &mode;
  forced_ = forced;
  first_ = first;
  sampler_.emplace(mode.answer, model_.baud == 0 ? kNodesPerDatagram : 1, spoil_, random_.next());
  begin_sweep(now);
}

void Rplidar::stop(hal::Time now) {
  mode_ = nullptr;
  sweep_.reset();
  rotor_.run_to(now);
  rotor_.deg_per_s = wanted_deg_per_s_;
}

void Rplidar::turn(double rpm, hal::Time now) {
  wanted_deg_per_s_ = rpm * 6.0 * kMotor;
  if (sweep_) return;
  rotor_.run_to(now);
  rotor_.deg_per_s = wanted_deg_per_s_;
  if (mode_ != nullptr) begin_sweep(now);
}

void Rplidar::set_dtr(bool asserted, hal::Time now) {
  if (identity_.motor == Motor::dtr) turn(asserted ? 0.0 : identity_.rpm, now);
}

// Speed changes between packets only: a packet in the making was computed for one speed.
void Rplidar::begin_sweep(hal::Time at) {
  sweep_.reset();
  rotor_.run_to(at);
  rotor_.deg_per_s = wanted_deg_per_s_;
  if (rotor_.deg_per_s == 0.0 && !forced_) return;
  const auto samples = static_cast<double>(sampler_->samples());
  const double exact_ns = clock_.true_ns(samples * mode_->sample_q8 * 1000.0 / 256.0) + carry_ns_;
  const hal::Duration length(static_cast<std::int64_t>(exact_ns));
  carry_ns_ = exact_ns - static_cast<double>(length.count());
  sweep_ = Sweep{at, length, rotor_.deg, rotor_.ahead(length), first_, 0};
}

hal::Time Rplidar::packet_due() const {
  if (!sweep_) return kNever;
  const auto samples = static_cast<std::int64_t>(sampler_->samples());
  return sweep_->at + hal::Duration(sweep_->length.count() * (samples - 1) / samples);
}

void Rplidar::emit_packet(Output& out) {
  const hal::Time due = packet_due();
  const std::int64_t stamp = clock_.stamp(sweep_->at);
  const bool stamped =
      sampler_->answer() == Answer::ultra_dense || sampler_->answer() == Answer::hq;
  sweep_->device_us = static_cast<std::uint64_t>(stamp) / 1000;
  ScanTruth truth;
  truth.device_ns = stamped ? static_cast<std::int64_t>(sweep_->device_us * 1000) : stamp;
  out.send(due, sampler_->packet(*sweep_, truth.beams));
  out.scans.push_back(std::move(truth));
  first_ = false;
  begin_sweep(sweep_->at + sweep_->length);
}

hal::Time Rplidar::advance(hal::Time now, Output& out) {
  if (banner_at_ <= now) {
    out.send(banner_at_, banner_text());
    banner_at_ = kNever;
  }
  if (ready_at_ <= now) ready_at_ = kNever;
  while (packet_due() <= now) emit_packet(out);
  return std::min({banner_at_, ready_at_, packet_due()});
}

ByteVector Rplidar::banner_text() const {
  const auto text = hal::Text<96>::of(
      "RP LIDAR System.\r\nFirmware Ver %u.%02u - rtm, HW Ver %u\r\nModel: %02X\r\n",
      model_.firmware_major, model_.firmware_minor, model_.hardware, model_.model);
  ByteVector out;
  put_text(out, text.view());
  return out;
}

hal::Duration Rplidar::clock_period() const {
  const bool counts_32_bits =
      std::any_of(model_.modes.begin(), model_.modes.end(),
                  [](const Mode& mode) { return mode.answer == Answer::ultra_dense; });
  return counts_32_bits ? hal::Duration(1000LL << 32) : hal::Duration::zero();
}

void Rplidar::falsify(ByteVector& frame, Random& random) const {
  if (mode_ != nullptr) falsify_packet(mode_->answer, frame, random);
}

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  if (inputs.rate_hz * 60.0 > kFastestRpm) {
    hal::Error error{hal::Errc::bad_config, 0, "simulate: --rate", {}};
    error.detail.print("%g turns/s: no RPLIDAR turns faster than %g", inputs.rate_hz,
                       kFastestRpm / 60.0);
    return error;
  }
  return std::unique_ptr<DeviceModel>(std::make_unique<Rplidar>(inputs));
}

}  // namespace sim::rplidar
