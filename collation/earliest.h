// Finds the smallest of many time stamps that change one by one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "hal/time.h"

namespace collation {

// One stamp per slot, in blocks whose winner is remembered: a winner tree of two levels, as wide
// as a flat scan is cheap. A change costs a comparison, unless the winner of a block grew: then the
// next earliest() looks at that block again. On ties the lowest slot wins.
class Earliest {
 public:
  static constexpr std::size_t kBlock = 16;

  // Allocates. All slots are set() before earliest() is asked.
  void resize(std::size_t slots) {
    times_.assign(slots, hal::Time::max());
    blocks_.assign((slots + kBlock - 1) / kBlock, {hal::Time::max(), 0, true});
  }

  void set(std::size_t slot, hal::Time time) {
    times_[slot] = time;
    Block& block = blocks_[slot / kBlock];
    if (block.stale) return;
    if (slot == block.slot) {
      block.stale = time > block.time;
      block.time = time;
    } else if (time < block.time || (time == block.time && slot < block.slot)) {
      block.slot = slot;
      block.time = time;
    }
  }

  hal::Time operator[](std::size_t slot) const { return times_[slot]; }

  // At least one slot.
  std::size_t earliest() {
    std::size_t best = 0;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (blocks_[i].stale) look_again(i);
      if (blocks_[i].time < blocks_[best].time) best = i;
    }
    return blocks_[best].slot;
  }

 private:
  struct Block {
    hal::Time time;
    std::size_t slot;
    bool stale;
  };

  void look_again(std::size_t i) {
    const std::size_t end = std::min(times_.size(), (i + 1) * kBlock);
    std::size_t best = i * kBlock;
    hal::Time time = times_[best];
    for (std::size_t slot = best + 1; slot < end; ++slot) {
      const bool earlier = times_[slot] < time;
      best = earlier ? slot : best;
      time = earlier ? times_[slot] : time;
    }
    blocks_[i] = {time, best, false};
  }

  std::vector<hal::Time> times_;
  std::vector<Block> blocks_;
};

}  // namespace collation
