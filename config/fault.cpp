#include "config/fault.h"

namespace config {

std::string to_string(const Fault& fault) {
  return fault.file + ":" + std::to_string(fault.at.line) + ":" + std::to_string(fault.at.column) +
         ": " + fault.key + ": " + fault.wrong + ", " + fault.remedy;
}

}  // namespace config
