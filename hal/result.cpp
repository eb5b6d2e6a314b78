#include "hal/result.h"

#include <cstring>

namespace hal {

Text<192> in_words(const Error& error) {
  if (!error.detail.empty()) return error.detail;
  if (error.sys == 0) return Text<192>::of("%s", error.where);
  return Text<192>::of("%s: %s", error.where, std::strerror(error.sys));
}

}  // namespace hal
