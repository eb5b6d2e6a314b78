// Any bytes as a network capture, down to datagrams and streams.
#include <cstdlib>

#include "hal/pcap/flows.h"

namespace {

// Touches every byte. No more can come out than was in the file.
struct Sink final : hal::pcap::FlowSink {
  void on_payload(const hal::pcap::Flow&, hal::Bytes bytes, std::int64_t, std::uint64_t) override {
    for (const std::byte b : bytes) sum += std::to_integer<unsigned>(b);
    if (bytes.size() > left) std::abort();
    left -= bytes.size();
  }
  std::size_t left = 0;
  unsigned sum = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Sink sink;
  sink.left = size;
  hal::pcap::File file(std::as_bytes(std::span(data, size)));
  hal::pcap::Reassembly whole;
  hal::pcap::Flows flows(sink);
  std::size_t unread = file.unread();
  while (const auto frame = file.next()) {
    if (file.unread() >= unread) std::abort();  // it always gets on
    unread = file.unread();
    if (const auto packet = whole.take(*frame)) flows.take(*packet);
  }
  whole.finish();
  flows.finish();
  return 0;
}
