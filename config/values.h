// How the value of each kind of key is read.
#pragma once

#include <optional>
#include <string>

#include "config/document.h"
#include "config/keys.h"

namespace config {

struct Problem {
  std::string wrong;
  std::string remedy;
};

// Sets the value of `key` from `node`; nothing is changed when there is a problem.
std::optional<Problem> assign(const Key& key, const Node& node, Stack& stack, Sensor& sensor);
std::optional<Problem> assign(drivers::Options& options, const drivers::OptionSpec& spec,
                              const Node& node);

}  // namespace config
