// Any text as a configuration: it is a stack, which can be planned, or faults that say where.
#include <cstdlib>

#include "config/load.h"
#include "config/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const config::Loaded loaded = config::load_text(text, "fuzz");
  if (const auto* const stack = std::get_if<config::Stack>(&loaded)) {
    if (config::report(*stack, config::plan(*stack)).empty()) std::abort();
    return 0;
  }
  const auto& faults = std::get<std::vector<config::Fault>>(loaded);
  if (faults.empty()) std::abort();
  for (const config::Fault& fault : faults) {
    if (fault.wrong.empty() || !config::to_string(fault).starts_with("fuzz:")) std::abort();
  }
  return 0;
}
