// The YDLIDAR models: how each carries a sample, and what a user may choose. Source: the SDK's data
// set of models; see ydlidar.h.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "drivers/finding.h"
#include "drivers/options.h"

namespace drivers {

struct YdlidarModel {
  enum class Talk : std::uint8_t { one_way, two_way };

  std::string_view name;
  unsigned code;  // as it names itself
  Talk talk;
  std::size_t sample;  // bytes
  unsigned intensity_bits;
  double mm;
  bool triangulates;
  std::array<double, 3> khz;  // [0] alone: fixed; else by the index that it tells

  // How what is said of one that did not name itself begins.
  static constexpr std::string_view kPerhaps = "perhaps ";

  bool answers() const { return talk == Talk::two_way; }
  bool has_rates() const { return khz[1] > 0; }
  double most_khz() const;

  static std::span<const OptionSpec> options();
  static const YdlidarModel* find(std::string_view name);  // null: none
  static const YdlidarModel* find(unsigned code);          // that answers with it; null: none
  // What samples of this size are most likely of, where nobody told.
  static const YdlidarModel& usual(std::size_t sample);
  // Of one that named itself: nothing.
  static std::vector<Advice> advise(const Seen&);
};

}  // namespace drivers
