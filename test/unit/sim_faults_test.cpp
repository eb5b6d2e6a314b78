#include "test/sim/faults.h"

#include <bit>
#include <cstring>
#include <string>

#include "test/sim/fault_injector.h"
#include "test/sim/uart.h"
#include "test/support/harness.h"
#include "test/unit/sim_fixture.h"

using sim::FaultKind;
using sim::Outgoing;
using sim_test::kStart;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr const char* kKinds[] = {
    "off",       "stuck",   "garbage",  "wrong", "slow",    "delayed", "intermittent", "drop",
    "duplicate", "reorder", "truncate", "split", "bitflip", "reset",   "wrap",         "drift",
    "wander",    "jitter",  "jump",     "stall", "baud",    "unplug"};

// Sends numbered frames of ten bytes, one each millisecond, through one fault.
class Line {
 public:
  explicit Line(const char* fault, std::uint64_t seed = 1)
      : bench_("ldrobot"), injector_({*sim::parse_fault(fault)}, kStart, seed) {}

  const std::vector<Outgoing>& send(int count, bool is_reply = false) {
    for (int i = 0; i < count; ++i, ++sent_)
      injector_.pass({kStart + milliseconds(sent_), sim::Way{}, is_reply,
                      sim::ByteVector(10, static_cast<std::byte>(sent_))},
                     *bench_.model, out_);
    return out_;
  }
  std::string numbers() const {
    std::string text;
    for (const Outgoing& frame : out_)
      text += std::to_string(std::to_integer<int>(frame.bytes[0])) + " ";
    return text;
  }
  sim::FaultInjector& injector() { return injector_; }

 private:
  sim_test::Bench bench_;
  sim::FaultInjector injector_;
  std::vector<Outgoing> out_;
  int sent_ = 0;
};

}  // namespace

TEST_GROUP(SimFaults){};

TEST(SimFaults, EveryKindOfTheContractIsKnown) {
  for (const char* const kind : kKinds) {
    auto fault = sim::parse_fault(kind);
    CHECK_TRUE(static_cast<bool>(fault));
    STRCMP_EQUAL(kind, std::string(sim::name_of(fault->kind)).c_str());
  }
}

TEST_GROUP(SimFaultSpec){};

TEST(SimFaultSpec, TakesEveryPart) {
  auto fault = sim::parse_fault("garbage=32@1.5+2.25%40");
  CHECK_TRUE(fault->kind == FaultKind::garbage);
  DOUBLES_EQUAL(32.0, fault->value, 0.0);
  CHECK_TRUE(fault->start == milliseconds(1500));
  CHECK_TRUE(fault->duration == milliseconds(2250));
  DOUBLES_EQUAL(0.4, fault->share, 1e-12);
}

TEST(SimFaultSpec, LeavesDefaultsWhereNothingIsSaid) {
  auto drop = sim::parse_fault("drop");
  DOUBLES_EQUAL(0.1, drop->share, 1e-12);
  CHECK_TRUE(drop->start == hal::Duration::zero());
  CHECK_TRUE(drop->duration == hal::Duration::max());
  CHECK_TRUE(sim::parse_fault("unplug@3")->duration == seconds(1));
  CHECK_TRUE(sim::parse_fault("off@3")->duration == hal::Duration::max());
  DOUBLES_EQUAL(200.0, sim::parse_fault("drift")->value, 0.0);
  DOUBLES_EQUAL(-30.0, sim::parse_fault("drift=-30@2")->value, 0.0);
  DOUBLES_EQUAL(0.25, sim::parse_fault("reorder%25")->share, 1e-12);
}

TEST(SimFaultSpec, RefusesWhatMakesNoSense) {
  for (const char* const bad : {"", "offf", "drop%101", "drop%-1", "drop%x", "drop=3", "split=0",
                                "split=x", "garbage=", "off@", "off@x", "off@-1", "off@1+",
                                "off@1+0", "off@1+-2", "jitter=-1", "=3", "drift=nan"}) {
    auto fault = sim::parse_fault(bad);
    CHECK_FALSE(static_cast<bool>(fault));
    CHECK_TRUE(std::strstr(fault.error().detail.c_str(), bad) != nullptr);
  }
}

TEST_GROUP(SimFaultInjector){};

TEST(SimFaultInjector, DropLosesTheShareAskedFor) {
  Line line("drop%30");
  const auto kept = line.send(1000).size();
  CHECK_TRUE(kept > 640 && kept < 760);
}

TEST(SimFaultInjector, TheSameSeedHitsTheSameFrames) {
  Line a("drop%30", 5), b("drop%30", 5), c("drop%30", 6);
  a.send(200), b.send(200), c.send(200);
  CHECK_TRUE(a.numbers() == b.numbers());
  CHECK_TRUE(a.numbers() != c.numbers());
}

TEST(SimFaultInjector, AFaultHoldsInItsWindowOnly) {
  Line line("drop@0.003+0.002%100");
  line.send(8);
  STRCMP_EQUAL("0 1 2 5 6 7 ", line.numbers().c_str());
}

TEST(SimFaultInjector, DuplicateSendsTwice) {
  Line line("duplicate@0+0.002%100");
  line.send(3);
  STRCMP_EQUAL("0 0 1 1 2 ", line.numbers().c_str());
}

TEST(SimFaultInjector, ReorderSwapsNeighboursAndLosesNothing) {
  Line line("reorder@0+0.001%100");
  line.send(3);
  STRCMP_EQUAL("1 0 2 ", line.numbers().c_str());
}

TEST(SimFaultInjector, StuckRepeatsTheLastMeasurementButAnswersGo) {
  Line line("stuck@0.002");
  line.send(4);
  line.send(1, true);
  STRCMP_EQUAL("0 1 1 1 4 ", line.numbers().c_str());
}

TEST(SimFaultInjector, SlowKeepsOneInSoMany) {
  Line line("slow=3");
  line.send(7);
  STRCMP_EQUAL("0 3 6 ", line.numbers().c_str());
}

TEST(SimFaultInjector, IntermittentIsMuteEveryOtherHalf) {
  Line line("intermittent=4");
  line.send(9);
  STRCMP_EQUAL("0 1 4 5 8 ", line.numbers().c_str());
}

TEST(SimFaultInjector, DelayedMovesTheInstant) {
  Line line("delayed=20");
  CHECK_TRUE(line.send(1)[0].at == kStart + milliseconds(20));
}

TEST(SimFaultInjector, TruncateCutsTheEnd) {
  Line fixed("truncate=4%100");
  CHECK_EQUAL(4, fixed.send(1)[0].bytes.size());
  Line random("truncate%100");
  for (const Outgoing& frame : random.send(200))
    CHECK_TRUE(frame.bytes.size() >= 1 && frame.bytes.size() < 10);
}

TEST(SimFaultInjector, SplitGivesPiecesThatMakeTheFrame) {
  Line line("split=4");
  const auto& pieces = line.send(1);
  CHECK_EQUAL(3, pieces.size());
  CHECK_EQUAL(4, pieces[0].bytes.size());
  CHECK_EQUAL(2, pieces[2].bytes.size());
}

TEST(SimFaultInjector, BitflipInvertsOneBit) {
  Line line("bitflip%100");
  int flipped = 0;
  for (const std::byte b : line.send(1)[0].bytes)
    flipped += std::popcount(std::to_integer<unsigned>(b));
  CHECK_EQUAL(1, flipped);
}

TEST(SimFaultInjector, GarbageStandsBeforeTheFrame) {
  Line line("garbage=5%100");
  std::size_t noise = 0, frames = 0;
  for (const Outgoing& part : line.send(100)) {
    if (part.bytes.size() == 10) ++frames;
    if (part.bytes.size() <= 5) ++noise;
  }
  CHECK_EQUAL(100, frames);
  CHECK_TRUE(noise > 60);
}

TEST(SimFaultInjector, SaysWhenTheStateChanges) {
  Line line("unplug@2+1");
  const sim::FaultInjector& faults = line.injector();
  CHECK_TRUE(faults.next_change(kStart) == kStart + seconds(2));
  CHECK_TRUE(faults.next_change(kStart + seconds(2)) == kStart + seconds(3));
  CHECK_TRUE(faults.next_change(kStart + seconds(3)) == sim::kNever);
  CHECK_TRUE(faults.is_plugged(kStart + seconds(1)));
  CHECK_FALSE(faults.is_plugged(kStart + seconds(2)));
  CHECK_FALSE(faults.is_powered(kStart + seconds(2)));
  CHECK_TRUE(faults.is_plugged(kStart + seconds(3)));
}

TEST(SimFaultInjector, AResetLastsAsLongAsTheBootTakes) {
  Line line("reset=0.3@2");
  CHECK_FALSE(line.injector().is_powered(kStart + milliseconds(2299)));
  CHECK_TRUE(line.injector().is_powered(kStart + milliseconds(2300)));
}

TEST(SimFaultInjector, AWrongBaudIsHalfUnlessSaid) {
  Line half("baud"), said("baud=9600");
  CHECK_EQUAL(57600, half.injector().line_baud(kStart, 115200));
  CHECK_EQUAL(9600, said.injector().line_baud(kStart, 115200));
}

TEST_GROUP(SimUart){};

TEST(SimUart, EqualRatesChangeNothing) {
  const auto bytes = sim_test::bytes_of("54 2C 00 FF");
  CHECK_TRUE(sim::resample(bytes, 115200, 115200) == bytes);
  CHECK_TRUE(sim::resample(bytes, 115200, 0) == bytes);
}

TEST(SimUart, TwoPercentOffIsStillUnderstood) {
  const auto bytes = sim_test::bytes_of("54 2C 00 FF AA 55");
  CHECK_TRUE(sim::resample(bytes, 115200, 117500) == bytes);
  CHECK_TRUE(sim::resample(bytes, 115200, 113000) == bytes);
}

TEST(SimUart, HalfTheRateGivesOtherBytes) {
  const auto bytes = sim_test::bytes_of("54 2C 00 FF AA 55 54 2C");
  const auto slow = sim::resample(bytes, 115200, 57600);
  CHECK_TRUE(!slow.empty() && slow.size() < bytes.size());
  // 0x00 at half the sender's rate: eighteen low bits at the receiver, the stop bit is its last.
  STRCMP_EQUAL("00 80",
               sim_test::hex_of(sim::resample(sim_test::bytes_of("00"), 57600, 115200)).c_str());
}
