// A Port over a file descriptor. Serial, UDP and TCP ports differ only in how they open and how
// they read and write once.
#pragma once

#include <sys/types.h>

#include <string>

#include "hal/event_loop.h"
#include "hal/port.h"
#include "hal/unique_fd.h"

namespace hal {

enum class Latency : std::uint8_t {
  low,      // waited for; the adapter's timer is set to its least
  batched,  // read every EventLoop::kBatchPeriod
};

class FdPort : public Port, private Polled, private Rearmed {
 public:
  ~FdPort() override { FdPort::close(); }
  FdPort(const FdPort&) = delete;
  FdPort& operator=(const FdPort&) = delete;

  void open(PortListener& listener) override;
  Status write(Bytes bytes) final;
  void close() override;
  Status set_dtr(bool asserted) override;
  Status set_baud(int baud) override;
  // A batched port is drained only in passes that read it.
  bool drained() const final;
  bool has_line() const override { return false; }
  PortStats stats() const final { return stats_; }
  std::string_view name() const final { return name_; }

  static constexpr int kReadsPerPass = 16;  // then let the other ports have their turn

 protected:
  // What one read gave. `all`: there was nothing behind it.
  enum class Got { nothing, skipped, some, all };

  FdPort(EventLoop& loop, std::string name, Latency latency)
      : loop_(loop),
        name_(std::move(name)),
        batched_(latency == Latency::batched),
        stream_(loop.io()) {}

  virtual Result<UniqueFd> open_fd() = 0;
  // Reads once without blocking; fills the chunk for `some` and `all`. EINTR is the port's own.
  virtual Result<Got> read_once(int fd, std::span<std::byte> buffer, Chunk& chunk) = 0;
  virtual ssize_t write_once(int fd, Bytes bytes);

  // The second half of open(), for ports that must wait in between.
  void begin(PortListener& listener, UniqueFd fd);
  // Closes, then tells the listener.
  void fail(const Error& error);
  // Gives the listener of an open port what another one read for it.
  void hand_in(Chunk chunk);

  EventLoop& loop() { return loop_; }
  const Clock& clock() const { return loop_.clock(); }
  int fd() const { return fd_.get(); }
  Time newest() const { return newest_; }  // arrival of the newest chunk
  PortListener* listener_ = nullptr;       // null: closed
  PortStats stats_;

 private:
  void poll() final;   // Polled
  void rearm() final;  // Rearmed
  void read_all();

  EventLoop& loop_;
  const std::string name_;
  const bool batched_;
  UniqueFd fd_;
  Descriptor stream_;     // watches fd_ unless batched; does not own it
  unsigned opening_ = 0;  // which open() this is; what belongs to older ones does nothing
  bool drained_ = true;
  std::uint64_t read_in_pass_ = 0;
  Time newest_{};
  HandlerMemory memory_;
  Anchor anchor_;
};

}  // namespace hal
