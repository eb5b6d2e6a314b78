// Vanjee lidars: the worked request and fields, and the driver with every simulated model.
#include "drivers/vanjee/vanjee.h"

#include <cmath>

#include "test/sim/room.h"
#include "test/support/allocation_counter.h"
#include "test/support/framing_properties.h"
#include "test/support/packet_log.h"
#include "test/support/sim_line.h"
#include "test/unit/sim_fixture.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::SimLine;
using test::Stream;

namespace {

using Set = std::vector<std::pair<const char*, const char*>>;

Options options_of(const Set& set) {
  Options options(Vanjee::options());
  for (const auto& [key, value] : set) CHECK_TRUE(static_cast<bool>(options.set(key, value)));
  return options;
}

std::vector<Stream> frames_of(const sim::Options& device, double seconds) {
  sim::Options set = device;
  set["running"] = "on";
  sim_test::Bench bench("vanjee", set);
  bench.run_for(seconds);
  std::vector<Stream> frames;
  for (const sim::Frame& frame : bench.out.frames)
    frames.emplace_back(frame.bytes.begin(), frame.bytes.end());
  return frames;
}

test::PacketLog decoded(const Options& options, const std::vector<Stream>& frames) {
  test::PacketLog log;
  DeviceDecoder<Vanjee> decoder(options, 0, log);
  hal::Time now{1000s};
  for (const Stream& frame : frames) decoder.feed({frame, now += 4ms, {}, 0, true});
  decoder.finish();
  const DecoderStats s = decoder.stats();
  LONGS_EQUAL(s.framing.bytes, s.framing.frame_bytes + s.framing.garbage_bytes + s.tail_bytes);
  return log;
}

std::size_t beams_in(const test::PacketLog& log) {
  std::size_t n = 0;
  for (const auto& beams : log.beams) n += beams.size();
  return n;
}

void check_room(const test::PacketLog& log) {
  for (const auto& beams : log.beams)
    for (const Beam& beam : beams)
      DOUBLES_EQUAL(sim::Room::range(double{beam.angle}), beam.range, 2e-3);
}

struct Model {
  const char* name;
  double hz;
  std::size_t beams;
};
constexpr Model kModels[] = {{"716mini", 15, 1081}, {"718H", 10, 1440}, {"719", 10, 10'800}};

}  // namespace

TEST_GROUP(Vanjee){
    static void is_well(SimLine & line){CHECK_TRUE(line.health().state == State::streaming);
CHECK_TRUE(line.health().cause == Cause::none);
CHECK_TRUE(line.health().balances());
LONGS_EQUAL(0, line.health().undecodable);
check_room(line.log);
}
}
;

TEST(Vanjee, EveryModelIsAskedAndHeardBeamByBeam) {
  for (const Model& model : kModels) {
    SimLine line("vanjee", {{"model", model.name}}, {{"model", model.name}}, 0);
    CHECK_TRUE(line.until_streaming() < 1s);
    line.run_for(3s);
    is_well(line);
    LONGS_EQUAL(0, line.health().lost + line.health().stale);
    // The first turn of a 716mini tells its step, the newest waits for its intensities.
    CHECK_TRUE(line.truth.beams.size() - beams_in(line.log) <= 3 * model.beams);
    CHECK_TRUE(line.log.slices.back().has_intensity);
    STRCMP_CONTAINS(model.name, line.health().about.c_str());
  }
}

TEST(Vanjee, IntensitiesMayBeUnwantedOrNotSentOrStandBetween) {
  const struct {
    const char *sent, *wanted;
    bool has;
  } kCases[] = {{"behind", "false", false}, {"none", "true", false}, {"between", "true", true}};
  for (const auto& c : kCases) {
    SimLine line("vanjee", {{"intensities", c.sent}}, {{"intensities", c.wanted}}, 0);
    line.run_for(3s);
    is_well(line);
    CHECK_EQUAL(c.has, line.log.slices.back().has_intensity);
    LONGS_EQUAL(0, line.health().lost);
    CHECK_TRUE(line.truth.beams.size() - beams_in(line.log) <= 3 * 1081);
  }
}

TEST(Vanjee, PacketsBeyondTheFieldAreNotLostToo) {
  SimLine line("vanjee", {}, {{"points", "700"}}, 0);
  line.run_for(3s);
  CHECK_TRUE(line.health().state == State::streaming);
  CHECK_TRUE(line.health().undecodable > 30);
  LONGS_EQUAL(0, line.health().lost);
  CHECK_TRUE(line.health().balances());
}

TEST(Vanjee, IntensitiesBelongToTheirBeams) {
  for (const Model& model : kModels) {
    const test::PacketLog log =
        decoded(options_of({{"model", model.name}}), frames_of({{"model", model.name}}, 0.5));
    const double brightest = std::string_view(model.name) == "718H" ? 250.0 : 4000.0;
    for (const auto& beams : log.beams) {
      if (std::string_view(model.name) == "719") {
        for (const Beam& beam : beams)
          DOUBLES_EQUAL(beam.range > 0 ? 2000.0 / (1.0 + double{beam.range}) : 0,
                        beam.intensity / 128, 2.0);
        continue;
      }
      if (&beams == &log.beams.back() || &beams == &log.beams[log.beams.size() - 2]) continue;
      for (const Beam& beam : beams)
        DOUBLES_EQUAL(beam.range > 0 ? brightest / (1.0 + double{beam.range}) : 0, beam.intensity,
                      2.0);
    }
  }
}

TEST(Vanjee, ASynchronisedDeviceTellsUnixTime) {
  for (const Model& model : kModels) {
    const test::PacketLog log =
        decoded(options_of({{"model", model.name}}),
                frames_of({{"model", model.name}, {"unix_s", "1796128496"}}, 0.5));
    for (const ScanSlice& slice : log.slices) {
      CHECK_TRUE(slice.device_ns && *slice.device_ns >= 1'796'128'496'000'000'000 &&
                 *slice.device_ns < 1'796'128'497'000'000'000);
    }
  }
}

TEST(Vanjee, PointsMayBeSetWhereNothingTellsThem) {
  const std::vector<Stream> frames = frames_of({{"points", "1200"}}, 0.5);
  CHECK_TRUE(decoded(options_of({}), frames).slices.empty());
  const test::PacketLog log = decoded(options_of({{"points", "1200"}}), frames);
  CHECK_TRUE(log.slices.size() > 10);
  check_room(log);
}

TEST(Vanjee, AnotherModelIsNamed) {
  SimLine line("vanjee", {{"model", "718H"}, {"running", "on"}}, {}, 0);
  line.run_for(3s);
  CHECK_TRUE(line.log.slices.empty());
  STRCMP_CONTAINS("it is a WLR-718H: set model", line.health().why.c_str());
  CHECK_TRUE(line.health().balances());
}

TEST(Vanjee, WhatComesTwiceOrOutOfOrderLosesNothing) {
  for (const Model& model : kModels) {
    SimLine line("vanjee", {{"model", model.name}}, {{"model", model.name}}, 0, {},
                 {"duplicate%10", "reorder%10"});
    line.run_for(5s);
    is_well(line);
    LONGS_EQUAL(0, line.health().lost);
    CHECK_TRUE(line.truth.beams.size() - beams_in(line.log) <= 4 * model.beams);
  }
}

TEST(Vanjee, WhatIsLostIsCounted) {
  for (const Model& model : kModels) {
    SimLine line("vanjee", {{"model", model.name}}, {{"model", model.name}}, 0, {}, {"drop%10"});
    line.run_for(5s);
    is_well(line);
    const double sent = std::string_view(model.name) == "719" ? 360 * 5 : model.hz * 5 * 5;
    const auto lost = static_cast<double>(line.health().lost);
    CHECK_TRUE(lost > sent / 20 && lost < sent / 5);
  }
}

TEST(Vanjee, AfterAPowerCycleItIsAskedAgain) {
  SimLine line("vanjee", {}, {}, 0, {}, {"off@3+1"});
  line.run_for(3s);
  const std::size_t before = line.log.slices.size();
  line.run_for(12s);
  is_well(line);
  CHECK_TRUE(line.log.slices.size() > before + 50);
}

TEST(Vanjee, DamagedFramesHideNoOthers) {
  for (const Model& model : kModels) {
    const std::vector<Stream> good = frames_of({{"model", model.name}}, 1.0);
    std::vector<Stream> frames = good;
    test::Random random(5);
    std::size_t damaged = 0;
    for (std::size_t i = 10; i + 10 < frames.size(); ++i) {
      if (random.below(10) != 0) continue;
      frames[i][20 + random.below(frames[i].size() - 30)] ^= std::byte{0x10};
      ++damaged;
    }
    Stream stream;
    for (const Stream& frame : frames) test::append(stream, frame);
    const test::Cut whole = test::cut(VanjeeFraming{}, stream);
    const test::Cut split = test::cut(VanjeeFraming{}, stream, &random);
    CHECK_TRUE(whole.frames == split.frames);
    LONGS_EQUAL(good.size() - damaged, whole.of(good));
  }
}

TEST(Vanjee, GarbageCostsLittle) {
  test::check_work_is_bounded(VanjeeFraming{}, frames_of({}, 0.2));
}

TEST(Vanjee, WhatMakesNoSenseIsCounted) {
  const Stream good = frames_of({}, 0.1).front();
  const auto undecodable = [&](std::size_t at, unsigned value) {
    Stream frame = good;
    frame[at] = static_cast<std::byte>(value);
    Vanjee device(options_of({{"points", "1081"}}));
    Decoded out;
    device.decode({frame, {}, {}}, out);
    return out.is_undecodable();
  };
  CHECK_FALSE(undecodable(79, 1));
  CHECK_TRUE(undecodable(79, 5));   // speed
  CHECK_TRUE(undecodable(80, 17));  // packets
  CHECK_TRUE(undecodable(81, 0));   // number
  CHECK_TRUE(undecodable(81, 5));
  CHECK_TRUE(undecodable(82, 2));  // kind
  CHECK_TRUE(undecodable(83, 9));  // points
}

TEST(Vanjee, TwoDevicesDoNotMeetAndNothingIsAllocated) {
  const Options options = options_of({});
  const std::vector<Stream> one = frames_of({}, 1.0), other = frames_of({{"points", "541"}}, 1.0);
  test::PacketLog first, second;
  DeviceDecoder<Vanjee> a(options, 0, first), b(options, 0, second);
  hal::Time now{1000s};
  for (std::size_t i = 0; i < std::max(one.size(), other.size()); ++i) {
    now += 4ms;
    if (i < one.size()) a.feed({one[i], now, {}, 0, true});
    if (i < other.size()) b.feed({other[i], now, {}, 0, true});
  }
  a.finish(), b.finish();
  LONGS_EQUAL(decoded(options, one).slices.size(), first.slices.size());
  LONGS_EQUAL(beams_in(decoded(options, other)), beams_in(second));
  test::PacketCounter counter;
  const auto quiet = std::make_unique<DeviceDecoder<Vanjee>>(options, 0, counter);
  const test::AllocationCounter allocations;
  for (const Stream& frame : one) quiet->feed({frame, now += 4ms, {}, 0, true});
  LONGS_EQUAL(0, allocations.count());
  CHECK_TRUE(counter.packets > 10);
}
