// Safety scanners: fragments framed, telegrams decoded, from the description of the protocol.
#include "drivers/sick_safety/sick_safety.h"

#include <numbers>

#include "drivers/decoder.h"
#include "test/support/allocation_counter.h"
#include "test/support/framing_properties.h"
#include "test/support/hex.h"
#include "test/support/manual_clock.h"
#include "test/support/packet_log.h"
#include "test/support/safety_data.h"

using namespace drivers;
using namespace std::chrono_literals;
using namespace test::safety;
using test::hex;
using test::Stream;

TEST_GROUP(SickSafety) {
  test::ManualClock clock;
  test::PacketLog log;
  Options options{SickSafety::options()};
  std::unique_ptr<DeviceDecoder<SickSafety>> decoder;
  std::uint32_t id = 0;

  void setup() override { open(); }
  void set(std::string_view key, std::string_view value) {
    CHECK_TRUE(static_cast<bool>(options.set(key, value)));
    open();
  }
  void open() {
    log = {};
    decoder = std::make_unique<DeviceDecoder<SickSafety>>(options, 0, log);
  }
  void feed(const Stream& datagram) { decoder->feed({datagram, clock.now(), 0ns, 0, true}); }
  void send(const Scan& scan) {
    clock.advance(30ms);
    for (const Stream& datagram : fragments(payload(scan), ++id)) feed(datagram);
  }
  Scan scan_of(std::vector<Point> given) {
    Scan scan;
    scan.points = std::move(given);
    return scan;
  }
  void beam_is(const Beam& b, double deg, double mm) {
    DOUBLES_EQUAL(deg * std::numbers::pi / 180, b.angle, 2e-6);
    DOUBLES_EQUAL(mm / 1000, b.range, 1e-6);
  }
};

TEST(SickSafety, TheWorkedExamplesAreReadFieldByField) {
  const Stream header = hex("4d533320 4d44 01 01 58360000 07000000 9c050000 00000000 ff");
  CHECK_TRUE(safety::is_fragment(header));
  const safety::Fragment fragment = safety::fragment_in(header);
  LONGS_EQUAL(13912, fragment.total);
  LONGS_EQUAL(7, fragment.id);
  LONGS_EQUAL(1436, fragment.offset);
  const Stream block = hex("0100 bf0a 1e00 0000 000020f4 66660600 08000000 00000000");
  const safety::Derived derived = safety::derived_in(block);
  LONGS_EQUAL(1, derived.factor);
  LONGS_EQUAL(30, derived.scan_ms);
  DOUBLES_EQUAL(-47.5, derived.first / 4194304.0, 0);
  DOUBLES_EQUAL(0.1, derived.step / 4194304.0, 1e-6);
  send(scan_of({{2000, 100, 1}, {40000, 0, 2}, {1500, 7, 1}}));
  LONGS_EQUAL(3, log.beams.at(0).size());
  beam_is(log.beams[0][0], -137.5, 2000);
  beam_is(log.beams[0][1], -137.4, 0);
  beam_is(log.beams[0][2], -137.3, 1500);
  DOUBLES_EQUAL(100, log.beams[0][0].intensity, 0);
}

TEST(SickSafety, AWholeScanOfTenFragmentsHasItsBeamsTimesAndAngles) {
  Scan scan = scan_of(points(2751));
  scan.factor = 2;
  send(scan);
  LONGS_EQUAL(1, log.slices.size());
  const ScanSlice& slice = log.slices[0];
  LONGS_EQUAL(2751, slice.beams.size());
  CHECK_TRUE(slice.starts_turn && slice.has_intensity);
  LONGLONGS_EQUAL(5'000'000'000, *slice.device_ns);
  for (std::size_t i = 0; i < 2751; ++i) {
    beam_is(slice.beams[i], -137.5 + double(i) * 419430 / 4194304, 2.0 * double(1000 + i));
    DOUBLES_EQUAL(double(i % 256), slice.beams[i].intensity, 0);
  }
  LONGLONGS_EQUAL(8333, slice.step.count());  // a turn of 30 ms
  const DecoderStats s = decoder->stats();
  LONGS_EQUAL(8, s.framing.frames);
  LONGS_EQUAL(s.framing.bytes, s.framing.frame_bytes);
}

TEST(SickSafety, TheTimeBetweenBeamsIsTheDevicesOwnWhereItsScanTimeSaysOtherwise) {
  safety::Derived derived{1, 30, 0, 419430, 11};
  LONGLONGS_EQUAL(11'000, safety::beam_time(derived).count());
  derived.beam_us = 0;
  LONGLONGS_EQUAL(8333, safety::beam_time(derived).count());
  derived.beam_us = 4'000'000;  // longer than the scan
  LONGLONGS_EQUAL(8333, safety::beam_time(derived).count());
  derived = {1, 0, 0, 419430, 8};
  LONGLONGS_EQUAL(8000, safety::beam_time(derived).count());
}

TEST(SickSafety, TheStatusOfABeamDecidesWhetherItReturns) {
  send(scan_of({{1000, 1, 1},
                {1000, 2, 0},
                {1000, 3, 2},
                {1000, 4, 4},
                {1000, 5, 5},
                {1000, 6, 9},
                {1000, 7, 16},
                {1000, 8, 33},
                {1000, 9, 18}}));
  const double kReturns[] = {1, 0, 0, 0, 1, 1, 1, 1, 0};
  for (std::size_t i = 0; i < 9; ++i) {
    DOUBLES_EQUAL(kReturns[i], log.beams.at(0)[i].range, 1e-6);
    DOUBLES_EQUAL(double(i + 1), log.beams[0][i].intensity, 0);
  }
}

TEST(SickSafety, TheFlagsStandAboveTheReflectivityOnDemand) {
  set("intensity", "flags");
  send(scan_of({{1000, 100, 9}, {0, 255, 2}}));
  DOUBLES_EQUAL(9 * 256 + 100, log.beams.at(0)[0].intensity, 0);
  DOUBLES_EQUAL(2 * 256 + 255, log.beams[0][1].intensity, 0);
}

TEST(SickSafety, ADateMakesTheStampUnixTime) {
  Scan scan = scan_of(points(3));
  scan.days = 19'000, scan.ms = 3'600'000;
  send(scan);
  LONGLONGS_EQUAL((19'730 * 86'400LL + 3600) * 1'000'000'000, *log.slices.at(0).device_ns);
}

TEST(SickSafety, ADateThatNobodyLivesToSeeIsUndecodable) {
  Scan scan = scan_of(points(3));
  scan.days = 65'535;
  send(scan);
  LONGS_EQUAL(0, log.slices.size());
  LONGS_EQUAL(1, decoder->stats().undecodable);
}

TEST(SickSafety, MillisecondsSincePowerOnGoOnBehindTheirWrap) {
  Scan scan = scan_of(points(3));
  scan.ms = 0xFFFF'FFFF;
  send(scan);
  scan.ms = 29;
  send(scan);
  LONGLONGS_EQUAL(30'000'000, *log.slices.at(1).device_ns - *log.slices.at(0).device_ns);
}

TEST(SickSafety, EveryBlockMayBeMissing) {
  Scan scan = scan_of(points(5));
  scan.has_derived = false;
  send(scan);
  LONGS_EQUAL(0, log.slices.size());  // no angles yet
  scan.has_derived = true;
  send(scan);
  LONGS_EQUAL(1, log.slices.size());
  scan.has_derived = scan.has_state = false;
  scan.ms += 30, scan.sequence += 1;
  send(scan);
  LONGS_EQUAL(2, log.slices.size());
  beam_is(log.beams[1][0], -137.5, 1000);
  scan.has_measurement = false;
  scan.ms += 30;
  send(scan);
  scan.has_measurement = true, scan.points.clear();
  scan.ms += 30;
  send(scan);
  LONGS_EQUAL(2, log.slices.size());
  LONGS_EQUAL(0, decoder->stats().undecodable);
}

TEST(SickSafety, APayloadThatContradictsItselfIsUndecodable) {
  const Stream good = payload(scan_of(points(100)));
  const struct {
    std::size_t at;
    std::uint64_t value;
    int bytes;
  } kWrong[] = {{0, 'X', 1},              // no data header
                {40, 65000, 2},           // the measurement behind the end
                {42, 65000, 2},           // or longer than it is
                {36, 10, 2},              // derived values within the header
                {38, 19, 2},              // shorter than its fields
                {44, 60, 2},              // intrusion whose size is set below
                {60 + 16 + 24, 2752, 4},  // more beams than there are
                {60 + 16 + 24, 102, 4}};  // or than fit
  for (const auto& wrong : kWrong) {
    open();
    Stream bad = good;
    put_at(bad, wrong.at, wrong.value, wrong.bytes);
    if (wrong.at == 44) put_at(bad, 46, 65000, 2);
    for (const Stream& datagram : fragments(bad, ++id)) feed(datagram);
    LONGS_EQUAL(0, log.slices.size());
    LONGS_EQUAL(1, decoder->stats().undecodable);
  }
}

TEST(SickSafety, OtherChannelsAndOtherDevicesDoNotMixIn) {
  Scan scan = scan_of(points(5));
  scan.channel = 2;
  send(scan);
  Scan other = scan;
  other.channel = 1;
  other.ms += 10;
  send(other);
  other = scan;
  other.serial = 5;
  other.ms += 20;
  send(other);
  LONGS_EQUAL(1, log.slices.size());
  set("channel", "1");
  send(scan);
  LONGS_EQUAL(0, log.slices.size());
  scan.channel = 1;
  send(scan);
  LONGS_EQUAL(1, log.slices.size());
}

TEST(SickSafety, ForeignShortAndLongDatagramsSwallowNothing) {
  const std::vector<Stream> good = fragments(payload(scan_of(points(2751))), 1);
  test::Random random(5);
  std::uint64_t junk = 0;
  for (const Stream& datagram : good) {
    Stream foreign = hex("4c69646172 2d4c4f43 00 01 02 03");
    Stream torn(datagram.begin(),
                datagram.begin() + static_cast<std::ptrdiff_t>(1 + random.below(24)));
    Stream bad = datagram;
    put_at(bad, 8, 1'000'000, 4);  // a payload longer than there are
    Stream behind = datagram;
    put_at(behind, 16, 20'000, 4);  // behind its end
    for (const Stream& one : {foreign, torn, bad, behind}) {
      junk += one.size();
      feed(one);
    }
    feed(datagram);
  }
  LONGS_EQUAL(1, log.slices.size());
  LONGS_EQUAL(junk, decoder->stats().framing.garbage_bytes);
  LONGS_EQUAL(good.size(), decoder->stats().framing.frames);
}

TEST(SickSafety, RecordedBytesAreCutWhereTheNextFragmentBegins) {
  Stream all;
  std::vector<Stream> sent;
  Scan scan = scan_of(points(2751));
  for (std::uint32_t k = 1; k <= 3; ++k, scan.ms += 30) {
    for (const Stream& datagram : fragments(payload(scan), k, 700 + 100 * k)) {
      test::append(all, datagram);
      sent.push_back(datagram);
    }
  }
  const test::Cut whole = test::cut(safety::Framing(), all);
  CHECK_TRUE(whole.frames == sent);
  test::Random random(6);
  CHECK_TRUE(test::cut(safety::Framing(), all, &random, 256).frames == sent);
  for (std::size_t at = 0; at < all.size(); at += 256) {
    decoder->feed(
        {hal::Bytes(all).subspan(at, std::min<std::size_t>(256, all.size() - at)), clock.now()});
  }
  decoder->finish();
  LONGS_EQUAL(3, log.slices.size());
  LONGS_EQUAL(0, decoder->stats().tail_bytes);
}

TEST(SickSafety, LossesAreCountedAndAlikeDevicesAreRecognised) {
  SickSafety device(options);
  Decoded out;
  std::uint64_t lost = 0, parts = 0;
  const auto give = [&](const Stream& datagram) {
    out.clear();
    device.decode(Frame{datagram, clock.now(), clock.now()}, out);
    lost += out.lost(), parts += out.lost_parts();
  };
  Scan scan = scan_of(points(2751));
  const auto all = [&](std::uint32_t number) {
    scan.sequence = number, scan.ms = 30 * number;
    clock.advance(30ms);
    return fragments(payload(scan), number);
  };
  for (const Stream& datagram : all(1)) give(datagram);
  const std::vector<Stream> second = all(2);
  for (std::size_t i = 0; i < second.size(); ++i) {
    if (i != 3 && i != 5) give(second[i]);
  }
  for (const Stream& datagram : all(5)) give(datagram);
  LONGS_EQUAL(3, lost);  // 2 to 4
  clock.advance(1s);
  for (const Stream& datagram : all(6)) give(datagram);
  LONGS_EQUAL(3, lost);
  LONGS_EQUAL(2, parts);
  DOUBLES_EQUAL(1, SickSafety::likeness(second[0]), 0);
  DOUBLES_EQUAL(0, SickSafety::likeness(hex("4d5333")), 0);
}

TEST(SickSafety, WhatAilsTheDeviceIsTold) {
  const struct {
    unsigned state, errors;
    const char* words;
  } kRows[] = {{1, 0, ""},
               {4, 0, "contamination warning"},
               {12, 0, "contamination error"},
               {1, 1, "application error"},
               {1, 3, "device error"}};
  for (const auto& row : kRows) {
    SickSafety device(options);
    Scan scan = scan_of(points(3));
    scan.state = row.state, scan.errors = row.errors;
    Decoded out;
    const Stream datagram = fragments(payload(scan), 1).at(0);
    device.decode(Frame{datagram, clock.now(), clock.now()}, out);
    STRCMP_CONTAINS(row.words, out.fault().c_str());
    LONGS_EQUAL(*row.words == '\0', out.fault().empty());
    LONGS_EQUAL(1, out.items().size());
  }
}

TEST(SickSafety, DecodingAllocatesNothing) {
  Scan scan = scan_of(points(2751));
  const std::vector<Stream> datagrams = fragments(payload(scan), 1);
  test::PacketCounter counted;
  DeviceDecoder<SickSafety> quiet(options, 0, counted);
  const test::AllocationCounter counter;
  for (const Stream& datagram : datagrams) quiet.feed({datagram, clock.now(), 0ns, 0, true});
  LONGS_EQUAL(0, counter.count());
  LONGS_EQUAL(1, counted.packets);
}

TEST(SickSafety, TwoDevicesInterleavedAreAsEachAlone) {
  test::PacketLog other_log;
  DeviceDecoder<SickSafety> other(options, 0, other_log);
  Scan one = scan_of(points(2751)), two = scan_of(points(1651, 5000));
  two.step = 713031, two.serial = 9;
  const std::vector<Stream> a = fragments(payload(one), 1), b = fragments(payload(two), 1);
  for (std::size_t i = 0; i < a.size(); ++i) {
    feed(a[i]);
    if (i < b.size()) other.feed({b[i], clock.now(), 0ns, 0, true});
  }
  beam_is(log.beams.at(0)[10], -136.5, 1010);
  beam_is(other_log.beams.at(0)[10], -137.5 + 10 * 713031.0 / 4194304, 5010);
}

TEST(SickSafety, GarbageIsBoundedWork) {
  const std::vector<Stream> good = fragments(payload(scan_of(points(500))), 1);
  test::check_garbage_and_splits(safety::Framing(safety::Framing::Of::commands),
                                 {message(5, 1, "OA"), message(5, 2, "RA", hex("0d00 0100 41"))});
  test::check_work_is_bounded(safety::Framing(), good);
}
