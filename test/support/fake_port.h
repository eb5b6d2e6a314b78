// A port whose other end is the test.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hal/port.h"

namespace test {

class FakePort final : public hal::Port {
 public:
  explicit FakePort(const hal::Clock& clock) : clock_(clock) {}

  void open(hal::PortListener& listener) override {
    ++opens;
    listener_ = &listener;
    if (refuse_open) return fault(refusal);
    if (!opens_later) finish_open();
  }
  hal::Status write(hal::Bytes bytes) override {
    if (!is_open_) return hal::refused_write(hal::Errc::closed, 0);
    if (refuse_write) {
      ++counters.dropped_writes;
      return hal::refused_write(hal::Errc::no_space, 0);
    }
    written.insert(written.end(), bytes.begin(), bytes.end());
    writes.emplace_back(bytes.begin(), bytes.end());
    return hal::ok;
  }
  void close() override {
    ++closes;
    listener_ = nullptr;
    is_open_ = false;
  }
  hal::Status set_dtr(bool asserted) override {
    dtr = asserted;
    if (refuse_dtr) return hal::Error{hal::Errc::io, 5, "fake: set DTR", {}};
    return hal::ok;
  }
  hal::Status set_baud(int rate) override {
    bauds.push_back(rate);
    return baud_result;
  }
  bool drained() const override { return is_drained; }
  bool has_line() const override { return is_line; }
  hal::Address local() const override { return own; }
  bool is_connection() const override { return connects; }
  void connect_to(std::uint16_t port) override { connected_to = port; }
  hal::PortStats stats() const override { return counters; }
  std::string_view name() const override { return label; }

  bool is_open() const { return is_open_; }
  // What TCP does: the connection stands some time after open(). Nothing while it is closed.
  void finish_open() {
    if (listener_ == nullptr) return;
    is_open_ = true;
    listener_->on_port_open(clock_.now());
  }
  // The bytes arrive now; dropped while the port is closed.
  void deliver(hal::Bytes bytes, hal::Duration per_byte = {}, std::uint32_t lost = 0) {
    deliver_at(bytes, clock_.now(), per_byte, lost);
  }
  void deliver_at(hal::Bytes bytes, hal::Time last_at, hal::Duration per_byte = {},
                  std::uint32_t lost = 0) {
    if (is_open_) listener_->on_chunk({bytes, last_at, per_byte, lost, has_datagrams});
  }
  void fault(const hal::Error& error) {
    is_open_ = false;
    if (hal::PortListener* const listener = std::exchange(listener_, nullptr)) {
      listener->on_port_fault(error, clock_.now());
    }
  }
  void unplug() { fault({hal::Errc::closed, 0, "fake: unplug", {}}); }

  int opens = 0, closes = 0;
  bool refuse_open = false, opens_later = false, refuse_write = false, refuse_dtr = false;
  hal::Error refusal{hal::Errc::not_found, 0, "fake: open", {}};
  hal::Address own{};
  bool connects = false;           // is a connection, as TCP is
  std::uint16_t connected_to = 0;  // 0: as configured
  std::string label = "fake:";
  bool is_drained = true;
  bool is_line = true;
  bool has_datagrams = false;
  bool dtr = true;
  std::vector<int> bauds;  // one entry per set_baud()
  hal::Status baud_result = hal::ok;
  std::vector<std::byte> written;              // everything, joined
  std::vector<std::vector<std::byte>> writes;  // one entry per write()
  hal::PortStats counters;

 private:
  const hal::Clock& clock_;
  hal::PortListener* listener_ = nullptr;
  bool is_open_ = false;
};

}  // namespace test
