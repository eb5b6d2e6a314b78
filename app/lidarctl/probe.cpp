// lidarctl probe: what device is there?
#include <filesystem>
#include <iostream>

#include "app/lidarctl/commands.h"
#include "app/lidarctl/probe.h"
#include "hal/clock.h"
#include "hal/make_port.h"

namespace lidarctl {
namespace {

struct Arguments {
  std::string place;
  std::uint16_t port = 0;
  bool json = false;
};

constexpr hal::Duration kTick = std::chrono::milliseconds(10);

struct NoPasses final : hal::PassListener {
  void on_pass_begin(hal::Time) override {}
  void on_pass_end(hal::Time) override {}
};

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

void probe_serial(std::string path, bool json) {
  if (path.starts_with("serial:")) path.erase(0, 7);
  const hal::InnerClock clock;
  hal::EventLoop loop(clock);
  SharedPort port(
      hal::make_port(loop, {.spec = {.kind = hal::PortSpec::Kind::serial, .path = path}}));
  Prober prober(drivers::all(), port);
  run(loop, prober);
  print(prober.result(), {"serial:" + lasting_name(path)}, json);
}

void probe(const Arguments& a) {
  if (a.place == "udp") return probe_udp_senders(a.port, a.json);
  if (a.port > 0) throw Failure(kUsage, "--port goes with 'udp' alone");
  const bool is_tcp = a.place.starts_with("tcp:");
  if (!is_tcp && !a.place.starts_with("udp:")) return probe_serial(a.place, a.json);
  const auto address = hal::parse_host_port(std::string_view(a.place).substr(4));
  if (!address) throw Failure(kUsage, a.place + ": " + hal::in_words(address.error()).c_str());
  probe_network(is_tcp, address->host, address->port, a.json);
}

}  // namespace

void run(hal::EventLoop& loop, Prober& prober) {
  NoPasses passes;
  hal::Ticker ticker(loop, kTick, [&](hal::Time now) {
    prober.tick(now);
    if (prober.is_done()) loop.stop();
  });
  prober.start(loop.clock().now());
  loop.run(passes);
}

void print_comment(const std::string& lines) {
  std::string line;
  for (const char c : lines) {
    line += c;
    if (c == '\n') std::cout << "# " << std::exchange(line, {});
  }
}

void print(const ProbeResult& result, const Place& place, bool json) {
  if (json) {
    std::cout << as_json(result, place).dump() << '\n';
  } else if (result.found.row) {
    print_comment(in_words(result, place));
    std::cout << snippet(result, place);
  }
  std::cout << std::flush;
  if (!std::cout) throw Failure(kFailed, "standard output: cannot be written");
  if (result.found.row) return;
  // A port's own words name it.
  const bool is_named = result.is_port_fault || result.why.starts_with(place.port);
  std::string why = is_named ? result.why : place.port + ": " + result.why;
  if (!result.is_port_fault && result.bytes > 0) {
    why += "; " + std::to_string(result.bytes) + " bytes, which begin with " + result.first_bytes;
  }
  throw Failure(result.is_port_fault ? kNoInput : kFailed, why);
}

void add_probe(CLI::App& root) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* const command = root.add_subcommand(
      "probe", "Find out what device is at a port; prints a configuration for it");
  command
      ->add_option("PORT", arguments->place,
                   "a serial port, tcp:HOST[:PORT], udp:HOST[:PORT], or udp: who sends here?")
      ->required();
  command->add_option("--port", arguments->port, "udp: where to listen instead of the usual ports");
  command->add_flag("--json", arguments->json, "one line of JSON");
  command->callback([arguments] { probe(*arguments); });
}

}  // namespace lidarctl
