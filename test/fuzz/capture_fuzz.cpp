// Any bytes as records of a raw capture, each with a byte of length before it: read, written again,
// and replayed.
#include <cstdlib>

#include "hal/replay.h"
#include "test/fuzz/pieces.h"

namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

void must_read_back(const hal::RawRecord& record) {
  std::vector<std::byte> out(hal::kRawHeader + record.bytes.size());
  must(hal::encode(record, out) == out.size());
  const auto again = hal::decode(out);
  must(again && again->kind == record.kind && again->at == record.at &&
       std::ranges::equal(again->bytes, record.bytes));
}

class Source final : public hal::RecordSource {
 public:
  explicit Source(hal::Bytes input) {
    test::in_pieces(input, [this](hal::Bytes piece) {
      const auto record = hal::decode(piece);
      if (!record) return;
      must_read_back(*record);
      records_.push_back(*record);
    });
  }
  std::optional<hal::RawRecord> next() override {
    return at_ < records_.size() ? std::optional(records_[at_++]) : std::nullopt;
  }

 private:
  std::vector<hal::RawRecord> records_;
  std::size_t at_ = 0;
};

// Opens its port at the first tick and after each fault, and writes what it reads.
class Program final : public hal::ReplayListener, private hal::PortListener {
 public:
  explicit Program(hal::Replayer& replayer) : port_(replayer.make_port(0, 0, "fuzz")) {}

  void on_pass_begin(hal::Time) override { must(!std::exchange(in_pass_, true)); }
  void on_pass_end(hal::Time) override { must(std::exchange(in_pass_, false)); }
  void on_tick(hal::Time) override {
    if (!is_open_) port_->open(*this);
  }
  void on_wall_clock(std::int64_t) override {}
  void on_suspended(hal::Duration) override {}
  void on_offset(std::int64_t) override {}

 private:
  void on_port_open(hal::Time) override { is_open_ = true; }
  void on_chunk(const hal::Chunk& chunk) override {
    must(chunk.at(0) <= chunk.last_at);
    static_cast<void>(port_->write(chunk.bytes));
    if (chunk.bytes.size() % 16 == 3) {
      port_->close();
      is_open_ = false;
    }
  }
  void on_port_fault(const hal::Error&, hal::Time) override { is_open_ = false; }

  std::unique_ptr<hal::Port> port_;
  bool in_pass_ = false, is_open_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Source source(std::as_bytes(std::span(data, size)));
  hal::Replayer replayer(source);
  Program program(replayer);
  replayer.run(program);
  return 0;
}
