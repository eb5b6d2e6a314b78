// Once it runs, the whole stack never allocates, whatever its devices and clients do.
#include <sys/socket.h>

#include <array>

#include "app/drop_notice.h"
#include "app/mcap_stream.h"
#include "test/support/allocation_counter.h"
#include "test/support/stack_bench.h"

using namespace std::chrono_literals;
using test::StackBench;

namespace {

// The stream with one client that never reads, behind a socket that holds next to nothing.
class StalledStream final : public app::MessageSink {
 public:
  explicit StalledStream(const hal::Clock& clock) : loop_(clock) {
    std::array<int, 2> ends{};
    ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data());
    const int size = 1;
    ::setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    client_.reset(ends[1]);
    hal::UniqueFd ours(ends[0]);
    added_ = static_cast<bool>(stream.add_client(std::move(ours)));
  }
  hal::Result<app::ChannelId> add_channel(std::string_view topic, const app::MessageType& type,
                                          std::size_t latched_bytes) override {
    const auto schema = stream.add_schema(type.name, app::kSchemaEncoding, type.definition);
    if (!schema) return schema.error();
    return stream.add_channel({topic, app::kMessageEncoding, *schema, {}, latched_bytes});
  }
  std::span<std::byte> scratch() override { return stream.scratch(); }
  void publish(app::ChannelId channel, std::int64_t log_time, std::int64_t publish_time,
               hal::Bytes bytes) override {
    ++messages;
    stream.publish(channel, log_time, publish_time, bytes);
  }
  void end_pass() {
    loop_.io().restart();
    loop_.io().poll();
    stream.flush();
  }
  bool has_client() const { return added_; }

 private:
  hal::EventLoop loop_;
  hal::UniqueFd client_;
  bool added_ = false;

 public:
  app::McapStream stream{loop_,
                         {.profile = app::kProfile,
                          .library = "test",
                          .max_clients = 2,
                          .ring_bytes = std::size_t{256} << 10,
                          .max_message = std::size_t{64} << 10}};
  std::size_t messages = 0;
};

}  // namespace

TEST_GROUP(StackMemory) {
  test::AllocationCounter counter;  // outlives all that is taken
  test::ManualClock clock;
  StalledStream stream{clock};

  // Allocations in the passes after the first 3 of 20 s.
  unsigned long allocations(const StackBench::Faults& faults) {
    StackBench bench(test::demo_stack(), stream, nullptr, faults);
    stream.stream.tell_drops_on(bench.station.diagnostics().events_channel(),
                                app::encode_drop_notice);
    bench.at_pass_end = [this] { stream.end_pass(); };
    bench.counter = &counter;
    bench.run_for(3s);
    bench.allocations = 0;
    bench.run_for(17s);
    CHECK_TRUE(stream.messages > 1500);
    CHECK_TRUE(stream.has_client());
    CHECK_TRUE(stream.stream.client_stats(0)->dropped > 100);
    return bench.allocations;
  }
};

TEST(StackMemory, IsNotTakenWhenAllIsWell) { CHECK_EQUAL(0, allocations({})); }

TEST(StackMemory, IsNotTakenWithGarbageAndDrops) {
  CHECK_EQUAL(0, allocations({{"garbage@4%10", "drop%5"},
                              {"bitflip%5", "garbage@4%5"},
                              {"drop%10", "duplicate%5", "reorder%5"},
                              {"truncate%5", "wrong%5"}}));
}

TEST(StackMemory, IsNotTakenWhenDevicesComeAndGo) {
  CHECK_EQUAL(0, allocations({{"unplug@4+2", "off@10+2"},
                              {"off@5+2", "jump=5@12"},
                              {"stall@6+3", "reset=0.5@14"},
                              {"unplug@7+2", "reset=0.5@13"}}));
}

TEST(StackMemory, IsWatched) {
  StackBench bench(test::demo_stack(), stream);
  bench.counter = &counter;
  bench.at_pass_end = [] { (void)std::make_unique<int>(); };
  bench.run_for(100ms);
  CHECK_TRUE(bench.allocations >= bench.passes.size());
}
