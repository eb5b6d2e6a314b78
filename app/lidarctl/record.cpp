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
#include "app/lidarctl/compression.h"
#include "app/lidarctl/segmented_file.h"
#include "app/lidarctl/stream_client.h"

namespace lidarctl {
namespace {

struct Arguments {
  std::string socket = kDefaultSocket, file, compression = "zstd";
  double seconds = 0, split_mb = 0, split_minutes = 0, keep_mb = 0;
  bool quiet = false;
};

// One line that is written over and over, where a person looks.
class Progress {
 public:
  explicit Progress(bool quiet) : shown_(!quiet && ::isatty(STDERR_FILENO) == 1) {}
  void show(const SegmentedFile& file) {
    const auto now = Clock::now();
    if (!shown_ || now < next_) return;
    next_ = now + std::chrono::milliseconds(500);
    std::fprintf(stderr, "\r\033[K%s: %llu messages, %.1f MB, %.0f s",
                 file.parts().back().path.c_str(), static_cast<unsigned long long>(file.messages()),
                 static_cast<double>(file.bytes()) / 1e6,
                 std::chrono::duration<double>(now - began_).count());
    drawn_ = true;
  }
  void end() {
    if (drawn_) std::fputs("\r\033[K", stderr);
  }

 private:
  using Clock = std::chrono::steady_clock;
  const bool shown_;
  bool drawn_ = false;
  const Clock::time_point began_ = Clock::now();
  Clock::time_point next_ = began_;
};

volatile std::sig_atomic_t interrupted = 0;

void record(const Arguments& arguments) {
  const hal::UniqueFd socket = connect(arguments.socket);
  const auto compressor = make_compressor(arguments.compression);
  const auto bytes = [](double mb) { return static_cast<std::uint64_t>(mb * 1e6); };
  const SegmentLimits limits{.bytes = bytes(arguments.split_mb),
                             .ns = static_cast<std::uint64_t>(arguments.split_minutes * 60e9),
                             .total_bytes = bytes(arguments.keep_mb),
                             .compressor = compressor.get()};
  Progress progress(arguments.quiet);
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
      auto created = SegmentedFile::create(arguments.file, limits);
      if (!created) throw Failure(kFailed, hal::in_words(created.error()).c_str());
      file = std::move(*created);
    }
    status = file->feed(std::span(buffer).first(static_cast<std::size_t>(n)));
    progress.show(*file);
  }
  progress.end();
  if (!file) {
    throw Failure(kFailed,
                  arguments.socket +
                      (is_turned_away ? ": closed before anything came: are all places taken? See "
                                        "stream.clients"
                                      : ": nothing came; no file was written"));
  }
  const hal::Status finished = file->finish();
  for (const SegmentedFile::Part& part : file->parts()) {
    if (part.bytes == 0) continue;  // removed
    std::fprintf(stderr, "%s: %llu messages, %llu bytes, %llu messages lost on the way\n",
                 part.path.c_str(), static_cast<unsigned long long>(part.messages),
                 static_cast<unsigned long long>(part.bytes),
                 static_cast<unsigned long long>(part.lost));
  }
  if (file->removed() > 0) {
    std::fprintf(stderr, "%llu older files of this recording removed (--keep)\n",
                 static_cast<unsigned long long>(file->removed()));
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
  command->add_option("--compression", arguments->compression, "of its chunks: none, lz4 or zstd")
      ->check(CLI::IsMember({"none", "lz4", "zstd"}))
      ->capture_default_str();
  command->add_option("--split-mb", arguments->split_mb, "begin a new file at so many MB; 0: not")
      ->check(finite());
  command
      ->add_option("--split-minutes", arguments->split_minutes,
                   "begin a new file after so many minutes; 0: not")
      ->check(finite());
  command
      ->add_option("--keep-mb", arguments->keep_mb,
                   "remove the oldest files of this recording above so many MB; 0: keep all")
      ->check(finite());
  command->add_flag("--quiet", arguments->quiet, "no line of progress");
  command->callback([arguments] { record(*arguments); });
}

}  // namespace lidarctl
