#include "drivers/vectornav/vectornav.h"

#include <algorithm>
#include <cmath>

#include "drivers/text_line.h"
#include "drivers/wire.h"

namespace drivers {
namespace {

constexpr unsigned kFirstOutput = 75, kLastOutput = 77;
constexpr std::array kIdentity{1U, 3U, 4U};  // registers: model, serial number, firmware
constexpr unsigned kFirstRefusal = 4, kLastRefusal = 9, kTooSlow = 0x0C;
constexpr std::int64_t kRestarted = 500'000'000;  // a stamp that went back further began anew

constexpr std::array kOptions{
    OptionSpec{
        .key = "rate_hz",
        .type = OptionType::number,
        .unit = "Hz",
        .fallback = "100",
        .min = 1,
        .max = 800,
        .help = "samples per second; where 800 (VN-300: 400) is no multiple, the next lower"},
    OptionSpec{.key = "orientation",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "true",
               .help = "ask for the attitude"},
    OptionSpec{.key = "deltas",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "false",
               .help = "ask for the integrals of rate and acceleration over each sample"},
    OptionSpec{.key = "environment",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "false",
               .help = "ask for magnetic field, temperature and pressure"},
    OptionSpec{.key = "save",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "false",
               .help = "keep what it is told in its flash, each time it is started"},
};

unsigned fields_of(const Options& options) {
  const auto bit = [](unsigned field, bool is_wanted = true) {
    return is_wanted ? 1U << field : 0U;
  };
  return bit(vn::kTimeStartup) | bit(vn::kRate) | bit(vn::kAccel) |
         bit(vn::kQuaternion, options.flag("orientation")) |
         bit(vn::kDeltas, options.flag("deltas")) | bit(vn::kMagPres, options.flag("environment"));
}

bool is_text(const Frame& frame) { return frame.bytes[0] == std::byte{'$'}; }

template <std::size_t N>
void keep(hal::Text<N>& into, std::string_view text) {
  into.print("%.*s", static_cast<int>(text.size()), text.data());
}

}  // namespace

std::size_t vn::Framing::measure(Bytes b) {
  if (b[0] == std::byte{0xFA}) return measure_binary(b);
  return b[0] == std::byte{'$'} ? measure_text(b) : kNotAFrame;
}

bool vn::Framing::intact(Bytes frame) {
  return frame[0] == std::byte{'$'} ? is_intact_text(frame) : is_intact_binary(frame);
}

Finding Vectornav::finding() {
  static constexpr std::array kBauds{115'200, 921'600};
  return {.bauds = kBauds, .asks_first = true};
}

std::span<const OptionSpec> Vectornav::options() { return kOptions; }

Figures Vectornav::figures(const Options& options, int) {
  const double rate = options.number("rate_hz");
  return {.packets_hz = rate,
          .bytes_per_s = rate * static_cast<double>(vn::size_of_common(fields_of(options)))};
}

Vectornav::Vectornav(const Options& options)
    : asked_hz_(options.number("rate_hz")),
      fields_(fields_of(options)),
      save_(options.flag("save")) {}

void Vectornav::restart() {
  identity_ = {};
  identified_ = 0;
  about_.clear();
  base_hz_ = 800;
  port_ = 1;
  other_ = kFirstOutput + 1;
  other_port_.reset();
  came_ = is_set_up_ = false;
  kind_count_ = 0;
}

hal::Duration Vectornav::max_silence() const {
  return std::max<hal::Duration>(std::chrono::milliseconds(250), hal::from_seconds(3 / asked_hz_));
}

std::span<const Step<Vectornav>> Vectornav::start_script() {
  using namespace std::chrono_literals;
  using D = Vectornav;
  constexpr auto kGoOn = IfUnanswered::go_on;
  static constexpr std::array kBauds{115'200, 921'600, 460'800, 230'400, 57'600,
                                     128'000, 38'400,  19'200,  9600};
  static constexpr std::array<Step<D>, 11> kSteps{{
      {"pause output", &D::pause, &D::heard, 200ms, 3, IfUnanswered::fail, kBauds},
      {"get identity", &D::ask_identity, &D::take_identity, 250ms, 3},
      {"reset protocol", &D::reset_manners, &D::heard, 250ms, 2, kGoOn},
      {"turn texts off", &D::texts_off, &D::acknowledged, 250ms, 3},
      {"turn other messages off", &D::others_off, &D::take_others, 250ms, 2, kGoOn},
      {"set message", &D::configure, &D::acknowledged, 250ms, 3},
      {"read message back", &D::read_back, &D::take_configuration, 250ms, 3},
      {"save", &D::save, &D::acknowledged, 1500ms, 2},
      {"resume output", &D::resume, &D::heard, 250ms, 3},
      {"first message", nullptr, &D::take_measurement, 500ms, 1, kGoOn},
      {"set message on both ports", &D::configure_both, &D::take_both, 250ms, 3},
  }};
  return kSteps;
}

std::span<const Step<Vectornav>> Vectornav::stop_script() {
  using namespace std::chrono_literals;
  using D = Vectornav;
  static constexpr std::array<Step<D>, 1> kSteps{
      {{"pause output", &D::pause, &D::heard, 100ms, 3, IfUnanswered::go_on}}};
  return kSteps;
}

bool Vectornav::say(Request& request, const hal::Text<64>& command, unsigned n) {
  std::size_t end = 0;
  for (; n > 0 && end != std::string_view::npos; --n) end = command.view().find(',', end + 1);
  keep(asked_, command.view().substr(0, end));
  request.text(vn::sealed(command.view()).view());
  return true;
}

bool Vectornav::pause(Request& r) { return say(r, hal::Text<64>::of("VNASY,0")); }
bool Vectornav::resume(Request& r) { return say(r, hal::Text<64>::of("VNASY,1")); }
bool Vectornav::ask_identity(Request& r) {
  return say(r, hal::Text<64>::of("VNRRG,%02u", kIdentity[identified_]));
}
bool Vectornav::texts_off(Request& r) { return say(r, hal::Text<64>::of("VNWRG,06,0"), 3); }
bool Vectornav::configure(Request& r) { return say(r, command_for(port_)); }
bool Vectornav::read_back(Request& r) { return say(r, hal::Text<64>::of("VNRRG,75")); }
bool Vectornav::save(Request& r) { return save_ && say(r, hal::Text<64>::of("VNWNV"), 1); }

// Nothing appended, checks of eight bits, errors told.
bool Vectornav::reset_manners(Request& r) {
  return say(r, hal::Text<64>::of("VNWRG,30,0,0,0,0,1,1,1"));
}

// Reads the register of each of the other two messages, and takes ours out of its ports.
bool Vectornav::others_off(Request& r) {
  if (!other_port_) return say(r, hal::Text<64>::of("VNRRG,%u", other_));
  return say(r, hal::Text<64>::of("VNWRG,%u,%u,8,01,0001", other_, *other_port_));
}

// Rates below two a second may not have come by then: on both ports they come in any case.
bool Vectornav::configure_both(Request& r) {
  if (came_) return false;
  port_ = 3;
  return say(r, command_for(port_));
}

hal::Text<64> Vectornav::command_for(unsigned port) const {
  return hal::Text<64>::of("VNWRG,75,%u,%u,01,%04X", port, divisor(), fields_);
}

unsigned Vectornav::divisor() const {
  return static_cast<unsigned>(std::ceil(base_hz_ / asked_hz_ - 1e-9));
}

std::optional<Vectornav::Answer> Vectornav::answer(const Frame& frame) const {
  if (!is_text(frame)) return std::nullopt;
  const vn::TextMessage message = vn::text_message(frame.bytes);
  if (message.name == "ERR") {
    std::string_view rest = message.rest;
    const unsigned code = number_in<unsigned>(take_field(rest, ','), 16).value_or(0);
    const bool refuses = (code >= kFirstRefusal && code <= kLastRefusal) || code == kTooSlow;
    return refuses ? std::optional(Answer{{}, code}) : std::nullopt;  // damaged: sent again
  }
  std::string_view text = text_of(frame.bytes).substr(1);
  text = text.substr(0, text.find('*'));
  if (!text.starts_with(asked_.view())) return std::nullopt;
  text.remove_prefix(asked_.view().size());
  if (!text.empty() && text.front() != ',') return std::nullopt;
  if (!text.empty()) text.remove_prefix(1);
  return Answer{text, 0};
}

Reply Vectornav::acknowledged(const Frame& frame) {
  const auto given = answer(frame);
  if (!given) return Reply::not_mine();
  return given->error == 0 ? Reply::done() : Reply::refused(vn::words_for_error(given->error));
}

Reply Vectornav::heard(const Frame& frame) {
  return answer(frame) ? Reply::done() : Reply::not_mine();
}

Reply Vectornav::take_identity(const Frame& frame) {
  const auto given = answer(frame);
  if (!given || (given->error != 0 && identified_ == 0)) return acknowledged(frame);
  keep(identity_[identified_], given->rest);
  const bool is_vn300 = identity_[0].view().find("VN-3") != std::string_view::npos;
  base_hz_ = is_vn300 ? 400 : 800;
  return ++identified_ == kIdentity.size() ? Reply::done() : Reply::again();
}

Reply Vectornav::take_others(const Frame& frame) {
  const auto given = answer(frame);
  if (!given) return Reply::not_mine();
  std::string_view rest = given->rest;
  const unsigned ports = number_in<unsigned>(take_field(rest, ',')).value_or(0);
  if (!other_port_ && given->error == 0 && (ports & port_) != 0) {
    other_port_ = ports & ~port_;
    return Reply::again();
  }
  other_port_.reset();
  return other_++ == kLastOutput ? Reply::done() : Reply::again();
}

Reply Vectornav::take_configuration(const Frame& frame) {
  const auto given = answer(frame);
  if (!given || given->error != 0) return acknowledged(frame);
  std::string_view rest = given->rest;
  const auto number = [&rest](int base) {
    return number_in<unsigned>(take_field(rest, ','), base).value_or(~0U);
  };
  if (number(10) == port_ && number(10) == divisor() && number(16) == 1 && number(16) == fields_) {
    describe();
    return Reply::done();
  }
  return Reply::refused(hal::Text<96>::of("its message reads %.*s, not %u,%u,01,%04X",
                                          static_cast<int>(given->rest.size()), given->rest.data(),
                                          port_, divisor(), fields_));
}

Reply Vectornav::take_measurement(const Frame& frame) {
  if (is_text(frame)) return Reply::not_mine();
  came_ = is_set_up_ = true;
  return Reply::measured();
}

Reply Vectornav::take_both(const Frame& frame) {
  const Reply reply = acknowledged(frame);
  is_set_up_ = reply.kind == Reply::Kind::done;
  return reply;
}

void Vectornav::describe() {
  const auto& [model, serial, firmware] = identity_;
  about_.print("%s%s%s%s%s, %g Hz", model.c_str(), serial.empty() ? "" : ", serial ",
               serial.c_str(), firmware.empty() ? "" : ", firmware ", firmware.c_str(),
               1.0 * base_hz_ / divisor());
}

void Vectornav::decode(const Frame& frame, Decoded& out) {
  if (is_text(frame)) return decode_text(vn::text_message(frame.bytes), frame, out);
  vn::Measurement measurement;
  if (!vn::measured(frame.bytes, measurement)) return out.undecodable();
  if (measurement.carries_anything()) out.add(measurement.sample, timing_of(frame, measurement));
}

// A device whose texts were turned off, and that sends them again, lost its settings.
void Vectornav::decode_text(const vn::TextMessage& message, const Frame& frame, Decoded& out) {
  if (message.name == "ERR") {
    return out.fault(vn::words_for_error(number_in<unsigned>(message.rest, 16).value_or(0)));
  }
  if (is_set_up_ && vn::is_measurement(message.name)) return out.restarted();
  vn::Measurement measurement;
  if (!vn::measured(message, measurement)) return out.undecodable();
  if (measurement.carries_anything()) out.add(measurement.sample, timing_of(frame, measurement));
}

// Several messages may tell one instant; each kind advances by itself.
Timing Vectornav::timing_of(const Frame& frame, const vn::Measurement& measurement) {
  Timing timing{.arrival = frame.last_at, .bytes = frame.bytes.size()};
  const auto& raw = measurement.since_start_ns;
  const auto known = std::span(kinds_).first(kind_count_);
  if (!raw) {
    timing.source = known.empty() ? Timing::Source::arrival : Timing::Source::previous;
    return timing;
  }
  timing.source = Timing::Source::clock;
  timing.raw_ns = *raw;
  const std::uint32_t of = vn::kind_of(frame.bytes);
  const auto found = std::ranges::find(known, of, &Kind::of);
  if (found == known.end()) {
    timing.shared = true;
    if (kind_count_ < kinds_.size()) kinds_[kind_count_++] = {of, *raw};
    return timing;
  }
  timing.shared = *raw > found->newest || *raw < found->newest - kRestarted;
  if (timing.shared) found->newest = *raw;
  return timing;
}

}  // namespace drivers
