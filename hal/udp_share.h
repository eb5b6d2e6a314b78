// Which UDP ports listen at the same address: they share one socket and are told apart by the
// sender, since the kernel gives a datagram to one socket only.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace hal {

class UdpPort;

struct UdpShare {
  sockaddr_in bind{};
  std::vector<UdpPort*> ports{};  // that listen there, or would; by themselves
  std::uint32_t dropped = 0;      // by their socket, as the kernel counts; told in a chunk of one
};

// Outlives the ports. All are made before the first is opened.
class UdpShares {
 public:
  // A port without a number is alone: it gets one of its own.
  UdpShare& at(const sockaddr_in& bind) {
    for (const auto& share : shares_) {
      const bool same = share->bind.sin_addr.s_addr == bind.sin_addr.s_addr &&
                        share->bind.sin_port == bind.sin_port;
      if (same && bind.sin_port != 0) return *share;
    }
    shares_.push_back(std::make_unique<UdpShare>(UdpShare{.bind = bind}));
    return *shares_.back();
  }

 private:
  std::vector<std::unique_ptr<UdpShare>> shares_;
};

}  // namespace hal
