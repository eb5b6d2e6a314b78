#include "drivers/xsens/outputs.h"

#include <algorithm>

namespace drivers::xsens {
namespace {

constexpr std::array kOptions{
    OptionSpec{.key = "rate_hz",
               .type = OptionType::integer,
               .unit = "Hz",
               .fallback = "100",  // what 115200 baud and the 1-series are good for
               .min = 1,
               .max = 2000,
               .help = "samples per second; the device lowers what it cannot do"},
    OptionSpec{.key = "orientation",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "true",
               .help = "ask for the attitude where the device computes one"},
    OptionSpec{.key = "deltas",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "false",
               .help = "ask for the integrals of rate and acceleration over each sample"},
    OptionSpec{.key = "air",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "false",
               .help = "ask for pressure and temperature where the device measures them"},
    OptionSpec{.key = "field_ut",
               .type = OptionType::number,
               .unit = "uT",
               .fallback = "0",
               .min = 0,
               .max = 100,
               .help = "the field where its magnetometer was calibrated, which it calls 1; 0: not "
                       "known, and the magnetometer is left out"},
    OptionSpec{.key = "wrap",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "auto",
               .choices = "auto|day|bits32",
               .help =
                   "where its counter of 100 us begins anew: after a day (10- and 100-series) or "
                   "at 2^32; auto: as it says who it is, or as it is seen to"},
};

constexpr unsigned kMostHzOfField = 100, kMostHzOfPressure = 50;

// Bytes in a message, with the head of the item.
int size_of(unsigned id) {
  switch (id) {
    case kCounter:
      return 5;
    case kAttitude:
    case kDeltaQ:
      return 19;
    case kTicks:
    case kStatus:
    case kPressure:
    case kTemperature:
      return 7;
    default:
      return 15;
  }
}

}  // namespace

std::span<const OptionSpec> options() { return kOptions; }

Outputs outputs_of(const Options& options) {
  Outputs outputs;
  const auto rate = static_cast<unsigned>(options.integer("rate_hz"));
  const auto add = [&outputs](unsigned id, unsigned hz) {
    outputs.items[outputs.size++] = {id, hz};
  };
  add(kCounter, kAlways), add(kTicks, kAlways), add(kAccel, rate), add(kGyro, rate);
  add(kStatus, kAlways);
  if (options.flag("orientation")) add(kAttitude, rate);
  if (options.flag("deltas")) add(kDeltaV, rate), add(kDeltaQ, rate);
  if (options.number("field_ut") > 0) add(kMag, std::min(rate, kMostHzOfField));
  if (options.flag("air")) add(kTemperature, 1), add(kPressure, std::min(rate, kMostHzOfPressure));
  return outputs;
}

double bytes_per_s(const Options& options) {
  const double rate = options.number("rate_hz");
  double bytes = 5 * rate;  // head and check of each message
  for (const Output& o : outputs_of(options).all())
    bytes += size_of(o.id) * (o.hz == kAlways ? rate : o.hz);
  return bytes;
}

unsigned rate_in(wire::Bytes list, unsigned id) {
  for (std::size_t at = 0; at + 4 <= list.size(); at += 4)
    if (wire::u16be(list, at) == id) return wire::u16be(list, at + 2);
  return 0;
}

}  // namespace drivers::xsens
