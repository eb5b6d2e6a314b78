#include "test/system/json.h"

#include <cctype>
#include <charconv>

#include "test/support/harness.h"

namespace test {

class Json::Parser {
 public:
  explicit Parser(std::string_view text) : left_(text) {}

  Json whole() {
    Json json = value();
    skip_space();
    if (!left_.empty()) fail("the end");
    return json;
  }

 private:
  Json value() {
    skip_space();
    Json json;
    if (take("{")) {
      json.value_ = members();
    } else if (take("[")) {
      json.value_ = elements();
    } else if (take("\"")) {
      json.value_ = text();
    } else if (take("true")) {
      json.value_ = true;
    } else if (take("false")) {
      json.value_ = false;
    } else if (!take("null")) {
      json.value_ = number();
    }
    return json;
  }

  Object members() {
    Object object;
    skip_space();
    if (take("}")) return object;
    do {
      skip_space();
      expect("\"");
      std::string key = text();
      skip_space();
      expect(":");
      object[std::move(key)] = value();
      skip_space();
    } while (take(","));
    expect("}");
    return object;
  }

  List elements() {
    List list;
    skip_space();
    if (take("]")) return list;
    do {
      list.push_back(value());
      skip_space();
    } while (take(","));
    expect("]");
    return list;
  }

  std::string text() {
    std::string text;
    for (;;) {
      if (left_.empty()) fail("a closing quote");
      const char c = left_.front();
      left_.remove_prefix(1);
      if (c == '"') return text;
      if (static_cast<unsigned char>(c) < 0x20) fail("no control character in a string");
      text += c == '\\' ? escaped() : c;
    }
  }

  char escaped() {
    if (left_.empty()) fail("an escaped character");
    const char c = left_.front();
    left_.remove_prefix(1);
    if (c == 'n') return '\n';
    if (c == 't') return '\t';
    if (c != 'u') return c;
    if (left_.size() < 4) fail("four hexadecimal digits");
    left_.remove_prefix(4);
    return '?';
  }

  double number() {
    double number = 0;
    const auto [end, error] = std::from_chars(left_.data(), left_.data() + left_.size(), number);
    if (error != std::errc()) fail("a value");
    left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
    return number;
  }

  void skip_space() {
    while (!left_.empty() && std::isspace(static_cast<unsigned char>(left_.front()))) {
      left_.remove_prefix(1);
    }
  }
  bool take(std::string_view token) {
    if (!left_.starts_with(token)) return false;
    left_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail(std::string(token));
  }
  void fail(const std::string& wanted) const {
    FAIL(("JSON: " + wanted + " is wanted at: " + std::string(left_.substr(0, 40))).c_str());
  }

  std::string_view left_;
};

namespace {

template <class T, class V>
const T& as(const V& value, const char* what) {
  if (!std::holds_alternative<T>(value)) FAIL((std::string("JSON: not ") + what).c_str());
  return std::get<T>(value);
}

}  // namespace

Json Json::parse(std::string_view text) { return Parser(text).whole(); }

bool Json::has(const std::string& key) const { return object().contains(key); }
double Json::number() const { return as<double>(value_, "a number"); }
bool Json::boolean() const { return as<bool>(value_, "true or false"); }
const std::string& Json::string() const { return as<std::string>(value_, "a string"); }
const Json::List& Json::list() const { return as<List>(value_, "a list"); }
const Json::Object& Json::object() const { return as<Object>(value_, "an object"); }

const Json& Json::operator[](const std::string& key) const {
  const auto found = object().find(key);
  if (found == object().end()) FAIL(("JSON: there is no \"" + key + "\"").c_str());
  return found->second;
}

const Json& Json::operator[](std::size_t i) const {
  if (i >= list().size()) FAIL("JSON: the list is shorter");
  return list()[i];
}

}  // namespace test
