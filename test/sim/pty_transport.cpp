// A pseudo-terminal whose far end is a symbolic link. The device holds the near end only, so a host
// sees a hang-up when the device goes, and a device that died never keeps the port alive.
#include <asm/termbits.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "test/sim/endpoint.h"
#include "test/sim/transport.h"

namespace sim {
namespace {

constexpr int kFarFlags = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;

void make_raw(int far) {
  struct termios2 t {};
  if (::ioctl(far, TCGETS2, &t) != 0) return;
  t.c_iflag = 0;
  t.c_oflag = 0;
  t.c_lflag = 0;
  t.c_cflag |= CS8 | CREAD | CLOCAL;
  t.c_cc[VMIN] = 1;
  t.c_cc[VTIME] = 0;
  ::ioctl(far, TCSETS2, &t);
}

class PtyTransport final : public Transport {
 public:
  explicit PtyTransport(std::string link) : link_(std::move(link)) {}
  ~PtyTransport() override { PtyTransport::close(); }

  hal::Status open() override {
    near_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (near_ < 0 || ::grantpt(near_) != 0 || ::unlockpt(near_) != 0)
      return system_error("simulate: pty", "cannot make one");
    std::array<char, 64> name{};
    if (::ptsname_r(near_, name.data(), name.size()) != 0)
      return system_error("simulate: pty", "has no name");
    far_name_ = name.data();
    // Opening and closing the far end once makes poll() say hang-up until a host opens it.
    const int far = ::open(far_name_.c_str(), kFarFlags);
    if (far < 0) return system_error("simulate: pty", far_name_);
    make_raw(far);
    ::close(far);
    return make_link();
  }

  void close() override {
    if (near_ < 0) return;
    std::array<char, 64> target{};
    const ssize_t n = ::readlink(link_.c_str(), target.data(), target.size() - 1);
    if (n > 0 && far_name_ == target.data()) ::unlink(link_.c_str());
    ::close(near_);
    near_ = -1;
  }

  void add_polls(std::vector<pollfd>& polls) const override {
    if (is_open_by_host()) polls.push_back({near_, POLLIN, 0});
  }

  void read(const Sink& sink) override {
    const bool is_open = is_open_by_host();
    std::array<std::byte, 4096> buffer;
    for (ssize_t n = 1; n > 0 && near_ >= 0;) {
      n = ::read(near_, buffer.data(), buffer.size());
      if (n > 0) sink(hal::Bytes(buffer.data(), static_cast<std::size_t>(n)));
    }
    if (was_open_ && !is_open) forget_unread();
    was_open_ = is_open;
  }

  void write(hal::Bytes bytes, const Way&, bool) override {
    if (!is_open_by_host()) return;
    // A full buffer takes a part or nothing; the rest is overrun.
    [[maybe_unused]] const ssize_t taken = ::write(near_, bytes.data(), bytes.size());
  }

  std::string address() const override { return link_; }

  unsigned host_baud() const override {
    struct termios2 t {};
    return ::ioctl(near_, TCGETS2, &t) == 0 ? t.c_ospeed : 0;  // the near end tells the far end's
  }

 private:
  bool is_open_by_host() const {
    pollfd poll{near_, 0, 0};
    return near_ >= 0 && ::poll(&poll, 1, 0) >= 0 && (poll.revents & POLLHUP) == 0;
  }

  // What the last host left unread would otherwise greet the next one.
  void forget_unread() const {
    const int far = ::open(far_name_.c_str(), kFarFlags);
    if (far < 0) return;
    ::ioctl(far, TCFLSH, TCIFLUSH);
    ::ioctl(far, TIOCNXCL);  // a real port forgets this at its last close; a pty's far end does not
    ::close(far);
  }

  hal::Status make_link() {
    struct stat found {};
    if (::lstat(link_.c_str(), &found) == 0) {
      if (!S_ISLNK(found.st_mode)) {
        errno = EEXIST;
        return system_error("simulate: --pty", link_ + " is no symbolic link");
      }
      ::unlink(link_.c_str());
    }
    if (::symlink(far_name_.c_str(), link_.c_str()) != 0)
      return system_error("simulate: --pty", link_);
    return hal::ok;
  }

  std::string link_;
  std::string far_name_;
  int near_ = -1;
  bool was_open_ = false;
};

}  // namespace

std::unique_ptr<Transport> make_pty(const std::string& link) {
  return std::make_unique<PtyTransport>(link);
}

}  // namespace sim
