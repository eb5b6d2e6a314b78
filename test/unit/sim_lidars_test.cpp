// What must hold for every simulated serial lidar, whatever its packets look like.
#include "test/unit/sim_lidar_points.h"

using sim_test::Bench;

namespace {

struct Case {
  const char* driver;
  sim::Options set;
  double rate_hz;
};
const Case kCases[] = {
    {"xv11", {}, 0.0},
    {"xv11", {{"model", "LDS02RR"}}, 349.0 / 60.0},
    {"xv11", {{"firmware", "2.1"}}, 4.9},
    {"hlds_lds01", {}, 0.0},
    {"hlds_lds01", {}, 9.0},
    {"camsense_x1", {}, 0.0},
    {"camsense_x1", {{"zero_deg", "-33.3"}}, 9.7},
    {"delta2", {}, 0.0},
    {"delta2", {{"model", "2G"}}, 4.0},
    {"delta2", {{"model", "2B"}}, 12.0},
    {"bluesea", {{"running", "on"}}, 0.0},
    {"bluesea", {{"running", "on"}, {"format", "C7"}, {"parts", "7"}}, 10.3},
    {"bluesea", {{"running", "on"}, {"format", "99"}, {"parts", "2"}}, 20.0},
    {"coin_d4", {{"running", "on"}}, 0.0},
    {"coin_d4", {{"running", "on"}}, 11.3},
};
constexpr double kSeconds = 3.0;

}  // namespace

TEST_GROUP(SimLidars){};

TEST(SimLidars, BeamsFollowEachOtherEvenlyAndLeaveWithTheLastOfTheirFrame) {
  for (const Case& row : kCases) {
    Bench bench(row.driver, row.set, row.rate_hz);
    bench.run_for(kSeconds);
    CHECK_EQUAL(bench.out.frames.size(), bench.out.scans.size());
    std::vector<hal::Time> times;
    for (std::size_t f = 0; f < bench.out.frames.size(); ++f) {
      for (const sim::TrueBeam& beam : bench.out.scans[f].beams) times.push_back(beam.at);
      CHECK_TRUE(bench.out.frames[f].at == times.back());
    }
    CHECK_TRUE(times.front() == sim_test::kStart);
    const auto period = static_cast<double>((times.back() - times.front()).count()) /
                        static_cast<double>(times.size() - 1);
    for (std::size_t i = 1; i < times.size(); ++i)
      DOUBLES_EQUAL(period, static_cast<double>((times[i] - times[i - 1]).count()), 1.001);
  }
}

TEST(SimLidars, TheTruthIsTheRoomAndNothingFrom100To110Degrees) {
  for (const Case& row : kCases) {
    Bench bench(row.driver, row.set, row.rate_hz);
    bench.run_for(kSeconds);
    std::size_t beams = 0, silent = 0;
    for (const sim::ScanTruth& scan : bench.out.scans)
      for (const sim::TrueBeam& beam : scan.beams) {
        DOUBLES_EQUAL(sim::Room::range(beam.angle), beam.range, 1e-12);
        ++beams;
        if (beam.range == 0.0) ++silent;
      }
    DOUBLES_EQUAL(10.0 / 360.0, static_cast<double>(silent) / static_cast<double>(beams), 0.004);
  }
}

TEST(SimLidars, TheHeadTurnsAtItsSpeed) {
  for (const Case& row : kCases) {
    Bench bench(row.driver, row.set, row.rate_hz);
    bench.run_for(kSeconds);
    if (row.rate_hz == 0.0) continue;
    double turned = 0.0;
    const sim::TrueBeam* last = nullptr;
    for (const sim::ScanTruth& scan : bench.out.scans)
      for (const sim::TrueBeam& beam : scan.beams) {
        if (last != nullptr)
          turned += std::abs(std::remainder(beam.angle - last->angle, sim::kTurn));
        last = &beam;
      }
    const double seconds = hal::to_seconds(last->at - sim_test::kStart);
    DOUBLES_EQUAL(row.rate_hz, turned / sim::kTurn / seconds, 1e-6);
  }
}

TEST(SimLidars, TheLineCarriesWhatIsSent) {
  for (const Case& row : kCases) {
    Bench bench(row.driver, row.set, row.rate_hz);
    bench.run_for(kSeconds);
    double bytes = 0.0;
    for (const sim::Frame& frame : bench.out.frames)
      bytes += static_cast<double>(frame.bytes.size());
    CHECK_TRUE(bytes * 10.0 / kSeconds <= bench.model->baud());
  }
}

TEST(SimLidars, PowerBringsBackWhatWasThereAtTheStart) {
  for (const Case& row : kCases) {
    Bench bench(row.driver, row.set, row.rate_hz);
    bench.run_for(0.333);
    const std::vector<sim::Frame> first = bench.out.frames;
    bench.out.clear();
    const hal::Time again = bench.now;
    bench.clock.restart(again);
    bench.model->power_up(again, bench.out);
    bench.run_for(0.333);
    CHECK_EQUAL(first.size(), bench.out.frames.size());
    for (std::size_t f = 0; f < first.size(); ++f) {
      CHECK_TRUE(first[f].bytes == bench.out.frames[f].bytes);
      CHECK_TRUE(first[f].at - sim_test::kStart == bench.out.frames[f].at - again);
    }
  }
}

TEST(SimLidars, ImpossibleSpeedsAreRefused) {
  for (const Case& row : kCases)
    for (const double rate : {0.1, 99.0}) {
      const sim::ModelRow& model = *sim::find_model(row.driver);
      const sim::Settings settings = *sim::Settings::check(model.options, row.set);
      sim::DeviceClock clock(1);
      CHECK_FALSE(static_cast<bool>(model.make({settings, clock, rate, 1})));
    }
}

TEST(SimLidars, RandomBytesOfTheHostNeitherStopNorDelayAOneWayDevice) {
  constexpr std::uint64_t kSeed = 20'261'130;
  std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
  sim::Random random(kSeed);
  for (const Case& row : kCases) {
    const std::string driver = row.driver;
    if (driver == "hlds_lds01" || driver == "bluesea" || driver == "coin_d4") continue;
    Bench told(row.driver, row.set, row.rate_hz), alone(row.driver, row.set, row.rate_hz);
    for (int i = 0; i < 10; ++i) {
      sim::ByteVector junk(random.below(100));
      for (std::byte& b : junk) b = static_cast<std::byte>(random.below(256));
      told.model->receive(sim::Channel::data, junk, told.now, told.out);
      told.run_for(0.05), alone.run_for(0.05);
    }
    CHECK_EQUAL(alone.out.frames.size(), told.out.frames.size());
    for (std::size_t f = 0; f < alone.out.frames.size(); ++f)
      CHECK_TRUE(alone.out.frames[f].bytes == told.out.frames[f].bytes);
  }
}
