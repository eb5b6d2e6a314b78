#include "app/lidarctl/stream_client.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "app/lidarctl/commands.h"
#include "app/lidarctl/compression.h"
#include "hal/unix_socket.h"

namespace lidarctl {

hal::UniqueFd connect(const std::string& path) {
  auto fd = hal::connect_unix(path);
  if (fd) return std::move(*fd);
  throw Failure(kFailed,
                std::string(hal::in_words(fd.error()).view()) + " Is --socket its `stream: unix`?");
}

StreamClient::StreamClient(const std::string& socket) : fd_(connect(socket)), buffer_(65'536) {}

bool StreamClient::read(int timeout_ms, const OnMessage& on_message) {
  pollfd waiting{fd_.get(), POLLIN, 0};
  const int ready = ::poll(&waiting, 1, timeout_ms);
  if (ready <= 0) return ready == 0 || errno == EINTR;
  const ssize_t n = ::read(fd_.get(), buffer_.data(), buffer_.size());
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  if (n == 0) return false;
  reader_.feed(std::span(buffer_).first(static_cast<std::size_t>(n)), "the stream", on_message);
  return true;
}

void MessageReader::feed(hal::Bytes bytes, const std::string& source, const OnMessage& on_message) {
  on_message_ = &on_message;
  const hal::Status fed = reader_.feed(bytes, *this);
  for (const hal::Status& status : {fed, unpacked_}) {
    if (status) continue;
    throw Failure(kFailed, source + " is no stream: " + hal::in_words(status.error()).c_str());
  }
}

void MessageReader::on_record(const hal::mcap::Record& record) {
  std::array<hal::mcap::KeyValue, 8> pairs;
  if (record.opcode == hal::mcap::Opcode::chunk) unpacked_ = unpack_chunk(record.content, *this);
  if (record.opcode == hal::mcap::Opcode::schema) {
    if (const auto schema = hal::mcap::decode_schema(record.content)) {
      types_[schema->id] = schema->name;
    }
  } else if (record.opcode == hal::mcap::Opcode::channel) {
    if (const auto channel = hal::mcap::decode_channel(record.content, pairs)) {
      channels_[channel->id] = {std::string(channel->topic), types_[channel->schema_id]};
    }
  } else if (record.opcode == hal::mcap::Opcode::message) {
    const auto message = hal::mcap::decode_message(record.content);
    if (!message || !channels_.contains(message->channel)) return;
    const Channel& channel = channels_[message->channel];
    (*on_message_)({channel.topic, channel.type, *message});
  }
}

}  // namespace lidarctl
