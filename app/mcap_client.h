// One client of the stream socket: what it still has to get, within fixed memory.
#pragma once

#include "app/mcap_catalog.h"
#include "app/record_ring.h"
#include "hal/event_loop.h"
#include "hal/unique_fd.h"

namespace app {

struct ClientStats {
  std::uint64_t sent = 0, dropped = 0;  // messages; of dropped the client is told
  std::uint64_t notices = 0;            // sent beyond those
  std::size_t queued = 0, queued_bytes = 0;
};

struct DropNoticeChannel {
  std::uint16_t channel = 0;  // 0: clients are not told
  DropNoticeEncoder encode = nullptr;
};

// Order on the wire, always at the end of a record: preamble, latched messages, the notice of what
// was dropped, live messages. When the ring is full the oldest live records are dropped; one that
// has been sent in part is safe, its rest lies in the outbox. Of a latched channel a client that
// is behind gets only the latest message; the ones it supersedes count as dropped.
class McapClient final : private hal::Rearmed {
 public:
  McapClient(hal::EventLoop&, const McapCatalog&, const DropNoticeChannel&, std::size_t ring_bytes);
  ~McapClient() { close(); }

  // Takes a connected stream socket; false when it cannot be watched.
  bool open(hal::UniqueFd);
  bool is_open() const { return static_cast<bool>(fd_); }
  void close();

  void push(const McapCatalog::Message&);
  void supersede(unsigned i, std::uint64_t log_time);  // before the catalog's latched(i) changes
  void flush();  // writes what the socket takes, without waiting
  ClientStats stats() const;

 private:
  void rearm() override;
  void discard_input();
  bool has_hung_up() const;
  bool is_writable() const;
  void wait_until_writable();
  void fill_outbox();
  std::size_t encode_notice(std::span<std::byte> out);
  bool is_ahead_of_ring() const;
  bool write_once();
  void consume(std::size_t sent);
  void drop_oldest();
  void passed(const RecordRing::Front&);

  hal::EventLoop& loop_;
  const McapCatalog& catalog_;
  const DropNoticeChannel& notice_;
  hal::UniqueFd fd_;
  hal::Descriptor stream_;  // watches fd_; does not own it
  RecordRing ring_;
  std::unique_ptr<std::byte[]> outbox_;  // goes out before anything else
  std::size_t outbox_begin_ = 0, outbox_end_ = 0, preamble_sent_ = 0;
  std::uint64_t owed_ = 0;         // bit i: has not got latched(i) yet
  bool is_blocked_ = false;        // the loop waits until the socket takes more
  std::uint64_t untold_ = 0;       // dropped since the last notice
  std::uint64_t last_time_ = 0;    // log time of the last live message sent or dropped
  std::uint64_t notice_time_ = 0;  // the same, of the channel of the notices
  std::uint32_t notice_sequence_ = 0;
  ClientStats stats_;
  unsigned opening_ = 0;  // handlers of an older one do nothing
  hal::HandlerMemory read_memory_, write_memory_;
  hal::Anchor anchor_;
};

}  // namespace app
