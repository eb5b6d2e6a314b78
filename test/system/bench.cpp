#include "test/support/places.h"
#include "test/system/bench.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "hal/unique_fd.h"
#include "test/support/harness.h"

namespace test {
namespace {

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
}

bool is_socket(const std::string& path) {
  struct stat s {};
  return ::stat(path.c_str(), &s) == 0 && S_ISSOCK(s.st_mode);
}

}  // namespace

std::string Bench::lidard_program() { return LIDARD_PROGRAM; }
std::string Bench::lidarctl_program() { return LIDARCTL_PROGRAM; }

Ran Bench::lidarctl(std::vector<std::string> arguments, Seconds within) {
  arguments.insert(arguments.begin(), lidarctl_program());
  return run(std::move(arguments), file("ran" + std::to_string(++ran_)), {}, within);
}

std::unique_ptr<Process> Bench::start_lidarctl(const std::string& name,
                                               std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), lidarctl_program());
  return std::make_unique<Process>(std::move(arguments), file(name));
}

std::unique_ptr<Process> Bench::simulate(const std::string& name,
                                         std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "simulate");
  auto device = start_lidarctl(name + ".sim", std::move(arguments));
  const bool ready = wait_for([&] { return contains(device->out(), "\"ready\""); });
  if (!ready) FAIL(("the simulator does not start: " + device->err()).c_str());
  return device;
}

std::unique_ptr<Process> Bench::simulate_pty(const std::string& name, const std::string& driver,
                                             std::vector<std::string> more) {
  std::vector<std::string> arguments{driver, "--pty", file(name), "--truth", truth(name)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return simulate(name, std::move(arguments));
}

std::string Bench::serial(const std::string& name, const std::string& driver) const {
  return "  " + name + ": {driver: " + driver + ", port: 'serial:" + file(name) + "'}\n";
}

std::string Bench::configure(const std::string& sensors, const std::string& head,
                             const std::string& name) {
  const std::string path = file(name + ".yaml");
  write_file(path, head + "stream: {unix: " + file(name == "lidard" ? "stream" : name) +
                       ".sock}\nsensors:\n" + sensors);
  return path;
}

std::unique_ptr<Process> Bench::lidard(const std::string& config, const std::string& name) {
  auto daemon = std::make_unique<Process>(
      std::vector<std::string>{lidard_program(), "--config", config}, file(name));
  const bool ready = wait_for([&] { return contains(daemon->err(), "ready"); });
  if (!ready) FAIL(("lidard does not start: " + daemon->err()).c_str());
  return daemon;
}

Ran Bench::lidard_fails(const std::string& config) {
  return run({lidard_program(), "--config", config}, file("fails" + std::to_string(++ran_)), {},
             kEventWithin);
}

DemoBench::DemoBench(const std::string& head) : udp_port_(free_udp_port()) {
  std::string text = read_file(in_source("config/examples/demo.yaml"));
  replace_all(text, "/tmp/lidard-demo", path());
  replace_all(text, "127.0.0.1:8089", "127.0.0.1:" + std::to_string(udp_port_));
  config = file("demo.yaml");
  write_file(config, head + text);
}

DemoBench::~DemoBench() = default;

void DemoBench::start_devices() {
  front = simulate_pty("front", "rplidar", {"--set", "model=A1"});
  rear = simulate_pty("rear", "ldrobot");
  start_side();
  imu = simulate_pty("imu", "microstrain_mip");
}

void DemoBench::start_side() {
  side = simulate("side", {"rplidar", "--udp", "127.0.0.1:" + std::to_string(udp_port_), "--set",
                           "model=S2E", "--truth", truth("side")});
}

void DemoBench::start_daemon() {
  daemon = lidard(config);
  CHECK(is_socket(socket()));
  StreamReader stream(socket());
  const bool all = stream.read_until([&] { return all_stream(stream); });
  if (!all) FAIL(("not every sensor streams:\n" + daemon->err()).c_str());
}

bool DemoBench::all_stream(StreamReader& stream) const {
  for (const char* const sensor : kSensors) {
    if (stream.value(sensor, "state") != "streaming") return false;
  }
  return true;
}

std::string DemoBench::verify(std::vector<std::string> more) {
  std::vector<std::string> arguments{"monitor", "--socket", socket(),  "--for",
                                     "3",       "--verify", "--lines", "0"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  Ran ran{};
  for (int tries = is_strict() ? 1 : 3; tries > 0; --tries) {
    ran = lidarctl(arguments);
    if (ran.status == 0) return ran.out;
  }
  FAIL(("monitor --verify: " + ran.out + ran.err).c_str());
  return "";
}

int free_udp_port() {
  const hal::UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  if (::bind(fd.get(), raw, size) != 0 || ::getsockname(fd.get(), raw, &size) != 0) {
    FAIL("no UDP port is free");
  }
  return ntohs(address.sin_port);
}

}  // namespace test
