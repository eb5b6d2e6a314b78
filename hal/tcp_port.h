// A TCP connection to a device, closed and opened anew when it breaks.
#pragma once

#include <string>

#include "hal/fd_port.h"
#include "hal/socket.h"

namespace hal {

struct TcpOptions {
  std::string host{};  // IPv4 numbers: names are not looked up, that may block
  std::uint16_t port = 0;
  Latency latency = Latency::low;
  Duration connect_timeout = std::chrono::seconds(2);
};

class TcpPort final : public FdPort {
 public:
  TcpPort(EventLoop& loop, std::string name, TcpOptions options);
  ~TcpPort() override { TcpPort::close(); }  // connecting_ does not own what it watches

  void open(PortListener& listener) override;  // ends later
  void close() override;
  Address local() const override { return fd() < 0 ? Address{} : local_address(fd()); }
  bool is_connection() const override { return true; }
  void connect_to(std::uint16_t port) override { port_ = port != 0 ? port : options_.port; }

 private:
  Result<UniqueFd> open_fd() override;
  Result<Got> read_once(int fd, std::span<std::byte> buffer, Chunk& chunk) override;
  ssize_t write_once(int fd, Bytes bytes) override;
  void wait_for_connection();
  void on_connected();
  void give_up(const Error& error);
  Error failed(const char* where, int sys) const;

  const TcpOptions options_;
  std::uint16_t port_;  // of the device
  PortListener* connecting_for_ = nullptr;  // null: not connecting
  unsigned attempt_ = 0;
  UniqueFd pending_;
  KernelStamps kernel_stamps_;
  Descriptor connecting_;  // watches pending_
  Timer timeout_;
  Anchor alive_;
};

}  // namespace hal
