#include "drivers/vanjee/vanjee.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "drivers/rounding.h"
#include "drivers/wire.h"

namespace drivers {
namespace {

using namespace std::chrono_literals;

constexpr unsigned k716mini = 0x000D, k718H = 0x000E, k719 = 0x190A, kEnd = 0xEEEE;
constexpr std::size_t kLeast = 30, kTail = 4;
constexpr std::size_t kPerPacket716 = 600, kPerPacket718 = 500, kPerBank719 = 300, kBeams718 = 1440;
constexpr std::uint64_t kFirstBank = 36;  // a turn, at any of its speeds
constexpr std::size_t kMostPackets = 16;
// Of a turn. With four that wait for their turn this is what a frame may give.
constexpr std::size_t kMostWaitingForIntensities = 8;
constexpr std::uint64_t kLatest = 64;  // what is so far behind is of a new count
constexpr double kDegree = std::numbers::pi / 180;
constexpr std::uint64_t kNtpOfUnix = 2'208'988'800;  // s from 1900 to 1970

constexpr std::array kOptions{
    OptionSpec{.key = "model",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "716mini",
               .choices = "716mini|718H|719",
               .help = "It is asked for scans as this model."},
    OptionSpec{.key = "points",
               .type = OptionType::integer,
               .unit = "",
               .fallback = "0",
               .min = 0,
               .max = 4800,
               .help = "Points of a 716mini's field; 0: as its last packet tells, which does not "
                       "work where they are a multiple of 600."},
    OptionSpec{.key = "intensities",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "true",
               .help = "Whether beams wait for their intensities, up to a turn; of a 719 both come "
                       "together."},
    OptionSpec{.key = "stamp",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "last",
               .choices = "last|first",
               .help = "The beam of a packet that its NTP time is of."},
    OptionSpec{.key = "zero_deg",
               .type = OptionType::number,
               .unit = "deg",
               .fallback = "0",
               .min = -360,
               .max = 360,
               .help = "Added to all angles."},
    OptionSpec{.key = "clockwise",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "false",
               .help = "It turns clockwise, seen from above."},
};

double hz_716(unsigned code) {
  constexpr std::array kHz = {10.0, 15.0, 25.0, 35.0, 3.0};
  return code < kHz.size() ? kHz[code] : 0;
}
double hz_718(unsigned code) {
  constexpr std::array kHz = {10.0, 15.0, 14.0};
  return code < kHz.size() ? kHz[code] : 0;
}
double hz_719(unsigned code) {
  return code == 3 || code == 4   ? 30
         : code == 5 || code == 6 ? 10
         : code == 7 || code == 8 ? 20
                                  : 0;
}

}  // namespace

std::size_t VanjeeFraming::measure(Bytes b) {
  if (wire::u8(b, 0) != 0xFF) return kNotAFrame;
  if (b.size() >= 2 && wire::u8(b, 1) != 0xAA) return kNotAFrame;
  if (b.size() < 14) return kNeedMore;
  const unsigned device = wire::u16be(b, 12);
  if (device != k716mini && device != k718H && device != k719) return kNotAFrame;
  const std::size_t size = wire::u16be(b, 2) + std::size_t{4};
  const bool fits = size >= kLeast && size <= kMaxFrame;
  if (!fits || wire::u8(b, 10) > 2) return kNotAFrame;
  return b.size() < size || wire::u16be(b, size - 2) == kEnd ? size : kNotAFrame;
}

bool VanjeeFraming::intact(Bytes frame) {
  const std::size_t end = frame.size() - kTail;
  if (wire::u16be(frame, end + 2) != kEnd) return false;
  return wire::u8(frame, 10) != 1 ||
         wire::xor8(frame.subspan(2, end - 2)) == wire::u8(frame, end + 1);
}

std::span<const OptionSpec> Vanjee::options() { return kOptions; }

Figures Vanjee::figures(const Options& options, int) {
  const bool is_719 = options.text("model") == "719";
  Figures f;
  f.packets_hz = is_719 ? 360 : 70;
  f.turns_hz = 35;
  f.beams_per_turn = is_719 ? 10'800 : 4800;
  f.bytes_per_s = is_719 ? 360 * 1234 : 200e3;
  f.delivery = !is_719 && options.flag("intensities") ? 110ms : 50ms;
  return f;
}

Finding Vanjee::finding() {
  static constexpr std::uint16_t kUdp[] = {7000}, kTcp[] = {2110};
  return {.udp = kUdp, .tcp = kTcp};
}

std::span<const Step<Vanjee>> Vanjee::start_script() {
  static constexpr std::array kSteps{
      Step<Vanjee>{"ask for scans", &Vanjee::ask_scan, &Vanjee::take_scan, 500ms, 4}};
  return kSteps;
}

Vanjee::Vanjee(const Options& options)
    : model_(options.text("model") == "718H"  ? Model::h718
             : options.text("model") == "719" ? Model::w719
                                              : Model::mini716),
      points_(static_cast<std::size_t>(options.integer("points"))),
      wants_intensities_(options.flag("intensities")),
      stamps_first_(options.text("stamp") == "first"),
      is_clockwise_(options.flag("clockwise")),
      zero_(options.number("zero_deg") * kDegree) {
  restart();
}

void Vanjee::restart() {
  field_ = model_ == Model::h718 ? kBeams718 : points_;
  between_ = false;
  has_intensities_ = wants_intensities_ && model_ != Model::w719;
  newest_bank_ = kFirstBank;
  turn_.reset();
  parts_.forget();
  for (Part& part : held_) part.waits = false;
}

hal::Text<96> Vanjee::about() const {
  constexpr std::array kNames = {"716mini", "718H", "719"};
  if (field_ == 0) return {};
  return hal::Text<96>::of("WLR-%s, %zu beams a turn", kNames[static_cast<std::size_t>(model_)],
                           field_);
}

unsigned Vanjee::device_of(Model model) {
  return model == Model::mini716 ? k716mini : model == Model::h718 ? k718H : k719;
}

bool Vanjee::ask_scan(Request& request) {
  const bool is_719 = model_ == Model::w719;
  Request body;
  body.u16be(0x001E).u16be(0).u32be(0).u8(1).u8(1).u16be(device_of(model_));
  body.u32be(0).u32be(0).u16be(is_719 ? 0x0503 : 0x0202).u16be(0).u32be(is_719 ? 0 : 0x01000000);
  request.u16be(0xFFAA).bytes(body.view()).u16be(wire::xor8(body.view())).u16be(kEnd);
  return true;
}

Reply Vanjee::take_scan(const Frame& frame) {
  const hal::Text<96> other = mismatch(frame.bytes);
  if (!other.empty()) return Reply::refused(other);
  return is_scan(frame.bytes) ? Reply::measured() : Reply::not_mine();
}

hal::Text<96> Vanjee::mismatch(Bytes b) const {
  const unsigned device = wire::u16be(b, 12);
  if (device == device_of(model_)) return {};
  for (const auto& [model, name] :
       {std::pair{Model::mini716, "716mini"}, {Model::h718, "718H"}, {Model::w719, "719"}}) {
    if (device == device_of(model)) return hal::Text<96>::of("it is a WLR-%s: set model", name);
  }
  return {};
}

bool Vanjee::is_scan(Bytes b) const {
  if (model_ == Model::w719) return b.size() == 1234 && wire::u8(b, 16) == 5;
  return b.size() > 89 && wire::u8(b, 22) == 2 && (wire::u8(b, 23) == 2 || wire::u8(b, 23) == 1);
}

// Empty: it makes no sense.
std::optional<Vanjee::Head> Vanjee::read(Bytes b) const {
  Head head;
  if (model_ == Model::w719) {
    head.hz = hz_719(wire::u8(b, 17));
    head.number = wire::u8(b, 18);
    head.n = kPerBank719;
    head.data = 21;
    head.ntp = 1221;
    if (head.hz == 0) return std::nullopt;
    head.packets = static_cast<std::size_t>(nearest(360 / head.hz));
  } else {
    const bool is_mini = model_ == Model::mini716;
    const unsigned code = wire::u8(b, 79);
    head.turn = wire::u32be(b, is_mini ? 75 : 74);
    head.hz = is_mini ? hz_716(code) : hz_718(code);
    head.packets = wire::u8(b, 80);
    head.number = wire::u8(b, 81);
    head.is_intensity = wire::u8(b, 82) == 1;
    head.n = wire::u16be(b, 83);
    head.data = 85;
    const std::size_t end = head.data + 2 * head.n;
    const bool tells_time = is_mini || (wire::u8(b, 20) & 1U) != 0;
    if (wire::u8(b, 82) > 1 || head.packets > kMostPackets || end + kTail > b.size()) {
      return std::nullopt;
    }
    if (tells_time && (is_mini || end + 8 + kTail <= b.size())) head.ntp = is_mini ? 14 : end;
    if (head.n > (is_mini ? kPerPacket716 : kPerPacket718)) return std::nullopt;
  }
  const bool is_one = head.number >= 1 && head.number <= head.packets;
  return is_one && head.n > 0 && head.hz > 0 ? std::optional(head) : std::nullopt;
}

// Of the distances that it holds or belongs to.
std::size_t Vanjee::index_of(const Head& head) {
  const std::size_t half = head.packets / 2;
  const bool behind = head.is_intensity && head.number > half;
  return head.number - 1 - (behind ? half : 0);
}

// Of a packet among all, without gaps.
std::uint64_t Vanjee::number_of(const Head& head) {
  if (model_ == Model::w719) {  // the turn is not told: the nearest
    const std::uint64_t banks = head.packets;
    const std::uint64_t ahead = (head.number - 1 + banks - newest_bank_ % banks) % banks;
    return newest_bank_ + ahead - (ahead > banks / 2 ? banks : 0);
  }
  const std::uint64_t turn = std::uint64_t{head.turn} * head.packets;
  if (!between_) return turn + head.number - 1;
  return turn + 2 * (head.number - 1) + (head.is_intensity ? 1 : 0);
}

// The last packet of a turn is shorter than the others.
void Vanjee::learn_field(const Head& head, std::size_t index) {
  if (model_ == Model::w719) field_ = head.packets * kPerBank719;
  if (model_ != Model::mini716 || points_ != 0 || head.is_intensity) return;
  if (head.n < kPerPacket716) field_ = index * kPerPacket716 + head.n;
}

void Vanjee::decode(const Frame& frame, Decoded& out) {
  const Bytes b = frame.bytes;
  if (const hal::Text<96> other = mismatch(b); !other.empty()) return out.fault(other);
  if (!is_scan(b)) return;
  const std::optional<Head> head = read(b);
  if (!head) return out.undecodable();
  const auto deliver = [&](Part& part) { give(part, out); };
  if (head->is_intensity && !between_ && head->number <= head->packets / 2) {
    between_ = true;  // so they are numbered otherwise
    (void)parts_.give_up_all(deliver);
    parts_.forget();
  }
  const std::size_t index = index_of(*head);
  learn_field(*head, index);
  if (field_ == 0) return;  // the step is not known before the end of the first turn
  const std::uint64_t number = number_of(*head);
  if (parts_.is_waiting(number)) return;  // it came twice
  const bool is_behind = parts_.is_behind(number);
  if (is_behind && parts_.expected() - number <= kLatest) return;  // twice, or too late
  Part& part = parts_.place();
  part.turn =
      model_ == Model::w719 ? static_cast<std::uint32_t>(number / head->packets) : head->turn;
  part.index = index;
  part.is_intensity = head->is_intensity;
  if (fill(b, *head, part)) {
    time(b, *head, frame.last_at, part);
  } else {  // it takes its place without beams, or it would count as lost, too
    if (!parts_.is_close(number)) return out.undecodable();
    part.slice = {};
    out.undecodable();
  }
  newest_bank_ = std::max(newest_bank_, number);
  out.lost(is_behind ? parts_.take_anew(number, deliver) : parts_.take(number, deliver));
}

void Vanjee::finish(Decoded& out) {
  const std::uint64_t lost = parts_.give_up_all([&](Part& part) { give(part, out); });
  for (std::size_t i = 0; i < kMostHeld; ++i) {
    Part& part = held_[(next_held_ + i) % kMostHeld];
    if (part.waits) deliver_without(part, out);
  }
  out.lost(lost);
}

// False: it lies beyond the field.
bool Vanjee::fill(Bytes b, const Head& head, Part& part) const {
  const bool is_719 = model_ == Model::w719, is_mini = model_ == Model::mini716;
  const std::size_t each = is_719 ? kPerBank719 : is_mini ? kPerPacket716 : kPerPacket718;
  const std::size_t first = part.index * each;
  if (first + head.n > field_ || field_ < 2) return false;
  const double width = is_mini ? 270 * kDegree : 360 * kDegree;
  const double sign = is_clockwise_ ? -1 : 1;
  const double step = sign * width / static_cast<double>(is_mini ? field_ - 1 : field_);
  const double begin =
      zero_ - sign * width / 2 + step * static_cast<double>(static_cast<int>(first));
  for (std::size_t i = 0; i < head.n; ++i) {
    Beam& beam = part.beams[i];
    beam.angle = static_cast<float>(begin + step * static_cast<double>(static_cast<int>(i)));
    if (is_719) {
      const std::uint32_t word = wire::u32be(b, head.data + 4 * i);
      beam.range = static_cast<float>((word & 0x7FFF800U) >> 11) * 1e-3F;
      beam.intensity = static_cast<float>((word & 0x7FFU) * 128);
    } else {
      const unsigned value = wire::u16be(b, head.data + 2 * i);
      beam.range = static_cast<float>(value) * 1e-3F;
      beam.intensity = static_cast<float>(is_mini ? value : value & 0xFFU);
    }
  }
  part.slice = ScanSlice{};
  part.slice.has_intensity = is_719;
  part.slice.beams = std::span(part.beams).first(head.n);
  part.slice.step = hal::Duration(nearest(1e9 / head.hz * std::abs(step) / (360 * kDegree)));
  return true;
}

void Vanjee::time(Bytes b, const Head& head, hal::Time arrival, Part& part) const {
  const bool is_mini = model_ == Model::mini716;
  const double of_turn =
      (is_mini ? 0.75 : 1.0) / static_cast<double>(is_mini ? field_ - 1 : field_) * 1e9 / head.hz;
  const std::size_t each = model_ == Model::w719 ? kPerBank719
                           : is_mini             ? kPerPacket716
                                                 : kPerPacket718;
  const auto after = static_cast<std::int64_t>(head.n) - 1;
  const std::size_t last = part.index * each + head.n - 1;
  part.timing = {.source = Timing::Source::counter,
                 .raw_ns = nearest(1e9 / head.hz) * std::int64_t{part.turn} +
                           nearest(of_turn * static_cast<double>(last)),
                 .arrival = arrival,
                 .to_first = -part.slice.step * after};
  const std::uint64_t seconds = head.ntp == 0 ? 0 : wire::u32be(b, head.ntp);
  if (seconds < kNtpOfUnix) return;  // not synchronised
  const std::uint64_t fraction = wire::u32be(b, head.ntp + 4);
  part.timing.source = Timing::Source::utc;
  part.timing.raw_ns = static_cast<std::int64_t>((seconds - kNtpOfUnix) * 1'000'000'000 +
                                                 (fraction * 1'000'000'000 >> 32));
  if (stamps_first_) part.timing.to_first = {};
}

// In the order of the device.
void Vanjee::give(Part& part, Decoded& out) {
  if (part.slice.beams.empty()) return;
  if (part.is_intensity) return take_intensities(part, out);
  release_before(part.turn, out);
  if (has_intensities_ && part.index < kMostWaitingForIntensities) return hold(part);
  if (model_ == Model::w719) return deliver(part, out);
  deliver_without(part, out);
}

void Vanjee::hold(const Part& part) {
  Part& to = held_[next_held_];
  next_held_ = (next_held_ + 1) % kMostHeld;
  to = part;
  to.slice.beams = std::span(to.beams).first(part.slice.beams.size());
  to.waits = true;
}

void Vanjee::take_intensities(const Part& part, Decoded& out) {
  if (!wants_intensities_) return;
  has_intensities_ = true;
  for (std::size_t i = 0; i < kMostHeld; ++i) {
    Part& held = held_[(next_held_ + i) % kMostHeld];
    const std::size_t n = held.slice.beams.size();
    if (!held.waits || held.turn != part.turn || held.index > part.index) continue;
    if (held.index < part.index) {
      deliver_without(held, out);
    } else if (n == part.slice.beams.size()) {
      for (std::size_t k = 0; k < n; ++k) held.beams[k].intensity = part.beams[k].intensity;
      held.slice.has_intensity = true;
      deliver(held, out);
    }
  }
}

void Vanjee::deliver_without(Part& part, Decoded& out) {
  for (Beam& beam : std::span(part.beams).first(part.slice.beams.size())) beam.intensity = 0;
  deliver(part, out);
}

// Their intensities did not come. Where those of a whole turn did not, there are none.
void Vanjee::release_before(std::uint32_t turn, Decoded& out) {
  std::size_t without = 0;
  bool has_any = false;
  for (std::size_t i = 0; i < kMostHeld; ++i) {
    Part& part = held_[(next_held_ + i) % kMostHeld];
    if (part.turn + 1 == turn && !part.waits && part.slice.has_intensity) has_any = true;
    if (!part.waits || part.turn == turn) continue;
    ++without;
    deliver_without(part, out);
  }
  if (without > 0 && !has_any) has_intensities_ = false;
}

void Vanjee::deliver(Part& part, Decoded& out) {
  part.waits = false;
  part.slice.starts_turn = turn_ != part.turn;
  turn_ = part.turn;
  newest_ = part.timing.arrival = std::max(part.timing.arrival, newest_);
  out.add(part.slice, part.timing);
}

}  // namespace drivers
