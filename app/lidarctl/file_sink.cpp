#include "app/lidarctl/file_sink.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "app/lidarctl/commands.h"

namespace lidarctl {
namespace {

void check(const hal::Status& status) {
  if (!status) throw Failure(kFailed, status.error().detail.c_str());
}

}  // namespace

FileSink::FileSink(const std::string& path, std::size_t max_message)
    : path_(path),
      writer_(*this, {.profile = app::kProfile, .library = "lidard"}),
      scratch_(max_message) {
  if (!path.empty()) {
    fd_ = hal::UniqueFd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!fd_) throw Failure(kFailed, path + ": " + std::strerror(errno));
  }
  check(writer_.start());
}

hal::Result<app::ChannelId> FileSink::add_channel(std::string_view topic,
                                                  const app::MessageType& type, std::size_t) {
  std::uint16_t& schema = schemas_[type.name];
  if (schema == 0) {
    const auto added = writer_.add_schema(type.name, app::kSchemaEncoding,
                                          std::as_bytes(std::span(type.definition)));
    if (!added) return added.error();
    schema = *added;
  }
  const hal::mcap::KeyValue qos[] = {{app::kQosKey, ""}};
  return writer_.add_channel(topic, schema, app::kMessageEncoding, qos);
}

void FileSink::publish(app::ChannelId channel, std::int64_t log_time, std::int64_t publish_time,
                       hal::Bytes data) {
  ++messages_;
  check(writer_.write(hal::mcap::Message{.channel = channel,
                                         .sequence = ++sequences_[channel],
                                         .log_time = static_cast<std::uint64_t>(log_time),
                                         .publish_time = static_cast<std::uint64_t>(publish_time),
                                         .data = data}));
}

void FileSink::finish() { check(writer_.finish()); }

hal::Status FileSink::write(hal::Bytes bytes) {
  while (fd_ && !bytes.empty()) {
    const ssize_t n = ::write(fd_.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      return hal::Error{hal::Errc::io, errno, "file: write",
                        hal::Text<192>::of("%s: %s", path_.c_str(), std::strerror(errno))};
    }
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return hal::ok;
}

}  // namespace lidarctl
