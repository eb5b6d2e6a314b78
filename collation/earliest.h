// Finds the smallest of many time stamps that change one by one.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hal/time.h"

namespace collation {

// One stamp per slot, at the leaves of a winner tree: every node knows the earliest below it, so
// that a change costs a comparison per level. On ties the lowest slot wins.
class Earliest {
 public:
  // Allocates. All stamps are Time::max() until set().
  void resize(std::size_t slots) {
    leaves_ = std::bit_ceil(slots > 0 ? slots : 1);
    nodes_.resize(2 * leaves_);
    for (std::size_t slot = 0; slot < leaves_; ++slot) set(slot, hal::Time::max());
  }

  void set(std::size_t slot, hal::Time time) {
    std::size_t node = leaves_ + slot;
    std::int64_t least = hal::to_ns(time);
    std::size_t winner = slot;
    nodes_[node] = {least, winner};
    for (; node > 1; node /= 2) {
      const Node rival = nodes_[node ^ 1];
      const bool is_on_the_left = node & 1;
      const bool wins = (rival.time < least) | ((rival.time == least) & is_on_the_left);
      least = wins ? rival.time : least;
      winner = wins ? rival.slot : winner;
      nodes_[node / 2] = {least, winner};
    }
  }

  hal::Time operator[](std::size_t slot) const { return hal::from_ns(nodes_[leaves_ + slot].time); }

  std::size_t earliest() const { return nodes_[1].slot; }

 private:
  struct Node {
    std::int64_t time = 0;  // ns
    std::size_t slot = 0;
  };

  // Node 1 is the root, the children of i are 2 i and 2 i + 1, the leaves come last.
  std::vector<Node> nodes_;
  std::size_t leaves_ = 0;
};

}  // namespace collation
