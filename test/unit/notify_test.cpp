#include "app/notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

#include "test/support/harness.h"
#include "test/support/temp_dir.h"

using namespace std::chrono_literals;

namespace {

// systemd's end.
struct Manager {
  // An '@' at the front: an abstract name.
  explicit Manager(const std::string& name)
      : fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::memcpy(at.sun_path, name.data(), name.size());
    if (name[0] == '@') at.sun_path[0] = '\0';
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    bound = ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&at), length) == 0;
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
  }
  // The next message; empty when there is none.
  std::string take() {
    std::array<char, 256> text{};
    const ssize_t n = ::recv(fd.get(), text.data(), text.size(), 0);
    return n > 0 ? std::string(text.data(), static_cast<std::size_t>(n)) : "";
  }
  hal::UniqueFd fd;
  bool bound = false;
};

}  // namespace

TEST_GROUP(Notify) {
  test::TempDir dir;
  const hal::Time t0 = hal::from_ns(1'000'000'000'000);

  void teardown() override {
    for (const char* const name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) {
      ::unsetenv(name);
    }
  }
};

TEST(Notify, SaysReady) {
  Manager manager(dir.file("notify"));
  CHECK_TRUE(manager.bound);
  app::Notifier().send("READY=1");
  STRCMP_EQUAL("READY=1", manager.take().c_str());
}

TEST(Notify, ReachesAnAbstractSocket) {
  Manager manager("@lidard-test-" + std::to_string(::getpid()));
  CHECK_TRUE(manager.bound);
  app::Notifier().send("STOPPING=1");
  STRCMP_EQUAL("STOPPING=1", manager.take().c_str());
}

TEST(Notify, FeedsTheWatchdogAtHalfItsTime) {
  Manager manager(dir.file("notify"));
  ::setenv("WATCHDOG_USEC", "200000", 1);
  app::Notifier notifier;
  notifier.feed(t0);
  STRCMP_EQUAL("WATCHDOG=1", manager.take().c_str());
  notifier.feed(t0 + 99ms);
  STRCMP_EQUAL("", manager.take().c_str());
  notifier.feed(t0 + 100ms);
  STRCMP_EQUAL("WATCHDOG=1", manager.take().c_str());
  notifier.feed(t0 + 199ms);
  STRCMP_EQUAL("", manager.take().c_str());
}

TEST(Notify, LeavesTheWatchdogOfAnotherProcessAlone) {
  Manager manager(dir.file("notify"));
  ::setenv("WATCHDOG_USEC", "200000", 1);
  ::setenv("WATCHDOG_PID", "1", 1);
  app::Notifier().feed(t0);
  STRCMP_EQUAL("", manager.take().c_str());
  ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  app::Notifier().feed(t0);
  STRCMP_EQUAL("WATCHDOG=1", manager.take().c_str());
}

TEST(Notify, IsSilentWithoutASocketOrWithAnImpossibleOne) {
  app::Notifier().send("READY=1");
  for (const std::string& name :
       {std::string("relative"), std::string(""), "/" + std::string(200, 'x')}) {
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    app::Notifier notifier;
    notifier.send("READY=1");
    notifier.feed(t0);
  }
}

TEST(Notify, NeverWaitsForAManagerThatDoesNotRead) {
  Manager manager(dir.file("notify"));
  const app::Notifier notifier;
  for (int i = 0; i < 5000; ++i) notifier.send("STATUS=still here");
  STRCMP_EQUAL("STATUS=still here", manager.take().c_str());
}
