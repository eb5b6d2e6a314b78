#include "hal/open_error.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

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
  const Text<32> owner = name_of("/etc/passwd", s.st_uid), group = name_of("/etc/group", s.st_gid);
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

// Where the descriptors lead, not what is there: to ask a file on a hung mount would block.
bool holds(const char* pid, std::string_view device) {
  const Dir fds(::opendir(Text<64>::of("/proc/%.16s/fd", pid).c_str()));
  while (const dirent* entry = fds ? ::readdir(fds.get()) : nullptr) {
    std::array<char, PATH_MAX> path;
    const ssize_t n = ::readlinkat(::dirfd(fds.get()), entry->d_name, path.data(), path.size());
    if (n > 0 && std::string_view(path.data(), static_cast<std::size_t>(n)) == device) return true;
  }
  return false;
}

// The inode of a socket in a table like /proc/net/udp that has this port, at an address that is the
// same or any; 0: none. Addresses stand there as the kernel holds them; of IPv6 only "any" matters.
unsigned long udp_inode(const char* table, const sockaddr_in& bind) {
  const File lines(std::fopen(table, "re"));
  std::array<char, 512> line;
  while (lines && std::fgets(line.data(), static_cast<int>(line.size()), lines.get())) {
    std::array<char, 33> address{};
    unsigned port = 0;
    unsigned long inode = 0;
    if (std::sscanf(line.data(), " %*d: %32[0-9A-F]:%x %*s %*s %*s %*s %*s %*s %*s %lu",
                    address.data(), &port, &inode) != 3) {
      continue;
    }
    const bool is_v4 = std::strlen(address.data()) == 8;
    const unsigned long v4 = is_v4 ? std::strtoul(address.data(), nullptr, 16) : 0;
    const bool is_any = std::strspn(address.data(), "0") == std::strlen(address.data());
    const bool meets =
        is_any || bind.sin_addr.s_addr == INADDR_ANY || (is_v4 && v4 == bind.sin_addr.s_addr);
    if (port == ntohs(bind.sin_port) && meets && inode != 0) return inode;
  }
  return 0;
}

}  // namespace

Text<64> find_udp_holder(const sockaddr_in& bind) {
  for (const char* const table : {"/proc/net/udp", "/proc/net/udp6"}) {
    const unsigned long inode = udp_inode(table, bind);
    if (inode != 0) return find_holder(Text<48>::of("socket:[%lu]", inode).c_str());
  }
  return {};
}

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

Text<32> name_of(const char* file, unsigned id) {
  const File entries(std::fopen(file, "re"));
  std::array<char, 256> line;
  bool begins = true;  // an entry may be longer than `line`
  while (entries && std::fgets(line.data(), static_cast<int>(line.size()), entries.get())) {
    const char* const colon = std::strchr(line.data(), ':');
    const char* const second = colon ? std::strchr(colon + 1, ':') : nullptr;
    if (begins && second && std::isdigit(static_cast<unsigned char>(second[1])) != 0 &&
        std::strtoul(second + 1, nullptr, 10) == id) {
      return Text<32>::of("%.*s", static_cast<int>(colon - line.data()), line.data());
    }
    begins = std::strchr(line.data(), '\n') != nullptr;
  }
  return Text<32>::of("%u", id);
}

Text<64> find_holder(const char* real) {
  const Dir processes(::opendir("/proc"));
  if (!processes) return {};
  while (const dirent* entry = ::readdir(processes.get())) {
    const char* const pid = entry->d_name;
    if (pid[0] < '0' || pid[0] > '9' || !holds(pid, real)) continue;
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
