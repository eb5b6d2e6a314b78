#include "app/lidarctl/shared_port.h"

#include <algorithm>

namespace lidarctl {
namespace {

constexpr int kUsual = 115'200;

}  // namespace

// What a driver has of it. Closing it gives it back, with its lines as open() had set them.
class SharedPort::Lent final : public hal::Port {
 public:
  Lent(SharedPort& owner, int baud) : owner_(owner), baud_(baud) {}
  ~Lent() override { Lent::close(); }

  void open(hal::PortListener& listener) override {
    listener_ = &listener;
    owner_.borrower_ = this;
    if (owner_.error_) return fail(*owner_.error_, owner_.now_);
    owner_.listen(baud_, owner_.now_);
    listener.on_port_open(owner_.now_);
  }
  hal::Status write(hal::Bytes bytes) override { return owner_.port_->write(bytes); }
  void close() override {
    if (owner_.borrower_ != this) return;
    owner_.borrower_ = nullptr;
    listener_ = nullptr;
    if (!moved_dtr_) return;
    moved_dtr_ = false;
    (void)owner_.port_->set_dtr(true);  // a port without that line never took the other
  }
  hal::Status set_dtr(bool asserted) override {
    moved_dtr_ = true;
    return owner_.port_->set_dtr(asserted);
  }
  hal::Status set_baud(int baud) override {
    owner_.sample_.clear();
    return owner_.port_->set_baud(baud);
  }
  bool drained() const override { return owner_.port_->drained(); }
  bool has_line() const override { return owner_.has_line_; }
  hal::PortStats stats() const override { return owner_.port_->stats(); }
  std::string_view name() const override { return owner_.port_->name(); }
  hal::Address local() const override { return owner_.port_->local(); }

  void take(const hal::Chunk& chunk) {
    if (listener_) listener_->on_chunk(chunk);
  }
  void fail(const hal::Error& error, hal::Time now) {
    owner_.borrower_ = nullptr;
    if (hal::PortListener* const listener = std::exchange(listener_, nullptr)) {
      listener->on_port_fault(error, now);
    }
  }

 private:
  SharedPort& owner_;
  const int baud_;
  hal::PortListener* listener_ = nullptr;
  bool moved_dtr_ = false;
};

void SharedPort::open(hal::Time now) {
  sample_.reserve(kSample);
  now_ = now;
  port_->open(*this);
}

void SharedPort::listen(int baud, hal::Time now) {
  now_ = now;
  sample_.clear();
  if (baud > 0) (void)port_->set_baud(baud);  // a port without a rate is heard all the same
}

std::unique_ptr<hal::Port> SharedPort::lend(int baud) {
  return std::make_unique<Lent>(*this, baud);
}

void SharedPort::on_port_open(hal::Time now) {
  now_ = now;
  is_open_ = true;
  has_line_ = port_->has_line() && static_cast<bool>(port_->set_baud(kUsual));
}

void SharedPort::on_chunk(const hal::Chunk& chunk) {
  now_ = std::max(now_, chunk.last_at);
  for (std::size_t i = 0; i < chunk.bytes.size() && bytes_ + i < kFirst; ++i) {
    first_[bytes_ + i] = chunk.bytes[i];
  }
  bytes_ += chunk.bytes.size();
  const std::size_t room = kSample - sample_.size();
  const hal::Bytes kept = chunk.bytes.first(std::min(room, chunk.bytes.size()));
  sample_.insert(sample_.end(), kept.begin(), kept.end());
  if (borrower_) borrower_->take(chunk);
}

void SharedPort::on_port_fault(const hal::Error& error, hal::Time now) {
  is_open_ = false;
  error_ = error;
  if (borrower_) borrower_->fail(error, now);
}

}  // namespace lidarctl
