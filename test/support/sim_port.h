// The host's end of a simulated device's line, read in passes as the real ports are.
#pragma once

#include <optional>
#include <vector>

#include "hal/port.h"
#include "test/sim/player.h"

namespace test {

// The player runs outside the passes: fetch() before, hand_over() after. What lies between, the
// program under test, is then all that may allocate.
class SimPort final : public hal::Port {
 public:
  SimPort(const hal::Clock& clock, sim::Player& player, bool is_serial,
          sim::Channel channel = sim::Channel::data)
      : clock_(clock), player_(player), is_serial_(is_serial), channel_(channel) {
    arrived_.reserve(kRoom);
    written_.reserve(kRoom);
    stats_.receive_buffer = is_serial ? 0 : 4096;
  }

  void open(hal::PortListener& listener) override {
    if (!player_.is_plugged(clock_.now())) {
      return listener.on_port_fault({hal::Errc::not_found, 0, "sim: open", {}}, clock_.now());
    }
    listener_ = &listener;
    is_hung_up_ = false;
    if (baud_at_open_) baud = *baud_at_open_;
    baud_at_open_.reset();
    if (baud != 0 && configured != 0) baud = configured;
    listener.on_port_open(clock_.now());
  }
  hal::Status write(hal::Bytes bytes) override {
    if (refuses_writes || written_.size() + bytes.size() > kRoom) {
      return hal::refused_write(hal::Errc::no_space, 11);
    }
    written_.insert(written_.end(), bytes.begin(), bytes.end());
    return hal::ok;
  }
  void close() override { listener_ = nullptr; }
  hal::Status set_dtr(bool) override { return hal::ok; }
  hal::Status set_baud(int rate) override {
    if (!baud_at_open_) baud_at_open_ = baud;
    baud = rate;
    return hal::ok;
  }
  bool drained() const override { return true; }
  bool has_line() const override { return is_line; }
  hal::PortStats stats() const override { return stats_; }
  std::string_view name() const override { return "sim:"; }

  hal::Address local() const override {
    return connects && listener_ == nullptr ? hal::Address{} : own;
  }
  bool is_connection() const override { return connects; }

  // Everything that has arrived by now; true when there is something for a pass to handle.
  // Of a device with two ports, what is of `control` goes there.
  bool fetch(SimPort* control = nullptr) {
    const hal::Time now = clock_.now();
    for (sim::Write write; player_.take(now, write);) {
      const bool is_control = control != nullptr && write.way.channel == sim::Channel::control;
      (is_control ? control : this)->accept(write);
    }
    return has_work();
  }
  bool has_work() const { return parts_ > 0 || is_pulled(); }
  void deliver() {
    if (is_pulled()) {
      parts_ = 0;
      arrived_.clear();
      hal::PortListener* const listener = std::exchange(listener_, nullptr);
      listener->on_port_fault({hal::Errc::closed, 0, "sim: unplugged", {}}, clock_.now());
      return;
    }
    const std::size_t lost = std::min(lost_, arrived_.size());
    lost_ -= lost;
    if (lost > 0 && parts_ == 1) {
      arrived_.erase(arrived_.begin(), arrived_.begin() + static_cast<std::ptrdiff_t>(lost));
      part_[0].size -= lost;
    }
    std::size_t at = 0;
    for (std::size_t i = 0; i < parts_ && listener_ != nullptr; ++i) {
      const hal::Bytes bytes = hal::Bytes(arrived_).subspan(at, part_[i].size);
      at += bytes.size();
      listener_->on_chunk(
          {bytes, is_serial_ ? clock_.now() : part_[i].due, {}, 0, !is_serial_ && !connects});
    }
    parts_ = 0;
    arrived_.clear();
    if (!std::exchange(is_hung_up_, false) || listener_ == nullptr) return;
    hal::PortListener* const listener = std::exchange(listener_, nullptr);
    listener->on_port_fault({hal::Errc::closed, 0, "sim: hung up", {}}, clock_.now());
  }
  void hand_over() {
    if (written_.empty()) return;
    if (is_at_its_rate()) player_.receive(channel_, written_, clock_.now());
    written_.clear();
  }

  // The next bytes of the line do not arrive: whoever opens it comes into the middle of a frame.
  void lose(std::size_t bytes) { lost_ = bytes; }

  hal::Address own{};     // what local() says while it is open
  bool connects = false;  // it is a connection, as TCP is
  bool refuses_writes = false;
  bool is_line = true;
  int baud = 0;        // of the line; 0: as the device has it
  int configured = 0;  // where it goes back to when it is opened again; 0: it stays
  // When the device was heard of again after its last long silence.
  hal::Time back_at() const { return back_at_; }
  // What a port may say of itself, for the diagnostics.
  void set_stats(const hal::PortStats& stats) { stats_ = stats; }

 private:
  std::optional<int> baud_at_open_;  // once it was changed: what a port has when it is opened anew
  struct Part {
    std::size_t size = 0;
    hal::Time due{};
  };
  static constexpr std::size_t kRoom = 1 << 16;

  void accept(const sim::Write& write) {
    // A datagram has its own stamp, a line its bytes only.
    if (write.due > newest_ + std::chrono::seconds(1)) back_at_ = write.due;
    newest_ = write.due;
    const bool apart = !is_serial_ || parts_ == 0;
    if (listener_ == nullptr || arrived_.size() + write.bytes.size() > kRoom) return;
    arrived_.insert(arrived_.end(), write.bytes.begin(), write.bytes.end());
    if (!is_at_its_rate()) garble(write.bytes.size());
    if (apart && parts_ < std::size(part_)) part_[parts_++] = {0, write.due};
    part_[parts_ - 1].size += write.bytes.size();
    is_hung_up_ = write.way.hangs_up;
  }
  bool is_pulled() const { return listener_ != nullptr && !player_.is_plugged(clock_.now()); }

  bool is_at_its_rate() const {
    const unsigned device = player_.line_baud(clock_.now());  // 0: it has a USB port of its own
    return baud == 0 || device == 0 || static_cast<unsigned>(baud) == device;
  }
  // As many bytes of nonsense.
  void garble(std::size_t bytes) {
    for (std::size_t i = arrived_.size() - bytes; i < arrived_.size(); ++i) {
      arrived_[i] = static_cast<std::byte>(noise_ >> 24);
      noise_ = noise_ * 1664525U + 1013904223U;
    }
  }

  const hal::Clock& clock_;
  sim::Player& player_;
  std::uint32_t noise_ = 1;
  std::size_t lost_ = 0;  // bytes still to be lost
  const bool is_serial_;
  const sim::Channel channel_;
  bool is_hung_up_ = false;  // by the device, behind what has arrived
  hal::PortListener* listener_ = nullptr;
  std::vector<std::byte> arrived_, written_;
  std::array<Part, 256> part_{};
  std::size_t parts_ = 0;
  hal::PortStats stats_{};
  hal::Time newest_{}, back_at_{};  // of what the device sent
};

}  // namespace test
