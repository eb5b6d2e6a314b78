#include "hal/open_error.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "hal/unique_fd.h"

namespace hal {
namespace {

struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};
using Dir = std::unique_ptr<DIR, CloseDir>;
struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// From the files themselves: getgrgid() may ask a server, and we must not wait.
Text<32> group_name(gid_t gid) {
  const File file(std::fopen("/etc/group", "re"));
  std::array<char, 4096> buffer;
  group entry{}, *found = nullptr;
  while (file && ::fgetgrent_r(file.get(), &entry, buffer.data(), buffer.size(), &found) == 0) {
    if (entry.gr_gid == gid) return Text<32>::of("%s", entry.gr_name);
  }
  return Text<32>::of("%u", static_cast<unsigned>(gid));
}

Text<32> user_name(uid_t uid) {
  const File file(std::fopen("/etc/passwd", "re"));
  std::array<char, 4096> buffer;
  passwd entry{}, *found = nullptr;
  while (file && ::fgetpwent_r(file.get(), &entry, buffer.data(), buffer.size(), &found) == 0) {
    if (entry.pw_uid == uid) return Text<32>::of("%s", entry.pw_name);
  }
  return Text<32>::of("%u", static_cast<unsigned>(uid));
}

Text<192> missing(const char* path) {
  std::array<char, 128> target{};
  if (::readlink(path, target.data(), target.size() - 1) > 0) {
    return Text<192>::of("%s: dangling link to %s: is the device plugged in?", path, target.data());
  }
  return Text<192>::of("%s: no such port: is the device plugged in?", path);
}

Text<192> forbidden(const char* path, const char* real, int sys) {
  struct stat s {};
  if (::stat(real, &s) != 0) return Text<192>::of("%s: %s", path, std::strerror(sys));
  const Text<32> owner = user_name(s.st_uid), group = group_name(s.st_gid);
  const auto mode = static_cast<unsigned>(s.st_mode & 07777u);
  if (sys == EPERM) {
    return Text<192>::of(
        "%s: owner %s, group %s, mode %04o, yet refused: allow it in the unit "
        "(DeviceAllow=)",
        path, owner.c_str(), group.c_str(), mode);
  }
  if ((mode & 0060u) == 0060u && s.st_gid != 0) {
    return Text<192>::of("%s: owner %s, group %s, mode %04o: add the user to group %s", path,
                         owner.c_str(), group.c_str(), mode, group.c_str());
  }
  return Text<192>::of(
      "%s: owner %s, group %s, mode %04o: add a udev rule: GROUP=\"dialout\", "
      "MODE=\"0660\"",
      path, owner.c_str(), group.c_str(), mode);
}

bool holds(const char* pid, const struct stat& device) {
  const Dir fds(::opendir(Text<64>::of("/proc/%.16s/fd", pid).c_str()));
  while (const dirent* entry = fds ? ::readdir(fds.get()) : nullptr) {
    struct stat s {};
    if (::fstatat(::dirfd(fds.get()), entry->d_name, &s, 0) == 0 && S_ISCHR(s.st_mode) &&
        s.st_rdev == device.st_rdev) {
      return true;
    }
  }
  return false;
}

}  // namespace

Error explain_open_error(const char* path, const char* real, int sys) {
  constexpr const char* kWhere = "serial: open";
  switch (sys) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
      return {Errc::not_found, sys, kWhere, missing(path)};
    case ENODEV:
    case ENXIO:
      return {Errc::not_found, sys, kWhere,
              Text<192>::of("%s: no device behind it: is it plugged in?", path)};
    case EACCES:
    case EPERM:
      return {Errc::permission, sys, kWhere, forbidden(path, real, sys)};
    case EBUSY:
      return {Errc::busy, sys, kWhere, Text<192>::of("%s: held by another program", path)};
    case ENOTTY:
    case EISDIR:
      return {Errc::bad_config, sys, kWhere,
              Text<192>::of("%s: not a serial port but a %s", path,
                            sys == EISDIR ? "directory" : "file or another kind of device")};
    default:
      return {Errc::io, sys, kWhere, Text<192>::of("%s: %s", path, std::strerror(sys))};
  }
}

Text<64> find_holder(const char* real) {
  struct stat device {};
  const Dir processes(::opendir("/proc"));
  if (::stat(real, &device) != 0 || !processes) return {};
  while (const dirent* entry = ::readdir(processes.get())) {
    const char* const pid = entry->d_name;
    if (pid[0] < '0' || pid[0] > '9' || !holds(pid, device)) continue;
    std::array<char, 32> comm{};
    const UniqueFd fd(::open(Text<64>::of("/proc/%.16s/comm", pid).c_str(), O_RDONLY | O_CLOEXEC));
    const ssize_t n = fd ? ::read(fd.get(), comm.data(), comm.size() - 1) : 0;
    if (n > 0 && comm[static_cast<std::size_t>(n - 1)] == '\n')
      comm[static_cast<std::size_t>(n - 1)] = 0;
    return Text<64>::of("%s (pid %.16s)", comm.data(), pid);
  }
  return {};
}

}  // namespace hal
