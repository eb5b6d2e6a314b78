// What an RPLIDAR is told and how its replies are read. Source: Slamtec rplidar_sdk 2.1.0.
//
// Request: A5 command, or with bit 7 of the command set: A5 command length payload XOR-of-all.
// Replies: framing.h.
#pragma once

#include <optional>
#include <string_view>

#include "drivers/dialogue.h"
#include "drivers/wire.h"

namespace drivers::rplidar {

inline constexpr unsigned kStop = 0x25, kReset = 0x40, kScan = 0x20, kExpress = 0x82,
                          kGetInfo = 0x50, kGetHealth = 0x52, kGetRate = 0x59, kGetConf = 0x84,
                          kSetRpm = 0xA8, kSetPwm = 0xF0, kGetBoard = 0xFF;
// Types of replies.
inline constexpr unsigned kInfo = 0x04, kHealth = 0x06, kRate = 0x15, kConf = 0x20, kBoard = 0xFF;
// Entries of the configuration.
inline constexpr std::uint32_t kUsualSpeed = 0x01, kModeCount = 0x70, kModeSampleTime = 0x71,
                               kModeAnswer = 0x75, kTypicalMode = 0x7C, kModeName = 0x7F;

void command(Request&, unsigned code);

// A command with a payload, which `fill` writes.
template <class Fill>
void command(Request& request, unsigned code, unsigned size, Fill&& fill) {
  const std::size_t from = request.view().size();
  request.u8(0xA5).u8(code).u8(size);
  fill(request);
  request.u8(wire::xor8(request.view().subspan(from)));
}

void start_express(Request&, unsigned mode);

bool is(const Frame&, unsigned type);
Bytes payload(const Frame&);
// The value that a configuration reply carries, empty when the device has none; nothing when the
// reply is about something else.
std::optional<Bytes> conf_value(const Frame&, std::uint32_t type);

bool same_name(std::string_view a, std::string_view b);  // of modes: whatever their case

}  // namespace drivers::rplidar
