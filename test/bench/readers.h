// Who reads what a fleet of devices sends, and what that costs: the daemon with a client of its
// stream, and a loop that does nothing but read.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "hal/clock.h"
#include "hal/mcap/reader.h"
#include "test/bench/fleet.h"
#include "test/support/temp_dir.h"

namespace bench {

[[noreturn]] void give_up(const char* what);

// Runs `body` in a child that dies with this process.
class Child {
 public:
  explicit Child(const std::function<void()>& body);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  hal::Duration cpu() const;

 private:
  pid_t pid_;
};

// The reference: reads whenever something is there, or all of them each `period`, if there is one.
// Ends when a read fails.
void read_raw(const Fleet& fleet, hal::Duration period);

struct Cost {
  double us_per_frame, percent;
};

// Somebody who reads a fleet of his own, in a child.
class Reader {
 public:
  Reader(const FleetOf& of, const std::function<void(const Fleet&)>& body)
      : fleet_(of), child_([&] { body(fleet_); }) {}

  // Since the call before: CPU per frame that was sent, and of one core.
  Cost cost();

 private:
  const Fleet fleet_;
  const Child child_;
  hal::Duration cpu_{};
  hal::Time read_at_{};
  std::uint64_t frames_ = 0;
};

// lidard in a directory of its own. `keys`: of each sensor, beside driver and port.
class Lidard {
 public:
  Lidard(const char* program, const FleetOf& of, const std::string& keys)
      : reader_(of, [&](const Fleet& fleet) { run(program, of.driver, keys, fleet); }) {}

  Reader& reader() { return reader_; }
  std::string socket() const { return directory_.file("stream.sock"); }

 private:
  void run(const char* program, const char* driver, const std::string& keys,
           const Fleet& fleet) const;

  const test::TempDir directory_;
  Reader reader_;
};

// Reads the stream as any client would.
class Client final : private hal::mcap::RecordSink {
 public:
  explicit Client(const std::string& socket);
  int fd() const { return fd_.get(); }
  void read();
  std::uint64_t messages() const { return messages_; }

 private:
  void on_record(const hal::mcap::Record& record) override {
    messages_ += record.opcode == hal::mcap::Opcode::message;
  }
  hal::UniqueFd fd_;
  hal::mcap::Reader reader_{std::size_t{4} << 20};
  std::vector<std::byte> buffer_ = std::vector<std::byte>(65'536);
  std::uint64_t messages_ = 0;
};

}  // namespace bench
