#include "collation/sampler.h"

#include <limits>
#include <string>

#include "test/support/harness.h"

using collation::FixedRatioSampler;

TEST_GROUP(FixedRatioSampler){
    static std::string pattern(double ratio, int pulses = 20){FixedRatioSampler sampler(ratio);
std::string text;
for (int i = 0; i < pulses; ++i) text += sampler.pulse() ? '1' : '0';
return text;
}
}
;

TEST(FixedRatioSampler, AlwaysTrue) { CHECK_EQUAL(std::string(100, '1'), pattern(1, 100)); }

TEST(FixedRatioSampler, AlwaysFalse) { CHECK_EQUAL(std::string(100, '0'), pattern(0, 100)); }

TEST(FixedRatioSampler, SometimesTrue) {
  FixedRatioSampler sampler(0.5);
  for (int i = 0; i < 100; ++i) CHECK_EQUAL(i % 2 == 0, sampler.pulse());
}

TEST(FixedRatioSampler, FirstPulseIsTrue) {
  CHECK_EQUAL('1' + std::string(100, '0'), pattern(1e-20, 101));
}

TEST(FixedRatioSampler, KeepsTheReferencesPattern) {
  STRCMP_EQUAL("10010010001001001000", pattern(0.3).c_str());
  STRCMP_EQUAL("10101010101010101010", pattern(0.5).c_str());
  STRCMP_EQUAL("11101110111011101110", pattern(0.75).c_str());
  STRCMP_EQUAL("11111111101111111110", pattern(0.9).c_str());
}

TEST(FixedRatioSampler, RefusesNonSensicalRatios) {
  CHECK_FALSE(FixedRatioSampler::is_valid(2.0));
  CHECK_FALSE(FixedRatioSampler::is_valid(-0.1));
  CHECK_FALSE(FixedRatioSampler::is_valid(std::numeric_limits<double>::quiet_NaN()));
  CHECK_TRUE(FixedRatioSampler::is_valid(0));
  CHECK_TRUE(FixedRatioSampler::is_valid(1));
}

TEST(FixedRatioSampler, CountsWhatItKept) {
  FixedRatioSampler sampler(0.3);
  for (int i = 0; i < 20; ++i) sampler.pulse();
  LONGS_EQUAL(20, sampler.pulses());
  LONGS_EQUAL(6, sampler.kept());
}

TEST(FixedRatioSampler, PrintsTheReferencesText) {
  FixedRatioSampler sampler(0.3);
  STRCMP_EQUAL("0 (0.000000%)", sampler.text().c_str());
  for (int i = 0; i < 20; ++i) sampler.pulse();
  STRCMP_EQUAL("6 (30.000000%)", sampler.text().c_str());
}

// The reference shares one sampler among all lidars: of two that alternate at 0.5, one starves.
TEST(FixedRatioSampler, EachSensorsSamplerKeepsItsRatio) {
  FixedRatioSampler first(0.5), second(0.5);
  for (int i = 0; i < 500; ++i) first.pulse(), second.pulse();
  LONGS_EQUAL(250, first.kept());
  LONGS_EQUAL(250, second.kept());
}
