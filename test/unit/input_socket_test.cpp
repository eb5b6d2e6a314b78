#include <algorithm>
#include <random>

#include "app/lidarctl/books.h"
#include "test/support/allocation_counter.h"
#include "test/support/harness.h"
#include "test/support/input_bench.h"

using namespace std::chrono_literals;
using drivers::State;
using test::InputBench;
using test::McapBytes;

namespace {

constexpr std::int64_t kMs = 1'000'000;

void check_books(InputBench& bench) {
  bench.run_for(1s);
  auto state = bench.state();
  for (const char* const name : {"odom", "gps"}) {
    const auto wrong = lidarctl::imbalances(state[name]);
    STRCMP_EQUAL("", wrong.empty() ? "" : wrong.front().c_str());
  }
  const app::SenderStats s = bench.sent();
  UNSIGNED_LONGS_EQUAL(s.bytes, s.record_bytes + s.discarded_bytes + s.pending);
  UNSIGNED_LONGS_EQUAL(s.messages, s.unknown_topic + bench.inputs().stats(0).messages +
                                       bench.inputs().stats(1).messages);
  UNSIGNED_LONGS_EQUAL(s.connections, s.connected + s.left + s.malformed + s.too_long +
                                          s.compressed + s.stalled + s.flooding);
}

}  // namespace

TEST_GROUP(InputSocket){};

TEST(InputSocket, AMessageLeavesOnItsTopicWithTheLogTimeThatItCameWith) {
  InputBench bench;
  bench.connect();
  const std::int64_t at = bench.unix_now() - 3 * kMs + 20 * kMs;
  bench.send(McapBytes::odom().message(1, at, "here"));
  bench.run_for(100ms);
  const auto left = bench.messages.on("/odom");
  CHECK_EQUAL(1, left.size());
  LONGS_EQUAL(at, left[0].log_time);
  STRCMP_EQUAL("here", bench.left("/odom")[0].c_str());
  check_books(bench);
}

TEST(InputSocket, ItsChannelIsDeclaredAsItsFirstSenderDeclaredIt) {
  InputBench bench;
  bench.connect();
  CHECK_TRUE(std::ranges::find(bench.messages.topics, "/odom") == bench.messages.topics.end());
  bench.send(McapBytes::odom("float64 y").message(1, bench.unix_now(), "1"));
  bench.run_for(100ms);
  STRCMP_EQUAL("/odom", bench.messages.topics.back().c_str());
  STRCMP_EQUAL("nav_msgs/msg/Odometry", bench.messages.types.back().c_str());
  STRCMP_EQUAL("float64 y", bench.messages.definitions.back().c_str());
}

TEST(InputSocket, MessagesLeaveInOrderBetweenTheSamplesOfAnImu) {
  InputBench bench;
  bench.connect();
  bench.pass([&] { bench.imu_driver->become(State::streaming, bench.clock.now()); });
  bench.send(McapBytes::odom());
  for (int i = 0; i < 100; ++i) {
    bench.pass([&] {  // the message is older than the sample before it
      bench.imu_driver->sample(bench.clock.now() - 1ms);
      McapBytes bytes;
      bytes.message(1, bench.unix_now() - 25 * kMs, "m");
      bench.senders[0]->deliver(bytes.all);
    });
  }
  bench.run_for(200ms);
  CHECK_EQUAL(100, bench.left("/odom").size());
  CHECK_EQUAL(100, bench.messages.on("/body/imu").size());
  std::int64_t last = 0;
  std::string topics;
  for (const auto& m : bench.messages.messages()) {
    const std::string& topic = bench.messages.topic_of(m);
    if (topic != "/odom" && topic != "/body/imu") continue;
    CHECK_TRUE(m.log_time >= last);
    last = m.log_time;
    topics += topic[1];
  }
  STRCMP_CONTAINS("bobobobob", topics.c_str());
}

TEST(InputSocket, WhatStillLiesInASocketIsWaitedFor) {
  InputBench bench;
  bench.connect();
  bench.pass([&] { bench.imu_driver->become(State::streaming, bench.clock.now()); });
  bench.send(McapBytes::odom().message(1, bench.unix_now(), "a"));
  const std::int64_t measured = bench.unix_now() + 1 * kMs;
  bench.senders[0]->is_drained = false;
  for (int i = 0; i < 20; ++i) {
    bench.pass([&] { bench.imu_driver->sample(bench.clock.now() - 1ms); });
  }
  bench.send(McapBytes().message(1, measured, "b"));
  bench.senders[0]->is_drained = true;
  bench.run_for(200ms);
  CHECK_EQUAL(2, bench.left("/odom").size());
}

TEST(InputSocket, WhatDoesNotPassIsCountedUnderItsReason) {
  InputBench bench;
  bench.connect(0), bench.connect(1);
  const std::int64_t now = bench.unix_now();
  bench.send(McapBytes::odom().channel(2, 7, "/other").channel(3, 9, "/odom").message(1, now, "a"));
  McapBytes bytes;
  bytes.message(2, now, "unknown topic").message(99, now, "no channel");
  bytes.message(3, now + 1, "another schema");
  bytes.message(1, now + 2, std::string(65, 'x'));  // too large
  bytes.message(1, 5, "the log time of a simulation");
  bytes.message(1, -1, "no time");
  bytes.message(1, now + 3, std::string(64, 'x'));
  bench.send(bytes);
  bench.send(McapBytes::odom().message(1, now + 4, "the second sender"), 1);
  UNSIGNED_LONGS_EQUAL(2, bench.sent().unknown_topic);
  UNSIGNED_LONGS_EQUAL(1, bench.odom().wrong_schema);
  UNSIGNED_LONGS_EQUAL(1, bench.odom().too_large);
  UNSIGNED_LONGS_EQUAL(2, bench.odom().bad_time);
  UNSIGNED_LONGS_EQUAL(1, bench.odom().other_sender);
  UNSIGNED_LONGS_EQUAL(2, bench.odom().passed);
  check_books(bench);
}

TEST(InputSocket, TheDiagnosisNamesWhatWasDroppedLast) {
  InputBench bench;
  bench.connect();
  bench.send(McapBytes::odom().message(1, bench.unix_now(), "a"));
  bench.run_for(1s);
  bench.events(), bench.said();
  bench.send(McapBytes().message(1, bench.unix_now(), std::string(100, 'x')));
  bench.run_for(1s);
  STRCMP_CONTAINS("odom drops: a message of 100 bytes is longer than max_bytes 64; ",
                  bench.events().c_str());
  STRCMP_CONTAINS("odom: a message of 100 bytes is longer than max_bytes 64", bench.said().c_str());
  auto state = bench.state();
  CHECK_TRUE(state["odom"].level == app::Level::warn);
  STRCMP_EQUAL("1", state["odom"].values["input.too_large"].c_str());
}

TEST(InputSocket, MoreThanItsRateIsDroppedAndWhatWasHeldUpIsNot) {
  InputBench bench;
  bench.connect();
  bench.send(McapBytes::odom().message(1, bench.unix_now(), "0"));
  bench.run_for(2s);
  McapBytes held_up;  // a second of messages at once
  for (int i = 0; i < 50; ++i) held_up.message(1, bench.unix_now() - (50 - i) * 20 * kMs, "m");
  bench.send(held_up);
  UNSIGNED_LONGS_EQUAL(0, bench.odom().too_fast);
  bench.run_for(2s);
  McapBytes flood;
  for (int i = 0; i < 2000; ++i) flood.message(1, bench.unix_now() - 3000 + i, "m");
  bench.send(flood);
  CHECK_TRUE(bench.odom().too_fast > 1900);
  check_books(bench);
}

TEST(InputSocket, AConnectionThatBreaksTheRulesEndsUnderItsReason) {
  InputBench bench;
  const auto lose = [&](const McapBytes& bytes) {
    bench.run_for(600ms);  // the place rests
    bench.connect();
    bench.send(bytes);
  };
  McapBytes garbage;
  garbage.add(std::as_bytes(std::span("GET / HTTP/1.1\r\n")));
  lose(garbage);
  UNSIGNED_LONGS_EQUAL(1, bench.sent().malformed);
  CHECK_FALSE(bench.senders[0]->is_open());
  McapBytes cut = McapBytes::odom();  // a channel record whose text is longer than the record
  cut.add(std::as_bytes(std::span("\x04\x08\0\0\0\0\0\0\0\1\0\7\0\xff\0\0\0", 17)));
  lose(cut);
  UNSIGNED_LONGS_EQUAL(2, bench.sent().malformed);
  lose(McapBytes::odom().message(1, bench.unix_now(), std::string(20'000, 'x')));
  UNSIGNED_LONGS_EQUAL(1, bench.sent().too_long);
  McapBytes chunk = McapBytes::odom();
  std::vector<std::byte> head(200);
  head.resize(encode_head(hal::mcap::Chunk{0, 0, 4, 0, "zstd", 4}, head));
  chunk.add(head).add(std::as_bytes(std::span("abcd", 4)));
  lose(chunk);
  UNSIGNED_LONGS_EQUAL(1, bench.sent().compressed);
  STRCMP_CONTAINS("lidard sender: ", bench.events().c_str());
  check_books(bench);
}

TEST(InputSocket, ASenderThatStopsInTheMiddleOfARecordLosesItsPlaceAndASilentOneDoesNot) {
  InputBench bench;
  bench.connect(0), bench.connect(1);
  McapBytes part = McapBytes::odom().message(1, bench.unix_now(), "never whole");
  part.all.resize(part.all.size() - 3);
  bench.send(part, 0);
  bench.send(McapBytes::odom(), 1);
  bench.run_for(1900ms);
  UNSIGNED_LONGS_EQUAL(0, bench.sent().stalled);
  bench.run_for(200ms);
  UNSIGNED_LONGS_EQUAL(1, bench.sent().stalled);
  CHECK_TRUE(bench.senders[1]->is_open());
  check_books(bench);
}

// One byte a second is no way to hold a place either.
TEST(InputSocket, ADribbleOfBytesIsAStall) {
  InputBench bench;
  bench.connect();
  const McapBytes all = McapBytes::odom();
  std::size_t at = 0;
  for (; at < 40 && bench.senders[0]->is_open(); ++at) {
    bench.pass([&] { bench.senders[0]->deliver(hal::Bytes(all.all).subspan(at, 1)); });
    bench.run_for(500ms);
  }
  UNSIGNED_LONGS_EQUAL(1, bench.sent().stalled);
}

TEST(InputSocket, ASenderOfMoreBytesThanAllInputsMayBringIsSentAwayAndItsPlaceRests) {
  InputBench bench;
  bench.connect();
  bench.send(McapBytes::odom());
  McapBytes many;
  for (int i = 0; i < 2000; ++i) many.message(2, 1, std::string(100, 'x'));
  int passes = 0;
  while (bench.senders[0]->is_open() && passes < 100) bench.send(many), ++passes;
  UNSIGNED_LONGS_EQUAL(1, bench.sent().flooding);
  CHECK_TRUE(passes >= 8 && passes <= 12);  // 262 kB each, 2 MiB and what a pass of 20 ms earns
  const int opens = bench.senders[0]->opens;
  bench.run_for(400ms);
  CHECK_EQUAL(opens, bench.senders[0]->opens);
  bench.run_for(200ms);
  CHECK_EQUAL(opens + 1, bench.senders[0]->opens);
  check_books(bench);
}

TEST(InputSocket, ALifeIsToldWhoeverLeaves) {
  InputBench bench(", role: required");
  STRCMP_CONTAINS(
      "odom stall: nobody sends /odom: no sender has connected to /run/lidard/input.sock",
      bench.events().c_str());
  bench.connect();
  bench.send(McapBytes::odom().message(1, bench.unix_now(), "a"));
  STRCMP_EQUAL("odom recover: streams; ", bench.events().c_str());
  bench.run_for(1100ms);
  STRCMP_EQUAL("odom stall: its sender is connected and sends none; ", bench.events().c_str());
  bench.run_for(1s);
  CHECK_TRUE(bench.state()["odom"].level == app::Level::error);
  bench.senders[0]->unplug();
  STRCMP_CONTAINS("odom stall: its sender has left: ", bench.events().c_str());
  // The next one has the topic.
  bench.connect(1);
  bench.send(McapBytes::odom().message(1, bench.unix_now(), "b"), 1);
  UNSIGNED_LONGS_EQUAL(0, bench.odom().other_sender);
  CHECK_EQUAL(1, bench.senders[0]->opens - 1);
  check_books(bench);
}

TEST(InputSocket, LogTimesFollowTheAnnouncedOffsetAcrossAStepOfTheWallClock) {
  InputBench bench;
  bench.connect();
  bench.send(McapBytes::odom().message(1, bench.unix_now(), "a"));
  bench.run_for(200ms);
  bench.clock.step_wall(3600s);
  bench.station->on_offset(bench.clock.both().unix_ns - hal::to_ns(bench.clock.now()));
  const std::int64_t at = bench.unix_now();
  bench.send(McapBytes().message(1, at, "b"));
  bench.run_for(200ms);
  CHECK_EQUAL(2, bench.left("/odom").size());
  LONGS_EQUAL(at, bench.messages.on("/odom")[1].log_time);
}

TEST(InputSocket, WhileTheAnnouncedOffsetIsSlewedTheSendersTimeIsThatOfTheWallClock) {
  InputBench bench;
  bench.connect();
  bench.clock.step_wall(50ms);  // too little for a new segment
  bench.station->on_wall_clock(bench.clock.both().unix_ns - hal::to_ns(bench.clock.now()));
  bench.send(McapBytes::odom().message(1, bench.unix_now(), "a"));
  bench.clock.step_wall(-90ms);
  bench.station->on_wall_clock(bench.clock.both().unix_ns - hal::to_ns(bench.clock.now()));
  bench.run_for(20ms);
  bench.send(McapBytes().message(1, bench.unix_now(), "b"));
  bench.run_for(200ms);
  CHECK_EQUAL(2, bench.left("/odom").size());
}

TEST(InputSocket, NothingIsAllocatedOnceItRuns) {
  InputBench bench;
  bench.connect();
  bench.messages.topics.reserve(20), bench.messages.types.reserve(20);
  bench.messages.definitions.reserve(20), bench.messages.latched.reserve(20);
  const std::string text(10'000, 't');
  McapBytes bytes = McapBytes::odom(text).message(1, bench.unix_now() + 20 * kMs, "a");
  McapBytes next;
  next.message(1, bench.unix_now() + 40 * kMs, "a").message(2, 0, "b");
  unsigned long allocations = 0;
  {
    const test::AllocationCounter counter;
    bench.send(bytes);
    bench.send(next);
    bench.senders[0]->unplug();
    allocations = counter.count();
  }
  // The test's own log keeps the texts of a channel: topic, type and definition.
  CHECK_TRUE(allocations <= 3);
  bench.run_for(100ms);
  CHECK_EQUAL(2, bench.left("/odom").size());
}

// What a hostile sender does, as bytes: damaged, cut, mixed. Seeded.
TEST(InputSocket, WhateverASecondSenderDoesTheOthersLeaveAsWithoutHim) {
  const auto run = [](bool hostile, unsigned seed) {
    std::minstd_rand random(seed);
    InputBench bench;
    bench.connect(0);
    bench.pass([&] { bench.imu_driver->become(State::streaming, bench.clock.now()); });
    bench.send(McapBytes::odom().message(1, bench.unix_now(), "first"));
    bench.run_for(600ms);
    for (int i = 0; i < 200; ++i) {
      bench.pass([&] {
        bench.imu_driver->sample(bench.clock.now() - 1ms);
        McapBytes good;
        good.message(1, bench.unix_now() - 5 * kMs, "m" + std::to_string(i));
        bench.senders[0]->deliver(good.all);
        if (!hostile) return;
        if (!bench.senders[1]->is_open() && random() % 2 == 0) bench.connect(1);
        McapBytes bad = McapBytes::odom("garbage");
        for (unsigned long k = random() % 20; k > 0; --k) {
          bad.message(static_cast<std::uint16_t>(random() % 3),
                      bench.unix_now() + static_cast<std::int64_t>(random()) % (100 * kMs),
                      std::string(random() % 200, 'h'));
        }
        for (unsigned long k = random() % 4; k > 0; --k) {
          bad.all[random() % bad.all.size()] = static_cast<std::byte>(random());
        }
        bad.all.resize(random() % bad.all.size());
        bench.senders[1]->deliver(bad.all);
        if (random() % 30 == 0) bench.senders[1]->unplug();
      });
    }
    check_books(bench);
    std::string all;
    for (const auto& m : bench.messages.messages()) {
      const std::string& topic = bench.messages.topic_of(m);
      if (topic != "/odom" && topic != "/body/imu") continue;
      const hal::Bytes bytes = bench.messages.bytes_of(m);
      all += topic + std::to_string(m.log_time) + " " + std::to_string(m.publish_time);
      all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    return all;
  };
  for (unsigned seed = 1; seed <= 5; ++seed) {
    CHECK_TEXT(run(false, seed) == run(true, seed), ("seed " + std::to_string(seed)).c_str());
  }
}
