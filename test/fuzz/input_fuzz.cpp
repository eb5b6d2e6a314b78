// Any bytes as what a program sends to the input socket, cut by the first byte: nothing but counted
// drops may come of it, and the books balance.
#include <cstdlib>

#include "app/inputs.h"
#include "config/load.h"

namespace {

struct Sink final : app::InputSink {
  void on_input(std::size_t, collation::MessagePool::Lease message, hal::Time) override {
    if (message->data.size() > 64 || message->format == nullptr) std::abort();
    for (const std::byte b : message->data) sum += std::to_integer<unsigned>(b);
    ++passed;
  }
  void on_input_state(std::size_t, drivers::State, hal::Time) override {}
  std::uint64_t passed = 0;
  unsigned sum = 0;
};

// Hands pieces to whoever waits.
struct Line final : hal::Port {
  explicit Line(Line*& place) { place = this; }
  void open(hal::PortListener& l) override { listener = &l; }
  hal::Status write(hal::Bytes) override { return hal::ok; }
  void close() override { listener = nullptr; }
  hal::Status set_dtr(bool) override { return hal::ok; }
  hal::Status set_baud(int) override { return hal::ok; }
  bool drained() const override { return true; }
  bool has_line() const override { return false; }
  hal::PortStats stats() const override { return {}; }
  std::string_view name() const override { return "fuzz"; }
  hal::PortListener* listener = nullptr;
};

const config::Stack& stack() {
  static const auto loaded = config::load_text(
      "input: {clients: 1}\n"
      "inputs:\n"
      "  odom: {schema: nav_msgs/msg/Odometry, max_bytes: 64, rate_hz: 50}\n"
      "  fix: {schema: sensor_msgs/msg/NavSatFix, max_bytes: 32, rate_hz: 5}\n"
      "sensors: {front: {driver: ldrobot, port: 'serial:/dev/lidar'}}\n",
      "fuzz");
  return std::get<config::Stack>(loaded);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const config::Plan plan = config::plan(stack());
  const std::size_t piece = data[0] + std::size_t{1};
  hal::Bytes input = std::as_bytes(std::span(data + 1, size - 1));
  Sink sink;
  Line* line = nullptr;
  app::Inputs inputs(stack(), plan, sink);
  inputs.add(std::make_unique<Line>(line));
  hal::Time now{std::chrono::seconds(1000)};
  inputs.set_wall_clock(1'700'000'000'000'000'000 - hal::to_ns(now));
  inputs.start(now);
  if (line->listener != nullptr) line->listener->on_port_open(now);
  while (!input.empty() && line->listener != nullptr) {
    const hal::Bytes part = input.first(std::min(piece, input.size()));
    input = input.subspan(part.size());
    now += std::chrono::milliseconds(1);
    line->listener->on_chunk({.bytes = part, .last_at = now});
    inputs.tick(now);
    const app::SenderStats s = inputs.senders();
    if (s.bytes != s.record_bytes + s.discarded_bytes + s.pending) std::abort();
  }
  const app::SenderStats s = inputs.senders();
  const app::InputStats &a = inputs.stats(0), &b = inputs.stats(1);
  if (s.messages != s.unknown_topic + a.messages + b.messages) std::abort();
  if (a.passed + b.passed != sink.passed) std::abort();
  for (const app::InputStats* const i : {&a, &b}) {
    if (i->dropped() != i->wrong_schema + i->other_sender + i->too_large + i->bad_time +
                            i->too_fast + i->without_pool) {
      std::abort();
    }
  }
  return 0;
}
