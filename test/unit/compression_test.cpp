#include "app/lidarctl/compression.h"

#include <random>

#include "test/support/harness.h"
#include "test/support/mcap_log.h"

namespace mcap = hal::mcap;
using Octets = std::vector<std::byte>;

TEST_GROUP(Compression){Octets some(std::size_t size){std::mt19937 random(3);
Octets bytes(size);
for (std::size_t i = 0; i < size; ++i)
  bytes[i] = static_cast<std::byte>(i / 7 % 50 + random() % 2 * (i % 5 == 0));
return bytes;
}
}
;

TEST(Compression, WhatWasMadeSmallerIsWholeAgain) {
  for (const char* const name : {"zstd", "lz4"}) {
    const auto compressor = lidarctl::make_compressor(name);
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{1} << 20}) {
      const Octets bytes = some(size);
      const auto smaller = compressor->compress(bytes);
      CHECK_TRUE(static_cast<bool>(smaller));
      if (size >= 1000) CHECK_TRUE(smaller->size() < size * 2 / 3);
      const auto again = lidarctl::decompress(name, *smaller, size);
      CHECK_TRUE(static_cast<bool>(again) && *again == bytes);
    }
  }
}

TEST(Compression, DamagedBytesAreRefused) {
  std::mt19937 random(4);
  for (const char* const name : {"zstd", "lz4"}) {
    const auto compressor = lidarctl::make_compressor(name);
    const Octets bytes = some(10'000);
    const auto smaller = compressor->compress(bytes);
    const Octets whole(smaller->begin(), smaller->end());
    CHECK_FALSE(static_cast<bool>(lidarctl::decompress(name, whole, 9'999)));
    CHECK_FALSE(static_cast<bool>(lidarctl::decompress(name, whole, 10'001)));
    CHECK_FALSE(static_cast<bool>(lidarctl::decompress(name, {}, 10)));
    for (std::size_t n = 0; n < whole.size(); n += 97) {
      CHECK_FALSE(
          static_cast<bool>(lidarctl::decompress(name, hal::Bytes(whole).first(n), 10'000)));
    }
    for (int round = 0; round < 1000; ++round) {  // whatever comes out, it ends
      Octets changed = whole;
      changed[random() % changed.size()] ^= static_cast<std::byte>(1 + random() % 255);
      (void)lidarctl::decompress(name, changed, 10'000);
    }
  }
}

TEST(Compression, WhatIsNotKnownIsNamed) {
  CHECK_TRUE(lidarctl::make_compressor("none") == nullptr);
  const auto none = lidarctl::decompress("brotli", {}, 1);
  CHECK_FALSE(static_cast<bool>(none));
  STRCMP_CONTAINS("brotli: not a compression that is known here", none.error().detail.c_str());
  CHECK_FALSE(static_cast<bool>(lidarctl::decompress("zstd", {}, std::size_t{1} << 40)));
}
