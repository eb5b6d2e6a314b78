// How the value of each kind of key is read, written and described.
#pragma once

#include <optional>
#include <string>
#include <string_view>

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

// What would be right, as a noun phrase: "a number from 0 to 1".
std::string expected(const Key& key);
std::string expected(const drivers::OptionSpec& spec);

// The default as it would be written in a file, or in words; empty: it must be given.
std::string fallback(const Key& key);

// "a|b|c" as "a, b or c".
std::string listed(std::string_view choices);
std::string joined(std::span<const std::string_view> words);

// What a node is, for people: "'abc'", "a list".
std::string description(const Node& node);

}  // namespace config
