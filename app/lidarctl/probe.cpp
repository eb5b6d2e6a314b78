// lidarctl probe: what device is there?
#include <filesystem>
#include <iostream>

#include "app/lidarctl/commands.h"
#include "app/lidarctl/probe_report.h"
#include "hal/clock.h"
#include "hal/make_port.h"

namespace lidarctl {
namespace {

struct Arguments {
  std::string port;
  bool json = false;
};

constexpr hal::Duration kTick = std::chrono::milliseconds(10);

struct NoPasses final : hal::PassListener {
  void on_pass_begin(hal::Time) override {}
  void on_pass_end(hal::Time) override {}
};

void run(hal::EventLoop& loop, Prober& prober) {
  NoPasses passes;
  hal::Ticker ticker(loop, kTick, [&](hal::Time now) {
    prober.tick(now);
    if (prober.is_done()) loop.stop();
  });
  prober.start(loop.clock().now());
  loop.run(passes);
}

// The name under which the adapter is found again, in whichever order they are plugged in.
std::string lasting_name(const std::string& path) {
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  if (error) return path;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/serial/by-id", error)) {
    std::error_code broken;
    if (std::filesystem::canonical(entry.path(), broken) == real && !broken) return entry.path();
  }
  return path;
}

void print(const ProbeResult& result, const Place& place, bool json) {
  if (json) {
    std::cout << as_json(result, place).dump() << '\n';
  } else if (result.found.row) {
    std::string line;
    for (const char c : in_words(result, place)) {
      line += c;
      if (c == '\n') std::cout << "# " << std::exchange(line, {});
    }
    std::cout << snippet(result, place);
  }
  std::cout << std::flush;
  if (!std::cout) throw Failure(kFailed, "standard output: cannot be written");
  if (result.found.row) return;
  std::string why = result.is_port_fault ? result.why : place.port + ": " + result.why;
  if (!result.is_port_fault && result.bytes > 0) {
    why += "; " + std::to_string(result.bytes) + " bytes, which begin with " + result.first_bytes;
  }
  throw Failure(result.is_port_fault ? kNoInput : kFailed, why);
}

void probe(const Arguments& arguments) {
  std::string path = arguments.port;
  if (path.starts_with("serial:")) path.erase(0, 7);
  const hal::InnerClock clock;
  hal::EventLoop loop(clock);
  SharedPort port(
      hal::make_port(loop, {.spec = {.kind = hal::PortSpec::Kind::serial, .path = path}}));
  Prober prober(drivers::all(), port);
  run(loop, prober);
  print(prober.result(), {"serial:" + lasting_name(path)}, arguments.json);
}

}  // namespace

void add_probe(CLI::App& root) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* const command = root.add_subcommand(
      "probe", "Find out what device is at a port; prints a configuration for it");
  command->add_option("PORT", arguments->port, "serial port")->required();
  command->add_flag("--json", arguments->json, "one line of JSON");
  command->callback([arguments] { probe(*arguments); });
}

}  // namespace lidarctl
