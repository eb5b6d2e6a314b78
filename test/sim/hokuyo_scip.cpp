#include "test/sim/hokuyo_scip.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "test/sim/hokuyo_device.h"
#include "test/sim/scip_text.h"
#include "test/sim/wire.h"

namespace sim::hokuyo_scip {
namespace {

constexpr std::size_t kLongestLine = 128;
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
    noise_option(),
};

}  // namespace

void Hokuyo::power_up(hal::Time now, Output&) {
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

void Hokuyo::receive(Channel, hal::Bytes bytes, hal::Time now, Output& out) {
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

hal::Time Hokuyo::advance(hal::Time now, Output& out) {
  while (laser_ && rotor_.end() <= now) complete_turn(out);
  line_.advance(now);
  return std::min(laser_ ? rotor_.end() : kNever, line_.at);
}

hal::Duration Hokuyo::clock_period() const { return hal::Duration(kClockModulus * kMillisecond); }

void Hokuyo::falsify(ByteVector& frame, Random& random) const {
  std::string text;
  for (const std::byte b : frame) text += static_cast<char>(b);
  scramble(text, random);
  frame.clear();
  put_text(frame, text);
}

void Hokuyo::say(const std::string& text, hal::Time now, Output& out, const Way& way) {
  ByteVector bytes;
  put_text(bytes, text);
  const hal::Time at = line_.carry(bytes.size(), now);
  out.send(at, std::move(bytes), way);
}

void Hokuyo::status(const Request& request, const std::string& code, hal::Time now, Output& out) {
  say(request.echo() + '\n' + line(code) + '\n', now, out);
}

void Hokuyo::laser_on(hal::Time now) {
  if (laser_) return;
  laser_ = true;
  latest_.reset();
  asleep_ = false;
  rotor_.catch_up(now);
}

void Hokuyo::laser_off() {
  laser_ = false;
  stream_.reset();
  waiting_.reset();
  latest_.reset();
}

void Hokuyo::measure_once(const Measuring& measuring, hal::Time now, Output& out) {
  if (!laser_) return status(measuring.request, "10", now, out);
  if (latest_) return say_scan(measuring, *latest_, kDone, now, out);
  waiting_ = measuring;
}

void Hokuyo::say_scan(const Measuring& measuring, const Turn& turn, const std::string& code,
                      hal::Time now, Output& out) {
  const bool at_end = settings_.word("stamp") == "end";
  const std::int64_t ms =
      clock_.stamp(at_end ? turn.at(model_, model_.highest) : turn.first) / kMillisecond;
  ScanTruth truth{ms * kMillisecond, {}};
  const std::string data = measure(model_, measuring.wanted, turn, noise_, truth.beams);
  say(measuring.request.echo() + '\n' + line(code) + line(time_text(ms)) + data_lines(data) + '\n',
      now, out);
  out.scans.push_back(std::move(truth));
}

void Hokuyo::complete_turn(Output& out) {
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

void Hokuyo::say_stream(const Turn& done, hal::Time now, Output& out) {
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
