#include "test/sim/pepperl_handle.h"

#include <cmath>
#include <cstdio>

#include "hal/text.h"

namespace sim::pepperl_fuchs {
namespace {

constexpr const char* kTypes[] = {"A", "B", "C", "C1"};  // in the order of Type

// An R2300 sends C1 only, an R2000 the others.
bool take_type(const std::string& word, const Model& model, Type& type) {
  for (const Type known : {Type::a, Type::b, Type::c, Type::c1}) {
    const bool fits = (known == Type::c1) == (model.layers > 1);
    if (!fits || word != kTypes[static_cast<std::size_t>(known)]) continue;
    type = known;
    return true;
  }
  return false;
}

bool take_address(const std::string& text, Address& to) {
  unsigned part[4] = {};
  char more = 0;
  const int read =
      std::sscanf(text.c_str(), "%u.%u.%u.%u%c", &part[0], &part[1], &part[2], &part[3], &more);
  if (read != 4) return false;
  to.ip = 0;
  for (const unsigned byte : part) {
    if (byte > 255) return false;
    to.ip = to.ip << 8 | byte;
  }
  return true;
}

struct Range {
  const char* key;
  long least, most;
};
constexpr Range kNumbers[] = {{"port", 0, 65'535},
                              {"start_angle", -1'800'000, 1'800'000},
                              {"watchdogtimeout", 1, 500'000},
                              {"max_num_points_scan", 0, 65'535},
                              {"skip_scans", 0, 9'999}};

const Range* find_number(const std::string& key) {
  for (const Range& range : kNumbers)
    if (key == range.key) return &range;
  return nullptr;
}

void take_number(const std::string& key, long n, Handle& handle) {
  if (key == "port") handle.to.port = static_cast<std::uint16_t>(n);
  if (key == "start_angle") handle.start_deg = static_cast<double>(n) * 1e-4;
  if (key == "watchdogtimeout") handle.patience = std::chrono::milliseconds(n);
  if (key == "max_num_points_scan") handle.most_points = static_cast<std::size_t>(n);
  if (key == "skip_scans") handle.skip = static_cast<int>(n);
}

Outcome take(const std::string& key, const std::string& value, const Model& model, Handle& handle) {
  const Outcome invalid = failed(kInvalidValue, "invalid value", key);
  if (key == "handle") return {};
  if (key == "packet_type") return take_type(value, model, handle.type) ? Outcome{} : invalid;
  if (key == "address") return take_address(value, handle.to) ? Outcome{} : invalid;
  if (key == "watchdog") {
    handle.has_watchdog = value == "on";
    return value == "on" || value == "off" ? Outcome{} : invalid;
  }
  const Range* const range = find_number(key);
  if (range == nullptr) return failed(kUnknownArgument, "unknown argument", key);
  long n = 0;
  if (!parse_number(value, n)) return invalid;
  if (n < range->least || n > range->most) return failed(kOutOfRange, "value out of range", key);
  take_number(key, n, handle);
  return {};
}

}  // namespace

Outcome configure(const Request& request, const Model& model, Handle& handle) {
  Handle next = handle;
  for (const auto& [key, value] : request.arguments) {
    const Outcome outcome = take(key, value, model, next);
    if (outcome.code != kSuccess) return outcome;
  }
  handle = next;
  return {};
}

void put_config(const Handle& handle, Json& json) {
  const std::uint32_t ip = handle.to.ip;
  const auto address =
      hal::Text<20>::of("%u.%u.%u.%u", ip >> 24, ip >> 16 & 255U, ip >> 8 & 255U, ip & 255U);
  if (handle.port == 0) json.text("address", address.c_str());
  json.number("port", std::to_string(handle.port == 0 ? handle.to.port : handle.port));
  json.text("packet_type", kTypes[static_cast<std::size_t>(handle.type)]);
  json.number("start_angle", std::to_string(std::lround(handle.start_deg * 1e4)));
  json.text("watchdog", handle.has_watchdog ? "on" : "off");
  json.number("watchdogtimeout", std::to_string(handle.patience.count() / 1'000'000));
  json.number("max_num_points_scan", std::to_string(handle.most_points));
  json.number("skip_scans", std::to_string(handle.skip));
}

}  // namespace sim::pepperl_fuchs
