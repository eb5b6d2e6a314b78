#include "drivers/lifecycle.h"

#include <array>

#include "test/support/harness.h"

using namespace drivers;

TEST_GROUP(Lifecycle){};

TEST(Lifecycle, IsTheTable) {
  using enum State;
  constexpr std::array kStates{idle, starting, streaming, silent, backoff, stopping};
  constexpr std::array kEvents{Event::go,    Event::data, Event::silence,
                               Event::fault, Event::stop, Event::done};
  constexpr State kNext[6][6] = {
      //  go       data       silence   fault    stop      done
      {starting, idle, idle, idle, idle, idle},
      {starting, streaming, backoff, backoff, stopping, starting},
      {streaming, streaming, silent, backoff, stopping, streaming},
      {silent, streaming, backoff, backoff, stopping, silent},
      {starting, backoff, backoff, backoff, stopping, backoff},
      {stopping, stopping, idle, idle, stopping, idle},
  };
  for (std::size_t s = 0; s < kStates.size(); ++s) {
    for (std::size_t e = 0; e < kEvents.size(); ++e) {
      STRCMP_EQUAL(name(kNext[s][e]), name(next(kStates[s], kEvents[e])));
    }
  }
}

TEST(Lifecycle, EveryStateHasItsOwnName) {
  STRCMP_EQUAL("idle", name(State::idle));
  STRCMP_EQUAL("starting", name(State::starting));
  STRCMP_EQUAL("streaming", name(State::streaming));
  STRCMP_EQUAL("silent", name(State::silent));
  STRCMP_EQUAL("backoff", name(State::backoff));
  STRCMP_EQUAL("stopping", name(State::stopping));
}
