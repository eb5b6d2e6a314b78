// A recorded run replayed: the same messages to the byte, however often.
#include "test/support/message_log.h"
#include "test/support/raw_log.h"
#include "test/support/stack_bench.h"

using namespace std::chrono_literals;
using test::MessageLog;
using test::RawLog;
using test::StackBench;

namespace {

constexpr std::size_t kRoom = std::size_t{48} << 20;

// A fresh station fed from a capture, as `lidarctl replay` does it. Returns the divergences.
std::uint64_t replay(const config::Stack& stack, const RawLog& raw, app::MessageSink& sink) {
  const config::Plan plan = config::plan(stack);
  hal::Log log(-1, hal::Severity::error, hal::Log::Style::plain);
  app::Station station(stack, plan, sink, log);
  RawLog::Source source(raw);
  hal::Replayer replayer(source);
  for (std::size_t i = 0; i < stack.sensors.size(); ++i) {
    const config::Sensor& sensor = stack.sensors[i];
    if (!config::is_device(sensor)) continue;
    const auto id = static_cast<std::uint8_t>(i);
    drivers::DriverSetup setup = app::driver_setup(stack, i, station.pipeline().input());
    setup.ports[0] = replayer.make_port(id, 0, hal::to_string(*sensor.port));
    station.pipeline().add(sensor.driver->make(sensor.options, std::move(setup)));
  }
  replayer.run(station);
  station.finish(replayer.clock().now());
  return replayer.divergences();
}

}  // namespace

TEST_GROUP(StackReplay) {
  MessageLog live{kRoom}, first{kRoom}, second{kRoom};
  RawLog raw{kRoom};

  void check_replay(const config::Stack& stack) {
    CHECK_TRUE(live.messages().size() > 1000);
    CHECK_EQUAL(0, replay(stack, raw, first));
    STRCMP_EQUAL("", live.difference(first).c_str());
    CHECK_EQUAL(0, replay(stack, raw, second));
    STRCMP_EQUAL("", first.difference(second).c_str());
  }
};

TEST(StackReplay, GivesTheSameMessagesToTheByte) {
  StackBench bench(test::demo_stack(), live, &raw);
  bench.run_for(20s);
  bench.finish();
  check_replay(bench.stack);
}

TEST(StackReplay, GivesTheSameMessagesOfARunWithFaults) {
  StackBench bench(test::demo_stack(), live, &raw,
                   {{"unplug@3+2"}, {"garbage@2+4%5", "drop%2"}, {"off@4+1"}, {"reset=0.5@5"}});
  bench.run_for(10s);
  bench.finish();
  check_replay(bench.stack);
}

TEST(StackReplay, GivesTheSameMessagesOfARunWithAWallClockThatIsSlewedAndStepsAndASleep) {
  StackBench bench(test::demo_stack(), live, &raw);
  for (int slews = 0; slews < 5; ++slews) {
    bench.run_for(1s);
    bench.set_offset(bench.offset - 500'000);
  }
  bench.set_offset(bench.offset + 3'600'000'000'000);
  bench.slept = 90s;
  bench.run_for(2s);
  bench.finish();
  check_replay(bench.stack);
}
