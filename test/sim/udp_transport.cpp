// One UDP socket: a frame is a datagram; replies go to who asked, data to --to or who asked.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "test/sim/endpoint.h"
#include "test/sim/transport.h"

namespace sim {
namespace {

class UdpTransport final : public Transport {
 public:
  UdpTransport(std::string bind, std::string to)
      : bind_(std::move(bind)), to_text_(std::move(to)) {}
  ~UdpTransport() override { UdpTransport::close(); }

  hal::Status open() override {
    if (!to_text_.empty()) {
      hal::Result<Endpoint> to = parse_endpoint(to_text_, SOCK_DGRAM);
      if (!to) return to.error();
      to_ = *to;
    }
    hal::Result<Endpoint> local = parse_endpoint(bind_, SOCK_DGRAM);
    if (!local) return local.error();
    fd_ = ::socket(local->family(), SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd_ < 0) return system_error("simulate: udp socket", bind_);
    const int yes = 1;
    ::setsockopt(fd_, SOL_SOCKET, SO_BROADCAST, &yes, sizeof yes);
    if (::bind(fd_, local->get(), local->length) != 0)
      return system_error("simulate: --udp", bind_);
    bind_ = sim::to_text(bound_address(fd_));
    return hal::ok;
  }

  void close() override {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
    asker_.reset();
  }

  void add_polls(std::vector<pollfd>& polls) const override {
    if (fd_ >= 0) polls.push_back({fd_, POLLIN, 0});
  }

  void read(const Sink& sink) override {
    std::array<std::byte, 65536> buffer;
    while (fd_ >= 0) {
      Endpoint from;
      from.length = sizeof from.storage;
      const ssize_t n = ::recvfrom(fd_, buffer.data(), buffer.size(), 0, from.get(), &from.length);
      if (n < 0) return;
      asker_ = from;
      sink(hal::Bytes(buffer.data(), static_cast<std::size_t>(n)));
    }
  }

  void write(hal::Bytes bytes, const Way& way, bool is_reply) override {
    std::optional<Endpoint> to = is_reply || !to_ ? asker_ : to_;
    if (way.to.port != 0) to = to_endpoint(way.to.ip, way.to.port);
    if (fd_ < 0 || !to) return;
    ::sendto(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL, to->get(), to->length);
  }

  std::string address() const override { return bind_; }

 private:
  std::string bind_, to_text_;
  std::optional<Endpoint> to_, asker_;
  int fd_ = -1;
};

}  // namespace

std::unique_ptr<Transport> make_udp(const std::string& bind, const std::string& to) {
  return std::make_unique<UdpTransport>(bind, to);
}

}  // namespace sim
