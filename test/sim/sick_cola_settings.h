// What a host can set of a simulated SICK scanner over CoLa, and how it is read back.
#pragma once

#include "test/sim/sick_cola_scan.h"

namespace sim::sick_cola {

struct Config {
  Pace pace{};
  std::int32_t start = 0, stop = 0;  // 1/10000 deg, device frame
  Content content;
  EchoFilter filter = EchoFilter::first;

  std::uint32_t step() const;
  Sector sector(const Model& model) const;
};

Config delivered(const Model& model, double rate_hz);

// Each takes its arguments into `config` and gives 0, or the code of sFA; then `config` is as it
// was.
unsigned write_output_range(const Model& model, cola::Arguments& arguments, Config& config);
unsigned write_content(cola::Arguments& arguments, Config& config);
unsigned write_echo_filter(const Model& model, cola::Arguments& arguments, Config& config);
// Gives the status that mLMPsetscancfg answers with: 0 done, 1 no such speed, 2 no such resolution.
unsigned set_scan(const Model& model, cola::Arguments& arguments, Config& config);

void put_output_range(cola::Telegram& to, const Config& config);
void put_content(cola::Telegram& to, const Config& config);
void put_scan(cola::Telegram& to, const Config& config);

}  // namespace sim::sick_cola
