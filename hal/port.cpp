#include "hal/port.h"

#include <cerrno>
#include <cstring>

namespace hal {

Error refused_write(Errc code, int sys) {
  const char* why = "the device does not read";
  if (code == Errc::closed) why = "the port is not open";
  if (code == Errc::io) why = std::strerror(sys);
  if (sys == ENETUNREACH || sys == EHOSTUNREACH) {
    why = "no way to the device: cable, and has this host an address in its network?";
  }
  return {code, sys, "port: write", Text<192>::of("write: %s", why)};
}

Error refused_baud(Errc code, int sys, int baud) {
  const char* const why = code == Errc::closed        ? "the port is not open"
                          : code == Errc::unsupported ? "it has no such rate"
                                                      : std::strerror(sys);
  return {code, sys, "port: set baud", Text<192>::of("%d baud: %s", baud, why)};
}

}  // namespace hal
