// Families that send datagrams, over a network that loses, repeats and reorders a tenth of them
// each: LIDARD_DATAGRAMS says how many are sent (test/datagrams.sh: a million).
#include "test/support/allocation_counter.h"
#include "test/support/harness.h"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>

#include "drivers/registry.h"
#include "test/sim/player.h"
#include "test/sim/random.h"
#include "test/sim/wire.h"
#include "test/support/fake_port.h"
#include "test/support/manual_clock.h"

using namespace std::chrono_literals;

namespace {

// What a datagram is a part of: parts of one unit follow each other, and have the same number.
struct Family {
  const char* driver;
  sim::Options device;
  std::uint64_t (*unit)(hal::Bytes, std::uint64_t datagram);
};

std::uint64_t itself(hal::Bytes, std::uint64_t datagram) { return datagram; }
std::uint64_t identification(hal::Bytes b, std::uint64_t) { return sim::get_le(b, 12, 4); }

// Counts, without the heap. A unit that comes twice has the device's time of one before.
struct Watcher final : drivers::PacketSink {
  void on_packet(drivers::SensorId, const drivers::Packet& packet, hal::Time) override {
    const auto& slice = std::get<drivers::ScanSlice>(packet);
    ++slices;
    backward += slice.first <= newest;
    repeated += slice.device_ns.value_or(0) == device_ns;
    newest = slice.first;
    device_ns = slice.device_ns.value_or(0);
  }
  void on_state(drivers::SensorId, drivers::State, hal::Time) override {}
  std::uint64_t slices = 0, backward = 0, repeated = 0;
  hal::Time newest = hal::Time::min();
  std::int64_t device_ns = -1;
};

std::uint64_t wanted() {
  const char* const text = std::getenv("LIDARD_DATAGRAMS");
  return text == nullptr ? 20'000 : std::strtoull(text, nullptr, 10);
}

std::uint64_t resident_kib() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * 4;
}

// The device, the network and the host.
class Crossing {
 public:
  explicit Crossing(const Family& family) : family_(family) {
    player_ = std::move(*sim::Player::make(
        {.row = *sim::find_model(family.driver), .set = family.device, .faults = {}},
        clock_.now()));
    const drivers::Row& row = *drivers::find(family.driver);
    drivers::DriverSetup setup;
    setup.sink = &watcher;
    auto port = std::make_unique<test::FakePort>(clock_);
    port_ = port.get();
    port_->has_datagrams = true;
    port_->is_line = false;
    setup.ports[0] = std::move(port);
    driver_ = row.make(drivers::Options(row.options), std::move(setup));
    driver_->start(clock_.now());
    next_tick_ = clock_.now();
  }

  void send(std::uint64_t datagrams) {
    const std::uint64_t end = sent + datagrams;
    while (sent < end) {
      const hal::Time due = player_->advance(clock_.now());
      tick_until(due);
      clock_.set(std::max(due, clock_.now()));
      for (sim::Write write; player_->take(clock_.now(), write);) pass(std::move(write));
    }
  }
  // The last ones arrive as they are.
  void end() {
    damages_ = false;
    send(100);
    streams = health().state == drivers::State::streaming;
    tick_until(clock_.now() + 2s);
    for (const Unit& unit : recent_) close(unit);
    recent_.clear();
  }
  drivers::Health health() const { return driver_->health(); }

  Watcher watcher;
  std::uint64_t sent = 0, dropped = 0, doubled = 0, held_back = 0;
  std::uint64_t units = 0, whole = 0;  // of which all parts arrived
  std::uint64_t since_first = 0;       // from the first whole one to the last
  unsigned long allocations = 0;
  bool streams = false;  // when the last ones had arrived

 private:
  struct Unit {
    std::uint64_t number = 0;
    std::uint64_t parts = 0, arrived = 0;
  };
  struct Waiting {
    sim::Write write;
    std::uint64_t unit;
    std::uint64_t until;  // so many have been sent
  };

  void pass(sim::Write write) {
    const std::uint64_t number = family_.unit(write.bytes, sent);
    ++sent;
    if (recent_.empty() || recent_.back().number != number) {
      if (recent_.size() > 20) close(recent_.front()), recent_.pop_front();
      recent_.push_back({number});
    }
    ++recent_.back().parts;
    if (damages_ && random_.chance(0.1)) {
      ++dropped;
    } else if (damages_ && random_.chance(0.1)) {
      ++held_back;
      waiting_.push_back({std::move(write), number, sent + 1 + random_.below(3)});
    } else {
      const bool twice = damages_ && random_.chance(0.1);
      doubled += twice;
      arrive(write, number);
      if (twice) deliver(write);
    }
    while (!waiting_.empty() && waiting_.front().until <= sent) {
      arrive(waiting_.front().write, waiting_.front().unit);
      waiting_.pop_front();
    }
  }
  void arrive(const sim::Write& write, std::uint64_t number) {
    for (Unit& unit : recent_) {
      if (unit.number == number) ++unit.arrived;
    }
    deliver(write);
  }
  void deliver(const sim::Write& write) {
    const test::AllocationCounter counter;
    port_->deliver(write.bytes);
    allocations += counter.count();
  }
  void close(const Unit& unit) {
    ++units;
    const bool is_whole = unit.arrived == unit.parts;
    whole += is_whole;
    if (is_whole && first_ == 0) first_ = units;
    if (is_whole) since_first = units - first_ + 1;
  }
  void tick_until(hal::Time end) {
    for (; next_tick_ <= end; next_tick_ += 20ms) {
      clock_.set(std::max(next_tick_, clock_.now()));
      const test::AllocationCounter counter;
      driver_->tick(clock_.now());
      allocations += counter.count();
    }
  }

  const Family& family_;
  test::ManualClock clock_;
  std::unique_ptr<sim::Player> player_;
  test::FakePort* port_ = nullptr;  // owned by the driver
  std::unique_ptr<drivers::Driver> driver_;
  hal::Time next_tick_{};
  sim::Random random_{20'261};
  bool damages_ = true;
  std::deque<Unit> recent_;
  std::deque<Waiting> waiting_;
  std::uint64_t first_ = 0;
};

void survive(const Family& family) {
  Crossing crossing(family);
  crossing.send(wanted() / 20);
  const std::uint64_t before = resident_kib();
  crossing.send(wanted() - wanted() / 20);
  crossing.end();
  const std::uint64_t after = resident_kib();
  const drivers::Health h = crossing.health();
  std::printf("\n%s: %" PRIu64 " datagrams, %" PRIu64 " lost, %" PRIu64 " twice, %" PRIu64
              " late; %" PRIu64 " of %" PRIu64 " units whole, %" PRIu64 " delivered; %" PRIu64
              " kB resident, %" PRIu64 " before; %" PRIu64 " faults, %" PRIu64 " stale, %" PRIu64
              " unwanted",
              family.driver, crossing.sent, crossing.dropped, crossing.doubled, crossing.held_back,
              crossing.whole, crossing.units, crossing.watcher.slices, after, before, h.faults,
              h.stale, h.unwanted);
  LONGS_EQUAL(0, crossing.allocations);
  CHECK_TRUE(h.balances());
  CHECK_TRUE(crossing.streams);
  UNSIGNED_LONGS_EQUAL(crossing.whole, crossing.watcher.slices);
  UNSIGNED_LONGS_EQUAL(crossing.whole, h.packets);
  LONGS_EQUAL(0, crossing.watcher.backward + crossing.watcher.repeated);
  UNSIGNED_LONGS_EQUAL(crossing.since_first - crossing.whole, h.lost);
  LONGS_EQUAL(0, h.undecodable + h.resets);  // stale: what comes twice
}

}  // namespace

TEST_GROUP(Datagrams){};

TEST(Datagrams, OfSafetyScannersEveryWholeScanIsDeliveredOnce) {
  survive({"sick_safety",
           {{"model", "outdoorScan3"}, {"preset", "on"}, {"fragment", "600"}},
           identification});
}

TEST(Datagrams, OfN301EveryDatagramIsDeliveredOnce) { survive({"lslidar_n301", {}, itself}); }

TEST(Datagrams, OfPicoScansEverySegmentIsDeliveredOnce) {
  survive({"sick_compact", {{"imu", "off"}, {"preset", "on"}}, itself});
}
