#include "app/record_ring.h"

#include <deque>
#include <random>
#include <string>

#include "hal/text.h"
#include "test/support/bytes.h"
#include "test/support/harness.h"

namespace {

constexpr std::size_t kHead = hal::mcap::kMessageHead;

}  // namespace

TEST_GROUP(RecordRing) {
  app::RecordRing ring{200};
  void push(std::uint32_t sequence, const std::string& text) {
    const auto data = test::bytes_of(text);
    ring.push(encode_head(hal::mcap::Message{3, sequence, 50ULL + sequence, 0, data}), data);
  }
  std::string contents() const {
    std::string all;
    for (const hal::Bytes part : ring.bytes()) {
      for (const std::byte b : part) all.push_back(static_cast<char>(b));
    }
    return all;
  }
};

TEST(RecordRing, TellsWhatItsOldestRecordIs) {
  push(7, "abc");
  const auto front = ring.front();
  LONGS_EQUAL(kHead + 3, front.size);
  LONGS_EQUAL(3, front.channel);
  LONGS_EQUAL(7, front.sequence);
  LONGS_EQUAL(57, front.log_time);
}

TEST(RecordRing, TakesWhatFitsToTheLastByte) {
  push(1, std::string(200 - 2 * kHead, 'a'));
  CHECK_TRUE(ring.fits(kHead));
  CHECK_FALSE(ring.fits(kHead + 1));
  push(2, "");
  CHECK_FALSE(ring.fits(1));
  LONGS_EQUAL(2, ring.records());
  LONGS_EQUAL(200, ring.size());
}

TEST(RecordRing, KeepsBytesAndOrderAroundItsEnd) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  std::deque<std::string> model;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    const std::string text(random() % 60, static_cast<char>('a' + i % 26));
    while (!ring.fits(kHead + text.size())) {
      const auto front = ring.front();
      CHECK_TEXT(front.size == kHead + model.front().size(),
                 hal::Text<32>::of("seed %u", seed).c_str());
      std::vector<std::byte> copied(front.size);
      ring.copy(0, copied);
      CHECK_TRUE(
          std::equal(copied.begin() + kHead, copied.end(), test::bytes_of(model.front()).begin()));
      ring.pop(front.size);
      model.pop_front();
    }
    push(i, text);
    model.push_back(text);
    LONGS_EQUAL(model.size(), ring.records());
    std::size_t at = 0;
    const std::string all = contents();
    for (const std::string& m : model) {
      CHECK_TRUE(all.compare(at + kHead, m.size(), m) == 0);
      at += kHead + m.size();
    }
    LONGS_EQUAL(at, all.size());
  }
}

TEST(RecordRing, IsEmptyOnceCleared) {
  push(1, "abc");
  ring.clear();
  CHECK_TRUE(ring.empty());
  LONGS_EQUAL(0, ring.records());
  push(2, std::string(200 - kHead, 'x'));
  LONGS_EQUAL(2, ring.front().sequence);
}
