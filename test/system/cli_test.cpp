// What the command lines answer before anything is opened.
#include <sstream>

#include "test/support/harness.h"
#include "test/support/places.h"
#include "test/system/bench.h"
#include "test/system/json.h"

using test::contains;
using test::Ran;

TEST_GROUP(SystemCommands) {
  test::Bench bench;

  Ran lidard(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), test::Bench::lidard_program());
    return test::run(std::move(arguments), bench.file("lidard"), {}, test::kEventWithin);
  }
};

TEST(SystemCommands, EveryHelpEndsWellAndShowsTheUsage) {
  const Ran all = bench.lidarctl({"--help"});
  LONGS_EQUAL(0, all.status);
  for (const char* const command :
       {"check", "completion", "decode", "drivers", "export", "info", "list", "monitor", "probe",
        "record", "replay", "send", "simulate", "stamps", "status"}) {
    CHECK_TEXT(contains(all.out, command), command);
    const Ran help = bench.lidarctl({command, "--help"});
    LONGS_EQUAL_TEXT(0, help.status, command);
    CHECK_TEXT(contains(help.out, std::string("Usage: lidarctl ") + command), help.out.c_str());
    STRCMP_EQUAL("", help.err.c_str());
  }
  const Ran daemon = lidard({"--help"});
  LONGS_EQUAL(0, daemon.status);
  CHECK(contains(daemon.out, "Usage: lidard"));
}

// What fish is given names every command and every option, one to a line.
TEST(SystemCommands, TheManualNamesEveryCommandAndEveryOption) {
  std::string manual = test::read_file(test::in_source("config/man/lidarctl.1"));
  for (std::size_t at = 0; (at = manual.find("\\-", at)) != std::string::npos;) manual.erase(at, 1);
  std::istringstream fish(bench.lidarctl({"completion", "fish"}).out);
  std::string command;
  int options = 0;
  for (std::string line; std::getline(fish, line);) {
    const auto word_after = [&line](const std::string& key) {
      const auto at = line.find(key);
      if (at == std::string::npos) return std::string();
      return line.substr(at + key.size(),
                         line.find_first_of(" '", at + key.size()) - at - key.size());
    };
    if (const std::string name = word_after("use_subcommand -f -a "); !name.empty()) {
      command = name;
      CHECK_TEXT(contains(manual, "lidarctl " + name), name.c_str());
    }
    const std::string option = word_after(" -l ");
    if (option.empty() || option == "help") continue;
    ++options;
    CHECK_TEXT(contains(manual, "--" + option), (command + " --" + option).c_str());
  }
  CHECK(options >= 40);
}

TEST(SystemCommands, ABashCompletesCommandsOptionsAndDrivers) {
  const std::string script = bench.file("completion");
  test::write_file(script, bench.lidarctl({"completion", "bash"}).out);
  const auto completed = [&](const std::string& words, int at) {
    const std::string line = "source " + script + "; COMP_WORDS=(" + words +
                             "); COMP_CWORD=" + std::to_string(at) +
                             "; _lidarctl; echo ${COMPREPLY[@]}";
    const Ran ran = test::run({"/bin/bash", "-c", line}, bench.file("bash"));
    STRCMP_EQUAL("", ran.err.c_str());
    return ran.out;
  };
  STRCMP_EQUAL("decode\n", completed("lidarctl dec", 1).c_str());
  STRCMP_EQUAL("rplidar\n", completed("lidarctl simulate rpl", 2).c_str());
  STRCMP_EQUAL("--html\n", completed("lidarctl stamps x --ht", 3).c_str());
  STRCMP_EQUAL((script + "\n").c_str(), completed("lidarctl decode rplidar " + script, 3).c_str());
  LONGS_EQUAL(64, bench.lidarctl({"completion", "tcsh"}).status);
}

TEST(SystemCommands, TheListOfPortsIsTextOrJson) {
  const Ran text = bench.lidarctl({"list", "--for", "0"}),
            json = bench.lidarctl({"list", "--for", "0", "--json"});
  LONGS_EQUAL(0, text.status);
  CHECK(contains(text.out, "lidarctl probe PORT"));
  CHECK(test::Json::parse(json.out).has("serial"));
}

TEST(SystemCommands, BothProgramsSayTheSameVersion) {
  const Ran tool = bench.lidarctl({"--version"}), daemon = lidard({"--version"});
  LONGS_EQUAL(0, tool.status);
  LONGS_EQUAL(0, daemon.status);
  CHECK(tool.out.starts_with("lidarctl "));
  CHECK(daemon.out.starts_with("lidard "));
  STRCMP_EQUAL(tool.out.substr(9).c_str(), daemon.out.substr(7).c_str());
}

TEST(SystemCommands, WrongUsageIs64AndNamesTheArgument) {
  const Ran unknown = lidard({"--conifg", "x"});
  LONGS_EQUAL(64, unknown.status);
  CHECK_TEXT(contains(unknown.err, "--conifg"), unknown.err.c_str());
  const Ran without = lidard({"--config"});
  LONGS_EQUAL(64, without.status);
  CHECK_TEXT(contains(without.err, "--config wants a FILE"), without.err.c_str());

  const Ran command = bench.lidarctl({"observe"});
  LONGS_EQUAL(64, command.status);
  CHECK_TEXT(contains(command.err, "unknown command 'observe'"), command.err.c_str());
  const Ran typed = bench.lidarctl({"moniter"});
  LONGS_EQUAL(64, typed.status);
  CHECK_TEXT(contains(typed.err, "did you mean 'monitor'"), typed.err.c_str());
  const Ran option = bench.lidarctl({"status", "--jsno"});
  LONGS_EQUAL(64, option.status);
  CHECK_TEXT(contains(option.err, "--jsno"), option.err.c_str());
  LONGS_EQUAL(64, bench.lidarctl({}).status);
  LONGS_EQUAL(64, bench.lidarctl({"simulate", "rplidar"}).status);
  LONGS_EQUAL(64, bench.lidarctl({"simulate", "rplidar", "--udp", "127.0.0.1:99999"}).status);
}

TEST(SystemCommands, TimesAndRatesAreNumbersFromZeroOn) {
  for (const char* const wrong : {"nan", "-1", "inf", "soon", ""}) {
    LONGS_EQUAL(64, bench.lidarctl({"record", "--for", wrong, bench.file("x.mcap")}).status);
    LONGS_EQUAL(64, bench.lidarctl({"monitor", "--lines", wrong}).status);
    LONGS_EQUAL(64, bench.lidarctl({"stamps", "--skip", wrong}).status);
    const std::string link = bench.file("line");
    LONGS_EQUAL(64, bench.lidarctl({"simulate", "ldrobot", "--pty", link, "--rate", wrong}).status);
  }
}

TEST(SystemCommands, ConfigurationErrorsAre78WithFileLineAndColumn) {
  const std::string config = bench.configure(
      "  front: {driver: rplidr, port: 'serial:/dev/none'}\n"
      "  rear: {driver: ldrobot, prot: 'serial:/dev/none'}\n");
  for (const Ran& ran : {lidard({"--config", config}), bench.lidarctl({"check", config})}) {
    LONGS_EQUAL(78, ran.status);
    CHECK_TEXT(contains(ran.err, config + ":3:19: "), ran.err.c_str());
    CHECK_TEXT(contains(ran.err, "rplidar"), ran.err.c_str());
    CHECK_TEXT(contains(ran.err, config + ":4:27: "), ran.err.c_str());
    CHECK_TEXT(contains(ran.err, "port"), ran.err.c_str());
    STRCMP_EQUAL("", ran.out.c_str());
  }
}

TEST(SystemCommands, AMissingConfigurationIsNamedWithTheRemedy) {
  const std::string missing = bench.file("none.yaml");
  const Ran ran = lidard({"--config", missing});
  LONGS_EQUAL(78, ran.status);
  CHECK_TEXT(contains(ran.err, missing), ran.err.c_str());
  CHECK_TEXT(contains(ran.err, "No such file"), ran.err.c_str());
  LONGS_EQUAL(78, bench.lidarctl({"check", missing}).status);
}

TEST(SystemCommands, EveryExampleIsValidAndTheListOfKeysIsAnExample) {
  for (const char* const example :
       {"demo", "every_key", "lidar_imu", "network_lidar", "one_lidar"}) {
    const Ran ran = bench.lidarctl(
        {"check", test::in_source("config/examples/" + std::string(example) + ".yaml")});
    LONGS_EQUAL_TEXT(0, ran.status, ran.err.c_str());
    CHECK_TEXT(contains(ran.out, "KiB") || contains(ran.out, "MiB"), ran.out.c_str());
  }
  const Ran keys = bench.lidarctl({"check", "--keys"});
  LONGS_EQUAL(0, keys.status);
  STRCMP_EQUAL(test::read_file(test::in_source("config/examples/every_key.yaml")).c_str(),
               keys.out.c_str());
}

TEST(SystemCommands, ClientsOfNoDaemonSayWhereTheyLooked) {
  const std::string socket = bench.file("none.sock");
  for (const char* const command : {"status", "monitor", "record"}) {
    std::vector<std::string> arguments{command, "--socket", socket};
    if (std::string(command) == "record") arguments.push_back(bench.file("out.mcap"));
    const Ran ran = bench.lidarctl(arguments);
    LONGS_EQUAL_TEXT(1, ran.status, command);
    CHECK_TEXT(contains(ran.err, socket), ran.err.c_str());
    CHECK_TEXT(contains(ran.err, "is lidard running"), ran.err.c_str());
  }
}
