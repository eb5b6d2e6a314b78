// The command side of a simulated MicroStrain device: settings, and the answer to each command.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "test/sim/mip_data.h"
#include "test/sim/mip_wire.h"

namespace sim::mip {

inline constexpr unsigned kSensorBaseHz = 1000, kFilterBaseHz = 500;

struct Item {
  unsigned descriptor = 0;
  unsigned decimation = 1;
};

struct Stream {
  unsigned set = 0;
  unsigned every = 1;  // sensor ticks per tick of this set
  bool enabled = true;
  std::vector<Item> format;
};

// What save keeps over a loss of power.
struct Memory {
  Stream sensor{mip::kSensorSet, 1, true, {}};
  Stream filter{mip::kFilterSet, kSensorBaseHz / kFilterBaseHz, true, {}};
  unsigned baud = 115200;
};

class Dialogue {
 public:
  // `saved` is what an earlier save left; `factory` what "default" brings back.
  Dialogue(Generation generation, Memory factory, Memory saved)
      : generation_(generation), factory_(factory), saved_(saved), now_(std::move(saved)) {}

  void power_up();

  // Acknowledge and reply fields, in the order of the commands.
  std::vector<Field> answer(const Packet& packet, bool bad_checksum);

  const Stream& sensor() const { return now_.sensor; }
  const Stream& filter() const { return now_.filter; }
  bool is_idle() const { return is_idle_; }
  unsigned baud() const { return now_.baud; }

  // The rate a command asked for, once; it holds when the reply is out, from set_baud() on.
  std::optional<unsigned> take_wanted_baud() { return std::exchange(wanted_baud_, std::nullopt); }
  void set_baud(unsigned baud) { now_.baud = baud; }

 private:
  enum Code : unsigned { kOk = 0, kUnknown = 1, kBadChecksum = 2, kInvalid = 3 };
  struct Answer {
    Code code = kOk;
    std::vector<Field> fields{};  // after the acknowledge
  };
  using Handler = Answer (Dialogue::*)(hal::Bytes);
  struct Command {
    unsigned set, descriptor;
    bool series7, gx5;
    Handler handler;
  };
  static std::span<const Command> commands();
  const Command* find(unsigned set, unsigned descriptor) const;
  bool is_ours(const Command& c) const {
    return generation_ == Generation::gx5 ? c.gx5 : c.series7;
  }

  Answer ping(hal::Bytes args);
  Answer go_idle(hal::Bytes args);
  Answer resume(hal::Bytes args);
  Answer device_info(hal::Bytes args);
  Answer list_descriptors(hal::Bytes args);
  Answer list_more_descriptors(hal::Bytes args);

  Answer sensor_base_rate(hal::Bytes args);
  Answer filter_base_rate(hal::Bytes args);
  Answer base_rate(hal::Bytes args);
  Answer message_format(hal::Bytes args);
  Answer sensor_format(hal::Bytes args);
  Answer filter_format(hal::Bytes args);
  Answer enable_stream(hal::Bytes args);
  Answer startup_settings(hal::Bytes args);
  Answer uart_baud(hal::Bytes args);

  void put_set(Field& field, unsigned set) const;
  Stream* stream_of(unsigned set);
  unsigned set_of_selector(unsigned name) const;
  Answer format(unsigned selector, unsigned set, hal::Bytes rest, Field reading);
  Answer write_format(Stream& stream, hal::Bytes rest);
  Answer keep(unsigned selector, unsigned set);

  Generation generation_;
  Memory factory_, saved_, now_;
  bool is_idle_ = false;
  std::optional<unsigned> wanted_baud_;
};

}  // namespace sim::mip
