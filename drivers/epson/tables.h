// What Epson's units have in common but for numbers: the scales of each product, and the rates with
// their codes. Source: the headers of Epson's public-domain driver.
#pragma once

#include <array>
#include <string_view>

#include "hal/time.h"

namespace drivers::epson {

using namespace std::chrono_literals;

struct Model {
  std::string_view name;  // as its registers tell
  double gyro, accel;     // deg/s and mg of 1 in 16 bit
  double celsius, at_25;  // deg C of 1; the number that is 25 deg C
  hal::Duration tick;     // of its counter
};
inline constexpr std::array kModels{
    Model{"G370PDG0", 0.0151515, 0.25, 0.00390625, 0, 16us},
    Model{"G370PDT0", 0.0151515, 0.25, 0.00390625, 0, 16us},
    Model{"G330PDG0", 0.0151515, 0.25, 0.00390625, 0, 16us},
    Model{"G366PDG0", 0.0151515, 0.25, 0.00390625, 0, 16us},
    Model{"G370PDF1", 0.0151515, 0.4, -0.0037918, 2634, 16us},
    Model{"G365PDF1", 0.0151515, 0.4, -0.0037918, 2634, 16us},
    Model{"G365PDC1", 0.0151515, 0.16, -0.0037918, 2634, 16us},
    Model{"G364PDC0", 0.0075, 0.125, -0.0037918, 2634, 21333ns},
    Model{"G354PDH0", 0.016, 0.2, -0.0037918, 2634, 21333ns},
    Model{"G320PDG0", 0.008, 0.2, -0.0037918, 2634, 21333ns},
};

// With the shortest filter that the maker allows at it.
struct Rate {
  std::string_view name;
  double hz;
  std::uint8_t code, filter;
  int taps;
};
inline constexpr std::array kRates{
    Rate{"1000", 1000, 0x01, 0x01, 2},  Rate{"500", 500, 0x02, 0x02, 4},
    Rate{"400", 400, 0x08, 0x03, 8},    Rate{"250", 250, 0x03, 0x03, 8},
    Rate{"200", 200, 0x09, 0x04, 16},   Rate{"125", 125, 0x04, 0x04, 16},
    Rate{"100", 100, 0x0A, 0x05, 32},   Rate{"80", 80, 0x0B, 0x05, 32},
    Rate{"62.5", 62.5, 0x05, 0x05, 32}, Rate{"50", 50, 0x0C, 0x06, 64},
    Rate{"40", 40, 0x0D, 0x06, 64},     Rate{"31.25", 31.25, 0x06, 0x06, 64},
    Rate{"25", 25, 0x0E, 0x07, 128},    Rate{"20", 20, 0x0F, 0x07, 128},
};

}  // namespace drivers::epson
