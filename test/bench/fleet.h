// Simulated devices of one kind, played by a child process at the pace of real ones: on ptys, where
// what is said to them is answered, or sending datagrams to ports of the loopback.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "hal/unique_fd.h"
#include "test/sim/models.h"

namespace bench {

struct FleetOf {
  const char* driver;
  std::size_t count;
  double frames_hz;  // of each device
  bool is_udp = false;
  sim::Options set{};
  double rate_hz = 0;  // of the simulator; 0: its own
};

class Fleet {
 public:
  // They send from the construction on, until the destruction; what nobody reads is lost.
  explicit Fleet(const FleetOf& of);
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  const std::vector<std::string>& ports() const { return ports_; }  // as in a configuration
  std::vector<int> open_raw() const;                                // to be read without a driver
  std::uint64_t frames() const { return *sent_; }                   // of all of them, so far

 private:
  [[noreturn]] void play(const FleetOf& of);

  std::vector<std::string> ports_;
  std::vector<hal::UniqueFd> near_, far_;
  std::vector<std::uint16_t> udp_;
  pid_t child_ = -1;
  std::atomic<std::uint64_t>* sent_;  // shared with the child
};

}  // namespace bench
