// Writer and reader against each other, and the reader against everything else.
#include <random>
#include <vector>

#include "hal/crc32.h"
#include "test/support/allocation_counter.h"
#include "test/support/bytes.h"
#include "test/support/harness.h"
#include "test/support/mcap_log.h"

namespace mcap = hal::mcap;
using test::bytes_of;

namespace {

constexpr std::size_t kMaxRecord = 4096;
constexpr std::size_t kMagicAndFooter = mcap::kMagic.size() + mcap::kFooterRecord;

struct FileOptions {
  std::size_t chunk_size = 0;
  int messages = 10;
};

// Two channels; message i has log time 100 + i and the data "i" followed by i dots.
std::vector<std::byte> make_file(const FileOptions& o) {
  test::MemorySink sink;
  mcap::Writer writer(sink, {"ros2", "test", o.chunk_size});
  CHECK_TRUE(static_cast<bool>(writer.start()));
  const auto schema = writer.add_schema("pkg/msg/A", "ros2msg", bytes_of("int32 a"));
  const mcap::KeyValue qos{"offered_qos_profiles", ""};
  const auto a = writer.add_channel("/a", *schema, "cdr", {&qos, 1});
  const auto b = writer.add_channel("/b", 0, "raw", {});
  for (int i = 0; i < o.messages; ++i) {
    const auto data = bytes_of(std::to_string(i) + std::string(static_cast<std::size_t>(i), '.'));
    const auto n = static_cast<std::uint32_t>(i);
    CHECK_TRUE(static_cast<bool>(
        writer.write(mcap::Message{i % 3 == 0 ? *b : *a, n, 100ULL + n, 200ULL + n, data})));
  }
  CHECK_TRUE(static_cast<bool>(writer.finish()));
  LONGS_EQUAL(sink.bytes.size(), writer.offset());
  return sink.bytes;
}

// Magic and one chunk.
std::vector<std::byte> with_chunk(const mcap::Chunk& chunk, const std::vector<std::byte>& records) {
  std::vector<std::byte> file(mcap::kMagic.begin(), mcap::kMagic.end());
  std::array<std::byte, 64> head{};
  const std::size_t n = encode_head(chunk, head);
  file.insert(file.end(), head.begin(), head.begin() + static_cast<std::ptrdiff_t>(n));
  file.insert(file.end(), records.begin(), records.end());
  return file;
}

}  // namespace

TEST_GROUP(McapFile) {
  test::McapLog log;
  std::vector<test::McapLog::Message> messages_of(hal::Bytes file, std::size_t piece = 1 << 20) {
    test::McapLog all;
    mcap::Reader reader(kMaxRecord);
    for (std::size_t at = 0; at < file.size(); at += piece) {
      const hal::Status s = reader.feed(file.subspan(at, std::min(piece, file.size() - at)), all);
      if (!s) FAIL(s.error().detail.c_str());
    }
    CHECK_TRUE(reader.finished());
    return all.messages;
  }
  hal::Status read(hal::Bytes file) { return mcap::Reader(kMaxRecord).feed(file, log); }
};

TEST(McapFile, WithoutChunksHasTheRecordsInTheOrderOfTheSpec) {
  CHECK_TRUE(static_cast<bool>(read(make_file({.chunk_size = 0, .messages = 2}))));
  // header, schema, channels, messages, data end; summary: schema, channels, statistics, offsets.
  STRCMP_EQUAL("acddeeocddknnnb", log.opcodes.c_str());
}

TEST(McapFile, WithChunksHasAnIndexAfterEachChunkAndOfAllChunks) {
  CHECK_TRUE(static_cast<bool>(read(make_file({.chunk_size = 100, .messages = 4}))));
  // Messages 0, 1 and 2 take 32 + 33 + 34 bytes and are of both channels; 3 is of one.
  STRCMP_EQUAL("acddeeeggegocddkhhnnnnb", log.opcodes.c_str());
}

TEST(McapFile, GivesEveryMessageForEveryChunkSize) {
  const auto plain = messages_of(make_file({}));
  LONGS_EQUAL(10, plain.size());
  STRCMP_EQUAL("3...", plain[3].data.c_str());
  for (const std::size_t chunk : {1, 33, 64, 100, 1000, 100'000}) {
    CHECK_TRUE(messages_of(make_file({.chunk_size = chunk})) == plain);
  }
}

TEST(McapFile, IsReadInPiecesOfAnySize) {
  for (const std::size_t chunk : {std::size_t{0}, std::size_t{100}}) {
    const auto file = make_file({.chunk_size = chunk});
    const auto whole = messages_of(file);
    for (std::size_t piece = 1; piece < 80; ++piece) CHECK_TRUE(messages_of(file, piece) == whole);
  }
}

TEST(McapFile, CutAnywhereGivesAllThatWasWhole) {
  for (const std::size_t chunk : {std::size_t{0}, std::size_t{100}}) {
    const auto file = make_file({.chunk_size = chunk});
    const auto whole = messages_of(file);
    std::size_t before = 0;
    for (std::size_t n = 0; n < file.size(); ++n) {
      test::McapLog cut;
      mcap::Reader reader(kMaxRecord);
      CHECK_TRUE(static_cast<bool>(reader.feed(hal::Bytes(file).first(n), cut)));
      CHECK_FALSE(reader.finished());
      CHECK_TRUE(cut.messages.size() == before || cut.messages.size() == before + 1);
      CHECK_TRUE(std::equal(cut.messages.begin(), cut.messages.end(), whole.begin()));
      before = cut.messages.size();
    }
    LONGS_EQUAL(whole.size(), before);
  }
}

TEST(McapFile, WithOneFlippedBitNeverGivesAWrongMessageWithoutAnError) {
  const auto file = make_file({.chunk_size = 100});
  const auto whole = messages_of(file);
  for (std::size_t bit = 0; bit < file.size() * 8; ++bit) {
    auto bad = file;
    bad[bit / 8] ^= std::byte{1} << (bit % 8);
    test::McapLog got;
    mcap::Reader reader(kMaxRecord);
    const bool is_good = static_cast<bool>(reader.feed(bad, got)) && reader.finished();
    if (is_good) FAIL(std::to_string(bit).c_str());
  }
}

TEST(McapFile, ErrorsSayWhatAndWhere) {
  auto file = make_file({});
  file[0] = std::byte{'x'};
  const hal::Status magic = read(file);
  CHECK_TRUE(magic.error().code == hal::Errc::bad_config);
  STRCMP_CONTAINS("at byte 0", magic.error().detail.c_str());

  file = make_file({});
  file[8 + 1 + 7] = std::byte{0x40};  // the header's length becomes enormous
  const hal::Status length = read(file);
  CHECK_TRUE(length.error().code == hal::Errc::no_space);
  STRCMP_CONTAINS("at byte 8", length.error().detail.c_str());
}

TEST(McapFile, TheFirstErrorIsFinal) {
  const auto file = make_file({});
  mcap::Reader reader(kMaxRecord);
  CHECK_FALSE(static_cast<bool>(reader.feed(bytes_of("not an mcap"), log)));
  CHECK_FALSE(static_cast<bool>(reader.feed(file, log)));
  LONGS_EQUAL(0, log.messages.size());
}

TEST(McapFile, ARecordLongerThanTheLimitIsRefused) {
  test::MemorySink sink;
  mcap::Writer writer(sink, {"ros2", "test", 0});
  CHECK_TRUE(static_cast<bool>(writer.start()));
  const auto channel = writer.add_channel("/a", 0, "raw", {});
  const std::vector<std::byte> data(kMaxRecord - 22), longer(kMaxRecord - 21);
  CHECK_TRUE(static_cast<bool>(writer.write(mcap::Message{*channel, 1, 1, 1, data})));
  CHECK_TRUE(static_cast<bool>(writer.write(mcap::Message{*channel, 2, 2, 2, longer})));
  const hal::Status s = read(sink.bytes);
  CHECK_TRUE(s.error().code == hal::Errc::no_space);
  LONGS_EQUAL(1, log.messages.size());
}

TEST(McapFile, ARecordMayNotBeLongerThanItsChunk) {
  auto file = make_file({.chunk_size = 100});
  CHECK_TRUE(static_cast<bool>(read(file)));
  // The last record of the first chunk claims one byte more.
  const std::size_t last = log.offsets[log.opcodes.find('g') - 1];
  file[last + 1] = static_cast<std::byte>(std::to_integer<int>(file[last + 1]) + 1);
  const hal::Status s = read(file);
  CHECK_TRUE(s.error().code == hal::Errc::bad_config);
}

TEST(McapFile, AChunkMayNotClaimMoreOrLessThanItsRecordHas) {
  for (const std::uint64_t claimed : {2, 4}) {
    auto file = with_chunk({1, 2, 3, 0, "", claimed}, bytes_of("xyz"));
    LONGS_EQUAL(claimed, std::to_integer<unsigned>(file[8 + 1]) - 40);
    file[8 + 1] = std::byte{43};  // the record is as long as it is
    CHECK_TRUE(read(file).error().code == hal::Errc::bad_config);
    STRCMP_EQUAL("", log.opcodes.c_str());
  }
}

TEST(McapFile, AChunkMayNotContainAChunk) {
  const auto inner = with_chunk({1, 2, 0, 0, "", 0}, {});
  const auto content = std::vector(inner.begin() + 8, inner.end());
  const auto file = with_chunk({1, 2, content.size(), 0, "", content.size()}, content);
  CHECK_TRUE(read(file).error().code == hal::Errc::bad_config);
}

TEST(McapFile, TheSummaryBeginsWhereTheDataEnd) {
  auto file = make_file({});
  const std::size_t footer = file.size() - kMagicAndFooter;
  std::size_t start = 0;
  for (std::size_t i = 8; i-- > 0;) {
    start = start << 8 | std::to_integer<std::size_t>(file[footer + 9 + i]);
  }
  file[footer + 9] ^= std::byte{1};
  const std::uint32_t crc =
      hal::crc32(hal::Bytes(file).subspan(start, footer + mcap::kFooterRecord - 4 - start));
  for (std::size_t i = 0; i < 4; ++i) {
    file[footer + mcap::kFooterRecord - 4 + i] = static_cast<std::byte>(crc >> 8 * i & 0xff);
  }
  CHECK_FALSE(static_cast<bool>(read(file)));
}

TEST(McapFile, ACompressedChunkIsHandedOnWhole) {
  const auto file = with_chunk({1, 2, 10, 0, "zstd", 3}, bytes_of("xyz"));
  mcap::Reader reader(kMaxRecord);
  for (const std::byte b : file) CHECK_TRUE(static_cast<bool>(reader.feed({&b, 1}, log)));
  STRCMP_EQUAL("f", log.opcodes.c_str());
  std::size_t head_size = 0;
  const auto got = mcap::decode_chunk_head(log.contents[0], head_size);
  CHECK_TRUE(got->compression == "zstd");
  LONGS_EQUAL(3, log.contents[0].size() - head_size);
}

TEST(McapFile, WhatACompressedChunkContainedIsReadByAReaderThatBeginsAtRecords) {
  const auto data = bytes_of("abc");
  const auto head = encode_head(mcap::Message{1, 2, 3, 4, data});
  mcap::Reader reader(kMaxRecord, mcap::Reader::Begin::records);
  CHECK_TRUE(static_cast<bool>(reader.feed(head, log)));
  CHECK_TRUE(static_cast<bool>(reader.feed(data, log)));
  STRCMP_EQUAL("abc", log.messages[0].data.c_str());
}

TEST(McapFile, BytesAfterTheEndAreAnError) {
  auto file = make_file({});
  file.push_back(std::byte{0});
  CHECK_FALSE(static_cast<bool>(read(file)));
}

TEST(McapFile, AttachmentsAndMetadataComeBack) {
  test::MemorySink sink;
  mcap::Writer writer(sink, {"ros2", "test", 1000});
  const auto data = bytes_of("frame: base_link");
  const mcap::KeyValue pair{"host", "robot"};
  CHECK_TRUE(static_cast<bool>(writer.start()));
  CHECK_TRUE(static_cast<bool>(writer.write(mcap::Attachment{1, 2, "c.yaml", "text/plain", data})));
  CHECK_TRUE(static_cast<bool>(writer.write(mcap::Metadata{"m", {&pair, 1}})));
  CHECK_TRUE(static_cast<bool>(writer.finish()));
  CHECK_TRUE(static_cast<bool>(read(sink.bytes)));
  STRCMP_EQUAL("ailokjmnnnb", log.opcodes.c_str());
}

TEST(McapFile, MessagesOfAnUnknownChannelAreRefused) {
  test::MemorySink sink;
  mcap::Writer writer(sink, {"ros2", "test", 0});
  CHECK_TRUE(static_cast<bool>(writer.start()));
  CHECK_FALSE(static_cast<bool>(writer.write(mcap::Message{1, 1, 1, 1, {}})));
  CHECK_FALSE(static_cast<bool>(writer.add_channel("/a", 1, "cdr", {})));
}

TEST(McapFile, TheFirstErrorOfTheSinkIsFinal) {
  test::MemorySink sink;
  mcap::Writer writer(sink, {"ros2", "test", 0});
  CHECK_TRUE(static_cast<bool>(writer.start()));
  const auto channel = writer.add_channel("/a", 0, "raw", {});
  sink.limit = sink.bytes.size();
  CHECK_FALSE(static_cast<bool>(writer.write(mcap::Message{*channel, 1, 1, 1, {}})));
  sink.limit = 1 << 20;
  const std::size_t before = sink.bytes.size();
  CHECK_FALSE(static_cast<bool>(writer.write(mcap::Message{*channel, 1, 1, 1, {}})));
  CHECK_FALSE(static_cast<bool>(writer.finish()));
  LONGS_EQUAL(before, sink.bytes.size());
}

TEST(McapFile, FlushLeavesNothingInMemory) {
  test::MemorySink sink;
  mcap::Writer writer(sink, {"ros2", "test", 100'000});
  CHECK_TRUE(static_cast<bool>(writer.start()));
  const auto channel = writer.add_channel("/a", 0, "raw", {});
  CHECK_TRUE(static_cast<bool>(writer.write(mcap::Message{*channel, 1, 1, 1, {}})));
  CHECK_TRUE(static_cast<bool>(writer.flush()));
  CHECK_TRUE(static_cast<bool>(read(sink.bytes)));
  LONGS_EQUAL(1, log.messages.size());
}

TEST(McapFile, RandomBytesAreHarmlessToTheReader) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  const auto file = make_file({.chunk_size = 100, .messages = 6});
  for (int round = 0; round < 3000; ++round) {
    auto bad = file;
    for (unsigned k = 0; k <= random() % 8; ++k) {
      bad[8 + random() % (bad.size() - 8)] = static_cast<std::byte>(random());
    }
    test::McapLog got;
    mcap::Reader reader(200);
    static_cast<void>(reader.feed(bad, got));
    CHECK_TEXT(got.messages.size() <= 50, hal::Text<32>::of("seed %u", seed).c_str());
  }
}

TEST(McapFile, ReadingAllocatesNothing) {
  struct Nothing final : mcap::RecordSink {
    void on_record(const mcap::Record&) override { ++records; }
    int records = 0;
  } nothing;
  const auto file = make_file({.chunk_size = 100});
  mcap::Reader reader(kMaxRecord);
  const test::AllocationCounter counter;
  for (const std::byte& b : file) static_cast<void>(reader.feed({&b, 1}, nothing));
  LONGS_EQUAL(0, counter.count());
  CHECK_TRUE(nothing.records > 10);
}
