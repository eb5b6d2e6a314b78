// What every device is fuzzed with: its bytes, cut by the input, through the decoder and through
// the driver, whose books must balance whatever arrives.
#pragma once

#include <cstdlib>
#include <memory>

#include "drivers/decoder.h"
#include "drivers/device_driver.h"
#include "test/support/fake_port.h"
#include "test/support/manual_clock.h"

namespace test {

struct FuzzSink final : drivers::PacketSink {
  void on_packet(drivers::SensorId, const drivers::Packet& packet, hal::Time) override {
    ++packets;
    const auto* const slice = std::get_if<drivers::ScanSlice>(&packet);
    for (std::size_t i = 0; slice && i < slice->beams.size(); ++i) sum += slice->beams[i].range;
  }
  void on_state(drivers::SensorId, drivers::State, hal::Time) override {}
  std::uint64_t packets = 0;
  float sum = 0;  // so that every beam is read
};

inline void must(bool holds) {
  if (!holds) std::abort();
}

// Calls `take` with pieces of the input: a byte of length before each.
template <class Take>
void in_pieces(hal::Bytes input, Take&& take) {
  while (!input.empty()) {
    const std::size_t wanted = std::to_integer<std::size_t>(input[0]) + 1;
    input = input.subspan(1);
    const hal::Bytes piece = input.first(std::min(wanted, input.size()));
    if (!piece.empty()) take(piece);
    input = input.subspan(piece.size());
  }
}

template <class D>
void fuzz_decoder(const drivers::Options& options, hal::Bytes input) {
  FuzzSink sink;
  drivers::DeviceDecoder<D> decoder(options, 115200, sink);
  hal::Time now{std::chrono::seconds(1000)};
  in_pieces(input, [&](hal::Bytes piece) {
    decoder.feed({piece, now += std::chrono::milliseconds(piece.size())});
  });
  decoder.finish();
  const drivers::DecoderStats s = decoder.stats();
  must(s.framing.bytes == s.framing.frame_bytes + s.framing.garbage_bytes + s.tail_bytes);
  must(s.packets == sink.packets && s.packets + s.undecodable <= s.framing.frames);
}

template <class D>
void fuzz_driver(const drivers::Options& options, hal::Bytes input) {
  FuzzSink sink;
  ManualClock clock;
  drivers::DriverSetup setup;
  auto owned = std::make_unique<FakePort>(clock);
  FakePort& port = *owned;
  setup.ports[0] = std::move(owned);
  setup.baud = 115200;
  setup.sink = &sink;
  drivers::DeviceDriver<D> driver(options, std::move(setup));
  driver.start(clock.now());
  in_pieces(input, [&](hal::Bytes piece) {
    port.deliver(piece);
    driver.tick(clock.advance(std::chrono::milliseconds(piece.size())));
  });
  driver.stop(clock.now());
  driver.tick(clock.advance(std::chrono::seconds(1)));
  const drivers::Health h = driver.health();
  must(driver.stopped());
  must(h.framing.bytes == h.framing.frame_bytes + h.framing.garbage_bytes + h.pending);
  must(h.framing.frames ==
       h.replies + h.packets + h.stale + h.unwanted + h.silent_frames + h.undecodable);
}

template <class D>
int fuzz_device(const drivers::Options& options, const std::uint8_t* data, std::size_t size) {
  const hal::Bytes input = std::as_bytes(std::span(data, size));
  fuzz_decoder<D>(options, input);
  fuzz_driver<D>(options, input);
  return 0;
}

}  // namespace test
