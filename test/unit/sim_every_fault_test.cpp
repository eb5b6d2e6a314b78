// Every fault with a lidar that streams, one that is spoken to, and an IMU: what it does to the
// bytes, the clock and the power.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "drivers/registry.h"
#include "test/sim/player.h"
#include "test/support/harness.h"
#include "test/support/packet_log.h"
#include "test/unit/sim_fixture.h"

using sim::FaultKind;
using sim::Write;
using sim_test::kStart;
using namespace std::chrono_literals;

namespace {

struct Device {
  const char* driver;
  sim::Options set;
  const char* decoder_option;  // key=value
};
const Device kDevices[] = {
    {"ldrobot", {}, "model=LD19"},
    {"microstrain_mip", {{"streaming", "on"}}, ""},
    {"rplidar", {{"model", "A1"}, {"streaming", "on"}}, "answer=0x84"},
};

struct Stamps final : sim::TruthSink {
  void write(const sim::ScanTruth& scan) override { device_ns.push_back(scan.device_ns); }
  void write(const sim::ImuTruth& imu) override { device_ns.push_back(imu.device_ns); }
  std::vector<std::int64_t> device_ns;
};

constexpr hal::Time kBegins = kStart + 2s, kEnds = kStart + 4s;  // of the fault, of the run

// What a device sent from kBegins on; every fault of this test begins there.
struct Sent {
  explicit Sent(const Device& device, const std::string& fault, bool is_serial = false) {
    sim::PlayerInputs inputs{
        *sim::find_model(device.driver), device.set, {}, 0.0, 5, is_serial, &stamps, {}};
    if (!fault.empty()) inputs.faults = {*sim::parse_fault(fault)};
    auto made = sim::Player::make(inputs, kStart);
    refused = !made;
    if (refused) return;
    player = std::move(*made);
    for (hal::Time now = kStart; now < kEnds;) {
      const hal::Time due = player->advance(now);
      for (Write write; player->take(now, write);) {
        if (write.due < kBegins) continue;
        bytes += write.bytes.size();
        writes.push_back(write);
      }
      now = due;
    }
  }
  std::size_t count_in(hal::Duration from, hal::Duration to) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        writes, [&](const Write& w) { return w.due >= kBegins + from && w.due < kBegins + to; }));
  }
  sim::ByteVector joined() const {
    sim::ByteVector all;
    for (const Write& w : writes) all.insert(all.end(), w.bytes.begin(), w.bytes.end());
    return all;
  }

  Stamps stamps;
  bool refused = false;
  std::unique_ptr<sim::Player> player;
  std::vector<Write> writes;
  std::size_t bytes = 0;
};

// Every frame of `part` is one of `whole`, in the same order.
bool is_subsequence(const std::vector<Write>& part, const std::vector<Write>& whole) {
  std::size_t at = 0;
  for (const Write& write : part) {
    while (at < whole.size() && whole[at].bytes != write.bytes) ++at;
    if (at++ == whole.size()) return false;
  }
  return true;
}

bool same_frames(const std::vector<Write>& a, const std::vector<Write>& b) {
  return a.size() == b.size() && is_subsequence(a, b);
}

int bits_apart(const sim::ByteVector& a, const sim::ByteVector& b) {
  int bits = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    bits += std::popcount(std::to_integer<unsigned>(a[i] ^ b[i]));
  return bits;
}

// Frames that a driver rejects in these bytes.
std::uint64_t rejected(const Device& device, const sim::ByteVector& bytes) {
  const drivers::Row& row = *drivers::find(device.driver);
  drivers::Options options(row.options);
  const std::string text = device.decoder_option;
  if (const auto at = text.find('='); at != std::string::npos)
    (void)options.set(text.substr(0, at), text.substr(at + 1));
  test::PacketCounter sink;
  const auto decoder = row.make_decoder(options, 0, sink);
  decoder->feed({bytes, kStart, {}, 0});
  decoder->finish();
  return decoder->stats().framing.rejected + decoder->stats().framing.garbage_bytes;
}

bool near(double value, double wanted, double share) {
  return std::abs(value - wanted) <= share * wanted;
}

// Stamps of the faulty device less those of the sound one, s; by packet.
std::vector<double> moved(const Sent& faulty, const Sent& sound) {
  std::vector<double> all;
  const std::size_t n = std::min(faulty.stamps.device_ns.size(), sound.stamps.device_ns.size());
  for (std::size_t i = 0; i < n; ++i)
    all.push_back(double(faulty.stamps.device_ns[i] - sound.stamps.device_ns[i]) * 1e-9);
  return all;
}

// Whether `kind` does what its row says. No default: a new kind is asked for here.
bool does_it(FaultKind kind, const Device& device) {
  const Sent sound(device, "");
  const double frames = double(sound.writes.size());
  switch (kind) {
    case FaultKind::off:
      return Sent(device, "off@2").writes.empty();
    case FaultKind::stuck: {
      const Sent f(device, "stuck@2");
      return f.writes.size() == sound.writes.size() &&
             std::ranges::all_of(f.writes,
                                 [&](const Write& w) { return w.bytes == f.writes.front().bytes; });
    }
    case FaultKind::garbage: {
      const Sent f(device, "garbage=32@2");
      return is_subsequence(sound.writes, f.writes) &&
             near(double(f.bytes - sound.bytes), 16 * frames, 0.15);
    }
    case FaultKind::wrong: {
      const Sent f(device, "wrong@2");
      std::size_t other = 0;
      for (std::size_t i = 0; i < f.writes.size(); ++i)
        other += f.writes[i].bytes != sound.writes[i].bytes;
      return f.writes.size() == sound.writes.size() && double(other) > 0.99 * frames &&
             rejected(device, f.joined()) == rejected(device, sound.joined());
    }
    case FaultKind::slow: {
      const Sent f(device, "slow=4@2");
      return is_subsequence(f.writes, sound.writes) &&
             near(double(f.writes.size()), frames / 4, 0.03);
    }
    case FaultKind::delayed: {
      const Sent f(device, "delayed=100@2");
      return is_subsequence(f.writes, sound.writes) &&
             f.writes.front().due == sound.writes.front().due + 100ms &&
             f.writes.front().bytes == sound.writes.front().bytes;
    }
    case FaultKind::intermittent: {
      const Sent f(device, "intermittent=500@2");
      return f.count_in(0ms, 250ms) == sound.count_in(0ms, 250ms) &&
             f.count_in(250ms, 500ms) == 0 && f.count_in(500ms, 750ms) > 0 &&
             f.count_in(750ms, 1s) == 0;
    }
    case FaultKind::drop: {
      const Sent f(device, "drop@2%50");
      return is_subsequence(f.writes, sound.writes) &&
             near(double(f.writes.size()), frames / 2, 0.3);
    }
    case FaultKind::duplicate: {
      const Sent f(device, "duplicate@2%100");
      return f.writes.size() == 2 * sound.writes.size() && is_subsequence(sound.writes, f.writes);
    }
    case FaultKind::reorder: {
      const Sent f(device, "reorder@2%50");
      auto a = f.writes, b = sound.writes;
      const auto less = [](const Write& x, const Write& y) { return x.bytes < y.bytes; };
      const bool other_order = !same_frames(f.writes, sound.writes);
      std::ranges::sort(a, less), std::ranges::sort(b, less);
      return other_order && a.size() + 1 >= b.size() && is_subsequence(a, b);
    }
    case FaultKind::truncate: {
      const Sent f(device, "truncate=5@2%100");
      return f.writes.size() == sound.writes.size() &&
             std::ranges::all_of(f.writes, [](const Write& w) { return w.bytes.size() == 5; });
    }
    case FaultKind::split: {
      const Sent f(device, "split=3@2");
      return f.joined() == sound.joined() &&
             std::ranges::all_of(f.writes, [](const Write& w) { return w.bytes.size() <= 3; });
    }
    case FaultKind::bitflip: {
      const Sent f(device, "bitflip@2%100");
      bool one = f.writes.size() == sound.writes.size();
      for (std::size_t i = 0; one && i < f.writes.size(); ++i)
        one = bits_apart(f.writes[i].bytes, sound.writes[i].bytes) == 1;
      return one;
    }
    case FaultKind::reset: {
      const Sent f(device, "reset=0.5@2");
      const auto at =
          std::ranges::find_if(f.writes, [](const Write& w) { return w.due == kBegins + 500ms; });
      const std::string text =
          at == f.writes.end()
              ? ""
              : std::string(reinterpret_cast<const char*>(at->bytes.data()), at->bytes.size());
      return f.count_in(0ms, 499ms) == 0 && text.find("restart") != std::string::npos;
    }
    case FaultKind::wrap: {
      const Sent f(device, "wrap=1@2");
      const sim_test::Bench bench(device.driver, device.set);
      const double period = hal::to_seconds(bench.model->clock_period());
      if (period == 0) return f.refused;
      const std::vector<double> by = moved(f, sound);
      return by.front() == 0 && near(by.back(), period - 3, 0.001);
    }
    case FaultKind::drift: {
      const Sent f(device, "drift=50000@2");
      return near(double(f.writes.size()), 1.05 * frames, 0.015);
    }
    case FaultKind::wander: {
      const Sent f(device, "wander=1000@2");
      bool moves = false;
      for (std::size_t i = 0; i < f.writes.size() && i < sound.writes.size(); ++i) {
        const hal::Duration by = std::chrono::abs(f.writes[i].due - sound.writes[i].due);
        if (by > 100us) return false;
        moves |= by > 5us;
      }
      return moves;
    }
    case FaultKind::jitter: {
      const std::vector<double> by = moved(Sent(device, "jitter=5@2"), sound);
      const auto [least, most] = std::ranges::minmax(by);
      return by.front() == 0 && least >= -0.0061 && least < -0.003 && most <= 0.0061 &&
             most > 0.003;
    }
    case FaultKind::jump: {
      const std::vector<double> by = moved(Sent(device, "jump=5@2"), sound);
      return by.front() == 0 && near(by.back(), 5, 1e-9);
    }
    case FaultKind::stall: {
      const Sent f(device, "stall@2+0.5");
      return f.count_in(0ms, 500ms) == 0 &&
             f.count_in(500ms, 500ms + 1us) >= sound.count_in(0ms, 500ms) &&
             same_frames(f.writes, sound.writes);
    }
    case FaultKind::baud: {
      const Sent f(device, "baud@2", true);
      const unsigned rate = f.player->line_baud(kStart);
      return Sent(device, "baud@2").refused && !f.player->has_wrong_baud(kStart) &&
             f.player->has_wrong_baud(kBegins) && f.player->line_baud(kBegins) == rate / 2;
    }
    case FaultKind::unplug: {
      const Sent f(device, "unplug@2+1");
      return f.count_in(0ms, 1s) == 0 && !f.player->is_plugged(kBegins) &&
             f.player->is_plugged(kBegins + 1s);
    }
  }
  return false;
}

}  // namespace

TEST_GROUP(SimEveryFault){};

TEST(SimEveryFault, DoesWhatItSays) {
  for (const Device& device : kDevices) {
    for (const sim::FaultRow& fault : sim::fault_kinds()) {
      const std::string what = std::string(fault.name) + " with " + device.driver;
      CHECK_TRUE_TEXT(does_it(fault.kind, device), what.c_str());
    }
  }
}

TEST(SimEveryFault, WanderSwingsTheDriftWithinFiveMinutes) {
  const sim::FaultInjector faults({*sim::parse_fault("drift=30"), *sim::parse_fault("wander=8@10")},
                                  kStart, 1);
  DOUBLES_EQUAL(30.0, faults.drift_ppm(kStart + 5s), 1e-9);
  DOUBLES_EQUAL(38.0, faults.drift_ppm(kStart + 10s + 75s), 1e-9);
  DOUBLES_EQUAL(22.0, faults.drift_ppm(kStart + 10s + 225s), 1e-9);
  CHECK_TRUE(faults.next_change(kStart) == kStart + 10s);
  CHECK_TRUE(faults.next_change(kStart + 10s) == kStart + 11s);
  CHECK_TRUE(faults.next_change(kStart + 11500ms) == kStart + 12s);
}
