// The parameters of a Pepperl+Fuchs lidar, as they are read and set over HTTP.
#pragma once

#include <string>
#include <vector>

#include "test/sim/pepperl_http.h"

namespace sim::pepperl_fuchs {

inline constexpr int kSuccess = 0, kUnknownArgument = 100, kUnknownParameter = 110,
                     kInvalidHandle = 120, kMissingArgument = 130, kInvalidValue = 200,
                     kOutOfRange = 210, kReadOnly = 220, kInUse = 240;

// What a command came to; kSuccess says "success".
struct Outcome {
  int code = kSuccess;
  std::string text = "success";
};
Outcome failed(int code, const std::string& what, const std::string& about);

inline constexpr char kModelNames[] = "R2000|R2300";

struct Model {
  const char *name, *product;
  int family;
  double rate_hz, least_hz, most_hz;  // scan_frequency: default and range
  int points, least_points, most_points;
  double points_per_s;  // most that frequency and samples may come to
  double start_deg, fov_deg;
  int layers;
  const char* inclinations;  // 1/10000 degree, one per layer
};
const Model& find_model(const std::string& name);
double inclination_deg(const Model& model, int layers, int layer);

// What turns and measures: set over HTTP, forgotten without power.
struct Measuring {
  double frequency_hz = 0.0;
  int samples = 0;
  bool clockwise = false;
};

// Whole numbers as the device takes them: digits with a sign, nothing else.
bool parse_number(const std::string& text, long& value);

// The names in the order of list_parameters.
std::vector<std::string> parameter_names(const Model& model);

// Adds the value of one; false when there is none of that name. `up_s`: seconds since power-on.
bool put_parameter(Json& json, const std::string& name, const Model& model, int layers,
                   const Measuring& measuring, std::uint32_t status, double up_s);

// `adjusts`: a value that cannot be had becomes the nearest one that can, and the device does not
// say so; without it such a value is refused.
Outcome set_parameter(const std::string& name, const std::string& value, const Model& model,
                      bool adjusts, Measuring& measuring);

}  // namespace sim::pepperl_fuchs
