// Where the options of Cartographer's sensor path went: for those who come from there.
#pragma once

#include <span>
#include <string_view>

namespace config {

struct CartographerOption {
  std::string_view name;
  std::string_view key;    // ours, as keys() has it; empty: there is none
  std::string_view words;  // what differs, or why there is none
};

std::span<const CartographerOption> cartographer_options();

}  // namespace config
