// lidarctl simulate: plays a device that answers the real dialogue.
#include "app/lidarctl/commands.h"
#include "test/sim/arrival.h"
#include "test/sim/faults.h"
#include "test/sim/models.h"
#include "test/sim/runner.h"

namespace lidarctl {
namespace {

std::string list_of_models() {
  std::string text = "Devices:\n";
  for (const sim::ModelRow& row : sim::models()) {
    text += "  " + std::string(row.name) + ": " + row.help + "\n";
    for (const sim::OptionRow& option : row.options) {
      text +=
          "      " + std::string(option.key) + " (default " + option.fallback + "): " + option.help;
      if (option.choices) text += "; " + std::string(option.choices);
      text += "\n";
    }
  }
  return text;
}

std::string number(double value) {
  hal::Text<32> text;
  text.print("%g", value);
  return text.c_str();
}

std::string list_of_faults() {
  std::string text = "Faults, KIND[=VALUE][@START[+DURATION]][%PERCENT]; seconds from the start:\n";
  for (const sim::FaultRow& row : sim::fault_kinds()) {
    text += "  " + std::string(row.name) + ": " + std::string(row.effect);
    if (!row.value_means.empty())
      text += "; VALUE: " + std::string(row.value_means) + " (default " + number(row.value) + ")";
    if (row.percent < 100) text += "; " + number(row.percent) + " % of the frames";
    if (row.duration_s == 1) text += "; 1 s long";
    text += "\n";
  }
  return text;
}

std::string list_of_arrivals() {
  std::string text = "Arrivals, how the host gets the bytes:\n";
  for (const sim::ArrivalRow& row : sim::arrivals())
    text += "  " + std::string(row.name) + ": " + std::string(row.help) + "\n";
  return text;
}

}  // namespace

void add_simulate(CLI::App& root) {
  auto options = std::make_shared<sim::RunOptions>();
  auto settings = std::make_shared<std::vector<std::string>>();
  CLI::App* const command =
      root.add_subcommand("simulate", "Play a device on a pty, a UDP or a TCP port");
  command->add_option("DRIVER", options->driver, "the device, see below")->required();
  command->add_option("--pty", options->pty, "symbolic link to make, pointing to the pty")
      ->type_name("LINK");
  command->add_option("--udp", options->udp, "address that the device binds")
      ->type_name("HOST:PORT");
  command->add_option("--tcp", options->tcp, "address that the device listens on")
      ->type_name("HOST:PORT");
  command->add_option("--to", options->to, "where UDP data stream unasked")->type_name("HOST:PORT");
  command->add_option("--set", *settings, "option of the device; model=... chooses the model")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--rate", options->rate_hz, "turns or samples per second; 0: the model's own")
      ->check(finite());
  command->add_option("--seed", options->seed, "of all that is random")->capture_default_str();
  command
      ->add_option("--fault", options->faults,
                   "what goes wrong, see below; may be given many times")
      ->type_name("KIND[=VALUE][@START[+DURATION]][%PERCENT]")
      ->allow_extra_args(false);
  command
      ->add_option("--arrival", options->arrival,
                   "delays of adapters, schedulers and radio, see below; without it only the real "
                   "ones of this machine")
      ->type_name("KIND");
  command->add_option("--truth", options->truth, "file for what was really measured, and when");
  command->add_option("--for", options->for_s, "seconds; 0: until a signal")->check(finite());
  command->footer(list_of_models() + list_of_faults() + list_of_arrivals());
  command->callback([options, settings] {
    for (const std::string& setting : *settings) {
      const auto [key, value] = key_value(setting);
      options->set[key] = value;
    }
    if (sim::run(*options) != 0) throw Failure(kUsage, "");
  });
}

}  // namespace lidarctl
