#include "test/shim/tty_shim.h"

#include <asm/termbits.h>
#include <dlfcn.h>
#include <linux/serial.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdarg>
#include <cstring>
#include <string_view>

namespace {

constexpr std::string_view kPtyInSysfs = "/sys/class/tty/pts/";

template <class Fn>
Fn* real(const char* name) {
  Fn* fn = nullptr;
  void* const found = ::dlsym(RTLD_NEXT, name);
  std::memcpy(&fn, &found, sizeof fn);
  return fn;
}

bool answers(unsigned long request, void* argument) {
  TtyShim& shim = tty_shim();
  int lines = 0;
  serial_struct serial{};
  switch (request) {
    case TIOCMGET:
      std::memcpy(argument, &shim.modem_lines, sizeof lines);
      return true;
    case TIOCMSET:
    case TIOCMBIS:
    case TIOCMBIC:
      std::memcpy(&lines, argument, sizeof lines);
      shim.modem_lines = request == TIOCMSET   ? lines
                         : request == TIOCMBIS ? shim.modem_lines | lines
                                               : shim.modem_lines & ~lines;
      return true;
    case TIOCGSERIAL:
      std::memcpy(argument, &serial, sizeof serial);
      return true;
    case TIOCSSERIAL:
      std::memcpy(&serial, argument, sizeof serial);
      shim.serial_flags = serial.flags;
      return true;
    default:
      return false;
  }
}

}  // namespace

TtyShim& tty_shim() {
  static TtyShim shim;
  return shim;
}

unsigned baud_of(int fd) {
  termios2 t{};
  return ::ioctl(fd, TCGETS2, &t) == 0 ? t.c_ospeed : 0;
}

extern "C" {

int ioctl(int fd, unsigned long request, ...) noexcept {
  va_list args;
  va_start(args, request);
  void* const argument = va_arg(args, void*);
  va_end(args);
  if (tty_shim().on && answers(request, argument)) return 0;
  static auto* const next = real<int(int, unsigned long, void*)>("ioctl");
  return next(fd, request, argument);
}

int lstat(const char* path, struct stat* st) noexcept {
  if (tty_shim().on && std::string_view(path).starts_with(kPtyInSysfs)) {
    *st = {};
    st->st_mode = S_IFLNK;
    return 0;
  }
  static auto* const next = real<int(const char*, struct stat*)>("lstat");
  return next(path, st);
}

// What programs built against an old C library call for lstat.
int __lxstat(int version, const char* path, struct stat* st) noexcept;
int __lxstat(int, const char* path, struct stat* st) noexcept { return ::lstat(path, st); }

ssize_t readlink(const char* path, char* target, size_t size) noexcept {
  constexpr std::string_view kVirtual = "../../devices/virtual/tty/shim";
  if (tty_shim().on && std::string_view(path).starts_with(kPtyInSysfs)) {
    return static_cast<ssize_t>(kVirtual.copy(target, size));
  }
  static auto* const next = real<ssize_t(const char*, char*, size_t)>("readlink");
  return next(path, target, size);
}

}  // extern "C"
