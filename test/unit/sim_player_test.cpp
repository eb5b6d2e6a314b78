#include "test/sim/player.h"

#include <cstdlib>
#include <cstring>

#include "test/sim/wire.h"
#include "test/support/harness.h"
#include "test/unit/sim_fixture.h"

using sim::Player;
using sim::Write;
using sim_test::kStart;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

std::unique_ptr<Player> play(const char* driver, const sim::Options& set,
                             std::initializer_list<const char*> faults, bool is_serial = true,
                             sim::TruthWriter* truth = nullptr,
                             sim::Arrival arrival = sim::Arrival::direct) {
  sim::PlayerInputs inputs{*sim::find_model(driver), set, {}, 0.0, 1, is_serial, truth, arrival};
  for (const char* const text : faults) inputs.faults.push_back(*sim::parse_fault(text));
  return std::move(*Player::make(inputs, kStart));
}

// All that arrives in [from, to), as the runner would see it with a wake-up at each due.
std::vector<Write> arrivals(Player& player, hal::Time to) {
  std::vector<Write> all;
  hal::Time now = kStart;
  while (now < to) {
    const hal::Time due = player.advance(now);
    for (Write write; player.take(now, write);) all.push_back(write);
    now = due;
  }
  return all;
}

std::size_t bytes_in(const std::vector<Write>& writes, hal::Time from, hal::Time to) {
  std::size_t bytes = 0;
  for (const Write& write : writes)
    if (write.due >= from && write.due < to) bytes += write.bytes.size();
  return bytes;
}

std::vector<std::uint64_t> ldrobot_stamps(const std::vector<Write>& writes) {
  std::vector<std::uint64_t> stamps;
  for (const Write& write : writes)
    if (write.bytes.size() == 47) stamps.push_back(sim::get_le(write.bytes, 44, 2));
  return stamps;
}

}  // namespace

TEST_GROUP(SimPlayer){};

TEST(SimPlayer, ASerialFrameHasArrivedAfterItsLineTime) {
  auto player = play("ldrobot", {}, {});
  const auto writes = arrivals(*player, kStart + milliseconds(5));
  CHECK_EQUAL(1, writes.size());
  // 47 bytes at 230400 baud take 2.04 ms after the last beam at 2.444 ms.
  CHECK_TRUE(writes[0].due == kStart + hal::Duration(2'444'444 + 2'039'930));
}

TEST(SimPlayer, ALongFrameArrivesInPortions) {
  auto player = play("ldrobot", {{"model", "LD14"}}, {});
  const auto writes = arrivals(*player, kStart + milliseconds(9));
  CHECK_EQUAL(2, writes.size());
  CHECK_EQUAL(24, writes[0].bytes.size());
  CHECK_EQUAL(23, writes[1].bytes.size());
  // 24 and 47 bytes at 115200 baud, after the last of 12 beams at 2300 a second.
  CHECK_TRUE(writes[0].due == kStart + hal::Duration(4'782'608 + 2'083'333));
  CHECK_TRUE(writes[1].due == kStart + hal::Duration(4'782'608 + 4'079'861));
}

TEST(SimPlayer, ASocketGetsTheFrameWholeAndAtOnce) {
  auto player = play("ldrobot", {}, {}, false);
  const auto writes = arrivals(*player, kStart + milliseconds(5));
  CHECK_EQUAL(1, writes.size());
  CHECK_EQUAL(47, writes[0].bytes.size());
  CHECK_TRUE(writes[0].due == kStart + hal::Duration(2'444'444));
}

TEST(SimPlayer, TheLineNeverCarriesMoreThanItsRate) {
  // 1000 packets of 64 bytes a second do not fit 115200 baud.
  auto player = play("microstrain_mip", {{"streaming", "on"}}, {});
  auto format = sim_test::bytes_of("75 65 0C 0E 0E 0F 01 80 03 04 00 01 05 00 01 D5 00 01");
  format.resize(format.size() + 2);
  unsigned a = 0, b = 0;
  for (std::size_t i = 0; i + 2 < format.size(); ++i)
    a += std::to_integer<unsigned>(format[i]), b += a;
  format[format.size() - 2] = static_cast<std::byte>(a), format.back() = static_cast<std::byte>(b);
  player->advance(kStart);
  player->receive(sim::Channel::data, format, kStart);
  const auto writes = arrivals(*player, kStart + seconds(2));
  const std::size_t bytes = bytes_in(writes, kStart + seconds(1), kStart + seconds(2));
  CHECK_TRUE(bytes <= 11520 + 44 && bytes > 11520 - 44);  // counted in whole packets
  CHECK_TRUE(player->overrun_frames() > 500);
}

TEST(SimPlayer, AReplyArrivesBetweenData) {
  auto player = play("microstrain_mip", {{"streaming", "on"}}, {}, false);
  const hal::Time asked = kStart + milliseconds(95);
  player->advance(asked);
  player->receive(sim::Channel::data, sim_test::bytes_of("75 65 01 02 02 01 E0 C6"), asked);
  player->advance(kStart + milliseconds(100));
  int data = 0;
  bool replied = false;
  for (Write write; player->take(kStart + milliseconds(100), write);) {
    if (write.is_reply) CHECK_EQUAL(9, data);
    replied |= write.is_reply;
    if (!write.is_reply) ++data;
  }
  CHECK_TRUE(replied);
  CHECK_EQUAL(10, data);
}

TEST(SimPlayer, OffIsSilentAndDeafThenStartsCold) {
  auto player = play("ldrobot", {}, {"off@1+1"}, false);
  const auto writes = arrivals(*player, kStart + seconds(3));
  CHECK_EQUAL(0, bytes_in(writes, kStart + seconds(1), kStart + seconds(2)));
  CHECK_TRUE(bytes_in(writes, kStart + seconds(2), kStart + seconds(3)) > 374 * 47);
  const auto stamps = ldrobot_stamps(writes);
  CHECK_EQUAL(2, stamps[375]);  // the clock began anew
}

TEST(SimPlayer, AResetSaysABannerAndRestartsTheClock) {
  auto player = play("ldrobot", {}, {"reset=0.5@1"}, false);
  const auto writes = arrivals(*player, kStart + seconds(2));
  CHECK_EQUAL(0, bytes_in(writes, kStart + seconds(1), kStart + milliseconds(1500)));
  const Write& banner = writes[375];
  CHECK_TRUE(banner.due == kStart + milliseconds(1500));
  CHECK_TRUE(banner.bytes.size() != 47);
  CHECK_EQUAL(2, ldrobot_stamps(writes)[375]);
}

TEST(SimPlayer, AStallHoldsTheOutputThenReleasesAll) {
  auto player = play("ldrobot", {}, {"stall@1+0.5"});
  const auto writes = arrivals(*player, kStart + seconds(2));
  const hal::Time end = kStart + milliseconds(1500);
  CHECK_EQUAL(0, bytes_in(writes, kStart + seconds(1), end));
  CHECK_TRUE(bytes_in(writes, end, end + hal::Duration(1)) > 180 * 47);
  hal::Time last = kStart;
  for (const Write& write : writes) {
    CHECK_TRUE(write.due >= last);
    last = write.due;
  }
}

TEST(SimPlayer, WrapPutsTheClockJustBeforeItsWrap) {
  auto player = play("ldrobot", {}, {"wrap=0.1"}, false);
  const auto stamps = ldrobot_stamps(arrivals(*player, kStart + milliseconds(200)));
  CHECK_EQUAL(29902, stamps[0]);
  CHECK_TRUE(stamps.back() < 100);
}

TEST(SimPlayer, JumpStepsTheClock) {
  auto player = play("ldrobot", {}, {"jump=5@0.1"}, false);
  const auto stamps = ldrobot_stamps(arrivals(*player, kStart + milliseconds(200)));
  CHECK_TRUE(stamps[36] < 100 && stamps[40] > 5100 && stamps.back() < 5201);
}

TEST(SimPlayer, AJumpBackStopsAtZero) {
  auto player = play("ldrobot", {}, {"jump=-5@0.1"}, false);
  const auto stamps = ldrobot_stamps(arrivals(*player, kStart + milliseconds(200)));
  for (const std::uint64_t stamp : stamps) CHECK_TRUE(stamp <= 101);
  CHECK_TRUE(stamps[40] < 20);
}

TEST(SimPlayer, AFrameOnItsWayIsLostWithThePower) {
  auto player = play("ldrobot", {}, {"delayed=200", "off@0.5+1"}, false);
  const auto writes = arrivals(*player, kStart + seconds(2));
  CHECK_TRUE(bytes_in(writes, kStart, kStart + milliseconds(500)) > 0);
  CHECK_EQUAL(0, bytes_in(writes, kStart + milliseconds(500), kStart + milliseconds(1700)));
}

TEST(SimPlayer, WhatIsSaidToADeviceWithoutPowerIsLost) {
  auto player = play("microstrain_mip", {}, {"off@0.1+1"}, false);
  const auto ping = sim_test::bytes_of("75 65 01 02 02 01 E0 C6");
  player->receive(sim::Channel::data, ping, kStart + milliseconds(200));
  CHECK_EQUAL(0, arrivals(*player, kStart + seconds(2)).size());
  player->receive(sim::Channel::data, ping, kStart + seconds(3));
  player->advance(kStart + seconds(4));
  Write write;
  CHECK_TRUE(player->take(kStart + seconds(4), write));
}

TEST(SimPlayer, DriftSpeedsUpClockAndMeasurementAlike) {
  auto player = play("ldrobot", {}, {"drift=50000"}, false);
  const auto writes = arrivals(*player, kStart + seconds(10));
  const auto stamps = ldrobot_stamps(writes);
  CHECK_EQUAL(3937, stamps.size());  // 375 x 10 x 1.05
  CHECK_TRUE(stamps.back() >= 10497 && stamps.back() <= 10500);
}

TEST(SimPlayer, JitterMovesStampsNotFrames) {
  auto player = play("ldrobot", {}, {"jitter=20"}, false);
  const auto writes = arrivals(*player, kStart + seconds(1));
  bool is_backward = false;
  const auto stamps = ldrobot_stamps(writes);
  for (std::size_t i = 1; i < stamps.size(); ++i) is_backward |= stamps[i] < stamps[i - 1];
  CHECK_TRUE(is_backward);
  CHECK_TRUE(writes[100].due - writes[99].due < hal::Duration(2'666'668));
}

TEST(SimPlayer, FaultsThatCannotBeAreRefused) {
  sim::PlayerInputs inputs{*sim::find_model("microstrain_mip"), {}, {}, 0.0, 1, true, nullptr, {}};
  inputs.faults = {*sim::parse_fault("wrap")};
  CHECK_FALSE(static_cast<bool>(Player::make(inputs, kStart)));
  inputs.faults = {*sim::parse_fault("baud")};
  CHECK_TRUE(static_cast<bool>(Player::make(inputs, kStart)));
  inputs.is_serial = false;
  CHECK_FALSE(static_cast<bool>(Player::make(inputs, kStart)));
}

TEST_GROUP(SimSettings){};

TEST(SimSettings, WrongOptionsAreRefusedWithWhatWouldBeRight) {
  sim::PlayerInputs inputs{*sim::find_model("ldrobot"), {}, {}, 0.0, 1, true, nullptr, {}};
  inputs.set = {{"modell", "LD06"}};
  auto player = Player::make(inputs, kStart);
  CHECK_FALSE(static_cast<bool>(player));
  CHECK_TRUE(std::strstr(player.error().detail.c_str(), "modell") != nullptr);
  CHECK_TRUE(std::strstr(player.error().detail.c_str(), "model, running") != nullptr);
  inputs.set = {{"model", "LD07"}};
  auto other = Player::make(inputs, kStart);
  CHECK_TRUE(std::strstr(other.error().detail.c_str(), "LD06|LD19") != nullptr);
}

TEST(SimSettings, ANumberHasARange) {
  const sim::OptionRow rows[] = {sim::number("n", "3", 1, 9, "")};
  DOUBLES_EQUAL(3.0, sim::Settings::check(rows, {})->number("n"), 0.0);
  DOUBLES_EQUAL(4.5, sim::Settings::check(rows, {{"n", "4.5"}})->number("n"), 0.0);
  for (const char* const bad : {"0", "10", "x", "", "4x", "nan"})
    CHECK_FALSE(static_cast<bool>(sim::Settings::check(rows, {{"n", bad}})));
}

TEST_GROUP(SimModels){};

TEST(SimModels, AreFoundByEitherSpelling) {
  CHECK_TRUE(sim::find_model("microstrain-mip") == sim::find_model("microstrain_mip"));
  CHECK_TRUE(sim::find_model("microstrain-mip") != nullptr);
  CHECK_TRUE(sim::find_model("ld") == nullptr);
}

TEST_GROUP(SimTruth){};

TEST(SimTruth, LinesAreAsTheContractHasThem) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const file = ::open_memstream(&text, &size);
  sim::TruthWriter truth(file);
  truth.write(sim::ScanTruth{5, {{hal::from_ns(7), 0.5, 1.25}, {hal::from_ns(8), 6.0, 0.0}}});
  truth.write(sim::ScanTruth{6, {}});
  truth.write(sim::ImuTruth{hal::from_ns(9), 10, {0.1, -0.2, 9.81}, {1.0, 2.0, 3.0}});
  std::fclose(file);
  STRCMP_EQUAL(
      "{\"type\":\"scan\",\"seq\":0,\"device_ns\":5,\"beams\":[[7,0.500000000,1.250000],"
      "[8,-0.283185307,0.000000]]}\n"
      "{\"type\":\"scan\",\"seq\":1,\"device_ns\":6,\"beams\":[]}\n"
      "{\"type\":\"imu\",\"seq\":0,\"device_ns\":10,\"t_ns\":9,\"accel\":[0.1,-0.2,9.81],"
      "\"gyro\":[1,2,3]}\n",
      text);
  std::free(text);
}
