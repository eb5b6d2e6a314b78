// lidarctl drivers: what this build can drive, with every option.
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/lidarctl/commands.h"

namespace lidarctl {
namespace {

const char* name(drivers::Kind kind) { return kind == drivers::Kind::lidar ? "lidar" : "imu"; }

const char* name(drivers::StampOf stamp) {
  switch (stamp) {
    case drivers::StampOf::first_beam:
      return "first_beam";
    case drivers::StampOf::last_beam:
      return "last_beam";
    case drivers::StampOf::sync:
      return "sync";
    case drivers::StampOf::frame_end:
      return "frame_end";
  }
  return "?";
}

const char* name(drivers::OptionType type) {
  switch (type) {
    case drivers::OptionType::flag:
      return "flag";
    case drivers::OptionType::integer:
      return "integer";
    case drivers::OptionType::number:
      return "number";
    case drivers::OptionType::text:
      return "text";
    case drivers::OptionType::choice:
      return "choice";
  }
  return "?";
}

void print_json() {
  using Json = nlohmann::ordered_json;
  Json rows = Json::array();
  for (const drivers::Row& row : drivers::all()) {
    Json options = Json::array();
    for (const drivers::OptionSpec& o : row.options) {
      Json option = {{"key", o.key},
                     {"type", name(o.type)},
                     {"unit", o.unit},
                     {"default", o.fallback},
                     {"help", o.help}};
      if (o.type == drivers::OptionType::choice) option["choices"] = o.choices;
      if (o.type == drivers::OptionType::integer || o.type == drivers::OptionType::number) {
        option["min"] = o.min;
        option["max"] = o.max;
      }
      options.push_back(std::move(option));
    }
    rows.push_back({{"name", row.name},
                    {"kind", name(row.kind)},
                    {"models", row.models},
                    {"baud", row.default_baud},
                    {"stamp_of", name(row.stamp_of)},
                    {"options", std::move(options)}});
  }
  std::cout << rows.dump(2) << '\n';
}

void print_text() {
  for (const drivers::Row& row : drivers::all()) {
    std::cout << row.name << "  (" << name(row.kind);
    if (row.default_baud > 0) std::cout << ", " << row.default_baud << " baud";
    std::cout << ", stamp of " << name(row.stamp_of) << ")\n  " << row.models << '\n';
    for (const drivers::OptionSpec& o : row.options) {
      std::cout << "    " << o.key << ": " << (o.choices.empty() ? name(o.type) : o.choices);
      if (o.type == drivers::OptionType::integer || o.type == drivers::OptionType::number) {
        std::cout << " from " << o.min << " to " << o.max;
      }
      if (!o.unit.empty()) std::cout << " " << o.unit;
      std::cout << ", default " << (o.fallback.empty() ? "none" : o.fallback) << "\n        "
                << o.help << '\n';
    }
  }
}

}  // namespace

void add_drivers(CLI::App& root) {
  auto json = std::make_shared<bool>(false);
  CLI::App* const command =
      root.add_subcommand("drivers", "List the drivers of this build with their options");
  command->add_flag("--json", *json, "for programs");
  command->callback([json] { *json ? print_json() : print_text(); });
}

}  // namespace lidarctl
