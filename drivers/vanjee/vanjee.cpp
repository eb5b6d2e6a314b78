#include "drivers/vanjee/vanjee.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "drivers/rounding.h"
#include "drivers/wire.h"

namespace drivers {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostWaitingForIntensities = 8;  // of a turn
constexpr std::uint64_t kLatest = 64;                  // what is so far behind is of a new count
constexpr std::uint64_t kFirstBank = 36;               // a turn of a 719, at any of its speeds
constexpr double kDegree = std::numbers::pi / 180;

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

}  // namespace

std::span<const OptionSpec> Vanjee::options() { return kOptions; }

Figures Vanjee::figures(const Options& options, int) {
  const bool is_719 = options.text("model") == "719";
  const bool waits = !is_719 && options.flag("intensities");
  return {.packets_hz = is_719 ? 360.0 : 70.0,
          .turns_hz = 35,
          .beams_per_turn = is_719 ? 10'800U : 4800U,
          .bytes_per_s = is_719 ? 360.0 * 1234 : 200e3,
          .delivery = waits ? 110ms : 50ms};
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
    : model_(vanjee::model_named(options.text("model"))),
      points_(static_cast<std::size_t>(options.integer("points"))),
      wants_intensities_(options.flag("intensities")),
      stamps_first_(options.text("stamp") == "first"),
      is_clockwise_(options.flag("clockwise")),
      zero_(options.number("zero_deg") * kDegree) {
  restart();
}

void Vanjee::restart() {
  field_ = model_ == Model::h718 ? vanjee::kBeams718 : points_;
  between_ = false;
  has_intensities_ = wants_intensities_ && model_ != Model::w719;
  newest_bank_ = kFirstBank;
  turn_.reset();
  parts_.forget();
  for (Part& part : held_) part.waits = false;
}

hal::Text<96> Vanjee::about() const {
  if (field_ == 0) return {};
  return hal::Text<96>::of("WLR-%s, %zu beams a turn", vanjee::name_of(model_), field_);
}

bool Vanjee::ask_scan(Request& request) {
  const bool is_719 = model_ == Model::w719;
  Request body;
  body.u16be(0x001E).u16be(0).u32be(0).u8(1).u8(1).u16be(vanjee::device_of(model_));
  body.u32be(0).u32be(0).u16be(is_719 ? 0x0503 : 0x0202).u16be(0).u32be(is_719 ? 0 : 0x01000000);
  request.u16be(0xFFAA).bytes(body.view()).u16be(wire::xor8(body.view())).u16be(vanjee::kEnd);
  return true;
}

Reply Vanjee::take_scan(const Frame& frame) {
  const hal::Text<96> other = vanjee::mismatch(frame.bytes, model_);
  if (!other.empty()) return Reply::refused(other);
  return vanjee::is_scan(frame.bytes, model_) ? Reply::measured() : Reply::not_mine();
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
  const std::size_t each = vanjee::points_per_packet(model_);
  if (model_ == Model::w719) field_ = head.packets * each;
  if (model_ != Model::mini716 || points_ != 0 || head.is_intensity) return;
  if (head.n < each) field_ = index * each + head.n;
}

void Vanjee::decode(const Frame& frame, Decoded& out) {
  const Bytes b = frame.bytes;
  if (const hal::Text<96> other = vanjee::mismatch(b, model_); !other.empty())
    return out.fault(other);
  if (!vanjee::is_scan(b, model_)) return;
  const std::optional<Head> head = vanjee::read_head(b, model_);
  if (!head) return out.undecodable();
  const auto deliver = [&](Part& part) { give(part, out); };
  if (head->is_intensity && !between_ && head->number <= head->packets / 2) {
    between_ = true;  // so they are numbered otherwise
    (void)parts_.give_up_all(deliver);
    parts_.forget();
  }
  const std::size_t index = head->index();
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
  if (!fill(b, *head, part)) {
    out.undecodable();
    if (!parts_.is_close(number)) return;
    part.slice = {};  // it takes its place all the same, or it would count as lost, too
  }
  time(b, *head, frame.last_at, part);
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
  const std::size_t first = part.index * vanjee::points_per_packet(model_);
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
  const auto steps = static_cast<double>(is_mini ? field_ - 1 : field_);
  const double of_turn = (is_mini ? 0.75 : 1.0) / steps * 1e9 / head.hz;
  const auto after = static_cast<std::int64_t>(head.n) - 1;
  const std::size_t last = part.index * vanjee::points_per_packet(model_) + head.n - 1;
  part.timing = {.source = Timing::Source::counter,
                 .raw_ns = nearest(1e9 / head.hz) * std::int64_t{part.turn} +
                           nearest(of_turn * static_cast<double>(last)),
                 .arrival = arrival,
                 .to_first = -part.slice.step * after};
  if (const std::optional<std::int64_t> unix_ns = vanjee::unix_ns_in(b, head)) {
    part.timing.source = Timing::Source::utc;
    part.timing.raw_ns = *unix_ns;
    if (stamps_first_) part.timing.to_first = {};
  }
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
  for (std::size_t i = 0; i < part.slice.beams.size(); ++i) part.beams[i].intensity = 0;
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
