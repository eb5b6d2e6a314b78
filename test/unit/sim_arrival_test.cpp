// How bytes reach the host: adapters that gather them, noise that delays them.
#include "test/sim/arrival.h"

#include <algorithm>
#include <cstring>

#include "test/sim/player.h"
#include "test/support/harness.h"
#include "test/unit/sim_fixture.h"

using sim::Arrival;
using sim::Write;
using sim_test::kStart;
using namespace std::chrono_literals;

namespace {

constexpr hal::Duration kByte = 100us;
constexpr std::uint64_t kSeed = 7;

// Writes of `size` numbered bytes, one every `period`; what the host could read and when.
std::vector<Write> through(Arrival kind, int count, std::size_t size, hal::Duration period) {
  sim::ArrivalModel model(kind, kSeed);
  std::vector<Write> all;
  const auto drain = [&] {
    for (; !model.arrived().empty(); model.arrived().pop_front())
      all.push_back(model.arrived().front());
  };
  for (int i = 0; i < count; ++i) {
    const hal::Time carried = kStart + period * i;
    if (model.due() <= carried) model.hand_over();
    model.put(
        {carried, sim::Way{}, false, sim::ByteVector(size, static_cast<std::byte>(i))},
        kByte);
    drain();
  }
  if (model.due() != sim::kNever) model.hand_over();
  drain();
  return all;
}

std::size_t bytes_of(const std::vector<Write>& writes) {
  std::size_t bytes = 0;
  for (const Write& write : writes) bytes += write.bytes.size();
  return bytes;
}

// Of writes that all have one size and the given period.
std::vector<double> delays_ms(Arrival kind, int count) {
  const std::vector<Write> writes = through(kind, count, 10, 1s);
  std::vector<double> delays;
  for (int i = 0; i < count; ++i)
    delays.push_back(hal::to_seconds(writes[std::size_t(i)].due - kStart - 1s * i) * 1e3);
  return delays;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / double(values.size());
}

}  // namespace

TEST_GROUP(SimArrival){void setup() override{std::printf("seed %d\n", int(kSeed));
}
}
;

TEST(SimArrival, DirectAddsNothing) {
  for (const double delay : delays_ms(Arrival::direct, 10)) DOUBLES_EQUAL(0.0, delay, 0.0);
}

TEST(SimArrival, NothingIsLostNothingArrivesEarlyAndNothingOvertakes) {
  for (const sim::ArrivalRow& row : sim::arrivals()) {
    const std::vector<Write> writes = through(row.kind, 5000, 10, 3ms);
    CHECK_EQUAL(50'000, bytes_of(writes));
    hal::Time before = kStart - 1ms;  // the first byte is on the line before
    std::size_t at = 0;
    bool in_order = true;
    for (const Write& write : writes) {
      in_order &= write.due >= before;
      before = write.due;
      for (const std::byte b : write.bytes) {
        const auto frame = static_cast<std::int64_t>(at / 10);
        in_order &= b == static_cast<std::byte>(frame);
        in_order &= (write.due >= kStart + 3ms * frame - kByte * std::int64_t(9 - at % 10));
        ++at;
      }
    }
    CHECK_TRUE_TEXT(in_order, row.name.data());
  }
}

TEST(SimArrival, AnAdapterHandsOverAtItsTicks) {
  const std::vector<Write> writes = through(Arrival::ftdi16, 2000, 10, 10ms);
  // All but the few that the host was late for lie a little behind a tick of 16 ms.
  const hal::Duration phase = (writes[0].due - kStart) % 16ms;
  std::size_t near = 0;
  for (const Write& write : writes) near += (write.due - kStart - phase + 1ms) % 16ms < 2ms;
  CHECK_TRUE(double(near) > 0.95 * double(writes.size()));
  CHECK_TRUE(writes.size() >= 1240 && writes.size() <= 1251);  // a tick each 16 ms of 20 s
}

TEST(SimArrival, AnAdapterHandsOverAFullPacketAtOnce) {
  const std::vector<Write> writes = through(Arrival::ftdi16, 1000, 10, 1ms);
  std::size_t full = 0;
  for (const Write& write : writes) {
    CHECK_TRUE(write.bytes.size() <= 62);
    full += write.bytes.size() == 62;
  }
  CHECK_TRUE(full * 62 > bytes_of(writes) * 3 / 4);
}

TEST(SimArrival, TheNoiseIsAsTheTableSays) {
  const struct {
    Arrival kind;
    double mean_ms, longest_ms;
  } rows[] = {{Arrival::uart, 0.2, 21.5},  // 0.1 + 1 % of 10
              {Arrival::udp, 0.0525, 5.6},
              {Arrival::wifi, 2.5, 130}};
  for (const auto& row : rows) {
    const std::vector<double> delays = delays_ms(row.kind, 50'000);
    DOUBLES_EQUAL(row.mean_ms, mean(delays), 0.1 * row.mean_ms + 0.1);
    const double longest = *std::ranges::max_element(delays);
    CHECK_TRUE(longest < row.longest_ms && longest > 0.7 * row.longest_ms);
  }
}

TEST(SimArrival, AStalledHostReadsNothing) {
  for (const sim::ArrivalRow& row : sim::arrivals()) {
    sim::PlayerInputs inputs{
        *sim::find_model("ldrobot"), {}, {}, 0.0, 1, row.is_serial, nullptr, row.kind};
    inputs.faults = {*sim::parse_fault("stall@1+0.5")};
    const auto player = std::move(*sim::Player::make(inputs, kStart));
    std::size_t before = 0, during = 0, after = 0;
    for (hal::Time now = kStart; now < kStart + 2s;) {
      const hal::Time due = player->advance(now);
      for (Write write; player->take(now, write);) {
        const bool stalled = write.due >= kStart + 1s && write.due < kStart + 1500ms;
        (stalled ? during : write.due < kStart + 1s ? before : after) += write.bytes.size();
      }
      now = due;
    }
    CHECK_EQUAL(0, during);
    CHECK_TRUE(before > 16'000 && after > 16'000);
  }
}

TEST(SimArrival, TheWrongPlaceIsRefused) {
  const sim::ModelRow& row = *sim::find_model("ldrobot");
  const auto fits = [&](bool is_serial, Arrival kind) {
    return static_cast<bool>(
        sim::Player::make({row, {}, {}, 0.0, 1, is_serial, nullptr, kind}, kStart));
  };
  CHECK_TRUE(fits(true, Arrival::uart));
  CHECK_TRUE(fits(false, Arrival::wifi));
  CHECK_FALSE(fits(false, Arrival::ftdi16));
  CHECK_FALSE(fits(true, Arrival::udp));
  const auto unknown = sim::parse_arrival("ftdi2");
  CHECK_FALSE(static_cast<bool>(unknown));
  CHECK_TRUE(std::strstr(unknown.error().detail.c_str(), "ftdi16") != nullptr);
}
