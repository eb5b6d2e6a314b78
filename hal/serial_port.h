// A serial port: a tty through libserialport, or a pty (simulators, socat) without it. 8N1, no flow
// control.
#pragma once

#include "hal/fd_port.h"

namespace hal {

// How bytes come over the line. `uart`: one by one, so a chunk is dated back by line time.
// `burst`: in bundles (USB adapters). `automatic`: as sysfs tells.
enum class Line : std::uint8_t { automatic, uart, burst };

struct SerialOptions {
  std::string path{};  // links (/dev/serial/by-id/...) are followed at each open()
  int baud = 115200;
  Latency latency = Latency::low;
  Line line = Line::automatic;
};

// What was received before open() is discarded: nobody knows when it arrived.
class SerialPort final : public FdPort {
 public:
  SerialPort(EventLoop& loop, SerialOptions options);
  Status set_dtr(bool asserted) override;  // asserted by open(); a pty has none
  Status set_baud(int baud) override;
  bool has_line() const override { return has_line_; }

 private:
  Result<UniqueFd> open_fd() override;
  Result<Got> read_once(int fd, std::span<std::byte> buffer, Chunk& chunk) override;
  Error busy(const char* real_path, bool still);

  const SerialOptions options_;
  bool uart_ = false;      // bytes come one by one
  bool has_line_ = false;  // bytes pass a line, though an adapter may bundle them
  Duration per_byte_{};
  bool busy_ = false;  // so the newest open() found it
  Text<64> holder_;
};

}  // namespace hal
