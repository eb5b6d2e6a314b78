#include "app/mcap_catalog.h"

#include <algorithm>
#include <limits>

namespace app {

namespace mcap = hal::mcap;

McapCatalog::McapCatalog(std::string_view profile, std::string_view library,
                         std::size_t max_message)
    : max_message_(max_message), preamble_(mcap::kMagic.begin(), mcap::kMagic.end()) {
  append(mcap::Header{profile, library});
  latched_.reserve(kMaxLatched);
}

template <class Record>
void McapCatalog::append(const Record& record) {
  const std::size_t before = preamble_.size();
  preamble_.resize(before + encode(record, {}));
  encode(record, std::span(preamble_).subspan(before));
}

hal::Result<std::uint16_t> McapCatalog::add_schema(std::string_view name, std::string_view encoding,
                                                   std::string_view text) {
  if (schemas_ == std::numeric_limits<std::uint16_t>::max()) {
    return hal::Error{hal::Errc::no_space, 0, "stream: add schema", {}};
  }
  append(mcap::Schema{++schemas_, name, encoding, std::as_bytes(std::span(text))});
  return schemas_;
}

hal::Result<std::uint16_t> McapCatalog::add_channel(const ChannelOptions& o) {
  hal::Error error{hal::Errc::no_space, 0, "stream: add channel", {}};
  error.detail.print("%.*s", static_cast<int>(o.topic.size()), o.topic.data());
  const bool is_latched = o.latched_bytes > 0;
  if (channels_.size() == std::numeric_limits<std::uint16_t>::max()) return error;
  if (is_latched && latched_.size() == kMaxLatched) return error;
  error.code = hal::Errc::bad_config;
  if (o.schema > schemas_ || o.latched_bytes > max_message_) return error;

  Channel channel{0, is_latched ? o.latched_bytes : max_message_, {}};
  if (is_latched) {
    channel.latched = static_cast<std::uint8_t>(latched_.size());
    latched_.push_back({std::make_unique<std::byte[]>(mcap::kMessageHead + o.latched_bytes), 0});
  }
  channels_.push_back(channel);
  const auto id = static_cast<std::uint16_t>(channels_.size());
  append(mcap::Channel{id, o.schema, o.topic, o.message_encoding, o.metadata});
  return id;
}

std::optional<McapCatalog::Message> McapCatalog::number(std::uint16_t id, std::int64_t log_time_ns,
                                                        std::int64_t publish_time_ns,
                                                        hal::Bytes data) {
  if (id == 0 || id > channels_.size()) {
    ++refused_;
    return {};
  }
  Channel& channel = channels_[id - 1U];
  ++channel.sequence;
  if (data.size() > channel.limit) {
    ++refused_;
    return {};
  }
  const auto log_time = static_cast<std::uint64_t>(log_time_ns);
  const auto publish_time = static_cast<std::uint64_t>(publish_time_ns);
  return Message{encode_head(mcap::Message{id, channel.sequence, log_time, publish_time, data}),
                 data, log_time, channel.latched};
}

void McapCatalog::keep(const Message& m) {
  Latched& latest = latched_[*m.latched];
  std::ranges::copy(m.data, std::ranges::copy(m.head, latest.record.get()).out);
  latest.size = m.size();
  latched_set_ |= std::uint64_t{1} << *m.latched;
}

hal::Bytes McapCatalog::latched(unsigned i) const {
  return {latched_[i].record.get(), latched_[i].size};
}

}  // namespace app
