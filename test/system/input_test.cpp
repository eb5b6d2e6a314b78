// Another program's messages in one order with a lidar, on the real daemon.
#include <unistd.h>

#include <csignal>
#include <thread>

#include "hal/unix_socket.h"
#include "test/support/harness.h"
#include "test/support/mcap_bytes.h"
#include "test/system/bench.h"

using namespace std::chrono_literals;
using test::McapBytes;
using test::Seconds;

TEST_GROUP(SystemInput) {
  test::Bench place;
  std::unique_ptr<test::Process> device, daemon;

  void setup() override {
    std::signal(SIGPIPE, SIG_IGN);
    device = place.simulate_pty("front", "ldrobot");
    const std::string head = "input: {unix: " + place.file("input.sock") +
                             "}\n"
                             "inputs:\n"
                             "  odom: {schema: nav_msgs/msg/Odometry, max_bytes: 64, rate_hz: 50, "
                             "max_wait_ms: 1000}\n";
    daemon = place.lidard(place.configure(place.serial("front", "ldrobot"), head));
  }
  hal::UniqueFd connect() {
    auto fd = hal::connect_unix(place.file("input.sock"));
    CHECK_TRUE(static_cast<bool>(fd));
    return std::move(*fd);
  }
  static bool write(const hal::UniqueFd& fd, const McapBytes& bytes) {
    return ::write(fd.get(), bytes.all.data(), bytes.all.size()) ==
           static_cast<ssize_t>(bytes.all.size());
  }
  static std::int64_t unix_now() {
    return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
  }
};

TEST(SystemInput, ASenderAt50HzIsOrderedWithALidarAndAHostileOneChangesNothing) {
  test::StreamReader stream(place.socket());
  CHECK(stream.read_until([&] { return stream.topic("/front/points").messages > 3; }));
  const hal::UniqueFd sender = connect();
  CHECK(write(sender, McapBytes::odom("float64 x")));
  constexpr std::uint64_t kMessages = 150;
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    McapBytes message;
    message.message(1, unix_now(), "odometry");
    CHECK(write(sender, message));
    if (i % 10 == 5) {
      McapBytes garbage = i % 20 == 5 ? McapBytes() : McapBytes::odom("lie");
      garbage.message(1, unix_now(), "of another").add(std::as_bytes(std::span("garbage")));
      static_cast<void>(write(connect(), garbage));
    }
    stream.read_for(Seconds(0.02));
  }
  CHECK(stream.read_until([&] { return stream.count("odom", "queue.out") == kMessages; }));
  UNSIGNED_LONGS_EQUAL(kMessages, stream.topic("/odom").messages);
  UNSIGNED_LONGS_EQUAL(kMessages, stream.count("odom", "input.passed"));
  UNSIGNED_LONGS_EQUAL(0, stream.topic("/odom").missing);
  UNSIGNED_LONGS_EQUAL(0, stream.backward());
  CHECK(stream.count("lidard", "senders.malformed") > 0);
  CHECK(stream.count("lidard", "senders.connected") >= 1);
  UNSIGNED_LONGS_EQUAL(0, stream.count("front", "queue.late"));
}

TEST(SystemInput, ARecordingIsSentAgainAsOfNow) {
  const std::string file = place.file("run.mcap");
  const auto recorder =
      place.start_lidarctl("record", {"record", file, "--socket", place.socket(), "--for", "3"});
  {
    const hal::UniqueFd sender = connect();
    CHECK(write(sender, McapBytes::odom()));
    std::this_thread::sleep_for(500ms);  // the recorder has connected
    for (int i = 0; i < 25; ++i) {
      McapBytes message;
      message.message(1, unix_now(), "odometry");
      CHECK(write(sender, message));
      std::this_thread::sleep_for(20ms);
    }
    LONGS_EQUAL(0, recorder->wait().value_or(-1));
  }
  test::StreamReader stream(place.socket());
  CHECK(stream.read_until([&] { return stream.topic("/front/points").messages > 0; }));
  const test::Ran ran =
      place.lidarctl({"send", file, "--topic", "/odom", "--socket", place.file("input.sock")});
  LONGS_EQUAL_TEXT(0, ran.status, ran.err.c_str());
  CHECK_TEXT(test::contains(ran.err, "25 messages sent"), ran.err.c_str());
  CHECK(stream.read_until([&] { return stream.topic("/odom").messages == 25; }));
  UNSIGNED_LONGS_EQUAL(0, stream.backward());
}
