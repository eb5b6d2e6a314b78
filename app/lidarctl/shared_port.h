// One serial port, opened once, that is listened to and lent to one driver after the other: its
// lines do not move in between, and every byte is seen here, too.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hal/port.h"

namespace lidarctl {

class SharedPort final : private hal::PortListener {
 public:
  explicit SharedPort(std::unique_ptr<hal::Port> port) : port_(std::move(port)) {}

  void open(hal::Time now);
  bool is_open() const { return is_open_; }
  // Why it could not be opened, or what ended it.
  const std::optional<hal::Error>& error() const { return error_; }
  // Whether a baud rate means anything there: a pty has none, nor has a device that is USB itself.
  bool has_line() const { return has_line_; }
  std::string_view name() const { return port_->name(); }

  // From now on at this rate; forgets the sample. 0: as it is.
  void listen(int baud, hal::Time now);
  // A port for one driver, which begins at this rate each time that it opens it. One at a time; not
  // beyond the life of this.
  std::unique_ptr<hal::Port> lend(int baud);

  // The first bytes since listen() or the borrower's open().
  hal::Bytes sample() const { return sample_; }
  // All of them since open(), and how the very first looked.
  std::uint64_t bytes() const { return bytes_; }
  hal::Bytes first_bytes() const {
    return hal::Bytes(first_).first(std::min(bytes_, std::uint64_t{kFirst}));
  }
  void tell_time(hal::Time now) { now_ = now; }

 private:
  class Lent;
  static constexpr std::size_t kFirst = 16, kSample = 16'384;

  void on_port_open(hal::Time now) override;
  void on_chunk(const hal::Chunk& chunk) override;
  void on_port_fault(const hal::Error& error, hal::Time now) override;

  std::unique_ptr<hal::Port> port_;
  Lent* borrower_ = nullptr;
  bool is_open_ = false, has_line_ = false;
  std::optional<hal::Error> error_{};
  std::vector<std::byte> sample_{};
  std::array<std::byte, kFirst> first_{};
  std::uint64_t bytes_ = 0;
  hal::Time now_{};
};

}  // namespace lidarctl
