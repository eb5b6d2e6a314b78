// One thing that is wrong in a configuration, with its remedy.
#pragma once

#include <string>
#include <vector>

namespace config {

// Where a value or a key begins; both count from 1. Line 0: the file as a whole.
struct Mark {
  int line = 0;
  int column = 0;
};

struct Fault {
  std::string file;
  Mark at;
  std::string key;     // "sensors.front.baud"
  std::string wrong;   // what is wrong
  std::string remedy;  // what would be right
};

// "file:line:column: key: what is wrong, what would be right"
std::string to_string(const Fault& fault);

}  // namespace config
