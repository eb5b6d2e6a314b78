#include "test/sim/bluesea.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "test/sim/bluesea_packets.h"
#include "test/sim/lidar_parts.h"
#include "test/sim/noise.h"
#include "test/sim/wire.h"

namespace sim::bluesea {
namespace {

constexpr double kLeast = 2.0, kMost = 30.0;  // turns/s
constexpr double kEnergy = 250.0;
constexpr std::size_t kLongestCommand = 16;
// The date of power-up, of the format that tells it: 2026-01-01 00:00:00 UTC.
constexpr std::int64_t kUnixAtPowerUp = 1'767'225'600'000'000'000;
constexpr std::int64_t kNsPerMs = 1'000'000;

constexpr std::array kOptions = {
    choice("model", "LDS-50C-2", "LDS-50C-2|LDS-25|LDS-U50|LDS-U80C", "type that it reports"),
    choice("format", "CE", "CE|CF|DF|C7|AA|99", "code of the packets"),
    choice("body", "3", "3|2", "bytes per point in CE packets; 2 = three bits of energy"),
    choice("running", "off", "off|on", "found streaming at power-up; off waits for LSTARH"),
    choice("unit", "mm", "mm|cm", "of distances, until LMDMMH or LMDCMH changes it"),
    choice("intensity", "on", "on|off", "until LOCONH or LNCONH changes it"),
    choice("status", "off", "off|on", "a status message before each turn"),
    number("rpm", "600", kLeast * 60.0, kMost * 60.0, "turns per minute, until LSRPM changes it"),
    number("points", "100", 2.0, 400.0, "points in each fan of 36 degrees"),
    number("parts", "1", 1.0, 8.0, "packets that C7, AA and 99 split a fan into"),
    number("baud", "768000", 9600.0, 3'000'000.0, "line rate"),
    noise_option(),
};

Format format_of(const Settings& settings) {
  const std::string& name = settings.word("format");
  if (name == "CF") return Format::cf;
  if (name == "DF") return Format::df;
  if (name == "C7") return Format::c7;
  if (name == "AA") return Format::aa;
  if (name == "99") return Format::x99;
  return settings.word("body") == "2" ? Format::ce_packed : Format::ce;
}

// Of commands that come by UDP.
constexpr std::uint64_t kFrame = 0x484C, kTextCommand = 0x0043, kSetting = 0x0053,
                        kKeepAlive = 0x4B41;

// The CRC unit of an STM32 over little-endian words.
std::uint32_t word_crc(hal::Bytes bytes) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (std::size_t at = 0; at < bytes.size(); at += 4) {
    const auto word = static_cast<std::uint32_t>(get_le(bytes, at, 4));
    for (int bit = 31; bit >= 0; --bit) {
      const bool one = ((crc >> 31) ^ (word >> bit & 1U)) != 0;
      crc = one ? (crc << 1) ^ 0x04C11DB7U : crc << 1;
    }
  }
  return crc;
}

// All is well: no flag is set.
ByteVector status_message() {
  ByteVector bytes;
  put_text(bytes, "ST");
  put_le(bytes, 0, 4);
  put_text(bytes, "ED");
  return bytes;
}

class Model final : public DeviceModel {
 public:
  Model(const ModelInputs& inputs, double turns);

  void power_up(hal::Time now, Output& out) override;
  void receive(Channel channel, hal::Bytes bytes, hal::Time now, Output& out) override;
  hal::Time advance(hal::Time now, Output& out) override;
  unsigned baud() const override { return baud_; }
  hal::Duration clock_period() const override;
  void falsify(ByteVector& frame, Random& random) const override;

 private:
  struct Manner {  // what commands change, forgotten without power
    bool runs, is_mm, has_energy;
    double turns_per_s;
  };

  void receive_frame(hal::Bytes frame, hal::Time now, Output& out);
  void obey(std::string_view command, hal::Time now, Output& out);
  void set_speed(std::string_view digits, hal::Time now, Output& out);
  void answer(hal::Time now, Output& out, std::string text) const;
  void emit(Output& out);

  double beam_ns() const {
    return clock_.true_ns(1e9 / (manner_.turns_per_s * static_cast<double>(kFans * points_)));
  }
  // The samples of the packet in the making; the last part of a fan takes what is left.
  std::size_t part_points() const {
    const std::size_t usual = (points_ + parts_ - 1) / parts_;
    return std::min(usual, points_ - offset_);
  }
  hal::Time due() const { return pace_.at(part_points() - 1); }

  DeviceClock& clock_;
  Noise noise_;
  std::string type_;
  Format format_;
  std::size_t points_, parts_;
  bool has_status_;
  unsigned baud_;
  Manner at_power_up_, manner_;
  std::string command_;        // what has come of one, from its L on
  std::size_t fan_ = 0;        // in its turn
  std::size_t offset_ = 0;     // of the next packet in its fan
  std::int64_t stamp_ns_ = 0;  // of the fan's first sample
  Pace pace_;
};

Model::Model(const ModelInputs& inputs, double turns)
    : clock_(inputs.clock),
      noise_(inputs),
      type_(inputs.settings.word("model")),
      format_(format_of(inputs.settings)),
      points_(static_cast<std::size_t>(inputs.settings.number("points"))),
      parts_(splits(format_) ? static_cast<std::size_t>(inputs.settings.number("parts")) : 1),
      has_status_(inputs.settings.on("status")),
      baud_(static_cast<unsigned>(inputs.settings.number("baud"))),
      at_power_up_{inputs.settings.on("running"), inputs.settings.word("unit") == "mm",
                   inputs.settings.on("intensity"), turns},
      manner_(at_power_up_) {}

void Model::power_up(hal::Time now, Output&) {
  manner_ = at_power_up_;
  command_.clear();
  fan_ = offset_ = 0;
  pace_.start(now, beam_ns());
}

// By UDP a command stands in a frame with a checksum. On a line it has no line end: it begins with
// L and ends with H.
void Model::receive(Channel, hal::Bytes bytes, hal::Time now, Output& out) {
  if (bytes.size() >= 2 && get_le(bytes, 0, 2) == kFrame) return receive_frame(bytes, now, out);
  for (const std::byte b : bytes) {
    const char letter = static_cast<char>(b);
    if (letter == 'L') command_.clear();
    if (letter != 'L' && command_.empty()) continue;
    command_ += letter;
    if (letter == 'H') obey(command_, now, out);
    if (letter == 'H' || command_.size() > kLongestCommand) command_.clear();
  }
}

void Model::receive_frame(hal::Bytes frame, hal::Time now, Output& out) {
  if (frame.size() < 12 || get_le(frame, 6, 2) != frame.size() - 12 || frame.size() % 4 != 0)
    return;
  if (word_crc(frame.first(frame.size() - 4)) != get_le(frame, frame.size() - 4, 4)) return;
  const std::uint64_t command = get_le(frame, 2, 2);
  std::string said;
  for (const std::byte b : frame.subspan(8, frame.size() - 12)) {
    if (b == std::byte{0}) break;
    said += static_cast<char>(b);
  }
  ByteVector reply;
  if (command == kKeepAlive) {
    put_le(reply, static_cast<std::uint64_t>(clock_.stamp(now) / kNsPerMs % 3'600'000), 4);
    put_le(reply, 72'000'000, 4);
    reply.resize(32);
  } else if (command == kTextCommand && said == "LVERSH") {
    put_text(reply, "MOTOR VERSION:1.0");
  } else if (command == kTextCommand && (said == "LSTARH" || said == "LSTOPH")) {
    Output unused;
    obey(said, now, unused);
    put_text(reply, "OK");
  } else if (command == kSetting) {
    Output told;  // a line's reply, when it was taken
    obey(said, now, told);
    put_text(reply, told.frames.empty() ? "ER" : "OK");
  } else {
    return;
  }
  reply.resize((reply.size() + 3) / 4 * 4);
  ByteVector bytes;
  put_le(bytes, kFrame, 2);
  put_le(bytes, command, 2);
  put_le(bytes, get_le(frame, 4, 2), 2);
  put_le(bytes, reply.size(), 2);
  bytes.insert(bytes.end(), reply.begin(), reply.end());
  put_le(bytes, word_crc(bytes), 4);
  out.send(now, std::move(bytes));
}

void Model::obey(std::string_view command, hal::Time now, Output& out) {
  constexpr std::string_view kSpeed = "LSRPM:";
  if (command == "LSTARH" && !manner_.runs) {
    manner_.runs = true;
    offset_ = 0;
    pace_.start(now, beam_ns());
  } else if (command == "LSTOPH") {
    manner_.runs = false;
  } else if (command == "LUUIDH") {
    answer(now, out, "PRODUCT SN:2026010100000000007");
  } else if (command == "LVERSH") {
    answer(now, out, "MOTOR VERSION:1.0");
  } else if (command == "LTYPEH") {
    answer(now, out, "TYPE ID:" + type_);
  } else if (command == "LMDMMH" || command == "LMDCMH") {
    manner_.is_mm = command == "LMDMMH";
    answer(now, out, std::string("SET LiDAR ") + (manner_.is_mm ? "mm" : "cm"));
  } else if (command == "LOCONH" || command == "LNCONH") {
    manner_.has_energy = command == "LOCONH";
    answer(now, out, std::string("LiDAR confidence ") + (manner_.has_energy ? "on" : "off"));
  } else if (command.starts_with(kSpeed)) {
    set_speed(command.substr(kSpeed.size(), command.size() - kSpeed.size() - 1), now, out);
  }
}

void Model::set_speed(std::string_view digits, hal::Time now, Output& out) {
  const std::string text(digits);
  char* end = nullptr;
  const double turns = std::strtod(text.c_str(), &end) / 60.0;
  if (text.empty() || *end != '\0' || turns < kLeast || turns > kMost) return;
  manner_.turns_per_s = turns;
  answer(now, out, "Set RPM:" + text);
}

void Model::answer(hal::Time now, Output& out, std::string text) const {
  ByteVector bytes;
  put_text(bytes, text + "\r\n");
  out.send(now, std::move(bytes));
}

hal::Time Model::advance(hal::Time now, Output& out) {
  while (manner_.runs && due() <= now) emit(out);
  return manner_.runs ? due() : kNever;
}

hal::Duration Model::clock_period() const {
  return counts_in_the_hour(format_) ? hal::Duration(std::chrono::hours(1)) : hal::Duration{};
}

void Model::emit(Output& out) {
  // All parts of a fan bear the stamp of its first sample.
  if (offset_ == 0) stamp_ns_ = clock_.stamp(pace_.at(0));
  FanPart part{fan_, points_, offset_, manner_.is_mm, manner_.has_energy, stamp_ns_, {}};
  if (tells_date(format_)) part.stamp_ns += kUnixAtPowerUp;
  ScanTruth truth{part.stamp_ns, {}};
  if (counts_in_the_hour(format_)) truth.device_ns = stamp_ns_ / kNsPerMs * kNsPerMs;
  if (!splits(format_)) truth.device_ns = stamp_ns_;
  if (has_status_ && fan_ == 0 && offset_ == 0) out.send(due(), status_message());
  const std::size_t count = part_points();
  for (std::size_t i = 0; i < count; ++i) {
    const double turn =
        static_cast<double>(fan_) + static_cast<double>(offset_ + i) / static_cast<double>(points_);
    const TrueBeam beam = noise_.on(look_clockwise(pace_.at(i), kFanDegrees * turn));
    const bool is_lit = manner_.has_energy && beam.range > 0.0;
    part.samples.push_back({manner_.is_mm
                                ? millimetres(beam.range)
                                : static_cast<std::uint64_t>(std::lround(beam.range * 100)),
                            is_lit ? strength(beam.range, kEnergy) : 0});
    truth.beams.push_back(beam);
  }
  out.send(due(), packet(format_, part));
  out.scans.push_back(std::move(truth));
  offset_ += count;
  if (offset_ == points_) offset_ = 0, fan_ = (fan_ + 1) % kFans;
  pace_.pass(count, beam_ns());
}

void Model::falsify(ByteVector& frame, Random& random) const {
  if (frame.size() <= head_bytes(format_) + 2 || frame[1] != std::byte{0xFA}) return;
  frame.resize(frame.size() - 2);
  for (std::size_t i = head_bytes(format_); i < frame.size(); ++i)
    frame[i] = static_cast<std::byte>(random.below(256));
  seal(format_, frame);
}

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const auto turns = turns_per_s(inputs, inputs.settings.number("rpm") / 60.0, kLeast, kMost);
  if (!turns) return turns.error();
  return std::unique_ptr<DeviceModel>(std::make_unique<Model>(inputs, *turns));
}

}  // namespace sim::bluesea
