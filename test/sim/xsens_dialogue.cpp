#include "test/sim/xsens_dialogue.h"

#include <algorithm>
#include <string>
#include <utility>

#include "test/sim/wire.h"

namespace sim::xsens {
namespace {

constexpr unsigned kInitBus = 0x02, kReqConfiguration = 0x0C, kReqFirmware = 0x12, kReqBaud = 0x18;
constexpr unsigned kReqProduct = 0x1C, kReqHardware = 0x1E, kReqProfiles = 0x62, kStrings = 0x8E;
constexpr unsigned kOutput = 0xC0;
constexpr std::size_t kMostItems = 32, kTextBytes = 20;
constexpr std::uint64_t kSerial = 0x03680D12, kLongSerial = 0x0080'0003'0368'0D12;
constexpr std::pair<unsigned, unsigned> kBauds[] = {
    {0x80, 921600}, {0x0A, 921600}, {0, 460800}, {1, 230400}, {2, 115200},  {3, 76800},
    {4, 57600},     {5, 38400},     {7, 19200},  {9, 9600},   {0x0B, 4800}, {0x0C, 2000000}};

Message error(unsigned code) { return {kMaster, kError, {static_cast<std::byte>(code)}}; }

ByteVector octets(std::initializer_list<unsigned> values) {
  ByteVector bytes;
  for (const unsigned v : values) put8(bytes, v);
  return bytes;
}

ByteVector padded(std::string text) {
  text.resize(kTextBytes, ' ');
  ByteVector bytes;
  put_text(bytes, text);
  return bytes;
}

// Five places of 22 bytes: type, version, name.
ByteVector profiles() {
  ByteVector list = octets({50, 1});
  const ByteVector name = padded("general");
  list.insert(list.end(), name.begin(), name.end());
  list.resize(110, std::byte{' '});
  return list;
}

}  // namespace

Dialogue::Dialogue(const ModelInfo& info, unsigned hz, unsigned baud)
    : info_(info), items_{{0x1020, kAccompanies}, {0x1060, kAccompanies}}, next_baud_(baud) {
  if (info.has_orientation) items_.push_back({0x2010, hz});
  items_.insert(items_.end(), {{0x4020, hz}, {0x8020, hz}, {0xE020, kAccompanies}});
}

Message Dialogue::answer(const Message& message) {
  const auto with = [&](ByteVector data) {
    return Message{kMaster, message.id + 1, std::move(data)};
  };
  switch (message.id) {
    case kGoToMeasurement:
    case kStrings:
      return with({});
    case kInitBus:
      return with(device_id(4));
    case kReqConfiguration:
      return with(configuration());
    case kReqFirmware:  // major, minor, revision, build, reference
      return with(octets({1, 8, 2, 0, 0, 0, 97, 0, 1, 0x20, 0x54}));
    case kReqProduct:
      return with(padded(info_.product_code));
    case kReqHardware:
      return with(octets({2, 1}));
    case kReqProfiles:
      return with(profiles());
    case kReqBaud:
      return baud(message.data);
    case kOutput:
      return output(message.data);
    default:
      return error(kInvalidMessage);
  }
}

Message Dialogue::baud(hal::Bytes data) {
  const auto is_it = [&](const auto& pair) {
    return data.empty() ? pair.second == next_baud_ : pair.first == u8_at(data, 0);
  };
  const auto* const found = std::ranges::find_if(kBauds, is_it);
  if (found == std::end(kBauds)) return error(kBaudOutOfRange);
  if (data.empty()) return {kMaster, kReqBaud + 1, {static_cast<std::byte>(found->first)}};
  next_baud_ = found->second;
  return {kMaster, kReqBaud + 1, {}};
}

// Without data it is asked; it may lower the rates that it is told.
Message Dialogue::output(hal::Bytes data) {
  if (data.size() % 4 != 0 || data.size() > 4 * kMostItems) return error(kBadParameter);
  std::vector<Item> items;
  for (std::size_t i = 0; i < data.size(); i += 4) {
    const auto id = static_cast<unsigned>(get_be(data, i, 2));
    if (get_be(data, i, 4) == 0) continue;  // nothing at all
    const unsigned hz = rate_of(info_, id, static_cast<unsigned>(get_be(data, i + 2, 2)));
    if (hz == 0) return error(kBadParameter);
    items.push_back({id, hz});
  }
  if (!data.empty()) items_ = items;
  ByteVector list;
  for (const Item& item : items_) put_be(list, item.id, 2), put_be(list, item.hz, 2);
  return {kMaster, kOutput + 1, list};
}

ByteVector Dialogue::device_id(unsigned bytes) const {
  ByteVector id;
  put_be(id, bytes == 4 ? kSerial : kLongSerial, static_cast<int>(bytes));
  return id;
}

ByteVector Dialogue::configuration() const {
  ByteVector data = device_id(4);
  put_be(data, 115'200 / info_.base_hz, 2);
  data.resize(96);
  put_be(data, 1, 2);
  put_be(data, kSerial, 4);
  data.resize(118);
  return data;
}

}  // namespace sim::xsens
