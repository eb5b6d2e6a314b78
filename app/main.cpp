// lidard, the daemon.
#include <cstdio>
#include <string>

#include "app/arguments.h"
#include "app/daemon.h"
#include "config/load.h"
#include "hal/signal_watch.h"

namespace {

int fail(hal::Log& log, const hal::Error& error) {
  log.write(hal::Severity::error, "%s", hal::in_words(error).c_str());
  return app::kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  (void)hal::block_signals();  // without it a signal ends us as it would anybody
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
  if (!daemon) return fail(log, daemon.error());
  if (const hal::Status ran = (*daemon)->run(); !ran) return fail(log, ran.error());
  return 0;
}
