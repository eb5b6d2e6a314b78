// Lidars that measure motion, too: one device, two sensors, from the configuration to the stream.
#include "app/lidarctl/books.h"
#include "app/lidarctl/diagnosis.h"
#include "app/station.h"
#include "config/rules.h"
#include "test/support/fake_driver.h"
#include "test/support/harness.h"
#include "test/support/manual_clock.h"
#include "test/support/message_log.h"

using namespace std::chrono_literals;

namespace {

constexpr drivers::OptionSpec kOptions[] = {{.key = "imu_hz",
                                             .type = drivers::OptionType::number,
                                             .unit = "Hz",
                                             .fallback = "200",
                                             .min = 0,
                                             .max = 1000,
                                             .choices = "",
                                             .help = ""}};

drivers::Figures figures(const drivers::Options& options, int) {
  drivers::Figures f;
  f.packets_hz = 100;
  f.turns_hz = 10;
  f.beams_per_turn = 300;
  f.bytes_per_s = 1e4;
  f.delivery = 1ms;
  f.imu_hz = options.number("imu_hz");
  return f;
}

const drivers::Row kRow{.name = "both",
                        .kind = drivers::Kind::lidar,
                        .models = "",
                        .default_baud = 0,
                        .stamp_of = drivers::StampOf::first_beam,
                        .speaks = false,
                        .options = kOptions,
                        .figures = figures,
                        .make = nullptr,
                        .make_decoder = nullptr,
                        .likeness = nullptr,
                        .has_control = true,
                        .has_imu = true};

config::Sensor both(const std::string& name, const char* port) {
  config::Sensor s;
  s.name = name;
  s.driver = &kRow;
  s.port = *hal::parse_port_spec(port);
  s.options = drivers::Options(kOptions);
  s.pose.xyz = {0.2, 0, 0.1};
  return s;
}

}  // namespace

TEST_GROUP(SecondOutput) {
  test::ManualClock clock;
  config::Draft draft{"test"};
  test::MessageLog messages;
  hal::Log text{-1, hal::Severity::error, hal::Log::Style::plain};
  std::unique_ptr<app::Station> station;
  config::Plan plan;
  test::FakeDriver* device = nullptr;

  config::Sensor& add(const std::string& name, const char* port) {
    draft.stack.sensors.push_back(both(name, port));
    return draft.stack.sensors.back();
  }
  void check() {
    config::check(draft);
    for (const config::Fault& fault : draft.faults) UT_PRINT(config::to_string(fault).c_str());
    LONGS_EQUAL(0, draft.faults.size());
  }
  void check_is_blamed(const std::string& expected) {
    config::check(draft);
    LONGS_EQUAL(1, draft.faults.size());
    STRCMP_EQUAL(expected.c_str(), config::to_string(draft.faults[0]).c_str());
  }
  void begin() {
    check();
    plan = config::plan(draft.stack);
    station = std::make_unique<app::Station>(draft.stack, plan, messages, text);
    CHECK_TRUE(station->status());
    auto driver = std::make_unique<test::FakeDriver>(0, station->pipeline().input(), 2);
    device = driver.get();
    station->pipeline().add(std::move(driver));
    station->on_offset(0);
    pass([] {});
    device->become(drivers::State::streaming, clock.now());
  }
  template <class Events>
  void pass(Events && events) {
    clock.advance(app::Station::kTick);
    station->on_pass_begin(clock.now());
    events();
    station->on_tick(clock.now());
    station->on_pass_end(clock.now());
  }
  std::map<std::string, lidarctl::Diagnosis> state() {
    return lidarctl::diagnoses(messages.bytes_of(messages.on("/diagnostics").back()));
  }
};

TEST(SecondOutput, IsASensorOfItsOwnBehindItsDevice) {
  add("front", "udp:2115");
  add("rear", "udp:2116").capacity = 70;
  check();
  const auto& sensors = draft.stack.sensors;
  LONGS_EQUAL(4, sensors.size());
  STRCMP_EQUAL("front/imu", sensors[1].name.c_str());
  STRCMP_EQUAL("rear", sensors[2].name.c_str());
  CHECK_TRUE(config::kind_of(sensors[1]) == drivers::Kind::imu);
  CHECK_TRUE(config::kind_of(sensors[2]) == drivers::Kind::lidar);
  CHECK_TRUE(config::is_device(sensors[2]) && !config::is_device(sensors[3]));
  CHECK_TRUE(sensors[1].pose.xyz == sensors[0].pose.xyz);
  CHECK_FALSE(sensors[3].capacity.has_value());
  LONGS_EQUAL(2, config::outputs_of(draft.stack, 0));
  LONGS_EQUAL(2, config::outputs_of(draft.stack, 2));
}

TEST(SecondOutput, IsNotThereWhenTheOptionsLeaveItOut) {
  CHECK_TRUE(add("front", "udp:2115").options.set("imu_hz", "0"));
  check();
  LONGS_EQUAL(1, draft.stack.sensors.size());
  LONGS_EQUAL(1, config::outputs_of(draft.stack, 0));
}

TEST(SecondOutput, APortForWhatIsNotSentIsRefused) {
  config::Sensor& s = add("front", "udp:2115");
  CHECK_TRUE(s.options.set("imu_hz", "0"));
  s.imu = *hal::parse_port_spec("udp:7503");
  check_is_blamed(
      "test:1:1: sensors.front.imu: with these options it sends no inertial data, leave it out, or "
      "see the driver's options");
}

TEST(SecondOutput, HasBudgetsOfItsOwn) {
  add("front", "udp:2115");
  check();
  plan = config::plan(draft.stack);
  const config::SensorPlan &scan = plan.sensors[0], &imu = plan.sensors[1];
  DOUBLES_EQUAL(10, scan.rate_hz, 0);
  DOUBLES_EQUAL(200, imu.rate_hz, 0);
  LONGS_EQUAL(0, imu.clouds);
  CHECK_TRUE(imu.max_wait == 10ms);  // the margin alone
  CHECK_TRUE(imu.capacity >= imu.needed);
  CHECK_TRUE(config::report(draft.stack, plan).find("memory: front/imu ") != std::string::npos);
}

TEST(SecondOutput, TurnsThePointsOfItsOwnLidar) {
  add("front", "udp:2115").deskew = "front/imu";
  check();
  plan = config::plan(draft.stack);
  LONGS_EQUAL(400, plan.sensors[1].gyro_samples);
  LONGS_EQUAL(0, plan.sensors[0].gyro_samples);
}

TEST(SecondOutput, ScansAndSamplesLeaveInOneOrder) {
  add("front", "udp:2115");
  begin();
  for (int i = 0; i < 100; ++i) {
    pass([&] {
      device->slice(clock.now() - 1ms, clock.now(), i % 5 == 0);
      device->sample(clock.now() - 2ms, clock.now());
      device->sample(clock.now(), clock.now());
    });
  }
  station->finish(clock.now());
  LONGS_EQUAL(200, messages.on("/front/imu").size());
  CHECK_TRUE(messages.on("/front/points").size() >= 19);
  LONGS_EQUAL(0, messages.on("/front/imu/imu").size());
  std::int64_t newest = 0;
  for (const auto& m : messages.messages()) {
    if (!messages.topic_of(m).starts_with("/front/")) continue;
    CHECK_TRUE(m.log_time >= newest);
    newest = m.log_time;
  }
}

TEST(SecondOutput, TheBooksOfBothBalance) {
  add("front", "udp:2115");
  begin();
  for (int i = 0; i < 60; ++i) {
    pass([&] {
      device->slice(clock.now() - 1ms, clock.now(), i % 5 == 0);
      device->sample(clock.now(), clock.now());
      device->sample(clock.now(), clock.now());  // not later: the order drops it
    });
  }
  station->finish(clock.now());
  auto now = state();
  for (const char* const name : {"front", "front/imu"}) {
    for (const std::string& equation : lidarctl::imbalances(now[name])) FAIL(equation.c_str());
  }
  LONGS_EQUAL(60, now["front"].count("driver.packets"));
  LONGS_EQUAL(120, now["front"].count("driver.imu_packets"));
  LONGS_EQUAL(120, now["front/imu"].count("driver.packets"));
  LONGS_EQUAL(60, now["front/imu"].count("queue.duplicate"));
  STRCMP_EQUAL("both", now["front/imu"].hardware_id.c_str());
}

TEST(SecondOutput, IsMissedWhenTheLidarStreamsWithoutIt) {
  add("front", "udp:2115");
  begin();
  for (int i = 0; i < 110; ++i) pass([&] { device->slice(clock.now(), clock.now(), i % 5 == 0); });
  auto now = state();
  STRCMP_EQUAL("streaming", now["front"].values["state"].c_str());
  STRCMP_EQUAL("none", now["front"].values["cause"].c_str());
  STRCMP_EQUAL("no_packets", now["front/imu"].values["cause"].c_str());
  CHECK_TRUE(now["front/imu"].level == app::Level::warn);
  CHECK_TRUE(now["front"].level == app::Level::ok);
  const auto events = messages.on("/lidard/events");
  LONGS_EQUAL(2, events.size());  // front recover, front/imu warning
  STRCMP_EQUAL("the lidar streams but sends no inertial data: a model without, or another port?",
               lidarctl::diagnoses(messages.bytes_of(events[1]))["front/imu"].message.c_str());
}

TEST(SecondOutput, ItsTopicIsToldFromThatOfAnImu) {
  const std::map<std::string, int> sensors{{"front", 1}, {"front/imu", 1}, {"body", 1}};
  STRCMP_EQUAL("front", lidarctl::sensor_of("/front/points", sensors).c_str());
  STRCMP_EQUAL("front/imu", lidarctl::sensor_of("/front/imu", sensors).c_str());
  STRCMP_EQUAL("body", lidarctl::sensor_of("/body/imu", sensors).c_str());
}
