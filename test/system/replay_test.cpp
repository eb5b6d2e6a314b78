// What the daemon captured is played again, bit for bit.
#include <csignal>

#include "app/file_writer.h"
#include "app/raw_capture.h"
#include "hal/capture.h"
#include "test/support/harness.h"
#include "test/system/bench.h"

using test::contains;
using test::Ran;
using test::Seconds;

TEST_GROUP(SystemReplay) {
  test::Bench place;

  Ran replay(const std::string& capture, const std::string& out) {
    return place.lidarctl({"replay", capture, "--out", out});
  }
};

TEST(SystemReplay, TheSameBytesGiveTheSameOutput) {
  const std::string capture = place.file("raw.mcap");
  {
    test::DemoBench bench("capture: " + capture + "\n");
    bench.start_devices();
    bench.start_daemon();
    test::StreamReader stream(bench.socket());
    stream.read_for(Seconds(3));
    bench.daemon->signal(SIGTERM);
    LONGS_EQUAL(0, bench.daemon->wait().value_or(-1));
  }
  const std::string a = place.file("a.mcap"), b = place.file("b.mcap");
  for (const std::string& out : {a, b}) {
    const Ran ran = replay(capture, out);
    test::note("%s", ran.out.c_str());
    LONGS_EQUAL_TEXT(0, ran.status, ran.err.c_str());
    CHECK_TEXT(
        contains(ran.out, "; 0 divergences from the recorded run, 0 records lost and 0 malformed"),
        ran.out.c_str());
  }
  const std::string bytes = test::read_file(a);
  CHECK(bytes.size() > 100'000);
  CHECK_TEXT(bytes == test::read_file(b), "two replays differ");
}

TEST(SystemReplay, ACaptureOfAKilledDaemonCanBeReplayed) {
  const std::string capture = place.file("raw.mcap");
  {
    test::DemoBench bench("capture: " + capture + "\n");
    bench.start_devices();
    bench.start_daemon();
    test::StreamReader stream(bench.socket());
    stream.read_for(Seconds(1));
    bench.daemon->signal(SIGKILL);
    LONGS_EQUAL(128 + SIGKILL, bench.daemon->wait().value_or(-1));
    CHECK(test::wait_for([&] {  // the capture's own process writes to the end
      return test::contains(test::read_file(capture), "lidard.yaml") ||
             replay(capture, place.file("try.mcap")).status == 0;
    }));
  }
  const Ran ran = replay(capture, place.file("a.mcap"));
  LONGS_EQUAL_TEXT(0, ran.status, ran.err.c_str());
  CHECK_TEXT(contains(ran.out, "; 0 divergences"), ran.out.c_str());
}

TEST(SystemReplay, WhatACaptureLostAndWhatIsMalformedInItAreCountedAndTheRestIsPlayed) {
  const std::string capture = place.file("raw.mcap");
  auto file = app::FileWriter::create(capture);
  CHECK(static_cast<bool>(file));
  hal::mcap::Writer writer(*file, {.profile = "", .library = "test"});
  CHECK(static_cast<bool>(writer.start()));
  const auto channel = writer.add_channel(app::kRawTopic, 0, app::kRawEncoding, {});
  CHECK(static_cast<bool>(channel));
  std::array<std::byte, hal::kRawHeader> record{};
  LONGS_EQUAL(record.size(),
              hal::encode({.kind = hal::RawKind::pass, .at = hal::from_ns(1)}, record));
  constexpr std::array kNone{std::byte{0xFF}};
  for (const std::uint32_t sequence : {1, 2, 5}) {
    const hal::Bytes data = sequence == 2 ? hal::Bytes(kNone) : hal::Bytes(record);
    CHECK(static_cast<bool>(writer.write(hal::mcap::Message{*channel, sequence, 1, 1, data})));
  }
  CHECK(static_cast<bool>(writer.finish()));
  const Ran ran = place.lidarctl(
      {"replay", capture, "--config", place.configure(place.serial("rear", "ldrobot"))});
  LONGS_EQUAL_TEXT(0, ran.status, ran.err.c_str());
  CHECK_TEXT(contains(ran.out, "2 records lost and 1 malformed"), ran.out.c_str());
}

TEST(SystemReplay, WhatIsNoCaptureIsRefusedByName) {
  const std::string text = place.file("text.mcap");
  test::write_file(text, "not a capture");
  const Ran ran = replay(text, place.file("out.mcap"));
  LONGS_EQUAL(66, ran.status);
  CHECK_TEXT(contains(ran.err, text), ran.err.c_str());
  const Ran missing = replay(place.file("none.mcap"), place.file("out.mcap"));
  LONGS_EQUAL(66, missing.status);
  CHECK_TEXT(contains(missing.err, "none.mcap"), missing.err.c_str());
}
