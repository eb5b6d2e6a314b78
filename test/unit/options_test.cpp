#include "drivers/options.h"

#include <array>

#include "drivers/registry.h"
#include "test/support/harness.h"

using namespace drivers;

namespace {

constexpr std::array kSpecs{
    OptionSpec{.key = "mode",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "typical",
               .choices = "typical|Standard|Boost",
               .help = ""},
    OptionSpec{.key = "rate_hz",
               .type = OptionType::number,
               .unit = "Hz",
               .fallback = "100",
               .min = 0.5,
               .max = 1000,
               .help = ""},
    OptionSpec{.key = "answer",
               .type = OptionType::integer,
               .unit = "",
               .fallback = "0x82",
               .min = 0,
               .max = 255,
               .help = ""},
    OptionSpec{
        .key = "flip", .type = OptionType::flag, .unit = "", .fallback = "false", .help = ""},
    OptionSpec{
        .key = "label", .type = OptionType::text, .unit = "", .fallback = "none", .help = ""},
};

}  // namespace

TEST_GROUP(Options) {
  Options options{kSpecs};

  void accepts(const char* key, const char* value) {
    const hal::Status status = options.set(key, value);
    STRCMP_EQUAL("", status ? "" : status.error().detail.c_str());
    STRCMP_EQUAL(value, std::string(options.text(key)).c_str());
  }
  void refuses(const char* key, const char* value, const char* text) {
    const hal::Status status = options.set(key, value);
    CHECK_FALSE(static_cast<bool>(status));
    CHECK_TRUE(status.error().code == hal::Errc::bad_config);
    STRCMP_EQUAL(text, status.error().detail.c_str());
  }
};

TEST(Options, BeginAtTheirDefaults) {
  STRCMP_EQUAL("typical", std::string(options.text("mode")).c_str());
  DOUBLES_EQUAL(100, options.number("rate_hz"), 0);
  LONGS_EQUAL(0x82, options.integer("answer"));
  CHECK_FALSE(options.flag("flip"));
}

TEST(Options, KeepWhatIsSet) {
  accepts("mode", "Boost");
  accepts("rate_hz", "12.5");
  accepts("rate_hz", "1e2");
  accepts("answer", "0xFF");
  accepts("answer", "7");
  accepts("flip", "true");
  accepts("label", "anything at all");
  CHECK_TRUE(options.flag("flip"));
  LONGS_EQUAL(7, options.integer("answer"));
}

TEST(Options, TheEndsOfARangeBelongToIt) {
  accepts("rate_hz", "0.5");
  accepts("rate_hz", "1000");
  accepts("answer", "0");
  accepts("answer", "255");
}

TEST(Options, UnknownKeysAreRefusedWithTheNearestOne) {
  refuses("rate_h", "1", "unknown option 'rate_h'; did you mean 'rate_hz'?");
  refuses("qqqqqqqq", "1", "unknown option 'qqqqqqqq'");
}

TEST(Options, WrongValuesAreRefusedWithWhatWouldBeRight) {
  refuses("flip", "yes", "option 'flip' must be true or false, not 'yes'");
  refuses("mode", "boost", "option 'mode' cannot be 'boost'; one of typical|Standard|Boost");
  refuses("mode", "", "option 'mode' cannot be ''; one of typical|Standard|Boost");
  refuses("mode", "typical|Standard",
          "option 'mode' cannot be 'typical|Standard'; one of typical|Standard|Boost");
  refuses("rate_hz", "fast", "option 'rate_hz' cannot be 'fast'; a number from 0.5 to 1000");
  refuses("rate_hz", "0.4", "option 'rate_hz' cannot be '0.4'; a number from 0.5 to 1000");
  refuses("rate_hz", "1001", "option 'rate_hz' cannot be '1001'; a number from 0.5 to 1000");
  refuses("rate_hz", "nan", "option 'rate_hz' cannot be 'nan'; a number from 0.5 to 1000");
  refuses("rate_hz", "inf", "option 'rate_hz' cannot be 'inf'; a number from 0.5 to 1000");
  refuses("rate_hz", "", "option 'rate_hz' cannot be ''; a number from 0.5 to 1000");
  refuses("rate_hz", "10 Hz", "option 'rate_hz' cannot be '10 Hz'; a number from 0.5 to 1000");
  refuses("answer", "1.5", "option 'answer' cannot be '1.5'; a number from 0 to 255");
  refuses("answer", "0x", "option 'answer' cannot be '0x'; a number from 0 to 255");
  refuses("answer", "0x1G", "option 'answer' cannot be '0x1G'; a number from 0 to 255");
  refuses("answer", "0x-1", "option 'answer' cannot be '0x-1'; a number from 0 to 255");
  refuses("answer", "256", "option 'answer' cannot be '256'; a number from 0 to 255");
  refuses("answer", "-1", "option 'answer' cannot be '-1'; a number from 0 to 255");
}

TEST(Options, ARefusalChangesNothing) {
  accepts("rate_hz", "50");
  CHECK_FALSE(static_cast<bool>(options.set("rate_hz", "0")));
  DOUBLES_EQUAL(50, options.number("rate_hz"), 0);
}

TEST(Options, NearestKnowsWhenNothingIsNear) {
  constexpr std::array<std::string_view, 3> kWords{"rplidar", "ldrobot", "hokuyo"};
  CHECK_TRUE(nearest("rplider", kWords) == "rplidar");
  CHECK_TRUE(nearest("hokyo", kWords) == "hokuyo");
  CHECK_TRUE(nearest("velodyne", kWords).empty());
  CHECK_TRUE(nearest("x", {}).empty());
}

TEST(Options, EveryDeviceOfTheRegistryHasDefaultsThatItWouldAccept) {
  for (const Row& row : all()) {
    Options defaults(row.options);
    for (const OptionSpec& spec : row.options) {
      CHECK_TRUE(static_cast<bool>(defaults.set(spec.key, spec.fallback)));
      CHECK_FALSE(spec.help.empty());
    }
    const Figures figures = row.figures(defaults, row.default_baud);
    CHECK_TRUE(figures.packets_hz > 0);
    CHECK_TRUE(find(row.name) == &row);
  }
  CHECK_TRUE(find("nothing") == nullptr);
}
