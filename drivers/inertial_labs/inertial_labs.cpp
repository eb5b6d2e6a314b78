#include "drivers/inertial_labs/inertial_labs.h"

#include <algorithm>
#include <array>

#include "drivers/inertial.h"
#include "drivers/wire.h"

namespace drivers {
namespace {

using namespace inertial_labs;

constexpr std::size_t kHead = 6, kAround = 8;  // before the content; with the sum
constexpr std::size_t kAcknowledgement = 2;    // bytes of its content at most
constexpr std::array kReports{std::size_t{0x32}, std::size_t{0x80}};  // of the initial alignment
constexpr hal::Duration kWeek = std::chrono::hours(24 * 7);

constexpr std::array kOptions{
    OptionSpec{.key = "data",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "user_defined",
               .choices = "user_defined|orientation",
               .help = "what is asked for: what is set up in the device, which should hold its IMU "
                       "time, rate and acceleration of 32 bit (types 03, 21, 23); or the fixed "
                       "set, coarse and without a stamp"},
    OptionSpec{.key = "rate_hz",
               .type = OptionType::number,
               .unit = "Hz",
               .fallback = "100",
               .min = 1,
               .max = 2000,
               .help = "data rate that is set up in the device, which cannot be changed from here"},
    OptionSpec{.key = "gravity",
               .type = OptionType::number,
               .unit = "m/s^2",
               .fallback = "9.80665",  // the standard's; one source has 9.8106 of the maker
               .min = 9.7,
               .max = 9.9,
               .help = "what the device calls 1 g"},
    OptionSpec{.key = "gyro_scale",
               .type = OptionType::number,
               .unit = "1/(deg/s)",
               .fallback = "10",  // of the SDK; units of other ranges may have another
               .min = 1,
               .max = 1000,
               .help = "steps of rates of 16 bit"},
    OptionSpec{.key = "accel_scale",
               .type = OptionType::number,
               .unit = "1/g",
               .fallback = "4000",
               .min = 100,
               .max = 20000,
               .help = "steps of accelerations of 16 bit"},
};

Bytes content_of(Bytes frame) { return frame.subspan(kHead, frame.size() - kAround); }
unsigned code_of(Bytes frame) { return wire::u8(frame, 3); }
bool is_sent_by_device(Bytes frame) { return wire::u8(frame, 2) == 1; }

hal::Text<96> words_for(unsigned status) {
  static constexpr std::array kWords{"initial alignment failed",
                                     "measurement failed",
                                     "gyroscope failed",
                                     "accelerometer failed",
                                     "magnetometer failed",
                                     "electronics failed",
                                     "",  // satellites: no matter here
                                     "",
                                     "supply too low",
                                     "supply too high",
                                     "turns too fast about x",
                                     "turns too fast about y",
                                     "turns too fast about z",
                                     "",
                                     "too hot or too cold"};
  hal::Text<96> words;
  for (std::size_t bit = 0; bit < kWords.size(); ++bit) {
    if ((status >> bit & 1) == 0 || *kWords[bit] == 0) continue;
    words = hal::Text<96>::of("%s%s%s", words.c_str(), words.empty() ? "" : ", ", kWords[bit]);
  }
  return words;
}

}  // namespace

std::size_t InertialLabs::Framing::measure(Bytes b) {
  if (wire::u8(b, 0) != 0xAA) return kNotAFrame;
  if (b.size() > 1 && wire::u8(b, 1) != 0x55) return kNotAFrame;
  if (b.size() > 2 && wire::u8(b, 2) > 1) return kNotAFrame;
  if (b.size() < kHead) return kNeedMore;
  const std::size_t size = wire::u16(b, 4) + std::size_t{2};
  return size < kAround || size > kMaxFrame ? kNotAFrame : size;
}

bool InertialLabs::Framing::intact(Bytes frame) {
  const std::size_t n = frame.size() - 2;
  return static_cast<std::uint16_t>(wire::sum_of(frame.subspan(2, n - 2))) == wire::u16(frame, n);
}

std::span<const OptionSpec> InertialLabs::options() { return kOptions; }

Figures InertialLabs::figures(const Options& options, int) {
  const double rate = options.number("rate_hz");
  // Of user-defined data: time, rate, acceleration, attitude, temperature, status.
  const int bytes = options.text("data") == "orientation" ? 42 : 59;
  return {.packets_hz = rate, .bytes_per_s = rate * bytes};
}

Finding InertialLabs::finding() {
  static constexpr std::array kBauds{115'200, 460'800, 921'600, 230'400};
  return {.bauds = kBauds, .asks_first = true};
}

InertialLabs::InertialLabs(const Options& options)
    : rate_hz_(options.number("rate_hz")),
      scales_{.gravity = options.number("gravity"),
              .gyro = options.number("gyro_scale"),
              .accel = options.number("accel_scale")},
      code_(options.text("data") == "orientation" ? kOrientation : kUserDefined) {}

// Times of the week; before satellites are heard it counts from its start.
ClockModel InertialLabs::clock_model() const {
  return {.modulus = kWeek, .period = hal::from_seconds(1 / rate_hz_)};
}

hal::Duration InertialLabs::max_silence() const {
  return std::max<hal::Duration>(std::chrono::milliseconds(250), hal::from_seconds(3 / rate_hz_));
}

std::span<const Step<InertialLabs>> InertialLabs::start_script() {
  using namespace std::chrono_literals;
  using D = InertialLabs;
  static constexpr std::array kBauds{115'200, 460'800, 921'600, 230'400};
  static constexpr std::array<Step<D>, 4> kSteps{{
      {"get device info", &D::knock, &D::take_info, 200ms, 6, IfUnanswered::fail, kBauds},
      {"get parameters", &D::ask_parameters, &D::take_parameters, 400ms, 3, IfUnanswered::go_on},
      {"start", &D::start, &D::take_start, 500ms, 3},
      {"initial alignment", &D::align, &D::take_first, 60s, 2},
  }};
  return kSteps;
}

std::span<const Step<InertialLabs>> InertialLabs::stop_script() {
  using namespace std::chrono_literals;
  using D = InertialLabs;
  static constexpr std::array<Step<D>, 2> kSteps{
      {{"stop", &D::stop, nullptr, 50ms}, {"stop", &D::stop, nullptr, 50ms}}};
  return kSteps;
}

bool InertialLabs::say(Request& request, unsigned command) {
  request.u8(0xAA).u8(0x55).u8(0).u8(0).u16(7).u8(command);
  request.u16(wire::sum_of(request.view().subspan(2)));
  return true;
}

// At whatever rate it is: who it is and, as one that streams does not hear that, a stop, which is not
// answered.
bool InertialLabs::knock(Request& request) {
  return knocks_++ % 2 == 0 ? say(request, 0x12) : say(request, 0xFE);
}

// Answer: name of 8 characters with the serial number, firmware of 40.
Reply InertialLabs::take_info(const Frame& frame) {
  const Bytes info = content_of(frame.bytes);
  if (!is_sent_by_device(frame.bytes) || code_of(frame.bytes) != 0x12 || info.size() < 48) {
    return Reply::not_mine();
  }
  const auto text = [](Bytes b) {
    std::array<char, 41> chars{};
    std::memcpy(chars.data(), b.data(), std::min(b.size(), chars.size() - 1));
    return plain(hal::Text<41>::of("%s", chars.data()));
  };
  about_.print("%s, firmware %s", text(info.first(8)).c_str(), text(info.subspan(8, 40)).c_str());
  return Reply::done();
}

Reply InertialLabs::take_parameters(const Frame& frame) {
  const Bytes told = content_of(frame.bytes);
  if (!is_sent_by_device(frame.bytes) || code_of(frame.bytes) != 0x41 || told.size() < 4) {
    return Reply::not_mine();
  }
  const unsigned rate = wire::u16(told, 0);
  if (rate > rate_hz_) {
    return Reply::refused(
        hal::Text<96>::of("it is set up to send %u Hz: write 'rate_hz: %u'", rate, rate));
  }
  return Reply::done();
}

// Acknowledged or, where that was lost, followed by data.
Reply InertialLabs::take_start(const Frame& frame) {
  if (!is_sent_by_device(frame.bytes)) return Reply::not_mine();
  if (content_of(frame.bytes).size() <= kAcknowledgement) return Reply::done();
  return code_of(frame.bytes) == code_ ? Reply::measured() : Reply::not_mine();
}

Reply InertialLabs::take_first(const Frame& frame) {
  if (!is_sent_by_device(frame.bytes)) return Reply::not_mine();
  const std::size_t size = content_of(frame.bytes).size();
  if (std::ranges::count(kReports, size) > 0) return Reply::measured();  // or data of that size
  return size > kAcknowledgement ? Reply::measured() : Reply::not_mine();
}

void InertialLabs::decode(const Frame& frame, Decoded& out) {
  const Bytes content = content_of(frame.bytes);
  const unsigned code = code_of(frame.bytes);
  if (!is_sent_by_device(frame.bytes) || content.size() <= kAcknowledgement) return;
  if (!has_readings(code)) return;
  Readings readings;
  if (!read(code, content, scales_, readings)) {
    if (std::ranges::count(kReports, content.size()) == 0) out.undecodable();
    return;
  }
  const auto fault = words_for(readings.status);
  if (!fault.empty()) out.fault(fault);
  if (!readings.sample.accel && !readings.sample.gyro && !readings.sample.orientation) {
    return out.fault(hal::Text<96>::of(
        "its data hold no acceleration, rate or attitude: set them up with the maker's program"));
  }
  if (!inertial::is_sensible(readings.sample, {})) return out.undecodable();
  Timing timing{.arrival = frame.last_at, .bytes = frame.bytes.size()};
  if (readings.week_ns) {
    timing.source = Timing::Source::clock;
    timing.raw_ns = *readings.week_ns;
  }
  out.add(readings.sample, timing);
}

}  // namespace drivers
