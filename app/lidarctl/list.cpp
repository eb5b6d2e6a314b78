// lidarctl list: the serial ports of this machine and who sends to it, without asking anybody.
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/lidarctl/commands.h"
#include "app/lidarctl/serial_ports.h"
#include "app/lidarctl/udp_senders.h"

namespace lidarctl {
namespace {

std::string family(const UdpSender& s) {
  return s.heard.empty() ? std::string() : std::string(s.heard.front().row->name);
}

void print_json(const std::vector<SerialPort>& ports, const UdpSurvey& survey) {
  using Json = nlohmann::ordered_json;
  Json all = {{"serial", Json::array()}, {"udp", Json::array()}, {"notes", survey.notes}};
  for (const SerialPort& p : ports) {
    all["serial"].push_back({{"path", p.path},
                             {"name", p.best_name()},
                             {"driver", p.driver},
                             {"vendor_id", p.vendor_id},
                             {"product_id", p.product_id},
                             {"vendor", p.vendor},
                             {"product", p.product},
                             {"serial_number", p.serial_number},
                             {"by_id", p.by_id},
                             {"by_path", p.by_path},
                             {"links", p.other_links},
                             {"holder", p.holder}});
  }
  for (const UdpSender& s : survey.senders) {
    all["udp"].push_back({{"host", s.host},
                          {"port", s.port},
                          {"local_port", s.local},
                          {"datagrams", s.datagrams},
                          {"bytes", s.bytes},
                          {"driver", family(s)}});
  }
  std::cout << all.dump(2) << '\n';
}

void print(const SerialPort& p) {
  std::cout << p.path;
  if (!p.product.empty() || !p.vendor.empty()) {
    std::cout << "  " << p.vendor << (p.vendor.empty() ? "" : " ") << p.product;
  }
  if (!p.vendor_id.empty()) {
    std::cout << "  (" << p.vendor_id << ":" << p.product_id << ", " << p.driver << ")";
  } else {
    std::cout << "  on the board (" << p.driver << ")";
  }
  std::cout << '\n';
  const auto line = [](const char* what, const std::string& value) {
    if (!value.empty()) std::cout << "    " << what << value << '\n';
  };
  line("serial number  ", p.serial_number);
  for (const std::string& link : p.other_links) line("also           ", link);
  line("by identity    ", p.by_id);
  line("by place       ", p.by_path);
  line("held by        ", p.holder);
  line("port: serial:", p.best_name());
}

void print_text(const std::vector<SerialPort>& ports, const UdpSurvey& survey) {
  if (ports.empty()) {
    std::cout << "No serial port: nothing is plugged in, or its kernel module is not loaded.\n";
  }
  for (const SerialPort& p : ports) print(p);
  for (const UdpSender& s : survey.senders) {
    std::cout << "udp " << s.host << ":" << s.port << " to port " << s.local << "  " << s.datagrams
              << " datagrams in " << survey.seconds << " s"
              << (s.heard.empty() ? "" : ", looks like " + family(s)) << '\n';
  }
  for (const std::string& note : survey.notes) std::cout << "note: " << note << '\n';
  std::cout << "`lidarctl probe PORT` tells what a device is.\n";
}

}  // namespace

void add_list(CLI::App& root) {
  struct Chosen {
    bool json = false;
    double seconds = 1;
  };
  auto chosen = std::make_shared<Chosen>();
  CLI::App* const command =
      root.add_subcommand("list",
                          "Show the serial ports, what is in them and who holds them, and "
                          "who sends datagrams here");
  command->add_flag("--json", chosen->json, "for programs");
  command->add_option("--for", chosen->seconds, "how long datagrams are listened for, s; 0: not")
      ->check(finite())
      ->capture_default_str();
  command->callback([chosen] {
    const auto ports = serial_ports("/sys", "/dev");
    const auto udp = udp_ports(drivers::all());
    const UdpSurvey survey =
        chosen->seconds > 0 ? listen_to_udp(udp, hal::from_seconds(chosen->seconds)) : UdpSurvey{};
    chosen->json ? print_json(ports, survey) : print_text(ports, survey);
  });
}

}  // namespace lidarctl
