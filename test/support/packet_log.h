// A sink that keeps everything it is told.
#pragma once

#include <vector>

#include "drivers/packet.h"

namespace test {

struct PacketLog final : drivers::PacketSink {
  void on_packet(drivers::SensorId id, const drivers::Packet& packet, hal::Time arrival) override {
    ids.push_back(id);
    arrivals.push_back(arrival);
    if (const auto* const sample = std::get_if<drivers::ImuSample>(&packet)) {
      samples.push_back(*sample);
      return;
    }
    slices.push_back(std::get<drivers::ScanSlice>(packet));
    beams.emplace_back(slices.back().beams.begin(), slices.back().beams.end());
    slices.back().beams = beams.back();  // valid for as long as the log
    echoes.emplace_back(slices.back().echoes.begin(), slices.back().echoes.end());
    slices.back().echoes = echoes.back();
  }
  void on_state(drivers::SensorId, drivers::State state, hal::Time) override {
    states.push_back(state);
  }

  std::vector<drivers::SensorId> ids;
  std::vector<hal::Time> arrivals;
  std::vector<drivers::ImuSample> samples;
  std::vector<drivers::ScanSlice> slices;
  std::vector<std::vector<drivers::Beam>> beams;   // of each slice
  std::vector<std::vector<drivers::Echo>> echoes;  // of each slice
  std::vector<drivers::State> states;
};

// Only counts, without the heap.
struct PacketCounter final : drivers::PacketSink {
  void on_packet(drivers::SensorId, const drivers::Packet&, hal::Time) override { ++packets; }
  void on_state(drivers::SensorId, drivers::State, hal::Time) override {}
  int packets = 0;
};

}  // namespace test
