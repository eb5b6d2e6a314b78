// Every device this build can drive. A driver joins by one row in registry.cpp.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "drivers/decoder.h"
#include "drivers/driver.h"
#include "drivers/finding.h"

namespace drivers {

enum class Kind : std::uint8_t { lidar, imu };

// Which instant a frame's stamp or arrival is tied to.
enum class StampOf : std::uint8_t { first_beam, last_beam, sync, frame_end };

// What a device may produce at most with these options: the budgets of memory, line and latency.
struct Figures {
  double packets_hz = 0;
  double turns_hz = 0;             // lidars: whole turns or scans
  std::size_t beams_per_turn = 0;  // lidars
  double bytes_per_s = 0;          // on the wire
  hal::Duration delivery{};        // longest time from a packet's last beam to its last byte sent
  // Of the second output, NAME/imu, whose samples are sent at once; 0: these options leave it out.
  double imu_hz = 0;
};

struct Row {
  std::string_view name;  // as written in the configuration
  Kind kind;
  std::string_view models;  // for people
  int default_baud;         // 0: not a serial device
  StampOf stamp_of;
  bool speaks;  // it is stopped and started by commands: they need a way to it
  std::span<const OptionSpec> options;
  Figures (*figures)(const Options&, int baud);  // baud 0: not a serial line
  std::unique_ptr<Driver> (*make)(const Options&, DriverSetup);
  std::unique_ptr<Decoder> (*make_decoder)(const Options&, int baud, PacketSink&);
  double (*likeness)(Bytes);                  // of bytes to its frames, 0 to 1; see recognise.h
  bool has_control = false, has_imu = false;  // second ports: of commands, of inertial data
  bool sends_utc = false;                     // Timing::Source::utc, when it is synchronised
  Finding finding{};                          // of one that nobody knows yet
};

std::span<const Row> all();
const Row* find(std::string_view name);  // null when unknown

}  // namespace drivers
