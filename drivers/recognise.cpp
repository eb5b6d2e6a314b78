#include "drivers/recognise.h"

#include "drivers/registry.h"

namespace drivers {

Match recognise(Bytes b) {
  Match best;
  for (const Row& row : all()) {
    const double likeness = row.likeness(b);
    if (likeness >= kAlike && likeness > best.likeness) best = {row.name, likeness};
  }
  return best;
}

}  // namespace drivers
