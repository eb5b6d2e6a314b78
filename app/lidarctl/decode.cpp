// lidarctl decode: recorded bytes of one port in, JSON lines out.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "app/lidarctl/commands.h"
#include "app/lidarctl/net_capture.h"
#include "app/lidarctl/packet_line.h"

namespace lidarctl {
namespace {

using Json = nlohmann::ordered_json;

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Failure(kNoInput, path + ": cannot be opened: " + std::strerror(errno));
  if (std::filesystem::is_directory(path)) throw Failure(kNoInput, path + ": is a directory");
  std::string content{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) throw Failure(kNoInput, path + ": cannot be read");
  return content;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::vector<std::byte> from_hex(const std::string& path, const std::string& text) {
  std::vector<std::byte> bytes;
  int high = -1;
  std::size_t line = 1;
  for (const char c : text) {
    line += c == '\n';
    if (std::isspace(static_cast<unsigned char>(c))) continue;
    const int digit = hex_digit(c);
    if (digit < 0) {
      throw Failure(kNoInput, path + ":" + std::to_string(line) + ": '" + std::string(1, c) +
                                  "' is no hexadecimal digit");
    }
    if (high < 0) {
      high = digit;
    } else {
      bytes.push_back(static_cast<std::byte>(high * 16 + digit));
      high = -1;
    }
  }
  if (high >= 0) throw Failure(kNoInput, path + ": ends in the middle of a byte");
  return bytes;
}

bool is_net_capture(const std::string& path) {
  return path.ends_with(".pcap") || path.ends_with(".pcapng");
}

std::vector<std::byte> load(const std::string& path) {
  const std::string content = read_file(path);
  if (path.ends_with(".hex")) return from_hex(path, content);
  const auto bytes = std::as_bytes(std::span(content));
  return {bytes.begin(), bytes.end()};
}

class Printer final : public drivers::PacketSink {
  void on_packet(drivers::SensorId, const drivers::Packet& packet, hal::Time) override {
    std::cout << packet_line(packet) << '\n';
  }
  void on_state(drivers::SensorId, drivers::State, hal::Time) override {}
};

void print(const drivers::DecoderStats& s) {
  const Json line = {{"type", "stats"},
                     {"bytes", s.framing.bytes},
                     {"frames", s.framing.frames},
                     {"frame_bytes", s.framing.frame_bytes},
                     {"rejected", s.framing.rejected},
                     {"garbage_bytes", s.framing.garbage_bytes},
                     {"tail_bytes", s.tail_bytes},
                     {"undecodable", s.undecodable},
                     {"packets", s.packets}};
  std::cout << line.dump() << '\n' << std::flush;
  if (!std::cout) throw Failure(kFailed, "standard output: cannot be written");
}

// Like Options::set, but where no name is near it lists them all.
void set_option(const drivers::Row& row, drivers::Options& options, const std::string& key,
                const std::string& value) {
  const hal::Status set = options.set(key, value);
  if (set) return;
  std::string text = std::string(row.name) + ": " + hal::in_words(set.error()).c_str();
  std::vector<std::string_view> keys{"baud"};
  for (const drivers::OptionSpec& spec : row.options) keys.push_back(spec.key);
  if (std::ranges::find(keys, key) == keys.end() && drivers::nearest(key, keys).empty()) {
    text += "; it knows";
    for (const std::string_view known : keys) text.append(" ").append(known);
  }
  throw Failure(kUsage, text);
}

struct Arguments {
  std::string driver, file, from;
  std::uint16_t port = 0;
  std::vector<std::string> settings;
};

// A byte's time is a whole number of ns, so its error adds up along a read: to 0.13 us at most.
void feed_line(drivers::Decoder& decoder, hal::Bytes bytes, int baud) {
  constexpr std::size_t kRead = 256;
  const hal::Duration per_byte(baud > 0 ? (10'000'000'000 + baud / 2) / baud : 0);
  for (std::size_t at = 0; at < bytes.size() && std::cout; at += kRead) {
    const auto part = bytes.subspan(at, std::min(kRead, bytes.size() - at));
    const std::size_t last = at + part.size() - 1;
    const auto last_at = hal::from_ns(
        baud > 0 ? static_cast<std::int64_t>(std::llround(static_cast<double>(last) * 1e10 / baud))
                 : 0);
    decoder.feed({.bytes = part, .last_at = last_at, .per_byte = per_byte});
  }
}

void feed_net(drivers::Decoder& decoder, const Arguments& arguments, hal::Bytes file) {
  NetChoice choice{.port = arguments.port};
  if (!arguments.from.empty()) choose_sender(choice, arguments.from);
  const NetReport report = read_capture(arguments.file, file, choice, [&](const hal::Chunk& chunk) {
    if (std::cout) decoder.feed(chunk);
  });
  for (const std::string& note : report.notes) {
    std::cerr << "lidarctl: " << arguments.file << ": " << note << '\n';
  }
}

void decode(const Arguments& arguments) {
  const drivers::Row& row = driver_row(arguments.driver);
  drivers::Options options(row.options);
  const bool is_net = is_net_capture(arguments.file);
  if (!is_net && (arguments.port > 0 || !arguments.from.empty())) {
    throw Failure(kUsage, "--port and --from choose within .pcap and .pcapng files");
  }
  int baud = is_net ? 0 : row.default_baud;
  for (const std::string& setting : arguments.settings) {
    const auto [key, value] = key_value(setting);
    if (key == "baud") {
      std::size_t used = 0;
      try {
        baud = std::stoi(value, &used);
      } catch (const std::exception&) {
      }
      if (used != value.size() || used == 0 || baud < 0 || baud > 20'000'000) {
        throw Failure(kUsage, "--set baud: '" + value + "' is no line rate");
      }
    } else {
      set_option(row, options, key, value);
    }
  }
  const std::vector<std::byte> bytes = load(arguments.file);
  Printer printer;
  const auto decoder = row.make_decoder(options, baud, printer);
  if (is_net) {
    feed_net(*decoder, arguments, bytes);
  } else {
    feed_line(*decoder, bytes, baud);
  }
  decoder->finish();
  print(decoder->stats());
}

}  // namespace

void add_decode(CLI::App& root) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* const command =
      root.add_subcommand("decode", "Decode the received bytes of one port to JSON lines");
  command->add_option("DRIVER", arguments->driver, "driver name, see `lidarctl drivers`")
      ->required();
  command
      ->add_option("FILE", arguments->file,
                   ".bin: bytes as received; .hex: the same as text; .pcap, .pcapng")
      ->required();
  command->add_option("--port", arguments->port,
                      "network captures: UDP or TCP port, at either end");
  command->add_option("--from", arguments->from, "network captures: who sent it")
      ->type_name("HOST[:PORT]");
  command->add_option("--set", arguments->settings, "driver option, or baud=N (0: no line time)")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->callback([arguments] { decode(*arguments); });
}

}  // namespace lidarctl
