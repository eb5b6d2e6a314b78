// A TCP listener: data go to every client, replies to the one that asked; clients come and go.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "test/sim/endpoint.h"
#include "test/sim/transport.h"

namespace sim {
namespace {

struct Client {
  int fd = -1;
  std::vector<std::byte> unsent;  // the rest of a frame that the socket took in part
  bool ends = false;              // closed as soon as that has left
};

class TcpTransport final : public Transport {
 public:
  explicit TcpTransport(std::string bind) : bind_(std::move(bind)) {}
  ~TcpTransport() override { TcpTransport::close(); }

  hal::Status open() override {
    hal::Result<Endpoint> local = parse_endpoint(bind_, SOCK_STREAM);
    if (!local) return local.error();
    listener_ = ::socket(local->family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener_ < 0) return system_error("simulate: tcp socket", bind_);
    const int yes = 1;
    ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (::bind(listener_, local->get(), local->length) != 0 || ::listen(listener_, 8) != 0)
      return system_error("simulate: --tcp", bind_);
    bind_ = to_text(bound_address(listener_));
    return hal::ok;
  }

  void close() override {
    for (const Client& client : clients_) ::close(client.fd);
    clients_.clear();
    asker_ = -1;
    if (listener_ >= 0) ::close(listener_);
    listener_ = -1;
  }

  void add_polls(std::vector<pollfd>& polls) const override {
    if (listener_ >= 0) polls.push_back({listener_, POLLIN, 0});
    for (const Client& client : clients_) {
      const int wanted = client.unsent.empty() ? POLLIN : POLLIN | POLLOUT;
      polls.push_back({client.fd, static_cast<short>(wanted), 0});
    }
  }

  void read(const Sink& sink) override {
    accept_all();
    bool has_read = false;
    for (Client& client : clients_) {
      send_rest(client);
      has_read = has_read || read_one(client, sink);
    }
    std::erase_if(clients_, [](const Client& client) { return client.fd < 0; });
  }

  void write(hal::Bytes bytes, const Way& way, bool is_reply) override {
    for (Client& client : clients_) {
      if (is_reply && client.fd != asker_) continue;
      if (!client.unsent.empty()) continue;  // too slow: whole frames are lost
      client.unsent.assign(bytes.begin(), bytes.end());
      client.ends = way.hangs_up;
      send_rest(client);
    }
  }

  std::string address() const override { return bind_; }

 private:
  void accept_all() {
    while (listener_ >= 0) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) return;
      const int yes = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      clients_.push_back({fd, {}, false});
    }
  }

  bool read_one(Client& client, const Sink& sink) {
    std::array<std::byte, 4096> buffer;
    bool has_read = false;
    while (client.fd >= 0) {
      const ssize_t n = ::recv(client.fd, buffer.data(), buffer.size(), 0);
      if (n > 0) {
        asker_ = client.fd;
        has_read = true;
        sink(hal::Bytes(buffer.data(), static_cast<std::size_t>(n)));
        continue;
      }
      if (n < 0 && (errno == EAGAIN || errno == EINTR)) break;
      drop(client);
    }
    return has_read;
  }

  void send_rest(Client& client) {
    if (client.unsent.empty() || client.fd < 0) return;
    const ssize_t n = ::send(client.fd, client.unsent.data(), client.unsent.size(), MSG_NOSIGNAL);
    if (n > 0) client.unsent.erase(client.unsent.begin(), client.unsent.begin() + n);
    if (client.unsent.empty() && client.ends) drop(client);
  }

  void drop(Client& client) {
    if (client.fd == asker_) asker_ = -1;
    ::close(client.fd);
    client.fd = -1;
  }

  std::string bind_;
  int listener_ = -1;
  int asker_ = -1;
  std::vector<Client> clients_;
};

}  // namespace

std::unique_ptr<Transport> make_tcp(const std::string& bind) {
  return std::make_unique<TcpTransport>(bind);
}

}  // namespace sim
