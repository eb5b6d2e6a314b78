#include "drivers/epson/epson.h"

#include <algorithm>
#include <cmath>

#include "drivers/inertial.h"
#include "drivers/wire.h"

namespace drivers {
namespace {

using namespace epson;
using namespace std::chrono_literals;

constexpr std::uint8_t kBegin = 0x80, kEnd = 0x0D;
constexpr std::size_t kAnswer = 4;
constexpr unsigned kBurst = 0xF003;  // flags, temperature, rates, accelerations; count and sum
constexpr unsigned kWide = 0x7000;   // which of these have 32 bit
constexpr double kFilterHz = 2000;   // before the filter

constexpr std::array kOptions{
    OptionSpec{.key = "model",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "G370PDG0",
               .choices = "G370PDG0|G370PDT0|G330PDG0|G366PDG0|G370PDF1|G365PDF1|G365PDC1|G364PDC0|"
                          "G354PDH0|G320PDG0",
               .help = "product, by which its numbers are scaled; the device tells when it is "
                       "another"},
    OptionSpec{.key = "rate_hz",
               .type = OptionType::choice,
               .unit = "Hz",
               .fallback = "200",
               .choices = "1000|500|400|250|200|125|100|80|62.5|50|40|31.25|25|20",
               .help = "samples per second"},
    OptionSpec{.key = "bits",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "32",
               .choices = "16|32",
               .help = "of its numbers; 32 resolve the noise"},
    OptionSpec{.key = "filter_delay",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "true",
               .help = "stamp the middle of what its filter takes together, 0.25 ms a tap"},
    OptionSpec{.key = "pps",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "false",
               .help = "a pulse per second is wired to its GPIO2, which begins its counter anew"},
};

const Model& model_of(const Options& options) {
  return *std::ranges::find(kModels, options.text("model"), &Model::name);
}
const Rate& rate_of(const Options& options) {
  return *std::ranges::find(kRates, options.text("rate_hz"), &Rate::name);
}

std::uint16_t sum_of_words(Bytes b) {
  unsigned sum = 0;
  for (std::size_t at = 0; at + 1 < b.size(); at += 2) sum += wire::u16be(b, at);
  return static_cast<std::uint16_t>(sum);
}

}  // namespace

std::size_t EpsonFraming::measure(Bytes b) const {
  const std::uint8_t first = wire::u8(b, 0);
  if (first == kBegin) return burst_;
  return asked_ == first ? kAnswer : kNotAFrame;
}

bool EpsonFraming::intact(Bytes frame) const {
  const std::size_t n = frame.size();
  if (wire::u8(frame, n - 1) != kEnd) return false;
  if (n == kAnswer) return true;
  return sum_of_words(frame.subspan(1, n - 4)) == wire::u16be(frame, n - 3);
}

// Its bursts tell nothing of their length, so both are tried.
double Epson::likeness(Bytes b) {
  return std::max(likeness_of(EpsonFraming(true), b), likeness_of(EpsonFraming(false), b));
}

std::span<const OptionSpec> Epson::options() { return kOptions; }

Figures Epson::figures(const Options& options, int) {
  const double rate = rate_of(options).hz;
  return {.packets_hz = rate, .bytes_per_s = rate * (options.text("bits") == "32" ? 36 : 22)};
}

Finding Epson::finding() {
  static constexpr std::array kBauds{460'800, 230'400, 921'600};
  return {.bauds = kBauds, .asks_first = true};
}

Epson::Epson(const Options& options)
    : model_(model_of(options)),
      wide_(options.text("bits") == "32"),
      pps_(options.flag("pps")),
      rate_(rate_of(options)),
      delay_(options.flag("filter_delay") ? hal::from_seconds(rate_.taps / 2.0 / kFilterHz)
                                          : hal::Duration{}),
      framing_(wide_) {}

void Epson::restart() {
  framing_.expect({});
  knocks_ = 0;
  next_set_ = name_size_ = 0;
  about_.clear();
}

ClockModel Epson::clock_model() const {
  return {.modulus = pps_ ? hal::Duration(1s) : model_.tick * 65'536,
          .quantum = model_.tick,
          .period = hal::from_seconds(1 / rate_.hz)};
}

hal::Duration Epson::max_silence() const {
  return std::max<hal::Duration>(250ms, hal::from_seconds(3 / rate_.hz));
}

// Commands are 3 bytes and must not follow each other at once: one to a step. While it samples,
// an answer would lie inside a burst: it is stopped first.
std::span<const Step<Epson>> Epson::start_script() {
  using D = Epson;
  constexpr auto kFail = IfUnanswered::fail;
  constexpr Step<D> kSet{"configure", &D::set_next, nullptr, 1ms};
  static constexpr std::array kBauds{460'800, 230'400, 921'600};
  static constexpr std::array<Step<D>, 22> kSteps{{
      {"stop sampling", &D::knock, &D::take_mode, 40ms, 6, kFail, kBauds},
      {"select window 1", &D::window_1, nullptr, 1ms},
      {"wait until it is ready", &D::ask_ready, &D::take_ready, 100ms, 10},
      {"get product and serial number", &D::ask_name, &D::take_name, 100ms, 3},
      {"select window 0", &D::window_0, nullptr, 1ms},
      {"get self-test", &D::ask_diagnosis, &D::take_diagnosis, 100ms, 3},
      {"select window 1", &D::window_1, nullptr, 1ms},
      kSet,
      kSet,
      kSet,
      kSet,
      kSet,
      kSet,
      {"wait for its filter", &D::ask_filter, &D::take_filter, 100ms, 5},
      kSet,
      kSet,
      kSet,
      kSet,
      {"get burst", &D::ask_burst, &D::take_burst, 100ms, 3},
      {"get width", &D::ask_width, &D::take_width, 100ms, 3},
      {"select window 0", &D::window_0, nullptr, 1ms},
      {"start sampling", &D::begin, nullptr, 1ms},
  }};
  return kSteps;
}

std::span<const Step<Epson>> Epson::stop_script() {
  using D = Epson;
  static constexpr std::array<Step<D>, 2> kSteps{
      {{"stop sampling", &D::stop, nullptr, 20ms}, {"stop sampling", &D::stop, nullptr, 20ms}}};
  return kSteps;
}

bool Epson::write(Request& request, unsigned address, unsigned value) {
  framing_.expect({});
  request.u8(address | 0x80).u8(value).u8(kEnd);
  return true;
}

bool Epson::read(Request& request, unsigned address) {
  framing_.expect(static_cast<std::uint8_t>(address));
  request.u8(address).u8(0).u8(kEnd);
  return true;
}

std::optional<unsigned> Epson::answer(const Frame& frame, unsigned address) const {
  const bool mine = frame.bytes.size() == kAnswer && wire::u8(frame.bytes, 0) == address;
  return mine ? std::optional<unsigned>(wire::u16be(frame.bytes, 1)) : std::nullopt;
}

// At whatever rate it is: window 0, stop, and what its mode is now.
bool Epson::knock(Request& request) {
  switch (knocks_++ % 3) {
    case 0:
      return window_0(request);
    case 1:
      return stop(request);
    default:
      return read(request, 0x02);
  }
}

Reply Epson::take_mode(const Frame& frame) {
  const auto mode = answer(frame, 0x02);
  return mode && (*mode & 0x0400) != 0 ? Reply::done() : Reply::not_mine();
}

// Asked again when the wait is over.
Reply Epson::take_ready(const Frame& frame) {
  const auto told = answer(frame, 0x0A);
  return told && (*told & 0x0400) == 0 ? Reply::done() : Reply::not_mine();
}

Reply Epson::take_diagnosis(const Frame& frame) {
  const auto told = answer(frame, 0x04);
  if (!told) return Reply::not_mine();
  if (*told != 0) {
    return Reply::refused(hal::Text<96>::of("its self-test failed (DIAG_STAT 0x%04X)", *told));
  }
  return Reply::done();
}

// Word by word, the low byte first.
bool Epson::ask_name(Request& request) {
  const unsigned word = static_cast<unsigned>(name_size_ / 2);
  return read(request, (word < 4 ? 0x6A : 0x74 - 8) + 2 * word);
}

Reply Epson::take_name(const Frame& frame) {
  const unsigned word = static_cast<unsigned>(name_size_ / 2);
  const auto told = answer(frame, (word < 4 ? 0x6A : 0x74 - 8) + 2 * word);
  if (!told) return Reply::not_mine();
  name_[name_size_++] = static_cast<char>(*told);
  name_[name_size_++] = static_cast<char>(*told >> 8);
  if (name_size_ < name_.size()) return Reply::again();
  const std::string_view product(name_.data(), 8), serial(name_.data() + 8, 8);
  about_ = plain(hal::Text<96>::of("M-%.8s, serial %.8s", product.data(), serial.data()));
  if (product == model_.name) return Reply::done();
  return Reply::refused(plain(hal::Text<96>::of(
      "it is a %.8s: write 'model: %.8s', if that is known", product.data(), product.data())));
}

bool Epson::set_next(Request& request) {
  struct Setting {
    unsigned address, value;
  };
  const std::array settings{
      Setting{0x01, 0xFE},                     // new-data flags of all that is sent
      Setting{0x00, 0x00},                     // and of no deltas
      Setting{0x02, 0x40},                     // its counter is a clock
      Setting{0x05, rate_.code},               //
      Setting{0x10, 0x00},                     // no axis is inverted
      Setting{0x06, rate_.filter},             // the last before its filter is waited for
      Setting{0x08, 0x01},                     // bursts come by themselves
      Setting{0x0C, kBurst & 0xFF},            //
      Setting{0x0D, kBurst >> 8},              //
      Setting{0x0F, wide_ ? kWide >> 8 : 0U},  //
  };
  const Setting& next = settings[next_set_++ % settings.size()];
  return write(request, next.address, next.value);
}

Reply Epson::take_filter(const Frame& frame) {
  const auto told = answer(frame, 0x06);
  return told && (*told & 0x0020) == 0 ? Reply::done() : Reply::not_mine();
}

Reply Epson::take_burst(const Frame& frame) {
  const auto told = answer(frame, 0x0C);
  if (!told) return Reply::not_mine();
  if (*told == kBurst) return Reply::done();
  return Reply::refused(hal::Text<96>::of("it sends burst 0x%04X, 0x%04X was set", *told, kBurst));
}

Reply Epson::take_width(const Frame& frame) {
  const auto told = answer(frame, 0x0E);
  if (!told) return Reply::not_mine();
  if ((*told & kWide) == (wide_ ? kWide : 0)) return Reply::done();
  return Reply::refused(hal::Text<96>::of("it sends numbers of other bits (0x%04X)", *told));
}

void Epson::decode(const Frame& frame, Decoded& out) {
  const Bytes b = frame.bytes;
  if (b.size() == kAnswer) return;
  const std::size_t size = wide_ ? 4 : 2, temperature = 3, gyro = temperature + size,
                    accel = gyro + 3 * size;
  const auto number = [&](std::size_t at) {
    return wide_ ? wire::i32be(b, at) / 65'536.0 : wire::i16be(b, at);
  };
  const auto vector = [&](std::size_t at, double unit) {
    return inertial::Vector{number(at) * unit, number(at + size) * unit,
                            number(at + 2 * size) * unit};
  };
  ImuSample sample;
  sample.temperature = (number(temperature) - model_.at_25) * model_.celsius + 25;
  sample.gyro = vector(gyro, model_.gyro * inertial::kRadPerDeg);
  sample.accel = vector(accel, model_.accel * 1e-3 * inertial::kGravity);
  if (!inertial::is_sensible(sample, {})) return out.undecodable();
  if ((wire::u16be(b, 1) & 1) != 0) out.fault(hal::Text<96>::of("it reports an error (flag EA)"));
  const std::int64_t count = wire::u16be(b, accel + 3 * size);
  out.add(sample, {.source = Timing::Source::clock,
                   .raw_ns = count * model_.tick.count(),
                   .arrival = frame.last_at,
                   .bytes = b.size(),
                   .to_first = -delay_});
}

}  // namespace drivers
