// The measurement data of the simulated SICK safety scanner, read a second time.
#include <cmath>

#include "test/sim/room.h"
#include "test/sim/sick_safety_payload.h"
#include "test/unit/sim_sick_safety_bench.h"

using namespace safety_test;

namespace {

const sim::Options kPreset{{"preset", "on"}};

sim::Options preset(const sim::Options& more) {
  sim::Options all = kPreset;
  for (const auto& [key, value] : more) all[key] = value;
  return all;
}

// Every beam of the payload against the truth.
void compare(hal::Bytes payload, const sim::ScanTruth& truth) {
  const Block derived = block(payload, 36), measured = block(payload, 40);
  const double factor = double(get_le(payload, derived.offset, 2));
  const std::size_t beams = get_le(payload, measured.offset, 4);
  CHECK_EQUAL(beams, get_le(payload, derived.offset + 2, 2));
  CHECK_EQUAL(4 + 4 * beams, measured.size);
  CHECK_EQUAL(truth.beams.size(), beams);
  const double first = i32_at(payload, derived.offset + 8) / 4194304.0;
  const double step = i32_at(payload, derived.offset + 12) / 4194304.0;
  for (std::size_t i = 0; i < beams; ++i) {
    const std::size_t at = measured.offset + 4 + 4 * i;
    const unsigned status = sim::u8_at(payload, at + 3);
    const sim::TrueBeam& beam = truth.beams[i];
    DOUBLES_EQUAL(sim::radians(first + double(i) * step - 90.0), beam.angle, 1e-9);
    CHECK_EQUAL(beam.range > 0.0, (status & 1U) != 0);
    if (beam.range > 0.0)
      DOUBLES_EQUAL(beam.range * 1000.0, double(get_le(payload, at, 2)) * factor, 0.501 * factor);
  }
}

}  // namespace

TEST_GROUP(SimSickSafety){};

TEST(SimSickSafety, EveryModelStreamsTheTruthInItsFieldAtItsSpeed) {
  const struct {
    const char* model;
    std::size_t beams, scans;
    unsigned ms;
  } kRows[] = {
      {"microScan3", 2751, 33, 30}, {"nanoScan3", 1651, 33, 30}, {"outdoorScan3", 706, 25, 40}};
  for (const auto& row : kRows) {
    Scanner scanner(preset({{"model", row.model}}));
    const auto payloads = scanner.payloads(1.0);
    CHECK_EQUAL(row.scans, payloads.size());
    CHECK_EQUAL(row.scans, scanner.out.scans.size());
    for (const auto& [id, payload] : payloads) {
      const sim::ScanTruth& truth = scanner.out.scans[id - 1];
      compare(payload, truth);
      CHECK_EQUAL(id, get_le(payload, 16, 4));
      CHECK_EQUAL(id, get_le(payload, 20, 4));
      CHECK_EQUAL((id - 1) * row.ms, get_le(payload, 28, 4));
      CHECK_EQUAL((id - 1) * row.ms * 1'000'000LL, truth.device_ns);
      CHECK_EQUAL(row.beams, truth.beams.size());
    }
    const sim::ScanTruth& truth = scanner.out.scans[1];
    DOUBLES_EQUAL(-137.5, sim::degrees(truth.beams.front().angle), 1e-3);
    DOUBLES_EQUAL(137.5, sim::degrees(truth.beams.back().angle), 1e-3);
    const double turn_ns = row.ms * 1e6;
    DOUBLES_EQUAL(turn_ns, double((truth.beams[0].at - scanner.out.scans[0].beams[0].at).count()),
                  1.0);
    DOUBLES_EQUAL(turn_ns * 275.0 / 360.0,
                  double((truth.beams.back().at - truth.beams.front().at).count()), 100.0);
    CHECK_TRUE(scanner.out.frames.front().at >= scanner.out.scans[0].beams.back().at);
  }
}

TEST(SimSickSafety, HeaderAndDerivedValuesAreThoseOfTheWorkedExamples) {
  Scanner scanner(kPreset);
  const auto payload = scanner.payloads(0.03).at(1);
  const hal::Bytes bytes(payload);
  STRCMP_EQUAL("52 02 00 00 A1 BD 37 01", hex_of(bytes.first(8)).c_str());  // R, serial 20430241
  STRCMP_EQUAL("01 00 BF 0A 1E 00 00 00 00 00 20 F4 66 66 06 00",
               hex_of(bytes.subspan(block(bytes, 36).offset, 16)).c_str());
  const sim::ByteVector second = scanner.out.frames[1].bytes;
  CHECK_EQUAL(1460, second.size());
  CHECK_EQUAL(1436, get_le(second, 16, 4));
  CHECK_EQUAL(payload.size(), get_le(second, 8, 4));
  CHECK_EQUAL((payload.size() + 1435) / 1436, scanner.out.frames.size());
}

TEST(SimSickSafety, NothingComesBackFromTheSectorWithoutEcho) {
  Scanner scanner(kPreset);
  const auto payload = scanner.payloads(0.03).at(1);
  const std::size_t at = block(payload, 40).offset + 4 + 4 * (475 + 900 + 1050);  // 105 degrees
  STRCMP_EQUAL("40 9C 00 02", hex_of(hal::Bytes(payload).subspan(at, 4)).c_str());
}

TEST(SimSickSafety, EveryBlockCanBeMissing) {
  for (unsigned features = 0; features < 32; ++features) {
    Scanner scanner(preset({{"features", std::to_string(features)}}));
    const auto payload = scanner.payloads(0.03).at(1);
    std::size_t end = 60;
    for (unsigned i = 0; i < 5; ++i) {
      const Block one = block(payload, 32 + 4 * i);
      CHECK_EQUAL((features & (1U << i)) != 0, one.offset != 0);
      if (one.offset == 0) continue;
      CHECK_EQUAL(end, one.offset);
      end += one.size;
    }
    CHECK_EQUAL(payload.size(), end);
    CHECK_EQUAL((features & 4U) != 0 ? 1U : 0U, scanner.out.scans.size());
  }
}

TEST(SimSickSafety, IntrusionsAreTheNearBeams) {
  Scanner scanner(kPreset);
  const auto payload = scanner.payloads(0.03).at(1);
  const Block bits = block(payload, 44);
  CHECK_EQUAL(7 * (4 + 344), bits.size);
  CHECK_EQUAL(344, get_le(payload, bits.offset, 4));
  const auto& beams = scanner.out.scans[0].beams;
  for (std::size_t i = 0; i < beams.size(); ++i) {
    const bool near = (sim::u8_at(payload, bits.offset + 4 + i / 8) >> (i % 8) & 1U) != 0;
    if (std::abs(beams[i].range - 1.6) > 0.001)
      CHECK_EQUAL(beams[i].range > 0.0 && beams[i].range < 1.6, near);
  }
}

TEST(SimSickSafety, AFactorMakesDistancesCoarser) {
  Scanner scanner(preset({{"factor", "10"}}));
  const auto payload = scanner.payloads(0.03).at(1);
  compare(payload, scanner.out.scans[0]);
}

TEST(SimSickSafety, GlareDirtAndReflectorsAreFlagged) {
  Scanner scanner(preset({{"glare", "10"}, {"contaminated", "10"}}));
  const auto payload = scanner.payloads(0.03).at(1);
  compare(payload, scanner.out.scans[0]);
  const Block measured = block(payload, 40);
  int count[6] = {};
  for (std::size_t at = measured.offset + 4; at < measured.offset + measured.size; at += 4)
    for (unsigned bit = 0; bit < 6; ++bit)
      count[bit] += int(sim::u8_at(payload, at + 3) >> bit & 1U);
  CHECK_TRUE(count[2] > 200 && count[2] < 350);
  CHECK_TRUE(count[3] > 30 && count[3] < 45);
  CHECK_TRUE(count[4] > 200 && count[4] < 350);
  CHECK_EQUAL(count[4], count[5]);
  CHECK_EQUAL(5, sim::u8_at(payload, block(payload, 32).offset));  // runs, warns of dirt
}

TEST(SimSickSafety, FaultsStandInTheGeneralState) {
  for (const auto& [fault, bits] : {std::pair{"none", 0U}, {"application", 1U}, {"device", 2U}}) {
    Scanner scanner(preset({{"fault", fault}}));
    const auto payload = scanner.payloads(0.03).at(1);
    CHECK_EQUAL(bits, sim::u8_at(payload, block(payload, 32).offset + 15));
  }
}

TEST(SimSickSafety, FragmentsOfSeveralChannelsCarryTheirNumbers) {
  Scanner scanner(preset({{"channels", "3"}, {"divider", "2"}}));
  const auto payloads = scanner.payloads(0.14);
  CHECK_EQUAL(6, payloads.size());  // scans 2 and 4
  for (const auto& [id, payload] : payloads) {
    CHECK_EQUAL((id - 1) % 3, sim::u8_at(payload, 12));
    CHECK_EQUAL((id + 2) / 3, get_le(payload, 16, 4));
    CHECK_EQUAL(2 * ((id + 2) / 3), get_le(payload, 20, 4));
  }
}

TEST(SimSickSafety, TheStampMayBeTheEndsAndMayHaveADate) {
  Scanner scanner(preset({{"stamp", "end"}, {"date", "20000"}, {"day_ms", "86399990"}}));
  const auto payloads = scanner.payloads(0.06);
  CHECK_EQUAL(2, payloads.size());
  CHECK_EQUAL(20001, get_le(payloads.at(1), 24, 2));
  CHECK_EQUAL(12, get_le(payloads.at(1), 28, 4));  // 22 ms after the start
  CHECK_EQUAL((20001LL * 86'400'000 + 12) * 1'000'000, scanner.out.scans[0].device_ns);
  CHECK_TRUE(scanner.model->clock_period() == hal::Duration::zero());
}

TEST(SimSickSafety, WithoutADateTheMillisecondsWrap) {
  for (const auto& [wrap, period] :
       {std::pair{"counter", 4'294'967'296LL}, {"day", 86'400'000LL}}) {
    Scanner scanner(preset({{"wrap", wrap}}));
    CHECK_TRUE(scanner.model->clock_period() == hal::Duration(period * 1'000'000));
    scanner.clock.restart(scanner.now, (period - 35) * 1'000'000);
    const auto payloads = scanner.payloads(0.1);
    CHECK_EQUAL(period - 5, get_le(payloads.at(2), 28, 4));
    CHECK_EQUAL(25, get_le(payloads.at(3), 28, 4));
    CHECK_EQUAL((period + 25) * 1'000'000, scanner.out.scans[2].device_ns);
  }
}

TEST(SimSickSafety, AFalsifiedFragmentDiffersInItsBeamsOnly) {
  Scanner scanner(kPreset);
  const auto before = scanner.payloads(0.03).at(1);
  auto frames = scanner.out.frames;
  sim::Random random(7);
  for (sim::Frame& frame : frames) scanner.model->falsify(frame.bytes, random);
  const auto after = joined(frames).at(1);
  const Block measured = block(before, 40);
  for (std::size_t i = 0; i < before.size(); ++i)
    if (i < measured.offset + 4 || i >= measured.offset + measured.size)
      CHECK_TRUE(before[i] == after[i]);
  CHECK_TRUE(before != after);
}

TEST(SimSickSafety, ForeignDatagramsComeFromTheSamePort) {
  Scanner scanner(preset({{"foreign", "on"}, {"features", "6"}}));
  scanner.run_for(0.03);
  STRCMP_EQUAL("4C 69 64 61 72 2D 4C 4F 43 20 31 2E 30",
               hex_of(scanner.out.frames.back().bytes).c_str());
}

TEST(SimSickSafety, WithoutASettingNobodyHearsAnything) {
  Scanner scanner({});
  CHECK_EQUAL(0, scanner.payloads(1.0).size());
  CHECK_EQUAL(0, scanner.out.scans.size());
}
