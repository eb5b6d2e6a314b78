// From the tree of a file to a Stack, key by key, by the table of keys.h.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/document.h"
#include "config/fault.h"
#include "config/stack.h"

namespace config {

// A configuration while it is being loaded. With faults, the stack holds what was right.
struct Draft {
  explicit Draft(std::string_view file_name) : file(file_name) {}

  // Blames `key` where it stands in the file, or where the map around it begins.
  void blame(const std::string& key, std::string wrong, std::string remedy);
  void blame(Mark at, const std::string& key, std::string wrong, std::string remedy);
  bool given(const std::string& key) const { return places.contains(key); }

  std::string file;
  Stack stack;
  std::map<std::string, Mark> places;  // of every key that was given
  std::vector<Fault> faults;
};

// Reads each key by itself; what keys mean together is for rules.h.
void read(const Node& root, Draft& draft);

}  // namespace config
