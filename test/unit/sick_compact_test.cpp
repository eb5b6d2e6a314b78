// Compact telegrams decoded, from their description.
#include "drivers/sick_compact/sick_compact.h"

#include <cmath>
#include <memory>

#include "drivers/decoder.h"
#include "test/support/allocation_counter.h"
#include "test/support/compact_telegram.h"
#include "test/support/framing_properties.h"
#include "test/support/packet_log.h"

using namespace drivers;
using namespace std::chrono_literals;
using namespace test::compact;
using test::Stream;

TEST_GROUP(SickCompact) {
  test::PacketLog log;
  Options options{SickCompact::options()};
  std::unique_ptr<DeviceDecoder<SickCompact>> decoder;
  hal::Time now{1000s};

  void setup() override { open(); }
  void open() {
    log = {};
    decoder = std::make_unique<DeviceDecoder<SickCompact>>(options, 0, log);
  }
  void set(std::string_view key, std::string_view value) {
    CHECK_TRUE(static_cast<bool>(options.set(key, value)));
    open();
  }
  void feed(const Stream& datagram) { decoder->feed({datagram, now += 4167us}); }
  // The numbers of the picoScan segments that came out.
  std::vector<std::uint64_t> delivered() const {
    std::vector<std::uint64_t> out;
    for (const ScanSlice& slice : log.slices) {
      const auto us = static_cast<std::uint64_t>(*slice.device_ns / 1000 - 1'000'000);
      out.push_back(us / 25'000 * 5 + (us % 25'000 + 2000) / 4166);
    }
    return out;
  }
  void were_delivered(const std::vector<std::uint64_t>& expected) {
    CHECK_TRUE(delivered() == expected);
  }
};

TEST(SickCompact, DecodesASegment) {
  feed(pico(2));
  LONGS_EQUAL(1, log.slices.size());
  const ScanSlice& slice = log.slices[0];
  LONGS_EQUAL(240, slice.beams.size());
  CHECK_TRUE(slice.has_intensity);
  CHECK_TRUE(slice.echoes.empty());
  CHECK_FALSE(slice.starts_turn);
  LONGLONGS_EQUAL((1'000'000 + 12'500 * 2 / 3) * 1000LL, *slice.device_ns);
  LONGLONGS_EQUAL(17'361, slice.step.count());
  for (std::size_t i : {0U, 1U, 100U, 239U}) {
    DOUBLES_EQUAL((-18 + 0.25 * static_cast<double>(i)) * kDegree, slice.beams[i].angle, 1e-4);
    DOUBLES_EQUAL(1.0 + 0.001 * static_cast<double>(i), slice.beams[i].range, 1e-6);
    DOUBLES_EQUAL(20'000.0 + static_cast<double>(i), slice.beams[i].intensity, 0);
  }
}

TEST(SickCompact, EveryEchoIsThere) {
  Module m = pico_module(1, 3);
  m.distance = [](unsigned beam, unsigned, unsigned echo) { return 500 * (echo + 1) + beam; };
  feed(telegram(1, m.lines[0].last_us + 1900, {m}));
  const ScanSlice& slice = log.slices.at(0);
  LONGS_EQUAL(480, slice.echoes.size());
  for (std::size_t i = 0; i < 240; ++i) {
    DOUBLES_EQUAL(0.5 + 0.001 * static_cast<double>(i), slice.beams[i].range, 1e-6);
    for (std::size_t e = 0; e < 2; ++e) {
      const Echo& echo = slice.echoes_of(i)[e];
      DOUBLES_EQUAL(0.5 * static_cast<double>(e + 2) + 0.001 * static_cast<double>(i), echo.range,
                    1e-6);
      DOUBLES_EQUAL(20'000.0 + static_cast<double>(i + e + 1), echo.intensity, 0);
    }
  }
}

TEST(SickCompact, EveryVariationOfTheContentIsRead) {
  for (const unsigned version : {3U, 4U})
    for (const unsigned echo : {1U, 3U})
      for (const unsigned beam : {0U, 1U, 2U, 3U}) {
        open();
        Module m = pico_module(1, 2);
        m.echo_content = echo;
        m.beam_content = beam;
        m.scale = 2.5F;
        feed(telegram(1, m.lines[0].last_us + 1900, {m}, version));
        const ScanSlice& slice = log.slices.at(0);
        LONGS_EQUAL(240, slice.beams.size());
        CHECK_EQUAL(echo == 3, slice.has_intensity);
        const double scale = version == 4 ? 2.5 : 1;
        DOUBLES_EQUAL(-78 * kDegree, slice.beams[0].angle, 1e-4);
        DOUBLES_EQUAL(-18.25 * kDegree, slice.beams[239].angle, 1e-4);
        DOUBLES_EQUAL(1.239 * scale, slice.beams[239].range, 1e-5);
        DOUBLES_EQUAL(0, slice.echoes[0].range, 0);
      }
}

TEST(SickCompact, WithoutDistancesItMakesNoSense) {
  Module m = pico_module(1);
  m.echo_content = 2;
  feed(telegram(1, m.lines[0].last_us + 1900, {m}));
  LONGS_EQUAL(0, log.slices.size());
  LONGS_EQUAL(1, decoder->stats().undecodable);
}

TEST(SickCompact, ATurnIsOf1105BeamsAndEndsWithTheField) {
  for (std::uint64_t n = 0; n < 15; ++n) feed(pico(n));
  LONGS_EQUAL(15, log.slices.size());
  std::size_t beams = 0;
  for (std::size_t i = 0; i < 15; ++i) {
    CHECK_EQUAL(i % 5 == 0, log.slices[i].starts_turn);
    LONGLONGS_EQUAL(17'361, log.slices[i].step.count());
    beams += log.slices[i].beams.size();
  }
  LONGS_EQUAL(3 * 1105, beams);
  LONGS_EQUAL(145, log.slices[4].beams.size());
  DOUBLES_EQUAL(138 * kDegree, log.slices[4].beams.back().angle, 1e-4);
}

TEST(SickCompact, TheLastSegmentAloneTellsTheSpeedAsWell) {
  feed(pico(4));
  LONGLONGS_EQUAL(17'361, log.slices.at(0).step.count());
  LONGS_EQUAL(145, log.slices[0].beams.size());
}

TEST(SickCompact, AFieldThatWasNarrowedDoesNotChangeTheSpeed) {
  set("family", "multiscan");  // nothing is cut: the last segment seems faster
  for (std::uint64_t n = 0; n < 50; ++n) feed(pico(n));
  LONGS_EQUAL(240, log.slices[4].beams.size());
  for (const ScanSlice& slice : log.slices) LONGLONGS_EQUAL(17'361, slice.step.count());
}

TEST(SickCompact, ADeviceThatIsSetToAnotherSpeedIsFollowed) {
  std::uint64_t us = 1'000'000;
  const auto turn = [&](double hz, std::uint64_t from) {
    for (std::uint64_t n = from; n < from + 30; ++n) {
      Module m = pico_module(n % 4);
      m.frame = n / 4;
      m.lines[0].first_us = us;
      m.lines[0].last_us = us + static_cast<std::uint64_t>(59.75 / 360 / hz * 1e6);
      us += static_cast<std::uint64_t>(60.0 / 360 / hz * 1e6);
      feed(telegram(n, m.lines[0].last_us + 1900, {m}));
    }
    const double step_ns = 0.25 / 360 / hz * 1e9;
    DOUBLES_EQUAL(step_ns, static_cast<double>(log.slices.back().step.count()), 2e-4 * step_ns);
  };
  turn(20, 0);
  turn(15, 30);
  turn(50, 60);
  turn(12.5, 90);
}

TEST(SickCompact, OneLayerOfAMultiScanIsTaken) {
  // As captured: two modules of 7 lines of 30 beams, two of one line of 240 beams.
  const auto module = [](std::vector<float> elevations_deg, unsigned beams, unsigned base) {
    Module m;
    m.beams = beams;
    m.lines.clear();
    for (const float e : elevations_deg) {
      const auto late = static_cast<std::uint64_t>(10 * m.lines.size());
      m.lines.push_back({5'000'000 + base + late, 5'000'000 + base + late + 4027, -e * kDegree,
                         (1.0F + 0.1F * static_cast<float>(late)) * kDegree, 30.0F * kDegree});
    }
    return m;
  };
  const std::vector<Module> modules{
      module({-22.3F, -17.2F, -12.3F, -7.3F, -2.5F, 2.5F, 7.3F}, 30, 0), module({0.1F}, 240, 3),
      module({12.8F, 17.3F, 21.8F, 26.6F, 31.5F, 36.7F, 42.8F}, 30, 5), module({5.0F}, 240, 7)};
  feed(telegram(1, 5'006'000, modules));
  LONGS_EQUAL(240, log.slices.at(0).beams.size());
  LONGLONGS_EQUAL(5'000'003'000, *log.slices[0].device_ns);
  set("elevation_deg", "-12");
  feed(telegram(1, 5'006'000, modules));
  LONGS_EQUAL(30, log.slices.at(0).beams.size());
  LONGLONGS_EQUAL(5'000'020'000, *log.slices[0].device_ns);
  DOUBLES_EQUAL(1.020, log.slices[0].beams[0].range, 1e-6);
  DOUBLES_EQUAL(3 * kDegree, log.slices[0].beams[0].angle, 1e-3);
  DOUBLES_EQUAL(1.049, log.slices[0].beams[29].range, 1e-6);
  // A datagram without it gives another layer nothing.
  feed(telegram(2, 5'016'000, {modules[1]}));
  LONGS_EQUAL(1, log.slices.size());
}

TEST(SickCompact, ReadsMotionAsASecondSensor) {
  feed(motion(5'000'000));
  LONGS_EQUAL(1, log.samples.size());
  LONGS_EQUAL(kImuOutput, log.ids[0]);
  const ImuSample& sample = log.samples[0];
  LONGLONGS_EQUAL(5'000'000'000, *sample.device_ns);
  CHECK_TRUE((*sample.accel == ImuSample::Vector{0.5, -0.25, 9.75}));
  CHECK_TRUE((*sample.gyro == ImuSample::Vector{0.125, -0.5, 1.5}));
  DOUBLES_EQUAL(0.1, (*sample.orientation)[0], 1e-6);
  DOUBLES_EQUAL(0.7, (*sample.orientation)[1], 1e-6);
  DOUBLES_EQUAL(0.5, (*sample.orientation)[2], 1e-6);
  DOUBLES_EQUAL(0.5, (*sample.orientation)[3], 1e-6);
}

TEST(SickCompact, WhatComesTwiceIsDeliveredOnce) {
  for (std::uint64_t n = 0; n < 10; ++n) feed(pico(n)), feed(pico(n)), feed(pico(n));
  were_delivered({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  for (std::size_t i = 0; i < 10; ++i) CHECK_EQUAL(i % 5 == 0, log.slices[i].starts_turn);
}

TEST(SickCompact, WhatComesOutOfOrderIsDeliveredInOrder) {
  for (const std::uint64_t n : {0, 2, 1, 4, 5, 3, 7, 8, 9, 6, 10}) feed(pico(n));
  were_delivered({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  for (std::size_t i = 0; i < 11; ++i) CHECK_EQUAL(i % 5 == 0, log.slices[i].starts_turn);
}

TEST(SickCompact, WhatIsLostIsNotWaitedForLong) {
  for (const std::uint64_t n : {0, 1, 3, 4, 5}) feed(pico(n));
  were_delivered({0, 1});
  feed(pico(6));
  were_delivered({0, 1, 3, 4, 5, 6});
  feed(pico(2));  // too late
  feed(pico(7));
  were_delivered({0, 1, 3, 4, 5, 6, 7});
  CHECK_TRUE(log.slices[4].starts_turn);
  feed(pico(9));
  were_delivered({0, 1, 3, 4, 5, 6, 7});
  decoder->finish();
  were_delivered({0, 1, 3, 4, 5, 6, 7, 9});
}

TEST(SickCompact, LossesAreCountedFromTheCounter) {
  SickCompact device(options);
  Decoded out;
  std::uint64_t lost = 0, packets = 0;
  const auto take = [&](const Stream& datagram) {
    out.clear();
    device.decode({datagram, now, now += 4ms}, out);
    lost += out.lost();
    packets += out.items().size();
  };
  const auto wait_out = [&](std::uint64_t n) {
    for (std::uint64_t i = n; i < n + 4; ++i) take(pico(i));
  };
  take(pico(0)), take(pico(1));
  wait_out(4);
  LONGS_EQUAL(2, lost);
  take(pico(8)), take(pico(10)), take(pico(9)), take(pico(9));
  LONGS_EQUAL(2, lost);
  wait_out(12), wait_out(17);
  LONGS_EQUAL(4, lost);
  take(pico(1000));  // an outage
  LONGS_EQUAL(4 + 1000 - 21, lost);
  // Restarted: the counter begins anew, with the device's clock.
  take(pico(0, 1, 3)), take(pico(1, 1, 3));
  LONGS_EQUAL(4 + 1000 - 21, lost);
  LONGS_EQUAL(2 + 4 + 4 + 8 + 1 + 2, packets);  // the twin is one of them: the clock drops it
}

TEST(SickCompact, ASegmentThatMakesNoSenseIsNotLostTooAndNothingWaitsForIt) {
  SickCompact device(options);
  Decoded out;
  std::uint64_t lost = 0, undecodable = 0, packets = 0;
  const auto take = [&](const Stream& datagram) {
    out.clear();
    device.decode({datagram, now, now += 4ms}, out);
    lost += out.lost();
    undecodable += out.is_undecodable();
    packets += out.items().size();
  };
  const auto senseless = [](std::uint64_t n) {
    return telegram(500 + n, ~std::uint64_t{0}, {pico_module(n)});
  };
  take(pico(0)), take(senseless(1)), take(pico(2));
  LONGS_EQUAL(2, packets);
  take(pico(4)), take(senseless(3));  // what waited for it leaves with it
  LONGS_EQUAL(3, packets);
  take(pico(5)), take(senseless(5)), take(senseless(1));  // too late
  take(telegram(~std::uint64_t{0} - 7, ~std::uint64_t{0}, {pico_module(6)}));
  take(pico(6));
  LONGS_EQUAL(5, packets);
  LONGS_EQUAL(5, undecodable);
  LONGS_EQUAL(0, lost);
}

TEST(SickCompact, WhatIsGivenUpAtTheEndIsCounted) {
  SickCompact device(options);
  Decoded out;
  for (const std::uint64_t n : {0U, 2U, 5U}) out.clear(), device.decode({pico(n), now, now}, out);
  out.clear();
  device.finish(out);
  LONGS_EQUAL(2, out.items().size());
  LONGS_EQUAL(3, out.lost());
}

TEST(SickCompact, ARestartedDeviceIsFollowedAtOnce) {
  for (std::uint64_t n = 4000; n < 4003; ++n) feed(pico(n));
  for (std::uint64_t n = 0; n < 3; ++n) feed(pico(n, 1, 0));
  LONGS_EQUAL(6, log.slices.size());
  CHECK_TRUE(log.slices[3].starts_turn);
}

TEST(SickCompact, TenPercentLostTwiceAndOutOfOrderLoseNothingButTheLost) {
  test::Random random(4711);
  SickCompact device(options);
  Stamper stamper(device.clock_model(), 0, {});
  Decoded out;
  std::uint64_t lost = 0, gone = 0, stamped = 0, stale = 0, twice = 0;
  // One datagram with other numbers and times: as good as any.
  Stream datagram = pico(0);
  const auto overwrite = [&](std::size_t at, std::uint64_t value) {
    Stream bytes;
    put(bytes, value, 8);
    std::ranges::copy(bytes, datagram.begin() + static_cast<std::ptrdiff_t>(at));
  };
  const auto stamp = [&] {
    lost += out.lost();
    for (Decoded::Item& item : out.items())
      ++(stamper.stamp(item.packet, item.timing) == Stamper::Outcome::stamped ? stamped : stale);
    out.clear();
  };
  const auto take = [&](std::uint64_t n) {
    const Module m = pico_module(n);
    overwrite(8, n);
    overwrite(16, m.lines[0].last_us + 1900);
    overwrite(32, m.segment);
    overwrite(40, m.frame);
    overwrite(64, m.lines[0].first_us);
    overwrite(72, m.lines[0].last_us);
    device.decode({datagram, now, now}, out);
    stamp();
  };
  constexpr std::uint64_t kAll = 200'000;
  for (std::uint64_t n = 0; n < kAll; ++n) {
    now += 4167us;
    const unsigned kind = n > 0 && n + 2 < kAll ? random.below(10) : 9;
    if (kind == 0) {
      ++gone;
    } else if (kind == 1) {
      take(n), take(n), ++twice;
    } else if (kind == 2) {  // overtaken by the next
      take(n + 1), take(n), ++n;
    } else {
      take(n);
    }
  }
  device.finish(out);
  stamp();
  LONGS_EQUAL(kAll - gone, stamped);
  LONGS_EQUAL(gone, lost);
  CHECK_TRUE(gone > kAll / 20 && twice > kAll / 20 && stale > 0 && stale <= twice);
}

TEST(SickCompact, ImplausibleTimesAreNotBelieved) {
  Module m = pico_module(0);
  const std::uint64_t last = m.lines[0].last_us;
  feed(telegram(1, last - 1, {m}));  // sent before it was measured
  feed(telegram(2, ~std::uint64_t{0}, {m}));
  m.lines[0].last_us = m.lines[0].first_us - 1;
  feed(telegram(3, last + 1900, {m}));
  m.lines[0] = pico_module(0).lines[0];
  m.lines[0].first_angle = NAN;
  feed(telegram(4, last + 1900, {m}));
  m.lines[0] = pico_module(0).lines[0];
  m.scale = INFINITY;
  feed(telegram(5, last + 1900, {m}));
  LONGS_EQUAL(0, log.slices.size());
  LONGS_EQUAL(5, decoder->stats().undecodable);
  feed(motion(~std::uint64_t{0}));
  feed(motion(1000, NAN));
  LONGS_EQUAL(0, log.samples.size());
}

TEST(SickCompact, AnglesBeyondAnyTurnAreUndecodable) {
  feed(pico(0));
  for (const float angle : {1e30F, -1e30F, 100.0F}) {
    Module m = pico_module(1);
    m.beam_content = 1;
    m.lines[0].last_angle = angle;
    feed(telegram(501, m.lines[0].last_us + 1900, {m}));
  }
  LONGS_EQUAL(1, log.slices.size());
  LONGS_EQUAL(3, decoder->stats().undecodable);
}

TEST(SickCompact, MoreBeamsThanThereIsRoomForAreNotGuessed) {
  Module m = pico_module(0);
  m.beams = 2049;
  feed(telegram(1, m.lines[0].last_us + 1900, {m}));
  LONGS_EQUAL(0, log.slices.size());
  LONGS_EQUAL(1, decoder->stats().undecodable);
  m.beams = 2048;
  m.echoes = 3;
  feed(telegram(2, m.lines[0].last_us + 1900, {m}));
  LONGS_EQUAL(2048, log.slices.at(0).beams.size());
}

TEST(SickCompact, FramingHoldsWhateverArrives) {
  std::vector<Stream> good;
  for (std::uint64_t n = 0; n < 6; ++n) {
    Module m = pico_module(n, 1 + static_cast<unsigned>(n % 3));
    m.beams = 12;
    good.push_back(telegram(n, m.lines[0].last_us + 1900, {m, m}, n % 2 ? 3 : 4));
    good.push_back(motion(1000 * n));
  }
  test::check_garbage_and_splits(CompactFraming{}, good);
  test::check_torn_frames(CompactFraming{}, good[0], good[2]);
  test::check_torn_frames(CompactFraming{}, good[1], good[3]);
  std::vector<Stream> many;
  for (int i = 0; i < 5; ++i) many.insert(many.end(), good.begin(), good.end());
  test::check_damaged_stream(CompactFraming{}, many);
}

TEST(SickCompact, ABitThatTurnedOverIsNotAccepted) {
  Module m = pico_module(1, 2);
  m.beams = 3;
  const Stream frame = telegram(7, m.lines[0].last_us + 1900, {m});
  test::check_bit_flips(CompactFraming{}, frame, motion(1), motion(2));
}

TEST(SickCompact, TwoDevicesInTurnsGiveWhatEachGivesAlone) {
  test::PacketLog other_log;
  DeviceDecoder<SickCompact> other(options, 0, other_log);
  for (std::uint64_t n = 0; n < 20; ++n) {
    feed(pico(n));
    other.feed({pico(n, 3, 9000), now});
  }
  LONGS_EQUAL(20, log.slices.size());
  LONGS_EQUAL(20, other_log.slices.size());
  for (std::size_t i = 0; i < 20; ++i) {
    CHECK_TRUE(log.echoes[i].empty() && !other_log.echoes[i].empty());
    CHECK_TRUE(log.slices[i].first == other_log.slices[i].first);
  }
}

TEST(SickCompact, NothingIsAllocatedWhileItDecodes) {
  std::vector<Stream> datagrams;
  for (std::uint64_t n = 0; n < 40; ++n) datagrams.push_back(n % 7 == 3 ? motion(n) : pico(n, 3));
  test::PacketCounter counter;
  DeviceDecoder<SickCompact> counted(options, 0, counter);
  const test::AllocationCounter allocations;
  for (const Stream& datagram : datagrams) counted.feed({datagram, now += 4ms});
  LONGS_EQUAL(0, allocations.count());
  CHECK_TRUE(counter.packets > 30);
}
