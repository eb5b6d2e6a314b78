// The few fields that a driver needs of a JSON object (RFC 8259), found by scanning it. Nothing is
// built, copied or unescaped.
#pragma once

#include <optional>
#include <string_view>

namespace drivers {

// Behind the end of the object that `text` begins with, white space before it included; 0: it is
// not whole, none, or nested deeper than 32.
std::size_t json_end(std::string_view text);

// An object as text; outlived by what it was made from. Where it is no JSON, fields may be missing
// or nonsense, never more.
class JsonText {
 public:
  explicit JsonText(std::string_view text) : text_(text) {}

  // Of the object's own members, not of those within: the first of that name.
  // A string without its quotes, escapes left as they are; anything else as it stands.
  std::optional<std::string_view> find(std::string_view key) const;
  // Written as a number or as a string that is one.
  std::optional<double> number(std::string_view key) const;

 private:
  std::string_view text_;
};

}  // namespace drivers
