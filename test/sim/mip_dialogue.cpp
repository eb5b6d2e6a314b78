#include "test/sim/mip_dialogue.h"

#include <algorithm>
#include <string>

#include "test/sim/wire.h"

namespace sim::mip {
namespace {

constexpr unsigned kBase = 0x01, k3dm = 0x0C;
constexpr unsigned kAckField = 0xF1;
enum Selector : unsigned { kWrite = 1, kRead = 2, kSave = 3, kLoad = 4, kDefault = 5 };
constexpr unsigned kBauds[] = {9600, 19200, 38400, 57600, 115200, 230400, 460800, 921600};

Field field_of(unsigned descriptor, std::initializer_list<unsigned> bytes) {
  Field field{descriptor, {}};
  for (const unsigned byte : bytes) put8(field.data, byte);
  return field;
}

}  // namespace

void Dialogue::power_up() {
  now_ = saved_;
  is_idle_ = false;
  wanted_baud_.reset();
}

const Dialogue::Command* Dialogue::find(unsigned set, unsigned descriptor) const {
  for (const Command& c : commands())
    if (c.set == set && c.descriptor == descriptor && is_ours(c)) return &c;
  return nullptr;
}

std::vector<Field> Dialogue::answer(const Packet& packet, bool bad_checksum) {
  std::vector<Field> reply;
  for (const Field& command : packet.fields) {
    const Command* const known = find(packet.set, command.descriptor);
    Answer a{bad_checksum ? kBadChecksum : kUnknown};
    if (known != nullptr && !bad_checksum) a = (this->*known->handler)(command.data);
    reply.push_back(field_of(kAckField, {command.descriptor, a.code}));
    reply.insert(reply.end(), a.fields.begin(), a.fields.end());
    if (bad_checksum) break;  // where one command ends and the next begins is not known
  }
  return reply;
}

Dialogue::Answer Dialogue::ping(hal::Bytes args) { return {args.empty() ? kOk : kInvalid}; }
Dialogue::Answer Dialogue::go_idle(hal::Bytes) {
  is_idle_ = true;
  return {};
}

Dialogue::Answer Dialogue::resume(hal::Bytes) {
  is_idle_ = false;
  return {};
}

Dialogue::Answer Dialogue::device_info(hal::Bytes) {
  const bool gx5 = generation_ == Generation::gx5;
  Field field{0x81, {}};
  put_be(field.data, gx5 ? 1126 : 1105, 2);
  for (const char* text :
       {gx5 ? "     3DM-GX5-25" : "    3DM-CV7-AHRS", gx5 ? "       6253-4220" : "       6286-9910",
        "    6286.000042", "         I19-001", gx5 ? "         8g, 300d" : "       8g, 500d"}) {
    std::string padded(text);
    padded.resize(16, ' ');
    put_text(field.data, padded);
  }
  return {kOk, {field}};
}

Dialogue::Answer Dialogue::list_descriptors(hal::Bytes) {
  Field field{0x82, {}};
  for (const Command& c : commands())
    if (is_ours(c)) put8(field.data, c.set), put8(field.data, c.descriptor);
  put_set(field, kSensorSet);
  put_set(field, kFilterSet);
  return {kOk, {field}};
}

// All that exists fits the first list; the second is empty.
Dialogue::Answer Dialogue::list_more_descriptors(hal::Bytes) { return {kOk, {Field{0x86, {}}}}; }
void Dialogue::put_set(Field& field, unsigned set) const {
  for (const unsigned d : descriptors(generation_, set)) put8(field.data, set), put8(field.data, d);
}

Stream* Dialogue::stream_of(unsigned set) {
  if (set == kSensorSet) return &now_.sensor;
  return set == kFilterSet ? &now_.filter : nullptr;
}

Dialogue::Answer Dialogue::sensor_base_rate(hal::Bytes) {
  return {kOk, {field_of(0x83, {0x03, 0xE8})}};
}
Dialogue::Answer Dialogue::filter_base_rate(hal::Bytes) {
  return {kOk, {field_of(0x8A, {0x01, 0xF4})}};
}
Dialogue::Answer Dialogue::base_rate(hal::Bytes args) {
  if (args.size() != 1 || stream_of(u8_at(args, 0)) == nullptr) return {kInvalid};
  const unsigned hz = kSensorBaseHz / stream_of(u8_at(args, 0))->every;
  return {kOk, {field_of(0x8E, {u8_at(args, 0), hz >> 8, hz & 0xFFU})}};
}

Dialogue::Answer Dialogue::message_format(hal::Bytes args) {
  if (args.size() < 2 || stream_of(u8_at(args, 1)) == nullptr) return {kInvalid};
  return format(u8_at(args, 0), u8_at(args, 1), args.subspan(2), field_of(0x8F, {u8_at(args, 1)}));
}

Dialogue::Answer Dialogue::sensor_format(hal::Bytes args) {
  if (args.empty()) return {kInvalid};
  return format(u8_at(args, 0), kSensorSet, args.subspan(1), Field{0x80, {}});
}

Dialogue::Answer Dialogue::filter_format(hal::Bytes args) {
  if (args.empty()) return {kInvalid};
  return format(u8_at(args, 0), kFilterSet, args.subspan(1), Field{0x82, {}});
}

Dialogue::Answer Dialogue::format(unsigned selector, unsigned set, hal::Bytes rest, Field reading) {
  Stream& stream = *stream_of(set);
  if (selector == kWrite) return write_format(stream, rest);
  if (selector != kRead) return keep(selector, set);
  put8(reading.data, stream.format.size());
  for (const Item& item : stream.format)
    put8(reading.data, item.descriptor), put_be(reading.data, item.decimation, 2);
  return {kOk, {reading}};
}

Dialogue::Answer Dialogue::write_format(Stream& stream, hal::Bytes rest) {
  if (rest.empty() || rest.size() != 1 + 3 * std::size_t{u8_at(rest, 0)}) return {kInvalid};
  std::vector<Item> items;
  for (std::size_t at = 1; at < rest.size(); at += 3) {
    const Item item{u8_at(rest, at), static_cast<unsigned>(get_be(rest, at + 1, 2))};
    if (!is_supported(generation_, stream.set, item.descriptor)) return {kInvalid};
    if (item.decimation == 0) return {kInvalid};
    items.push_back(item);
  }
  stream.format = items;
  return {};
}

Dialogue::Answer Dialogue::enable_stream(hal::Bytes args) {
  if (args.size() < 2) return {kInvalid};
  const unsigned selector = u8_at(args, 0);
  const unsigned set = set_of_selector(u8_at(args, 1));
  if (set == 0) return {kInvalid};
  Stream& stream = *stream_of(set);
  if (selector == kRead) return {kOk, {field_of(0x85, {u8_at(args, 1), stream.enabled ? 1U : 0U})}};
  if (selector != kWrite) return keep(selector, set);
  if (args.size() != 3 || u8_at(args, 2) > 1) return {kInvalid};
  stream.enabled = u8_at(args, 2) == 1;
  if (stream.enabled) is_idle_ = false;  // data flow without a resume
  return {};
}

// GX5 knows the streams as 01 and 03, the 7-series by their descriptor set. 0 = no such stream.
unsigned Dialogue::set_of_selector(unsigned name) const {
  const bool gx5 = generation_ == Generation::gx5;
  if (name == (gx5 ? 0x01U : kSensorSet)) return kSensorSet;
  return name == (gx5 ? 0x03U : kFilterSet) ? kFilterSet : 0;
}

// Save, load or default of one stream's settings.
Dialogue::Answer Dialogue::keep(unsigned selector, unsigned set) {
  const auto in = [set](Memory& m) -> Stream& { return set == kSensorSet ? m.sensor : m.filter; };
  if (selector == kSave) return in(saved_) = in(now_), Answer{};
  if (selector == kLoad) return in(now_) = in(saved_), Answer{};
  if (selector == kDefault) return in(now_) = in(factory_), Answer{};
  return {kInvalid};
}

Dialogue::Answer Dialogue::startup_settings(hal::Bytes args) {
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
  wanted_baud_ = now_.baud;
  now_.baud = baud;
  return {};
}

Dialogue::Answer Dialogue::uart_baud(hal::Bytes args) {
  if (args.empty()) return {kInvalid};
  const unsigned selector = u8_at(args, 0);
  if (selector == kRead) {
    Field field{0x87, {}};
    put_be(field.data, now_.baud, 4);
    return {kOk, {field}};
  }
  if (selector == kSave) return saved_.baud = now_.baud, Answer{};
  if (selector == kLoad) return wanted_baud_ = saved_.baud, Answer{};
  if (selector == kDefault) return wanted_baud_ = factory_.baud, Answer{};
  if (selector != kWrite || args.size() != 5) return {kInvalid};
  const auto wanted = static_cast<unsigned>(get_be(args, 1, 4));
  if (std::find(std::begin(kBauds), std::end(kBauds), wanted) == std::end(kBauds))
    return {kInvalid};
  return wanted_baud_ = wanted, Answer{};
}

std::span<const Dialogue::Command> Dialogue::commands() {
  static constexpr Command kCommands[] = {
      {kBase, 0x01, true, true, &Dialogue::ping},
      {kBase, 0x02, true, true, &Dialogue::go_idle},
      {kBase, 0x03, true, true, &Dialogue::device_info},
      {kBase, 0x04, true, true, &Dialogue::list_descriptors},
      {kBase, 0x06, true, true, &Dialogue::resume},
      {kBase, 0x07, true, false, &Dialogue::list_more_descriptors},
      {k3dm, 0x06, false, true, &Dialogue::sensor_base_rate},
      {k3dm, 0x08, false, true, &Dialogue::sensor_format},
      {k3dm, 0x0A, false, true, &Dialogue::filter_format},
      {k3dm, 0x0B, false, true, &Dialogue::filter_base_rate},
      {k3dm, 0x0E, true, false, &Dialogue::base_rate},
      {k3dm, 0x0F, true, false, &Dialogue::message_format},
      {k3dm, 0x11, true, true, &Dialogue::enable_stream},
      {k3dm, 0x30, true, true, &Dialogue::startup_settings},
      {k3dm, 0x40, true, true, &Dialogue::uart_baud},
  };
  return kCommands;
}

}  // namespace sim::mip
