// Decodes recorded bytes without a life cycle: no dialogue is held, every packet counts.
#pragma once

#include <memory>

#include "drivers/decoded.h"
#include "drivers/driver.h"

namespace drivers {

// framing.frames = packets + replies and frames without a measurement + stale + undecodable
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

template <class D>
class DeviceDecoder final : public Decoder {
 public:
  // Packets go to `sink` as sensor 0.
  DeviceDecoder(const Options& options, int baud, PacketSink& sink)
      : device_(options), stamper_(device_.clock_model(), baud, std::nullopt), sink_(sink) {}

  void feed(const hal::Chunk& chunk) override {
    framer_.feed(device_.framing(Channel::data), chunk, [this](const Frame& f) { take(f); });
  }
  void finish() override {
    framer_.finish(device_.framing(Channel::data), [this](const Frame& f) { take(f); });
  }
  DecoderStats stats() const override {
    return {framer_.stats(), framer_.pending(), packets_, undecodable_};
  }

 private:
  void take(const Frame& frame) {
    Decoded decoded = device_.decode(frame);
    undecodable_ += decoded.kind == Decoded::Kind::undecodable;
    if (decoded.kind != Decoded::Kind::packet) return;
    if (!stamper_.stamp(decoded.packet, decoded.timing)) return;
    ++packets_;
    sink_.on_packet(0, decoded.packet, frame.last_at);
  }

  D device_;
  Stamper stamper_;
  StreamFramer<typename D::Framing> framer_;
  PacketSink& sink_;
  std::uint64_t packets_ = 0, undecodable_ = 0;
};

template <class D>
std::unique_ptr<Decoder> make_decoder(const Options& options, int baud, PacketSink& sink) {
  return std::make_unique<DeviceDecoder<D>>(options, baud, sink);
}

}  // namespace drivers
