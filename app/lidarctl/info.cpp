// lidarctl info: what is in an MCAP file, also one that was cut off.
#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "app/lidarctl/commands.h"
#include "app/lidarctl/stream_client.h"

namespace lidarctl {
namespace {

struct Topic {
  std::string type;
  std::uint64_t messages = 0, bytes = 0, lost = 0;
  std::uint32_t sequence = 0;
  std::uint64_t first_ns = 0, last_ns = 0;

  double hz() const {
    return messages < 2 || last_ns <= first_ns
               ? 0
               : static_cast<double>(messages - 1) * 1e9 / static_cast<double>(last_ns - first_ns);
  }
};

struct Contents {
  std::map<std::string, Topic> topics;
  std::uint64_t bytes = 0, messages = 0, first_ns = 0, last_ns = 0;
  bool is_whole = false;
  std::string damage;  // why reading ended; empty: at the end

  double seconds() const { return static_cast<double>(last_ns - first_ns) / 1e9; }
};

void count(const StreamMessage& m, Contents& contents) {
  Topic& topic = contents.topics[m.topic];
  const hal::mcap::Message& message = m.message;
  if (topic.messages == 0) topic.type = m.type, topic.first_ns = message.log_time;
  if (topic.sequence != 0 && message.sequence > topic.sequence + 1) {
    topic.lost += message.sequence - topic.sequence - 1;
  }
  topic.sequence = message.sequence;
  topic.last_ns = message.log_time;
  topic.bytes += message.data.size();
  ++topic.messages;
  if (contents.messages++ == 0) contents.first_ns = contents.last_ns = message.log_time;
  contents.first_ns = std::min(contents.first_ns, message.log_time);
  contents.last_ns = std::max(contents.last_ns, message.log_time);
}

Contents read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Failure(kNoInput, path + ": cannot be read");
  Contents contents;
  MessageReader reader;
  std::vector<char> buffer(1 << 20);
  try {
    while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || in.gcount() > 0) {
      const auto n = static_cast<std::size_t>(in.gcount());
      contents.bytes += n;
      reader.feed(std::as_bytes(std::span(buffer).first(n)), path,
                  [&](const StreamMessage& m) { count(m, contents); });
    }
  } catch (const Failure& failure) {
    if (contents.messages == 0) throw;
    contents.damage = failure.what();
  }
  contents.is_whole = reader.finished();
  return contents;
}

std::string utc(std::uint64_t ns) {
  const auto seconds = static_cast<std::time_t>(ns / 1'000'000'000);
  std::tm broken{};
  ::gmtime_r(&seconds, &broken);
  char text[32];
  const std::size_t n = std::strftime(text, sizeof text, "%F %T", &broken);
  return std::string(text, n) +
         hal::Text<8>::of(".%03u", static_cast<unsigned>(ns / 1'000'000 % 1000)).c_str();
}

std::string ending(const Contents& c) {
  if (!c.damage.empty()) return "damaged: " + c.damage;
  return c.is_whole ? "" : "cut off: its end is missing, all that was whole is counted";
}

void print_json(const Contents& c) {
  using Json = nlohmann::ordered_json;
  Json topics = Json::array();
  for (const auto& [name, t] : c.topics) {
    topics.push_back({{"topic", name},
                      {"type", t.type},
                      {"messages", t.messages},
                      {"bytes", t.bytes},
                      {"lost", t.lost},
                      {"hz", t.hz()},
                      {"first_ns", t.first_ns},
                      {"last_ns", t.last_ns}});
  }
  const Json all = {{"bytes", c.bytes},
                    {"messages", c.messages},
                    {"first_ns", c.first_ns},
                    {"last_ns", c.last_ns},
                    {"whole", c.is_whole && c.damage.empty()},
                    {"fault", ending(c)},
                    {"topics", std::move(topics)}};
  std::cout << all.dump(2) << '\n';
}

void print_text(const std::string& path, const Contents& c) {
  std::printf("%s: %.1f MB, %" PRIu64 " messages, %.1f s\n", path.c_str(),
              static_cast<double>(c.bytes) / 1e6, c.messages, c.seconds());
  if (c.messages > 0) {
    std::printf("from %s to %s UTC\n\n", utc(c.first_ns).c_str(), utc(c.last_ns).c_str());
    std::printf("%-28s %9s %8s %9s %6s  %s\n", "topic", "messages", "Hz", "MB", "lost", "type");
  }
  for (const auto& [name, t] : c.topics) {
    std::printf("%-28s %9" PRIu64 " %8.1f %9.2f %6" PRIu64 "  %s\n", name.c_str(), t.messages,
                t.hz(), static_cast<double>(t.bytes) / 1e6, t.lost, t.type.c_str());
  }
  if (!ending(c).empty()) std::printf("\n%s\n", ending(c).c_str());
}

}  // namespace

void add_info(CLI::App& root) {
  struct Arguments {
    std::string file;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* const command = root.add_subcommand("info", "Show what is in an MCAP file");
  command->add_option("FILE", arguments->file, "a recording, also one that was cut off")
      ->required();
  command->add_flag("--json", arguments->json, "for programs");
  command->callback([arguments] {
    const Contents contents = read(arguments->file);
    arguments->json ? print_json(contents) : print_text(arguments->file, contents);
  });
}

}  // namespace lidarctl
