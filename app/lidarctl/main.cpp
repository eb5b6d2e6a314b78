// lidarctl: everything a person types.
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <iostream>

#include "app/lidarctl/commands.h"
#include "app/version.h"

namespace lidarctl {

const drivers::Row& driver_row(const std::string& name) {
  if (const drivers::Row* const row = drivers::find(name)) return *row;
  std::vector<std::string_view> names;
  for (const drivers::Row& row : drivers::all()) names.push_back(row.name);
  const std::string_view near = drivers::nearest(name, names);
  throw Failure(kUsage, "unknown driver '" + name + "'" +
                            (near.empty() ? std::string("; see `lidarctl drivers`")
                                          : "; did you mean '" + std::string(near) + "'?"));
}

CLI::Validator finite() {
  return {[](std::string& text) {
            char* end = nullptr;
            const double value = std::strtod(text.c_str(), &end);
            const bool good = !text.empty() && *end == '\0' && std::isfinite(value) && value >= 0;
            return good ? std::string() : "a number from 0 on is wanted, not " + text;
          },
          ""};
}

std::pair<std::string, std::string> key_value(const std::string& text) {
  const std::size_t at = text.find('=');
  if (at == 0 || at == std::string::npos) {
    throw Failure(kUsage, "--set wants key=value, not '" + text + "'");
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

namespace {

// The parser would only say that a command is missing.
void check_command(const CLI::App& app, const std::string& word) {
  if (word.starts_with('-')) return;
  std::vector<std::string_view> names;
  for (const CLI::App* const command : app.get_subcommands(nullptr)) {
    if (command->check_name(word)) return;
    names.push_back(command->get_name());
  }
  const std::string_view near = drivers::nearest(word, names);
  throw Failure(kUsage, "unknown command '" + word + "'" +
                            (near.empty() ? std::string("; see `lidarctl --help`")
                                          : "; did you mean '" + std::string(near) + "'?"));
}

}  // namespace
}  // namespace lidarctl

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is a failed write, told as such
  CLI::App app("Looks at, tests and records what lidard and its sensors do.", "lidarctl");
  app.set_version_flag("--version", "lidarctl " + std::string(app::kVersion));
  app.require_subcommand(1);
  lidarctl::add_check(app);
  lidarctl::add_completion(app);
  lidarctl::add_decode(app);
  lidarctl::add_drivers(app);
  lidarctl::add_export(app);
  lidarctl::add_info(app);
  lidarctl::add_list(app);
  lidarctl::add_monitor(app);
  lidarctl::add_probe(app);
  lidarctl::add_record(app);
  lidarctl::add_replay(app);
  lidarctl::add_send(app);
  lidarctl::add_simulate(app);
  lidarctl::add_stamps(app);
  lidarctl::add_status(app);
  try {
    if (argc > 1) lidarctl::check_command(app, argv[1]);
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : lidarctl::kUsage;
  } catch (const lidarctl::Failure& failure) {
    if (*failure.what() != '\0') std::cerr << "lidarctl: " << failure.what() << '\n';
    return failure.status;
  } catch (const std::exception& error) {
    std::cerr << "lidarctl: " << error.what() << '\n';
    return lidarctl::kFailed;
  }
}
