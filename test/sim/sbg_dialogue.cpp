#include "test/sim/sbg_dialogue.h"

#include <algorithm>

#include "test/sim/sbg_logs.h"
#include "test/sim/wire.h"

namespace sim::sbg {
namespace {

constexpr unsigned kAck = 0, kSettings = 1, kInfo = 4, kOutputConf = 30;
constexpr unsigned kReboot = 0, kSave = 1, kRestore = 2;
constexpr std::size_t kProductBytes = 32;

bool is_mode(unsigned mode) {
  static constexpr unsigned kModes[] = {0,  1,   2,    4,    5,    8,     10,   20,
                                        40, 200, 1001, 1002, 1004, 10000, 10001};
  return std::ranges::find(kModes, mode) != std::end(kModes);
}

Message info() {
  Message message{kInfo, kCommands, {}};
  put_text(message.data, "ELLIPSE-A-G4A3-B1");
  message.data.resize(kProductBytes);
  put_le(message.data, 45'001'234, 4);  // serial number
  put_le(message.data, 0x00010000, 4);  // revision of the calibration
  put_le(message.data, 2024, 2);
  put8(message.data, 5), put8(message.data, 17);
  put_le(message.data, 0x01020000, 4);  // hardware
  put_le(message.data, 0x02050000, 4);  // firmware
  return message;
}

}  // namespace

Message Dialogue::ack(const Message& asked, Code code) {
  Message message{kAck, kCommands, {}};
  put8(message.data, asked.id), put8(message.data, asked.cls);
  put_le(message.data, code, 2);
  return message;
}

std::optional<Message> Dialogue::answer(const Message& asked) {
  if (asked.cls != kCommands || manner_ == Manner::is_mute) return std::nullopt;
  if (asked.id == kInfo && asked.data.empty()) return info();
  if (asked.id == kOutputConf) return configure(asked);
  if (asked.id == kSettings) return act(asked);
  return ack(asked, kInvalid);
}

// Port, log, class and mode set; without the mode it is read.
Message Dialogue::configure(const Message& asked) {
  const hal::Bytes data(asked.data);
  if (data.size() != 3 && data.size() != 5) return ack(asked, kInvalid);
  const unsigned port = u8_at(data, 0), id = u8_at(data, 1), cls = u8_at(data, 2);
  const bool exists = (port == 0 || port == 2 || port == 4) && is_log(id, cls);
  if (!exists) return ack(asked, kInvalid);
  if (data.size() == 3) {
    Message message{kOutputConf, kCommands, asked.data};
    put_le(message.data, port == 0 ? now_[{cls, id}] : 0U, 2);
    return message;
  }
  const auto mode = static_cast<unsigned>(get_le(data, 3, 2));
  if (!is_mode(mode)) return ack(asked, kInvalid);
  if (manner_ == Manner::refuses) return ack(asked, kNotReady);
  if (port == 0) now_[{cls, id}] = mode;
  return ack(asked, kOk);
}

Message Dialogue::act(const Message& asked) {
  if (asked.data.size() != 1 || u8_at(asked.data, 0) > kRestore) return ack(asked, kInvalid);
  switch (u8_at(asked.data, 0)) {
    case kReboot:
      wants_reboot_ = true;
      break;
    case kSave:
      saved_ = now_;
      break;
    default:
      saved_ = factory_;
      wants_reboot_ = true;
  }
  return ack(asked, kOk);
}

}  // namespace sim::sbg
