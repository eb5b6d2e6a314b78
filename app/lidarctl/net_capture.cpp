#include "app/lidarctl/net_capture.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "app/lidarctl/commands.h"
#include "hal/port_spec.h"

namespace lidarctl {
namespace {

using hal::pcap::Flow;

constexpr std::size_t kMostFlows = 4096;  // to choose among

std::string address(std::uint32_t ip, std::uint16_t port) {
  return hal::Text<32>::of("%u.%u.%u.%u:%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255,
                           unsigned{port})
      .c_str();
}

std::string name_of(const Flow& f) {
  const bool is_udp = f.protocol == hal::pcap::kUdp;
  return std::string(is_udp ? "UDP " : "TCP ") + address(f.source, f.source_port) + " to " +
         address(f.destination, f.destination_port);
}

bool fits(const NetChoice& c, const Flow& f) {
  return (c.port == 0 || f.source_port == c.port || f.destination_port == c.port) &&
         (c.from == 0 || f.source == c.from) && (c.from_port == 0 || f.source_port == c.from_port);
}

// Of one device, which may have changed one of its ports when it was connected anew.
bool belongs(const Flow& a, const Flow& b) {
  return a.protocol == b.protocol && a.source == b.source &&
         (a.source_port == b.source_port || a.destination_port == b.destination_port);
}

struct Totals final : hal::pcap::FlowSink {
  void on_payload(const Flow& flow, hal::Bytes bytes, std::int64_t, std::uint64_t) override {
    if (flows.size() < kMostFlows || flows.contains(flow)) flows[flow] += bytes.size();
  }
  std::map<Flow, std::uint64_t> flows;
};

struct Chosen final : hal::pcap::FlowSink {
  void on_payload(const Flow& flow, hal::Bytes bytes, std::int64_t unix_ns,
                  std::uint64_t) override {
    if (bytes.empty() || !belongs(flow, chosen) || !fits(choice, flow)) return;
    newest_ns = std::max(newest_ns, unix_ns);
    (*take)({.bytes = bytes,
             .last_at = hal::from_ns(newest_ns),
             .is_datagram = flow.protocol == hal::pcap::kUdp});
  }
  NetChoice choice;
  Flow chosen;
  std::int64_t newest_ns = 0;
  const std::function<void(const hal::Chunk&)>* take = nullptr;
};

struct Run {
  hal::pcap::PacketStats packets;
  hal::pcap::FlowStats flows;
  std::size_t unread;
};

Run run(hal::Bytes bytes, hal::pcap::FlowSink& sink) {
  hal::pcap::File file(bytes);
  hal::pcap::Reassembly reassembly;
  hal::pcap::Flows flows(sink);
  while (const auto frame = file.next()) {
    if (const auto packet = reassembly.take(*frame)) flows.take(*packet);
  }
  reassembly.finish();
  flows.finish();
  return {reassembly.stats(), flows.stats(), file.unread()};
}

void note(NetReport& report, std::uint64_t count, const char* what) {
  if (count > 0) report.notes.push_back(std::to_string(count) + " " + what);
}

}  // namespace

void choose_sender(NetChoice& choice, const std::string& text) {
  const auto sender = hal::parse_host_port(text);
  unsigned b[4];
  char behind = 0;
  if (!sender ||
      std::sscanf(sender->host.c_str(), "%3u.%3u.%3u.%3u%c", b, b + 1, b + 2, b + 3, &behind) !=
          4 ||
      std::ranges::any_of(b, [](unsigned v) { return v > 255; })) {
    throw Failure(kUsage,
                  "--from wants an IPv4 address, with :PORT or without, not '" + text + "'");
  }
  choice.from = b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];
  choice.from_port = sender->port;
}

NetReport read_capture(const std::string& path, hal::Bytes file, const NetChoice& choice,
                       const std::function<void(const hal::Chunk&)>& take) {
  if (!file.empty() && !hal::pcap::File(file).is_capture()) {
    throw Failure(kNoInput, path + ": neither pcap nor pcapng");
  }
  Totals totals;
  const Run seen = run(file, totals);
  NetReport report;
  note(report, seen.unread,
       "bytes at its end are no whole record: the file is cut or damaged there");
  note(report, seen.packets.cut, "packets were not captured whole: capture with a larger snaplen");
  note(report, seen.packets.unfinished, "datagrams are left out, of which fragments are missing");
  note(report, seen.packets.malformed + seen.flows.malformed,
       "packets have lengths that do not fit");
  note(report, seen.flows.lost_bytes, "bytes of TCP streams are missing in the capture");

  Chosen chosen;
  std::uint64_t most = 0;
  for (const auto& [flow, bytes] : totals.flows) {
    if (!fits(choice, flow) || bytes <= most) continue;
    most = bytes;
    chosen.chosen = flow;
  }
  if (most == 0 && totals.flows.empty()) {
    report.notes.push_back("no UDP or TCP over IPv4 with any payload in it");
    return report;
  }
  if (most == 0) {
    std::string text = path + ": nobody in it fits --port and --from; there are";
    for (const auto& [flow, bytes] : totals.flows) text += "\n  " + name_of(flow);
    throw Failure(kNoInput, text);
  }
  for (const auto& [flow, bytes] : totals.flows) {
    if (!fits(choice, flow) || belongs(flow, chosen.chosen)) continue;
    report.notes.push_back("decoded is " + name_of(chosen.chosen) + ", left out is " +
                           name_of(flow) + "; --from and --port choose");
  }
  chosen.choice = choice;
  chosen.take = &take;
  run(file, chosen);
  return report;
}

}  // namespace lidarctl
