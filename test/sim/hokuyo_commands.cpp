// What the simulated Hokuyo answers to a request, and what it does then.
#include <algorithm>

#include "test/sim/hokuyo_device.h"

namespace sim::hokuyo_scip {

void Hokuyo::answer(const Request& request, hal::Time now, Output& out) {
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

void Hokuyo::obey(const Request& request, hal::Time now, Output& out) {
  const std::string& symbol = request.symbol;
  if (symbol == "VV") return inform(request, version_lines(model_, settings_.word("vv")), now, out);
  if (symbol == "PP") return inform(request, parameter_lines(model_, rotor_.rated_rpm()), now, out);
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

void Hokuyo::status_of_time(const Request& request, hal::Time now, Output& out) {
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

std::string Hokuyo::time_text(std::int64_t ms) {
  return encode(static_cast<std::uint32_t>(ms % kClockModulus), 4);
}

void Hokuyo::set_baud(const Request& request, hal::Time now, Output& out) {
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

std::string Hokuyo::set_motor(const std::string& parameters) {
  const auto slower = decimal(parameters, 0, 2);
  if (!slower || (*slower > 10 && *slower != 99)) return "01";
  rotor_.slow_down(*slower == 99 ? 0 : *slower);
  return kDone;
}

void Hokuyo::obey_percent(const Request& request, hal::Time now, Output& out) {
  if (request.parameters == "T") {
    const char* const code = asleep_ ? "005" : (stream_ ? "004" : "000");
    return inform(request, line(code), now, out);
  }
  laser_off();
  asleep_ = true;
  status(request, kDone, now, out);
}

void Hokuyo::reset(const Request& request, hal::Time now, Output& out) {
  laser_off();
  status(request, kDone, now, out);
  rotor_.slow_down(0);
  clock_.restart(now);
  line_.change(kBootBaud);
}

void Hokuyo::reboot(const Request& request, hal::Time now, Output& out) {
  const bool first = reboot_asked_ == kNever || now - reboot_asked_ > std::chrono::seconds(1);
  reboot_asked_ = first ? now : kNever;
  if (first) return status(request, "01", now, out);
  say(request.echo() + '\n' + line(kDone) + '\n', now, out, {.hangs_up = true});
  clock_.restart(now);
  power_up(now, out);
}

void Hokuyo::inform(const Request& request, const std::string& lines, hal::Time now, Output& out) {
  say(request.echo() + '\n' + line(kDone) + lines + '\n', now, out);
}

State Hokuyo::state(hal::Time now) {
  const std::int64_t ms = clock_.stamp(now) / kMillisecond % kClockModulus;
  return {laser_,       stream_.has_value(), !laser_is_bad(),
          rotor_.rpm(), line_.baud,          static_cast<std::uint32_t>(ms)};
}

}  // namespace sim::hokuyo_scip
