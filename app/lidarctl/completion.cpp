// lidarctl completion: what shells complete, made of the commands as they are, so it cannot drift.
#include <algorithm>
#include <functional>
#include <iostream>

#include "app/lidarctl/commands.h"

namespace lidarctl {
namespace {

struct Command {
  std::string name, about;
  std::vector<std::string> options;
  std::vector<std::string> flags_about;  // of each option
  bool wants_driver = false;
};

std::vector<Command> commands_of(const CLI::App& root) {
  std::vector<Command> all;
  for (const CLI::App* const app : root.get_subcommands(nullptr)) {
    Command command{app->get_name(), app->get_description(), {}, {}, false};
    for (const CLI::Option* const option : app->get_options(nullptr)) {
      if (option->nonpositional()) {
        command.options.push_back("--" + option->get_lnames().front());
        command.flags_about.push_back(option->get_description());
      } else {
        command.wants_driver |= option->get_name() == "DRIVER" || option->get_name() == "driver";
      }
    }
    all.push_back(std::move(command));
  }
  return all;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string driver_names() {
  std::vector<std::string> names;
  for (const drivers::Row& row : drivers::all()) names.emplace_back(row.name);
  return joined(names);
}

// In single quotes of any of the shells.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

void print_bash(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& c : commands) names.push_back(c.name);
  std::cout << "# bash completion of lidarctl\n"
               "_lidarctl() {\n"
               "  local word=${COMP_WORDS[COMP_CWORD]} words=\n"
               "  if ((COMP_CWORD == 1)); then\n"
               "    words='"
            << joined(names)
            << " --help --version'\n"
               "  else\n"
               "    case ${COMP_WORDS[1]} in\n";
  for (const Command& c : commands) {
    std::cout << "      " << c.name << ") words='" << joined(c.options) << "'";
    if (c.wants_driver) std::cout << "; ((COMP_CWORD == 2)) && words='" << driver_names() << "'";
    std::cout << " ;;\n";
  }
  std::cout
      << "    esac\n"
         "  fi\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "  [[ ${#COMPREPLY[@]} -gt 0 || $word == -* ]] || COMPREPLY=($(compgen -f -- \"$word\"))\n"
         "}\n"
         "complete -o filenames -F _lidarctl lidarctl\n";
}

void print_zsh(const std::vector<Command>& commands) {
  std::cout << "#compdef lidarctl\n"
               "local -a commands\n"
               "commands=(\n";
  for (const Command& c : commands) {
    std::string about = c.about;
    std::ranges::replace(about, ':', ',');
    std::cout << "  " << quoted(c.name + ":" + about) << '\n';
  }
  std::cout << ")\n"
               "if ((CURRENT == 2)); then\n"
               "  _describe command commands\n"
               "  return\n"
               "fi\n"
               "case $words[2] in\n";
  for (const Command& c : commands) {
    std::cout << "  " << c.name << ") ";
    if (c.wants_driver)
      std::cout << "((CURRENT == 3)) && compadd " << driver_names() << " && return; ";
    std::cout << "compadd -- " << joined(c.options) << " ;;\n";
  }
  std::cout << "esac\n"
               "_files\n";
}

void print_fish(const std::vector<Command>& commands) {
  std::cout << "# fish completion of lidarctl\n";
  for (const Command& c : commands) {
    std::cout << "complete -c lidarctl -n __fish_use_subcommand -f -a " << c.name << " -d "
              << quoted(c.about) << '\n';
    const std::string within = "-n '__fish_seen_subcommand_from " + c.name + "'";
    for (std::size_t i = 0; i < c.options.size(); ++i) {
      std::cout << "complete -c lidarctl " << within << " -l " << c.options[i].substr(2) << " -d "
                << quoted(c.flags_about[i]) << '\n';
    }
    if (c.wants_driver) {
      std::cout << "complete -c lidarctl " << within << " -a " << quoted(driver_names()) << '\n';
    }
  }
}

}  // namespace

void add_completion(CLI::App& root) {
  auto shell = std::make_shared<std::string>();
  CLI::App* const command =
      root.add_subcommand("completion", "Print what a shell needs to complete these commands");
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([shell, &root] {
    const auto commands = commands_of(root);
    if (*shell == "bash") print_bash(commands);
    if (*shell == "zsh") print_zsh(commands);
    if (*shell == "fish") print_fish(commands);
  });
}

}  // namespace lidarctl
