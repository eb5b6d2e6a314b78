#include "drivers/coin_d4/coin_d4.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "drivers/text_line.h"
#include "drivers/wire.h"
#include "drivers/ydlidar/framing.h"

namespace drivers {
namespace {

constexpr double kRadPerDeg = std::numbers::pi / 180;
constexpr std::size_t kDescriptor = 7, kName = 20;
constexpr unsigned kStart = 0xF0, kStop = 0xF5;
constexpr double kUsualSamplesHz = 3000;  // to begin with
constexpr double kMostTurnsHz = 12, kLeastTurnsHz = 2;
constexpr std::array kBauds{115'200, 230'400};
constexpr std::size_t kMostOfRelatives = 80;
constexpr int kMostForeign = 8, kFewForeign = 2;  // one may be a damaged packet of its own

std::size_t measure_answer(Bytes b) {
  if (b.size() < kDescriptor) return kNeedMore;
  const unsigned length = wire::u16(b, 2), type = wire::u8(b, 6);
  if (length == kName && type == 0x01) return kDescriptor + kName;
  return length == 0 && type == 0x81 ? kDescriptor : kNotAFrame;
}

void command(Request& request, unsigned code) {
  request.u8(0xAA).u8(0x55).u8(code).u8(0xAA ^ 0x55 ^ code);
}

}  // namespace

std::size_t CoinD4Framing::measure(Bytes b) {
  const unsigned first = wire::u8(b, 0);
  if (first != 0xAA && first != 0xA5) return kNotAFrame;
  if (b.size() < 2) return kNeedMore;
  if (wire::u8(b, 1) != (first == 0xAA ? 0x55 : 0x5A)) return kNotAFrame;
  if (first == 0xA5) return measure_answer(b);
  if (b.size() < kHead) return kNeedMore;
  const std::size_t n = wire::u8(b, 3);
  const bool whole_angles = (wire::u8(b, 4) & wire::u8(b, 6) & 1) != 0;
  if (n == 0 || !whole_angles) return kNotAFrame;
  if (n <= kMostSamples) return kHead + 3 * n;
  if (n <= kMostOfRelatives) foreign_ = std::min(foreign_ + 2, kMostForeign);
  return kNotAFrame;
}

bool CoinD4Framing::intact(Bytes frame) {
  switch (kind_of(frame)) {
    case Kind::begins:
      return true;
    case Kind::name:
      return text_of(frame.subspan(kDescriptor)).starts_with("COIN");
    case Kind::packet:
      if (!YdlidarFraming::agrees(frame, 3)) return false;
      return foreign_ == 0 || --foreign_ < kFewForeign;
  }
  return false;
}

CoinD4Framing::Kind CoinD4Framing::kind_of(Bytes frame) {
  if (wire::u8(frame, 0) == 0xAA) return Kind::packet;
  return frame.size() > kDescriptor ? Kind::name : Kind::begins;
}

Finding CoinD4::finding() { return {.bauds = kBauds}; }

Figures CoinD4::figures(const Options&, int baud) {
  const double bytes_per_sample = 3 + 10.0 / Framing::kMostSamples;
  const double samples_hz = (baud > 0 ? baud : kBauds[0]) / 10.0 / bytes_per_sample;
  return {.packets_hz = samples_hz / Framing::kMostSamples + 2 * kMostTurnsHz,
          .turns_hz = kMostTurnsHz,
          .beams_per_turn = static_cast<std::size_t>(std::ceil(samples_hz / kLeastTurnsHz)),
          .bytes_per_s = 0,  // told by nobody: what the line carries
          .delivery = {}};
}

void CoinD4::restart() {
  framing_.forget();
  samples_.restart();
  samples_.assume_period(1e9 / kUsualSamplesHz);
  about_.clear();
}

std::span<const Step<CoinD4>> CoinD4::start_script() {
  using namespace std::chrono_literals;
  static constexpr std::array kSteps{
      // Only at a start it tells its name.
      Step<CoinD4>{"stop", &CoinD4::send_stop, nullptr, 30ms},
      Step<CoinD4>{"start", &CoinD4::send_start, &CoinD4::take_start, 250ms, 2, IfUnanswered::fail,
                   kBauds},
  };
  return kSteps;
}

std::span<const Step<CoinD4>> CoinD4::stop_script() {
  using namespace std::chrono_literals;
  static constexpr std::array kSteps{Step<CoinD4>{"stop", &CoinD4::send_stop, nullptr, 10ms}};
  return kSteps;
}

bool CoinD4::send_start(Request& request) {
  command(request, kStart);
  return true;
}

bool CoinD4::send_stop(Request& request) {
  command(request, kStop);
  return true;
}

// Where the answer got lost, what follows it tells as much.
Reply CoinD4::take_start(const Frame& frame) {
  switch (Framing::kind_of(frame.bytes)) {
    case Framing::Kind::packet:
      return Reply::measured();
    case Framing::Kind::begins:
      return Reply::done();
    case Framing::Kind::name:
      break;
  }
  const std::string_view text = text_of(frame.bytes.subspan(kDescriptor));
  const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
  const auto end = std::ranges::find_if_not(text, printable);
  about_.print("%.*s", static_cast<int>(end - text.begin()), text.data());
  return Reply::not_mine();
}

void CoinD4::decode(const Frame& frame, Decoded& out) {
  const Bytes b = frame.bytes;
  if (Framing::kind_of(b) != Framing::Kind::packet) return;
  const std::size_t n = wire::u8(b, 3);
  const double first = (wire::u16(b, 4) >> 1) / 64.0, last = (wire::u16(b, 6) >> 1) / 64.0;
  const double step = samples_.step_of(first, last, n);
  if (first > 360 || last > 360 || step < 0) return out.undecodable();
  for (std::size_t i = 0, at = Framing::kHead; i < n; ++i, at += 3) {
    beams_[i] = {static_cast<float>(-(first + step * static_cast<double>(i)) * kRadPerDeg),
                 static_cast<float>(wire::u16(b, at + 1) >> 2) * 1e-3f,
                 static_cast<float>(wire::u8(b, at))};
  }
  EvenSamples::Place place = samples_.next(frame, first, step, n, (wire::u8(b, 2) & 1) != 0);
  place.slice.has_intensity = true;
  place.slice.beams = std::span(beams_).first(n);
  out.add(place.slice, place.timing);
}

}  // namespace drivers
