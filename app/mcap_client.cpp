#include "app/mcap_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <bit>
#include <cerrno>

namespace app {

namespace mcap = hal::mcap;

namespace {
constexpr int kReadsPerPass = 4;
}

McapClient::McapClient(hal::EventLoop& loop, const McapCatalog& catalog,
                       const DropNoticeChannel& notice, std::size_t ring_bytes)
    : loop_(loop),
      catalog_(catalog),
      notice_(notice),
      stream_(loop.io()),
      ring_(std::max(ring_bytes, catalog.max_record())),
      outbox_(std::make_unique<std::byte[]>(catalog.max_record())) {}

bool McapClient::open(hal::UniqueFd fd) {
  close();
  boost::system::error_code ec;
  stream_.assign(fd.get(), ec);
  if (ec) return false;
  fd_ = std::move(fd);
  owed_ = catalog_.latched_set();
  rearm();
  return true;
}

void McapClient::close() {
  ++opening_;
  if (is_linked()) unlink();
  if (stream_.is_open()) stream_.release();
  fd_.reset();
  ring_.clear();
  outbox_begin_ = outbox_end_ = preamble_sent_ = 0;
  owed_ = untold_ = last_time_ = notice_time_ = 0;
  notice_sequence_ = 0;
  is_blocked_ = false;
  stats_ = {};
}

// What clients send means nothing; reading it shows when they leave.
void McapClient::rearm() {
  stream_.async_wait(hal::Descriptor::wait_read,
                     read_memory_.bind([this, opening = opening_, alive = anchor_.ref()](
                                           const boost::system::error_code& ec) {
                       if (!ec && !alive.expired() && opening == opening_) discard_input();
                     }));
}

void McapClient::discard_input() {
  const auto buffer = loop_.read_buffer();
  for (int i = 0; i < kReadsPerPass; ++i) {
    const ssize_t n = ::recv(fd_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n > 0 || (n < 0 && errno == EINTR)) continue;
    if (n < 0 && errno == EAGAIN) break;
    // A client may close only its sending half (socat -u does): it still listens.
    if (n < 0 || has_hung_up()) close();
    return;
  }
  loop_.rearm_after_pass(*this);
}

bool McapClient::has_hung_up() const {
  pollfd p{fd_.get(), 0, 0};
  return ::poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR)) != 0;
}

bool McapClient::is_writable() const {
  pollfd p{fd_.get(), POLLOUT, 0};
  return ::poll(&p, 1, 0) > 0;
}

void McapClient::push(const McapCatalog::Message& message) {
  if (!ring_.fits(message.size()) && !is_blocked_) flush();
  if (!is_open()) return;
  while (!ring_.fits(message.size())) drop_oldest();
  ring_.push(message.head, message.data);
}

void McapClient::supersede(unsigned i, std::uint64_t log_time) {
  const std::uint64_t bit = std::uint64_t{1} << i;
  if ((owed_ & bit) != 0 && !is_blocked_) flush();
  if (!is_open()) return;
  if ((owed_ & bit) != 0) {
    ++stats_.dropped;
    ++untold_;
    if (last_time_ == 0) last_time_ = ring_.empty() ? log_time : ring_.front().log_time;
  }
  owed_ |= bit;
}

void McapClient::drop_oldest() {
  const RecordRing::Front front = ring_.front();
  ring_.pop(front.size);
  passed(front);
  ++stats_.dropped;
  ++untold_;
}

void McapClient::passed(const RecordRing::Front& front) {
  last_time_ = front.log_time;
  if (front.channel != notice_.channel) return;
  notice_time_ = front.log_time;
  notice_sequence_ = front.sequence;
}

void McapClient::flush() {
  if (is_blocked_ && !is_writable()) return;
  while (is_open()) {
    fill_outbox();
    if (!write_once()) return;
  }
}

// Latched messages, then the notice: only between records, and only when all their channels are
// known to the client.
void McapClient::fill_outbox() {
  if (outbox_begin_ != outbox_end_ || preamble_sent_ != catalog_.preamble().size()) return;
  outbox_begin_ = outbox_end_ = 0;
  const std::span<std::byte> all{outbox_.get(), catalog_.max_record()};
  while (owed_ != 0) {
    const auto i = static_cast<unsigned>(std::countr_zero(owed_));
    const hal::Bytes record = catalog_.latched(i);
    if (record.size() > all.size() - outbox_end_) return;
    std::ranges::copy(record, all.subspan(outbox_end_).begin());
    outbox_end_ += record.size();
    owed_ &= owed_ - 1;
    ++stats_.sent;
  }
  if (untold_ != 0 && notice_.channel != 0) {
    const std::size_t size = encode_notice(all.subspan(outbox_end_));
    if (size == 0 && outbox_end_ == 0) untold_ = 0;  // it will never fit
    outbox_end_ += size;
  }
}

// The notice stands where the gap is, with the time of what came before: of the last message that
// was sent or dropped. It is made for this client alone, so it repeats the number of its channel.
std::size_t McapClient::encode_notice(std::span<std::byte> out) {
  if (out.size() < mcap::kMessageHead) return 0;
  const std::uint64_t time = std::max(last_time_, notice_time_);
  const DropNotice notice{static_cast<std::int64_t>(time), untold_, stats_.dropped};
  const auto body = out.subspan(mcap::kMessageHead);
  const std::size_t size = notice_.encode(notice, body);
  if (size == 0 || size > body.size()) return 0;
  const auto head =
      encode_head(mcap::Message{notice_.channel, notice_sequence_, time, time, body.first(size)});
  std::ranges::copy(head, out.begin());
  untold_ = 0;
  ++stats_.notices;
  return mcap::kMessageHead + size;
}

// Live messages wait until everything that goes before them is in the same write.
bool McapClient::is_ahead_of_ring() const {
  return owed_ != 0 || (untold_ != 0 && notice_.channel != 0);
}

// False when there is nothing to write or the socket is full or gone.
bool McapClient::write_once() {
  const hal::Bytes outbox{outbox_.get() + outbox_begin_, outbox_end_ - outbox_begin_};
  const auto ring = is_ahead_of_ring() ? std::array<hal::Bytes, 2>{} : ring_.bytes();
  const std::array parts{outbox, catalog_.preamble().subspan(preamble_sent_), ring[0], ring[1]};
  std::array<iovec, parts.size()> iov{};
  std::size_t count = 0, total = 0;
  for (const hal::Bytes part : parts) {
    if (part.empty()) continue;
    iov[count++] = {const_cast<std::byte*>(part.data()), part.size()};
    total += part.size();
  }
  if (total == 0) return false;

  msghdr message{};
  message.msg_iov = iov.data();
  message.msg_iovlen = count;
  const ssize_t n = ::sendmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (n < 0 && errno == EINTR) return true;
  if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK) {
    close();
    return false;
  }
  const std::size_t sent = n > 0 ? static_cast<std::size_t>(n) : 0;
  consume(sent);
  if (sent < total) wait_until_writable();
  return sent == total;
}

void McapClient::consume(std::size_t sent) {
  const std::size_t outbox = std::min(sent, outbox_end_ - outbox_begin_);
  outbox_begin_ += outbox;
  sent -= outbox;
  const std::size_t preamble = std::min(sent, catalog_.preamble().size() - preamble_sent_);
  preamble_sent_ += preamble;
  sent -= preamble;
  while (sent > 0) {
    const RecordRing::Front front = ring_.front();
    const std::size_t n = std::min(sent, front.size);
    if (n < front.size) {  // the rest of a record begun moves to the outbox, which is empty now
      outbox_begin_ = 0;
      outbox_end_ = front.size - n;
      ring_.copy(n, {outbox_.get(), outbox_end_});
    }
    ring_.pop(front.size);
    passed(front);
    ++stats_.sent;
    sent -= n;
  }
}

void McapClient::wait_until_writable() {
  if (is_blocked_) return;
  is_blocked_ = true;
  stream_.async_wait(hal::Descriptor::wait_write,
                     write_memory_.bind([this, opening = opening_, alive = anchor_.ref()](
                                            const boost::system::error_code& ec) {
                       if (ec || alive.expired() || opening != opening_) return;
                       is_blocked_ = false;
                       flush();
                     }));
}

ClientStats McapClient::stats() const {
  ClientStats s = stats_;
  s.queued = ring_.records() + static_cast<std::size_t>(std::popcount(owed_));
  s.queued_bytes =
      ring_.size() + outbox_end_ - outbox_begin_ + catalog_.preamble().size() - preamble_sent_;
  return s;
}

}  // namespace app
