// What is configured for one queue of the order, and what is counted there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "drivers/packet.h"
#include "hal/time.h"

namespace collation {

enum class Policy : std::uint8_t { strict, live };
enum class Role : std::uint8_t {
  required,     // waited for while starting, streaming or silent
  optional,     // waited for only while streaming
  passthrough,  // leaves at once, outside the order
};
enum class Overflow : std::uint8_t {
  release,      // the oldest data of all queues leave until there is room, in order
  drop_oldest,  // of this queue
  drop_newest,
};

// Whether the order waits for a sensor in this state of its life.
bool is_waited_for(Role role, drivers::State state);

// A stamp further from its arrival than this is no delay that could be waited for: it belongs to
// another epoch, and no max_wait would have sufficed.
inline constexpr hal::Duration kLongestWait = std::chrono::seconds(10);

// Late data belong to one spell while no more than this lies between two.
inline constexpr hal::Duration kLateSpell = std::chrono::seconds(10);

struct QueueOptions {
  std::size_t capacity = 8;  // data, >= 1
  hal::Duration max_wait{};  // the greatest delay from stamp to arrival
  Role role = Role::required;
  Overflow overflow = Overflow::release;
};

// Counters only grow, `held` apart. The books:
//   in = out + late + duplicate + backward + future + overflow + before_start + held
struct QueueStats {
  std::uint64_t in = 0, out = 0;
  std::uint64_t late = 0;          // stamped before what had already left
  std::uint64_t duplicate = 0;     // stamped as the sensor's previous datum
  std::uint64_t backward = 0;      // stamped before the sensor's previous datum
  std::uint64_t future = 0;        // stamped more than 1 ms after its arrival
  std::uint64_t overflow = 0;      // dropped because the queue was full
  std::uint64_t before_start = 0;  // strict: before the common start of its trajectory
  std::uint64_t held = 0;
  std::uint64_t forced = 0;             // of `out`: left early, to make room
  std::uint64_t full = 0;               // data that met a full queue
  drivers::SensorId full_for = 0;       // whom the order waited for at the newest of them
  hal::Duration would_have_sufficed{};  // the max_wait for all late data of the newest spell
  hal::Duration astray{};     // from stamp to arrival, of the newest datum dropped for its stamp
  hal::Duration worst_age{};  // from stamp to leaving
};

}  // namespace collation
