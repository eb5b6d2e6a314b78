#include "app/lidarctl/file_sink.h"

#include "app/lidarctl/commands.h"

namespace lidarctl {
namespace {

void check(const hal::Status& status) {
  if (!status) throw Failure(kFailed, hal::in_words(status.error()).c_str());
}

app::FileWriter create(const std::string& path) {
  if (path.empty()) return {};
  auto file = app::FileWriter::create(path);
  if (!file) throw Failure(kFailed, hal::in_words(file.error()).c_str());
  return std::move(*file);
}

}  // namespace

FileSink::FileSink(const std::string& path, std::size_t max_message)
    : file_(create(path)),
      writer_(file_, {.profile = app::kProfile, .library = "lidard"}),
      scratch_(max_message) {
  check(writer_.start());
}

hal::Result<app::ChannelId> FileSink::add_channel(std::string_view topic,
                                                  const app::MessageType& type, std::size_t) {
  std::uint16_t& schema = schemas_[type.name];
  if (schema == 0) {
    const auto added = writer_.add_schema(type.name, type.schema_encoding,
                                          std::as_bytes(std::span(type.definition)));
    if (!added) return added.error();
    schema = *added;
  }
  const hal::mcap::KeyValue qos[] = {{app::kQosKey, ""}};
  return writer_.add_channel(topic, schema, type.encoding, qos);
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

}  // namespace lidarctl
