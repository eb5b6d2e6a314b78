// lidarctl record: the stream to a file, until a signal.
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>

#include "app/lidarctl/commands.h"
#include "app/lidarctl/segmented_file.h"
#include "app/lidarctl/stream_client.h"

namespace lidarctl {
namespace {

struct Arguments {
  std::string socket = kDefaultSocket, file;
  double seconds = 0;
};

volatile std::sig_atomic_t interrupted = 0;

void record(const Arguments& arguments) {
  const hal::UniqueFd socket = connect(arguments.socket);
  std::unique_ptr<SegmentedFile> file;  // once something comes
  std::signal(SIGINT, [](int) { interrupted = 1; });
  std::signal(SIGTERM, [](int) { interrupted = 1; });

  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(arguments.seconds));
  std::array<std::byte, 65'536> buffer;
  hal::Status status = hal::ok;
  bool is_turned_away = false;
  while (status && !interrupted && (arguments.seconds <= 0 || Clock::now() < end)) {
    pollfd waiting{socket.get(), POLLIN, 0};
    if (::poll(&waiting, 1, 100) <= 0) continue;
    const ssize_t n = ::read(socket.get(), buffer.data(), buffer.size());
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) {
      is_turned_away = !file;
      break;
    }
    if (!file) {
      auto created = SegmentedFile::create(arguments.file);
      if (!created) throw Failure(kFailed, hal::in_words(created.error()).c_str());
      file = std::move(*created);
    }
    status = file->feed(std::span(buffer).first(static_cast<std::size_t>(n)));
  }
  if (!file) {
    throw Failure(kFailed,
                  arguments.socket +
                      (is_turned_away ? ": closed before anything came: are all places taken? See "
                                        "stream.clients"
                                      : ": nothing came; no file was written"));
  }
  const hal::Status finished = file->finish();
  for (const SegmentedFile::Part& part : file->parts()) {
    std::fprintf(stderr, "%s: %llu messages, %llu bytes, %llu messages lost on the way\n",
                 part.path.c_str(), static_cast<unsigned long long>(part.messages),
                 static_cast<unsigned long long>(part.bytes),
                 static_cast<unsigned long long>(part.lost));
  }
  for (const hal::Status& s : {status, finished}) {
    if (!s) throw Failure(kFailed, hal::in_words(s.error()).c_str());
  }
}

}  // namespace

void add_record(CLI::App& root) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* const command = root.add_subcommand("record", "Save the stream as an MCAP file");
  command
      ->add_option("FILE", arguments->file,
                   "file to write; where the wall clock is set back, FILE.1 begins, and so on, the "
                   "number before the ending")
      ->required();
  command->add_option("--socket", arguments->socket, "stream socket")->capture_default_str();
  command->add_option("--for", arguments->seconds, "seconds; 0: until a signal")
      ->check(finite())
      ->capture_default_str();
  command->callback([arguments] { record(*arguments); });
}

}  // namespace lidarctl
