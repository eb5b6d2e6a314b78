#include "drivers/ximu3/command.h"

#include <cctype>

#include "drivers/json_text.h"
#include "drivers/ximu3/message.h"

namespace drivers::ximu3 {
namespace {

bool same_key(std::string_view a, std::string_view b) {
  const auto skip = [](std::string_view& s) {
    while (!s.empty() && std::isalnum(static_cast<unsigned char>(s[0])) == 0) s.remove_prefix(1);
  };
  for (;; a.remove_prefix(1), b.remove_prefix(1)) {
    skip(a), skip(b);
    if (a.empty() || b.empty()) return a.empty() && b.empty();
    if (std::tolower(static_cast<unsigned char>(a[0])) !=
        std::tolower(static_cast<unsigned char>(b[0]))) {
      return false;
    }
  }
}

}  // namespace

std::optional<Answer> answer_in(const Frame& frame, std::string_view key) {
  const std::string_view text = message_in(frame.bytes).text;
  if (!text.starts_with('{')) return std::nullopt;
  const std::size_t from = text.find('"');
  const std::size_t to = from == text.npos ? from : text.find('"', from + 1);
  if (to == text.npos) return std::nullopt;
  const std::string_view told = text.substr(from + 1, to - from - 1);
  if (!same_key(told, key)) return std::nullopt;
  const auto value = JsonText(text).find(told);
  if (!value) return std::nullopt;
  return Answer{*value, JsonText(*value).find("error").value_or(std::string_view{})};
}

bool say(Request& request, std::string_view key, std::string_view value) {
  request.text("{\"").text(key).text("\":").text(value).text("}\r\n");
  return true;
}

}  // namespace drivers::ximu3
