// What may be merged and de-skewed, and what that takes.
#include "collation/gyro_track.h"
#include "config/load.h"
#include "config/plan.h"
#include "test/support/harness.h"

using namespace std::chrono_literals;

namespace {

// Two lidars and an IMU; `more` goes to the lidar a, `top` stands first.
std::string text_of(const std::string& top, const std::string& more = "") {
  return top +
         "sensors:\n"
         "  a: {driver: ldrobot, port: 'udp:1'" +
         more +
         "}\n"
         "  b: {driver: ldrobot, port: 'udp:2'}\n"
         "  body: {driver: microstrain_mip, port: 'serial:/dev/c'}\n";
}

config::Stack stack(const std::string& top, const std::string& more = "") {
  auto loaded = config::load_text(text_of(top, more), "t");
  if (const auto* const faults = std::get_if<std::vector<config::Fault>>(&loaded)) {
    FAIL(config::to_string(faults->front()).c_str());
  }
  return std::get<config::Stack>(std::move(loaded));
}

void check_refused(const char* expected, const std::string& top, const std::string& more = "") {
  const auto loaded = config::load_text(text_of(top, more), "t");
  const auto* const faults = std::get_if<std::vector<config::Fault>>(&loaded);
  CHECK_TRUE_TEXT(faults != nullptr, expected);
  STRCMP_CONTAINS(expected, config::to_string(faults->front()).c_str());
}

}  // namespace

TEST_GROUP(ConfigDerived){};

TEST(ConfigDerived, MergedLidarsAreReadInTheirOrder) {
  const config::Stack c =
      stack("merged: {around: {sensors: [b, a], deskew: body}, other: {sensors: [a]}}\n");
  LONGS_EQUAL(2, c.merged.size());
  STRCMP_EQUAL("around", c.merged[0].name.c_str());
  CHECK_TRUE((c.merged[0].sensors == std::vector<std::string>{"b", "a"}));
  STRCMP_EQUAL("body", c.merged[0].deskew.c_str());
  STRCMP_EQUAL("", c.merged[1].deskew.c_str());
}

TEST(ConfigDerived, DeskewIsOffUnlessItIsAskedFor) {
  STRCMP_EQUAL("", stack("").sensors[0].deskew.c_str());
  STRCMP_EQUAL("body", stack("", ", deskew: body").sensors[0].deskew.c_str());
}

TEST(ConfigDerived, DeskewOfWhatGivesNoPointsIsRefused) {
  check_refused("scans are not de-skewed, and a gives no points", "",
                ", deskew: body, outputs: [scan]");
}

TEST(ConfigDerived, WhatCannotBeMergedIsRefused) {
  check_refused(
      "t:1:28: merged.around.sensors: 'c' is no lidar of this configuration, did you mean",
      "merged: {around: {sensors: [a, c]}}\n");
  check_refused("'body' is no lidar", "merged: {around: {sensors: [a, body]}}\n");
  check_refused("merged.around.sensors: a list is not valid, expected a list of different names",
                "merged: {around: {sensors: [a, a]}}\n");
  check_refused("a list is not valid", "merged: {around: {sensors: []}}\n");
  check_refused("merged.around: no sensors are given, add sensors:", "merged: {around: {}}\n");
  check_refused("merged.around: no value is not valid, expected a map with at least sensors",
                "merged: {around: }\n");
  check_refused("merged.a: a sensor is called so", "merged: {a: {sensors: [a, b]}}\n");
  check_refused("merged.lidard: lidard itself uses this name",
                "merged: {lidard: {sensors: [a, b]}}\n");
  check_refused("merged.A: a merged cloud cannot be called that",
                "merged: {A: {sensors: [a, b]}}\n");
  check_refused("merged.around.sensor: unknown key, did you mean 'sensors'?",
                "merged: {around: {sensors: [a, b], sensor: [a]}}\n");
  check_refused("a is given in its own frame, give it frame: tracking",
                "merged: {around: {sensors: [a, b]}}\n", ", frame: sensor");
  check_refused("a is passthrough: its data are in no order with others, give it the role",
                "merged: {around: {sensors: [a, b]}}\n", ", role: passthrough");
  check_refused("is on another trajectory than",
                "collation: {by_trajectory: true}\nmerged: {around: {sensors: [a, b]}}\n",
                ", trajectory: cart");
}

TEST(ConfigDerived, WhatCannotBeDeskewedIsRefused) {
  check_refused("sensors.a.deskew: 'bodi' is no IMU of this configuration, did you mean 'body'?",
                "", ", deskew: bodi");
  check_refused("'b' is no IMU", "", ", deskew: b");
  check_refused("the gyro turns the tracking frame, and a is given in its own, leave deskew out",
                "", ", deskew: body, frame: sensor");
  check_refused("a is passthrough", "", ", deskew: body, role: passthrough");
  check_refused("body is on the trajectory main, not with a", "collation: {by_trajectory: true}\n",
                ", deskew: body, trajectory: cart");
  check_refused("merged.around.deskew: 'a' is no IMU",
                "merged: {around: {sensors: [a, b], deskew: a}}\n");
}

TEST(ConfigDerived, LidarsOfDifferentRatesKeepCloudsForTheSlowestAtHalfItsRate) {
  const config::Plan plan =
      config::plan(stack("merged: {m: {sensors: [a, b]}}\n", ", emit: {subdivisions: 4}"));
  const config::MergedPlan& m = plan.merged[0];
  LONGS_EQUAL(9, m.lidars[0].clouds);
  LONGS_EQUAL(3, m.lidars[1].clouds);
  LONGS_EQUAL(plan.sensors[0].points, m.lidars[0].points);
  LONGS_EQUAL(4 * plan.sensors[0].points + plan.sensors[1].points, m.points);
}

TEST(ConfigDerived, AMergedCloudWaitsForThePeriodOfItsSlowestLidar) {
  const config::Stack c = stack("merged: {m: {sensors: [a, b]}}\n", ", emit: {subdivisions: 4}");
  const config::Plan plan = config::plan(c);
  const hal::Duration period = hal::from_seconds(1 / plan.sensors[1].rate_hz);
  CHECK_TRUE(plan.merged[0].worst_age == period + plan.sensors[1].worst_age);
  STRCMP_CONTAINS("latency: m ", config::report(c, plan).c_str());
  STRCMP_CONTAINS("memory: m ", config::report(c, plan).c_str());
  STRCMP_CONTAINS(": b, its period", config::report(c, plan).c_str());
}

TEST(ConfigDerived, MergingAndDeskewingAreInTheMemoryBudget) {
  const config::Plan without = config::plan(stack(""));
  const config::Plan plan =
      config::plan(stack("merged: {m: {sensors: [a, b], deskew: body}}\n", ", deskew: body"));
  const std::uint64_t gyro = collation::GyroTrack::memory(plan.sensors[2].gyro_samples);
  CHECK_TRUE(plan.sensors[2].gyro_samples >= 2 * 100);
  CHECK_EQUAL(without.sensors[2].bytes + gyro, plan.sensors[2].bytes);
  CHECK_EQUAL(
      without.sensors[0].bytes + collation::cloud_pool_bytes(1, plan.sensors[0].points, true),
      plan.sensors[0].bytes);
  CHECK_TRUE(plan.bytes >= without.bytes + gyro + plan.merged[0].bytes);
  CHECK_TRUE(plan.max_message >= 24 * plan.merged[0].points);
}
