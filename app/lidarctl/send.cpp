// lidarctl send: the messages of an MCAP file to the input socket, as if they came now.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <thread>

#include "app/lidarctl/commands.h"
#include "app/lidarctl/compression.h"
#include "app/lidarctl/stream_client.h"
#include "hal/unix_socket.h"

namespace lidarctl {
namespace {

using hal::mcap::Opcode;

struct Arguments {
  std::string file, socket = "/run/lidard/input.sock";
  std::vector<std::string> topics;
};

volatile std::sig_atomic_t interrupted = 0;

// Sends records on, and messages when their time has come: with the first one it is now.
class Sender final : private hal::mcap::RecordSink {
 public:
  Sender(const Arguments& arguments, hal::UniqueFd socket)
      : arguments_(arguments), socket_(std::move(socket)) {
    write(hal::mcap::kMagic);
  }

  void feed(hal::Bytes bytes) { check(reader_.feed(bytes, *this)); }
  std::uint64_t messages() const { return messages_; }

 private:
  void on_record(const hal::mcap::Record& record) override {
    if (interrupted) return;
    switch (record.opcode) {
      case Opcode::channel: {
        const auto channel = hal::mcap::decode_channel(record.content, {});
        if (!channel || !wanted(channel->topic)) return;
        if (channel->id >= is_sent_.size()) is_sent_.resize(channel->id + std::size_t{1});
        is_sent_[channel->id] = true;
        return pass_on(record);
      }
      case Opcode::header:
      case Opcode::schema:
        return pass_on(record);
      case Opcode::message:
        if (const auto message = hal::mcap::decode_message(record.content)) send(*message);
        return;
      case Opcode::chunk:
        return check(unpack_chunk(record.content, *this));
      default:
        return;  // what belongs to the file
    }
  }

  void check(const hal::Status& read) const {
    if (read) return;
    throw Failure(kNoInput, arguments_.file + ": " + hal::in_words(read.error()).c_str());
  }

  bool wanted(std::string_view topic) const {
    return arguments_.topics.empty() ||
           std::ranges::find(arguments_.topics, topic) != arguments_.topics.end();
  }

  void send(hal::mcap::Message message) {
    if (message.channel >= is_sent_.size() || !is_sent_[message.channel]) return;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const std::int64_t now_ns = std::chrono::nanoseconds(now).count();
    if (messages_++ == 0) shift_ = static_cast<std::uint64_t>(now_ns) - message.log_time;
    message.log_time += shift_;
    message.publish_time += shift_;
    const std::int64_t early = static_cast<std::int64_t>(message.log_time) - now_ns;
    if (early > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(early));
    const auto head = encode_head(message);
    record_.assign(head.begin(), head.end());
    record_.insert(record_.end(), message.data.begin(), message.data.end());
    write(record_);
  }

  void pass_on(const hal::mcap::Record& record) {
    record_.assign(1, static_cast<std::byte>(record.opcode));
    for (unsigned shift = 0; shift < 64; shift += 8) {
      record_.push_back(static_cast<std::byte>(record.content.size() >> shift & 0xFFU));
    }
    record_.insert(record_.end(), record.content.begin(), record.content.end());
    write(record_);
  }

  void write(hal::Bytes bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::write(socket_.get(), bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        throw Failure(kFailed, arguments_.socket +
                                   ": lidard has closed the connection; `lidarctl status --json` "
                                   "and its log say why");
      }
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }

  const Arguments& arguments_;
  hal::UniqueFd socket_;
  hal::mcap::Reader reader_{std::size_t{16} << 20};
  std::vector<bool> is_sent_;  // by channel
  std::vector<std::byte> record_;
  std::uint64_t shift_ = 0, messages_ = 0;
};

void send(const Arguments& arguments) {
  std::ifstream file(arguments.file, std::ios::binary);
  if (!file) throw Failure(kNoInput, arguments.file + ": cannot be opened");
  auto socket = hal::connect_unix(arguments.socket);
  if (!socket) {
    throw Failure(kFailed, std::string(hal::in_words(socket.error()).view()) +
                               " Is --socket its `input: unix`?");
  }
  std::signal(SIGINT, [](int) { interrupted = 1; });
  std::signal(SIGTERM, [](int) { interrupted = 1; });
  Sender sender(arguments, std::move(*socket));
  std::array<char, 65'536> buffer{};
  while (!interrupted && file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const auto n = static_cast<std::size_t>(file.gcount());
    sender.feed(std::as_bytes(std::span(buffer).first(n)));
  }
  std::fprintf(stderr, "%s: %llu messages sent\n", arguments.file.c_str(),
               static_cast<unsigned long long>(sender.messages()));
}

}  // namespace

void add_send(CLI::App& root) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* const command = root.add_subcommand(
      "send", "Play the messages of an MCAP file to the input socket, at their pace, as of now");
  command->add_option("FILE", arguments->file, "MCAP file")->required();
  command->add_option("--socket", arguments->socket, "input socket")->capture_default_str();
  command->add_option("--topic", arguments->topics, "only this topic; may be given several times");
  command->callback([arguments] { send(*arguments); });
}

}  // namespace lidarctl
