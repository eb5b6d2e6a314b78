#include "hal/event_loop.h"

#include <boost/asio/post.hpp>

#include <functional>
#include <memory>

#include "test/support/allocation_counter.h"
#include "test/support/harness.h"
#include "test/support/loop.h"

using namespace std::chrono_literals;

namespace {

struct CountingPoll final : hal::Polled {
  void poll() override { ++polls; }
  int polls = 0;
};

struct Waiter final : hal::Rearmed {
  void rearm() override { ++rearmed; }
  int rearmed = 0;
};

}  // namespace

TEST_GROUP(EventLoop) {
  test::RealLoop real;
  hal::EventLoop& loop = real.loop;
};

TEST(EventLoop, BeginsAndEndsEveryPassWithTheSameTime) {
  loop.run_for(real.passes, 5ms);
  CHECK_TRUE(real.passes.begun > 0);
  LONGS_EQUAL(real.passes.begun, real.passes.ended);
  CHECK_TRUE(real.passes.last_begin == real.passes.last_end);
}

TEST(EventLoop, BeginsThePassBeforeTheFirstTick) {
  int ticks = 0, outside = 0;
  hal::Ticker ticker(loop, 1ms, [&](hal::Time now) {
    ++ticks;
    if (!real.passes.inside || now < real.passes.last_begin) ++outside;
  });
  CHECK_TRUE(real.run_until([&] { return ticks >= 3; }));
  LONGS_EQUAL(0, outside);
}

TEST(EventLoop, BeginsOnePassForAllThatIsReady) {
  loop.run_for(real.passes, 1ms);
  const int before = real.passes.begun;
  int handled = 0;
  for (int i = 0; i < 10; ++i) {
    boost::asio::post(loop.io(), [&] {
      loop.enter_pass();
      if (++handled == 10) loop.stop();
    });
  }
  loop.run(real.passes);
  LONGS_EQUAL(10, handled);
  LONGS_EQUAL(before + 1, real.passes.begun);
}

TEST(EventLoop, EndsThePassWhileAHandlerKeepsPostingItself) {
  int handled = 0;
  std::function<void()> again = [&] {
    ++handled;
    boost::asio::post(loop.io(), again);
  };
  again();
  loop.run_for(real.passes, 5ms);
  CHECK_TRUE(real.passes.ended > 0);
  CHECK_TRUE(handled <= 260 * real.passes.ended);
}

TEST(EventLoop, ReturnsAtOnceWhenStoppedBeforeItRuns) {
  loop.stop();
  loop.run(real.passes);
  LONGS_EQUAL(0, real.passes.begun);
}

TEST(EventLoop, TicksNotMoreOftenThanAskedAfterAStall) {
  int ticks = 0;
  hal::Ticker ticker(loop, 20ms, [&](hal::Time) { ++ticks; });
  const hal::Time stalled_until = real.clock.now() + 100ms;
  while (real.clock.now() < stalled_until) {
  }
  const hal::Time ran = real.clock.now();
  loop.run_for(real.passes, 10ms);
  const auto due = 1 + (real.clock.now() - ran) / 20ms;
  CHECK_TRUE(ticks >= 1 && ticks <= due);  // six were missed
}

TEST(EventLoop, LetsATickerDieInsideItsOwnTick) {
  struct Owner {
    std::shared_ptr<void> ticker;
    int ticks = 0;
  } owner;
  const auto tick = [&owner](hal::Time) { ++owner.ticks; };
  owner.ticker = std::make_shared<hal::Ticker<decltype(tick)>>(loop, 1ms, tick);
  CHECK_TRUE(real.run_until([&] { return owner.ticks > 0; }));
  owner.ticker.reset();
  const int before = owner.ticks;
  loop.run_for(real.passes, 5ms);
  LONGS_EQUAL(before, owner.ticks);
}

TEST(EventLoop, PollsWhatIsBatchedTogetherAndOnce) {
  CountingPoll first, second;
  CHECK_TRUE(loop.add_polled(first));
  CHECK_TRUE(loop.add_polled(first));
  CHECK_TRUE(loop.add_polled(second));
  CHECK_TRUE(real.run_until([&] { return first.polls >= 3; }));
  LONGS_EQUAL(first.polls, second.polls);
  loop.remove_polled(first);
  const int before = first.polls;
  const int second_before = second.polls;
  CHECK_TRUE(real.run_until([&] { return second.polls > second_before; }));
  LONGS_EQUAL(before, first.polls);
}

TEST(EventLoop, StartsBatchesAgainAfterAllWereRemoved) {
  CountingPoll polled;
  CHECK_TRUE(loop.add_polled(polled));
  loop.remove_polled(polled);
  loop.run_for(real.passes, 12ms);
  CHECK_TRUE(loop.add_polled(polled));
  CHECK_TRUE(real.run_until([&] { return polled.polls > 0; }));
}

TEST(EventLoop, SaysWhenNoMoreCanBeBatched) {
  std::array<CountingPoll, hal::EventLoop::kMaxPolled + 1> many;
  for (std::size_t i = 0; i < hal::EventLoop::kMaxPolled; ++i) CHECK_TRUE(loop.add_polled(many[i]));
  CHECK_FALSE(loop.add_polled(many.back()));
}

TEST(EventLoop, RearmsAtOnceOutsideAPassAndAfterItInside) {
  Waiter waiter;
  loop.rearm_after_pass(waiter);
  LONGS_EQUAL(1, waiter.rearmed);
  int seen_inside = -1;
  boost::asio::post(loop.io(), [&] {
    loop.rearm_after_pass(waiter);
    loop.rearm_after_pass(waiter);
    seen_inside = waiter.rearmed;
    loop.stop();
  });
  loop.run(real.passes);
  LONGS_EQUAL(1, seen_inside);
  LONGS_EQUAL(2, waiter.rearmed);
}

TEST(EventLoop, ForgetsAWaiterThatDied) {
  auto waiter = std::make_unique<Waiter>();
  boost::asio::post(loop.io(), [&] {
    loop.rearm_after_pass(*waiter);
    waiter.reset();
    loop.stop();
  });
  loop.run(real.passes);
  LONGS_EQUAL(1, real.passes.ended);
}

TEST(EventLoop, AllocatesNothingForTicksAndBatches) {
  CountingPoll polled;
  int fast = 0, slow = 0;
  hal::Ticker first(loop, 1ms, [&](hal::Time) { ++fast; });
  hal::Ticker second(loop, 2ms, [&](hal::Time) { ++slow; });
  CHECK_TRUE(loop.add_polled(polled));
  CHECK_TRUE(real.run_until([&] { return slow > 2 && polled.polls > 0; }));
  const int before = slow;
  test::AllocationCounter counter;
  CHECK_TRUE(real.run_until([&] { return slow > before + 20; }));
  LONGS_EQUAL(0, counter.count());
}
