#include "hal/fd_port.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hal {

void FdPort::open(PortListener& listener) {
  close();
  Result<UniqueFd> fd = open_fd();
  if (!fd) return listener.on_port_fault(fd.error(), clock().now());
  begin(listener, std::move(*fd));
}

void FdPort::begin(PortListener& listener, UniqueFd fd) {
  close();
  boost::system::error_code ec;
  if (!batched_) {
    stream_.assign(fd.get(), ec);
  } else if (!loop_.add_polled(*this)) {
    ec = boost::system::error_code(ENOSPC, boost::system::system_category());
  }
  const Time now = clock().now();
  if (ec) return listener.on_port_fault({Errc::io, ec.value(), "port: add to event loop", {}}, now);
  fd_ = std::move(fd);
  listener_ = &listener;
  drained_ = !batched_;  // what is waited for would have said so
  if (!batched_) rearm();
  listener.on_port_open(now);
}

void FdPort::close() {
  ++opening_;
  listener_ = nullptr;
  drained_ = true;
  loop_.remove_polled(*this);
  if (is_linked()) unlink();
  if (stream_.is_open()) stream_.release();
  fd_.reset();
}

void FdPort::fail(const Error& error) {
  PortListener* const listener = listener_;
  close();
  listener->on_port_fault(error, clock().now());
}

Status FdPort::write(Bytes bytes) {
  if (!fd_) return refused_write(Errc::closed, 0);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = write_once(fd_.get(), bytes.subspan(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int sys = n < 0 ? errno : 0;
      const bool full = n == 0 || sys == EAGAIN || sys == EWOULDBLOCK || sys == ENOBUFS;
      ++stats_.dropped_writes;
      return refused_write(full ? Errc::no_space : Errc::io, sys);
    }
    done += static_cast<std::size_t>(n);
  }
  return ok;
}

ssize_t FdPort::write_once(int fd, Bytes bytes) { return ::write(fd, bytes.data(), bytes.size()); }

Status FdPort::set_dtr(bool) {
  return Error{Errc::unsupported, 0, "port: set DTR",
               Text<192>::of("%s has no DTR line", name_.c_str())};
}

Status FdPort::set_baud(int baud) { return refused_baud(Errc::unsupported, 0, baud); }

bool FdPort::drained() const {
  return drained_ && (!batched_ || !fd_ || read_in_pass_ == loop_.pass_number());
}

void FdPort::rearm() {
  stream_.async_wait(Descriptor::wait_read,
                     memory_.bind([this, opening = opening_,
                                   alive = anchor_.ref()](const boost::system::error_code& ec) {
                       if (ec || alive.expired() || opening != opening_) return;
                       loop_.enter_pass();
                       if (opening != opening_) return;
                       read_all();
                       if (opening == opening_) loop_.rearm_after_pass(*this);
                     }));
}

void FdPort::hand_in(Chunk chunk) {
  newest_ = chunk.last_at = std::max(chunk.last_at, newest_);
  listener_->on_chunk(chunk);  // may close this port, and open it again
}

void FdPort::poll() { read_all(); }

void FdPort::read_all() {
  const unsigned opening = opening_;
  read_in_pass_ = loop_.pass_number();
  drained_ = false;
  for (int i = 0; i < kReadsPerPass && !drained_; ++i) {
    Chunk chunk;
    const Result<Got> got = read_once(fd_.get(), loop_.read_buffer(), chunk);
    if (!got) return fail(got.error());
    if (*got == Got::nothing || *got == Got::all) drained_ = true;
    if (*got == Got::nothing || *got == Got::skipped) continue;
    hand_in(chunk);
    if (opening != opening_) return;
  }
}

}  // namespace hal
