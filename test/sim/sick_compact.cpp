#include "test/sim/sick_compact.h"

#include <algorithm>
#include <cmath>

#include "hal/crc32.h"
#include "test/sim/cola_session.h"
#include "test/sim/lidar_parts.h"
#include "test/sim/sick_compact_settings.h"
#include "test/sim/sick_compact_telegram.h"
#include "test/sim/wire.h"

namespace sim::sick_compact {
namespace {

using cola::Request;
using cola::Telegram;
using namespace std::chrono_literals;

constexpr hal::Duration kThinks = 1ms;
constexpr double kLagLeast_us = 1280.0, kLagMost_us = 2780.0;  // from the last beam to sending
constexpr double kEnds = 1e-6;                                 // deg, of comparisons

constexpr OptionRow kOptions[] = {
    choice("model", "picoScan150", kModelNames, "device played: field, speed, layers"),
    choice("preset", "auto", "auto|on|off",
           "sends scans from power-up, as was stored in it; auto = when --to is given"),
    choice("imu", "auto", "auto|on|off", "whether it has one; auto = as the model does"),
    number("imu_hz", "100", 1, 1000, "samples per second of its IMU"),
    kMotionOption,
    number("version", "4", 3, 4, "of the telegrams"),
    number("scale", "1", 0.1, 100.0, "mm of one unit of distance, from version 4 on"),
    choice("content", "all", "all|distance|no_azimuth",
           "all; distances alone; or all but azimuths and properties"),
    number("unix_s", "0", 0, 4e9, "synchronised: Unix time at power-up; 0 = not synchronised"),
    choice("dialect", "both", "both|a|b", "CoLa A or B alone, or both"),
    choice("refuse", "none", "none|login|destination|enable|format|start",
           "what it refuses: the password, or a setting with sFA 4"),
    choice("settings", "taken", "taken|ignored", "ignored = says yes and changes nothing"),
};

Layout layout_of(const Settings& settings) {
  Layout layout;
  layout.version = static_cast<unsigned>(settings.number("version"));
  if (layout.version >= 4) layout.scale = settings.number("scale");
  const std::string& content = settings.word("content");
  layout.rssi = content != "distance";
  layout.property = layout.azimuth = content == "all";
  return layout;
}

// Some directions have further walls behind the first.
Seen look(double angle, double elevation_deg, EchoFilter filter) {
  Seen seen;
  const double near = Room::range(angle) / std::cos(radians(elevation_deg));
  if (near == 0.0) return seen;
  const double deg = degrees(angle);
  std::size_t n = 0;
  for (const double behind : {0.0, 0.5, 1.0}) {
    if (behind > 0.0 && (deg < 20.0 + 20.0 * (behind - 0.5) || deg > 40.0)) break;
    seen.ranges[n++] = near + behind;
  }
  if (filter == EchoFilter::last) seen.ranges[0] = seen.ranges[n - 1];
  if (filter != EchoFilter::all) n = 1;
  for (std::size_t i = n; i < Seen::kMostEchoes; ++i) seen.ranges[i] = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    seen.strengths[i] = static_cast<std::uint16_t>(strength(seen.ranges[i], 60'000.0));
  }
  return seen;
}

class Scanner final : public DeviceModel {
 public:
  Scanner(const ModelInputs& in, double hz)
      : model_(find_model(in.settings.word("model"))),
        clock_(in.clock),
        settings_(in.settings),
        layout_(layout_of(in.settings)),
        motion_(motion_kind(in.settings)),
        hz_(hz),
        has_imu_(settings_.word("imu") == "auto" ? model_.has_imu : settings_.on("imu")),
        random_(in.seed),
        session_(cola::spoken_of(settings_.word("dialect")), identity(model_)) {
    const bool preset =
        settings_.word("preset") == "auto" ? in.streams_unasked : settings_.on("preset");
    stored_.sends_scans = preset;
    stored_.sends_imu = preset && has_imu_;
    session_.refuse_login(settings_.word("refuse") == "login");
  }

  void power_up(hal::Time now, Output&) override {
    session_.restart();
    wanted_ = active_ = stored_;
    measures_ = true;
    sent_ = frame_ = 0;
    segment_ = 0;
    on_at_ = now;
    turn_ns_ = clock_.true_ns(1e9 / hz_);
    turns_.start(now, turn_ns_);
    samples_.start(now, imu_ns());
  }

  void receive(Channel, hal::Bytes bytes, hal::Time now, Output& out) override {
    session_.feed(bytes);
    while (std::optional<Request> request = session_.next()) {
      std::optional<ByteVector> reply = session_.answer(*request);
      if (!reply) reply = answer(*request);
      out.send(now + kThinks, std::move(*reply), {.channel = Channel::control});
    }
  }

  hal::Time advance(hal::Time now, Output& out) override {
    while (next() <= now) {
      if (sample_at() <= segment_end()) {
        take_sample(out);
      } else {
        end_segment(out);
      }
    }
    return next();
  }

  unsigned baud() const override { return 0; }
  void falsify(ByteVector& frame, Random& random) const override {
    if (frame.size() > 4 && u8_at(frame, 0) == 2) sick_compact::falsify(frame, random);
  }

 private:
  static cola::Identity identity(const Model& model) {
    cola::Identity identity;
    identity.name = model.identity;
    identity.version = "2.1.0";
    identity.serial = std::to_string(model.serial);
    identity.location = "not defined";
    return identity;
  }

  ByteVector answer(Request& request) {
    const cola::Dialect dialect = request.dialect;
    const std::string& name = request.name;
    if (request.kind == "sRN") {
      Telegram reply(dialect, "sRA " + name);
      if (name == "SCdevicestate") return reply.u8(1).frame();
      if (!read(name, wanted_, model_, has_imu_, reply)) {
        return cola::refusal(dialect, cola::kUnknownVariable);
      }
      return reply.frame();
    }
    if (request.kind == "sWN") {
      const unsigned code = take(name, request.arguments);
      return code != 0 ? cola::refusal(dialect, code) : Telegram(dialect, "sWA " + name).frame();
    }
    if (request.kind == "sMN") return call(request);
    if (request.kind == "sEN") return cola::refusal(dialect, cola::kUnknownEvent);
    return cola::refusal(dialect, cola::kUnknownCommand);
  }

  // What is on goes on as it was until Run; off is off at once.
  unsigned take(const std::string& name, cola::Arguments& arguments) {
    const std::string& refused = settings_.word("refuse");
    if (name.starts_with("ImuData") && !has_imu_) return cola::kUnknownVariable;
    if (session_.level() < 3) return cola::kWriteDenied;
    if ((refused == "destination" && name.ends_with("EthSettings")) ||
        (refused == "enable" && name.ends_with("Enable")) ||
        (refused == "format" && name == "ScanDataFormat")) {
      return cola::kOutOfRange;
    }
    Config told = wanted_;
    const unsigned code = write(name, arguments, has_imu_, told);
    if (code != 0 || settings_.word("settings") == "ignored") return code;
    wanted_ = told;
    active_.sends_scans &= wanted_.sends_scans;
    active_.sends_imu &= wanted_.sends_imu;
    return 0;
  }

  ByteVector call(const Request& request) {
    const std::string& name = request.name;
    Telegram reply(request.dialect, "sAN " + name);
    if (name == "Run") {
      session_.log_out();
      active_ = wanted_;
      return reply.u8(1).frame();
    }
    const bool starts = name == "LMCstartmeas";
    if (!starts && name != "LMCstopmeas" && name != "mEEwriteall") {
      return cola::refusal(request.dialect, cola::kUnknownMethod);
    }
    if (session_.level() < 3) return cola::refusal(request.dialect, cola::kMethodDenied);
    if (name == "mEEwriteall") {
      stored_ = wanted_;
      return reply.u8(1).frame();
    }
    if (starts && settings_.word("refuse") == "start") return reply.u8(1).frame();
    measures_ = starts;
    return reply.u8(0).frame();
  }

  std::uint64_t stamp_us(hal::Time at) {
    return static_cast<std::uint64_t>(clock_.stamp(at) / 1000 +
                                      std::llround(settings_.number("unix_s") * 1e6));
  }
  double imu_ns() const { return clock_.true_ns(1e9 / settings_.number("imu_hz")); }
  hal::Time sample_at() const { return has_imu_ ? samples_.at(0) : kNever; }
  hal::Time next() const { return std::min(sample_at(), segment_end()); }

  // When the head looks at `deg`, in the turn in the making.
  hal::Time at_angle(double deg) const {
    return turns_.at(0) + hal::Duration(std::llround((deg - model_.first_deg) / 360.0 * turn_ns_));
  }
  double segment_deg(int segment) const { return model_.first_deg + segment * model_.segment_deg; }
  bool is_real(double deg) const {
    return deg < model_.last_deg + kEnds && deg < model_.first_deg + 360.0 - kEnds;
  }
  // How many beams of the segment in the making are real.
  int real_beams(int beams, double step) const {
    int real = 0;
    while (real < beams && is_real(segment_deg(segment_) + real * step)) ++real;
    return real;
  }
  // A segment that reaches beyond the field is said to end a beam later than it does.
  hal::Time stop_of(int beams, double step) const {
    const int real = real_beams(beams, step);
    return at_angle(segment_deg(segment_) + (real < beams ? real : beams - 1) * step);
  }
  hal::Time segment_end() const {
    hal::Time end = hal::Time::min();
    for (const Lines& lines : model_.modules) {
      const double step = 360.0 / lines.beams_per_turn;
      end = std::max(end, stop_of(static_cast<int>(std::lround(model_.segment_deg / step)), step));
    }
    return end;
  }

  Module measure(const Lines& lines, ScanTruth& truth) {
    const double step = 360.0 / lines.beams_per_turn, first = segment_deg(segment_);
    const int beams = static_cast<int>(std::lround(model_.segment_deg / step)),
              real = real_beams(beams, step);
    Module m;
    m.segment = static_cast<std::uint64_t>(segment_);
    m.frame = frame_;
    m.beams = static_cast<std::size_t>(beams);
    m.echoes = active_.filter == EchoFilter::all ? static_cast<std::size_t>(model_.echoes) : 1;
    const std::uint64_t start_us = stamp_us(at_angle(first)),
                        stop_us = stamp_us(stop_of(beams, step));
    for (const double elevation : lines.elevations_deg) {
      m.start_us.push_back(start_us);
      m.stop_us.push_back(stop_us);
      m.elevations.push_back(radians(elevation));
      m.first_angles.push_back(radians(first));
      m.last_angles.push_back(radians(first + (beams - 1) * step));
    }
    for (int b = 0; b < beams; ++b) {
      const double angle = radians(first + b * step);
      m.angles.push_back(angle);
      for (const double elevation : lines.elevations_deg) {
        m.seen.push_back(b < real ? look(angle, elevation, active_.filter) : Seen{});
      }
      if (b < real && lines.elevations_deg[0] == 0.0) {
        truth.device_ns = static_cast<std::int64_t>(start_us) * 1000;
        truth.beams.push_back({at_angle(degrees(angle)), angle, m.seen.back().ranges[0]});
      }
    }
    return m;
  }

  void end_segment(Output& out) {
    const hal::Time end = segment_end();
    if (measures_ && active_.sends_scans && frame_ % active_.interval == 0) send_scan(end, out);
    if (++segment_ < model_.segments) return;
    segment_ = 0;
    ++frame_;
    turn_ns_ = clock_.true_ns(1e9 / hz_);
    turns_.pass(1, turn_ns_);
  }

  void send_scan(hal::Time end, Output& out) {
    ScanTruth truth;
    std::vector<Module> modules;
    for (const Lines& lines : model_.modules) modules.push_back(measure(lines, truth));
    const hal::Time sent =
        end + hal::from_seconds(random_.uniform(kLagLeast_us, kLagMost_us) * 1e-6);
    const Way way{.channel = Channel::data, .to = active_.scan_to};
    if (active_.format == 1) return out.send(sent, msgpack(), way);
    out.send(sent, scan_telegram(sent_++, stamp_us(sent), model_.serial, layout_, modules), way);
    out.scans.push_back(std::move(truth));
  }

  // Framed as MSGPACK telegrams are, with an empty map.
  static ByteVector msgpack() {
    ByteVector bytes;
    put_le(bytes, 0x02020202, 4);
    put_le(bytes, 1, 4);
    put8(bytes, 0x80);
    put_le(bytes, hal::crc32(hal::Bytes(bytes).subspan(8)), 4);
    return bytes;
  }

  void take_sample(Output& out) {
    const hal::Time at = sample_at();
    samples_.pass(1, imu_ns());
    if (!measures_ || !active_.sends_imu) return;
    const Motion motion = motion_at(hal::to_seconds(at - on_at_), motion_);
    const std::uint64_t us = stamp_us(at);
    out.send(at, imu_telegram(motion, us), {.channel = Channel::data, .to = active_.imu_to});
    out.imus.push_back({at, static_cast<std::int64_t>(us) * 1000, motion.accel, motion.gyro});
  }

  const Model& model_;
  DeviceClock& clock_;
  const Settings settings_;
  const Layout layout_;
  const MotionKind motion_;
  const double hz_;
  const bool has_imu_;
  Random random_;
  cola::Session session_;

  Config stored_, wanted_, active_;  // kept over loss of power; as written; since the last Run
  bool measures_ = true;
  std::uint64_t sent_ = 0, frame_ = 0;
  int segment_ = 0;
  hal::Time on_at_{};
  double turn_ns_ = 0.0;
  Pace turns_, samples_;
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const Model& model = find_model(inputs.settings.word("model"));
  const hal::Result<double> hz = turns_per_s(inputs, model.hz, 10.0, 50.0);
  if (!hz) return hz.error();
  return std::unique_ptr<DeviceModel>(std::make_unique<Scanner>(inputs, *hz));
}

}  // namespace sim::sick_compact
