#include "app/arguments.h"

#include <cstdio>
#include <string_view>

#include "app/version.h"

namespace app {
namespace {

constexpr const char* kHelp =
    "Usage: lidard [--config FILE]\n"
    "Turns the lidars and IMUs of a robot into one ordered stream.\n\n"
    "  -c, --config FILE  configuration, default /etc/lidard/lidard.yaml\n"
    "  -h, --help         this text\n"
    "      --version      the version\n\n"
    "`lidarctl check FILE` examines a configuration; `lidarctl status` shows a running lidard.\n"
    "Exit status: 0 ended by a signal, 1 could not start, 64 wrong usage, 78 wrong "
    "configuration.\n";

}  // namespace

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "-c" || argument == "--config") {
      if (i + 1 == argc) {
        std::fprintf(stderr, "lidard: %s wants a FILE; see lidard --help\n", argv[i]);
        arguments.exit_status = kUsage;
        return arguments;
      }
      arguments.config = argv[++i];
    } else if (argument.starts_with("--config=")) {
      arguments.config = argument.substr(9);
    } else if (argument == "-h" || argument == "--help") {
      std::fputs(kHelp, stdout);
      arguments.exit_status = 0;
      return arguments;
    } else if (argument == "--version") {
      std::printf("lidard %.*s\n", static_cast<int>(kVersion.size()), kVersion.data());
      arguments.exit_status = 0;
      return arguments;
    } else {
      std::fprintf(stderr, "lidard: '%s' is not understood; see lidard --help\n", argv[i]);
      arguments.exit_status = kUsage;
      return arguments;
    }
  }
  return arguments;
}

}  // namespace app
