#include "test/sim/hokuyo_requests.h"

#include <algorithm>

namespace sim::hokuyo_scip {

int parameter_width(const Model& model, const std::string& symbol) {
  for (const char* plain : {"VV", "PP", "II", "BM", "QT", "RS", "RT"})
    if (symbol == plain) return 0;
  const bool with_echoes = symbol == "HD" || symbol == "HE" || symbol == "ND" || symbol == "NE";
  if (with_echoes) return model.echoes ? (symbol[0] == 'N' ? 13 : 10) : -1;
  const bool with_intensity = symbol == "GE" || symbol == "ME";
  if (with_intensity && !model.intensity) return -1;
  if (symbol == "RB") return model.sleeps ? 0 : -1;
  if (symbol == "%S") return model.sleeps ? 1 : -1;
  if (symbol == "GD" || symbol == "GS" || symbol == "GE") return 10;
  if (symbol == "MD" || symbol == "MS" || symbol == "ME") return 13;
  if (symbol == "SS") return 6;
  return symbol == "CR" && model.motor_command ? 2 : -1;
}

std::string understand(const Model& model, const Request& request, Measuring& measuring) {
  const std::string& p = request.parameters;
  const auto start = decimal(p, 0, 4), end = decimal(p, 4, 4), cluster = decimal(p, 8, 2);
  if (!start) return "01";
  if (!end) return "02";
  if (!cluster) return "03";
  if (*end > model.highest) return "04";
  if (*end < *start) return "05";
  measuring.request = request;
  const char kind = request.symbol[1];
  const bool once = request.symbol[0] == 'G' || request.symbol[0] == 'H';
  measuring.wanted = {*start,
                      *end,
                      std::max(*cluster, 1),
                      kind == 'S' ? 2 : 3,
                      kind == 'E',
                      request.symbol[0] == 'H' || request.symbol[0] == 'N'};
  if (once) return {};
  const auto interval = decimal(p, 10, 1), count = decimal(p, 11, 2);
  if (!interval) return "06";
  if (!count) return "07";
  measuring.interval = *interval;
  measuring.count = *count;
  return {};
}

}  // namespace sim::hokuyo_scip
