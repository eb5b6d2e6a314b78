// The simulated picoScan and multiScan: the dialogue, and their telegrams read byte by byte.
#include <cmath>
#include <cstring>

#include "hal/crc32.h"
#include "test/sim/motion.h"
#include "test/unit/sim_cola_reader.h"
#include "test/unit/sim_lidar_points.h"

using cola_test::ascii;
using cola_test::payload_of;
using namespace std::chrono_literals;

namespace {

float f32(hal::Bytes b, std::size_t at) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(sim::get_le(b, at, 4)));
}

void check_crc(hal::Bytes b) {
  CHECK_EQUAL(0x02020202, sim::get_le(b, 0, 4));
  CHECK_EQUAL(hal::crc32(b.first(b.size() - 4)), sim::get_le(b, b.size() - 4, 4));
}

class CompactBench : public sim_test::Bench {
 public:
  explicit CompactBench(const sim::Options& set = {}) : Bench("sick_compact", set) {}

  std::string ask(const std::string& payload) {
    out.clear();
    model->receive(sim::Channel::control, cola_test::bytes_of(ascii(payload)), now, out);
    std::string answer;
    for (const sim::Frame& frame : out.frames) {
      if (frame.way.channel == sim::Channel::control) {
        answer = payload_of(cola_test::text_of(frame.bytes));
      }
    }
    return answer;
  }
  void set_up() {
    STRCMP_EQUAL("sAN SetAccessMode 1", ask("sMN SetAccessMode 4 81BE23AA").c_str());
    STRCMP_EQUAL("sWA ScanDataEthSettings",
                 ask("sWN ScanDataEthSettings 1 +127 +0 +0 +1 +2115").c_str());
    STRCMP_EQUAL("sWA ScanDataFormat", ask("sWN ScanDataFormat 2").c_str());
    STRCMP_EQUAL("sWA ScanDataPreformatting", ask("sWN ScanDataPreformatting 1").c_str());
    STRCMP_EQUAL("sWA ScanDataEnable", ask("sWN ScanDataEnable 1").c_str());
    STRCMP_EQUAL("sAN LMCstartmeas 0", ask("sMN LMCstartmeas").c_str());
    STRCMP_EQUAL("sAN Run 1", ask("sMN Run").c_str());
  }
  const std::vector<sim::Frame>& run(double seconds) {
    out.clear();
    run_for(seconds);
    return out.frames;
  }
};

}  // namespace

TEST_GROUP(SimSickCompact){};

TEST(SimSickCompact, SendsNothingUntilItIsSetUp) {
  CompactBench bench;
  CHECK_EQUAL(0, bench.run(0.5).size());
  bench.set_up();
  const auto& frames = bench.run(0.1);
  CHECK_TRUE(frames.size() >= 18 && frames.size() <= 21);
  CHECK_EQUAL(0x7F000001, frames[0].way.to.ip);
  CHECK_EQUAL(2115, frames[0].way.to.port);
}

// As the recorded datagrams of a picoScan150 are.
TEST(SimSickCompact, ASegmentIsLaidOutAsRecorded) {
  CompactBench bench(sim::Options{{"preset", "on"}});
  const auto& frames = bench.run(0.2);
  std::size_t truth = 0;
  std::uint64_t counter = 0;
  for (const sim::Frame& frame : frames) {
    const hal::Bytes b = frame.bytes;
    check_crc(b);
    if (sim::get_le(b, 4, 4) == 2) continue;
    CHECK_EQUAL(3708, b.size());
    CHECK_EQUAL(counter, sim::get_le(b, 8, 8));
    ++counter;
    CHECK_EQUAL(4, sim::get_le(b, 24, 4));
    CHECK_EQUAL(3672, sim::get_le(b, 28, 4));
    const std::uint64_t segment = sim::get_le(b, 32, 8);
    CHECK_EQUAL((counter - 1) % 5, segment);
    CHECK_EQUAL((counter - 1) / 5, sim::get_le(b, 40, 8));
    CHECK_EQUAL(23020001, sim::get_le(b, 48, 4));
    CHECK_EQUAL(1, sim::get_le(b, 52, 4));
    CHECK_EQUAL(240, sim::get_le(b, 56, 4));
    CHECK_EQUAL(3, sim::get_le(b, 60, 4));
    const std::uint64_t start = sim::get_le(b, 64, 8), stop = sim::get_le(b, 72, 8);
    const std::uint64_t took = stop - start;
    CHECK_TRUE(segment == 4 ? took == 2517 || took == 2518 : took == 4149 || took == 4150);
    DOUBLES_EQUAL(sim::radians(-138.0 + 60.0 * static_cast<double>(segment)), double{f32(b, 84)},
                  1e-6);
    DOUBLES_EQUAL(1.0, double{f32(b, 92)}, 0);
    CHECK_EQUAL(0, sim::get_le(b, 96, 4));
    CHECK_EQUAL(0x00030301, sim::get_le(b, 100, 4));
    const std::uint64_t lag = sim::get_le(b, 16, 8) - stop;
    CHECK_TRUE(lag >= 1279 && lag <= 2781);
    const sim::ScanTruth& scan = bench.out.scans[truth++];
    CHECK_EQUAL(segment == 4 ? 145 : 240, scan.beams.size());
    CHECK_EQUAL(start * 1000, static_cast<std::uint64_t>(scan.device_ns));
    for (std::size_t i = 0; i < 240; ++i) {
      const std::size_t at = 104 + 15 * i;
      const double azimuth = (static_cast<double>(sim::get_le(b, at + 13, 2)) - 16384) / 5215;
      DOUBLES_EQUAL(sim::radians(-138.0 + 60.0 * static_cast<double>(segment) +
                                 0.25 * static_cast<double>(i)),
                    azimuth, 1e-4);
      const double range = i < scan.beams.size() ? scan.beams[i].range : 0.0;
      DOUBLES_EQUAL(range * 1000, static_cast<double>(sim::get_le(b, at, 2)), 0.51);
      if (i >= scan.beams.size()) continue;
      DOUBLES_EQUAL(scan.beams[i].angle, azimuth, 1e-4);
      const hal::Duration later = scan.beams[i].at - scan.beams[0].at;
      DOUBLES_EQUAL(static_cast<double>(i) * 17361.1111, static_cast<double>(later.count()), 3);
    }
  }
  CHECK_TRUE(counter >= 38);
}

TEST(SimSickCompact, AMultiScanSendsFourModulesInEachDatagram) {
  CompactBench bench(sim::Options{{"model", "multiScan136"}, {"preset", "on"}, {"imu", "off"}});
  const auto& frames = bench.run(0.2);
  CHECK_TRUE(frames.size() >= 46);
  for (const sim::Frame& frame : frames) {
    const hal::Bytes b = frame.bytes;
    check_crc(b);
    CHECK_EQUAL(6960, b.size());
    std::size_t at = 32, modules = 0;
    for (std::size_t size = sim::get_le(b, 28, 4); size != 0; ++modules) {
      const std::size_t lines = sim::get_le(b, at + 20, 4), beams = sim::get_le(b, at + 24, 4);
      CHECK_EQUAL(modules < 2 ? 7 : 1, lines);
      CHECK_EQUAL(modules < 2 ? 30 : 240, beams);
      const std::size_t next = at + 32 + 28 * lines + 4;
      CHECK_EQUAL(next + 8 + lines * beams * 7, at + size);
      if (modules == 0) DOUBLES_EQUAL(0.389304, double{f32(b, at + 32 + 16 * lines)}, 1e-4);
      at += size;
      size = sim::get_le(b, next, 4);
    }
    CHECK_EQUAL(4, modules);
    CHECK_EQUAL(b.size() - 4, at);
  }
}

TEST(SimSickCompact, MotionIsToldInItsOwnTelegrams) {
  CompactBench bench(sim::Options{{"preset", "on"}, {"motion", "rest"}});
  bench.run(1.0);
  std::size_t n = 0;
  for (const sim::Frame& frame : bench.out.frames) {
    const hal::Bytes b = frame.bytes;
    if (sim::get_le(b, 4, 4) != 2) continue;
    CHECK_EQUAL(64, b.size());
    CHECK_EQUAL(1, sim::get_le(b, 8, 4));
    DOUBLES_EQUAL(sim::kStandardGravity, double{f32(b, 20)}, 1e-5);
    DOUBLES_EQUAL(1.0, double{f32(b, 36)}, 1e-6);
    const sim::ImuTruth& truth = bench.out.imus[n++];
    CHECK_EQUAL(static_cast<std::uint64_t>(truth.device_ns), 1000 * sim::get_le(b, 52, 8));
  }
  CHECK_TRUE(n == 100 || n == 101);
}

TEST(SimSickCompact, WithoutAnImuItKnowsNoSettingsOfOne) {
  CompactBench bench(sim::Options{{"model", "picoScan120"}});
  bench.ask("sMN SetAccessMode 4 81BE23AA");
  STRCMP_EQUAL("sFA 3", bench.ask("sWN ImuDataEthSettings 1 +127 +0 +0 +1 +7503").c_str());
  STRCMP_EQUAL("sFA 3", bench.ask("sWN ImuDataEnable 1").c_str());
}

TEST(SimSickCompact, WhoIsNotLoggedInSetsNothing) {
  CompactBench bench;
  STRCMP_EQUAL("sFA A", bench.ask("sWN ScanDataEnable 1").c_str());
  STRCMP_EQUAL("sFA 1", bench.ask("sMN LMCstartmeas").c_str());
  STRCMP_EQUAL("sAN SetAccessMode 0", bench.ask("sMN SetAccessMode 4 12345678").c_str());
}

TEST(SimSickCompact, SettingsAreReadBack) {
  CompactBench bench;
  bench.ask("sMN SetAccessMode 3 F4724744");
  bench.ask("sWN ScanDataEthSettings 1 +192 +168 +0 +7 +2115");
  STRCMP_EQUAL("sRA ScanDataEthSettings 1 C0 A8 0 7 843",
               bench.ask("sRN ScanDataEthSettings").c_str());
  STRCMP_EQUAL("sFA 5", bench.ask("sWN ScanDataEthSettings 1 +192 +168").c_str());
  STRCMP_EQUAL("sFA 4", bench.ask("sWN ScanDataFormat 3").c_str());
  STRCMP_EQUAL("sFA 3", bench.ask("sRN LMPscancfg").c_str());
}

TEST(SimSickCompact, ALossOfPowerForgetsWhatWasNotStored) {
  for (const bool stores : {false, true}) {
    CompactBench bench;
    bench.set_up();
    if (stores) {
      bench.ask("sMN SetAccessMode 4 81BE23AA");
      STRCMP_EQUAL("sAN mEEwriteall 1", bench.ask("sMN mEEwriteall").c_str());
    }
    CHECK_TRUE(!bench.run(0.1).empty());
    bench.clock.restart(bench.now);
    bench.model->power_up(bench.now, bench.out);
    CHECK_TRUE(bench.run(0.1).empty() != stores);
    if (stores) CHECK_EQUAL(0, sim::get_le(bench.out.frames[0].bytes, 8, 8));
  }
}

TEST(SimSickCompact, OffIsOffAtOnce) {
  CompactBench bench;
  bench.set_up();
  bench.ask("sMN SetAccessMode 4 81BE23AA");
  bench.ask("sWN ScanDataEnable 0");
  CHECK_TRUE(bench.run(0.2).empty());
}

TEST(SimSickCompact, StampsAreUnixTimeWhereItIsSynchronised) {
  CompactBench bench(sim::Options{{"preset", "on"}, {"unix_s", "1700000000"}});
  const auto& frames = bench.run(0.1);
  CHECK_EQUAL(1700000000, sim::get_le(frames[0].bytes, 52, 8) / 1'000'000);  // of the IMU
}

TEST(SimSickCompact, TheThirdVersionHasNoScaleAndTellsAzimuthsFirst) {
  CompactBench bench(sim::Options{{"preset", "on"}, {"version", "3"}, {"imu", "off"}});
  const hal::Bytes b = bench.run(0.1)[0].bytes;
  check_crc(b);
  CHECK_EQUAL(3704, b.size());
  const double azimuth = (static_cast<double>(sim::get_le(b, 100 + 12, 2)) - 16384) / 5215;
  DOUBLES_EQUAL(sim::radians(-138), azimuth, 1e-4);
}

TEST(SimSickCompact, WrongValuesKeepTheirCrc) {
  CompactBench bench(sim::Options{{"preset", "on"}});
  sim::Random random(5);
  for (sim::Frame frame : bench.run(0.1)) {
    bench.model->falsify(frame.bytes, random);
    check_crc(frame.bytes);
  }
}
