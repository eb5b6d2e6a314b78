#include "test/sim/cola_session.h"

namespace sim::cola {
namespace {

constexpr std::uint32_t kMaintenance = 0xB21ACE26, kService = 0x81BE23AA;

bool understands(Spoken spoken, Dialect dialect) {
  if (spoken == Spoken::both) return true;
  return (spoken == Spoken::binary) == (dialect == Dialect::binary);
}

}  // namespace

Spoken spoken_of(const std::string& word) {
  if (word == "a") return Spoken::ascii;
  return word == "b" ? Spoken::binary : Spoken::both;
}

Session::Session(Spoken spoken, Identity identity)
    : delivered_(spoken), identity_(std::move(identity)), spoken_(spoken) {}

void Session::restart() {
  reader_.clear();
  spoken_ = delivered_;
  level_ = 0;
  chosen_.reset();
}

std::optional<Request> Session::next() {
  while (std::optional<Request> request = reader_.next())
    if (understands(spoken_, request->dialect)) return request;
  return std::nullopt;
}

ByteVector Session::log_in(Request& request) {
  const auto level = static_cast<int>(request.arguments.unsigned_value(1));
  const std::uint64_t hash = request.arguments.unsigned_value(4);
  if (!request.arguments.good()) return refusal(request.dialect, kInvalidData);
  const bool knows = (level == 2 && hash == kMaintenance) || (level == 4 && hash == kService) ||
                     (level == 3 && hash == identity_.client_hash);
  const bool in = knows && !refuses_login_;
  if (in) level_ = level;
  return Telegram(request.dialect, "sAN SetAccessMode").u8(in ? 1 : 0).frame();
}

// The answer still comes in the dialect of the request; the next telegram is in the new one.
ByteVector Session::choose_dialect(Request& request) {
  const std::uint64_t wanted = request.arguments.unsigned_value(1);
  if (!request.arguments.good()) return refusal(request.dialect, kInvalidData);
  if (wanted > 1) return refusal(request.dialect, kOutOfRange);
  chosen_ = wanted == 1 ? Dialect::binary : Dialect::ascii;
  if (spoken_ != Spoken::both) spoken_ = wanted == 1 ? Spoken::binary : Spoken::ascii;
  return Telegram(request.dialect, "sWA EIHstCola").frame();
}

std::optional<ByteVector> Session::answer(Request& request) {
  const std::string& name = request.name;
  if (request.kind == "sMN" && name == "SetAccessMode") return log_in(request);
  if (request.kind == "sWN" && name == "EIHstCola") return choose_dialect(request);
  if (request.kind != "sRN") return std::nullopt;
  Telegram reply(request.dialect, "sRA " + name);
  if (name == "DeviceIdent") return reply.text(identity_.name).text(identity_.version).frame();
  if (name == "SerialNumber") return reply.text(identity_.serial).frame();
  if (name == "FirmwareVersion") return reply.text(identity_.version).frame();
  if (name == "LocationName") return reply.text(identity_.location).frame();
  if (name == "ODoprh") return reply.u32(identity_.operating_tenths_h).frame();
  if (name == "ODpwrc") return reply.u32(identity_.power_cycles).frame();
  return std::nullopt;
}

}  // namespace sim::cola
