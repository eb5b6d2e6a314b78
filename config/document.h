// A YAML text as a plain tree that knows the place of every value. Nothing of yaml-cpp leaves
// document.cpp, least of all its exceptions.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/fault.h"

namespace config {

struct Node {
  enum class Kind { empty, scalar, list, map };
  Kind kind = Kind::empty;
  Mark at;
  std::string text;         // scalar
  bool quoted = false;      // scalar
  std::vector<Node> items;  // list: its items. Map: key, value, key, value as written, doubles too
};

// The only document of `text`. Syntax errors, anchors' aliases, tags and a second document are
// faults.
std::variant<Node, Fault> parse(const std::string& text, std::string_view file);

}  // namespace config
