#include "collation/queue_options.h"

namespace collation {

bool is_waited_for(Role role, drivers::State state) {
  switch (state) {
    case drivers::State::idle:
    case drivers::State::backoff:
    case drivers::State::stopping:
      return false;
    case drivers::State::starting:
    case drivers::State::silent:
      return role == Role::required;
    case drivers::State::streaming:
      return role != Role::passthrough;
  }
  return false;
}

}  // namespace collation
