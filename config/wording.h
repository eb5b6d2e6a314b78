// How keys and their values are put into words: in faults, in the example and in the manual.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/document.h"
#include "config/keys.h"

namespace config {

// What would be right, as a noun phrase: "a number from 0 to 1".
std::string expected(const Key& key);
std::string expected(const drivers::OptionSpec& spec);

// The default as it would be written in a file, or in words; empty: it must be given.
std::string fallback(const Key& key);

std::vector<std::string_view> split(std::string_view choices);  // "a|b|c"
std::string listed(std::string_view choices);                   // "a, b or c"
std::string joined(std::span<const std::string_view> words);

// What a node is, for people: "'abc'", "a list".
std::string description(const Node& node);

}  // namespace config
