#include <fcntl.h>
#include <linux/serial.h>
#include <sys/ioctl.h>
#include <termios.h>

#include <cerrno>
#include <optional>

#include "hal/serial_port.h"
#include "test/shim/tty_shim.h"
#include "test/support/harness.h"
#include "test/support/loop.h"

using namespace std::chrono_literals;

TEST_GROUP(SerialTty) {
  test::RealLoop real;
  test::Pty pty;
  test::PortLog log;
  std::optional<hal::SerialPort> port;

  void setup() override { tty_shim() = {.on = true, .modem_lines = 0, .serial_flags = 0}; }
  void teardown() override {
    port.reset();
    tty_shim().on = false;
  }
  hal::SerialPort& open(int baud = 115'200, hal::Latency latency = hal::Latency::low) {
    port.emplace(real.loop, hal::SerialOptions{.path = pty.path, .baud = baud, .latency = latency});
    port->open(log);
    if (log.faults > 0) FAIL(log.last_fault.detail.c_str());
    LONGS_EQUAL(1, log.opened);
    return *port;
  }
};

TEST(SerialTty, SetsEveryBaudRateOfTheDevicesWeKnow) {
  for (const int baud : {9'600, 38'400, 57'600, 115'200, 128'000, 153'600, 230'400, 256'000,
                         460'800, 512'000, 921'600, 1'000'000, 3'000'000}) {
    log.opened = 0;
    open(baud);
    LONGS_EQUAL(baud, baud_of(pty.near.get()));
  }
}

TEST(SerialTty, ChangesToEveryBaudRateWhileItIsOpenAndKeepsTheRest) {
  hal::SerialPort& opened = open(115'200);
  for (const int baud : {9'600, 19'200, 128'000, 500'000, 750'000, 921'600, 2'000'000}) {
    CHECK_TRUE(static_cast<bool>(opened.set_baud(baud)));
    LONGS_EQUAL(baud, baud_of(pty.near.get()));
  }
  termios t{};
  LONGS_EQUAL(0, ::tcgetattr(pty.near.get(), &t));
  LONGS_EQUAL(1, t.c_cc[VMIN]);
  CHECK_EQUAL(static_cast<tcflag_t>(CS8 | CREAD | CLOCAL),
              t.c_cflag & (CSIZE | CREAD | CLOCAL | PARENB | CSTOPB | CRTSCTS));
  pty.write("hello");
  CHECK_TRUE(real.run_until([&] { return log.text == "hello"; }));
}

TEST(SerialTty, IsRawAndReadsReturnAtTheFirstByte) {
  open(256'000);
  termios t{};
  LONGS_EQUAL(0, ::tcgetattr(pty.near.get(), &t));
  LONGS_EQUAL(1, t.c_cc[VMIN]);
  LONGS_EQUAL(0, t.c_cc[VTIME]);
  CHECK_TRUE((t.c_lflag & (ICANON | ECHO | ISIG | IEXTEN)) == 0);
  CHECK_TRUE((t.c_iflag & (IXON | IXOFF | ICRNL | INLCR | IGNCR | ISTRIP)) == 0);
  CHECK_TRUE((t.c_oflag & OPOST) == 0);
  CHECK_EQUAL(static_cast<tcflag_t>(CS8 | CREAD | CLOCAL),
              t.c_cflag & (CSIZE | CREAD | CLOCAL | PARENB | CSTOPB | CRTSCTS));
}

TEST(SerialTty, AnIdlePortIsNoEndOfFile) {
  open();
  real.loop.run_for(real.passes, 10ms);
  LONGS_EQUAL(0, log.faults);
  pty.write("hello");
  CHECK_TRUE(real.run_until([&] { return log.text == "hello"; }));
}

TEST(SerialTty, DeassertsAndAssertsDtr) {
  hal::SerialPort& opened = open();
  CHECK_TRUE(static_cast<bool>(opened.set_dtr(true)));
  LONGS_EQUAL(TIOCM_DTR, tty_shim().modem_lines & TIOCM_DTR);
  CHECK_TRUE(static_cast<bool>(opened.set_dtr(false)));
  LONGS_EQUAL(0, tty_shim().modem_lines & TIOCM_DTR);
}

TEST(SerialTty, AsksForLowLatencyOnlyWhereItIsWaitedFor) {
  open(115'200, hal::Latency::batched);
  LONGS_EQUAL(0, tty_shim().serial_flags);
  log.opened = 0;
  open(115'200, hal::Latency::low);
  CHECK_TRUE((static_cast<unsigned>(tty_shim().serial_flags) & ASYNC_LOW_LATENCY) != 0);
}

TEST(SerialTty, LetsNoOtherProgramIn) {
  open();
  const hal::UniqueFd other(::open(pty.path.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK));
  // Root may always.
  if (::geteuid() != 0) CHECK_TRUE(!other && errno == EBUSY);
  test::PortLog second_log;
  hal::SerialPort second(real.loop, {.path = pty.path});
  second.open(second_log);
  CHECK_TRUE(second_log.last_fault.code == hal::Errc::busy);
}

TEST(SerialTty, KeepsNoDescriptorThatAChildWouldInherit) {
  open();
  for (int fd = 3; fd < 64; ++fd) {
    std::array<char, 64> target{};
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    if (::readlink(link.c_str(), target.data(), target.size() - 1) < 0) continue;
    if (pty.path != target.data() || fd == pty.near.get()) continue;
    LONGS_EQUAL(FD_CLOEXEC, ::fcntl(fd, F_GETFD));
  }
}
