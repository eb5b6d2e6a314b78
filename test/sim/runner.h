// Runs one simulated device on real ports in real time: what `lidarctl simulate` does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "test/sim/settings.h"

namespace sim {

// The command line of `lidarctl simulate`, as plain data; empty = not given.
struct RunOptions {
  std::string driver;
  std::string pty;       // path of the symbolic link
  std::string udp, tcp;  // HOST:PORT that the device binds
  std::string to;        // HOST:PORT where UDP data stream unasked
  Options set;
  double rate_hz = 0.0;  // 0 = the model's default
  std::uint64_t seed = 1;
  std::vector<std::string> faults;  // as written
  std::string arrival;              // as written; empty = the real one only
  std::string truth;                // file to write
  double for_s = 0.0;               // 0 = until SIGTERM or SIGINT
};

// Prints the ready line on stdout, then plays until the end, then removes the link. Ends with its
// parent. Returns 0, or 2 with a sentence on stderr: an option or a port that cannot work.
int run(const RunOptions& options);

}  // namespace sim
