#include "test/sim/arrival.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

namespace sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr hal::Duration kNone{};
constexpr ArrivalRow kRows[] = {
    {Arrival::direct, "direct", "the moment the line has carried them", true, true, kNone, kNone, 0,
     kNone, 0},
    {Arrival::uart, "uart", "0.1 ms of noise, 1 % up to 20 ms", true, false, microseconds(100),
     milliseconds(20), 0.01, kNone, 0},
    {Arrival::ftdi16, "ftdi16", "USB adapter: each 16 ms, or 62 bytes", true, false,
     microseconds(50), milliseconds(20), 0.01, milliseconds(16), 62},
    {Arrival::ftdi1, "ftdi1", "USB adapter: each 1 ms, or 62 bytes", true, false, microseconds(50),
     milliseconds(20), 0.01, milliseconds(1), 62},
    {Arrival::udp, "udp", "wired: 0.04 ms of noise, 0.5 % up to 5 ms", false, true,
     microseconds(40), milliseconds(5), 0.005, kNone, 0},
    {Arrival::wifi, "wifi", "2 ms of noise, 1 % up to 100 ms", false, true, milliseconds(2),
     milliseconds(100), 0.01, kNone, 0},
};

}  // namespace

std::span<const ArrivalRow> arrivals() { return kRows; }

hal::Result<Arrival> parse_arrival(std::string_view name) {
  std::string known;
  for (const ArrivalRow& row : kRows) {
    if (row.name == name) return row.kind;
    known += (known.empty() ? "" : " ") + std::string(row.name);
  }
  hal::Error error{hal::Errc::bad_config, 0, "simulate: --arrival", {}};
  error.detail.print("\"%.*s\": there are: %s", static_cast<int>(name.size()), name.data(),
                     known.c_str());
  return error;
}

ArrivalModel::ArrivalModel(Arrival kind, std::uint64_t seed)
    : row_(kRows[static_cast<std::size_t>(kind)]), random_(seed) {
  if (row_.timer > kNone)
    phase_ = hal::Duration(
        static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(row_.timer.count()))));
}

void ArrivalModel::put(Write write, hal::Duration byte_time) {
  if (row_.timer > kNone) return gather(write, byte_time);
  deliver(std::move(write));
}

void ArrivalModel::gather(const Write& write, hal::Duration byte_time) {
  const hal::Bytes all(write.bytes);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const hal::Time at = write.due - byte_time * static_cast<std::int64_t>(all.size() - 1 - i);
    if (due() <= at) hand_over();
    if (held_.bytes.empty()) held_ = {tick_after(at), write.way, write.is_reply, {}};
    held_.bytes.push_back(all[i]);
    if (held_.bytes.size() < row_.packet) continue;
    held_.due = at;
    hand_over();
  }
}

hal::Time ArrivalModel::tick_after(hal::Time t) const {
  const hal::Duration since = t.time_since_epoch() - phase_;
  return t + row_.timer - since % row_.timer;
}

void ArrivalModel::deliver(Write write) {
  hal::Time due = write.due;
  if (row_.noise > kNone) {
    const double mean = static_cast<double>(row_.noise.count());
    double late = -mean * std::log(1.0 - random_.uniform(0.0, 1.0));
    if (random_.chance(row_.tail_share))
      late += random_.uniform(0.0, static_cast<double>(row_.tail.count()));
    due += hal::Duration(std::llround(late));
  }
  newest_ = std::max(newest_, due);
  write.due = newest_;
  arrived_.push_back(std::move(write));
}

}  // namespace sim
