#include "test/sim/hokuyo_replies.h"

#include <utility>

#include "hal/text.h"
#include "test/sim/scip_text.h"

namespace sim::hokuyo_scip {

std::string version_lines(const Model& model, const std::string& defect) {
  std::string serial = info_line("SERI", model.serial);
  if (defect == "bad_check") serial[serial.size() - 2] ^= 1;
  if (defect == "empty_line") serial += '\n';
  return info_line("VEND", "Hokuyo Automatic Co.,Ltd.") + info_line("PROD", model.product) +
         info_line("FIRM", model.firmware) + info_line("PROT", "SCIP 2.0") + serial;
}

std::string parameter_lines(const Model& model, int rpm) {
  std::string text = info_line("MODL", std::string(model.name) + "(Hokuyo Automatic Co.,Ltd.)");
  const std::pair<const char*, int> kRows[] = {
      {"DMIN", model.min_mm}, {"DMAX", model.max_mm}, {"ARES", model.steps_per_turn},
      {"AMIN", model.first},  {"AMAX", model.last},   {"AFRT", model.front},
      {"SCAN", rpm}};
  for (const auto& [key, value] : kRows) text += info_line(key, std::to_string(value));
  return text;
}

std::string state_lines(const Model& model, const State& state) {
  const std::string rate = state.baud != 0 ? std::to_string(state.baud) + "[bps]" : "USB only";
  hal::Text<8> time;
  time.print("%06X", static_cast<unsigned>(state.time_ms));
  return info_line("MODL", model.product) + info_line("LASR", state.laser ? "ON" : "OFF") +
         info_line("SCSP", std::to_string(state.rpm) + "[rpm]") +
         info_line("MESM", state.measures ? "Measuring" : "IDLE") + info_line("SBPS", rate) +
         info_line("TIME", time.view()) +
         info_line("STAT", state.works ? "Sensor works well" : "Laser malfunction");
}

}  // namespace sim::hokuyo_scip
