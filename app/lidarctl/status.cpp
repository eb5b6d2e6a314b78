// lidarctl status: the state of a running lidard, once.
#include <chrono>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/lidarctl/books.h"
#include "app/lidarctl/commands.h"
#include "app/lidarctl/diagnosis.h"
#include "app/lidarctl/stream_client.h"

namespace lidarctl {
namespace {

struct Arguments {
  std::string socket = kDefaultSocket;
  bool json = false;
};

std::map<std::string, Diagnosis> newest_state(const std::string& socket) {
  StreamClient client(socket);
  std::optional<std::map<std::string, Diagnosis>> state;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  while (!state && std::chrono::steady_clock::now() < until) {
    const bool open = client.read(100, [&](const StreamMessage& m) {
      if (m.topic == "/diagnostics") state = diagnoses(m.message.data);
    });
    if (!open) break;
  }
  if (!state) throw Failure(kFailed, socket + ": connected, but no state came within 3 s");
  return *state;
}

const char* name(app::Level level) {
  switch (level) {
    case app::Level::ok:
      return "ok";
    case app::Level::warn:
      return "warn";
    case app::Level::error:
      return "error";
    case app::Level::stale:
      return "stale";
  }
  return "?";
}

void print_json(const std::map<std::string, Diagnosis>& state) {
  nlohmann::ordered_json json;
  for (const auto& [sensor, d] : state) {
    json[sensor] = {{"level", name(d.level)}, {"message", d.message}, {"driver", d.hardware_id}};
    json[sensor]["values"] = d.values;
  }
  std::cout << json.dump(2) << '\n';
}

void print_text(const std::map<std::string, Diagnosis>& state) {
  for (const auto& [sensor, d] : state) {
    if (sensor == "lidard") {
      std::printf("lidard %s: %s\n", d.hardware_id.c_str(), d.message.c_str());
      continue;
    }
    if (d.values.contains("merge.clouds")) {
      std::printf("%-12s %-16s %-9s %s, dropped: %s\n", sensor.c_str(), d.hardware_id.c_str(), "",
                  d.message.c_str(), drops(d).c_str());
      continue;
    }
    const auto value = [&](const char* key) {
      const auto found = d.values.find(key);
      return found == d.values.end() ? std::string("?") : found->second;
    };
    std::printf("%-12s %-16s %-9s %s\n", sensor.c_str(), d.hardware_id.c_str(),
                value("state").c_str(), d.message.c_str());
    if (d.values.contains("input.messages")) {
      std::printf("%-12s   %s out, dropped: %s\n", "", value("queue.out").c_str(),
                  drops(d).c_str());
      continue;
    }
    std::printf("%-12s   %s out, clock %s %s ppm, dropped: %s\n", "", value("queue.out").c_str(),
                value("clock.quality").c_str(), value("clock.drift_ppm").c_str(), drops(d).c_str());
    if (!value("port").empty()) std::printf("%-12s   port: %s\n", "", value("port").c_str());
  }
}

}  // namespace

void add_status(CLI::App& root) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* const command = root.add_subcommand("status", "Show the state of a running lidard");
  command->add_option("--socket", arguments->socket, "stream socket")->capture_default_str();
  command->add_flag("--json", arguments->json, "for programs");
  command->callback([arguments] {
    const auto state = newest_state(arguments->socket);
    arguments->json ? print_json(state) : print_text(state);
  });
}

}  // namespace lidarctl
