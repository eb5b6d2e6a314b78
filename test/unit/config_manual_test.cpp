#include "config/manual.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "config/cartographer.h"
#include "config/keys.h"
#include "config/load.h"
#include "config/values.h"
#include "config/wording.h"
#include "test/support/harness.h"
#include "test/support/places.h"

namespace {

// Set it, run the tests and look at the difference, after a table of keys or options has changed.
constexpr const char* kRegenerate = "LIDARD_REGENERATE";

std::string path(const char* name) { return test::in_source(std::string("config/") + name); }

std::string content(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void check_committed(const char* name, const std::string& generated) {
  if (std::getenv(kRegenerate)) std::ofstream(path(name), std::ios::binary) << generated;
  if (content(path(name)) == generated) return;
  FAIL((std::string(name) + " is not what the tables give: run once with " + kRegenerate + "=1")
           .c_str());
}

void check_loads(const char* name) {
  const config::Loaded loaded = config::load(path(name));
  std::string text;
  if (const auto* faults = std::get_if<std::vector<config::Fault>>(&loaded)) {
    for (const config::Fault& fault : *faults) text += config::to_string(fault) + "\n";
  }
  STRCMP_EQUAL("", text.c_str());
}

}  // namespace

TEST_GROUP(ConfigManual){};

TEST(ConfigManual, TheCommittedExampleOfEveryKeyIsTheGeneratedOne) {
  check_committed("examples/every_key.yaml", config::every_key_yaml());
}

TEST(ConfigManual, TheCommittedManualIsTheGeneratedOne) {
  check_committed("man/lidard.yaml.5", config::keys_troff());
}

TEST(ConfigManual, TheExampleOfEveryKeyLoads) {
  const config::Loaded loaded = config::load_text(config::every_key_yaml(), "every_key.yaml");
  if (const auto* faults = std::get_if<std::vector<config::Fault>>(&loaded)) {
    FAIL(config::to_string(faults->front()).c_str());
  }
}

TEST(ConfigManual, TheExampleAndTheManualNameEveryKeyAndEveryOption) {
  const std::string yaml = config::every_key_yaml(), manual = config::keys_troff();
  for (const config::Key& key : config::keys()) {
    STRCMP_CONTAINS((std::string(key.leaf()) + ":").c_str(), yaml.c_str());
    CHECK_TEXT(key.help.ends_with('.'), std::string(key.path).c_str());
  }
  for (const drivers::Row& row : drivers::all()) {
    for (const drivers::OptionSpec& spec : row.options) {
      STRCMP_CONTAINS(("      " + std::string(spec.key) + ":").c_str(), yaml.c_str());
      STRCMP_CONTAINS((".B " + std::string(spec.key)).c_str(), manual.c_str());
    }
  }
}

TEST(ConfigManual, WhoComesFromCartographerFindsEachOptionWithAKeyThatIsThere) {
  const std::string manual = config::keys_troff();
  CHECK(config::cartographer_options().size() >= 20);
  for (const config::CartographerOption& option : config::cartographer_options()) {
    const std::string name(option.name);
    STRCMP_CONTAINS((".B " + name + "\n").c_str(), manual.c_str());
    CHECK_TEXT(option.key.empty() || config::find_key(option.key) != nullptr, name.c_str());
    CHECK_TEXT(option.words.ends_with('.'), name.c_str());
  }
}

TEST(ConfigManual, TheLinesOfTheExampleAreAtMost100Long) {
  std::size_t begin = 0;
  const std::string yaml = config::every_key_yaml();
  for (std::size_t end; (end = yaml.find('\n', begin)) != yaml.npos; begin = end + 1) {
    CHECK_TEXT(end - begin <= 100, yaml.substr(begin, end - begin).c_str());
  }
}

TEST(ConfigManual, EveryDefaultIsAValueThatItsKeyTakes) {
  for (const config::Key& key : config::keys()) {
    const std::string value = config::fallback(key);
    if (!key.fallback.empty() || value.empty() || value[0] == '[') continue;
    config::Stack stack;
    config::Sensor sensor;
    config::Node node;
    node.kind = config::Node::Kind::scalar;
    node.text = value;
    CHECK_TEXT(!config::assign(key, node, stack, sensor), std::string(key.path).c_str());
  }
}

TEST(ConfigManual, AllExamplesLoad) {
  std::size_t examples = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(test::in_source("config/examples"))) {
    if (entry.path().extension() != ".yaml") continue;
    check_loads(("examples/" + entry.path().filename().string()).c_str());
    ++examples;
  }
  CHECK_TRUE(examples >= 6);
}
