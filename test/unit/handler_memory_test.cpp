#include "hal/handler_memory.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <optional>

#include "test/support/allocation_counter.h"
#include "test/support/harness.h"

TEST_GROUP(HandlerMemory) { boost::asio::io_context io{1}; };

TEST(HandlerMemory, HoldsOneOperationWithoutTheHeap) {
  const hal::HandlerMemory memory;
  int calls = 0;
  test::AllocationCounter counter;
  for (int i = 0; i < 10; ++i) {
    boost::asio::post(io, memory.bind([&] { ++calls; }));
    io.poll();
    io.restart();
  }
  LONGS_EQUAL(0, counter.count());
  LONGS_EQUAL(10, calls);
}

TEST(HandlerMemory, TakesASecondOperationFromTheHeap) {
  const hal::HandlerMemory memory;
  int calls = 0;
  for (int i = 0; i < 2; ++i) boost::asio::post(io, memory.bind([&] { ++calls; }));
  io.poll();
  LONGS_EQUAL(2, calls);
}

TEST(HandlerMemory, OutlivesItsOwnerWhileAnOperationIsPending) {
  std::optional<hal::HandlerMemory> memory(std::in_place);
  int calls = 0;
  boost::asio::post(io, memory->bind([&] { ++calls; }));
  memory.reset();
  io.poll();
  LONGS_EQUAL(1, calls);
}
