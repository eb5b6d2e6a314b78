#include "test/system/net_bench.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include "hal/unique_fd.h"
#include "test/support/harness.h"

namespace test {
namespace {

std::string loopback(int port) { return "127.0.0.1:" + std::to_string(port); }

}  // namespace

std::string NetBench::filled_in(std::string text) const {
  const std::pair<const char*, std::string> all[] = {{"{tcp}", loopback(tcp_)},
                                                     {"{udp}", loopback(udp_)},
                                                     {"{data}", std::to_string(data_)},
                                                     {"{imu}", std::to_string(imu_)}};
  for (const auto& [what, by] : all) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
      text.replace(at, std::string(what).size(), by);
    }
  }
  return text;
}

void NetBench::begin(const NetDevice& device, const std::vector<std::string>& faults) {
  tcp_ = free_tcp_port();
  udp_ = free_udp_port();
  data_ = free_udp_port();
  imu_ = free_udp_port();
  arguments_ = {device.driver};
  const std::string sensor = device.sensor;
  if (contains(sensor, "{tcp}")) arguments_.insert(arguments_.end(), {"--tcp", loopback(tcp_)});
  if (contains(sensor, "{udp}")) arguments_.insert(arguments_.end(), {"--udp", loopback(udp_)});
  for (const std::string& argument : device.simulate) arguments_.push_back(filled_in(argument));
  for (const std::string& fault : faults) arguments_.insert(arguments_.end(), {"--fault", fault});
  start_device();
  const std::string keys = filled_in(sensor);
  daemon_ =
      lidard(configure("  net: {driver: " + std::string(device.driver) + ", " + keys + "}\n"));
}

void NetBench::start_device() { device_ = simulate("net", arguments_); }

void NetBench::streams(StreamReader& stream, const NetDevice& device) {
  const auto all = [&] {
    if (stream.value("net", "state") != "streaming") return false;
    for (const std::string& topic : device.topics) {
      if (stream.topic("/net/" + topic).messages < 5) return false;
    }
    return true;
  };
  if (!stream.read_until(all)) FAIL(("it does not stream:\n" + daemon_->err()).c_str());
}

void NetBench::books_balance() {
  Ran ran{};
  for (int tries = is_strict() ? 1 : 3; tries > 0; --tries) {  // on a busy machine data are late
    ran = lidarctl({"monitor", "--socket", socket(), "--for", "3", "--verify", "--lines", "0"});
    if (ran.status == 0) return;
  }
  FAIL(("monitor --verify: " + ran.out + ran.err).c_str());
}

void NetBench::meets(const NetDevice& device) {
  begin(device, {});
  {
    StreamReader stream(socket());
    streams(stream, device);
  }
  books_balance();
  StreamReader stream(socket());
  streams(stream, device);
  device_.reset();
  const bool missed = stream.read_until([&] { return stream.event("net", "stall") != nullptr; });
  if (!missed) FAIL(("it is not missed:\n" + daemon_->err()).c_str());
  note("%s: %s", device.driver, stream.event("net", "stall")->message.c_str());
  start_device();
  const bool back = stream.read_until([&] { return stream.event("net", "recover") != nullptr; });
  if (!back) FAIL(("it does not come back:\n" + daemon_->err()).c_str());
  for (const std::string& topic : device.topics) stream.topic("/net/" + topic).messages = 0;
  streams(stream, device);
  LONGS_EQUAL(0, stream.backward());
}

void NetBench::survives_bad_datagrams(const NetDevice& device) {
  begin(device, {"drop%10", "duplicate%10", "reorder%10", "truncate%10"});
  StreamReader stream(socket());
  streams(stream, device);
  books_balance();
}

int free_tcp_port() {
  const hal::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  if (::bind(fd.get(), raw, size) != 0 || ::getsockname(fd.get(), raw, &size) != 0) {
    FAIL("no TCP port is free");
  }
  return ntohs(address.sin_port);
}

}  // namespace test
