// Errors of ports and sockets name the thing, the cause and the remedy.
#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "hal/unique_fd.h"
#include "test/support/harness.h"
#include "test/system/bench.h"
#include "test/system/pty_line.h"

using test::contains;
using test::Ran;
using test::Seconds;
using test::StreamReader;

TEST_GROUP(SystemErrors) {
  test::Bench bench;

  const test::Event* await_stall(StreamReader & stream, const std::string& sensor,
                                 const std::string& cause) {
    CHECK_TEXT(stream.read_until([&] { return stream.value(sensor, "cause") == cause; }),
               (stream.value(sensor, "cause") + ": " + stream.message(sensor)).c_str());
    return stream.event(sensor, "stall");
  }
};

TEST(SystemErrors, AForbiddenPortNamesOwnerGroupModeAndTheRule) {
  const passwd* const nobody = ::getpwnam("nobody");
  if (::getuid() != 0 || nobody == nullptr) {
    test::note("skipped: only root can become another user");
    return;
  }
  const uid_t uid = nobody->pw_uid;
  const auto device = bench.simulate_pty("rear", "ldrobot");
  CHECK(::chmod(bench.file("rear").c_str(), 0600) == 0);  // follows the link to the pty
  const std::string config = bench.configure(bench.serial("rear", "ldrobot"));
  CHECK(::chown(bench.path().c_str(), uid, static_cast<gid_t>(-1)) == 0);
  test::Process daemon({test::Bench::lidard_program(), "--config", config}, bench.file("lidard"),
                       uid);
  if (daemon.wait(Seconds(0.3)) == 127) {
    test::note("skipped: 'nobody' may not enter the build directory");
    return;
  }
  CHECK_TEXT(test::wait_for([&] { return contains(daemon.err(), "owner"); }), daemon.err().c_str());
  const std::string log = daemon.err();
  test::note("%s", log.c_str());
  CHECK_TEXT(contains(log, bench.file("rear") + ": owner root, group "), log.c_str());
  CHECK_TEXT(contains(log, "mode 0600"), log.c_str());
  CHECK_TEXT(contains(log, "udev rule"), log.c_str());
  StreamReader stream(bench.socket());
  CHECK(await_stall(stream, "rear", "permission") == nullptr);  // it was told before we came

  // Allowed at last: found without a restart.
  CHECK(::chmod(bench.file("rear").c_str(), 0666) == 0);
  CHECK(stream.read_until([&] { return stream.topic("/rear/points").messages > 0; }));
}

TEST(SystemErrors, ASecondDaemonOnAPortNamesTheFirstAndTakesOverWhenItEnds) {
  const auto device = bench.simulate_pty("rear", "ldrobot");
  const std::string sensor = bench.serial("rear", "ldrobot");
  const auto first = bench.lidard(bench.configure(sensor));
  StreamReader one(bench.socket());
  CHECK(one.read_until([&] { return one.topic("/rear/points").messages > 0; }));

  const auto second = bench.lidard(bench.configure(sensor, "", "second"), "second");
  StreamReader two(bench.file("second.sock"));
  await_stall(two, "rear", "port_busy");
  const std::string words = two.message("rear");
  test::note("%s", words.c_str());
  CHECK_TEXT(contains(words, bench.file("rear")), words.c_str());
  CHECK_TEXT(contains(words, "lidard (pid " + std::to_string(first->pid()) + ")"), words.c_str());
  one.read_for(Seconds(2));
  LONGS_EQUAL(0, one.topic("/rear/points").missing);
  LONGS_EQUAL(0, two.topic("/rear/points").messages);
  CHECK_TEXT(test::count_lines(second->err()) <= 2, second->err().c_str());

  first->signal(SIGTERM);
  LONGS_EQUAL(0, first->wait().value_or(-1));
  CHECK_TEXT(two.read_until([&] { return two.topic("/rear/points").messages > 0; }),
             second->err().c_str());
}

TEST(SystemErrors, APortLockedByAnotherProgramNamesIt) {
  const auto device = bench.simulate_pty("rear", "ldrobot");
  const hal::UniqueFd held(::open(bench.file("rear").c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  CHECK(::flock(held.get(), LOCK_EX | LOCK_NB) == 0);
  const auto daemon = bench.lidard(bench.configure(bench.serial("rear", "ldrobot")));
  StreamReader stream(bench.socket());
  await_stall(stream, "rear", "port_busy");
  const std::string words = stream.message("rear");
  test::note("%s", words.c_str());
  CHECK_TEXT(contains(words, "(pid " + std::to_string(::getpid()) + ")"), words.c_str());
}

TEST(SystemErrors, ASocketInUseNamesWhoListens) {
  const std::string config = bench.configure(bench.serial("rear", "ldrobot"));
  const auto first = bench.lidard(config);
  const Ran second = bench.lidard_fails(config);
  LONGS_EQUAL(1, second.status);
  CHECK_TEXT(contains(second.err, bench.socket() + ": pid " + std::to_string(first->pid()) +
                                      " (lidard) listens on it already"),
             second.err.c_str());
  StreamReader stream(bench.socket());  // the first still serves
  CHECK(stream.read_until([&] { return stream.value("rear", "cause") == "no_port"; }));
}

TEST(SystemErrors, ASocketLeftBehindByAKilledDaemonIsReplaced) {
  const std::string config = bench.configure(bench.serial("rear", "ldrobot"));
  bench.lidard(config)->signal(SIGKILL);
  CHECK(::access(bench.socket().c_str(), F_OK) == 0);
  const auto next = bench.lidard(config, "next");
  StreamReader stream(bench.socket());
  CHECK(stream.read_until([&] { return !stream.value("rear", "state").empty(); }));
}

TEST(SystemErrors, ASocketDirectoryThatIsMissingIsNamed) {
  test::write_file(bench.file("lost.yaml"), "stream: {unix: " + bench.file("missing/stream.sock") +
                                                "}\nsensors:\n" + bench.serial("rear", "ldrobot"));
  const Ran ran = bench.lidard_fails(bench.file("lost.yaml"));
  LONGS_EQUAL(1, ran.status);
  CHECK_TEXT(contains(ran.err, "there is no directory " + bench.file("missing")), ran.err.c_str());
}

TEST(SystemErrors, AFileInTheWayOfTheSocketIsNamedAndKept) {
  test::write_file(bench.socket(), "precious");
  const Ran ran = bench.lidard_fails(bench.configure(bench.serial("rear", "ldrobot")));
  LONGS_EQUAL(1, ran.status);
  CHECK_TEXT(contains(ran.err, bench.socket() + " exists and is not a socket"), ran.err.c_str());
  STRCMP_EQUAL("precious", test::read_file(bench.socket()).c_str());
}

TEST(SystemErrors, AWrongConfigurationOpensNoDevice) {
  test::PtyLine line(bench.file("rear"));
  const Ran ran = bench.lidard_fails(
      bench.configure(bench.serial("rear", "ldrobot") + "  front: {driver: rplidar}\n"));
  LONGS_EQUAL(78, ran.status);
  CHECK_TEXT(contains(ran.err, "lidard.yaml:4:3: "), ran.err.c_str());
  CHECK(::access(bench.socket().c_str(), F_OK) != 0);
  line.pump();
  LONGS_EQUAL(0, line.from_host().size());
}

TEST(SystemErrors, ACaptureThatCannotBeWrittenIsNamed) {
  const Ran ran = bench.lidard_fails(bench.configure(
      bench.serial("rear", "ldrobot"), "capture: " + bench.file("missing/raw.mcap") + "\n"));
  LONGS_EQUAL(1, ran.status);
  CHECK_TEXT(contains(ran.err, bench.file("missing/raw.mcap")), ran.err.c_str());
}
