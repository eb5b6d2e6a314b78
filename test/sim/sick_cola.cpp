#include "test/sim/sick_cola.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "test/sim/cola_session.h"
#include "test/sim/lidar_parts.h"
#include "test/sim/sick_cola_settings.h"

namespace sim::sick_cola {
namespace {

using namespace std::chrono_literals;
using cola::Dialect;
using cola::Request;
using cola::Telegram;

constexpr hal::Duration kThinks = 1ms;  // real devices answer within 1 to 14 ms
constexpr hal::Duration kReboots = 2s;
constexpr std::array<double, 4> kLayersDeg = {2.5, 0.0, -2.5, -5.0};
constexpr int kTurnsPerFieldEvent = 5;

constexpr OptionRow kOptions[] = {
    choice("model", "TiM561", kModelNames, "device played: field of view, speed, what it knows"),
    choice("dialect", "both", "both|a|b",
           "CoLa A or B alone meets the other with silence until EIHstCola; both answers in kind"),
    choice("stamp", "start", "start|end", "instant of the time since power-up: first or last beam"),
    choice("refuse", "none", "none|login|content|range|filter|start|events",
           "what it refuses: the password, a setting (sFA 4), the start, the subscription (sFA F)"),
    choice("chatter", "off", "off|on",
           "events between request and answer, answers twice, field events between scans"),
    choice("unknown_channel", "off", "off|on", "a channel that no host knows, of another length"),
    number("scale", "1", 0.1, 100.0, "mm to a step of the ranges (LMS5xx at long range: 2)"),
    choice("streaming", "off", "off|on", "sends scans from the start, as to a host that was there"),
    number("busy_s", "-1", -1.0, 60.0, "from Run until it is ready; -1 = as the model does"),
};

class Scanner final : public DeviceModel {
 public:
  Scanner(const Model& model, double rate_hz, const ModelInputs& in)
      : model_(model),
        clock_(in.clock),
        random_(in.seed),
        stamps_end_(in.settings.word("stamp") == "end"),
        refuse_(in.settings.word("refuse")),
        chatters_(in.settings.on("chatter")),
        found_streaming_(in.settings.on("streaming")),
        session_(cola::spoken_of(in.settings.word("dialect")), identity(model)) {
    stored_ = delivered(model, rate_hz);
    look_.scale = in.settings.number("scale");
    look_.unknown_channel = in.settings.on("unknown_channel");
    const double busy_s = in.settings.number("busy_s");
    busy_ = hal::from_seconds(busy_s < 0.0 ? model.busy_s : busy_s);
    session_.refuse_login(refuse_ == "login");
  }

  void power_up(hal::Time now, Output&) override {
    session_.restart();
    wanted_ = stored_;
    active_ = stored_;
    measures_ = true;
    subscribed_ = found_streaming_;
    input_events_ = output_events_ = field_events_ = false;
    deaf_until_ = ready_at_ = now;
    turns_ = telegrams_ = 0;
    turn_first_ = now;
    part_ns_ = 0.0;
    latest_.reset();
  }

  void receive(Channel, hal::Bytes bytes, hal::Time now, Output& out) override {
    if (now < deaf_until_) return;
    session_.feed(bytes);
    while (std::optional<Request> request = session_.next()) {
      if (chatters_) out.send(now, state_event("sSN LIDoutputstate", request->dialect, now));
      ByteVector reply = answer(*request, now, out);
      const bool hangs_up = now < deaf_until_;
      out.send(now + kThinks, std::move(reply), {.hangs_up = hangs_up});
      if (chatters_)
        out.send(now + kThinks, state_event("sRA LIDinputstate", request->dialect, now));
      if (hangs_up) return;
    }
  }

  hal::Time advance(hal::Time now, Output& out) override {
    while (last_beam() <= now) complete_turn(out);
    return last_beam();
  }

  unsigned baud() const override { return 0; }
  hal::Duration clock_period() const override { return hal::Duration(1000LL << 32); }
  void falsify(ByteVector& frame, Random& random) const override { falsify_scan(frame, random); }

 private:
  static cola::Identity identity(const Model& model) {
    const auto serial = hal::Text<16>::of("%u", model.serial);
    cola::Identity identity;
    identity.name = model.identity;
    identity.version = model.firmware;
    identity.serial = serial.c_str();
    identity.location = std::string("SN ") + serial.c_str();
    identity.client_hash = model.client_hash;
    return identity;
  }

  ByteVector answer(Request& request, hal::Time now, Output& out) {
    if (std::optional<ByteVector> reply = session_.answer(request)) {
      if (request.name == "EIHstCola" && session_.chosen()) stream_dialect_ = *session_.chosen();
      return *reply;
    }
    if (request.kind == "sRN") return read(request, now, out);
    if (request.kind == "sWN") return write(request);
    if (request.kind == "sMN") return call(request, now);
    if (request.kind == "sEN") return subscribe(request);
    return cola::refusal(request.dialect, cola::kUnknownCommand);
  }

  ByteVector read(const Request& request, hal::Time now, Output& out) {
    const std::string& name = request.name;
    Telegram reply(request.dialect, "sRA " + name);
    if (name == "SCdevicestate") return reply.u8(is_ready(now) ? 1 : 0).frame();
    if (name == "LMDscandatacfg") return put_content(reply, wanted_), reply.frame();
    if (name == "LMPoutputRange") return put_output_range(reply, wanted_), reply.frame();
    if (name == "LIDinputstate") return state_event("sRA LIDinputstate", request.dialect, now);
    if (name == "LMDscandata") return one_scan(request.dialect, out);
    if (name.starts_with("field")) return reply.u8(0).frame();  // no field is defined
    if (name == "FREchoFilter" && model_.echoes > 1)
      return reply.u8(static_cast<std::uint64_t>(wanted_.filter)).frame();
    if (name == "LMPscancfg" && model_.sets_scan) return put_scan(reply, wanted_), reply.frame();
    if (name == "STlms" && model_.sets_scan)
      return reply.u16(measures_ ? 7 : 3)
          .u8(0)
          .text("00:00:00")
          .text("01.01.1970")
          .u16(0)
          .u16(0)
          .u16(0)
          .frame();
    return cola::refusal(request.dialect, cola::kUnknownVariable);
  }

  ByteVector write(Request& request) {
    const std::string& name = request.name;
    const bool range = name == "LMPoutputRange", content = name == "LMDscandatacfg",
               filter = name == "FREchoFilter" && model_.echoes > 1;
    unsigned code = 0;
    if (!range && !content && !filter)
      code = cola::kUnknownVariable;
    else if (session_.level() < 3)
      code = cola::kWriteDenied;
    else if ((range && refuse_ == "range") || (content && refuse_ == "content") ||
             (filter && refuse_ == "filter"))
      code = cola::kOutOfRange;
    else if (range)
      code = write_output_range(model_, request.arguments, wanted_);
    else if (content)
      code = write_content(request.arguments, wanted_);
    else
      code = write_echo_filter(model_, request.arguments, wanted_);
    if (code != 0) return cola::refusal(request.dialect, code);
    return Telegram(request.dialect, "sWA " + name).frame();
  }

  ByteVector call(Request& request, hal::Time now) {
    const std::string& name = request.name;
    Telegram reply(request.dialect, "sAN " + name);
    if (name == "Run") {
      session_.log_out();
      take_settings(now);
      return reply.u8(1).frame();
    }
    const bool known = name == "LMCstartmeas" || name == "LMCstopmeas" || name == "mEEwriteall" ||
                       name == "mSCreboot" || (name == "mLMPsetscancfg" && model_.sets_scan);
    if (!known) return cola::refusal(request.dialect, cola::kUnknownMethod);
    if (session_.level() < 3) return cola::refusal(request.dialect, cola::kMethodDenied);
    if (name == "mLMPsetscancfg") {
      reply.u8(set_scan(model_, request.arguments, wanted_));
      return put_scan(reply, wanted_), reply.frame();
    }
    if (name == "mEEwriteall") {
      stored_ = wanted_;
      return reply.u8(1).frame();
    }
    if (name == "mSCreboot") {
      reboot(now);
      return reply.frame();
    }
    const bool starts = name == "LMCstartmeas";
    if (starts && refuse_ == "start") return reply.u8(1).frame();
    if (starts && !measures_) turn_first_ = now;
    measures_ = starts;
    return reply.u8(0).frame();
  }

  ByteVector subscribe(Request& request) {
    const std::string& name = request.name;
    const std::uint64_t on = request.arguments.unsigned_value(1);
    if (!request.arguments.good()) return cola::refusal(request.dialect, cola::kInvalidData);
    bool* const flag = name == "LMDscandata"      ? &subscribed_
                       : name == "LFErec"         ? &field_events_
                       : name == "LIDinputstate"  ? &input_events_
                       : name == "LIDoutputstate" ? &output_events_
                                                  : nullptr;
    if (flag == nullptr || (flag == &subscribed_ && refuse_ == "events"))
      return cola::refusal(request.dialect, cola::kUnknownEvent);
    *flag = on != 0;
    stream_dialect_ = request.dialect;
    return Telegram(request.dialect, "sEA " + name).u8(on).frame();
  }

  // Settings hold from Run on, which begins a new turn where the speed is another.
  void take_settings(hal::Time now) {
    if (busy_ > hal::Duration::zero()) ready_at_ = now + busy_;
    const bool same_pace = active_.pace.hz == wanted_.pace.hz &&
                           active_.pace.steps_per_turn == wanted_.pace.steps_per_turn;
    active_ = wanted_;
    if (same_pace && sector_end(turn_first_) > now) return;
    turn_first_ = now;
    part_ns_ = 0.0;
  }

  void reboot(hal::Time now) {
    clock_.restart(now);
    Output nothing;
    power_up(now, nothing);
    deaf_until_ = turn_first_ = now + kReboots;
  }

  bool is_ready(hal::Time now) const {
    return now >= ready_at_ && (!model_.says_busy || subscribed_);
  }

  double period_ns() const { return clock_.true_ns(1e9 / active_.pace.hz); }
  double beam_ns() const { return period_ns() / active_.pace.steps_per_turn; }
  hal::Time beam_at(hal::Time turn, int beam) const {
    return turn + hal::Duration(static_cast<std::int64_t>(beam * beam_ns()));
  }
  hal::Time sector_end(hal::Time turn) const { return beam_at(turn, active_.sector(model_).last); }
  hal::Time last_beam() const { return measures_ ? sector_end(turn_first_) : kNever; }

  void complete_turn(Output& out) {
    const hal::Time now = last_beam();
    Scan scan;
    scan.sector = active_.sector(model_);
    scan.first = beam_at(turn_first_, scan.sector.first);
    scan.beam_ns = beam_ns();
    scan.hz = active_.pace.hz;
    scan.layer_deg = model_.layers ? kLayersDeg[turns_ % kLayersDeg.size()] : 0.0;
    scan.scan_count = static_cast<std::uint16_t>(turns_++);
    const hal::Duration lag =
        hal::from_seconds(random_.uniform(model_.lag_least_us, model_.lag_most_us) * 1e-6);
    scan.device_us = clock_.stamp(stamps_end_ ? now : scan.first) / 1000;
    scan.transmit_us = clock_.stamp(now + lag) / 1000;
    const double exact = period_ns() + part_ns_;
    turn_first_ += hal::Duration(static_cast<std::int64_t>(exact));
    part_ns_ = exact - static_cast<double>(static_cast<std::int64_t>(exact));
    latest_ = scan;
    if (now < ready_at_ || !subscribed_) return;
    send_events(scan, now + lag, out);
    if (turns_ % active_.content.interval == 0)
      out.send(now + lag, scan_bytes("sSN LMDscandata", stream_dialect_, out));
  }

  ByteVector scan_bytes(std::string_view head, Dialect dialect, Output& out) {
    latest_->telegram_count = static_cast<std::uint16_t>(telegrams_++);
    look_.content = active_.content;
    look_.filter = active_.filter;
    ScanTruth truth{latest_->device_us * 1000, {}};
    ByteVector bytes = scan_telegram(model_, *latest_, look_, dialect, head,
                                     session_.identity().location, truth.beams);
    out.scans.push_back(std::move(truth));
    return bytes;
  }

  ByteVector one_scan(Dialect dialect, Output& out) {
    if (!latest_ || !measures_) return cola::refusal(dialect, cola::kOutOfRange);
    return scan_bytes("sRA LMDscandata", dialect, out);
  }

  void send_events(const Scan& scan, hal::Time at, Output& out) {
    if (scan.scan_count % kTurnsPerFieldEvent != 0) return;
    if (field_events_ || chatters_) {
      Telegram event(stream_dialect_, "sSN LFErec");
      event.u16(1).u8(1).u32(static_cast<std::uint32_t>(scan.device_us)).f32(1.0).f32(0.0);
      event.u32(active_.step()).i32(active_.start).u8(2);
      out.send(at, event.frame());
    }
    if (output_events_) out.send(at, state_event("sSN LIDoutputstate", stream_dialect_, at));
    if (input_events_) out.send(at, state_event("sSN LIDinputstate", stream_dialect_, at));
  }

  // As an LMS511 sent the state of its inputs: version, time since power-up, states, date.
  ByteVector state_event(const char* head, Dialect dialect, hal::Time now) {
    const auto ms = static_cast<std::uint32_t>(clock_.stamp(now) / 1'000'000);
    Telegram event(dialect, head);
    event.u16(0).u32(ms).u8(0).u8(0).u8(0).u8(0).u8(0).u8(1);
    event.u16(1970).u8(1).u8(1).u8(0).u8(0).u8(2).u32(498'000);
    return event.frame();
  }

  const Model& model_;
  DeviceClock& clock_;
  Random random_;
  const bool stamps_end_;
  const std::string refuse_;
  const bool chatters_, found_streaming_;
  hal::Duration busy_{};
  cola::Session session_;
  Look look_;

  Config stored_, wanted_, active_;  // kept over loss of power; as written; since the last Run
  bool measures_ = true;
  bool subscribed_ = false, input_events_ = false, output_events_ = false, field_events_ = false;
  Dialect stream_dialect_ = Dialect::binary;
  hal::Time deaf_until_{}, ready_at_{};

  hal::Time turn_first_{};  // the head at the field's start
  double part_ns_ = 0.0;    // of a nanosecond, by which the next turn is later
  std::uint64_t turns_ = 0, telegrams_ = 0;
  std::optional<Scan> latest_;
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const Model& model = find_model(inputs.settings.word("model"));
  hal::Result<double> rate = turns_per_s(inputs, model.paces.front().hz, 1.0, 100.0);
  if (!rate) return rate.error();
  return std::unique_ptr<DeviceModel>(std::make_unique<Scanner>(model, *rate, inputs));
}

}  // namespace sim::sick_cola
