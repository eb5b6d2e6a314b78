// Arithmetic of hot paths, held against the library's.
#include "drivers/rounding.h"

#include "test/support/harness.h"

#include <cmath>
#include <random>

using namespace drivers;

TEST_GROUP(Rounding){};

TEST(Rounding, NearestIsLlroundToTheBit) {
  for (const double x :
       {0.0, 0.5, -0.5, 0.49999999999999994, -0.49999999999999994, 1.5, 2.5, -2.5,
        4503599627370495.5, 4503599627370496.0, -9007199254740993.0, 9e18, -9e18}) {
    CHECK(nearest(x) == std::llround(x));
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 100'000; ++i) {
    const double x = std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())),
                                -static_cast<int>(random() % 64));
    CHECK(nearest(x) == std::llround(x));
  }
}

TEST(Rounding, WithinATurnIsFmodToTheBit) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 100'000; ++i) {
    const double deg = std::ldexp(static_cast<double>(random() >> 11), -53) * 1080;
    CHECK(within(deg, 360) == std::fmod(deg, 360));
  }
  CHECK(within(360, 360) == 0);
  CHECK(within(720, 360) == 0);
}
