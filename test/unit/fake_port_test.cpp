#include "test/support/fake_port.h"

#include "test/support/allocation_counter.h"
#include "test/support/harness.h"
#include "test/support/manual_clock.h"

namespace {

struct Log final : hal::PortListener {
  void on_port_open(hal::Time) override { ++opened; }
  void on_chunk(const hal::Chunk& chunk) override { bytes += chunk.bytes.size(); }
  void on_port_fault(const hal::Error&, hal::Time) override { ++faults; }
  int opened = 0, faults = 0;
  std::size_t bytes = 0;
};

}  // namespace

TEST_GROUP(FakePort) {
  test::ManualClock clock;
  test::FakePort port{clock};
  Log log;
};

TEST(FakePort, TellsItsListenerOfOpeningBytesAndUnplugging) {
  port.open(log);
  port.deliver(std::vector<std::byte>(3));
  port.unplug();
  LONGS_EQUAL(1, log.opened);
  LONGS_EQUAL(3, log.bytes);
  LONGS_EQUAL(1, log.faults);
}

TEST(FakePort, CallsNobodyOnceClosed) {
  port.open(log);
  port.close();
  port.deliver(std::vector<std::byte>(3));
  port.unplug();
  LONGS_EQUAL(0, log.bytes);
  LONGS_EQUAL(0, log.faults);
}

TEST(FakePort, AllocationCounterSeesEveryNew) {
  test::AllocationCounter counter;
  const std::vector<int> one(1);
  LONGS_EQUAL(1, counter.count());
}
