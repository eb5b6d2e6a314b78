// A program started by a test, as a user would start it. It never outlives the test.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace test {

using Seconds = std::chrono::duration<double>;
inline constexpr Seconds kEventWithin{10};  // how late anything may be on a loaded machine

// Wall-clock and CPU figures are asserted; elsewhere they are printed only.
bool is_strict();
void note(const char* format, ...) __attribute__((format(printf, 1, 2)));
// Prints a figure with its limit; a strict run fails when it is above.
void figure(const char* what, double value, double limit, const char* unit);
// Looks again every 10 ms. False when `within` has passed.
bool wait_for(const std::function<bool()>& condition, Seconds within = kEventWithin);
std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& text);
std::size_t count_lines(const std::string& text);
bool contains(const std::string& text, const std::string& part);

class Process {
 public:
  // Standard output and error go to `output`.out and `output`.err. `uid`: run as this user.
  Process(std::vector<std::string> command, const std::string& output,
          std::optional<uid_t> uid = {});
  ~Process();  // kills
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  // Exit status, 128 + signal when killed by one; empty when it still runs after `within`.
  std::optional<int> wait(Seconds within = kEventWithin);
  bool is_running() { return !wait(Seconds(0)); }
  std::string out() const { return read_file(output_ + ".out"); }
  std::string err() const { return read_file(output_ + ".err"); }
  // "VmRSS", "RssAnon" of /proc/PID/status, KiB; 0 when it is not there.
  long memory_kib(const char* field) const;
  double cpu_seconds() const;

 private:
  std::string output_;
  pid_t pid_ = -1;
  std::optional<int> status_;
};

// Runs a command to its end.
struct Ran {
  int status;  // as of Process::wait(); -1: had to be killed
  std::string out, err;
  Seconds took;
};
Ran run(std::vector<std::string> command, const std::string& output, std::optional<uid_t> uid = {},
        Seconds within = Seconds(30));

}  // namespace test
