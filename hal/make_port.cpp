#include "hal/make_port.h"

#include "hal/tcp_port.h"
#include "hal/udp_port.h"

namespace hal {

std::unique_ptr<Port> make_port(EventLoop& loop, const PortOptions& o, UdpShares* shares) {
  switch (o.spec.kind) {
    case PortSpec::Kind::serial:
      return std::make_unique<SerialPort>(loop,
                                          SerialOptions{o.spec.path, o.baud, o.latency, o.line});
    case PortSpec::Kind::udp:
      return std::make_unique<UdpPort>(loop, to_string(o.spec),
                                       UdpOptions{.bind = o.spec.host,
                                                  .port = o.spec.port,
                                                  .peer = o.peer.host,
                                                  .peer_port = o.peer.port,
                                                  .from = o.from,
                                                  .receive_buffer = o.receive_buffer,
                                                  .latency = o.latency},
                                       shares);
    case PortSpec::Kind::tcp:
      return std::make_unique<TcpPort>(
          loop, to_string(o.spec),
          TcpOptions{.host = o.spec.host, .port = o.spec.port, .latency = o.latency});
  }
  return nullptr;
}

}  // namespace hal
