// The simulated Vanjee lidars: the worked examples of the description, frames read byte by byte.
#include "test/unit/sim_lidar_points.h"

#include "test/sim/vanjee_frames.h"

namespace {

using sim::get_be;

constexpr const char* kAskMini =
    "ffaa 001e 0000 00000000 01 01 000d 0000000000000000 02 02 0000 01000000 0012 eeee";
constexpr const char* kAsk718H =
    "ffaa 001e 0000 00000000 01 01 000e 0000000000000000 02 02 0000 01000000 0011 eeee";
constexpr const char* kAsk719 =
    "ffaa 001e 0000 00000000 01 01 190a 0000000000000000 05 03 0000 00000000 000b eeee";

void check_frame(hal::Bytes b) {
  CHECK_EQUAL(0xFFAA, get_be(b, 0, 2));
  CHECK_EQUAL(b.size() - 4, get_be(b, 2, 2));
  unsigned check = 0;
  for (const std::byte byte : b.subspan(2, b.size() - 6)) check ^= std::to_integer<unsigned>(byte);
  CHECK_EQUAL(check, get_be(b, b.size() - 4, 2));
  CHECK_EQUAL(0xEEEE, get_be(b, b.size() - 2, 2));
}

class VanjeeBench : public sim_test::Bench {
 public:
  explicit VanjeeBench(const sim::Options& set, const char* ask = "", double hz = 0.0)
      : Bench("vanjee", set, hz) {
    CHECK_EQUAL(0, this->ask(ask).size());
  }
  const std::vector<sim::Frame>& run(double seconds) {
    out.clear();
    run_for(seconds);
    for (const sim::Frame& frame : out.frames) check_frame(frame.bytes);
    return out.frames;
  }
};

}  // namespace

TEST_GROUP(SimVanjee){};

TEST(SimVanjee, StreamsWhenItIsAskedInTheFrameOfItsModel) {
  const struct {
    const char *model, *ask, *other;
  } cases[] = {
      {"716mini", kAskMini, kAsk718H}, {"718H", kAsk718H, kAsk719}, {"719", kAsk719, kAskMini}};
  for (const auto& c : cases) {
    CHECK_TRUE(VanjeeBench({{"model", c.model}}, c.other).run(0.3).empty());
    CHECK_TRUE(!VanjeeBench({{"model", c.model}}, c.ask).run(0.3).empty());
    CHECK_TRUE(!VanjeeBench({{"model", c.model}, {"running", "on"}}).run(0.3).empty());
  }
}

TEST(SimVanjee, ARequestMayComeInPieces) {
  VanjeeBench bench({});
  const std::string hex(kAskMini);
  bench.ask(hex.substr(0, 15));
  CHECK_TRUE(bench.run(0.2).empty());
  bench.ask(hex.substr(15));
  CHECK_TRUE(!bench.run(0.2).empty());
}

TEST(SimVanjee, ALossOfPowerForgetsWhoAsked) {
  VanjeeBench bench({}, kAskMini);
  bench.clock.restart(bench.now);
  bench.model->power_up(bench.now, bench.out);
  CHECK_TRUE(bench.run(0.2).empty());
}

TEST(SimVanjee, ATurnOfA716miniIsTwoPacketsOfDistancesAndTwoOfIntensities) {
  VanjeeBench bench({}, kAskMini);
  const auto& frames = bench.run(0.21);
  std::size_t truth = 0;
  CHECK_TRUE(frames.size() >= 12);
  for (std::size_t f = 0; f < 12; ++f) {
    const hal::Bytes b = frames[f].bytes;
    CHECK_EQUAL(f, get_be(b, 4, 2));
    CHECK_EQUAL(0x000D, get_be(b, 12, 2));
    CHECK_EQUAL(0, get_be(b, 14, 8));
    CHECK_EQUAL(0x0202, get_be(b, 22, 2));
    CHECK_EQUAL(f / 4, get_be(b, 75, 4));
    CHECK_EQUAL(1, sim::u8_at(b, 79));
    CHECK_EQUAL(4, sim::u8_at(b, 80));
    CHECK_EQUAL(f % 4 + 1, sim::u8_at(b, 81));
    CHECK_EQUAL(f % 4 / 2, sim::u8_at(b, 82));
    const std::size_t n = get_be(b, 83, 2), first = f % 2 * 600;
    CHECK_EQUAL(f % 2 == 0 ? 600 : 481, n);
    CHECK_EQUAL(85 + 2 * n + 4, b.size());
    if (f % 4 >= 2) continue;
    std::vector<sim_test::LidarPoint> points;
    for (std::size_t i = 0; i < n; ++i)
      points.push_back({-135.0 + 0.25 * static_cast<double>(first + i),
                        static_cast<double>(get_be(b, 85 + 2 * i, 2)), 0});
    sim_test::check_points(points, bench.out.scans[truth], 0.0, 0.5);
    CHECK_EQUAL(static_cast<std::uint64_t>(bench.out.scans[truth].device_ns),
                get_be(b, 6, 4) * 1'000'000);
    ++truth;
  }
}

TEST(SimVanjee, IntensitiesOfA716miniMayStandBetween) {
  VanjeeBench bench({{"intensities", "between"}}, kAskMini);
  const auto& frames = bench.run(0.1);
  for (std::size_t f = 0; f < 4; ++f) {
    CHECK_EQUAL(f / 2 + 1, sim::u8_at(frames[f].bytes, 81));
    CHECK_EQUAL(f % 2, sim::u8_at(frames[f].bytes, 82));
  }
}

TEST(SimVanjee, A718HLooksAroundFromItsBack) {
  VanjeeBench bench({{"model", "718H"}}, kAsk718H);
  const auto& frames = bench.run(0.21);
  std::size_t truth = 0;
  CHECK_TRUE(frames.size() >= 12);
  for (std::size_t f = 0; f < 12; ++f) {
    const hal::Bytes b = frames[f].bytes;
    CHECK_EQUAL(0x000E, get_be(b, 12, 2));
    CHECK_EQUAL(f / 6, get_be(b, 74, 4));
    CHECK_EQUAL(0x0100, get_be(b, 78, 2));
    CHECK_EQUAL(6, sim::u8_at(b, 80));
    CHECK_EQUAL(f % 6 + 1, sim::u8_at(b, 81));
    CHECK_EQUAL(f % 6 / 3, sim::u8_at(b, 82));
    const std::size_t n = get_be(b, 83, 2), first = f % 3 * 500;
    CHECK_EQUAL(f % 3 == 2 ? 440 : 500, n);
    if (f % 6 >= 3) {
      for (std::size_t i = 0; i < n; ++i) CHECK_EQUAL(0, sim::u8_at(b, 85 + 2 * i));
      continue;
    }
    std::vector<sim_test::LidarPoint> points;
    for (std::size_t i = 0; i < n; ++i)
      points.push_back({180.0 + 0.25 * static_cast<double>(first + i),
                        static_cast<double>(get_be(b, 85 + 2 * i, 2)), 0});
    sim_test::check_points(points, bench.out.scans[truth++], 0.0, 0.5);
  }
}

TEST(SimVanjee, A719PacksThreeHundredPointsIntoWords) {
  const struct {
    double hz;
    unsigned code;
    std::size_t banks;
  } cases[] = {{10, 5, 36}, {20, 7, 18}, {30, 3, 12}};
  for (const auto& c : cases) {
    VanjeeBench bench({{"model", "719"}}, kAsk719, c.hz);
    const auto& frames = bench.run(0.201);
    CHECK_TRUE(frames.size() >= 2 * c.banks);
    for (std::size_t f = 0; f < frames.size(); ++f) {
      const hal::Bytes b = frames[f].bytes;
      CHECK_EQUAL(1234, b.size());
      CHECK_EQUAL(c.code, sim::u8_at(b, 17));
      CHECK_EQUAL(f % c.banks + 1, sim::u8_at(b, 18));
      std::vector<sim_test::LidarPoint> points;
      for (std::size_t i = 0; i < 300; ++i) {
        const std::uint64_t word = get_be(b, 21 + 4 * i, 4);
        points.push_back({-180.0 + 360.0 * static_cast<double>(f % c.banks * 300 + i) /
                                       (300.0 * static_cast<double>(c.banks)),
                          static_cast<double>((word & 0x7FFF800) >> 11), 0});
      }
      sim_test::check_points(points, bench.out.scans[f], 0.0, 0.5);
    }
  }
}

TEST(SimVanjee, WhenSynchronisedEachModelTellsNtpTime) {
  const struct {
    const char *model, *ask;
    std::size_t from_end, at;
  } cases[] = {{"716mini", kAskMini, 0, 14}, {"718H", kAsk718H, 20, 0}, {"719", kAsk719, 0, 1221}};
  for (const auto& c : cases) {
    VanjeeBench bench({{"model", c.model}, {"unix_s", "1700000000"}}, c.ask);
    const hal::Bytes b = bench.run(0.3)[0].bytes;
    const std::size_t at = c.from_end > 0 ? b.size() - c.from_end : c.at;
    const double told = static_cast<double>(get_be(b, at, 4) - 2'208'988'800) +
                        static_cast<double>(get_be(b, at + 4, 4)) / 4294967296.0;
    DOUBLES_EQUAL(static_cast<double>(bench.out.scans[0].device_ns) * 1e-9, told, 1e-6);
  }
}

TEST(SimVanjee, BeamsFollowEachOtherEvenlyAndThePacketLeavesWithItsLast) {
  VanjeeBench bench({}, kAskMini);
  const auto& frames = bench.run(0.1);
  const sim::ScanTruth &one = bench.out.scans[0], &two = bench.out.scans[1];
  CHECK_TRUE(frames[0].at == one.beams.back().at);
  const double beam_ns = 1e9 / 15.0 / 1440.0;
  DOUBLES_EQUAL(600.0 * beam_ns, static_cast<double>((two.beams[0].at - one.beams[0].at).count()),
                2.0);
  DOUBLES_EQUAL(1e9 / 15.0,
                static_cast<double>((bench.out.scans[2].beams[0].at - one.beams[0].at).count()),
                2.0);
}

TEST(SimVanjee, WrongValuesKeepTheirCheck) {
  for (const char* const model : {"716mini", "718H", "719"}) {
    VanjeeBench bench({{"model", model}, {"running", "on"}});
    sim::Random random(7);
    for (sim::Frame frame : bench.run(0.2)) {
      const sim::ByteVector before = frame.bytes;
      bench.model->falsify(frame.bytes, random);
      check_frame(frame.bytes);
      CHECK_TRUE(before != frame.bytes);
    }
  }
}

TEST(SimVanjee, RatesThatItsModelDoesNotKnowAreRefused) {
  const sim::ModelRow& row = *sim::find_model("vanjee");
  const sim::Settings settings = *sim::Settings::check(row.options, {{"model", "718H"}});
  sim::DeviceClock clock{1};
  CHECK_TRUE(!row.make({settings, clock, 20.0, 1}));
}
