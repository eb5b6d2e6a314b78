#include "test/sim/ximu3_commands.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

namespace sim::ximu3 {
namespace {

constexpr std::array kCommands = {"apply",  "save",     "default", "time",    "blink",
                                  "strobe", "shutdown", "note",    "heading", "initialise"};
constexpr std::array kReadOnly = {"serialnumber", "firmwareversion", "hardwareversion"};

std::string bare_of(const std::string& key) {
  std::string out;
  for (const char c : key) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter)) out += static_cast<char>(std::tolower(letter));
  }
  return out;
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == std::string::npos ? std::string() : text.substr(first, last - first + 1);
}

std::string told(const std::string& key, const std::string& value) {
  return "{\"" + key + "\":" + value + "}";
}
std::string error(const std::string& key, const std::string& words) {
  return told(key, "{\"error\":\"" + words + "\"}");
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

Commands::Commands(Manners manners, unsigned divisor, const std::string& attitude,
                   const std::string& world, bool is_binary)
    : manners_(std::move(manners)) {
  const std::string every = std::to_string(divisor);
  saved_ = {{"serialnumber", "\"0123456789ABCDEF\""},
            {"firmwareversion", "\"v1.3.0\""},
            {"hardwareversion", "\"v2.0\""},
            {"devicename", "\"x-IMU3\""},
            {"serialbaudrate", "115200"},
            {"binarymodeenabled", is_binary ? "true" : "false"},
            {"usbdatamessagesenabled", "true"},
            {"serialdatamessagesenabled", "true"},
            {"tcpdatamessagesenabled", "true"},
            {"udpdatamessagesenabled", "true"},
            {"inertialmessageratedivisor", every},
            {"ahrsmessageratedivisor", every},
            {"ahrsmessagetype", attitude},
            {"magnetometermessageratedivisor", "1"},
            {"highgaccelerometermessageratedivisor", "0"},
            {"temperaturemessageratedivisor", "5"},
            {"batterymessageratedivisor", "5"},
            {"rssimessageratedivisor", "5"}};
  saved_[manners_.is_old ? "axesconvention" : "ahrsaxesconvention"] = world;
  factory_ = saved_;
  factory_["inertialmessageratedivisor"] = factory_["ahrsmessageratedivisor"] = "8";
  factory_["binarymodeenabled"] = "true";
  factory_["ahrsmessagetype"] = "0";
  factory_[manners_.is_old ? "axesconvention" : "ahrsaxesconvention"] = "0";
  power_up();
}

void Commands::power_up() {
  written_ = in_force_ = saved_;
  is_shut_down_ = false;
}

unsigned Commands::number(const std::string& key) const {
  const auto found = in_force_.find(key);
  return found == in_force_.end()
             ? 0U
             : static_cast<unsigned>(std::strtoul(found->second.c_str(), nullptr, 10));
}
bool Commands::is_on(const std::string& key) const {
  const auto found = in_force_.find(key);
  return found != in_force_.end() && found->second == "true";
}

std::string Commands::answer(const std::string& line) {
  if (manners_.obeys == Obeys::mute) return {};
  const std::size_t open = line.find('"'), close = line.find('"', open + 1);
  const std::size_t colon = line.find(':', close), end = line.rfind('}');
  const bool is_object = !line.empty() && line.front() == '{' && open != std::string::npos &&
                         close != std::string::npos && colon != std::string::npos &&
                         end != std::string::npos && end > colon;
  if (!is_object) return error("", "Invalid JSON");
  const std::string key = line.substr(open + 1, close - open - 1);
  return run(key, bare_of(key), trimmed(line.substr(colon + 1, end - colon - 1)));
}

std::string Commands::run(const std::string& key, const std::string& bare,
                          const std::string& value) {
  if (bare == "ping") {
    return told(key, "{\"interface\":\"" + manners_.interface +
                         "\",\"name\":\"x-IMU3\",\"sn\":" + written_["serialnumber"] + "}");
  }
  if (bare == "time" && value == "null") return told(key, "\"2026-12-01 00:00:00\"");
  if (std::ranges::count(kCommands, bare) > 0) {
    if (bare == "apply") in_force_ = written_;
    if (bare == "save") saved_ = written_;
    if (bare == "default") written_ = factory_;
    if (bare == "shutdown") is_shut_down_ = true;
    return told(key, value);
  }
  const auto found = written_.find(bare);
  if (found == written_.end()) return error(key, "Unknown command");
  if (value == "null") return told(key, found->second);
  if (manners_.obeys == Obeys::no || std::ranges::count(kReadOnly, bare) > 0)
    return error(key, "Setting is read-only");
  if (!is_valid(bare, value)) return error(key, "Invalid value");
  found->second = value;
  if (manners_.applies_at_once) in_force_[bare] = value;
  return told(key, value);
}

bool Commands::is_valid(const std::string& bare, const std::string& value) {
  if (ends_with(bare, "enabled")) return value == "true" || value == "false";
  if (bare == "devicename") return value.front() == '"';
  const bool is_number =
      !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number) return false;
  const unsigned long number = std::strtoul(value.c_str(), nullptr, 10);
  if (bare == "ahrsmessagetype") return number <= 4;
  if (ends_with(bare, "axesconvention")) return number <= 2;
  return true;
}

}  // namespace sim::ximu3
