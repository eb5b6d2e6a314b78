#include "app/mcap_stream.h"

#include <algorithm>

namespace app {
namespace {

constexpr int kAcceptsPerPass = 16;

}  // namespace

McapStream::McapStream(hal::EventLoop& loop, const McapStreamOptions& o)
    : loop_(loop),
      max_message_(o.max_message),
      catalog_(o.profile, o.library, o.max_message),
      scratch_(std::make_unique<std::byte[]>(o.max_message)),
      waiting_(loop.io()) {
  for (std::size_t i = 0; i < o.max_clients; ++i) {
    clients_.push_back(std::make_unique<McapClient>(loop, catalog_, notice_, o.ring_bytes));
  }
}

McapStream::~McapStream() {
  if (waiting_.is_open()) waiting_.release();
}

std::size_t McapStream::memory(const McapStreamOptions& o) {
  const std::size_t record = hal::mcap::kMessageHead + o.max_message;
  return o.max_message +
         o.max_clients * (sizeof(McapClient) + record + std::max(o.ring_bytes, record));
}

hal::Status McapStream::listen(std::string_view path) {
  hal::Result<hal::UnixListener> listener = hal::UnixListener::listen(path);
  if (!listener) return listener.error();
  boost::system::error_code ec;
  waiting_.assign(listener->fd(), ec);
  if (ec) return hal::Error{hal::Errc::io, ec.value(), "stream: add to event loop", {}};
  listener_.emplace(std::move(*listener));
  rearm();
  return hal::ok;
}

void McapStream::rearm() {
  waiting_.async_wait(
      hal::Descriptor::wait_read,
      memory_.bind([this, alive = anchor_.ref()](const boost::system::error_code& ec) {
        if (ec || alive.expired()) return;
        accept_all();
        loop_.rearm_after_pass(*this);
      }));
}

void McapStream::accept_all() {
  for (int i = 0; i < kAcceptsPerPass; ++i) {
    hal::Result<hal::UniqueFd> fd = listener_->accept();
    if (!fd) {
      ++refused_clients_;
      continue;
    }
    if (!*fd) return;
    // Who finds no place is counted and sees the connection closed.
    static_cast<void>(add_client(std::move(*fd)));
  }
}

hal::Status McapStream::add_client(hal::UniqueFd fd) {
  const auto free = std::ranges::find_if(clients_, [](const auto& c) { return !c->is_open(); });
  if (free == clients_.end()) {
    ++refused_clients_;
    return hal::Error{hal::Errc::no_space, 0, "stream: add client",
                      hal::Text<192>::of("all %zu places are taken", clients_.size())};
  }
  if (!(*free)->open(std::move(fd))) {
    ++refused_clients_;
    return hal::Error{hal::Errc::io, 0, "stream: add to event loop", {}};
  }
  (*free)->flush();
  return hal::ok;
}

void McapStream::publish(std::uint16_t channel, std::int64_t log_time_ns,
                         std::int64_t publish_time_ns, hal::Bytes data) {
  const auto message = catalog_.number(channel, log_time_ns, publish_time_ns, data);
  if (!message) return;
  for (const auto& client : clients_) {
    if (!client->is_open()) continue;
    if (message->latched) {
      client->supersede(*message->latched, message->log_time);
    } else {
      client->push(*message);
    }
  }
  if (message->latched) catalog_.keep(*message);
}

void McapStream::flush() {
  for (const auto& client : clients_) client->flush();
}

void McapStream::close_clients() {
  for (const auto& client : clients_) client->close();
}

std::size_t McapStream::clients() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(clients_, [](const auto& c) { return c->is_open(); }));
}

std::optional<ClientStats> McapStream::client_stats(std::size_t i) const {
  if (!clients_[i]->is_open()) return {};
  return clients_[i]->stats();
}

}  // namespace app
