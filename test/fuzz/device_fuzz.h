// What every device is fuzzed with: its bytes, cut by the input, through the decoder and through
// the driver, whose books must balance whatever arrives.
#pragma once

#include <cmath>
#include <cstdlib>
#include <memory>

#include "drivers/decoder.h"
#include "drivers/device_driver.h"
#include "test/fuzz/pieces.h"
#include "test/support/fake_port.h"
#include "test/support/manual_clock.h"

namespace test {

inline void must(bool holds) {
  if (!holds) std::abort();
}

// Whatever is delivered makes sense: finite, no range below 0, stamps that strictly increase.
class FuzzSink final : public drivers::PacketSink {
 public:
  void on_packet(drivers::SensorId id, const drivers::Packet& packet, hal::Time) override {
    ++packets;
    newest_ = &newest_of_[id % drivers::kMaxOutputs];
    std::visit([this](const auto& p) { this->examine(p); }, packet);
  }
  void on_state(drivers::SensorId, drivers::State state, hal::Time) override {
    must(state <= drivers::State::stopping);
  }
  std::uint64_t packets = 0;

 private:
  void examine(const drivers::ScanSlice& slice) {
    must(!slice.beams.empty() && slice.step >= hal::Duration::zero());
    must(slice.echoes.size() % slice.beams.size() == 0);
    for (const drivers::Echo& echo : slice.echoes) {
      must(std::isfinite(echo.range) && echo.range >= 0);
      must(!slice.has_intensity || std::isfinite(echo.intensity));
    }
    must(slice.first > *newest_);
    *newest_ = slice.first;
    for (const drivers::Beam& beam : slice.beams) {
      must(std::isfinite(beam.angle) && std::isfinite(beam.range) && beam.range >= 0);
      must(!slice.has_intensity || std::isfinite(beam.intensity));
    }
  }
  void examine(const drivers::ImuSample& sample) {
    must(sample.at > *newest_);
    *newest_ = sample.at;
    examine(sample.accel), examine(sample.gyro), examine(sample.mag);
    examine(sample.delta_velocity), examine(sample.delta_angle);
    if (sample.orientation) {
      for (const double part : *sample.orientation) must(std::abs(part) <= 1.05);  // what is taken for a rotation
    }
  }
  static void examine(const std::optional<drivers::ImuSample::Vector>& vector) {
    if (!vector) return;
    for (const double part : *vector) must(std::isfinite(part));
  }
  std::array<hal::Time, drivers::kMaxOutputs> newest_of_{hal::Time::min(), hal::Time::min()};
  hal::Time* newest_ = nullptr;  // of the packet's output
};

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
  must(s.packets == sink.packets && s.undecodable <= s.framing.frames);
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
  must(driver.stopped());
  must(driver.health().balances());
}

template <class D>
int fuzz_device(const drivers::Options& options, const std::uint8_t* data, std::size_t size) {
  const hal::Bytes input = std::as_bytes(std::span(data, size));
  fuzz_decoder<D>(options, input);
  fuzz_driver<D>(options, input);
  return 0;
}

}  // namespace test
