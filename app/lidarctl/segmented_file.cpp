#include "app/lidarctl/segmented_file.h"

#include <array>
#include <cstdlib>

#include "app/lidarctl/diagnosis.h"

namespace lidarctl {
namespace {

using hal::mcap::Opcode;

constexpr std::size_t kLogTimeAt = 6;  // in a message: u16 channel, u32 sequence, u64 log time

void put_u64(std::uint64_t value, std::byte* to) {
  for (int i = 0; i < 8; ++i) to[i] = static_cast<std::byte>(value >> (8 * i) & 0xFF);
}

bool is_latched(const std::string& topic) {
  return topic == "/tf_static" || topic == "/lidard/configuration";
}

bool sets_clock_back(hal::Bytes events) {
  for (auto& [name, status] : diagnoses(events)) {
    if (status.values["event"] != "wall_step") continue;
    if (std::strtod(status.values["seconds"].c_str(), nullptr) < 0) return true;
  }
  return false;
}

// "run.mcap" and 2: "run.2.mcap".
std::string numbered(const std::string& path, std::size_t n) {
  if (n == 0) return path;
  const std::size_t slash = path.rfind('/'), dot = path.rfind('.');
  const bool has_end = dot != std::string::npos && (slash == std::string::npos || dot > slash + 1);
  const std::size_t end = has_end && dot > 0 ? dot : path.size();
  return path.substr(0, end) + "." + std::to_string(n) + path.substr(end);
}

}  // namespace

hal::Result<std::unique_ptr<SegmentedFile>> SegmentedFile::create(const std::string& path) {
  std::unique_ptr<SegmentedFile> made(new SegmentedFile(path));
  if (const hal::Status begun = made->begin_part(); !begun) return begun.error();
  return made;
}

SegmentedFile::SegmentedFile(std::string path)
    : path_(std::move(path)), reader_(app::StreamFile::kMaxRecord) {}

hal::Status SegmentedFile::feed(hal::Bytes bytes) {
  if (!status_) return status_;
  const hal::Status read = reader_.feed(bytes, *this);
  if (status_ && !read) status_ = read;
  return status_;
}

hal::Status SegmentedFile::finish() {
  const hal::Status ended = end_part();
  return status_ ? ended : status_;
}

hal::Status SegmentedFile::begin_part() {
  const std::string path = numbered(path_, parts_.size());
  auto file = app::StreamFile::create(path);
  if (!file) return file.error();
  file_ = std::move(*file);
  parts_.push_back({.path = path});
  return file_->feed(hal::mcap::kMagic);
}

hal::Status SegmentedFile::end_part() {
  const hal::Status finished = file_->finish();
  Part& part = parts_.back();
  part.messages = file_->messages();
  part.bytes = file_->bytes();
  part.lost = file_->lost();
  return finished;
}

hal::Status SegmentedFile::put(Opcode opcode, hal::Bytes content) {
  std::array<std::byte, 9> head;
  head[0] = static_cast<std::byte>(opcode);
  put_u64(content.size(), &head[1]);
  const hal::Status begun = file_->feed(head);
  return begun ? file_->feed(content) : begun;
}

void SegmentedFile::on_record(const hal::mcap::Record& record) {
  if (status_) status_ = take(record);
}

hal::Status SegmentedFile::take(const hal::mcap::Record& record) {
  const Content content(record.content.begin(), record.content.end());
  switch (record.opcode) {
    case Opcode::channel: {
      std::array<hal::mcap::KeyValue, 8> pairs;
      const auto channel = hal::mcap::decode_channel(record.content, pairs);
      if (channel) topics_[channel->id] = channel->topic;
      declared_.push_back({record.opcode, content});
      break;
    }
    case Opcode::header:
    case Opcode::schema:
      declared_.push_back({record.opcode, content});
      break;
    case Opcode::message:
      return take_message(record);
    default:
      break;
  }
  return put(record.opcode, record.content);
}

hal::Status SegmentedFile::take_message(const hal::mcap::Record& record) {
  if (const auto message = hal::mcap::decode_message(record.content)) {
    const std::string& topic = topics_[message->channel];
    if (is_latched(topic)) latched_[topic].assign(record.content.begin(), record.content.end());
    if (topic == "/lidard/events" && sets_clock_back(message->data)) {
      if (const hal::Status begun = begin_next(message->log_time); !begun) return begun;
    }
  }
  return put(Opcode::message, record.content);
}

// What was latched is as old as the new file: its own log time lies in that file's future.
hal::Status SegmentedFile::begin_next(std::uint64_t log_time) {
  hal::Status status = end_part();
  if (status) status = begin_part();
  for (const Declared& record : declared_) {
    if (status) status = put(record.opcode, record.content);
  }
  for (auto& [topic, content] : latched_) {
    put_u64(log_time, &content[kLogTimeAt]);
    if (status) status = put(Opcode::message, content);
  }
  return status;
}

}  // namespace lidarctl
