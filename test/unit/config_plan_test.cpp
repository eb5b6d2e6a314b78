#include "config/plan.h"

#include "app/mcap_stream.h"
#include "collation/datum.h"
#include "config/load.h"
#include "test/support/harness.h"

using namespace std::chrono_literals;

namespace {

config::Stack stack(const std::string& text) {
  auto loaded = config::load_text(text, "t");
  CHECK(std::holds_alternative<config::Stack>(loaded));
  return std::get<config::Stack>(std::move(loaded));
}

// An LD19: 4500 beams/s in packets of 12 and 47 bytes, 10 turns/s.
config::Stack ld19(const std::string& more) {
  return stack("sensors: {a: {driver: ldrobot, port: 'serial:/dev/a'" + more + "}}");
}

config::SensorPlan plan_of(const std::string& more) { return config::plan(ld19(more)).sensors[0]; }

}  // namespace

TEST_GROUP(ConfigPlan){};

TEST(ConfigPlan, TheDelayOfATurnIsAPacketItsLineTimeTheAdapterAndTheMargin) {
  const config::SensorPlan p = plan_of("");
  LONGS_EQUAL(2'666'666, p.delays.delivery.count());
  LONGS_EQUAL(2'039'930, p.delays.wire.count());
  CHECK(p.delays.adapter == 1ms);
  CHECK(p.delays.batch == 0ms);
  CHECK(p.max_wait == p.delays.delivery + p.delays.wire + 11ms);
}

TEST(ConfigPlan, AnAdapterWhoseTimerIsNotLoweredCostsItsDefault) {
  const config::SensorPlan p = plan_of(", latency: batched");
  CHECK(p.delays.adapter == 16ms);
  CHECK(p.delays.batch == 5ms);
}

TEST(ConfigPlan, ATrueUartHasNoAdapterTimer) {
  CHECK(plan_of(", line: uart").delays.adapter == 0ms);
}

TEST(ConfigPlan, AChunkIsStampedAtTheEndOfItsPacket) {
  CHECK(plan_of(", emit: chunk").delays.delivery == 0ms);
}

TEST(ConfigPlan, ANetworkPortHasNeitherLineTimeNorAdapter) {
  const config::Stack c = stack("sensors: {a: {driver: ldrobot, port: 'udp:1', emit: chunk}}");
  CHECK(config::plan(c).sensors[0].max_wait == 10ms);
  DOUBLES_EQUAL(0, config::plan(c).sensors[0].line_load, 0);
}

TEST(ConfigPlan, AConfiguredMaxWaitHolds) { CHECK(plan_of(", max_wait_ms: 42").max_wait == 42ms); }

TEST(ConfigPlan, TheLineLoadIsPartOfATenthOfTheBaudRate) {
  DOUBLES_EQUAL(17625 / 23040.0, plan_of("").line_load, 1e-9);
}

TEST(ConfigPlan, TheQueueHoldsWhatArrivesInTheLargestMaxWaitAndInASecondOfStall) {
  const config::Stack c = stack(
      "sensors: {a: {driver: ldrobot, port: 'udp:1', emit: chunk},"
      " b: {driver: ldrobot, port: 'udp:2', max_wait_ms: 100}}");
  LONGS_EQUAL(240, config::plan(c).sensors[0].capacity);  // as many as 256 KiB hold
  LONGS_EQUAL(9, config::plan(c).sensors[1].capacity);
}

TEST(ConfigPlan, LargeMessagesOfInputsHaveNoRoomForAHoldUp) {
  const config::Stack c = stack(
      "input: {unix: /tmp/i.sock}\n"
      "inputs:\n"
      "  small: {schema: a/msg/B, max_bytes: 64, rate_hz: 100, max_wait_ms: 20}\n"
      "  large: {schema: a/msg/B, max_bytes: 131072, rate_hz: 100, max_wait_ms: 20}\n"
      "sensors: {a: {driver: ldrobot, port: 'udp:1', emit: chunk}}");
  const config::Plan plan = config::plan(c);
  LONGS_EQUAL(102, plan.inputs[0].capacity);
  LONGS_EQUAL(8, plan.inputs[1].capacity);
}

TEST(ConfigPlan, ByTrajectoryOnlySensorsOfTheSameOneAreWaitedFor) {
  const config::Stack c = stack(
      "collation: {by_trajectory: true}\n"
      "sensors: {a: {driver: ldrobot, port: 'udp:1', emit: chunk},"
      " b: {driver: ldrobot, port: 'udp:2', max_wait_ms: 100, trajectory: other}}");
  CHECK(config::plan(c).sensors[0].worst_age == 10ms);
}

TEST(ConfigPlan, PartsOfATurnAreSmallerAndMore) {
  const config::SensorPlan turn = plan_of(""), parts = plan_of(", emit: {subdivisions: 10}");
  LONGS_EQUAL(turn.points / 10, parts.points);
  DOUBLES_EQUAL(turn.rate_hz * 10, parts.rate_hz, 1e-9);
}

TEST(ConfigPlan, MemoryIsQueueCloudsAndClients) {
  const config::Stack c = stack(
      "stream: {clients: 8, client_buffer_kib: 1024}\n"
      "sensors: {a: {driver: ldrobot, port: 'serial:/dev/a', capacity: 20, outputs: [points]}}");
  const config::Plan plan = config::plan(c);
  LONGS_EQUAL(20, plan.sensors[0].capacity);
  LONGS_EQUAL(23, plan.sensors[0].clouds);
  CHECK(plan.sensors[0].bytes ==
        20 * sizeof(collation::Datum) + collation::cloud_pool_bytes(23, 900, false) +
            collation::cloud_builder_bytes(config::cloud_options(c.sensors[0], plan.sensors[0]),
                                           900));
  CHECK(plan.client_bytes > 8U << 20);
  CHECK(plan.bytes == plan.sensors[0].bytes + plan.client_bytes + plan.other_bytes);
}

TEST(ConfigPlan, TheStreamTakesWhatIsPlanned) {
  const config::Plan plan = config::plan(ld19(""));
  const std::size_t taken = app::McapStream::memory({.profile = "",
                                                     .library = "",
                                                     .max_clients = 4,
                                                     .ring_bytes = std::size_t{512} << 10,
                                                     .max_message = plan.max_message});
  const double planned = static_cast<double>(plan.client_bytes + plan.max_message);
  DOUBLES_EQUAL(static_cast<double>(taken), planned, 0.02 * planned);
}

TEST(ConfigPlan, ARawCaptureTakesItsBuffer) {
  const std::string sensors = "sensors: {a: {driver: ldrobot, port: 'serial:/dev/a'}}";
  const config::Plan without = config::plan(stack(sensors));
  const config::Plan with = config::plan(stack("capture: /tmp/a\n" + sensors));
  const std::uint64_t more = with.bytes - without.bytes;
  CHECK(more >= config::kCaptureBuffer);
  CHECK(more < config::kCaptureBuffer + (256U << 10));
}

TEST(ConfigPlan, TheReportNamesEachBudget) {
  const config::Stack c = ld19("");
  const std::string report = config::report(c, config::plan(c));
  STRCMP_CONTAINS("line: a 76 % of 230400 baud", report.c_str());
  STRCMP_CONTAINS("KiB in all", report.c_str());
  STRCMP_CONTAINS("latency: a ", report.c_str());
}
