// What must hold for every serial lidar that has no row of its own for it: stamps on lines as they
// are.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "test/sim/room.h"
#include "test/support/harness.h"
#include "test/support/sim_line.h"
#include "test/unit/serial_lidars.h"

using namespace std::chrono_literals;
using test::SerialLidar;
using test::SimLine;

namespace {

constexpr auto kUart = sim::Arrival::uart, kAdapter = sim::Arrival::ftdi16;

struct Errors {
  hal::Duration median{}, p99{}, worst{}, worst_ever{};
  std::size_t overlaps = 0, beams = 0;
};

// Each beam against the true one of its direction that is nearest in time. The first four seconds,
// in which a clock is learnt, count for `worst_ever` only.
Errors errors_of(const SimLine& line) {
  const std::vector<sim::TrueBeam>& truth = line.truth.beams;
  std::vector<hal::Duration> off;
  Errors errors;
  std::size_t at = 0;
  hal::Time ended = hal::Time::min();
  for (const drivers::ScanSlice& slice : line.log.slices) {
    const auto n = static_cast<std::int64_t>(slice.beams.size());
    const bool settled = slice.first > line.log.slices[0].first + 4s;
    errors.overlaps += settled && slice.first <= ended ? slice.beams.size() : 0;
    ended = slice.last();
    for (std::int64_t i = 0; i < n; ++i) {
      const hal::Time stamp = slice.first + slice.step * i;
      const double angle = slice.beams[static_cast<std::size_t>(i)].angle;
      while (at + 1 < truth.size() && truth[at + 1].at <= stamp) ++at;
      hal::Duration nearest = 1s;
      for (std::size_t k = 0; k < 4000; ++k) {  // from the nearest in time on, to both sides
        const auto look = [&](std::size_t j) {
          const hal::Duration apart = std::chrono::abs(truth[j].at - stamp);
          const double turned = std::remainder(truth[j].angle - angle, sim::kTurn);
          if (apart < nearest && std::abs(turned) < 0.005) nearest = apart;
        };
        if (at >= k) look(at - k);
        if (at + k < truth.size()) look(at + k);
        if (nearest < 1s) break;
      }
      errors.worst_ever = std::max(errors.worst_ever, nearest);
      if (settled) off.push_back(nearest);
    }
  }
  errors.beams = off.size();
  if (off.empty()) return errors;
  std::ranges::sort(off);
  errors.median = off[off.size() / 2];
  errors.p99 = off[(off.size() - 1) * 99 / 100];
  errors.worst = off.back();
  return errors;
}

double ms(hal::Duration d) { return hal::to_seconds(d) * 1e3; }

// What is left of an adapter's 16 ms: of few frames per second the least delayed are late, too.
hal::Duration limit_of(const SerialLidar& lidar, sim::Arrival arrival) {
  // It sends 4.2 ms after its last beam, and its line is too slow for the exchange to show it.
  if (lidar.driver == std::string_view("hokuyo_scip")) return arrival == kUart ? 6ms : 16ms;
  const bool turns = lidar.name() == "xv11 2.1";
  return arrival == kUart ? 100us : turns ? 6ms : 3ms;
}

void print(const std::string& what, const Errors& e) {
  std::printf("%-34s %8.3f %8.3f %8.3f %8.3f %zu\n", what.c_str(), ms(e.median), ms(e.p99),
              ms(e.worst), ms(e.worst_ever), e.overlaps);
}

}  // namespace

TEST_GROUP(SerialLidars){};

TEST(SerialLidars, OnLinesAsTheyAreStampsAreRightAndNoBeamsOverlap) {
  std::printf("%-34s %8s %8s %8s %8s overlaps\n", "ms", "p50", "p99", "worst", "ever");
  for (const SerialLidar& lidar : test::serial_lidars()) {
    for (const sim::Arrival arrival : {kUart, kAdapter}) {
      SimLine line(lidar.driver, lidar.device, lidar.options, lidar.baud, {}, {}, false,
                   {nullptr, arrival});
      line.run_for(14s);
      const Errors e = errors_of(line);
      const std::string what = lidar.name() + (arrival == kUart ? " uart" : " ftdi16");
      print(what, e);
      CHECK_TRUE_TEXT(e.beams > 1000, what.c_str());
      CHECK_TRUE_TEXT(e.p99 < limit_of(lidar, arrival), what.c_str());
      CHECK_TRUE_TEXT(e.worst_ever < 25ms, what.c_str());
      LONGS_EQUAL_TEXT(0, e.overlaps, what.c_str());
    }
  }
}

// Of devices that do not tell at what rate they measure, it may be far from what is assumed.
TEST(SerialLidars, NoStampIsFarOffWhateverRateWasAssumed) {
  for (const SerialLidar& lidar : std::vector<SerialLidar>{
           {"coin_d4", {{"samples_hz", "2000"}}, {}, 115'200},
           {"coin_d4", {{"samples_hz", "2600"}}, {}, 115'200},
           {"coin_d4", {{"samples_hz", "2850"}}, {}, 115'200},
           {"coin_d4", {{"samples_hz", "3300"}}, {}, 115'200},
           {"bluesea", {{"rpm", "300"}}, {}, 768'000},
           {"bluesea", {{"rpm", "500"}}, {}, 768'000},
           {"bluesea", {{"rpm", "583"}}, {}, 768'000},
           {"bluesea", {{"rpm", "700"}}, {}, 768'000},
           {"ydlidar", {{"model", "X2"}}, {}, 115'200},
       }) {
    SimLine line(lidar.driver, lidar.device, lidar.options, lidar.baud, {}, {}, false,
                 {nullptr, kUart});
    line.run_for(14s);
    const Errors e = errors_of(line);
    print(lidar.name(), e);
    CHECK_TRUE_TEXT(e.beams > 1000, lidar.name().c_str());
    CHECK_TRUE_TEXT(e.p99 < 100us, lidar.name().c_str());
    CHECK_TRUE_TEXT(e.worst_ever < 25ms, lidar.name().c_str());
    LONGS_EQUAL_TEXT(0, e.overlaps, lidar.name().c_str());
  }
}

// Else a user of the simulators is warned of a sensor that hangs.
TEST(SerialLidars, WithAMillimetreOfNoiseNoTurnIsEqualToTheOneBefore) {
  for (const SerialLidar& lidar : test::serial_lidars()) {
    sim::Options device = lidar.device;
    if (lidar.driver != std::string_view("ldrobot")) device["noise"] = "1";  // it has its own
    SimLine line(lidar.driver, device, lidar.options, lidar.baud);
    line.until_streaming();
    line.run_for(2s);
    std::vector<std::array<float, 3>> turn, before;
    std::size_t turns = 0;
    for (const drivers::ScanSlice& slice : line.log.slices) {
      if (slice.starts_turn) {
        CHECK_TRUE_TEXT(turn.empty() || turn != before, lidar.name().c_str());
        before = std::exchange(turn, {});
        ++turns;
      }
      for (const drivers::Beam& beam : slice.beams)
        turn.push_back({beam.angle, beam.range, beam.intensity});
    }
    CHECK_TRUE_TEXT(turns > 5, lidar.name().c_str());
  }
}

namespace {

// Bytes that cannot tell whose they are.
struct Doubt {
  const char *driver, *device;
  const char* says;  // what the user is told instead
  bool measures = false;
};
const Doubt kDoubts[] = {
    // The same packets; a YDLIDAR answers, unless only one wire of the line is connected.
    {"ydlidar", "coin_d4", "driver 'coin_d4'?", true},
    // Two of its turns, which no checksum guards, take longer than these listen at one rate.
    {"delta2", "xv11 2.1", "no frame"},
    {"hokuyo_scip", "xv11 2.1", "no frame"},
    {"lslidar_m10", "xv11 2.1", "no frame"},
};

}  // namespace

TEST(SerialLidars, BytesOfAnotherFamilyAreNamedWithinTwoSecondsAndGiveNoBeam) {
  std::vector<SerialLidar> all = test::serial_lidars();
  std::string wrong;
  all.push_back({"rplidar", {{"model", "A1"}}, {}, 115'200});
  for (const SerialLidar& device : all) {
    std::string_view before;
    for (const SerialLidar& lidar : all) {
      if (std::exchange(before, lidar.driver) == lidar.driver) continue;
      if (lidar.driver == std::string_view(device.driver)) continue;
      const std::string what = std::string(lidar.driver) + " with " + device.name();
      const auto* const doubt = std::ranges::find_if(kDoubts, [&](const Doubt& d) {
        return d.driver == std::string_view(lidar.driver) && d.device == device.name();
      });
      const bool is_sure = doubt == std::end(kDoubts);
      const std::string says =
          is_sure ? "driver '" + std::string(device.driver) + "'" : doubt->says;
      const drivers::Cause cause =
          is_sure ? drivers::Cause::mismatch : drivers::Cause::device_fault;
      SimLine line(lidar.driver, test::found_streaming(device), {}, device.baud, {}, {}, false,
                   {device.driver});
      const auto is_told = [&] {
        const drivers::Health h = line.health();
        return (h.cause == cause || !is_sure) && h.why.view().find(says) != std::string_view::npos;
      };
      const bool told = line.wait_for(is_told, 2s) < 2s;
      if (told && (line.log.slices.empty() || (!is_sure && doubt->measures))) continue;
      wrong += "\n" + what + ": " + std::to_string(line.log.slices.size()) + " slices, " +
               line.health().why.c_str();
    }
  }
  CHECK_TRUE_TEXT(wrong.empty(), wrong.c_str());
}
