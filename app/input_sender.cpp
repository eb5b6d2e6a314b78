#include "app/input_sender.h"

#include <algorithm>

namespace app {

namespace mcap = hal::mcap;

SenderStats& SenderStats::operator+=(const SenderStats& other) {
  bytes += other.bytes, record_bytes += other.record_bytes;
  discarded_bytes += other.discarded_bytes, pending += other.pending;
  messages += other.messages, unknown_topic += other.unknown_topic;
  connections += other.connections, connected += other.connected;
  left += other.left, malformed += other.malformed, too_long += other.too_long;
  compressed += other.compressed, stalled += other.stalled, flooding += other.flooding;
  return *this;
}

double InputSender::most_bytes(const config::Stack& stack) {
  double bytes = 0;
  for (const config::Input& input : stack.inputs) {
    bytes += input.rate_hz * static_cast<double>(input.max_bytes + int{mcap::kMessageHead});
  }
  return std::max(2 * bytes, 1048576.0);
}

InputSender::InputSender(const config::Stack& stack, const config::Plan& plan,
                         SenderListener& listener, std::unique_ptr<hal::Port> port)
    : stack_(stack),
      listener_(listener),
      port_(std::move(port)),
      most_bytes_(most_bytes(stack)),
      reader_(plan.input_record),
      declared_(stack.inputs.size()) {
  for (Declared& declared : declared_) declared.text.reserve(config::kSchemaText);
}

void InputSender::start() {
  is_started_ = true;
  port_->open(*this);
}

void InputSender::stop() {
  is_started_ = false;
  port_->close();
}

SenderStats InputSender::stats() const {
  SenderStats stats = stats_;
  stats.pending = is_connected_ ? reader_.partial() : 0;
  stats.connected = is_connected_;
  return stats;
}

void InputSender::tick(hal::Time now) {
  if (rests_ && now >= rests_until_) {
    rests_ = false;
    port_->open(*this);
  }
  if (!is_connected_ || !awaits_record_ || now - record_began_ <= kLongestRecord) return;
  send_away(End::stalled,
            hal::Text<192>::of("stopped in the middle of a record: %llu bytes of it came in 2 s",
                               static_cast<unsigned long long>(reader_.partial())),
            now);
}

void InputSender::on_port_open(hal::Time now) {
  ++stats_.connections;
  reader_.reset();
  channel_count_ = 0;
  for (Declared& declared : declared_) declared.is_known = false;
  verdict_.reset();
  is_connected_ = true;
  credited_ = now;
  credit_ = 2 * most_bytes_;
}

// What was held up while the process did not run is no flood: a socket holds far less than two
// seconds of this.
bool InputSender::floods(std::size_t bytes, hal::Time now) {
  credit_ = std::min(2 * most_bytes_, credit_ + most_bytes_ * hal::to_seconds(now - credited_));
  credited_ = now;
  credit_ -= static_cast<double>(bytes);
  return credit_ < 0;
}

void InputSender::on_chunk(const hal::Chunk& chunk) {
  arrival_ = chunk.last_at;
  stats_.bytes += chunk.bytes.size();
  if (floods(chunk.bytes.size(), arrival_)) {
    stats_.discarded_bytes += chunk.bytes.size();
    return send_away(
        End::flooding,
        hal::Text<192>::of("sent more than %.0f KiB/s, twice what all inputs may bring",
                           most_bytes_ / 1024),
        arrival_);
  }
  whole_in_chunk_ = 0;
  const std::uint64_t before = reader_.partial();
  const hal::Status fed = reader_.feed(chunk.bytes, *this);
  if (!fed && !verdict_) {
    verdict_ = fed.error().code == hal::Errc::no_space ? End::too_long : End::malformed;
    why_ = hal::in_words(fed.error());
  }
  if (verdict_) {
    stats_.record_bytes += whole_in_chunk_;
    stats_.discarded_bytes += before + chunk.bytes.size() - whole_in_chunk_;
    reader_.reset();
    const hal::Text<192> why = why_;
    return send_away(*verdict_, why, arrival_);
  }
  stats_.record_bytes += before + chunk.bytes.size() - reader_.partial();
  const bool began = reader_.partial() > 0 && (before == 0 || whole_in_chunk_ > 0);
  if (began) record_began_ = arrival_;
  awaits_record_ = reader_.partial() > 0;
}

void InputSender::on_port_fault(const hal::Error& error, hal::Time now) {
  if (is_connected_) {
    const std::uint64_t cut = reader_.partial();
    leave(End::left,
          cut == 0 ? hal::in_words(error)
                   : hal::Text<192>::of("closed by the sender in the middle of a record"),
          now);
  }
  if (is_started_) port_->open(*this);
}

void InputSender::send_away(End end, const hal::Text<192>& why, hal::Time now) {
  port_->close();
  rests_ = true;
  rests_until_ = now + kRest;
  leave(end, why, now);
}

void InputSender::leave(End end, const hal::Text<192>& why, hal::Time now) {
  stats_.discarded_bytes += reader_.partial();
  reader_.reset();
  is_connected_ = awaits_record_ = false;
  why_ = why;
  switch (end) {
    case End::left:
      ++stats_.left;
      break;
    case End::malformed:
      ++stats_.malformed;
      break;
    case End::too_long:
      ++stats_.too_long;
      break;
    case End::compressed:
      ++stats_.compressed;
      break;
    case End::stalled:
      ++stats_.stalled;
      break;
    case End::flooding:
      ++stats_.flooding;
      break;
  }
  listener_.on_gone(*this, end != End::left, now);
}

void InputSender::on_record(const mcap::Record& record) {
  if (verdict_) return;
  whole_in_chunk_ += mcap::kRecordHead + record.content.size();
  bool is_right = true;
  switch (record.opcode) {
    case mcap::Opcode::schema:
      is_right = take_schema(record.content);
      break;
    case mcap::Opcode::channel:
      is_right = take_channel(record.content);
      break;
    case mcap::Opcode::message:
      is_right = take_message(record.content);
      break;
    case mcap::Opcode::chunk:
      verdict_ = End::compressed;
      why_.print("sent a compressed chunk: send records without chunks, or uncompressed ones");
      return;
    default:
      return;  // what belongs to files
  }
  if (is_right) return;
  verdict_ = End::malformed;
  why_.print("sent a malformed record at byte %llu",
             static_cast<unsigned long long>(record.offset));
}

bool InputSender::take_schema(hal::Bytes content) {
  const auto schema = mcap::decode_schema(content);
  if (!schema) return false;
  for (std::size_t i = 0; i < declared_.size(); ++i) {
    if (stack_.inputs[i].schema != schema->name) continue;
    Declared& declared = declared_[i];
    declared.is_known = true;
    declared.id = schema->id;
    declared.encoding.print("%.*s",
                            static_cast<int>(std::min<std::size_t>(schema->encoding.size(), 31)),
                            schema->encoding.data());
    declared.text.clear();
    if (schema->data.size() > config::kSchemaText) continue;  // goes along without its text
    const auto* const text = reinterpret_cast<const char*>(schema->data.data());
    declared.text.assign(text, text + schema->data.size());
  }
  return true;
}

// Of channels beyond the first kChannels the messages count as unknown.
bool InputSender::take_channel(hal::Bytes content) {
  const auto channel = mcap::decode_channel(content, {});
  if (!channel) return false;
  const auto known = std::span(channels_).first(channel_count_);
  auto place = std::ranges::find(known, channel->id, &Channel::id);
  if (place == known.end()) {
    if (channel_count_ == kChannels) return true;
    place = known.begin() + static_cast<std::ptrdiff_t>(channel_count_++);
  }
  const auto input = std::ranges::find(stack_.inputs, channel->topic, &config::Input::topic);
  place->id = channel->id;
  place->schema = channel->schema_id;
  place->input = input == stack_.inputs.end()
                     ? kNoInput
                     : static_cast<std::size_t>(input - stack_.inputs.begin());
  place->encoding.print(
      "%.*s", static_cast<int>(std::min<std::size_t>(channel->message_encoding.size(), 31)),
      channel->message_encoding.data());
  return true;
}

bool InputSender::take_message(hal::Bytes content) {
  const auto message = mcap::decode_message(content);
  if (!message) return false;
  ++stats_.messages;
  const auto known = std::span(channels_).first(channel_count_);
  const auto channel = std::ranges::find(known, message->channel, &Channel::id);
  if (channel == known.end() || channel->input == kNoInput) {
    ++stats_.unknown_topic;
    return true;
  }
  const Declared& declared = declared_[channel->input];
  const bool fits = declared.is_known && channel->schema == declared.id && declared.id != 0;
  const collation::MessageFormat format{.schema = stack_.inputs[channel->input].schema,
                                        .schema_encoding = declared.encoding.view(),
                                        .definition = {declared.text.data(), declared.text.size()},
                                        .encoding = channel->encoding.view()};
  listener_.on_sent(*this, channel->input, fits, format, *message, arrival_);
  return true;
}

}  // namespace app
