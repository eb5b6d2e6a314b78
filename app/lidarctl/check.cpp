// lidarctl check: examines a configuration and prints its budgets.
#include <iostream>

#include "app/lidarctl/commands.h"
#include "config/load.h"
#include "config/manual.h"
#include "config/plan.h"

namespace lidarctl {
namespace {

void check(const std::string& file) {
  const config::Loaded loaded = config::load(file);
  if (const auto* const faults = std::get_if<std::vector<config::Fault>>(&loaded)) {
    for (const config::Fault& fault : *faults) std::cerr << config::to_string(fault) << '\n';
    throw Failure(kBadConfig, "");
  }
  const auto& stack = std::get<config::Stack>(loaded);
  std::cout << config::report(stack, config::plan(stack));
}

}  // namespace

void add_check(CLI::App& root) {
  auto file = std::make_shared<std::string>();
  auto keys = std::make_shared<bool>(false);
  CLI::App* const command =
      root.add_subcommand("check", "Examine a configuration; print its budgets");
  command->add_option("FILE", *file, "configuration");
  command->add_flag("--keys", *keys, "print every key with its default instead, as YAML");
  command->callback([file, keys] {
    if (*keys) {
      std::cout << config::every_key_yaml();
    } else if (file->empty()) {
      throw Failure(kUsage, "check wants a FILE");
    } else {
      check(*file);
    }
  });
}

}  // namespace lidarctl
