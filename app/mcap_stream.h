// The stream socket: every client that connects reads MCAP for as long as it stays.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "app/mcap_client.h"
#include "hal/unix_socket.h"

namespace app {

struct McapStreamOptions {
  std::string_view profile, library;
  std::size_t max_clients = 8;
  std::size_t ring_bytes = std::size_t{4} << 20;     // per client
  std::size_t max_message = std::size_t{256} << 10;  // longest message
};

// One record after another, no chunks. A client first gets magic, header, schemas, channels and
// the latest message of each latched channel, then every message. Nobody waits for a client: when
// its ring is full it loses the oldest messages and is told how many. log_time order is promised
// for channels that are not latched.
//
// The constructor takes the memory of all clients; add_schema() and add_channel() take theirs.
class McapStream final : private hal::Rearmed {
 public:
  McapStream(hal::EventLoop&, const McapStreamOptions&);
  ~McapStream();

  // A channel that is added later reaches the clients of now, too.
  hal::Result<std::uint16_t> add_schema(std::string_view name, std::string_view encoding,
                                        std::string_view text) {
    return catalog_.add_schema(name, encoding, text);
  }
  hal::Result<std::uint16_t> add_channel(const ChannelOptions& o) {
    return catalog_.add_channel(o);
  }
  // Takes memory beforehand for `channels` more channels with records of up to `bytes`.
  void reserve(std::size_t channels, std::size_t bytes) { catalog_.reserve(channels, bytes); }
  // Where clients are told what they lost. Without it they see only the gap in `sequence`.
  void tell_drops_on(std::uint16_t channel, DropNoticeEncoder encode) {
    notice_ = {channel, encode};
  }

  hal::Status listen(std::string_view path);
  hal::Status add_client(hal::UniqueFd);  // a connected stream socket; no_space: all places taken

  // Where a message can be encoded before it is published: max_message bytes, free until the next
  // message is encoded here.
  std::span<std::byte> scratch() { return {scratch_.get(), max_message_}; }
  // Queues the message for every client. Unix times.
  void publish(std::uint16_t channel, std::int64_t log_time_ns, std::int64_t publish_time_ns,
               hal::Bytes message);
  // At the end of a pass: one write per client. What the sockets do not take follows by itself
  // while the loop runs.
  void flush();
  void close_clients();  // with what they have not got yet

  std::size_t clients() const;
  std::uint64_t refused_clients() const { return refused_clients_; }
  std::uint64_t refused_messages() const { return catalog_.refused(); }  // too long, no channel
  // Of the client in place i < max_clients; empty when the place is free.
  std::optional<ClientStats> client_stats(std::size_t i) const;

  // What the constructor takes.
  static std::size_t memory(const McapStreamOptions&);

 private:
  void rearm() override;
  void accept_all();

  hal::EventLoop& loop_;
  std::size_t max_message_;
  McapCatalog catalog_;
  DropNoticeChannel notice_;
  std::unique_ptr<std::byte[]> scratch_;
  std::vector<std::unique_ptr<McapClient>> clients_;
  std::optional<hal::UnixListener> listener_;
  hal::Descriptor waiting_;  // watches listener_; does not own it
  std::uint64_t refused_clients_ = 0;
  hal::HandlerMemory memory_;
  hal::Anchor anchor_;
};

}  // namespace app
