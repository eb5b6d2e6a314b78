// Decodes recorded bytes without a life cycle: no dialogue is held, every packet counts.
#pragma once

#include <memory>

#include "drivers/device.h"
#include "drivers/driver.h"

namespace drivers {

// framing.frames = packets + replies and frames without a measurement + stale + undecodable, where
// each frame gives one packet
struct DecoderStats {
  FramerStats framing;
  std::uint64_t tail_bytes = 0;  // neither framed nor rejected when the bytes ended
  std::uint64_t packets = 0, undecodable = 0;
};

class Decoder {
 public:
  virtual ~Decoder() = default;
  virtual void feed(const hal::Chunk&) = 0;
  virtual void finish() = 0;  // no more bytes will come
  virtual DecoderStats stats() const = 0;
};

template <Device D>
class DeviceDecoder final : public Decoder {
 public:
  // Packets of output k go to `sink` as sensor k.
  DeviceDecoder(const Options& options, int baud, PacketSink& sink)
      : device_(options), stampers_(device_.clock_model(), baud, StampOptions{}), sink_(sink) {}

  void feed(const hal::Chunk& chunk) override {
    framer_.feed(device_.framing(Channel::data), chunk, [this](const Frame& f) { take(f); });
  }
  void finish() override {
    framer_.finish(device_.framing(Channel::data), [this](const Frame& f) { take(f); });
    if constexpr (requires { device_.finish(decoded_); }) {
      decoded_.clear();
      device_.finish(decoded_);
      hand_over(newest_);
    }
  }
  DecoderStats stats() const override {
    return {framer_.stats(), framer_.pending(), packets_, undecodable_};
  }

 private:
  void take(const Frame& frame) {
    decoded_.clear();
    device_.decode(frame, decoded_);
    undecodable_ += decoded_.is_undecodable();
    hand_over(newest_ = frame.last_at);
  }

  void hand_over(hal::Time arrival) {
    for (Decoded::Item& item : decoded_.items()) {
      if (stampers_.stamp(item) != Stamper::Outcome::stamped) continue;
      ++packets_;
      sink_.on_packet(static_cast<SensorId>(item.output), item.packet, arrival);
    }
  }

  D device_;
  Stampers stampers_;
  Decoded decoded_;
  StreamFramer<typename D::Framing> framer_;
  PacketSink& sink_;
  std::uint64_t packets_ = 0, undecodable_ = 0;
  hal::Time newest_{};  // arrival of the newest frame
};

template <class D>
std::unique_ptr<Decoder> make_decoder(const Options& options, int baud, PacketSink& sink) {
  return std::make_unique<DeviceDecoder<D>>(options, baud, sink);
}

}  // namespace drivers
