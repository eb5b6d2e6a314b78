// A simulated device on the loopback network, the daemon that meets it, and what must hold for
// every such pair.
#pragma once

#include <string>
#include <vector>

#include "test/system/bench.h"

namespace test {

// In `sensor` and `simulate`, {tcp} and {udp} stand for the addresses of the device (HOST:PORT;
// only those that occur are given to the simulator), {data} and {imu} for free UDP ports of ours.
struct NetDevice {
  const char* driver;
  const char* sensor;  // keys of the sensor: "port: 'udp:{data}', control: 'tcp:{tcp}'"
  std::vector<std::string> simulate{};        // "--set", "model=...", "--to", "127.0.0.1:{data}"
  std::vector<std::string> topics{"points"};  // of /net that messages come on
};

class NetBench : public Bench {
 public:
  // It streams, its books balance; it loses its power, is missed, comes back and streams again: a
  // device that has forgotten its settings is told them anew.
  void meets(const NetDevice& device);
  // A tenth each of its datagrams is lost, doubled, reordered, cut short: it streams, books
  // balance.
  void survives_bad_datagrams(const NetDevice& device);

 private:
  void begin(const NetDevice& device, const std::vector<std::string>& faults);
  void start_device();
  void streams(StreamReader&, const NetDevice&);
  void books_balance();
  std::string filled_in(std::string text) const;

  int tcp_ = 0, udp_ = 0, data_ = 0, imu_ = 0;
  std::vector<std::string> arguments_;
  std::unique_ptr<Process> device_, daemon_;
};

// A TCP port that is free now.
int free_tcp_port();

}  // namespace test
