#include "drivers/xsens/xsens.h"

#include <algorithm>
#include <cmath>

#include "drivers/inertial.h"

namespace drivers {
namespace {

using namespace xsens;

constexpr std::array kBauds{115'200, 921'600, 460'800, 230'400, 2'000'000,
                            57'600,  38'400,  19'200,  9600};

hal::Text<96> words_for(unsigned code) {
  const char* words = "?";
  switch (code) {
    case 3:
      words = "a period is out of range";
      break;
    case 4:
      words = "an invalid message";
      break;
    case 30:
      words = "it is to send more than its line carries";
      break;
    case 32:
      words = "a baud rate is out of range";
      break;
    case 33:
      words = "an invalid parameter";
      break;
    case 40:
      words = "it is defective";
      break;
  }
  return hal::Text<96>::of("%s (error %u)", words, code);
}

// Texts are padded with spaces.
hal::Text<32> trimmed(Bytes b) {
  std::array<char, 31> chars{};
  std::memcpy(chars.data(), b.data(), std::min(b.size(), chars.size()));
  std::string_view text(chars.data(), chars.size());
  text = text.substr(0, text.find('\0'));
  text = text.substr(0, text.find_last_not_of(' ') + 1);
  return hal::Text<32>::of("%.*s", static_cast<int>(text.size()), text.data());
}

Ticks::Wrap wrap_of(std::string_view word) {
  return word == "day"      ? Ticks::Wrap::day
         : word == "bits32" ? Ticks::Wrap::bits32
                            : Ticks::Wrap::unknown;
}

}  // namespace

Finding Xsens::finding() { return {.bauds = kBauds, .asks_first = true}; }

std::span<const OptionSpec> Xsens::options() { return xsens::options(); }

Figures Xsens::figures(const Options& options, int) {
  return {.packets_hz = options.number("rate_hz"), .bytes_per_s = bytes_per_s(options)};
}

Xsens::Xsens(const Options& options)
    : field_(options.number("field_ut") * 1e-6),
      told_wrap_(wrap_of(options.text("wrap"))),
      all_(outputs_of(options)),
      wanted_(all_),
      rate_hz_(options.number("rate_hz")),
      wrap_(told_wrap_) {}

void Xsens::restart() {
  wanted_ = all_;
  woke_ = is_set_ = false;
  rate_hz_ = all_.items[2].hz;
  wrap_ = told_wrap_;
  product_.clear(), number_.clear(), firmware_.clear(), about_.clear();
  ticks_.forget();
  sequence_.forget();
  newest_counter_.reset();
  young_ = 0;
}

hal::Duration Xsens::max_silence() const {
  return std::max<hal::Duration>(std::chrono::milliseconds(250), hal::from_seconds(3 / rate_hz_));
}

// Its answer to the first comes behind what it has sent already.
std::span<const Step<Xsens>> Xsens::start_script() {
  using namespace std::chrono_literals;
  using D = Xsens;
  constexpr auto kGoOn = IfUnanswered::go_on;
  static constexpr std::array<Step<D>, 7> kSteps{{
      {"go to config", &D::go_to_config, &D::take_config, 250ms, 3, IfUnanswered::fail, kBauds},
      {"get device number", &D::ask_number, &D::take_number, 500ms, 3, kGoOn},
      {"get product code", &D::ask_product, &D::take_product, 500ms, 2, kGoOn},
      {"get firmware", &D::ask_firmware, &D::take_firmware, 500ms, 2, kGoOn},
      {"get output configuration", &D::ask_outputs, &D::take_outputs, 500ms, 3, kGoOn},
      {"set output configuration", &D::set_outputs, &D::take_set, 1s, 3},
      {"go to measurement", &D::measure, &D::take_measuring, 500ms, 3},
  }};
  return kSteps;
}

std::span<const Step<Xsens>> Xsens::stop_script() {
  using namespace std::chrono_literals;
  using D = Xsens;
  static constexpr std::array<Step<D>, 1> kSteps{
      {{"go to config", &D::go_to_config, &D::take_config, 100ms, 3, IfUnanswered::go_on}}};
  return kSteps;
}

bool Xsens::say(Request& request, unsigned kind) {
  asked_ = kind;
  write(request, kind);
  return true;
}

// One that has just got power goes to measure by itself, unless it is told at once.
bool Xsens::go_to_config(Request& request) {
  if (std::exchange(woke_, false)) write(request, 0x3F);
  return say(request, 0x30);
}

bool Xsens::set_outputs(Request& request) {
  if (is_set_) return false;
  std::array<std::byte, 4 * std::tuple_size_v<decltype(Outputs::items)>> data{};
  std::size_t n = 0;
  const auto put = [&](unsigned v) {
    data[n++] = static_cast<std::byte>(v >> 8);
    data[n++] = static_cast<std::byte>(v);
  };
  for (const Output& o : wanted_.all()) put(o.id), put(o.hz);
  asked_ = 0xC0;
  write(request, asked_, Bytes(data).first(n));
  return true;
}

std::optional<Reply> Xsens::refusal_in(const Frame& frame) const {
  if (kind_of(frame.bytes) != kError) return std::nullopt;
  const Bytes data = data_of(frame.bytes);
  return Reply::refused(words_for(data.empty() ? 0U : wire::u8(data, 0)));
}

Reply Xsens::answered(const Frame& frame) const {
  if (kind_of(frame.bytes) == asked_ + 1) return Reply::done();
  return refusal_in(frame).value_or(Reply::not_mine());
}

Reply Xsens::take_config(const Frame& frame) {
  if (kind_of(frame.bytes) == kWakeUp) {
    woke_ = true;
    return Reply::again();
  }
  return kind_of(frame.bytes) == asked_ + 1 ? Reply::done() : Reply::not_mine();
}

// Four bytes: 10- and 100-series; eight: 1- and 600-series.
Reply Xsens::take_number(const Frame& frame) {
  if (kind_of(frame.bytes) != 0x01) return Reply::not_mine();
  const Bytes data = data_of(frame.bytes);
  const bool is_long = data.size() >= 8;
  if (data.size() >= 4) {
    const std::uint32_t low = wire::u32be(data, is_long ? 4 : 0);
    number_.print("%s%08X", is_long ? hal::Text<16>::of("%08X", wire::u32be(data, 0)).c_str() : "",
                  low);
    if (told_wrap_ == Ticks::Wrap::unknown)
      wrap_ = is_long ? Ticks::Wrap::bits32 : Ticks::Wrap::day;
  }
  return Reply::done();
}

Reply Xsens::take_product(const Frame& frame) {
  if (kind_of(frame.bytes) == 0x1D) product_ = trimmed(data_of(frame.bytes));
  return answered(frame);
}

Reply Xsens::take_firmware(const Frame& frame) {
  const Bytes data = data_of(frame.bytes);
  if (kind_of(frame.bytes) == 0x13 && data.size() >= 3) {
    firmware_.print("%u.%u.%u", unsigned{wire::u8(data, 0)}, unsigned{wire::u8(data, 1)},
                    unsigned{wire::u8(data, 2)});
  }
  return answered(frame);
}

Reply Xsens::take_outputs(const Frame& frame) {
  if (kind_of(frame.bytes) != 0xC1) return answered(frame);
  const Bytes list = data_of(frame.bytes);
  is_set_ = list.size() == 4 * wanted_.size;
  for (const Output& o : wanted_.all()) is_set_ &= rate_in(list, o.id) == o.hz;
  return is_set_ ? settle(list) : Reply::done();
}

// What it has not, or knows no rate of, is done without.
Reply Xsens::take_set(const Frame& frame) {
  if (kind_of(frame.bytes) == 0xC1) return settle(data_of(frame.bytes));
  const auto refused = refusal_in(frame);
  if (refused && wanted_.size > kIndispensable) {
    --wanted_.size;
    return Reply::again();
  }
  return refused.value_or(Reply::not_mine());
}

Reply Xsens::settle(Bytes list) {
  const unsigned accel = rate_in(list, kAccel), gyro = rate_in(list, kGyro);
  if (accel == 0 || gyro == 0) {
    return Reply::refused(hal::Text<96>::of("it does not send acceleration and rate of turn"));
  }
  if (rate_in(list, kTicks) == 0) return Reply::refused(hal::Text<96>::of("it sends no time"));
  rate_hz_ = std::max(accel, gyro);
  about_.print("%s%s%s%s%s, %g Hz%s%s", product_.empty() ? "MTi" : product_.c_str(),
               number_.empty() ? "" : ", number ", number_.c_str(),
               firmware_.empty() ? "" : ", firmware ", firmware_.c_str(), rate_hz_,
               all_.size > wanted_.size ? ", not all that was asked" : "",
               rate_in(list, kAttitude) == 0 ? ", no attitude" : "");
  return Reply::done();
}

Reply Xsens::take_measuring(const Frame& frame) {
  young_ = 0;
  return answered(frame);
}

void Xsens::decode(const Frame& frame, Decoded& out) {
  const Bytes data = data_of(frame.bytes);
  switch (kind_of(frame.bytes)) {
    case kWakeUp:
      return out.restarted();
    case kError:
      return out.fault(words_for(data.empty() ? 0U : wire::u8(data, 0)));
    case kWarning: {
      if (data.size() < 4) return;
      const hal::Text<32> said = trimmed(data.subspan(4));
      return out.fault(hal::Text<96>::of("it warns: %s (%u)", said.c_str(), wire::u32be(data, 0)));
    }
    case kData:
      break;
    default:
      return;
  }
  Measurement measurement;
  if (!measured(data, field_, measurement)) return out.undecodable();
  if (measurement.counter) out.lost(sequence_.missing_before(*measurement.counter));
  if (!measurement.carries_anything()) return;
  if (is_defective(measurement.sample)) return out.undecodable();
  out.add(measurement.sample, timing_of(frame, measurement));
}

// The first one or two after it began to measure have part of an interval only: what they tell of
// gravity is too little.
bool Xsens::is_defective(const ImuSample& sample) {
  constexpr unsigned kDoubtful = 2;
  constexpr double kPart = 0.9;
  if (young_ >= kDoubtful || !sample.accel) return false;
  ++young_;
  const auto& a = *sample.accel;
  return std::hypot(a[0], a[1], a[2]) < kPart * inertial::kGravity;
}

// What is of another time than the samples before it cannot be put among them by its own. Two
// messages may tell one instant; one that comes twice has the same counter.
Timing Xsens::timing_of(const Frame& frame, const Measurement& m) {
  Timing timing{.arrival = frame.last_at, .bytes = frame.bytes.size()};
  const auto before = std::exchange(newest_counter_, m.counter);
  if (!m.ticks || m.of_satellites) {
    if (ticks_.newest()) timing.source = Timing::Source::previous;
    return timing;
  }
  const bool again = ticks_.newest() == m.ticks && before != m.counter;
  timing.source = again ? Timing::Source::previous : Timing::Source::clock;
  timing.raw_ns = ticks_.unwrapped_ns(*m.ticks, wrap_);
  return timing;
}

}  // namespace drivers
