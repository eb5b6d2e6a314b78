// Messages of an x-IMU3: a letter, the time, and numbers or text; bytes with stuffing, or a line.
#pragma once

#include <span>
#include <string_view>

#include "test/sim/device_model.h"
#include "test/sim/motion.h"

namespace sim::ximu3 {

enum class Style : std::uint8_t { binary, ascii };

// Of `letter` at `us`.
ByteVector message(Style style, char letter, std::int64_t us, std::span<const double> numbers);
ByteVector note(Style style, char letter, std::int64_t us, std::string_view text);

// What is told of the attitude, by the setting `ahrs_message_type`.
enum class Attitude : std::uint8_t { quaternion, matrix, euler, linear, earth };
// The frame of the Earth, by the setting `ahrs_axes_convention`; with ned the sensor's axes are set
// to forward-right-down.
enum class World : std::uint8_t { nwu, enu, ned };

ByteVector inertial(Style style, std::int64_t us, const Motion& motion, World world);
ByteVector attitude(Style style, std::int64_t us, const Motion& motion, Attitude kind, World world);

}  // namespace sim::ximu3
