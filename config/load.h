// Reads a configuration file and finds everything that is wrong with it.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/fault.h"
#include "config/stack.h"

namespace config {

inline constexpr std::size_t kMaxFileSize = 1 << 20;  // bytes

// Nothing is opened but the file itself. Faults come in the order of the file, all of them, except
// that a syntax error hides those behind it.
using Loaded = std::variant<Stack, std::vector<Fault>>;
Loaded load(const std::string& path);
// Also gives the text that was read: the only one that belongs to the result.
Loaded load(const std::string& path, std::string& text);
Loaded load_text(const std::string& text, std::string_view file);

}  // namespace config
