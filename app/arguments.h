// The command line of lidard.
#pragma once

#include <optional>
#include <string>

namespace app {

inline constexpr int kFailed = 1, kUsage = 64, kBadConfig = 78;

struct Arguments {
  std::string config = "/etc/lidard/lidard.yaml";
  std::optional<int> exit_status{};  // all was said: end with this
};

// Prints help, version or what is wrong with the arguments.
Arguments parse(int argc, char** argv);

}  // namespace app
