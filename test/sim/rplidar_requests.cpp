#include "test/sim/rplidar_requests.h"

#include <algorithm>
#include <array>

#include "test/sim/wire.h"

namespace sim::rplidar {
namespace {

constexpr std::byte kSync{0xA5};
constexpr std::size_t kLongestPayload = 64;  // a longer one is garbage that looks like a request

constexpr std::array kCommands = {
    Command::scan,     Command::force_scan, Command::stop,        Command::reset,
    Command::info,     Command::health,     Command::sample_rate, Command::unnamed_79,
    Command::get_conf, Command::set_conf,   Command::new_baud,    Command::express_scan,
    Command::rpm,      Command::pwm,        Command::board_flag,
};

}  // namespace

std::uint32_t Request::field(std::size_t at, std::size_t bytes) const {
  if (at + bytes > payload.size()) return 0;
  return static_cast<std::uint32_t>(get_le(payload, at, bytes));
}

bool RequestParser::next(Request& request) {
  while (!held_.empty()) {
    std::size_t length = 1;
    const Found found = look(request, length);
    if (found == Found::too_few) return false;
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(length));
    if (found == Found::request) return true;
  }
  return false;
}

RequestParser::Found RequestParser::look(Request& request, std::size_t& length) const {
  if (held_[0] != kSync) return Found::nothing;
  if (held_.size() < 2) return Found::too_few;
  request.command = static_cast<Command>(held_[1]);
  request.payload.clear();
  if (std::find(kCommands.begin(), kCommands.end(), request.command) == kCommands.end())
    return Found::nothing;
  if ((held_[1] & std::byte{0x80}) == std::byte{}) {
    length = 2;
    return Found::request;
  }
  if (held_.size() < 3) return Found::too_few;
  const auto size = std::to_integer<std::size_t>(held_[2]);
  if (size > kLongestPayload) return Found::nothing;
  if (held_.size() < size + 4) return Found::too_few;
  std::byte check{};
  for (std::size_t i = 0; i < size + 4; ++i) check ^= held_[i];
  if (check != std::byte{}) return Found::nothing;
  const auto payload = held_.begin() + 3;
  request.payload.assign(payload, payload + static_cast<std::ptrdiff_t>(size));
  length = size + 4;
  return Found::request;
}

}  // namespace sim::rplidar
