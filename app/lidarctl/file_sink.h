// The collated stream of a replay as an MCAP file.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/file_writer.h"
#include "app/message_sink.h"

namespace lidarctl {

class FileSink final : public app::MessageSink {
 public:
  // Without a path everything is only counted. A Failure when the file cannot be made or written.
  FileSink(const std::string& path, std::size_t max_message);

  hal::Result<app::ChannelId> add_channel(std::string_view topic, const app::MessageType&,
                                          std::size_t latched_bytes) override;
  std::span<std::byte> scratch() override { return scratch_; }
  void publish(app::ChannelId, std::int64_t log_time, std::int64_t publish_time,
               hal::Bytes) override;
  void finish();

  std::uint64_t messages() const { return messages_; }

 private:
  app::FileWriter file_;
  hal::mcap::Writer writer_;
  std::map<std::string_view, std::uint16_t> schemas_;
  std::map<app::ChannelId, std::uint32_t> sequences_;
  std::vector<std::byte> scratch_;
  std::uint64_t messages_ = 0;
};

}  // namespace lidarctl
