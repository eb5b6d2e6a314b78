// A UDP socket: unicast, broadcast or multicast in, one peer out.
//
// It is never connected: a device that is switched off and makes its host answer "port
// unreachable" is silent, not a fault.
#pragma once

#include <netinet/in.h>

#include "hal/fd_port.h"
#include "hal/socket.h"
#include "hal/udp_share.h"

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

// Empty datagrams, and those of other senders, are counted and go no further. Ports with the same
// address and other senders share a socket: whoever reads a datagram hands it to whose it is; one
// of nobody counts at each of them, one that the kernel dropped at one of them.
class UdpPort final : public FdPort {
 public:
  // `shares`: of the ports that may have the same address; null: it is alone. Outlives it.
  UdpPort(EventLoop& loop, std::string name, UdpOptions options, UdpShares* shares = nullptr);
  ~UdpPort() override;

  Address local() const override { return local_; }

 private:
  Result<UniqueFd> open_fd() override;
  Result<Got> read_once(int fd, std::span<std::byte> buffer, Chunk& chunk) override;
  ssize_t write_once(int fd, Bytes bytes) override;
  Status take_addresses();
  Status bind_socket(int fd);
  Address own_address(int fd) const;
  void size_buffer(int fd);
  Result<UniqueFd> new_socket();
  UniqueFd socket_of_another();
  UdpPort* whose(const sockaddr_in& sender);
  void reject(const sockaddr_in& sender);
  bool take(const Received& received, Bytes bytes, Chunk& chunk);
  void count_losses(const Received& received);
  std::uint32_t& dropped();
  bool accepts(const sockaddr_in& sender) const;

  const UdpOptions options_;
  UdpShare* share_ = nullptr;  // null: alone
  sockaddr_in bind_{}, peer_{}, from_{};
  Address local_;
  KernelStamps kernel_stamps_;
  std::uint32_t dropped_ = 0;  // by its own socket, as the kernel counts
  std::uint32_t lost_ = 0;     // not yet told in a chunk
};

}  // namespace hal
