#include "test/sim/sick_safety.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "test/sim/lidar_parts.h"
#include "test/sim/sick_safety_cola.h"
#include "test/sim/sick_safety_payload.h"
#include "test/sim/sick_safety_settings.h"
#include "test/sim/wire.h"

namespace sim::sick_safety {
namespace {

constexpr std::size_t kChannels = 4;
constexpr std::int64_t kMillisecond = 1'000'000, kDayMs = 86'400'000;
constexpr unsigned kFindMe = 14, kChangeSettings = 0xB0;

constexpr OptionRow kOptions[] = {
    choice("model", "microScan3", kModelNames, "device played: field, beams, speed"),
    choice("preset", "auto", "auto|on|off",
           "streams from power-up as set in the engineering tool; auto = when --to is given"),
    number("channels", "1", 1, kChannels, "channels that are preset"),
    number("features", "31", 0, 31,
           "blocks of preset channels: 1 general, 2 derived, 4 measurement, 8 intrusion, 16 "
           "application"),
    number("divider", "1", 1, 1000, "preset channels publish every so-manieth scan"),
    number("factor", "1", 1, 100, "mm of one unit of distance"),
    number("fragment", "1436", 64, 1436, "bytes of payload in a datagram"),
    number("date", "0", 0, 65535, "days since 1972; 0 = no clock set, ms since power-on"),
    number("day_ms", "0", 0, 86399999, "with a date: ms of the day at power-up"),
    choice("wrap", "counter", "counter|day",
           "without a date the ms start anew after 2^32, or after a day"),
    choice("stamp", "start", "start|end", "instant of a scan's stamp: its first beam or its last"),
    number("sessions", "4", 0, 4, "CoLa2 sessions at a time; 0 refuses all"),
    choice("settings", "taken", "taken|denied|busy|ignored",
           "answer to new settings; ignored = says yes and changes nothing"),
    choice("strict", "off", "off|on", "refuses settings for another interface than its own"),
    choice("fault", "none", "none|application|device", "error told in the general state"),
    number("glare", "0", 0, 100, "percent of beams that are blinded"),
    number("contaminated", "0", 0, 100, "percent of beams that see dirt"),
    choice("foreign", "off", "off|on", "a datagram of another protocol behind each scan"),
};

class Scanner final : public DeviceModel {
 public:
  explicit Scanner(const ModelInputs& in, int scan_ms)
      : model_(find_model(in.settings.word("model"))),
        clock_(in.clock),
        settings_(in.settings),
        grid_(model_, scan_ms),
        is_preset_(settings_.word("preset") == "auto" ? in.streams_unasked
                                                      : settings_.on("preset")),
        condition_{settings_.number("glare") / 100.0, settings_.number("contaminated") / 100.0,
                   settings_.word("fault") == "application", settings_.word("fault") == "device"},
        factor_(static_cast<unsigned>(settings_.number("factor"))),
        random_(in.seed),
        sessions_(static_cast<std::size_t>(settings_.number("sessions"))) {}

  void power_up(hal::Time now, Output&) override {
    reader_.clear();
    sessions_.clear();
    scan_ = 0;
    identification_ = 0;
    beams_ = {};
    for (std::size_t i = 0; i < kChannels; ++i) channels_[i] = as_preset(i, now);
    turn_ns_ = turn_ns();
    turns_.start(now, turn_ns_);
  }

  void receive(Channel, hal::Bytes bytes, hal::Time now, Output& out) override {
    reader_.feed(bytes);
    while (const auto request = reader_.next())
      out.send(now, answer(*request, now), {.channel = Channel::control});
  }

  hal::Time advance(hal::Time now, Output& out) override {
    while (scan_end() <= now) complete_scan(out);
    return scan_end();
  }

  unsigned baud() const override { return 0; }
  hal::Duration clock_period() const override {
    if (has_date()) return hal::Duration::zero();
    return hal::Duration(period_ms() * kMillisecond);
  }
  void falsify(ByteVector& frame, Random& random) const override {
    falsify_fragment(frame, beams_, random);
  }

 private:
  struct Port {
    ChannelSettings settings;
    hal::Time since{};
    std::uint32_t sequence = 0;
    ByteVector latest;  // the payload sent last
  };

  Port as_preset(std::size_t channel, hal::Time now) const {
    Port port;
    port.since = now;
    port.settings.interface_type = model_.interface_type;
    if (!is_preset_ || static_cast<double>(channel) >= settings_.number("channels")) return port;
    port.settings.enabled = true;
    port.settings.divider = static_cast<std::uint16_t>(settings_.number("divider"));
    port.settings.features = static_cast<std::uint16_t>(settings_.number("features"));
    return port;
  }

  bool has_date() const { return settings_.number("date") > 0.0; }
  std::int64_t period_ms() const {
    return settings_.word("wrap") == "day" ? kDayMs : std::int64_t{1} << 32;
  }
  double turn_ns() const { return clock_.true_ns(grid_.scan_ms * 1e6); }
  hal::Time beam_at(int beam) const {
    const double turns = beam * (grid_.step / kUnitsPerDegree) / 360.0;
    return turns_.at(0) + hal::Duration(std::llround(turns * turn_ns_));
  }
  hal::Time scan_end() const { return beam_at(grid_.beams - 1); }

  void complete_scan(Output& out) {
    ++scan_;
    const hal::Time end = scan_end();
    const std::int64_t stamp =
        clock_.stamp(settings_.word("stamp") == "end" ? end : turns_.at(0)) / kMillisecond;
    for (std::size_t i = 0; i < kChannels; ++i) {
      const Port& port = channels_[i];
      if (port.settings.enabled && port.since <= turns_.at(0) && scan_ % port.settings.divider == 0)
        publish(static_cast<std::uint8_t>(i), stamp, end, out);
    }
    turn_ns_ = turn_ns();
    turns_.pass(1, turn_ns_);
  }

  void publish(std::uint8_t channel, std::int64_t stamp_ms, hal::Time at, Output& out) {
    Port& port = channels_[channel];
    ScanTruth truth;
    std::vector<Beam> beams;
    const int first = grid_.from(port.settings);
    for (int beam = first; beam < grid_.to(port.settings); ++beam) {
      TrueBeam seen{beam_at(beam), radians(grid_.angle_deg(beam) - kFrontDeg)};
      beams.push_back(look(seen, model_, factor_, condition_, random_));
      truth.beams.push_back(seen);
    }
    Numbers numbers{channel, model_.serial, ++port.sequence, scan_, 0, 0};
    std::int64_t told_ms = stamp_ms;
    if (has_date()) {
      told_ms += static_cast<std::int64_t>(settings_.number("date")) * kDayMs +
                 static_cast<std::int64_t>(settings_.number("day_ms"));
      numbers.date = static_cast<std::uint16_t>(told_ms / kDayMs);
    }
    numbers.ms = static_cast<std::uint32_t>(has_date() ? told_ms % kDayMs : told_ms % period_ms());
    truth.device_ns = told_ms * kMillisecond;
    port.latest = payload(numbers, port.settings, grid_, first, beams, factor_, condition_);
    beams_ = beams_in(port.latest);
    const auto bytes = static_cast<std::size_t>(settings_.number("fragment"));
    for (ByteVector& datagram : fragments(port.latest, ++identification_, bytes))
      out.send(at, std::move(datagram), {.channel = Channel::data, .to = port.settings.to});
    if (settings_.on("foreign")) {
      ByteVector foreign;
      put_text(foreign, "Lidar-LOC 1.0");
      out.send(at, std::move(foreign), {.channel = Channel::data, .to = port.settings.to});
    }
    if ((port.settings.features & kMeasurement) != 0) out.scans.push_back(std::move(truth));
  }

  ByteVector answer(const Request& request, hal::Time now) {
    const std::string letters{request.command, request.mode};
    if (letters == "OX" || letters == "Ox") return open_session(request, now);
    if (!sessions_.use(request.session, now)) return refusal(request, Refusal::unknown_session);
    if (letters == "CX" || letters == "Cx") {
      sessions_.close(request.session);
      return reply(request, request.session, "CA");
    }
    if (letters == "RI" && request.body.size() >= 2) return read(request);
    if (letters == "MI" && request.body.size() >= 2) return call(request, now);
    return refusal(request, Refusal::unknown_method);
  }

  ByteVector open_session(const Request& request, hal::Time now) {
    const unsigned seconds = request.body.empty() ? 0U : u8_at(request.body, 0);
    const auto id = sessions_.open(std::chrono::seconds(seconds), now);
    if (!id) return refusal(request, Refusal::no_free_session);
    return reply(request, *id, "OA");
  }

  ByteVector read(const Request& request) {
    const auto index = static_cast<unsigned>(get_le(request.body, 0, 2));
    ByteVector body;
    put_le(body, index, 2);
    if (!put_variable(body, index)) return refusal(request, Refusal::unknown_variable);
    return reply(request, request.session, "RA", body);
  }

  bool put_variable(ByteVector& to, unsigned index) const {
    const auto text = [&to](std::string_view words) {
      put_le(to, words.size(), 2);
      put_text(to, words);
      return true;
    };
    switch (index) {
      case 3:
        return text(std::to_string(model_.serial));
      case 4:
        return text(model_.firmware);
      case 13:
        return text(model_.type_code);
      case 14:
        return text(model_.order_number);
      case 15:  // device status: 0, or an error
        return put8(to, settings_.word("fault") == "none" ? 0 : 1), true;
      case 16:
        return put_le(to, 0, 2), true;
      case 17:
        return text("simulated scanner");
      case 18:
        return text("simulated project");
      case 33:
        return text("simulated application");
      case 35:
        return text("lidarctl");
      case 177:
        return put_persistent(to, as_preset(0, {}).settings), true;
      case 178:
        return put_current(to, channels_[0].settings, grid_, factor_), true;
      case 179:
      case 180:
      case 181:
      case 182: {
        const ByteVector& latest = channels_[index - 179].latest;
        to.insert(to.end(), latest.begin(), latest.end());
        return true;
      }
      default:
        return false;
    }
  }

  ByteVector call(const Request& request, hal::Time now) {
    const auto index = static_cast<unsigned>(get_le(request.body, 0, 2));
    if (index == kChangeSettings) {
      if (const auto refused = change_settings(hal::Bytes(request.body).subspan(2), now))
        return refusal(request, *refused);
    } else if (index != kFindMe) {
      return refusal(request, Refusal::unknown_method);
    }
    ByteVector body;
    put_le(body, index, 2);
    return reply(request, request.session, "AI", body);
  }

  std::optional<Refusal> change_settings(hal::Bytes given, hal::Time now) {
    const std::string& obedience = settings_.word("settings");
    if (obedience == "denied") return Refusal::access_denied;
    if (obedience == "busy") return Refusal::busy;
    const auto wanted = parse_settings(given);
    if (!wanted || wanted->channel >= kChannels) return Refusal::local_condition;
    if (settings_.on("strict") && wanted->settings.interface_type != model_.interface_type)
      return Refusal::local_condition;
    if (obedience == "ignored") return std::nullopt;
    channels_[wanted->channel].settings = wanted->settings;
    channels_[wanted->channel].since = now;
    return std::nullopt;
  }

  const Model& model_;
  DeviceClock& clock_;
  const Settings settings_;
  const Grid grid_;
  const bool is_preset_;
  const Condition condition_;
  const unsigned factor_;  // mm
  Random random_;

  RequestReader reader_;
  Sessions sessions_;
  std::array<Port, kChannels> channels_;
  Pace turns_;
  double turn_ns_ = 0.0;  // of the turn in the making
  std::uint32_t scan_ = 0, identification_ = 0;
  Extent beams_;  // of the payload sent last
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const Model& model = find_model(inputs.settings.word("model"));
  const hal::Result<double> rate = turns_per_s(inputs, 1000.0 / model.scan_ms, 5.0, 100.0);
  if (!rate) return rate.error();
  // A turn takes whole milliseconds, as the derived values tell them.
  const int scan_ms = static_cast<int>(std::lround(1000.0 / *rate));
  return std::unique_ptr<DeviceModel>(std::make_unique<Scanner>(inputs, scan_ms));
}

}  // namespace sim::sick_safety
