// The commands of lidarctl: each file adds one to the command line. Exit status: 0 done, 1 failed,
// 64 wrong usage, 66 no such input, 78 wrong configuration.
#pragma once

#include <CLI/CLI.hpp>

#include <stdexcept>
#include <string>
#include <vector>

#include "drivers/registry.h"

namespace lidarctl {

inline constexpr int kFailed = 1, kUsage = 64, kNoInput = 66, kBadConfig = 78;

// Ends the program with a message on stderr.
struct Failure : std::runtime_error {
  Failure(int exit_status, const std::string& message)
      : std::runtime_error(message), status(exit_status) {}
  int status;
};

void add_check(CLI::App&);
void add_completion(CLI::App&);
void add_decode(CLI::App&);
void add_drivers(CLI::App&);
void add_export(CLI::App&);
void add_info(CLI::App&);
void add_list(CLI::App&);
void add_monitor(CLI::App&);
void add_probe(CLI::App&);
void add_record(CLI::App&);
void add_replay(CLI::App&);
void add_send(CLI::App&);
void add_simulate(CLI::App&);
void add_stamps(CLI::App&);
void add_status(CLI::App&);

// For options that are times or rates: a number from 0 on.
CLI::Validator finite();
// The registry's row, or a Failure that names the nearest.
const drivers::Row& driver_row(const std::string& name);
// Splits "key=value"; a Failure without "=".
std::pair<std::string, std::string> key_value(const std::string& text);

}  // namespace lidarctl
