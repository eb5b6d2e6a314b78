// What leaves: a cloud as CDR, ns per point, and a message through the stream socket to one client
// that reads, ns per message.
#include <benchmark/benchmark.h>
#include <sys/socket.h>

#include "app/mcap_stream.h"
#include "app/messages.h"
#include "hal/clock.h"
#include "test/bench/items.h"

namespace {

void encode_points(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  const std::vector<app::PointXyzit> points(n, {1, 2, 3, 4, -0.1F});
  std::vector<std::byte> out(app::point_cloud_size(n, 16));
  std::uint64_t encoded = 0;
  for (auto _ : state) {
    const app::PointCloud cloud{{1, "base_link"}, app::Packed<app::PointXyzit>(std::span(points))};
    if (app::encode(cloud, out) > out.size()) state.SkipWithError("too small");
    benchmark::DoNotOptimize(out.data());
    encoded += n;
  }
  bench::report_items(state, encoded);
}

// One pass per message, as with a single fast sensor.
void publish(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const hal::InnerClock clock;
  hal::EventLoop loop(clock);
  app::McapStream stream(loop, {.profile = app::kProfile, .library = "bench", .max_clients = 8});
  const auto& type = app::kPointCloud2Type;
  const auto schema = stream.add_schema(type.name, app::kSchemaEncoding, type.definition);
  const auto channel = stream.add_channel({.topic = "/a/points",
                                           .message_encoding = app::kMessageEncoding,
                                           .schema = *schema,
                                           .metadata = {},
                                           .latched_bytes = 0});
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) != 0) {
    return state.SkipWithError("no socket");
  }
  const hal::UniqueFd client(ends[1]);
  if (!stream.add_client(hal::UniqueFd(ends[0]))) state.SkipWithError("no client");
  const std::vector<std::byte> message(size);
  std::vector<std::byte> received(std::size_t{1} << 20);
  std::int64_t time = 0, bytes = 0;
  for (auto _ : state) {
    ++time;
    stream.publish(*channel, time, time, message);
    stream.flush();
    bytes += std::max<ssize_t>(::recv(client.get(), received.data(), received.size(), 0), 0);
  }
  if (stream.client_stats(0)->dropped != 0) state.SkipWithError("messages were dropped");
  bench::report_items(state, static_cast<std::uint64_t>(time));
  state.SetBytesProcessed(bytes);
}

}  // namespace

BENCHMARK(encode_points)->Name("cdr")->ArgName("points")->Arg(450)->Arg(1440);
BENCHMARK(publish)->Name("stream/publish")->Arg(320)->Arg(10'000);
