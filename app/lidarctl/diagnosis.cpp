#include "app/lidarctl/diagnosis.h"

#include <cstdlib>

namespace lidarctl {

std::uint64_t Diagnosis::count(const std::string& key) const {
  const auto found = values.find(key);
  return found == values.end() ? 0 : std::strtoull(found->second.c_str(), nullptr, 10);
}

std::map<std::string, Diagnosis> diagnoses(hal::Bytes diagnostic_array) {
  std::map<std::string, Diagnosis> result;
  app::DiagnosticReader reader(diagnostic_array);
  while (const auto status = reader.next_status()) {
    Diagnosis& diagnosis = result[std::string(status->name)];
    diagnosis.level = status->level;
    diagnosis.message = status->message;
    diagnosis.hardware_id = status->hardware_id;
    while (const auto pair = reader.next_value()) {
      diagnosis.values[std::string(pair->key)] = pair->value;
    }
  }
  return result;
}

}  // namespace lidarctl
