#include "hal/unix_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace hal {
namespace {

constexpr int kBacklog = 16;

struct Address {
  sockaddr_un raw{};
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&raw); }
};

Result<Address> address_of(std::string_view path) {
  Address a;
  a.raw.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof a.raw.sun_path) {
    return Error{Errc::bad_config, ENAMETOOLONG, "socket: path",
                 Text<192>::of("%.*s has %zu characters, possible are 1 to %zu",
                               static_cast<int>(path.size()), path.data(), path.size(),
                               sizeof a.raw.sun_path - 1)};
  }
  path.copy(a.raw.sun_path, path.size());
  return a;
}

Errc code_of(int sys) {
  switch (sys) {
    case ENOENT:
    case ENOTDIR:
      return Errc::not_found;
    case EACCES:
    case EPERM:
    case EROFS:
      return Errc::permission;
    case EADDRINUSE:
      return Errc::busy;
    case ECONNREFUSED:
      return Errc::closed;
    default:
      return Errc::io;
  }
}

Error error_of(int sys, const char* where, const Address& a) {
  const char* const path = a.raw.sun_path;
  const char* const slash = std::strrchr(path, '/');
  const int directory = slash == nullptr ? 0 : static_cast<int>(slash - path);
  Error e{code_of(sys), sys, where, Text<192>::of("%s: %s", path, std::strerror(sys))};
  if (e.code == Errc::not_found) {
    e.detail.print("%s: there is no directory %.*s", path, directory, path);
  } else if (e.code == Errc::permission) {
    e.detail.print("%s: %s; the directory %.*s must be writable for uid %u", path,
                   std::strerror(sys), directory, path, static_cast<unsigned>(::geteuid()));
  }
  return e;
}

Error held_by(const Address& a, int connected) {
  ucred peer{};
  socklen_t size = sizeof peer;
  ::getsockopt(connected, SOL_SOCKET, SO_PEERCRED, &peer, &size);
  std::array<char, 64> name{};
  const auto comm = Text<32>::of("/proc/%d/comm", static_cast<int>(peer.pid));
  if (std::FILE* const f = std::fopen(comm.c_str(), "re")) {
    name[std::fread(name.data(), 1, name.size() - 1, f)] = '\0';
    name[std::strcspn(name.data(), "\n")] = '\0';
    std::fclose(f);
  }
  return {Errc::busy, EADDRINUSE, "socket: bind",
          Text<192>::of("%s: pid %d (%s) listens on it already", a.raw.sun_path,
                        static_cast<int>(peer.pid), name[0] != '\0' ? name.data() : "?")};
}

// Ok when the path is free now: what was there was a socket that nobody listens on.
Status remove_stale(const Address& a) {
  struct stat st {};
  if (::lstat(a.raw.sun_path, &st) != 0) return ok;
  if (!S_ISSOCK(st.st_mode)) {
    return Error{Errc::busy, EEXIST, "socket: bind",
                 Text<192>::of("%s exists and is not a socket", a.raw.sun_path)};
  }
  const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe) return error_of(errno, "socket: open", a);
  if (::connect(probe.get(), a.get(), sizeof a.raw) == 0) return held_by(a, probe.get());
  if (errno != ECONNREFUSED) return error_of(errno, "socket: bind", a);
  if (::unlink(a.raw.sun_path) != 0) return error_of(errno, "socket: remove the old one", a);
  return ok;
}

}  // namespace

UnixListener::UnixListener(UniqueFd fd, std::string_view path, ino_t inode)
    : fd_(std::move(fd)),
      spare_(::open("/dev/null", O_RDONLY | O_CLOEXEC)),
      path_(path),
      inode_(inode) {}

UnixListener::~UnixListener() {
  struct stat st {};
  if (fd_ && ::lstat(path_.c_str(), &st) == 0 && st.st_ino == inode_) ::unlink(path_.c_str());
}

Result<UnixListener> UnixListener::listen(std::string_view path) {
  const Result<Address> found = address_of(path);
  if (!found) return found.error();
  const Address& a = *found;
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return error_of(errno, "socket: open", a);
  if (const Status s = remove_stale(a); !s) return s.error();
  if (::bind(fd.get(), a.get(), sizeof a.raw) != 0) return error_of(errno, "socket: bind", a);
  // Nobody can connect before listen(), so nobody sees the mode that the umask gave.
  struct stat st {};
  if (::chmod(a.raw.sun_path, 0660) != 0 || ::lstat(a.raw.sun_path, &st) != 0 ||
      ::listen(fd.get(), kBacklog) != 0) {
    return error_of(errno, "socket: listen", a);
  }
  return UnixListener(std::move(fd), path, st.st_ino);
}

Result<UniqueFd> UnixListener::accept() {
  UniqueFd client(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (client) return client;
  const int sys = errno;
  if (sys != EMFILE && sys != ENFILE) return UniqueFd();
  spare_.reset();
  UniqueFd(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC)).reset();
  spare_.reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  return Error{Errc::no_space, sys, "socket: accept", Text<192>::of("%s", path_.c_str())};
}

Result<UniqueFd> connect_unix(std::string_view path) {
  const Result<Address> found = address_of(path);
  if (!found) return found.error();
  const Address& a = *found;
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return error_of(errno, "socket: open", a);
  if (::connect(fd.get(), a.get(), sizeof a.raw) == 0) return fd;
  const int sys = errno;
  Error e{code_of(sys), sys, "socket: connect",
          Text<192>::of("%s: %s", a.raw.sun_path, std::strerror(sys))};
  if (e.code == Errc::not_found || e.code == Errc::closed) {
    e.detail.print("%s: %s; is lidard running?", a.raw.sun_path, std::strerror(sys));
  }
  return e;
}

}  // namespace hal
