#include "test/sim/pepperl_parameters.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "hal/text.h"

namespace sim::pepperl_fuchs {
namespace {

constexpr Model kModels[] = {
    {"R2000", "OMD30M-R2000-B23-V1V1D", 1, 35.0, 10.0, 50.0, 3600, 72, 25200, 252'000.0, -180.0,
     360.0, 1, "[0]"},
    {"R2300", "OMD10M-R2300-B23-V1V1D-4S", 5, 50.0, 12.0, 100.0, 1000, 100, 2000, 100'000.0, -50.0,
     100.0, 4, "[-45000,-15000,15000,45000]"},
};
constexpr double kLayersDeg[] = {-4.5, -1.5, 1.5, 4.5};

std::string decimal(double value) { return hal::Text<32>::of("%g", value).c_str(); }

}  // namespace

Outcome failed(int code, const std::string& what, const std::string& about) {
  return {code, what + " '" + about + "'"};
}

const Model& find_model(const std::string& name) {
  for (const Model& model : kModels)
    if (name == model.name) return model;
  return kModels[0];
}

// A single layer lies level.
double inclination_deg(const Model&, int layers, int layer) {
  return layers == 1 ? 0.0 : kLayersDeg[layer];
}

bool parse_number(const std::string& text, long& value) {
  char* end = nullptr;
  value = std::strtol(text.c_str(), &end, 10);
  return !text.empty() && *end == '\0' && text[0] != ' ';
}

std::vector<std::string> parameter_names(const Model& model) {
  std::vector<std::string> names = {"device_family",
                                    "vendor",
                                    "product",
                                    "serial",
                                    "revision_fw",
                                    "revision_hw",
                                    "max_connections",
                                    "radial_range_min",
                                    "radial_range_max",
                                    "radial_resolution",
                                    "angular_fov",
                                    "scan_frequency",
                                    "scan_frequency_measured",
                                    "scan_direction",
                                    "samples_per_scan",
                                    "operating_mode",
                                    "status_flags",
                                    "up_time"};
  if (model.layers > 1)
    for (const char* more : {"layer_count", "layer_enable", "layer_inclination",
                             "measure_start_angle", "sampling_rate_max"})
      names.emplace_back(more);
  return names;
}

bool put_parameter(Json& json, const std::string& name, const Model& model, int layers,
                   const Measuring& measuring, std::uint32_t status, double up_s) {
  const std::vector<std::string> known = parameter_names(model);
  if (std::find(known.begin(), known.end(), name) == known.end()) return false;
  if (name == "device_family") json.number(name, std::to_string(model.family));
  if (name == "vendor") json.text(name, "Pepperl+Fuchs");
  if (name == "product") json.text(name, model.product);
  if (name == "serial") json.text(name, "40000012345678");
  if (name == "revision_fw") json.text(name, "1.50");
  if (name == "revision_hw") json.text(name, "1.06");
  if (name == "max_connections") json.number(name, "3");
  if (name == "radial_range_min") json.number(name, "0.1");
  if (name == "radial_range_max") json.number(name, model.layers > 1 ? "10" : "30");
  if (name == "radial_resolution") json.number(name, "0.001");
  if (name == "angular_fov") json.number(name, decimal(model.fov_deg));
  if (name == "scan_frequency" || name == "scan_frequency_measured")
    json.number(name, decimal(measuring.frequency_hz));
  if (name == "scan_direction") json.text(name, measuring.clockwise ? "cw" : "ccw");
  if (name == "samples_per_scan") json.number(name, std::to_string(measuring.samples));
  if (name == "operating_mode") json.text(name, "measure");
  if (name == "status_flags") json.number(name, std::to_string(status));
  if (name == "up_time") json.number(name, std::to_string(static_cast<long>(up_s)));
  if (name == "layer_count") json.number(name, std::to_string(layers));
  if (name == "layer_enable") json.raw(name, layers == 1 ? "[true]" : "[true,true,true,true]");
  if (name == "layer_inclination") json.raw(name, layers == 1 ? "[0]" : model.inclinations);
  if (name == "measure_start_angle")
    json.number(name, std::to_string(std::lround(model.start_deg * 1e4)));
  if (name == "sampling_rate_max") json.number(name, decimal(model.points_per_s));
  return true;
}

Outcome set_parameter(const std::string& name, const std::string& value, const Model& model,
                      bool adjusts, Measuring& measuring) {
  const std::vector<std::string> known = parameter_names(model);
  if (std::find(known.begin(), known.end(), name) == known.end())
    return failed(kUnknownParameter, "unknown parameter", name);
  if (name == "scan_direction") {
    if (value != "cw" && value != "ccw") return failed(kInvalidValue, "invalid value", name);
    measuring.clockwise = value == "cw";
    return {};
  }
  const bool is_frequency = name == "scan_frequency";
  if (!is_frequency && name != "samples_per_scan")
    return failed(kReadOnly, "read-only parameter", name);
  char* end = nullptr;
  const double wanted = std::strtod(value.c_str(), &end);
  if (value.empty() || *end != '\0' || !std::isfinite(wanted))
    return failed(kInvalidValue, "invalid value", name);
  const double least = is_frequency ? model.least_hz : model.least_points;
  double most = is_frequency ? model.most_hz : model.most_points;
  const double other = is_frequency ? measuring.samples : measuring.frequency_hz;
  most = std::min(most, std::floor(model.points_per_s / other));
  if (!adjusts && (wanted < least || wanted > most))
    return failed(kOutOfRange, "value out of range", name);
  const double got = std::clamp(std::round(wanted), least, most);
  if (is_frequency)
    measuring.frequency_hz = got;
  else
    measuring.samples = static_cast<int>(got);
  return {};
}

}  // namespace sim::pepperl_fuchs
