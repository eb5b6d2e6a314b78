#include "test/sim/hokuyo_scip.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "test/sim/hokuyo_line.h"
#include "test/sim/hokuyo_replies.h"
#include "test/sim/hokuyo_requests.h"
#include "test/sim/hokuyo_rotor.h"
#include "test/sim/hokuyo_scan.h"
#include "test/sim/scip_text.h"
#include "test/sim/wire.h"

namespace sim::hokuyo_scip {
namespace {

constexpr std::size_t kLongestLine = 128;
constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kClockModulus = 1 << 24;  // ms
constexpr double kSlowest = 1.0, kFastest = 100.0;

constexpr OptionRow kOptions[] = {
    choice("model", "URG-04LX", kModelNames, "device played: sets geometry, speed, line"),
    choice("port", "auto", "auto|serial|usb",
           "serial boots at 19200 and obeys SS; auto = as the model has it"),
    choice("baud", "19200", "19200|38400|57600|115200|250000|500000|750000",
           "rate on a serial line when it first appears"),
    choice("scip", "auto", "auto|1|2", "language at power-up; 1 wants SCIP2.0 first"),
    choice("found", "idle", "idle|streaming|adjust", "its state when it first appears"),
    choice("stamp", "start", "start|end", "instant of a scan's stamp: its first step or its end"),
    choice("time", "strict", "strict|always", "TM1 outside adjust mode: refused or answered"),
    choice("laser", "good", "good|bad", "bad does not light"),
    choice("vv", "good", "good|bad_check|empty_line", "defect of some devices' serial number line"),
};

const std::string kDone = "00";

struct Stream {
  Measuring what;
  int left = 0, wait = 0;  // scans to come of those asked for; to leave out
  hal::Time since;
};

class Hokuyo final : public DeviceModel {
 public:
  Hokuyo(const Model& model, const ModelInputs& in)
      : model_(model),
        clock_(in.clock),
        settings_(in.settings),
        rotor_(model, in.clock,
               in.rate_hz > 0.0 ? static_cast<int>(std::lround(60.0 * in.rate_hz)) : model.rpm) {}

  void power_up(hal::Time now, Output&) override {
    typed_.clear();
    after_cr_ = false;
    const std::string& scip = settings_.word("scip");
    scip1_ = scip == "1" || (scip == "auto" && model_.starts_in_scip1);
    const std::string& port = settings_.word("port");
    const bool serial = port == "serial" || (port == "auto" && model_.port == Port::rs232);
    const unsigned rate =
        powered_before_ ? kBootBaud : static_cast<unsigned>(std::stoul(settings_.word("baud")));
    line_.power_up(serial ? rate : 0, now);
    rotor_.power_up(now);
    asleep_ = false;
    reboot_asked_ = kNever;
    laser_off();
    const std::string found = powered_before_ ? "idle" : settings_.word("found");
    powered_before_ = true;
    if (found != "idle") scip1_ = false;
    adjust_ = found == "adjust";
    if (found != "streaming") return;
    laser_on(now);
    Request request{"MD", {}, {}, {}};
    hal::Text<16> parameters;
    parameters.print("%04d%04d01000", model_.first, model_.last);
    request.parameters = parameters.c_str();
    stream_ = Stream{{request, {model_.first, model_.last, 1, 3, false}, 0, 0}, 0, 0, now};
  }

  void receive(Channel, hal::Bytes bytes, hal::Time now, Output& out) override {
    for (const std::byte b : bytes) {
      const char c = static_cast<char>(b);
      const bool ends = c == '\n' || c == '\r';
      const bool second_of_two = c == '\n' && after_cr_;
      after_cr_ = c == '\r';
      if (!ends && typed_.size() < kLongestLine) typed_ += c;
      if (!ends || second_of_two || typed_.empty()) continue;
      const Request request = parse(typed_);
      typed_.clear();
      answer(request, now, out);
    }
  }

  hal::Time advance(hal::Time now, Output& out) override {
    while (laser_ && rotor_.end() <= now) complete_turn(out);
    line_.advance(now);
    return std::min(laser_ ? rotor_.end() : kNever, line_.at);
  }

  unsigned baud() const override { return line_.baud; }
  hal::Duration clock_period() const override {
    return hal::Duration(kClockModulus * kMillisecond);
  }

  void falsify(ByteVector& frame, Random& random) const override {
    std::string text;
    for (const std::byte b : frame) text += static_cast<char>(b);
    scramble(text, random);
    frame.clear();
    put_text(frame, text);
  }

 private:
  void say(const std::string& text, hal::Time now, Output& out, const Way& way = {}) {
    ByteVector bytes;
    put_text(bytes, text);
    const hal::Time at = line_.carry(bytes.size(), now);
    out.send(at, std::move(bytes), way);
  }
  void status(const Request& request, const std::string& code, hal::Time now, Output& out) {
    say(request.echo() + '\n' + line(code) + '\n', now, out);
  }

  bool laser_is_bad() const { return settings_.word("laser") == "bad"; }
  void laser_on(hal::Time now) {
    if (laser_) return;
    laser_ = true;
    latest_.reset();
    asleep_ = false;
    rotor_.catch_up(now);
  }
  void laser_off() {
    laser_ = false;
    stream_.reset();
    waiting_.reset();
    latest_.reset();
  }

  void answer(const Request& request, hal::Time now, Output& out) {
    const bool upgrade = request.symbol + request.parameters == "SCIP2.0";
    if (scip1_) {
      scip1_ = !upgrade;
      return say(request.echo() + (upgrade ? "\n0\n\n" : "\nE\n\n"), now, out);
    }
    if (!request.fault.empty()) return status(request, request.fault, now, out);
    if (request.symbol == "TM") return status_of_time(request, now, out);
    const int width = parameter_width(model_, request.symbol);
    // Time adjustment wants nothing but its own commands.
    if (upgrade || width < 0 || adjust_) return status(request, "0E", now, out);
    const auto given = static_cast<int>(request.parameters.size());
    if (given != width) return status(request, given < width ? "0C" : "0D", now, out);
    obey(request, now, out);
  }

  void obey(const Request& request, hal::Time now, Output& out) {
    const std::string& symbol = request.symbol;
    if (symbol == "VV")
      return inform(request, version_lines(model_, settings_.word("vv")), now, out);
    if (symbol == "PP")
      return inform(request, parameter_lines(model_, rotor_.rated_rpm()), now, out);
    if (symbol == "II") return inform(request, state_lines(model_, state(now)), now, out);
    if (symbol == "%S") return obey_percent(request, now, out);
    if (symbol == "SS") return set_baud(request, now, out);
    if (symbol == "CR") return status(request, set_motor(request.parameters), now, out);
    if (symbol == "BM") {
      const bool bad = laser_is_bad();
      status(request, bad ? "01" : (laser_ ? "02" : kDone), now, out);
      if (!bad) laser_on(now);
      return;
    }
    if (symbol == "QT") {
      laser_off();
      asleep_ = false;
      return status(request, kDone, now, out);
    }
    if (symbol == "RS" || symbol == "RT") return reset(request, now, out);
    if (symbol == "RB") return reboot(request, now, out);
    Measuring measuring;
    const std::string fault = understand(model_, request, measuring);
    if (!fault.empty()) return status(request, fault, now, out);
    if (symbol[0] == 'G' || symbol[0] == 'H') return measure_once(measuring, now, out);
    if (laser_is_bad()) return status(request, "50", now, out);
    status(request, kDone, now, out);
    laser_on(now);
    stream_ = Stream{measuring, measuring.count, 0, now};
  }

  void status_of_time(const Request& request, hal::Time now, Output& out) {
    const std::string& code = request.parameters;
    if (code.size() != 1) return status(request, code.empty() ? "0C" : "0D", now, out);
    if (laser_) return status(request, "0E", now, out);
    if (code == "0" || code == "2") {
      const bool on = code == "0";
      const std::string already = on ? "02" : "03";
      status(request, adjust_ == on ? already : kDone, now, out);
      adjust_ = on;
    } else if (code == "1") {
      if (!adjust_ && settings_.word("time") == "strict") return status(request, "04", now, out);
      say(request.echo() + '\n' + line(kDone) + line(time_text(clock_.stamp(now) / kMillisecond)) +
              '\n',
          now, out);
    } else {
      status(request, "01", now, out);
    }
  }
  static std::string time_text(std::int64_t ms) {
    return encode(static_cast<std::uint32_t>(ms % kClockModulus), 4);
  }

  void set_baud(const Request& request, hal::Time now, Output& out) {
    const auto wanted = decimal(request.parameters, 0, 6);
    const auto answer = [&] {
      if (!wanted) return "01";
      if (std::ranges::find(kBauds, *wanted) == std::end(kBauds)) return "02";
      if (model_.port == Port::ethernet) return "0F";
      if (!line_.is_serial()) return "04";
      return static_cast<unsigned>(*wanted) == line_.baud ? "03" : "00";
    };
    const std::string code = answer();
    status(request, code, now, out);
    if (code == kDone) line_.change(static_cast<unsigned>(*wanted));
  }

  std::string set_motor(const std::string& parameters) {
    const auto slower = decimal(parameters, 0, 2);
    if (!slower || (*slower > 10 && *slower != 99)) return "01";
    rotor_.slow_down(*slower == 99 ? 0 : *slower);
    return kDone;
  }

  // %ST tells its state, %SL puts it to sleep: the motor stops until QT or until the laser is lit.
  void obey_percent(const Request& request, hal::Time now, Output& out) {
    if (request.parameters == "T") {
      const char* const code = asleep_ ? "005" : (stream_ ? "004" : "000");
      return inform(request, line(code), now, out);
    }
    laser_off();
    asleep_ = true;
    status(request, kDone, now, out);
  }

  void reset(const Request& request, hal::Time now, Output& out) {
    laser_off();
    status(request, kDone, now, out);
    rotor_.slow_down(0);
    clock_.restart(now);
    line_.change(kBootBaud);
  }

  // The second within a second starts it anew, and its connection is lost.
  void reboot(const Request& request, hal::Time now, Output& out) {
    const bool first = reboot_asked_ == kNever || now - reboot_asked_ > std::chrono::seconds(1);
    reboot_asked_ = first ? now : kNever;
    if (first) return status(request, "01", now, out);
    say(request.echo() + '\n' + line(kDone) + '\n', now, out, {.hangs_up = true});
    clock_.restart(now);
    power_up(now, out);
  }

  void inform(const Request& request, const std::string& lines, hal::Time now, Output& out) {
    say(request.echo() + '\n' + line(kDone) + lines + '\n', now, out);
  }
  State state(hal::Time now) {
    const std::int64_t ms = clock_.stamp(now) / kMillisecond % kClockModulus;
    return {laser_,       stream_.has_value(), !laser_is_bad(),
            rotor_.rpm(), line_.baud,          static_cast<std::uint32_t>(ms)};
  }

  // The last whole turn with the laser on, or the first when there is none yet.
  void measure_once(const Measuring& measuring, hal::Time now, Output& out) {
    if (!laser_) return status(measuring.request, "10", now, out);
    if (latest_) return say_scan(measuring, *latest_, kDone, now, out);
    waiting_ = measuring;
  }

  void say_scan(const Measuring& measuring, const Turn& turn, const std::string& code,
                hal::Time now, Output& out) {
    const bool at_end = settings_.word("stamp") == "end";
    const std::int64_t ms =
        clock_.stamp(at_end ? turn.at(model_, model_.highest) : turn.first) / kMillisecond;
    ScanTruth truth{ms * kMillisecond, {}};
    const std::string data = measure(model_, measuring.wanted, turn, truth.beams);
    say(measuring.request.echo() + '\n' + line(code) + line(time_text(ms)) + data_lines(data) +
            '\n',
        now, out);
    out.scans.push_back(std::move(truth));
  }

  void complete_turn(Output& out) {
    const hal::Time now = rotor_.end();
    const Turn done = rotor_.turn();
    latest_ = done;
    rotor_.next();
    if (waiting_) {
      say_scan(*waiting_, done, kDone, now, out);
      waiting_.reset();
    }
    if (!stream_ || done.first < stream_->since) return;
    if (line_.is_busy(now)) return;  // a scan that finds the line busy is left out
    if (stream_->wait > 0) {
      --stream_->wait;
      return;
    }
    say_stream(done, now, out);
  }

  void say_stream(const Turn& done, hal::Time now, Output& out) {
    Stream& stream = *stream_;
    stream.wait = stream.what.interval;
    if (stream.what.count > 0) {
      --stream.left;
      hal::Text<4> left;
      left.print("%02d", stream.left);
      stream.what.request.parameters.replace(11, 2, left.c_str());
    }
    say_scan(stream.what, done, "99", now, out);
    if (stream.what.count > 0 && stream.left == 0) laser_off();
  }

  const Model& model_;
  DeviceClock& clock_;
  const Settings settings_;
  Rotor rotor_;
  Line line_;

  bool powered_before_ = false;
  std::string typed_;
  bool after_cr_ = false;
  bool scip1_ = false, adjust_ = false, laser_ = false, asleep_ = false;
  hal::Time reboot_asked_ = kNever;
  std::optional<Turn> latest_;
  std::optional<Stream> stream_;
  std::optional<Measuring> waiting_;  // for the first whole turn
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const Model& model = find_model(inputs.settings.word("model"));
  if (inputs.rate_hz != 0.0 && (inputs.rate_hz < kSlowest || inputs.rate_hz > kFastest)) {
    hal::Error error{hal::Errc::bad_config, 0, "simulate: --rate", {}};
    error.detail.print("%g turns/s is out of range: %g to %g Hz", inputs.rate_hz, kSlowest,
                       kFastest);
    return error;
  }
  return std::unique_ptr<DeviceModel>(std::make_unique<Hokuyo>(model, inputs));
}

}  // namespace sim::hokuyo_scip
