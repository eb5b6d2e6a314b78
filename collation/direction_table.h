// Cosine and sine of beam angles, remembered by the beam's place in its turn.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace collation {

// Devices whose angles are a grid measure the same angle at the same place of every turn: a look-up
// instead of a computation, with the same result. For others it costs one comparison.
class DirectionTable {
 public:
  struct Direction {
    float angle = 0;  // rad
    float cos = 1, sin = 0;
  };

  // Allocates `places` >= 1 directions; all places beyond share the last one.
  explicit DirectionTable(std::size_t places) : directions_(places) {}

  const Direction& at(std::size_t place, float angle) {
    Direction& direction = directions_[std::min(place, directions_.size() - 1)];
    if (direction.angle != angle) direction = {angle, std::cos(angle), std::sin(angle)};
    return direction;
  }

 private:
  std::vector<Direction> directions_;
};

}  // namespace collation
