#include "app/stream_file.h"

#include <algorithm>
#include <array>

namespace app {

using hal::mcap::Opcode;

hal::Result<std::unique_ptr<StreamFile>> StreamFile::create(const std::string& path,
                                                            hal::mcap::Compressor* compressor) {
  auto file = FileWriter::create(path);
  if (!file) return file.error();
  return std::unique_ptr<StreamFile>(new StreamFile(std::move(*file), compressor));
}

StreamFile::StreamFile(FileWriter file, hal::mcap::Compressor* compressor)
    : file_(std::move(file)), compressor_(compressor), reader_(kMaxRecord) {}

hal::Status StreamFile::feed(hal::Bytes bytes) {
  if (!status_) return status_;
  const hal::Status read = reader_.feed(bytes, *this);
  if (status_ && !read) status_ = read;
  return status_;
}

hal::Status StreamFile::attach(std::string_view name, std::string_view media_type,
                               hal::Bytes data) {
  if (!status_ || !writer_) return status_;
  return writer_->write(
      hal::mcap::Attachment{.name = name, .media_type = media_type, .data = data});
}

hal::Status StreamFile::finish() {
  if (!writer_) return status_;
  const hal::Status finished = writer_->finish();
  return status_ ? finished : status_;
}

void StreamFile::on_record(const hal::mcap::Record& record) {
  if (status_) status_ = take(record);
}

hal::Status StreamFile::take(const hal::mcap::Record& record) {
  std::array<hal::mcap::KeyValue, 8> pairs;
  switch (record.opcode) {
    case Opcode::header: {
      const auto header = hal::mcap::decode_header(record.content);
      if (!header) break;
      writer_ = std::make_unique<hal::mcap::Writer>(
          file_,
          hal::mcap::WriterOptions{
              .profile = header->profile, .library = header->library, .compressor = compressor_});
      return writer_->start();
    }
    case Opcode::schema: {
      const auto schema = hal::mcap::decode_schema(record.content);
      if (!schema || !writer_) break;
      const auto id = writer_->add_schema(schema->name, schema->encoding, schema->data);
      if (!id) return id.error();
      schemas_.resize(std::max<std::size_t>(schemas_.size(), schema->id + 1u));
      schemas_[schema->id] = *id;
      return hal::ok;
    }
    case Opcode::channel: {
      const auto channel = hal::mcap::decode_channel(record.content, pairs);
      if (channel && writer_) return take_channel(*channel);
      break;
    }
    case Opcode::message: {
      const auto message = hal::mcap::decode_message(record.content);
      if (message && writer_) return take_message(*message);
      break;
    }
    default:
      return hal::ok;  // the file gets its own ends, indexes and statistics
  }
  return hal::Error{hal::Errc::bad_config, 0, "stream: malformed record", {}};
}

hal::Status StreamFile::take_channel(const hal::mcap::Channel& channel) {
  const bool known = channel.schema_id < schemas_.size();
  const std::uint16_t schema = known ? schemas_[channel.schema_id] : std::uint16_t{0};
  const auto id =
      writer_->add_channel(channel.topic, schema, channel.message_encoding, channel.metadata);
  if (!id) return id.error();
  channels_.resize(std::max<std::size_t>(channels_.size(), channel.id + 1u));
  channels_[channel.id] = {*id, 0};
  return hal::ok;
}

hal::Status StreamFile::take_message(hal::mcap::Message message) {
  if (message.channel >= channels_.size()) {
    return hal::Error{hal::Errc::bad_config, 0, "stream: message of an unknown channel", {}};
  }
  Channel& channel = channels_[message.channel];
  if (channel.sequence != 0 && message.sequence > channel.sequence) {
    lost_ += message.sequence - channel.sequence - 1;
  }
  channel.sequence = message.sequence;
  message.channel = channel.id;
  ++messages_;
  return writer_->write(message);
}

}  // namespace app
