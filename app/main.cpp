// lidard, the daemon.
#include <cstdio>
#include <string>

#include "app/arguments.h"
#include "app/daemon.h"
#include "config/load.h"

int main(int argc, char** argv) {
  const app::Arguments arguments = app::parse(argc, argv);
  if (arguments.exit_status) return *arguments.exit_status;

  std::string text;
  const config::Loaded loaded = config::load(arguments.config, text);
  if (const auto* const faults = std::get_if<std::vector<config::Fault>>(&loaded)) {
    for (const config::Fault& fault : *faults) {
      std::fprintf(stderr, "%s\n", config::to_string(fault).c_str());
    }
    return app::kBadConfig;
  }
  const auto& stack = std::get<config::Stack>(loaded);
  const config::Plan plan = config::plan(stack);

  hal::Log log(2, hal::Severity::info, hal::Log::style_of(2));
  const auto daemon = app::Daemon::create(stack, plan, text, log);
  if (!daemon) {
    log.write(hal::Severity::error, "%s", hal::in_words(daemon.error()).c_str());
    return app::kFailed;
  }
  (*daemon)->run();
  return 0;
}
