#include "app/lidarctl/segmented_file.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "app/messages.h"
#include "test/support/bytes.h"
#include "test/support/harness.h"
#include "test/support/mcap_log.h"
#include "test/support/temp_dir.h"

namespace fs = std::filesystem;
namespace mcap = hal::mcap;
using test::bytes_of;

// A stream as the daemon writes it, fed to the file in pieces.
TEST_GROUP(SegmentedFile) {
  test::TempDir dir;
  test::MemorySink stream;
  std::unique_ptr<mcap::Writer> writer;
  std::uint16_t transforms = 0, events = 0, data = 0;
  std::uint32_t sequence = 0;
  std::uint64_t removed = 0;
  lidarctl::SegmentLimits limits;

  void setup() override {
    writer = std::make_unique<mcap::Writer>(stream, mcap::WriterOptions{"ros2", "test", 0});
    CHECK_TRUE(static_cast<bool>(writer->start()));
    const auto schema = writer->add_schema("a/msg/B", "ros2msg", bytes_of("int32 a"));
    transforms = *writer->add_channel("/tf_static", *schema, "cdr", {});
    events = *writer->add_channel("/lidard/events", *schema, "cdr", {});
    data = *writer->add_channel("/body/imu", *schema, "cdr", {});
  }
  void say(std::uint16_t channel, std::uint64_t log_time, hal::Bytes bytes) {
    (void)writer->write(mcap::Message{channel, ++sequence, log_time, log_time, bytes});
  }
  void step(std::uint64_t log_time, const char* seconds) {
    std::array<std::byte, 512> out;
    app::DiagnosticWriter event({0, "base_link"}, out);
    event.status(app::Level::warn, "lidard", "the wall clock was set", "");
    event.value("event", "wall_step");
    event.value("seconds", seconds);
    say(events, log_time, hal::Bytes(out).first(event.finish()));
  }
  std::vector<lidarctl::SegmentedFile::Part> save(std::size_t piece) {
    auto file = lidarctl::SegmentedFile::create(dir.file("run.mcap"), limits);
    CHECK_TRUE(static_cast<bool>(file));
    for (std::size_t at = 0; at < stream.bytes.size(); at += piece) {
      const std::size_t n = std::min(piece, stream.bytes.size() - at);
      CHECK_TRUE(static_cast<bool>((*file)->feed(hal::Bytes(stream.bytes).subspan(at, n))));
    }
    CHECK_TRUE(static_cast<bool>((*file)->finish()));
    removed = (*file)->removed();
    return (*file)->parts();
  }
  test::McapLog read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    test::McapLog log;
    mcap::Reader reader(1 << 20);
    CHECK_TRUE(static_cast<bool>(reader.feed(bytes_of(text), log)));
    CHECK_TRUE(reader.finished());
    return log;
  }
};

TEST(SegmentedFile, IsOneFileWhileTimeGrows) {
  say(transforms, 100, bytes_of("tf"));
  say(data, 110, bytes_of("one"));
  step(1'000'000, "100.000000000");
  say(data, 1'000'010, bytes_of("two"));
  const auto parts = save(1 << 20);
  LONGS_EQUAL(1, parts.size());
  STRCMP_EQUAL(dir.file("run.mcap").c_str(), parts[0].path.c_str());
  LONGS_EQUAL(4, parts[0].messages);
}

TEST(SegmentedFile, BeginsAFileWhereTheClockWasSetBackAndEachIsWhole) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{1} << 20}) {
    stream.bytes.clear();
    fs::remove(dir.file("run.1.mcap")), fs::remove(dir.file("run.2.mcap"));
    sequence = 0;
    setup();
    say(transforms, 9'000, bytes_of("tf"));
    say(data, 9'010, bytes_of("one"));
    step(5'000, "-100.000000000");
    say(data, 5'010, bytes_of("two"));
    step(1'000, "-1000.000000000");
    say(data, 1'010, bytes_of("three"));
    const auto parts = save(piece);
    LONGS_EQUAL(3, parts.size());
    STRCMP_EQUAL(dir.file("run.1.mcap").c_str(), parts[1].path.c_str());
    STRCMP_EQUAL(dir.file("run.2.mcap").c_str(), parts[2].path.c_str());
    const char* const expected[] = {"one", "two", "three"};
    for (std::size_t i = 0; i < 3; ++i) {
      const test::McapLog log = read(parts[i].path);
      LONGS_EQUAL(i == 0 ? 2 : 3, log.messages.size());  // transforms, the event, the datum
      STRCMP_EQUAL("tf", log.messages[0].data.c_str());
      STRCMP_EQUAL(expected[i], log.messages.back().data.c_str());
      for (std::size_t m = 1; m < log.messages.size(); ++m) {
        CHECK_TRUE(log.messages[m].log_time >= log.messages[m - 1].log_time);
      }
      LONGS_EQUAL(0, parts[i].lost);
    }
  }
}

TEST(SegmentedFile, SaysWhatCannotBeWritten) {
  const auto file = lidarctl::SegmentedFile::create(dir.path() + "/none/run.mcap");
  CHECK_FALSE(static_cast<bool>(file));
}

TEST(SegmentedFile, BeginsAFileAfterSoMuchTime) {
  limits.ns = 100;
  say(transforms, 1000, bytes_of("tf"));
  for (std::uint64_t t = 1000; t < 1350; t += 10) say(data, t, bytes_of("x"));
  const auto parts = save(1 << 20);
  LONGS_EQUAL(4, parts.size());
  for (const auto& part : parts) {
    const auto log = read(part.path);
    STRCMP_EQUAL("tf", log.messages.at(0).data.c_str());  // each is whole by itself
    CHECK_TRUE(log.messages.back().log_time - log.messages[0].log_time < 100);
  }
}

TEST(SegmentedFile, BeginsAFileAtSoManyBytesAndKeepsNoMoreThanWasAllowed) {
  limits.bytes = 3'000'000;
  limits.total_bytes = 10'000'000;
  const std::vector<std::byte> bulk(100'000);
  for (std::uint64_t i = 0; i < 400; ++i) say(data, 1000 + i, bulk);
  const auto parts = save(1 << 20);
  std::uint64_t on_disk = 0, messages = 0, kept = 0;
  for (const auto& part : parts) {
    messages += part.messages;
    CHECK_EQUAL(part.bytes > 0, fs::exists(part.path));
    if (part.bytes == 0) continue;
    on_disk += fs::file_size(part.path);
    ++kept;
    CHECK_TRUE(part.bytes < 5'200'000);
  }
  LONGS_EQUAL(400, messages);
  CHECK_TRUE(on_disk <= 10'000'000 + 5'200'000 && kept >= 2);
  LONGS_EQUAL(parts.size() - kept, removed);
}

TEST(SegmentedFile, AFileThatIsThereIsNotWrittenOver) {
  limits.ns = 100;
  std::ofstream(dir.file("run.1.mcap")) << "kept";
  for (std::uint64_t t = 1000; t < 1200; t += 10) say(data, t, bytes_of("x"));
  const auto parts = save(1 << 20);
  LONGS_EQUAL(2, parts.size());
  STRCMP_EQUAL(dir.file("run.2.mcap").c_str(), parts[1].path.c_str());
  std::ifstream in(dir.file("run.1.mcap"));
  std::string text;
  in >> text;
  STRCMP_EQUAL("kept", text.c_str());
}
