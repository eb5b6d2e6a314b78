#include "app/lidarctl/udp_senders.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "hal/socket.h"
#include "hal/unique_fd.h"

namespace lidarctl {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t kSample = 32'768, kLongest = 65'536;

hal::UniqueFd listener(std::uint16_t port, std::vector<std::string>& notes) {
  hal::UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const auto any = hal::ipv4("", port);
  sockaddr address{};
  std::memcpy(&address, &*any, sizeof(sockaddr_in));
  if (fd && ::bind(fd.get(), &address, sizeof(sockaddr_in)) == 0) return fd;
  const int sys = errno;
  notes.push_back("UDP port " + std::to_string(port) + " is not listened to: " +
                  std::strerror(sys) + (sys == EADDRINUSE ? "; see who has it: ss -ulnp" : ""));
  return {};
}

void take(UdpSurvey& survey, const hal::Received& received, hal::Bytes bytes, std::uint16_t local) {
  std::array<char, INET_ADDRSTRLEN> host{};
  ::inet_ntop(AF_INET, &received.from.sin_addr, host.data(), host.size());
  const std::uint16_t port = ntohs(received.from.sin_port);
  auto s = std::ranges::find_if(survey.senders, [&](const UdpSender& o) {
    return o.port == port && o.local == local && o.host == host.data();
  });
  if (s == survey.senders.end()) {
    if (survey.senders.size() == kMostSenders) return;
    survey.senders.push_back({host.data(), port, local});
    s = survey.senders.end() - 1;
  }
  ++s->datagrams;
  s->bytes += bytes.size();
  if (s->sample.size() + bytes.size() <= kSample) {
    s->sample.insert(s->sample.end(), bytes.begin(), bytes.end());
  }
}

}  // namespace

UdpSurvey listen_to_udp(std::span<const std::uint16_t> ports, hal::Duration length) {
  UdpSurvey survey;
  std::vector<hal::UniqueFd> fds;
  std::vector<std::uint16_t> locals;
  std::vector<pollfd> polled;
  for (const std::uint16_t port : ports) {
    hal::UniqueFd fd = listener(port, survey.notes);
    if (!fd) continue;
    polled.push_back({fd.get(), POLLIN, 0});
    fds.push_back(std::move(fd));
    locals.push_back(port);
  }
  std::vector<std::byte> buffer(kLongest);
  const auto begin = Steady::now(), end = begin + length;
  while (!fds.empty()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Steady::now());
    if (left.count() <= 0) break;
    if (::poll(polled.data(), polled.size(), static_cast<int>(left.count())) <= 0) continue;
    for (std::size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].revents == 0) continue;
      const hal::Received received = hal::receive(polled[i].fd, buffer);
      if (received.size <= 0) continue;
      const auto size = static_cast<std::size_t>(received.size);
      take(survey, received, hal::Bytes(buffer).first(size), locals[i]);
    }
  }
  survey.seconds = hal::to_seconds(Steady::now() - begin);
  for (UdpSender& s : survey.senders) s.heard = heard(drivers::all(), s.sample, 0);
  return survey;
}

}  // namespace lidarctl
