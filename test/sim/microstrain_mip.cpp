#include "test/sim/microstrain_mip.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "test/sim/mip_data.h"
#include "test/sim/wire.h"

namespace sim::microstrain_mip {
namespace {

using mip::Field;
using mip::Generation;
using mip::Packet;

constexpr unsigned kBase = 0x01, k3dm = 0x0C;
constexpr unsigned kAckField = 0xF1;
enum Code : unsigned { kOk = 0, kUnknown = 1, kBadChecksum = 2, kInvalid = 3 };
enum Selector : unsigned { kWrite = 1, kRead = 2, kSave = 3, kLoad = 4, kDefault = 5 };

constexpr unsigned kSensorBaseHz = 1000, kFilterBaseHz = 500;
constexpr hal::Duration kReplyDelay = std::chrono::milliseconds(1);
constexpr hal::Duration kBaudDelay =
    std::chrono::milliseconds(20);  // the reply goes at the old rate
constexpr unsigned kBauds[] = {9600, 19200, 38400, 57600, 115200, 230400, 460800, 921600};

constexpr OptionRow kOptions[] = {
    choice("model", "7series", "7series|gx5", "7-series (D5 stamps) or GX5 (legacy commands, 12)"),
    choice("baud", "115200", "115200|230400|460800|921600|usb", "line rate; usb = not paced"),
    choice("streaming", "off", "on|off", "accel, gyro, quaternion flow from power-up at --rate"),
    choice("motion", "on", "on|off", "a slow known swing, or at rest, level"),
};

struct Item {
  unsigned descriptor = 0;
  unsigned decimation = 1;
};

struct Stream {
  unsigned set = 0;
  unsigned every = 1;  // sensor ticks per tick of this set
  bool enabled = true;
  std::vector<Item> format;
};

// What save keeps over a loss of power.
struct Memory {
  Stream sensor{mip::kSensorSet, 1, true, {}};
  Stream filter{mip::kFilterSet, kSensorBaseHz / kFilterBaseHz, true, {}};
  unsigned baud = 115200;
};

struct Answer {
  Code code = kOk;
  std::vector<Field> fields{};  // after the acknowledge
};

Field field_of(unsigned descriptor, std::initializer_list<unsigned> bytes) {
  Field field{descriptor, {}};
  for (const unsigned byte : bytes) put8(field.data, byte);
  return field;
}

class Model final : public DeviceModel {
 public:
  Model(const ModelInputs& inputs, Generation generation, unsigned decimation)
      : clock_(inputs.clock), generation_(generation), moving_(inputs.settings.on("motion")) {
    const std::string& baud = inputs.settings.word("baud");
    is_usb_ = baud == "usb";
    if (!is_usb_) factory_.baud = static_cast<unsigned>(inputs.settings.number("baud"));
    saved_ = factory_;
    if (!inputs.settings.on("streaming")) return;
    const unsigned stamp = generation == Generation::gx5 ? 0x12U : 0xD5U;
    for (const unsigned descriptor : {stamp, 0x04U, 0x05U, 0x0AU})
      saved_.sensor.format.push_back({descriptor, decimation});
  }

  void power_up(hal::Time now, Output&) override {
    parser_.clear();
    now_ = saved_;
    idle_ = false;
    new_baud_at_ = kNever;
    origin_ = now;
    tick_ns_ = 0.0;
    tick_ = 0;
  }

  void receive(Channel, hal::Bytes bytes, hal::Time now, Output& out) override {
    while (next_tick_time() <= now) step(out);  // what was due before is not for a resume to revive
    parser_.add(bytes, now);
    Packet packet;
    for (auto found = parser_.next(packet); found != mip::Parser::Found::nothing;
         found = parser_.next(packet)) {
      if (packet.set >= 0x80 || packet.fields.empty()) continue;
      answer(packet, found == mip::Parser::Found::bad_checksum, now, out);
    }
  }

  hal::Time advance(hal::Time now, Output& out) override {
    if (new_baud_at_ <= now) {
      now_.baud = new_baud_;
      new_baud_at_ = kNever;
    }
    while (next_tick_time() <= now) step(out);
    return std::min(new_baud_at_, next_due());
  }

  unsigned baud() const override { return is_usb_ ? 0 : now_.baud; }

  hal::Duration clock_period() const override {
    return generation_ == Generation::gx5 ? std::chrono::seconds(604'800) : hal::Duration::zero();
  }

  void falsify(ByteVector& frame, Random& random) const override {
    if (frame.size() < 8 || std::to_integer<unsigned>(frame[2]) < 0x80) return;
    for (std::size_t at = 4; at + 2 < frame.size() - 2; at += u8_at(frame, at)) {
      const unsigned descriptor = u8_at(frame, at + 1);
      if (descriptor != 0x04 && descriptor != 0x05 && descriptor != 0x0A) continue;
      const double value = random.chance(0.5) ? std::numeric_limits<double>::quiet_NaN() : 1e9;
      ByteVector word;
      put_be_f32(word, value);
      std::copy(word.begin(), word.end(), frame.begin() + static_cast<std::ptrdiff_t>(at) + 2);
    }
    mip::seal(frame);
  }

 private:
  using Handler = Answer (Model::*)(hal::Bytes);
  struct Command {
    unsigned set, descriptor;
    bool series7, gx5;
    Handler handler;
  };
  static std::span<const Command> commands();
  const Command* find(unsigned set, unsigned descriptor) const {
    for (const Command& c : commands())
      if (c.set == set && c.descriptor == descriptor && is_ours(c)) return &c;
    return nullptr;
  }
  bool is_ours(const Command& c) const {
    return generation_ == Generation::gx5 ? c.gx5 : c.series7;
  }

  void answer(const Packet& packet, bool bad_checksum, hal::Time now, Output& out) {
    std::vector<Field> reply;
    received_at_ = now;
    for (const Field& command : packet.fields) {
      const Command* const known = find(packet.set, command.descriptor);
      Answer a{bad_checksum ? kBadChecksum : kUnknown};
      if (known != nullptr && !bad_checksum) a = (this->*known->handler)(command.data);
      reply.push_back(field_of(kAckField, {command.descriptor, a.code}));
      reply.insert(reply.end(), a.fields.begin(), a.fields.end());
      if (bad_checksum) break;
    }
    send_split(packet.set, reply, now + kReplyDelay, out);
  }

  static void send_split(unsigned set, const std::vector<Field>& fields, hal::Time at,
                         Output& out) {
    std::vector<Field> part;
    std::size_t length = 0;
    for (const Field& field : fields) {
      if (length + field.data.size() + 2 > mip::kMaxFieldBytes) {
        out.send(at, mip::packet_bytes(set, part));
        part.clear();
        length = 0;
      }
      length += field.data.size() + 2;
      part.push_back(field);
    }
    if (!part.empty()) out.send(at, mip::packet_bytes(set, part));
  }

  // ---- base commands
  Answer ping(hal::Bytes args) { return {args.empty() ? kOk : kInvalid}; }
  Answer go_idle(hal::Bytes) {
    idle_ = true;
    return {};
  }
  Answer resume(hal::Bytes) {
    idle_ = false;
    return {};
  }
  Answer device_info(hal::Bytes) {
    const bool gx5 = generation_ == Generation::gx5;
    Field field{0x81, {}};
    put_be(field.data, gx5 ? 1126 : 1105, 2);
    for (const char* text : {gx5 ? "     3DM-GX5-25" : "    3DM-CV7-AHRS",
                             gx5 ? "       6253-4220" : "       6286-9910", "    6286.000042",
                             "         I19-001", gx5 ? "         8g, 300d" : "       8g, 500d"}) {
      std::string padded(text);
      padded.resize(16, ' ');
      put_text(field.data, padded);
    }
    return {kOk, {field}};
  }
  Answer list_descriptors(hal::Bytes) {
    Field field{0x82, {}};
    for (const Command& c : commands())
      if (is_ours(c)) put8(field.data, c.set), put8(field.data, c.descriptor);
    put_set(field, mip::kSensorSet);
    put_set(field, mip::kFilterSet);
    return {kOk, {field}};
  }
  // All that exists fits the first list; the second is empty.
  Answer list_more_descriptors(hal::Bytes) { return {kOk, {Field{0x86, {}}}}; }
  void put_set(Field& field, unsigned set) const {
    for (const unsigned d : mip::descriptors(generation_, set))
      put8(field.data, set), put8(field.data, d);
  }

  // ---- 3DM commands
  Stream* stream_of(unsigned set) {
    if (set == mip::kSensorSet) return &now_.sensor;
    return set == mip::kFilterSet ? &now_.filter : nullptr;
  }
  Answer sensor_base_rate(hal::Bytes) { return {kOk, {field_of(0x83, {0x03, 0xE8})}}; }
  Answer filter_base_rate(hal::Bytes) { return {kOk, {field_of(0x8A, {0x01, 0xF4})}}; }
  Answer base_rate(hal::Bytes args) {
    if (args.size() != 1 || stream_of(u8_at(args, 0)) == nullptr) return {kInvalid};
    const unsigned hz = kSensorBaseHz / stream_of(u8_at(args, 0))->every;
    return {kOk, {field_of(0x8E, {u8_at(args, 0), hz >> 8, hz & 0xFFU})}};
  }

  Answer message_format(hal::Bytes args) {
    if (args.size() < 2 || stream_of(u8_at(args, 1)) == nullptr) return {kInvalid};
    return format(u8_at(args, 0), u8_at(args, 1), args.subspan(2),
                  field_of(0x8F, {u8_at(args, 1)}));
  }
  Answer sensor_format(hal::Bytes args) {
    if (args.empty()) return {kInvalid};
    return format(u8_at(args, 0), mip::kSensorSet, args.subspan(1), Field{0x80, {}});
  }
  Answer filter_format(hal::Bytes args) {
    if (args.empty()) return {kInvalid};
    return format(u8_at(args, 0), mip::kFilterSet, args.subspan(1), Field{0x82, {}});
  }
  Answer format(unsigned selector, unsigned set, hal::Bytes rest, Field reading) {
    Stream& stream = *stream_of(set);
    if (selector == kWrite) return write_format(stream, rest);
    if (selector != kRead) return keep(selector, set);
    put8(reading.data, stream.format.size());
    for (const Item& item : stream.format)
      put8(reading.data, item.descriptor), put_be(reading.data, item.decimation, 2);
    return {kOk, {reading}};
  }
  Answer write_format(Stream& stream, hal::Bytes rest) {
    if (rest.empty() || rest.size() != 1 + 3 * std::size_t{u8_at(rest, 0)}) return {kInvalid};
    std::vector<Item> items;
    for (std::size_t at = 1; at < rest.size(); at += 3) {
      const Item item{u8_at(rest, at), static_cast<unsigned>(get_be(rest, at + 1, 2))};
      if (!mip::is_supported(generation_, stream.set, item.descriptor)) return {kInvalid};
      if (item.decimation == 0) return {kInvalid};
      items.push_back(item);
    }
    stream.format = items;
    return {};
  }

  Answer enable_stream(hal::Bytes args) {
    if (args.size() < 2) return {kInvalid};
    const unsigned selector = u8_at(args, 0);
    const unsigned set = set_of_selector(u8_at(args, 1));
    if (set == 0) return {kInvalid};
    Stream& stream = *stream_of(set);
    if (selector == kRead)
      return {kOk, {field_of(0x85, {u8_at(args, 1), stream.enabled ? 1U : 0U})}};
    if (selector != kWrite) return keep(selector, set);
    if (args.size() != 3 || u8_at(args, 2) > 1) return {kInvalid};
    stream.enabled = u8_at(args, 2) == 1;
    if (stream.enabled) idle_ = false;  // data flow without a resume
    return {};
  }
  // GX5 knows the streams as 01 and 03, the 7-series by their descriptor set. 0 = no such stream.
  unsigned set_of_selector(unsigned name) const {
    const bool gx5 = generation_ == Generation::gx5;
    if (name == (gx5 ? 0x01U : mip::kSensorSet)) return mip::kSensorSet;
    return name == (gx5 ? 0x03U : mip::kFilterSet) ? mip::kFilterSet : 0;
  }

  // Save, load or default of one stream's settings.
  Answer keep(unsigned selector, unsigned set) {
    const auto in = [set](Memory& m) -> Stream& {
      return set == mip::kSensorSet ? m.sensor : m.filter;
    };
    if (selector == kSave) return in(saved_) = in(now_), Answer{};
    if (selector == kLoad) return in(now_) = in(saved_), Answer{};
    if (selector == kDefault) return in(now_) = in(factory_), Answer{};
    return {kInvalid};
  }
  Answer startup_settings(hal::Bytes args) {
    if (args.size() != 1) return {kInvalid};
    const unsigned baud = now_.baud;
    if (u8_at(args, 0) == kSave)
      saved_ = now_;
    else if (u8_at(args, 0) == kLoad)
      now_ = saved_;
    else if (u8_at(args, 0) == kDefault)
      now_ = factory_;
    else
      return {kInvalid};
    change_baud(now_.baud);
    now_.baud = baud;
    return {};
  }
  Answer uart_baud(hal::Bytes args) {
    if (args.empty()) return {kInvalid};
    const unsigned selector = u8_at(args, 0);
    if (selector == kRead) {
      Field field{0x87, {}};
      put_be(field.data, now_.baud, 4);
      return {kOk, {field}};
    }
    if (selector == kSave) return saved_.baud = now_.baud, Answer{};
    if (selector == kLoad) return change_baud(saved_.baud), Answer{};
    if (selector == kDefault) return change_baud(factory_.baud), Answer{};
    if (selector != kWrite || args.size() != 5) return {kInvalid};
    const auto wanted = static_cast<unsigned>(get_be(args, 1, 4));
    if (std::find(std::begin(kBauds), std::end(kBauds), wanted) == std::end(kBauds))
      return {kInvalid};
    return change_baud(wanted), Answer{};
  }
  void change_baud(unsigned baud) {
    new_baud_ = baud;
    new_baud_at_ = received_at_ + kReplyDelay + kBaudDelay;
  }

  // ---- data
  double tick_period_ns() const { return clock_.true_ns(1e9 / kSensorBaseHz); }
  hal::Time next_tick_time(std::uint64_t ahead = 1) const {
    return origin_ + hal::Duration(static_cast<std::int64_t>(tick_ns_ + static_cast<double>(ahead) *
                                                                            tick_period_ns()));
  }
  static bool is_due(const Stream& stream, const Item& item, std::uint64_t tick) {
    return tick % (std::uint64_t{stream.every} * item.decimation) == 0;
  }
  bool is_due(const Stream& stream, std::uint64_t tick) const {
    return !idle_ && stream.enabled &&
           std::any_of(stream.format.begin(), stream.format.end(),
                       [&](const Item& item) { return is_due(stream, item, tick); });
  }
  hal::Time next_due() const {
    if (idle_ || (now_.sensor.format.empty() && now_.filter.format.empty())) return kNever;
    // Looking a second ahead is enough: an idle wake-up each second does no harm.
    for (std::uint64_t ahead = 1; ahead < kSensorBaseHz; ++ahead)
      if (is_due(now_.sensor, tick_ + ahead) || is_due(now_.filter, tick_ + ahead))
        return next_tick_time(ahead);
    return next_tick_time(kSensorBaseHz);
  }

  void step(Output& out) {
    const hal::Time at = next_tick_time();
    tick_ns_ += tick_period_ns();
    ++tick_;
    const bool sensor = is_due(now_.sensor, tick_);
    const bool filter = is_due(now_.filter, tick_);
    if (!sensor && !filter) return;
    mip::Sample sample;
    const double seconds = hal::to_seconds(at - origin_);
    sample.motion = mip::motion_at(seconds, moving_);
    sample.device_ns = clock_.stamp(at);
    sample.ticks = tick_;
    sample.generation = generation_;
    if (sensor) send_data(now_.sensor, sample, seconds, at, out);
    if (filter) send_data(now_.filter, sample, seconds, at, out);
    out.imus.push_back({at, sample.device_ns, sample.motion.accel, sample.motion.gyro});
  }

  void send_data(const Stream& stream, mip::Sample sample, double seconds, hal::Time at,
                 Output& out) const {
    std::vector<Field> fields;
    for (const Item& item : stream.format) {
      if (!is_due(stream, item, tick_)) continue;
      const std::uint64_t ticks = std::uint64_t{stream.every} * item.decimation;
      sample.delta_ns = static_cast<std::int64_t>(ticks) * (1'000'000'000 / kSensorBaseHz);
      const double delta_s = static_cast<double>(sample.delta_ns) * 1e-9;
      const mip::Vector3 middle = mip::motion_at(seconds - delta_s / 2.0, moving_).gyro;
      sample.delta_angle = {middle[0] * delta_s, middle[1] * delta_s, middle[2] * delta_s};
      fields.push_back(mip::make_field(stream.set, item.descriptor, sample));
    }
    send_split(stream.set, fields, at, out);
  }

  DeviceClock& clock_;
  Generation generation_;
  bool moving_;
  bool is_usb_ = false;
  Memory factory_, saved_, now_;
  mip::Parser parser_;
  bool idle_ = false;
  hal::Time received_at_{};
  unsigned new_baud_ = 0;
  hal::Time new_baud_at_ = kNever;
  hal::Time origin_{};
  double tick_ns_ = 0.0;  // of tick_, after origin_
  std::uint64_t tick_ = 0;
};

std::span<const Model::Command> Model::commands() {
  static constexpr Command kCommands[] = {
      {kBase, 0x01, true, true, &Model::ping},
      {kBase, 0x02, true, true, &Model::go_idle},
      {kBase, 0x03, true, true, &Model::device_info},
      {kBase, 0x04, true, true, &Model::list_descriptors},
      {kBase, 0x06, true, true, &Model::resume},
      {kBase, 0x07, true, false, &Model::list_more_descriptors},
      {k3dm, 0x06, false, true, &Model::sensor_base_rate},
      {k3dm, 0x08, false, true, &Model::sensor_format},
      {k3dm, 0x0A, false, true, &Model::filter_format},
      {k3dm, 0x0B, false, true, &Model::filter_base_rate},
      {k3dm, 0x0E, true, false, &Model::base_rate},
      {k3dm, 0x0F, true, false, &Model::message_format},
      {k3dm, 0x11, true, true, &Model::enable_stream},
      {k3dm, 0x30, true, true, &Model::startup_settings},
      {k3dm, 0x40, true, true, &Model::uart_baud},
  };
  return kCommands;
}

}  // namespace

std::span<const OptionRow> options() { return kOptions; }

hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs) {
  const double hz = inputs.rate_hz == 0.0 ? 100.0 : inputs.rate_hz;
  const double decimation = kSensorBaseHz / hz;
  if (hz < 1.0 || hz > kSensorBaseHz || std::abs(decimation - std::round(decimation)) > 1e-6) {
    hal::Error error{hal::Errc::bad_config, 0, "simulate: --rate", {}};
    error.detail.print("%g samples/s: the device has 1000 Hz divided by an integer, 1 to 1000", hz);
    return error;
  }
  const Generation generation =
      inputs.settings.word("model") == "gx5" ? Generation::gx5 : Generation::series7;
  return std::unique_ptr<DeviceModel>(
      std::make_unique<Model>(inputs, generation, static_cast<unsigned>(std::lround(decimation))));
}

}  // namespace sim::microstrain_mip
