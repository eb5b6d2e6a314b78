#include "test/sim/pepperl_fuchs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "test/sim/lidar_parts.h"
#include "test/sim/pepperl_handle.h"
#include "test/sim/pepperl_motor.h"
#include "test/sim/wire.h"

namespace sim::pepperl_fuchs {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostHandles = 3;
constexpr std::size_t kHeaderOfC1 = 84;
constexpr unsigned kFirstDataPort = 39'000;  // where no socket is
constexpr hal::Duration kBoot = 3s;
constexpr std::uint32_t kSettingsChanged = 1U << 1;
constexpr unsigned kWeakEcho = 6, kNoEcho = 0;
constexpr const char* kCommands[] = {
    "get_protocol_info",     "list_parameters",  "get_parameter",   "set_parameter",
    "reset_parameter",       "reboot_device",    "factory_reset",   "request_handle_udp",
    "request_handle_tcp",    "start_scanoutput", "stop_scanoutput", "get_scanoutput_config",
    "set_scanoutput_config", "feed_watchdog",    "release_handle"};

constexpr OptionRow kOptions[] = {
    choice("model", "R2000", kModelNames, "the model to play"),
    number("layers", "4", 1, 4, "layers of an R2300: 4, or 1 that lies level"),
    choice("header", "76", "76|60|52", "bytes of the header of an R2000: older firmware has less"),
    number("first_scan", "0", 0, 65'535, "number of the first scan of each handle"),
    number("taken", "0", 0, 3, "of the three handles, those that other hosts have"),
    number("weak", "0", 0, 100, "percent of points with a code in place of an amplitude"),
    number("status", "0", 0, 4'294'967'295, "status flags in every packet"),
    choice("settings", "refuse", "refuse|adjust", "what happens to a value that cannot be had"),
    choice("http", "whole", "whole|split|no_length",
           "answers in one segment, in two, without length"),
    choice("numbers", "plain", "plain|strings", "numbers in answers, or strings of digits"),
};

Writing writing_of(const std::string& word) {
  if (word == "split") return Writing::split;
  return word == "no_length" ? Writing::no_length : Writing::whole;
}

class PepperlFuchs final : public DeviceModel {
 public:
  explicit PepperlFuchs(const ModelInputs& in)
      : model_(find_model(in.settings.word("model"))),
        clock_(in.clock),
        motor_(model_, clock_),
        ports_(in.ports),
        settings_(in.settings),
        random_(in.seed),
        rate_hz_(in.rate_hz > 0.0 ? in.rate_hz : model_.rate_hz),
        layers_(model_.layers == 1 || settings_.number("layers") < 4 ? 1 : 4) {}

  void power_up(hal::Time now, Output&) override {
    forget_all();
    reader_.clear();
    ready_at_ = kNever;
    powered_at_ = now;
    reset_parameters(now);
  }

  void receive(Channel channel, hal::Bytes bytes, hal::Time now, Output& out) override {
    if (channel != Channel::control || ready_at_ != kNever) return;
    reader_.feed(bytes);
    for (Request request; reader_.next(request);) obey(request, now, out);
  }

  hal::Time advance(hal::Time now, Output& out) override {
    if (ready_at_ <= now) ready_at_ = kNever;
    for (auto& [name, handle] : handles_) {
      while (packet_due(handle) <= std::min(now, handle.starves())) send_packet(handle, out);
      if (handle.starves() <= now) close_port(handle);
    }
    std::erase_if(handles_, [now](const auto& entry) { return entry.second.starves() <= now; });
    hal::Time due = ready_at_;
    for (const auto& [name, handle] : handles_)
      due = std::min({due, packet_due(handle), handle.starves()});
    return due;
  }

  unsigned baud() const override { return 0; }

  void falsify(ByteVector& frame, Random& random) const override { falsify_packet(frame, random); }

 private:
  void obey(const Request& request, hal::Time now, Output& out) {
    const Writing writing = writing_of(settings_.word("http"));
    if (!request.is_command) return answer(404, "not found\r\n", writing, now, out);
    Json json(settings_.word("numbers") == "strings");
    const Outcome outcome = run(request, json, now);
    answer(200, json.finish(outcome.code, outcome.text), writing, now, out);
    if (outcome.code == kSuccess && request.name == "reboot_device") reboot(now);
  }

  Outcome run(const Request& request, Json& json, hal::Time now) {
    const std::string& name = request.name;
    if (name == "get_protocol_info") {
      json.text("protocol_name", "pfsdp").number("version_major", "1");
      json.number("version_minor", "4");
      json.list("commands", {std::begin(kCommands), std::end(kCommands)});
      return {};
    }
    if (name == "list_parameters") {
      json.list("parameters", parameter_names(model_));
      return {};
    }
    if (name == "get_parameter") return get_parameters(request, json, now);
    if (name == "set_parameter") return set_parameters(request, now);
    if (name == "reset_parameter" || name == "factory_reset")
      return reset_parameters(now), Outcome{};
    if (name == "reboot_device") return {};
    if (name == "request_handle_udp" || name == "request_handle_tcp")
      return request_handle(request, json, now);
    const bool is_known =
        std::find(std::begin(kCommands), std::end(kCommands), name) != std::end(kCommands);
    if (!is_known) return failed(kUnknownArgument, "unknown command", name);
    const auto found = handles_.find(request.get("handle"));
    if (found == handles_.end())
      return failed(kInvalidHandle, "invalid handle or no handle provided:", request.get("handle"));
    return run_on(*found, request, json, now);
  }

  Outcome run_on(std::pair<const std::string, Handle>& entry, const Request& request, Json& json,
                 hal::Time now) {
    Handle& handle = entry.second;
    if (request.name == "start_scanoutput") begin(handle, now);
    if (request.name == "stop_scanoutput") handle.scan.reset();
    if (request.name == "feed_watchdog") handle.fed = now;
    if (request.name == "get_scanoutput_config") put_config(handle, json);
    if (request.name == "set_scanoutput_config") {
      const Outcome outcome = configure(request, model_, handle);
      if (outcome.code == kSuccess && handle.scan) begin(handle, now);
      return outcome;
    }
    if (request.name == "release_handle") {
      close_port(handle);
      handles_.erase(entry.first);
    }
    return {};
  }

  Outcome get_parameters(const Request& request, Json& json, hal::Time now) {
    std::string wanted = request.get("list");
    if (!request.has("list"))
      for (const std::string& name : parameter_names(model_)) wanted += name + ";";
    Outcome outcome;
    for (std::string rest = wanted; !rest.empty();) {
      const std::string name = rest.substr(0, rest.find(';'));
      rest.erase(0, name.size() + 1);
      if (!put_parameter(json, name, model_, layers_, motor_.measuring(), status_flags(),
                         hal::to_seconds(now - powered_at_)))
        outcome = failed(kUnknownParameter, "unknown parameter", name);
    }
    return outcome;
  }

  Outcome set_parameters(const Request& request, hal::Time now) {
    Measuring changed = motor_.measuring();
    for (const auto& [name, value] : request.arguments) {
      const Outcome outcome =
          set_parameter(name, value, model_, settings_.word("settings") == "adjust", changed);
      if (outcome.code != kSuccess) return outcome;
    }
    turn_as(changed, now);
    return {};
  }

  Outcome request_handle(const Request& request, Json& json, hal::Time now) {
    if (handles_.size() + static_cast<std::size_t>(settings_.number("taken")) >= kMostHandles)
      return {kInUse, "no more connections"};
    Handle handle;
    handle.type = model_.layers > 1 ? Type::c1 : Type::a;
    handle.start_deg = model_.start_deg;
    handle.fed = now;
    if (request.name == "request_handle_udp")
      for (const char* key : {"address", "port"})
        if (!request.has(key)) return failed(kMissingArgument, "missing argument", key);
    const Outcome outcome = configure(request, model_, handle);
    if (outcome.code != kSuccess) return outcome;
    if (request.name == "request_handle_tcp") {
      const unsigned wanted = handle.to.port;
      handle.to = {};
      handle.port = open_port(wanted);
      if (handle.port == 0) return failed(kInUse, "resource in use", "port");
      json.number("port", std::to_string(handle.port));
    }
    const std::string name =
        hal::Text<16>::of("s%08x", static_cast<unsigned>(random_.below(1U << 31))).c_str();
    json.text("handle", name);
    handles_[name] = handle;
    return {};
  }

  unsigned open_port(unsigned wanted) {
    if (ports_ != nullptr) return ports_->open(wanted);
    return wanted != 0 ? wanted : kFirstDataPort + static_cast<unsigned>(handles_.size());
  }
  void close_port(const Handle& handle) {
    if (ports_ != nullptr && handle.port != 0) ports_->close(handle.port);
  }
  void forget_all() {
    for (const auto& [name, handle] : handles_) close_port(handle);
    handles_.clear();
  }

  void reboot(hal::Time now) {
    forget_all();
    reader_.clear();
    ready_at_ = now + kBoot;
    powered_at_ = now + kBoot;
    clock_.restart(now);
    reset_parameters(now);
  }

  void reset_parameters(hal::Time now) {
    turn_as({rate_hz_, model_.points, false}, now);
    changed_ = false;
  }

  // The motor turns on from where it is; scans begin anew.
  void turn_as(const Measuring& measuring, hal::Time now) {
    motor_.turn(measuring, now);
    changed_ = true;
    for (auto& [name, handle] : handles_)
      if (handle.scan) begin(handle, now);
  }

  std::uint32_t status_flags() const {
    return static_cast<std::uint32_t>(settings_.number("status"));
  }

  void begin(Handle& handle, hal::Time now) {
    handle.number = static_cast<std::uint16_t>(settings_.number("first_scan"));
    handle.turn = motor_.first_turn(handle.start_deg, now);
    handle.begins = motor_.begins(handle.start_deg, handle.turn);
    handle.part_ns = 0.0;
    next_scan(handle);
  }

  // Parts of nanoseconds are kept: a turn that is no whole number of them does not drift.
  void pass(Handle& handle, int turns) {
    handle.turn += turns;
    handle.part_ns += turns * motor_.turn_ns();
    const auto whole = static_cast<std::int64_t>(handle.part_ns);
    handle.begins += hal::Duration(whole);
    handle.part_ns -= static_cast<double>(whole);
  }

  void next_scan(Handle& handle) {
    Scan scan;
    scan.type = handle.type;
    scan.header_bytes = handle.type == Type::c1
                            ? kHeaderOfC1
                            : static_cast<std::size_t>(settings_.number("header"));
    scan.number = handle.number;
    scan.status = status_flags() | (changed_ ? kSettingsChanged : 0);
    scan.frequency_mhz =
        static_cast<std::uint32_t>(std::lround(motor_.measuring().frequency_hz * 1000.0));
    scan.points = static_cast<std::size_t>(motor_.measuring().samples);
    if (handle.most_points != 0) scan.points = std::min(scan.points, handle.most_points);
    scan.first_deg = handle.start_deg;
    scan.step_deg = motor_.step_deg();
    scan.layer = static_cast<std::uint16_t>(handle.turn % layers_);
    scan.inclination_deg = model_.layers > 1 ? inclination_deg(model_, layers_, scan.layer) : 0.0;
    scan.begins = handle.begins;
    scan.point_ns = motor_.point_ns();
    handle.scan = scan;
    handle.next = 0;
    changed_ = false;
  }

  hal::Time packet_due(const Handle& handle) const {
    if (!handle.scan) return kNever;
    const Scan& scan = *handle.scan;
    return scan.at(std::min(handle.next + points_per_packet(scan), scan.points) - 1);
  }

  void send_packet(Handle& handle, Output& out) {
    const hal::Time due = packet_due(handle);
    const Scan& scan = *handle.scan;
    ScanTruth truth;
    truth.beams = beams_of(scan, handle.next);
    std::vector<unsigned> codes;
    for (TrueBeam& beam : truth.beams) {
      const bool is_weak = random_.chance(settings_.number("weak") / 100.0);
      codes.push_back(is_weak ? kWeakEcho : kNoEcho);
      if (is_weak) beam.range = 0.0;
    }
    truth.device_ns = clock_.stamp(truth.beams.front().at);
    Way way{Channel::data, handle.to, false};
    if (handle.port != 0)
      way = {Channel::connection, {0, static_cast<std::uint16_t>(handle.port)}, false};
    out.send(due, packet(scan, handle.next, truth.device_ns, truth.beams, codes), way);
    handle.next += truth.beams.size();
    out.scans.push_back(std::move(truth));
    if (handle.next < scan.points) return;
    ++handle.number;
    pass(handle, 1 + handle.skip);
    next_scan(handle);
  }

  const Model& model_;
  DeviceClock& clock_;
  Motor motor_;
  DataPorts* const ports_;
  const Settings settings_;
  Random random_;
  const double rate_hz_;
  const int layers_;

  RequestReader reader_;
  hal::Time ready_at_ = kNever;  // kNever: it is ready
  hal::Time powered_at_{};
  bool changed_ = false;  // since the last scan that said so
  std::map<std::string, Handle> handles_;
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const Model& model = find_model(inputs.settings.word("model"));
  const auto rate = turns_per_s(inputs, model.rate_hz, model.least_hz, model.most_hz);
  if (!rate) return rate.error();
  return std::unique_ptr<DeviceModel>(std::make_unique<PepperlFuchs>(inputs));
}

}  // namespace sim::pepperl_fuchs
