#include "app/lidarctl/probe_plan.h"

#include <algorithm>

#include "drivers/recognise.h"

namespace lidarctl {
namespace {

// At most the default where a row names none; none at all where it is no serial device.
std::span<const int> rates_of(const drivers::Row& row) {
  if (row.default_baud == 0) return {};
  return row.finding.bauds.empty() ? std::span(&row.default_baud, 1) : row.finding.bauds;
}

}  // namespace

std::vector<int> listening_rates(std::span<const drivers::Row> rows) {
  struct Rate {
    int baud, count;
  };
  std::vector<Rate> rates;
  for (const drivers::Row& row : rows) {
    for (const int baud : rates_of(row)) {
      const auto known = std::ranges::find(rates, baud, &Rate::baud);
      if (known == rates.end()) {
        rates.push_back({baud, 1 + (baud == row.default_baud)});
      } else {
        known->count += 1 + (baud == row.default_baud);
      }
    }
  }
  std::ranges::stable_sort(rates, std::greater{}, &Rate::count);
  std::vector<int> bauds;
  for (const Rate& rate : rates) bauds.push_back(rate.baud);
  return bauds;
}

std::vector<Trial> heard(std::span<const drivers::Row> rows, hal::Bytes sample, int baud) {
  std::vector<Trial> trials;
  for (const drivers::Row& row : rows) {
    const double likeness = row.likeness(sample);
    if (likeness >= drivers::kAlike) trials.push_back({&row, baud, nullptr, likeness});
  }
  std::ranges::stable_sort(trials, std::greater{}, &Trial::likeness);
  const auto as_alike = std::ranges::find_if(
      trials, [&](const Trial& t) { return t.likeness + kAsAlike < trials.front().likeness; });
  std::stable_partition(trials.begin(), as_alike,
                        [](const Trial& t) { return t.row->finding.asks_first; });
  return trials;
}

std::vector<Trial> silent_trials(std::span<const drivers::Row> rows, bool has_line) {
  std::vector<Trial> trials;
  std::size_t most = 1;
  for (const drivers::Row& row : rows) most = std::max(most, rates_of(row).size());
  for (std::size_t i = 0; i < (has_line ? most : 1); ++i) {
    for (const bool asks : {true, false}) {
      for (const drivers::Row& row : rows) {
        if (!row.speaks || row.finding.asks_first != asks || i >= rates_of(row).size()) continue;
        if (i > 0 && row.kind == drivers::Kind::imu) continue;
        trials.push_back({&row, has_line ? rates_of(row)[i] : 0});
      }
    }
    for (const drivers::Row& row : rows) {
      if (i > 0 || row.default_baud == 0) continue;
      for (const drivers::Variant& variant : row.finding.variants) {
        trials.push_back({&row, has_line ? variant.baud : 0, &variant});
      }
    }
  }
  return trials;
}

std::vector<Trial> network_trials(std::span<const drivers::Row> rows, bool is_tcp,
                                  std::uint16_t port) {
  std::vector<Trial> trials;
  const auto add = [&](const drivers::Row& row, std::uint16_t its, bool is_control) {
    const std::uint16_t at = port > 0 ? port : its;
    const auto is_same = [&](const Trial& t) { return t.row == &row && t.port == at; };
    if (its == 0 || std::ranges::any_of(trials, is_same)) return;
    Trial trial{.row = &row};
    trial.port = at;
    trial.is_control = is_control;
    trials.push_back(trial);
  };
  for (const bool asks : {true, false}) {
    for (const drivers::Row& row : rows) {
      const bool answers = row.speaks || row.has_control;
      if (!answers || row.finding.asks_first != asks) continue;
      for (const std::uint16_t its : is_tcp ? row.finding.tcp : row.finding.udp)
        add(row, its, false);
      if (is_tcp) add(row, row.finding.control, true);
    }
  }
  return trials;
}

std::vector<std::uint16_t> udp_ports(std::span<const drivers::Row> rows) {
  std::vector<std::uint16_t> ports;
  for (const drivers::Row& row : rows) {
    ports.insert(ports.end(), row.finding.udp.begin(), row.finding.udp.end());
  }
  std::ranges::sort(ports);
  const auto same = std::ranges::unique(ports);
  ports.erase(same.begin(), same.end());
  return ports;
}

}  // namespace lidarctl
