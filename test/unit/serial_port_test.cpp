#include "hal/serial_port.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <termios.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "test/support/allocation_counter.h"
#include "test/support/harness.h"
#include "test/support/loop.h"

using namespace std::chrono_literals;
using hal::Errc;

TEST_GROUP(SerialPort) {
  test::RealLoop real;
  test::Pty pty;
  test::PortLog log{&real.passes};
  std::optional<hal::SerialPort> port;

  hal::SerialPort& open(hal::SerialOptions options = {}) {
    if (options.path.empty()) options.path = pty.path;
    port.emplace(real.loop, options);
    port->open(log);
    return *port;
  }
  bool received(std::string_view text) {
    return real.run_until([&] { return log.text == text; });
  }
  std::string read_far() const {
    std::string text(256, '\0');
    const ssize_t n = ::read(pty.far.get(), text.data(), text.size());
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return text;
  }
};

TEST(SerialPort, OpensAPtyAndReadsInsideAPass) {
  open();
  LONGS_EQUAL(1, log.opened);
  pty.write("hello");
  CHECK_TRUE(received("hello"));
  LONGS_EQUAL(0, log.outside_pass);
}

TEST(SerialPort, PassesEveryByteValueUnchangedBothWays) {
  hal::SerialPort& opened = open();
  std::string all;
  for (int i = 0; i < 256; ++i) all.push_back(static_cast<char>(i));
  pty.write(all);
  CHECK_TRUE(received(all));
  CHECK_TRUE(static_cast<bool>(opened.write(test::view_of(all))));
  CHECK_TRUE(read_far() == all);
}

TEST(SerialPort, StampsChunksWithTheTimeOfTheReadNeverBackwards) {
  open();
  const hal::Time before = real.clock.now();
  for (int i = 0; i < 20; ++i) {
    pty.write("x");
    CHECK_TRUE(real.run_until([&] { return log.text.size() > static_cast<std::size_t>(i); }));
  }
  CHECK_TRUE(log.stamps.front() >= before);
  CHECK_TRUE(log.stamps.back() <= real.clock.now());
  CHECK_TRUE(std::is_sorted(log.stamps.begin(), log.stamps.end()));
}

TEST(SerialPort, DiscardsWhatCameBeforeItWasOpened) {
  pty.write("old\n");
  open();
  pty.write("new");
  CHECK_TRUE(received("new"));
}

TEST(SerialPort, KnowsLineTimeOnlyWhereToldOrSeen) {
  open({.path = pty.path, .baud = 230'400});
  pty.write("a");
  CHECK_TRUE(received("a"));
  CHECK_TRUE(log.per_byte == 0ns);
  CHECK_TRUE(port->has_line());  // its time is a part of the latency all the same
  open({.path = pty.path, .baud = 230'400, .line = hal::Line::uart});
  pty.write("b");
  CHECK_TRUE(received("ab"));
  CHECK_TRUE(log.per_byte == 43'402ns);
}

TEST(SerialPort, FollowsALinkAtEachOpen) {
  const std::string link = (std::filesystem::temp_directory_path() /
                            ("lidard_serial_test_" + std::to_string(::getpid())))
                               .string();
  std::filesystem::remove(link);
  test::Pty other;
  std::filesystem::create_symlink(pty.path, link);
  hal::SerialPort& opened = open({.path = link});
  std::filesystem::remove(link);
  std::filesystem::create_symlink(other.path, link);
  opened.open(log);
  std::filesystem::remove(link);
  other.write("other");
  CHECK_TRUE(received("other"));
  STRCMP_EQUAL(("serial:" + link).c_str(), std::string(opened.name()).c_str());
}

TEST(SerialPort, ReportsTheFarEndGoingAwayOnceAndIsClosedThen) {
  open();
  pty.near.reset();
  pty.far.reset();
  CHECK_TRUE(real.run_until([&] { return log.faults > 0; }));
  real.loop.run_for(real.passes, 5ms);
  LONGS_EQUAL(1, log.faults);
  CHECK_TRUE(log.last_fault.code == Errc::closed);
  STRCMP_CONTAINS(pty.path.c_str(), log.last_fault.detail.c_str());
  const hal::Status written = port->write(test::view_of("x"));
  CHECK_TRUE(!written && written.error().code == Errc::closed);
}

TEST(SerialPort, CallsNobodyOnceClosed) {
  hal::SerialPort& opened = open();
  pty.write("late");
  opened.close();
  real.loop.run_for(real.passes, 5ms);
  LONGS_EQUAL(0, log.chunks + log.faults);
  CHECK_TRUE(opened.drained());
}

TEST(SerialPort, MayBeClosedAndOpenedFromItsOwnChunk) {
  struct Reopener final : hal::PortListener {
    void on_port_open(hal::Time) override { ++opened; }
    void on_chunk(const hal::Chunk&) override {
      ++chunks;
      port->close();
      port->open(*this);
    }
    void on_port_fault(const hal::Error&, hal::Time) override { ++faults; }
    hal::SerialPort* port = nullptr;
    int opened = 0, chunks = 0, faults = 0;
  } reopener;
  port.emplace(real.loop, hal::SerialOptions{.path = pty.path});
  reopener.port = &*port;
  port->open(reopener);
  pty.write("1");
  CHECK_TRUE(real.run_until([&] { return reopener.chunks == 1; }));
  pty.write("2");
  CHECK_TRUE(real.run_until([&] { return reopener.chunks == 2; }));
  LONGS_EQUAL(3, reopener.opened);
  LONGS_EQUAL(0, reopener.faults);
}

TEST(SerialPort, MayDieWithBytesWaiting) {
  open();
  pty.write("x");
  port.reset();
  real.loop.run_for(real.passes, 5ms);
  LONGS_EQUAL(0, log.chunks);
}

TEST(SerialPort, IsDrainedWhileNothingCameAndAfterAShortRead) {
  hal::SerialPort& opened = open();
  CHECK_TRUE(opened.drained());
  pty.write("short");
  CHECK_TRUE(received("short"));
  CHECK_TRUE(opened.drained());
}

TEST(SerialPort, SaysWhenTheDeviceDoesNotRead) {
  hal::SerialPort& opened = open();
  const std::string much(1 << 20, 'x');
  const hal::Status written = opened.write(test::view_of(much));
  CHECK_FALSE(static_cast<bool>(written));
  CHECK_TRUE(written.error().code == Errc::no_space);
  LONGS_EQUAL(1, opened.stats().dropped_writes);
}

TEST(SerialPort, HasNoDtrLineOnAPty) {
  const hal::Status set = open().set_dtr(false);
  CHECK_TRUE(!set && set.error().code == Errc::unsupported);
}

TEST(SerialPort, APtyHasNoBaudRate) {
  const hal::Status set = open().set_baud(19'200);
  CHECK_TRUE(!set && set.error().code == Errc::unsupported);
  pty.write("x");
  CHECK_TRUE(received("x"));
}

TEST(SerialPort, ReadsBatchedPortsWithoutWaitingForThem) {
  hal::SerialPort& opened = open({.path = pty.path, .latency = hal::Latency::batched});
  pty.write("batched");
  CHECK_TRUE(received("batched"));
  LONGS_EQUAL(0, log.outside_pass);
  pty.write("more");
  CHECK_TRUE(received("batchedmore"));
  opened.close();
  CHECK_TRUE(opened.drained());
}

TEST(SerialPort, BatchedIsDrainedOnlyInPassesThatReadIt) {
  hal::SerialPort& opened = open({.path = pty.path, .latency = hal::Latency::batched});
  CHECK_FALSE(opened.drained());
  struct Drained final : hal::PassListener {
    void on_pass_begin(hal::Time) override {}
    void on_pass_end(hal::Time) override { (port->drained() ? yes : no) += 1; }
    hal::SerialPort* port = nullptr;
    int yes = 0, no = 0;
  } drained;
  drained.port = &opened;
  hal::Ticker ticker(real.loop, 1ms, [](hal::Time) {});
  for (int i = 0; i < 1000 && (drained.yes == 0 || drained.no == 0); ++i) {
    real.loop.run_for(drained, 2ms);
  }
  CHECK_TRUE(drained.yes > 0 && drained.no > 0);
}

TEST(SerialPort, AllocatesNothingWhileItReads) {
  test::Pty second;
  test::PortLog second_log;
  open();
  hal::SerialPort other(real.loop, {.path = second.path});
  other.open(second_log);
  log.text.reserve(4096), log.stamps.reserve(4096);
  second_log.text.reserve(4096), second_log.stamps.reserve(4096);
  pty.write("-"), second.write("-");
  CHECK_TRUE(received("-"));
  test::AllocationCounter counter;
  for (std::size_t i = 2; i < 200; ++i) {
    pty.write("x");
    second.write("y");
    if (!real.run_until([&] { return log.text.size() == i && second_log.text.size() == i; })) break;
  }
  LONGS_EQUAL(0, counter.count());
  LONGS_EQUAL(199, log.text.size());
}

TEST(SerialPort, NamesAMissingPort) {
  open({.path = "/dev/lidard_no_such_port"});
  LONGS_EQUAL(1, log.faults);
  LONGS_EQUAL(0, log.opened);
  CHECK_TRUE(log.last_fault.code == Errc::not_found);
  STRCMP_CONTAINS("/dev/lidard_no_such_port: no such port", log.last_fault.detail.c_str());
}

TEST(SerialPort, NamesTheHolderOfABusyPort) {
  const hal::UniqueFd holder(::open(pty.path.c_str(), O_RDWR | O_NOCTTY));
  LONGS_EQUAL(0, ::flock(holder.get(), LOCK_EX | LOCK_NB));
  open();
  LONGS_EQUAL(1, log.faults);
  CHECK_TRUE(log.last_fault.code == Errc::busy);
  STRCMP_CONTAINS("(pid ", log.last_fault.detail.c_str());
}

TEST(SerialPort, IsHeldByOnePortOnly) {
  open();
  test::PortLog second;
  hal::SerialPort other(real.loop, {.path = pty.path});
  other.open(second);
  LONGS_EQUAL(1, second.faults);
  CHECK_TRUE(second.last_fault.code == Errc::busy);
}

TEST(SerialPort, RefusesWhatIsNoTerminal) {
  open({.path = "/dev/null"});
  CHECK_TRUE(log.last_fault.code == Errc::bad_config);
  STRCMP_CONTAINS("/dev/null: not a serial port", log.last_fault.detail.c_str());
}
