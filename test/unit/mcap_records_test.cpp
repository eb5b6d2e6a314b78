#include "hal/mcap/records.h"

#include <vector>

#include "hal/crc32.h"
#include "test/support/bytes.h"
#include "test/support/harness.h"

namespace mcap = hal::mcap;
using test::bytes_of;

TEST_GROUP(McapRecords) {
  std::array<std::byte, 256> memory{};

  template <class Record>
  void check(const Record& record, std::initializer_list<int> expected) {
    const auto want = bytes_of(expected);
    LONGS_EQUAL(want.size(), encode(record, {}));
    LONGS_EQUAL(want.size(), encode(record, memory));
    MEMCMP_EQUAL(want.data(), memory.data(), want.size());
  }
  template <class Record>
  hal::Bytes content(const Record& record) {
    return hal::Bytes(memory).first(encode(record, memory)).subspan(mcap::kRecordHead);
  }
};

TEST(McapRecords, TheCrcIsThatOfZlib) {
  LONGS_EQUAL(0xcbf43926, hal::crc32(bytes_of("123456789")));
  LONGS_EQUAL(0, hal::crc32({}));
}

TEST(McapRecords, TheCrcDoesNotDependOnThePieces) {
  std::vector<std::byte> bytes;
  for (int i = 0; i < 100; ++i) bytes.push_back(static_cast<std::byte>(i * 7));
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    hal::Crc32 crc;
    crc.add(hal::Bytes(bytes).first(cut));
    crc.add(hal::Bytes(bytes).subspan(cut));
    LONGS_EQUAL(hal::crc32(bytes), crc.value());
  }
}

TEST(McapRecords, AHeaderHasExactlyTheseBytes) {
  check(mcap::Header{"ros2", "l"},
        {1, 13, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 'r', 'o', 's', '2', 1, 0, 0, 0, 'l'});
}

TEST(McapRecords, ASchemaHasExactlyTheseBytes) {
  const auto data = bytes_of("D");
  check(mcap::Schema{0x0102, "n", "e", data},
        {3, 17, 0, 0, 0, 0, 0, 0, 0, 2, 1, 1, 0, 0, 0, 'n', 1, 0, 0, 0, 'e', 1, 0, 0, 0, 'D'});
}

TEST(McapRecords, AChannelHasExactlyTheseBytes) {
  const mcap::KeyValue pair{"k", ""};
  check(mcap::Channel{1, 2, "/t", "cdr", {&pair, 1}},
        {4, 30, 0, 0,   0,   0,   0, 0, 0, 1, 0, 2, 0, 2, 0,   0, 0, '/', 't', 3,
         0, 0,  0, 'c', 'd', 'r', 9, 0, 0, 0, 1, 0, 0, 0, 'k', 0, 0, 0,   0});
}

TEST(McapRecords, AMessageHeadCountsItsData) {
  const auto data = bytes_of("abc");
  const auto head = encode_head(mcap::Message{0x0201, 0x06050403, 7, 8, data});
  const auto want = bytes_of({5, 25, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7,
                              0, 0,  0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0});
  LONGS_EQUAL(want.size(), head.size());
  MEMCMP_EQUAL(want.data(), head.data(), want.size());
}

TEST(McapRecords, AMessageIndexCountsItsBytesNotItsEntries) {
  const mcap::IndexEntry entry{1, 2};
  check(mcap::MessageIndex{3, {&entry, 1}}, {7, 22, 0, 0, 0, 0, 0, 0, 0, 3, 0, 16, 0, 0, 0, 1,
                                             0, 0,  0, 0, 0, 0, 0, 2, 0, 0, 0, 0,  0, 0, 0});
}

TEST(McapRecords, AFooterASummaryOffsetAndADataEndHaveExactlyTheseBytes) {
  check(mcap::Footer{1, 2, 3},
        {2, 20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0});
  check(mcap::SummaryOffset{mcap::Opcode::schema, 1, 2},
        {14, 17, 0, 0, 0, 0, 0, 0, 0, 3, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0});
  check(mcap::DataEnd{4}, {15, 4, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0});
}

TEST(McapRecords, AnAttachmentIsRefusedWhenOneBitOfItIsWrong) {
  const auto data = bytes_of("frame: base_link");
  const hal::Bytes whole = content(mcap::Attachment{1, 2, "n", "text/plain", data});
  CHECK_TRUE(mcap::decode_attachment(whole)->name == "n");
  for (std::size_t i = 0; i < whole.size() * 8; ++i) {
    std::vector<std::byte> bad(whole.begin(), whole.end());
    bad[i / 8] ^= std::byte{1} << (i % 8);
    CHECK_FALSE(mcap::decode_attachment(bad).has_value());
  }
}

TEST(McapRecords, EveryRecordComesBack) {
  const mcap::KeyValue pairs[]{{"a", "1"}, {"b", "2"}};
  std::array<mcap::KeyValue, 4> room;
  const auto channel = mcap::decode_channel(content(mcap::Channel{3, 1, "/t", "cdr", pairs}), room);
  CHECK_TRUE(channel->topic == "/t" && channel->metadata.size() == 2);
  CHECK_TRUE(channel->metadata[1].value == "2");
  const auto metadata = mcap::decode_metadata(content(mcap::Metadata{"m", pairs}), room);
  CHECK_TRUE(metadata->name == "m" && metadata->metadata[0].key == "a");

  const mcap::ChannelCount count{7, 9};
  mcap::Statistics sent{9, 1, 2, 3, 4, 5, 6, 7, {&count, 1}};
  std::array<mcap::ChannelCount, 2> counts;
  const auto stats = mcap::decode_statistics(content(sent), counts);
  LONGS_EQUAL(5, stats->chunks);
  LONGS_EQUAL(7, stats->end_time);
  LONGS_EQUAL(9, stats->channel_counts[0].messages);
}

TEST(McapRecords, PairsWithoutRoomAreLeftOut) {
  const mcap::KeyValue pairs[]{{"a", "1"}, {"b", "2"}};
  std::array<mcap::KeyValue, 1> room;
  const auto channel = mcap::decode_channel(content(mcap::Channel{3, 1, "/t", "cdr", pairs}), room);
  LONGS_EQUAL(1, channel->metadata.size());
}

TEST(McapRecords, EveryTruncationIsRefused) {
  const mcap::KeyValue pair{"key", "value"};
  std::array<mcap::KeyValue, 4> room;
  std::array<mcap::ChannelCount, 4> counts;
  const auto cut = [](hal::Bytes whole, auto&& decode) {
    CHECK_TRUE(decode(whole));
    for (std::size_t n = 0; n < whole.size(); ++n) CHECK_FALSE(decode(whole.first(n)));
  };
  const auto data = bytes_of("data");
  cut(content(mcap::Header{"p", "l"}), [](auto b) { return mcap::decode_header(b).has_value(); });
  cut(content(mcap::Schema{1, "n", "e", data}),
      [](auto b) { return mcap::decode_schema(b).has_value(); });
  cut(content(mcap::Channel{1, 1, "t", "e", {&pair, 1}}),
      [&](auto b) { return mcap::decode_channel(b, room).has_value(); });
  cut(content(mcap::Footer{}), [](auto b) { return mcap::decode_footer(b).has_value(); });
  cut(content(mcap::DataEnd{}), [](auto b) { return mcap::decode_data_end(b).has_value(); });
  const mcap::ChannelCount count{1, 2};
  cut(content(mcap::Statistics{.channel_counts = {&count, 1}}),
      [&](auto b) { return mcap::decode_statistics(b, counts).has_value(); });
}

TEST(McapRecords, MemoryThatIsTooSmallIsNotOverrun) {
  memory.fill(std::byte{0xee});
  const auto data = bytes_of("0123456789");
  LONGS_EQUAL(9 + 2 + 5 + 5 + 4 + 10,
              encode(mcap::Schema{1, "n", "e", data}, std::span(memory).first(20)));
  CHECK_TRUE(memory[20] == std::byte{0xee});
}
