// The figures of the clock mapper, as test/README.md states them: each test prints what it
// measures.
#include "test/unit/clock_world.h"

using namespace drivers;
using namespace test;

namespace {

constexpr hal::Time kStart{1000s};
constexpr hal::Duration kWarm = 60s;

// One device of 100 Hz on one line. What a test wants to be different is set before run().
struct Run {
  Line line;
  unsigned seed;
  ClockModel model{};
  Crystal crystal{};
  std::int64_t device_at_start = 123'456'789;
  double lost = 0;  // part of the samples that never come
  hal::Duration length = 300s, period = 10ms, from = kWarm;
  hal::Time stall_from = hal::Time::max(), stall_to = hal::Time::max();

  Judge judge{};
  ClockHealth health{};

  // The device measures when its own clock says so.
  hal::Time measured(std::int64_t k) const {
    hal::Duration t = k * period;
    for (int i = 0; i < 2; ++i) t += k * period - hal::Duration(crystal.at(t));
    return kStart + t;
  }
  void run() {
    ClockMapper mapper(model);
    Wire wire(line, seed);
    wire.stall(stall_from, stall_to);
    Chance chance(seed + 1000);
    const std::int64_t modulus = model.modulus.count();
    for (std::int64_t k = 0; k * period < length; ++k) {
      const hal::Time t = measured(k);
      const hal::Time arrival = wire.arrival(t);
      if (chance.uniform() < lost) continue;
      std::int64_t raw = device_at_start + (k * period).count();
      if (modulus > 0) raw %= modulus;
      judge.see(mapper.map(raw, arrival), t, arrival, t >= kStart + from);
    }
    health = mapper.health();
    LONGS_EQUAL(0, judge.missing());
    LONGS_EQUAL(0, judge.broken());
  }
};

// The worst of several seeds.
struct Worst {
  double p99 = 0, worst = 0, raw = 0;
  void take(const Judge& judge) {
    p99 = std::max(p99, judge.p99());
    worst = std::max(worst, judge.worst());
    raw = std::max(raw, judge.raw_p99());
  }
};

template <class Prepare>
void on_every_line(const char* what, Prepare prepare) {
  for (const Line& line : kLines) {
    Worst worst;
    for (const unsigned seed : kSeeds) {
      Run run{.line = line, .seed = seed};
      prepare(run);
      run.run();
      LONGS_EQUAL(0, run.health.epoch);
      LONGS_EQUAL(0, run.health.stale);
      CHECK_TRUE(run.health.locked);
      worst.take(run.judge);
    }
    print_figure(what, line.name, line.limit_ms, worst.p99, worst.worst, worst.raw);
    CHECK_TRUE(worst.p99 <= line.limit_ms);
  }
}

}  // namespace

TEST_GROUP(ClockFigures){};

TEST(ClockFigures, ADriftingClockIsRightOnEveryLine) {
  on_every_line("30 ppm, wandering 8 ppm", [](Run&) {});
}

TEST(ClockFigures, AClockThatRunsTheOtherWayIsAsRight) {
  on_every_line("-30 ppm, wandering 8 ppm", [](Run& run) { run.crystal.skew = -30e-6; });
}

TEST(ClockFigures, AnIndexWhoseClockIsOnePercentOffIsAsRight) {
  for (const double skew : {0.01, -0.01}) {
    on_every_line(skew > 0 ? "index, clock 1 % fast" : "index, clock 1 % slow", [&](Run& run) {
      run.model = {.modulus = 2560ms, .period = 10ms, .max_skew = kCountedSkew};
      run.crystal.skew = skew;
    });
  }
}

TEST(ClockFigures, AnIndexThatLosesOnePercentOfItsFramesIsAsRight) {
  on_every_line("index, 1 % off, 1 % lost", [](Run& run) {
    run.model = {.modulus = 2560ms, .period = 10ms, .max_skew = kCountedSkew};
    run.crystal.skew = 0.01;
    run.lost = 0.01;
  });
}

TEST(ClockFigures, AWrapOfAnyModulusAddsNoError) {
  struct Modulus {
    const char* name;
    hal::Duration modulus, quantum;
  };
  const Modulus moduli[] = {
      {"u16 of 16 us", 65'536 * 16us, 16us}, {"u8 of 10 ms", 2560ms, 10ms},
      {"u16 ms modulo 30000", 30s, 1ms},     {"ms in the hour", 3600s, 1ms},
      {"u32 us", 4'294'967'296us, 1us},      {"24 bits of ms", 16'777'216ms, 1ms},
      {"ms of the day", 86'400s, 1ms},       {"864e6 of 100 us", 86'400s, 100us},
      {"time of week", 604'800s, 1us},       {"u32 of 100 us", 4'294'967'296 * 100us, 100us},
      {"u32 ms", 4'294'967'296ms, 1ms},      {"u64 ns", 0ns, 0ns},
  };
  for (const Modulus& m : moduli) {
    Worst worst;
    for (const unsigned seed : kSeeds) {
      Run run{.line = kUart, .seed = seed};
      run.model = {.modulus = m.modulus, .period = 10ms};
      run.length = 160s;
      run.device_at_start = m.modulus.count() > 0 ? m.modulus.count() - 100'000'000'000 : 5;
      while (run.device_at_start < 0) run.device_at_start += m.modulus.count();
      run.device_at_start -= run.device_at_start % std::max<std::int64_t>(1, m.quantum.count());
      run.run();
      LONGS_EQUAL(0, run.health.epoch);
      LONGS_EQUAL(0, run.health.stale);
      worst.take(run.judge);
    }
    print_figure("a wrap on the way", m.name, kUart.limit_ms, worst.p99, worst.worst, worst.raw);
    CHECK_TRUE(worst.p99 <= kUart.limit_ms);
  }
}

// Nobody counts the frames: a lost one shows only in that all that follow come a period late.
TEST(ClockFigures, ALossThatNobodySeesIsMadeUpWithinSixteenPeriods) {
  for (const Line& line : kLines) {
    double part = 0;
    std::uint64_t made_up = 0;
    for (const unsigned seed : kSeeds) {
      ClockMapper mapper({.period = 10ms, .max_skew = kCountedSkew});
      Wire wire(line, seed);
      Crystal crystal{.skew = 0.01};
      std::int64_t counted = 0;
      unsigned off = 0, judged = 0;
      for (int k = 0; k < 30'000; ++k) {
        const hal::Time t =
            kStart + k * 10ms - hal::Duration(crystal.at(k * 10ms) - (k * 10ms) / 1ns);
        const hal::Time arrival = wire.arrival(t);
        if (k % 1000 == 999) continue;
        const auto stamp = mapper.map(++counted * 10'000'000, arrival);
        CHECK_TRUE(stamp.has_value());
        if (k < 6000) continue;
        ++judged;
        off += std::abs(hal::to_seconds(stamp->at - t)) * 1e3 > 2 * line.limit_ms;
      }
      part = std::max(part, static_cast<double>(off) / judged);
      made_up += mapper.health().made_up;
      LONGS_EQUAL(0, mapper.health().epoch);
    }
    UT_PRINT(
        StringFromFormat("1 frame in 1000 lost unseen     %-28s %.2f %% of the stamps are off, "
                         "%u of 87 periods made up",
                         line.name, part * 100, static_cast<unsigned>(made_up))
            .asCharString());
    CHECK_TRUE(part < 0.03);
    LONGS_EQUAL(87, made_up);  // after the last loss of each run nothing comes
  }
}
