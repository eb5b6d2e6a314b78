// What the ways of probing share: the loop that runs a prober, and what is printed.
#pragma once

#include "app/lidarctl/probe_report.h"
#include "hal/event_loop.h"

namespace lidarctl {

// Runs it to its end.
void run(hal::EventLoop& loop, Prober& prober);
// A configuration, with what is for people as its comments, or one line of JSON. A Failure when
// nothing was recognised.
void print(const ProbeResult& result, const Place& place, bool json);
// Each line a comment of the configuration.
void print_comment(const std::string& lines);

// `port` 0: where each driver's devices listen.
void probe_network(bool is_tcp, const std::string& host, std::uint16_t port, bool json);
// `port` 0: all where drivers expect datagrams.
void probe_udp_senders(std::uint16_t port, bool json);

}  // namespace lidarctl
