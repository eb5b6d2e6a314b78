#include "app/lidarctl/segmented_file.h"

#include <array>
#include <cstdlib>
#include <filesystem>

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

hal::Result<std::unique_ptr<SegmentedFile>> SegmentedFile::create(const std::string& path,
                                                                  const SegmentLimits& limits) {
  std::unique_ptr<SegmentedFile> made(new SegmentedFile(path, limits));
  if (const hal::Status begun = made->begin_part(); !begun) return begun.error();
  return made;
}

SegmentedFile::SegmentedFile(std::string path, const SegmentLimits& limits)
    : path_(std::move(path)), limits_(limits), reader_(app::StreamFile::kMaxRecord) {}

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
  while (next_number_ > 0 && std::filesystem::exists(numbered(path_, next_number_))) ++next_number_;
  const std::string path = numbered(path_, next_number_++);
  auto file = app::StreamFile::create(path, limits_.compressor);
  if (!file) return file.error();
  file_ = std::move(*file);
  parts_.push_back({.path = path});
  part_began_ = 0;
  return file_->feed(hal::mcap::kMagic);
}

hal::Status SegmentedFile::end_part() {
  const hal::Status finished = file_->finish();
  Part& part = parts_.back();
  part.messages = file_->messages();
  part.bytes = file_->bytes();
  part.lost = file_->lost();
  remove_oldest();
  return finished;
}

// What was there before this recording is nobody's to remove.
void SegmentedFile::remove_oldest() {
  std::uint64_t total = 0;
  for (const Part& part : parts_) total += part.bytes;
  for (std::size_t i = 0; i + 1 < parts_.size() && limits_.total_bytes > 0; ++i) {
    if (total <= limits_.total_bytes) break;
    std::error_code error;
    if (parts_[i].bytes == 0 || !std::filesystem::remove(parts_[i].path, error)) continue;
    total -= parts_[i].bytes;
    parts_[i].bytes = 0;
    ++removed_;
  }
}

std::uint64_t SegmentedFile::messages() const {
  std::uint64_t sum = file_->messages();
  for (std::size_t i = 0; i + 1 < parts_.size(); ++i) sum += parts_[i].messages;
  return sum;
}

std::uint64_t SegmentedFile::bytes() const {
  std::uint64_t sum = file_->bytes();
  for (std::size_t i = 0; i + 1 < parts_.size(); ++i) sum += parts_[i].bytes;
  return sum;
}

bool SegmentedFile::is_full(std::uint64_t log_time) const {
  if (limits_.bytes > 0 && file_->bytes() >= limits_.bytes) return true;
  return limits_.ns > 0 && part_began_ > 0 && log_time >= part_began_ + limits_.ns;
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
    const bool goes_back = topic == "/lidard/events" && sets_clock_back(message->data);
    if (goes_back || is_full(message->log_time)) {
      if (const hal::Status begun = begin_next(message->log_time); !begun) return begun;
    }
    if (part_began_ == 0) part_began_ = message->log_time;
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
