// lidarctl stamps: how good the stamps of a stream or a recording are.
#include "app/lidarctl/stamps.h"

#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "app/lidarctl/commands.h"

namespace lidarctl {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct Arguments {
  std::string stream = kDefaultSocket;
  double seconds = 0, skip_s = 0;
  std::vector<std::string> truth;  // NAME=FILE
  std::string html;
  bool json = false, verify = false;
};

volatile std::sig_atomic_t interrupted = 0;

bool is_socket(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) {
    throw Failure(kNoInput, path + ": " + std::strerror(errno) +
                                "; STREAM is the socket of a running lidard, or a file that "
                                "`lidarctl record` wrote");
  }
  if (S_ISDIR(found.st_mode)) throw Failure(kNoInput, path + " is a directory, no stream");
  return S_ISSOCK(found.st_mode);
}

void read_file(const std::string& path, StampLog& log) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Failure(kNoInput, path + ": " + std::strerror(errno));
  MessageReader reader;
  std::vector<std::byte> buffer(1 << 16);
  const OnMessage on_message = [&](const StreamMessage& m) { log.on_message(m); };
  while (file) {
    file.read(reinterpret_cast<char*>(buffer.data()), static_cast<std::streamsize>(buffer.size()));
    const auto n = static_cast<std::size_t>(file.gcount());
    reader.feed(std::span(buffer).first(n), path, on_message);
  }
  if (!reader.finished()) {
    std::fprintf(stderr, "%s has no end; these are the figures of what is whole\n", path.c_str());
  }
}

void read_socket(const Arguments& arguments, StampLog& log) {
  StreamClient client(arguments.stream);
  std::signal(SIGINT, [](int) { interrupted = 1; });
  std::signal(SIGTERM, [](int) { interrupted = 1; });
  if (arguments.seconds <= 0) std::fprintf(stderr, "listening; Ctrl-C ends it\n");
  const auto end = SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(
                                            std::chrono::duration<double>(arguments.seconds));
  const OnMessage on_message = [&](const StreamMessage& m) { log.on_message(m); };
  while (!interrupted && (arguments.seconds <= 0 || SteadyClock::now() < end)) {
    if (!client.read(50, on_message)) break;
  }
}

void check_names(const Arguments& arguments, const StampLog& log) {
  const std::vector<std::string> sensors = log.sensors();
  for (const std::string& pair : arguments.truth) {
    if (std::ranges::find(sensors, key_value(pair).first) != sensors.end()) continue;
    std::string known;
    for (const std::string& sensor : sensors) known += " " + sensor;
    throw Failure(kUsage,
                  "--truth " + pair + ": no sensor of that name sent anything; there are:" + known);
  }
}

bool is_sound(const std::map<std::string, SensorFigures>& all) {
  for (const auto& [name, figures] : all) {
    for (const app::CheckRow& row : app::check_rows()) {
      if (figures.checks.finding(row.check).count > 0) return false;
    }
  }
  return true;
}

void stamps(const Arguments& arguments) {
  for (const std::string& pair : arguments.truth) (void)key_value(pair);  // before waiting for data
  StampLog log(!arguments.truth.empty());
  if (is_socket(arguments.stream)) {
    read_socket(arguments, log);
  } else {
    read_file(arguments.stream, log);
  }
  if (log.sensors().empty()) {
    throw Failure(
        kFailed,
        arguments.stream +
            ": no sensor sent anything; `lidarctl status` says why, and a raw capture is for "
            "`lidarctl replay`");
  }
  check_names(arguments, log);
  const auto figures = log.figures(read_truths(arguments.truth), arguments.skip_s);
  std::fputs(arguments.json ? json_of(figures).c_str() : table_of(figures).c_str(), stdout);
  if (!arguments.html.empty()) {
    std::ofstream page(arguments.html);
    page << page_of(figures, "Stamps of " + arguments.stream);
    page.close();
    if (!page) throw Failure(kFailed, arguments.html + ": " + std::strerror(errno));
  }
  if (arguments.verify && !is_sound(figures)) throw Failure(kFailed, "");
}

}  // namespace

Truths read_truths(const std::vector<std::string>& pairs) {
  Truths all;
  for (const std::string& pair : pairs) {
    const auto [name, file] = key_value(pair);
    all[name] = std::make_unique<Truth>(file);
  }
  return all;
}

void add_stamps(CLI::App& root) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* const command = root.add_subcommand(
      "stamps", "Figures of the stamps: period, jitter, latency, gaps, errors against the truth");
  command
      ->add_option("STREAM", arguments->stream,
                   "socket of a running lidard, or a file of `lidarctl record`")
      ->capture_default_str();
  command
      ->add_option("--for", arguments->seconds,
                   "seconds to listen to a socket; 0: until Ctrl-C, or its end")
      ->check(finite())
      ->capture_default_str();
  command
      ->add_option("--skip", arguments->skip_s,
                   "seconds at the begin of each sensor that the figures leave out")
      ->check(finite())
      ->capture_default_str();
  command
      ->add_option("--truth", arguments->truth,
                   "a sensor's truth file, written by `lidarctl simulate --truth`")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  command->add_option("--html", arguments->html, "page to write, with plots")->type_name("FILE");
  command->add_flag("--json", arguments->json, "for programs");
  command->add_flag("--verify", arguments->verify, "exit status 1 when a check found something");
  command->callback([arguments] { stamps(*arguments); });
}

}  // namespace lidarctl
