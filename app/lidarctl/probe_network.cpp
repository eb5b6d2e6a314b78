// lidarctl probe of what is on the network: asked at an address, or by what it sends here.
#include <iostream>

#include "app/lidarctl/commands.h"
#include "app/lidarctl/probe.h"
#include "app/lidarctl/udp_senders.h"
#include "hal/clock.h"
#include "hal/make_port.h"

namespace lidarctl {
namespace {

constexpr hal::Duration kListen = std::chrono::seconds(3);

std::string at(const std::string& host, std::uint16_t port) {
  return host + ":" + std::to_string(port);
}

hal::PortSpec tcp_spec(const std::string& host, std::uint16_t port) {
  return {.kind = hal::PortSpec::Kind::tcp, .host = host, .port = port};
}

drivers::Ports ports_for(hal::EventLoop& loop, const Trial& trial, bool is_tcp,
                         const std::string& host) {
  const auto index = [](drivers::Channel c) { return static_cast<std::size_t>(c); };
  const hal::PortSpec any_udp{.kind = hal::PortSpec::Kind::udp};
  drivers::Ports ports;
  auto& data = ports[index(drivers::Channel::data)];
  if (trial.is_control) {
    data = hal::make_port(loop, {.spec = any_udp, .from = host});
    ports[index(drivers::Channel::control)] =
        hal::make_port(loop, {.spec = tcp_spec(host, trial.port)});
  } else if (is_tcp) {
    data = hal::make_port(loop, {.spec = tcp_spec(host, trial.port)});
  } else {
    data = hal::make_port(loop, {.spec = any_udp, .from = host, .peer = {host, trial.port}});
  }
  return ports;
}

Place place_of(const Trial& trial, bool is_tcp, const std::string& host) {
  if (trial.is_control) return {"udp:0", "tcp:" + at(host, trial.port)};
  if (is_tcp) return {"tcp:" + at(host, trial.port)};
  return {"udp:0", {}, at(host, trial.port)};
}

// Of one that speaks also where it is spoken to.
Place place_of(const UdpSender& s, const drivers::Row& row) {
  const std::string to = "udp:" + std::to_string(s.local);
  if (row.speaks && row.has_control) return {to, "tcp:" + at(s.host, row.finding.control)};
  return {to, {}, row.speaks ? at(s.host, s.port) : s.host};
}

ProbeResult result_of(const UdpSender& s) {
  ProbeResult r;
  r.found = s.heard.front();
  r.by_itself = r.streams = r.left_streaming = true;
  r.alternatives.assign(s.heard.begin() + 1, s.heard.end());
  return r;
}

void print_json(const UdpSurvey& survey) {
  nlohmann::ordered_json senders = nlohmann::ordered_json::array();
  for (const UdpSender& s : survey.senders) {
    nlohmann::ordered_json one = {{"from", at(s.host, s.port)},
                                  {"port", s.local},
                                  {"datagrams", s.datagrams},
                                  {"bytes_per_s", static_cast<double>(s.bytes) / survey.seconds},
                                  {"driver", nullptr}};
    if (!s.heard.empty()) {
      const drivers::Row& row = *s.heard.front().row;
      one["driver"] = row.name;
      one["likeness"] = s.heard.front().likeness;
      one["config"] = snippet(result_of(s), place_of(s, row));
    }
    senders.push_back(one);
  }
  const nlohmann::ordered_json all = {{"senders", senders}, {"notes", survey.notes}};
  std::cout << all.dump() << '\n' << std::flush;
}

void print_config(const UdpSurvey& survey) {
  std::string config;
  std::size_t sensors = 0;
  for (const std::string& note : survey.notes) print_comment(note + "\n");
  for (const UdpSender& s : survey.senders) {
    const std::string rate = hal::Text<96>::of(": %llu datagrams, %.1f kB/s",
                                               static_cast<unsigned long long>(s.datagrams),
                                               static_cast<double>(s.bytes) / survey.seconds / 1000)
                                 .c_str();
    std::string line = at(s.host, s.port) + " to port " + std::to_string(s.local) + rate;
    if (s.heard.empty()) {
      print_comment(line + ", like those of no device that is known here\n");
      continue;
    }
    const drivers::Row& row = *s.heard.front().row;
    for (const Trial& t : s.heard) {
      line += (&t == s.heard.data() ? ", " : ", or ") + std::string(t.row->name) +
              hal::Text<32>::of(" (likeness %.2f of 1)", t.likeness).c_str();
    }
    const std::string number = sensors > 0 ? std::to_string(sensors + 1) : "";
    const std::string more = sensor(result_of(s), place_of(s, row), usual_name(row) + number);
    const bool is_accepted = is_configuration("sensors:\n" + config + more);
    print_comment(line + (is_accepted ? "\n" : "; not beside the others: try it alone\n"));
    if (!is_accepted) continue;
    ++sensors;
    config += more;
  }
  if (!config.empty()) std::cout << "sensors:\n" << config;
  std::cout << std::flush;
}

}  // namespace

void probe_network(bool is_tcp, const std::string& host, std::uint16_t port, bool json) {
  std::vector<Trial> trials = network_trials(drivers::all(), is_tcp, port);
  const hal::InnerClock clock;
  hal::EventLoop loop(clock);
  Prober prober(std::move(trials),
                [&](const Trial& trial) { return ports_for(loop, trial, is_tcp, host); });
  run(loop, prober);
  const ProbeResult& result = prober.result();
  if (result.found.row) return print(result, place_of(result.found, is_tcp, host), json);
  print(result, {(is_tcp ? "tcp:" : "udp:") + (port > 0 ? at(host, port) : host)}, json);
}

void probe_udp_senders(std::uint16_t port, bool json) {
  std::vector<std::uint16_t> ports = udp_ports(drivers::all());
  if (port > 0) ports = {port};
  const UdpSurvey survey = listen_to_udp(ports, kListen);
  json ? print_json(survey) : print_config(survey);
  if (!std::cout) throw Failure(kFailed, "standard output: cannot be written");
  if (!survey.senders.empty()) return;
  std::string text = "no datagram came within 3 s, at UDP port";
  for (const std::uint16_t p : ports) text += " " + std::to_string(p);
  throw Failure(kFailed, text +
                             ": is the device told to send to this machine, does a firewall drop "
                             "it? --port chooses another one");
}

}  // namespace lidarctl
