#include "app/raw_capture.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "app/schemas.h"
#include "app/stream_file.h"
#include "app/version.h"
#include "config/plan.h"
#include "hal/log.h"

namespace app {
namespace {

constexpr std::size_t kMaxMessage = hal::kRawHeader + hal::EventLoop::kReadBuffer;

// The child's whole life: bytes from the daemon to the file, until the daemon closes.
int save(hal::UniqueFd from, StreamFile& file, const std::string& configuration) {
  ::signal(SIGINT, SIG_IGN);  // the daemon says when it ends
  ::signal(SIGTERM, SIG_IGN);
  ::prctl(PR_SET_NAME, "lidard-capture");
  std::array<std::byte, 65'536> buffer;
  hal::Status status = hal::ok;
  while (status) {
    const ssize_t n = ::read(from.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    status = file.feed(std::span(buffer).first(static_cast<std::size_t>(n)));
  }
  const hal::Status attached =
      file.attach(kConfigurationName, "application/yaml", std::as_bytes(std::span(configuration)));
  const hal::Status finished = file.finish();
  for (const hal::Status& s : {status, attached, finished}) {
    if (s) continue;
    hal::Log log(2, hal::Severity::error, hal::Log::style_of(2));
    log.write(hal::Severity::error, "capture: %s", hal::in_words(s.error()).c_str());
    return 1;
  }
  return 0;
}

}  // namespace

hal::Result<std::unique_ptr<RawCapture>> RawCapture::begin(hal::EventLoop& loop,
                                                           const std::string& path,
                                                           const std::string& configuration) {
  auto file = StreamFile::create(path);
  if (!file) return file.error();
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return hal::Error{hal::Errc::io, errno, "capture: socket pair", {}};
  }
  hal::UniqueFd ours(ends[0]), childs(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return hal::Error{hal::Errc::io, errno, "capture: fork", {}};
  if (child == 0) {
    ours.reset();
    ::_exit(save(std::move(childs), **file, configuration));
  }
  std::unique_ptr<RawCapture> capture(new RawCapture(loop, child));
  const auto channel = capture->stream_.add_channel(
      {.topic = kRawTopic, .message_encoding = kRawEncoding, .metadata = {}});
  if (!channel) return channel.error();
  capture->channel_ = *channel;
  if (const hal::Status added = capture->stream_.add_client(std::move(ours)); !added) {
    return added.error();
  }
  return capture;
}

RawCapture::RawCapture(hal::EventLoop& loop, pid_t child)
    : stream_(loop, {.profile = "",
                     .library = "lidard",
                     .max_clients = 1,
                     .ring_bytes = config::kCaptureBuffer,
                     .max_message = kMaxMessage}),
      child_(child) {}

RawCapture::~RawCapture() { end({}); }

void RawCapture::on_record(const hal::RawRecord& record) {
  if (is_closed_) return;
  const std::size_t size = hal::encode(record, stream_.scratch());
  const std::int64_t at = hal::to_ns(record.at);
  stream_.publish(channel_, at, at, stream_.scratch().first(size));
}

void RawCapture::close() { is_closed_ = true; }

void RawCapture::flush() { stream_.flush(); }

void RawCapture::end(hal::Duration within) {
  if (child_ <= 0) return;
  constexpr timespec kPause{0, 2'000'000};
  const auto until = std::chrono::steady_clock::now() + within;
  const auto in_time = [&] { return std::chrono::steady_clock::now() < until; };
  // The loop does not run any more, so this is the one place that may pause.
  for (stream_.flush();
       in_time() && stream_.client_stats(0) && stream_.client_stats(0)->queued_bytes > 0;
       stream_.flush()) {
    ::nanosleep(&kPause, nullptr);
  }
  stream_.close_clients();
  while (::waitpid(child_, nullptr, WNOHANG) == 0 && in_time()) ::nanosleep(&kPause, nullptr);
  child_ = -1;
}

std::uint64_t RawCapture::dropped() const {
  const auto stats = stream_.client_stats(0);
  return stats ? stats->dropped : 0;
}

}  // namespace app
