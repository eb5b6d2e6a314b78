#include "drivers/rplidar/commands.h"

#include <algorithm>
#include <cctype>

namespace drivers::rplidar {
namespace {

constexpr std::size_t kDescriptor = 7;

}  // namespace

void command(Request& request, unsigned code) { request.u8(0xA5).u8(code); }

void start_express(Request& request, unsigned mode) {
  command(request, kExpress, 5, [mode](Request& r) { r.u8(mode).u16(0).u16(0); });
}

bool is(const Frame& frame, unsigned type) {
  return frame.bytes.size() >= kDescriptor && wire::u16(frame.bytes, 0) == 0x5AA5 &&
         wire::u8(frame.bytes, 6) == type;
}

Bytes payload(const Frame& frame) { return frame.bytes.subspan(kDescriptor); }

std::optional<Bytes> conf_value(const Frame& frame, std::uint32_t type) {
  if (!is(frame, kConf)) return std::nullopt;
  const Bytes reply = payload(frame);
  if (reply.size() < 4) return Bytes{};
  if (wire::u32(reply, 0) != type) return std::nullopt;
  return reply.subspan(4);
}

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace drivers::rplidar
