// How fast a device really measures that tells neither stamps nor its rate: what is counted by an
// assumed rate, held against arrivals. Delays only make late, so of a while's first and last third
// those that were delayed least are compared.
#pragma once

#include <array>
#include <cstdint>

namespace drivers {

class CountedRate {
 public:
  // While the rate is not known, this share more is to be counted: time that is counted too long
  // is bounded by arrivals, too short a time would make stamps ever earlier.
  static constexpr double kSlack = 1;

  // `is_told`: the assumed rate is the device's word or its data sheet's. Otherwise it is known
  // only after it was measured.
  void restart(bool is_told) {
    *this = CountedRate{};
    is_known_ = is_told;
  }

  // To be told of each packet: what was counted until then, and when that was. Returns by what
  // factor the units last longer than they were taken to; 1: leave it.
  double see(double counted_ns, std::int64_t at_ns);

  bool is_known() const { return is_known_; }

 private:
  struct Pair {
    double counted = 0, at = 0;  // ns since the window began
    bool is_there = false;
  };

  double judge(double ratio);

  bool is_known_ = false;
  bool began_ = false;
  std::int64_t began_at_ = 0;
  double began_counted_ = 0;
  std::array<Pair, 3> best_{};  // of each third
  double strange_ = 0;          // what the window before gave, if that was far off; 0: it was not
  int rounds_ = 0;              // in search of it
};

}  // namespace drivers
