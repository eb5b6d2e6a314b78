#include "test/sim/hokuyo_scip.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "test/sim/hokuyo_replies.h"
#include "test/sim/hokuyo_requests.h"
#include "test/sim/hokuyo_scan.h"
#include "test/sim/scip_text.h"
#include "test/sim/wire.h"

namespace sim::hokuyo_scip {
namespace {

constexpr unsigned kBootBaud = 19200;
constexpr int kBauds[] = {19200, 38400, 57600, 115200, 250000, 500000, 750000};
constexpr std::size_t kLongestLine = 128;
constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kClockModulus = 1 << 24;  // ms
constexpr double kSlowest = 1.0, kFastest = 100.0;

constexpr OptionRow kOptions[] = {
    choice("model", "URG-04LX", kModelNames, "device played: sets geometry, speed, line"),
    choice("port", "auto", "auto|serial|usb",
           "serial boots at 19200 and obeys SS; auto = as the model has it"),
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
        rated_rpm_(in.rate_hz > 0.0 ? static_cast<int>(std::lround(60.0 * in.rate_hz))
                                    : model.rpm) {
    const std::string& port = settings_.word("port");
    serial_ = port == "serial" || (port == "auto" && model.serial_line);
  }

  void power_up(hal::Time now, Output&) override {
    typed_.clear();
    after_cr_ = false;
    const std::string& scip = settings_.word("scip");
    scip1_ = scip == "1" || (scip == "auto" && model_.starts_in_scip1);
    adjust_ = false;
    baud_ = serial_ ? kBootBaud : 0;
    baud_at_ = kNever;
    line_free_ = now;
    rpm_ = rated_rpm_;
    turn_first_ = now;
    part_ns_ = 0.0;
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
    while (laser_ && turn_end() <= now) complete_turn(out);
    if (baud_at_ <= now) {
      baud_ = next_baud_;
      baud_at_ = kNever;
    }
    return std::min(laser_ ? turn_end() : kNever, baud_at_);
  }

  unsigned baud() const override { return baud_; }
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
  // A reply waits until the line has carried what was said before.
  void say(const std::string& text, hal::Time now, Output& out) {
    const hal::Time at = serial_ ? std::max(now, line_free_) : now;
    ByteVector bytes;
    put_text(bytes, text);
    if (serial_)
      line_free_ = at + hal::Duration(static_cast<std::int64_t>(bytes.size()) * 10'000'000'000 /
                                      static_cast<std::int64_t>(baud_));
    out.send(at, std::move(bytes));
  }
  void status(const Request& request, const std::string& code, hal::Time now, Output& out) {
    say(request.echo() + '\n' + line(code) + '\n', now, out);
  }

  double period_ns() const { return clock_.true_ns(6e10 / rpm_); }
  Turn turn() const { return {turn_first_, period_ns() / model_.steps_per_turn}; }
  hal::Time turn_end() const { return turn().at(model_, model_.highest); }
  void next_turn(double turns = 1.0) {
    const double exact = turns * period_ns() + part_ns_;
    const auto whole = static_cast<std::int64_t>(exact);
    part_ns_ = exact - static_cast<double>(whole);
    turn_first_ += hal::Duration(whole);
  }

  bool laser_is_bad() const { return settings_.word("laser") == "bad"; }
  void laser_on(hal::Time now) {
    if (laser_) return;
    laser_ = true;
    latest_.reset();
    const auto behind = static_cast<double>((now - turn_first_).count());
    if (behind > 0.0) next_turn(std::ceil(behind / period_ns()));
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
    if (symbol == "PP") return inform(request, parameter_lines(model_, rated_rpm_), now, out);
    if (symbol == "II") return inform(request, state_lines(model_, state(now)), now, out);
    if (symbol == "SS") return status(request, set_baud(request.parameters), now, out), take_baud();
    if (symbol == "CR") return status(request, set_motor(request.parameters), now, out);
    if (symbol == "BM") {
      const bool bad = laser_is_bad();
      status(request, bad ? "01" : (laser_ ? "02" : kDone), now, out);
      if (!bad) laser_on(now);
      return;
    }
    if (symbol == "QT") {
      laser_off();
      return status(request, kDone, now, out);
    }
    if (symbol == "RS" || symbol == "RT") return reset(request, now, out);
    Measuring measuring;
    const std::string fault = understand(model_, request, measuring);
    if (!fault.empty()) return status(request, fault, now, out);
    if (symbol[0] == 'G') return measure_once(measuring, now, out);
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

  std::string set_baud(const std::string& parameters) {
    const auto wanted = decimal(parameters, 0, 6);
    if (!wanted) return "01";
    if (std::find(std::begin(kBauds), std::end(kBauds), *wanted) == std::end(kBauds)) return "02";
    if (!serial_) return "04";
    if (static_cast<unsigned>(*wanted) == baud_) return "03";
    next_baud_ = static_cast<unsigned>(*wanted);
    return kDone;
  }
  // The new rate holds when the reply has left at the old one.
  void take_baud() {
    if (next_baud_ != 0 && next_baud_ != baud_) baud_at_ = line_free_;
  }

  std::string set_motor(const std::string& parameters) {
    const auto slower = decimal(parameters, 0, 2);
    if (!slower || (*slower > 10 && *slower != 99)) return "01";
    rpm_ = *slower == 99 ? rated_rpm_ : rated_rpm_ * (100 - *slower) / 100;
    return kDone;
  }

  void reset(const Request& request, hal::Time now, Output& out) {
    laser_off();
    status(request, kDone, now, out);
    rpm_ = rated_rpm_;
    clock_.restart(now);
    if (!serial_) return;
    next_baud_ = kBootBaud;
    take_baud();
  }

  void inform(const Request& request, const std::string& lines, hal::Time now, Output& out) {
    say(request.echo() + '\n' + line(kDone) + lines + '\n', now, out);
  }
  State state(hal::Time now) {
    const std::int64_t ms = clock_.stamp(now) / kMillisecond % kClockModulus;
    return {laser_, stream_.has_value(),           !laser_is_bad(), rpm_,
            baud_,  static_cast<std::uint32_t>(ms)};
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
    const hal::Time now = turn_end();
    const Turn done = turn();
    latest_ = done;
    next_turn();
    if (waiting_) {
      say_scan(*waiting_, done, kDone, now, out);
      waiting_.reset();
    }
    if (!stream_ || done.first < stream_->since) return;
    if (serial_ && line_free_ > now) return;  // a scan that finds the line busy is left out
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
  const int rated_rpm_;
  bool serial_ = false;

  bool powered_before_ = false;
  std::string typed_;
  bool after_cr_ = false;
  bool scip1_ = false, adjust_ = false, laser_ = false;
  unsigned baud_ = 0, next_baud_ = 0;
  hal::Time baud_at_ = kNever;
  hal::Time line_free_{};
  int rpm_ = 0;
  hal::Time turn_first_{};  // of the turn in the making
  double part_ns_ = 0.0;    // of a nanosecond, by which the next turn is later
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
