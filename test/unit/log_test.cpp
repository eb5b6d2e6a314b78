#include "hal/log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "hal/unique_fd.h"
#include "test/support/allocation_counter.h"
#include "test/support/harness.h"
#include "test/support/manual_clock.h"

using namespace std::chrono_literals;
using hal::Log;
using hal::Severity;

TEST_GROUP(Log) {
  hal::UniqueFd out, in;
  test::ManualClock clock;

  void setup() override {
    std::array<int, 2> ends{};
    LONGS_EQUAL(0, ::pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC));
    out.reset(ends[0]);
    in.reset(ends[1]);
  }
  std::string written() const {
    std::string text(65'536, '\0');
    const ssize_t n = ::read(out.get(), text.data(), text.size());
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return text;
  }
};

TEST(Log, WritesOneLine) {
  Log log(in.get(), Severity::info, Log::Style::plain);
  log.write(Severity::warning, "front: %d baud", 115200);
  STRCMP_EQUAL("front: 115200 baud\n", written().c_str());
}

TEST(Log, PutsTheSeverityFirstForTheJournal) {
  Log log(in.get(), Severity::info, Log::Style::journal);
  log.write(Severity::error, "gone");
  STRCMP_EQUAL("<3>gone\n", written().c_str());
}

TEST(Log, LeavesOutWhatIsNotUrgentEnough) {
  Log log(in.get(), Severity::notice, Log::Style::plain);
  log.write(Severity::info, "chatter");
  log.write(Severity::notice, "news");
  STRCMP_EQUAL("news\n", written().c_str());
}

TEST(Log, CutsLongLinesAndKeepsTheirEnd) {
  Log log(in.get(), Severity::info, Log::Style::plain);
  log.write(Severity::info, "%s", std::string(2000, 'x').c_str());
  const std::string line = written();
  CHECK_TRUE(line.size() <= Log::kLongestLine);
  CHECK_TRUE(line.size() > Log::kLongestLine - 8);
  CHECK_TRUE(line.back() == '\n');
}

TEST(Log, LetsNoDeviceBeginALineOfItsOwn) {
  Log log(in.get(), Severity::info, Log::Style::journal);
  log.write(Severity::info, "name: %s", "evil\n<0>panic\x1b[2J\x7f");
  STRCMP_EQUAL("<6>name: evil?<0>panic?[2J?\n", written().c_str());
}

TEST(Log, CountsLinesThatFoundNoRoomAndSaysSo) {
  Log log(in.get(), Severity::info, Log::Style::plain);
  while (log.dropped() == 0) log.write(Severity::info, "%0500d", 0);
  log.write(Severity::info, "lost too");
  LONGS_EQUAL(2, log.dropped());
  while (!written().empty()) {
  }
  log.write(Severity::info, "back");
  STRCMP_EQUAL("(2 lines lost) back\n", written().c_str());
  log.write(Severity::info, "again");
  STRCMP_EQUAL("again\n", written().c_str());
}

TEST(Log, LimitsACallSiteAndTellsWhatItSwallowed) {
  Log log(in.get(), Severity::info, Log::Style::plain);
  hal::RateLimit limit(2, 10s);
  for (int i = 0; i < 5; ++i) log.write(limit, clock.now(), Severity::info, "line %d", i);
  STRCMP_EQUAL("line 0\nline 1\n", written().c_str());
  clock.advance(10s - 1ns);
  log.write(limit, clock.now(), Severity::info, "line 5");
  STRCMP_EQUAL("", written().c_str());
  clock.advance(1ns);
  log.write(limit, clock.now(), Severity::info, "line 6");
  STRCMP_EQUAL("(4 more like this) line 6\n", written().c_str());
}

TEST(Log, KnowsTheJournalByItsInode) {
  struct stat s {};
  ::fstat(in.get(), &s);
  const std::string name = std::to_string(s.st_dev) + ":" + std::to_string(s.st_ino);
  ::setenv("JOURNAL_STREAM", name.c_str(), 1);
  CHECK_TRUE(Log::style_of(in.get()) == Log::Style::journal);
  ::setenv("JOURNAL_STREAM", "1:1", 1);
  CHECK_TRUE(Log::style_of(in.get()) == Log::Style::plain);
  ::unsetenv("JOURNAL_STREAM");
  CHECK_TRUE(Log::style_of(in.get()) == Log::Style::plain);
}

TEST(Log, AllocatesNothing) {
  Log log(in.get(), Severity::info, Log::Style::journal);
  hal::RateLimit limit(1, 1s);
  test::AllocationCounter counter;
  log.write(limit, clock.now(), Severity::info, "%s %d %f", "text", 1, 2.5);
  LONGS_EQUAL(0, counter.count());
}
