#include "test/system/process.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include "test/support/harness.h"

namespace test {
namespace {

using Steady = std::chrono::steady_clock;

int create(const std::string& path) {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
}

}  // namespace

bool is_strict() {
  const char* const strict = std::getenv("LIDARD_STRICT");
  return strict != nullptr && std::string(strict) == "1";
}

void note(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::printf("  ");
  std::vprintf(format, arguments);
  std::printf("\n");
  std::fflush(stdout);
  va_end(arguments);
}

void figure(const char* what, double value, double limit, const char* unit) {
  note("%s: %.3f %s (limit %g)", what, value, unit, limit);
  if (is_strict()) CHECK_TEXT(value <= limit, what);
}

bool wait_for(const std::function<bool()>& condition, Seconds within) {
  const auto until = Steady::now() + within;
  while (!condition()) {
    if (Steady::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::size_t count_lines(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Process::Process(std::vector<std::string> command, const std::string& output,
                 std::optional<uid_t> uid)
    : output_(output) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int out = create(output + ".out"), err = create(output + ".err");
  const int in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const pid_t parent = ::getpid();
  std::fflush(stdout);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(in, 0);
    ::dup2(out, 1);
    ::dup2(err, 2);
    if (uid && (::setgroups(0, nullptr) != 0 || ::setgid(*uid) != 0 || ::setuid(*uid) != 0)) {
      ::_exit(126);
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // after setuid, which clears it
    if (::getppid() != parent) ::_exit(126);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  for (const int fd : {in, out, err}) ::close(fd);
}

Process::~Process() {
  if (pid_ <= 0 || status_) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Process::signal(int number) const {
  if (pid_ > 0 && !status_) ::kill(pid_, number);
}

std::optional<int> Process::wait(Seconds within) {
  const auto until = Steady::now() + within;
  while (!status_) {
    int status = 0;
    const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
    if (ended == pid_) {
      status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    } else if (Steady::now() >= until) {
      break;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  return status_;
}

long Process::memory_kib(const char* field) const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(std::string(field) + ":")) {
      return std::strtol(line.c_str() + std::string(field).size() + 1, nullptr, 10);
    }
  }
  return 0;
}

double Process::cpu_seconds() const {
  const std::string stat = read_file("/proc/" + std::to_string(pid_) + "/stat");
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;  // utime and stime are fields 14 and 15
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

Ran run(std::vector<std::string> command, const std::string& output, std::optional<uid_t> uid,
        Seconds within) {
  const auto began = Steady::now();
  Process process(std::move(command), output, uid);
  const std::optional<int> status = process.wait(within);
  return {status.value_or(-1), process.out(), process.err(), Steady::now() - began};
}

}  // namespace test
