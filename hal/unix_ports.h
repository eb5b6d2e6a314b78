// A Unix socket that other programs connect to, each connection a Port: what they send can be
// tapped, captured and replayed like the bytes of a device.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hal/fd_port.h"
#include "hal/unix_socket.h"

namespace hal {

class UnixPorts;

// One place for a connection. open() waits until somebody connects, if nobody does for ever; when
// he closes, the port has a fault like any other. It takes no writes from here.
class UnixPort final : public FdPort {
 public:
  UnixPort(EventLoop& loop, std::string name, UnixPorts& ports)
      : FdPort(loop, std::move(name), Latency::low), ports_(ports) {}
  ~UnixPort() override;

  void open(PortListener& listener) override;
  void close() override;

  bool waits() const { return waiting_for_ != nullptr; }
  void connected(UniqueFd fd);

  // With kReadsPerPass of them a pass reads more than a Unix socket holds by default (208 KiB), so
  // that all that lay there when the pass began has been read when it ends.
  static constexpr std::size_t kRead = std::size_t{16} << 10;

 private:
  Result<UniqueFd> open_fd() override;
  Result<Got> read_once(int fd, std::span<std::byte> buffer, Chunk& chunk) override;

  UnixPorts& ports_;
  PortListener* waiting_for_ = nullptr;  // null: connected, or not open
};

// The listening socket. It outlives its ports. Who comes before the first port is open waits in the
// kernel's queue; who finds no port that waits is turned away.
class UnixPorts final : private Rearmed {
 public:
  explicit UnixPorts(EventLoop& loop) : loop_(loop), watch_(loop.io()) {}
  ~UnixPorts();

  Status listen(std::string_view path);
  std::unique_ptr<Port> make_port(std::string name);  // before anybody connects

  std::uint64_t refused() const { return refused_; }

  static constexpr int kAcceptsPerPass = 16;

 private:
  friend class UnixPort;
  void begin();  // a port is open: from now on senders are accepted
  void rearm() override;
  void accept_all();
  void remove(UnixPort& port);

  EventLoop& loop_;
  std::optional<UnixListener> listener_;
  Descriptor watch_;  // watches listener_; does not own it
  std::vector<UnixPort*> ports_;
  std::uint64_t refused_ = 0;
  bool begun_ = false;
  HandlerMemory memory_;
  Anchor anchor_;
};

}  // namespace hal
