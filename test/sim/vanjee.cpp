#include "test/sim/vanjee.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "test/sim/lidar_parts.h"
#include "test/sim/vanjee_frames.h"
#include "test/sim/wire.h"

namespace sim::vanjee {
namespace {

struct Rate {
  double hz;
  unsigned code;  // as the device tells it
};

struct Model {
  const char* name;
  Kind kind;
  double first_deg, field_deg;  // counter-clockwise from the front
  bool closed;                  // the whole turn: no beam at the end of the field
  std::size_t per_packet;
  double brightest;             // intensity at no distance
  std::span<const Rate> rates;  // the first is the default
};

constexpr std::array kRatesOf716mini = {Rate{15, 1}, Rate{10, 0}, Rate{25, 2}, Rate{35, 3},
                                        Rate{3, 4}};
constexpr std::array kRatesOf718H = {Rate{10, 0}, Rate{15, 1}, Rate{14, 2}};
constexpr std::array kRatesOf719 = {Rate{10, 5}, Rate{20, 7}, Rate{30, 3}};

constexpr std::array kModels = {
    Model{"716mini", Kind::mini716, -135.0, 270.0, false, 600, 4000.0, kRatesOf716mini},
    Model{"718H", Kind::h718, -180.0, 360.0, true, 500, 250.0, kRatesOf718H},
    Model{"719", Kind::w719, -180.0, 360.0, true, 300, 2000.0, kRatesOf719},
};

constexpr std::array kOptions = {
    choice("model", "716mini", "716mini|718H|719", "device played"),
    choice("running", "auto", "auto|on|off",
           "streams from power-up without being asked; auto = when --to is given"),
    choice("intensities", "behind", "behind|between|none",
           "packets of intensities: behind all distances, between them (716mini), or none"),
    number("points", "1081", 2, 4800, "points of a turn of a 716mini"),
    number("unix_s", "0", 0, 4e9, "synchronised: Unix time at power-up; 0 = not synchronised"),
    choice("stamp", "last", "last|first", "beam of a packet that its time belongs to"),
};

const Model& find_model(const std::string& name) {
  for (const Model& model : kModels)
    if (name == model.name) return model;
  return kModels[0];
}

constexpr double kPointsPerS719 = 108'000.0;
constexpr double kPointsOf718H = 1440.0;

class Scanner final : public DeviceModel {
 public:
  Scanner(const ModelInputs& in, const Rate& rate)
      : model_(find_model(in.settings.word("model"))),
        clock_(in.clock),
        rate_(rate),
        unix_ns_(std::llround(in.settings.number("unix_s") * 1e9)),
        stamps_first_(in.settings.word("stamp") == "first"),
        intensities_(in.settings.word("intensities")),
        runs_at_once_(in.settings.word("running") == "auto" ? in.streams_unasked
                                                            : in.settings.on("running")),
        points_(points_of_a_turn(in.settings)) {}

  void power_up(hal::Time now, Output&) override {
    runs_ = runs_at_once_;
    frame_ = 0;
    turn_ = 0;
    done_ = 0;
    request_.clear();
    pace_.start(now, beam_ns());
  }

  // The connection may bring a request in pieces.
  void receive(Channel, hal::Bytes bytes, hal::Time now, Output& out) override {
    for (const std::byte b : bytes) {
      request_.push_back(b);
      if (request_.size() > 64) request_.erase(request_.begin());
      const std::size_t at = start_of_request();
      if (at == request_.size()) continue;
      const std::optional<Request> request = parse(model_.kind, hal::Bytes(request_).subspan(at));
      if (!request) continue;
      request_.clear();
      obey(*request, now, out);
    }
  }

  hal::Time advance(hal::Time now, Output& out) override {
    while (due() <= now) {
      if (runs_) emit(out);
      pass();
    }
    return due();
  }

  unsigned baud() const override { return 0; }

  void falsify(ByteVector& frame, Random& random) const override {
    const std::size_t at = points_at(model_.kind);
    if (frame.size() < at + kTailBytes) return;
    const std::size_t end = std::min(at + points_bytes(model_.kind, frame), frame.size() - 4);
    for (std::size_t i = at; i < end; ++i) frame[i] = static_cast<std::byte>(random.below(256));
    seal(frame);
  }

 private:
  static constexpr std::size_t kTailBytes = 8;

  std::size_t points_of_a_turn(const Settings& settings) const {
    if (model_.kind == Kind::mini716) return static_cast<std::size_t>(settings.number("points"));
    if (model_.kind == Kind::h718) return static_cast<std::size_t>(kPointsOf718H);
    return static_cast<std::size_t>(std::lround(kPointsPerS719 / rate_.hz));
  }

  std::size_t start_of_request() const {
    for (std::size_t i = 0; i + 1 < request_.size(); ++i)
      if (get_be(request_, i, 2) == 0xFFAA) return i;
    return request_.size();
  }

  void obey(const Request& request, hal::Time, Output&) {
    const bool is_719 = model_.kind == Kind::w719;
    if (request.command == (is_719 ? 5U : 2U) && request.sub_command == (is_719 ? 3U : 2U)) {
      runs_ = true;
    }
  }

  double step_deg() const {
    return model_.field_deg / static_cast<double>(model_.closed ? points_ : points_ - 1);
  }
  double beam_ns() const { return clock_.true_ns(1e9 / rate_.hz * step_deg() / 360.0); }
  // Beams of a turn with those that would be measured behind the field.
  std::size_t beams_of_a_turn() const {
    return static_cast<std::size_t>(std::lround(360.0 / step_deg()));
  }
  std::size_t count() const { return std::min(model_.per_packet, points_ - done_); }
  hal::Time due() const { return pace_.at(count() - 1); }
  unsigned halves() const {
    return static_cast<unsigned>((points_ + model_.per_packet - 1) / model_.per_packet);
  }

  void emit(Output& out) {
    const std::size_t n = count();
    Part part = next_part(pace_.at(stamps_first_ ? 0 : n - 1));
    part.number = static_cast<unsigned>(done_ / model_.per_packet) + 1;
    ScanTruth truth{told_ns_, {}};
    std::vector<std::uint32_t> strengths;
    for (std::size_t i = 0; i < n; ++i) {
      const double deg = model_.first_deg + static_cast<double>(done_ + i) * step_deg();
      const double angle = radians(within_a_turn(deg));
      const TrueBeam beam{pace_.at(i), angle, Room::range(angle)};
      const auto mm = static_cast<std::uint32_t>(millimetres(beam.range));
      const auto bright =
          static_cast<std::uint32_t>(beam.range > 0.0 ? strength(beam.range, model_.brightest) : 0);
      part.values.push_back(model_.kind == Kind::w719 ? mm << 11 | bright : mm);
      strengths.push_back(bright);
      truth.beams.push_back(beam);
    }
    out.send(due(), packet(model_.kind, part));
    out.scans.push_back(std::move(truth));
    if (model_.kind == Kind::w719 || intensities_ == "none") return;
    part.holds_intensities = true;
    part.values = std::move(strengths);
    if (intensities_ == "between") return send_intensities(part, part.number, out);
    behind_.push_back(std::move(part));
    if (done_ + n < points_) return;
    for (Part& late : behind_) send_intensities(late, late.number + halves(), out);
    behind_.clear();
  }

  void send_intensities(Part& part, unsigned number, Output& out) {
    part.number = number;
    part.frame = frame_++;
    out.send(due(), packet(model_.kind, part));
  }

  Part next_part(hal::Time stamped) {
    const std::int64_t own_ns = clock_.stamp(stamped);
    Part part;
    part.frame = frame_++;
    part.turn = turn_;
    part.rate_code = rate_.code;
    part.packets = intensities_ == "none" ? halves() : 2 * halves();
    part.told = {unix_ns_ == 0 ? 0 : unix_ns_ + own_ns,
                 static_cast<std::uint32_t>(own_ns / 1'000'000)};
    told_ns_ = unix_ns_ == 0 ? own_ns / 1'000'000 * 1'000'000 : part.told.unix_ns;
    return part;
  }

  void pass() {
    const std::size_t n = count();
    done_ += n;
    std::size_t beams = n;
    if (done_ == points_) {
      beams += beams_of_a_turn() - points_;
      done_ = 0;
      ++turn_;
      behind_.clear();
    }
    pace_.pass(beams, beam_ns());
  }

  const Model& model_;
  DeviceClock& clock_;
  const Rate rate_;
  const std::int64_t unix_ns_;
  const bool stamps_first_;
  const std::string intensities_;
  const bool runs_at_once_;
  const std::size_t points_;

  bool runs_ = false;
  std::uint16_t frame_ = 0;
  std::uint32_t turn_ = 0;
  std::size_t done_ = 0;  // points of the turn in the making
  std::int64_t told_ns_ = 0;
  std::vector<Part> behind_;  // intensities that wait for the end of their turn
  ByteVector request_;
  Pace pace_;
};

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const Model& model = find_model(inputs.settings.word("model"));
  const hal::Result<double> hz = turns_per_s(inputs, model.rates[0].hz, 3.0, 35.0);
  if (!hz) return hz.error();
  for (const Rate& rate : model.rates) {
    if (rate.hz == *hz)
      return std::unique_ptr<DeviceModel>(std::make_unique<Scanner>(inputs, rate));
  }
  hal::Error error{hal::Errc::bad_config, 0, "simulate: --rate", {}};
  error.detail.print(
      "a %s turns at 3, 10, 15, 25 or 35 Hz (716mini), 10, 14 or 15 (718H), "
      "10, 20 or 30 (719)",
      model.name);
  return error;
}

}  // namespace sim::vanjee
