#include "test/system/pty_line.h"

#include <fcntl.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include <array>

#include "test/support/harness.h"

namespace test {
namespace {

constexpr int kFlags = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;

void make_raw(int fd) {
  termios t{};
  ::tcgetattr(fd, &t);
  ::cfmakeraw(&t);
  ::tcsetattr(fd, TCSANOW, &t);
}

}  // namespace

PtyLine::PtyLine(const std::string& link) : near_(::posix_openpt(kFlags)) {
  std::array<char, 64> name{};
  const int fd = near_.get();
  if (::grantpt(fd) != 0 || ::unlockpt(fd) != 0 || ::ptsname_r(fd, name.data(), name.size()) != 0) {
    FAIL("no pty");
  }
  const hal::UniqueFd far(::open(name.data(), kFlags));
  make_raw(far.get());
  ::unlink(link.c_str());
  if (::symlink(name.data(), link.c_str()) != 0) FAIL("no link to the pty");
}

void PtyLine::write(hal::Bytes bytes) const {
  [[maybe_unused]] const ssize_t n = ::write(near_.get(), bytes.data(), bytes.size());
}

void PtyLine::connect(const std::string& device) {
  device_ = hal::UniqueFd(::open(device.c_str(), kFlags));
  if (!device_) FAIL((device + " cannot be opened").c_str());
  make_raw(device_.get());
}

void PtyLine::pump() {
  std::array<std::byte, 4096> buffer;
  ssize_t n = 0;
  while ((n = ::read(near_.get(), buffer.data(), buffer.size())) > 0) {
    from_host_.insert(from_host_.end(), buffer.begin(), buffer.begin() + n);
    if (device_) (void)!::write(device_.get(), buffer.data(), static_cast<std::size_t>(n));
  }
  while (device_ && (n = ::read(device_.get(), buffer.data(), buffer.size())) > 0) {
    write(std::span(buffer).first(static_cast<std::size_t>(n)));
  }
}

}  // namespace test
