#include "test/sim/anpp_dialogue.h"

#include "test/sim/anpp_data.h"
#include "test/sim/wire.h"

namespace sim::anpp {
namespace {

constexpr unsigned kAck = 0, kRequest = 1, kInfo = 3, kReset = 5, kTimer = 180, kPeriods = 181,
                   kBaud = 182;
constexpr unsigned kFastest = 1000;  // us

Packet info() {
  Packet packet{kInfo, {}};
  put_le(packet.data, 2300, 4);  // software
  put_le(packet.data, 3, 4);     // Orientus
  put_le(packet.data, 3200, 4);  // hardware
  for (const std::uint64_t part : {0x11223344U, 0x55667788U, 0x99AABBCCU})
    put_le(packet.data, part, 4);
  return packet;
}

}  // namespace

bool Dialogue::is_sent(unsigned id) const { return is_data(id) && id != lacks_; }

Packet Dialogue::ack(const Packet& asked, Result result) {
  Packet packet{kAck, {}};
  put8(packet.data, asked.id);
  put_le(packet.data, crc_of(asked.data), 2);
  put8(packet.data, result);
  return packet;
}

std::vector<Packet> Dialogue::answer(const Packet& asked, bool bad_crc) {
  std::vector<Packet> answers;
  if (is_mute_) return answers;
  const bool is_command =
      asked.id == kRequest || asked.id == kReset || (asked.id >= kTimer && asked.id <= kBaud);
  if (bad_crc) {
    if (is_command && asked.id != kRequest) answers.push_back(ack(asked, kBadCrc));
    return answers;
  }
  if (asked.id == kRequest) return request(asked, answers), answers;
  Result result = kUnknown;
  if (asked.id == kTimer) result = set_timer(asked.data);
  if (asked.id == kPeriods) result = set_periods(asked.data);
  if (asked.id == kBaud) result = set_baud_rates(asked.data);
  if (asked.id == kReset) {
    result = asked.data.size() == 4 ? kOk : kLength;
    wants_reset_ = result == kOk;
  }
  answers.push_back(ack(asked, result));
  return answers;
}

void Dialogue::request(const Packet& asked, std::vector<Packet>& answers) {
  for (const std::byte b : asked.data) {
    const auto id = std::to_integer<unsigned>(b);
    if (id == kInfo) {
      answers.push_back(info());
    } else if (id == kTimer) {
      answers.push_back(timer());
    } else if (id == kPeriods) {
      answers.push_back(periods());
    } else if (is_sent(id)) {
      wanted_.push_back(id);
    } else {
      answers.push_back(ack(asked, kUnknown));
    }
  }
}

Packet Dialogue::timer() const {
  Packet packet{kTimer, {}};
  put_le(packet.data, 0, 2);
  put_le(packet.data, now_.timer_us, 2);
  return packet;
}

Packet Dialogue::periods() const {
  Packet packet{kPeriods, {}};
  put_le(packet.data, 0, 2);
  for (const auto& [id, period] : now_.periods) {
    put8(packet.data, id);
    put_le(packet.data, period, 4);
  }
  return packet;
}

Dialogue::Result Dialogue::set_timer(hal::Bytes data) {
  if (data.size() != 4) return kLength;
  const auto us = static_cast<unsigned>(get_le(data, 2, 2));
  if (us < kFastest) return kRange;
  now_.timer_us = us;
  if (u8_at(data, 0) != 0) saved_.timer_us = us;
  return kOk;
}

Dialogue::Result Dialogue::set_periods(hal::Bytes data) {
  if (data.size() < 2 || (data.size() - 2) % 5 != 0) return kLength;
  auto periods = u8_at(data, 1) != 0 ? decltype(now_.periods){} : now_.periods;
  for (std::size_t at = 2; at < data.size(); at += 5) {
    const unsigned id = u8_at(data, at);
    const std::uint64_t period = get_le(data, at + 1, 4);
    if (!is_sent(id)) return kRange;
    if (period == 0) {
      periods.erase(id);
    } else {
      periods[id] = period;
    }
  }
  now_.periods = periods;
  if (u8_at(data, 0) != 0) saved_.periods = periods;
  return kOk;
}

Dialogue::Result Dialogue::set_baud_rates(hal::Bytes data) {
  if (data.size() != 17) return kLength;
  const auto baud = static_cast<unsigned>(get_le(data, 1, 4));
  if (baud < 1200 || baud > 2'000'000) return kRange;
  wanted_baud_ = baud;
  if (u8_at(data, 0) != 0) saved_.baud = baud;
  return kOk;
}

}  // namespace sim::anpp
