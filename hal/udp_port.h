// A UDP socket: unicast, broadcast or multicast in, one peer out.
//
// It is never connected: a device that is switched off and makes its host answer "port
// unreachable" is silent, not a fault.
#pragma once

#include <netinet/in.h>

#include "hal/fd_port.h"
#include "hal/socket.h"

namespace hal {

struct UdpOptions {
  // Where to listen: an own address, a multicast group to join, or empty for any. Broadcasts come
  // only to any, or to the broadcast address itself. Port 0: any free one, for devices that answer
  // to where they were asked from.
  std::string bind{};
  std::uint16_t port = 0;
  std::string peer{};  // where write() sends to; empty: nowhere
  std::uint16_t peer_port = 0;
  std::string from{};            // accepted sender; empty: the peer's address, or all without one
  int receive_buffer = 1 << 20;  // bytes to ask for; what was granted stands in the stats
  Latency latency = Latency::low;
};

// Empty datagrams, and those of other senders, are counted and go no further.
class UdpPort final : public FdPort {
 public:
  UdpPort(EventLoop& loop, std::string name, UdpOptions options);

  // Where it listens, once open: tests and devices that must be told ask.
  sockaddr_in local() const;

 private:
  Result<UniqueFd> open_fd() override;
  Result<Got> read_once(int fd, std::span<std::byte> buffer, Chunk& chunk) override;
  ssize_t write_once(int fd, Bytes bytes) override;
  Status take_addresses();
  Status bind_socket(int fd);
  void size_buffer(int fd);
  void count_losses(const Received& received);
  bool accepts(const sockaddr_in& sender) const;

  const UdpOptions options_;
  sockaddr_in bind_{}, peer_{}, from_{};
  KernelStamps kernel_stamps_;
  std::uint32_t dropped_ = 0, lost_ = 0;  // as the kernel counts; not yet told in a chunk
};

}  // namespace hal
