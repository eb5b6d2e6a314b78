// Just enough JSON to read what lidarctl prints.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace test {

class Json {
 public:
  using List = std::vector<Json>;
  using Object = std::map<std::string, Json>;

  // Fails the test when `text` is not one JSON value.
  static Json parse(std::string_view text);

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool has(const std::string& key) const;
  // These fail the test when the value is of another kind.
  double number() const;
  bool boolean() const;
  const std::string& string() const;
  const List& list() const;
  const Object& object() const;
  const Json& operator[](const std::string& key) const;
  const Json& operator[](std::size_t i) const;

 private:
  class Parser;
  std::variant<std::monostate, bool, double, std::string, List, Object> value_;
};

}  // namespace test
