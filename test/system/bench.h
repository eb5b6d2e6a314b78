// The set-up that every system test begins with: a directory, simulated devices, a daemon.
#pragma once

#include <memory>
#include <string>

#include "test/support/temp_dir.h"
#include "test/system/process.h"
#include "test/system/stream.h"

namespace test {

class Bench {
 public:
  const std::string& path() const { return dir_.path(); }
  std::string file(const std::string& name) const { return dir_.file(name); }
  std::string socket() const { return file("stream.sock"); }
  std::string truth(const std::string& name) const { return file(name + ".truth"); }

  // `lidarctl ARGUMENTS` to its end.
  Ran lidarctl(std::vector<std::string> arguments, Seconds within = Seconds(30));
  std::unique_ptr<Process> start_lidarctl(const std::string& name,
                                          std::vector<std::string> arguments);
  // A device, ready; its pty is linked as file(NAME).
  std::unique_ptr<Process> simulate(const std::string& name, std::vector<std::string> arguments);
  std::unique_ptr<Process> simulate_pty(const std::string& name, const std::string& driver,
                                        std::vector<std::string> more = {});

  // `sensors`: what stands below "sensors:". Gives the path of the file.
  std::string configure(const std::string& sensors, const std::string& head = "",
                        const std::string& name = "lidard");
  // A sensor on the serial port file(NAME).
  std::string serial(const std::string& name, const std::string& driver) const;
  // Started, and listening on its socket.
  std::unique_ptr<Process> lidard(const std::string& config, const std::string& name = "lidard");
  // To its end, for what cannot start.
  Ran lidard_fails(const std::string& config);

  static std::string lidard_program();
  static std::string lidarctl_program();

 private:
  TempDir dir_;
  int ran_ = 0;
};

// The four sensors of config/examples/demo.yaml, streaming.
class DemoBench : public Bench {
 public:
  // `head`: keys beside those of the example.
  explicit DemoBench(const std::string& head = "");
  ~DemoBench();
  void start_devices();
  void start_side();
  // Fails the test when not all four stream within kEventWithin.
  void start_daemon();
  bool all_stream(StreamReader&) const;
  // `lidarctl monitor --verify` is content. On a busy machine, where data may be late, it is asked
  // up to three times; a strict run asks once. Gives what it printed.
  std::string verify(std::vector<std::string> more = {});

  static constexpr const char* kSensors[] = {"front", "imu", "rear", "side"};
  std::unique_ptr<Process> front, rear, side, imu, daemon;
  std::string config;

 private:
  int udp_port_;
};

// A UDP port that is free now.
int free_udp_port();

}  // namespace test
