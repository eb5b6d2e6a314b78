// The command side of the simulated VectorNav sensors: registers, and the answer to each command.
#pragma once

#include <array>
#include <map>
#include <string>

#include "test/sim/vn_data.h"
#include "test/sim/vn_text.h"

namespace sim::vectornav {

struct Output {
  unsigned ports = 0;  // mask; 0: off
  unsigned divisor = 0;
  Content content{};
};

// What is kept by a save.
struct Memory {
  unsigned baud = 115200;
  unsigned async_type = 14, async_hz = 40;
  std::array<Output, 3> outputs{};  // registers 75 to 77
  // Registers that are only remembered, as text.
  std::map<unsigned, std::string> texts{};
};

class Dialogue {
 public:
  // `base_hz`: what the divisors of binary outputs divide.
  Dialogue(unsigned base_hz, bool has_satellites, const Memory& factory);

  void power_up();

  // What comes of a command. `restarts` and `saves`: it takes a while.
  struct Answer {
    std::string line;
    bool restarts = false, saves = false;
  };
  Answer answer(const Command& command, const Sample& now);

  const Memory& now() const { return now_; }
  bool is_paused() const { return is_paused_; }
  // How an asynchronous message ends: counts and status, as register 30 has it, and its check.
  std::string message_line(std::string body) const;

 private:
  enum Error : unsigned {
    kNone = 0,
    kDamaged = 3,
    kUnknown = 4,
    kTooFew = 5,
    kTooMany = 6,
    kInvalid = 7,
    kNoRegister = 8,
    kTooSlow = 0x0C,
  };
  using Fields = std::vector<std::string>;

  Error handle(const Command& command, const Sample& now, Answer& answer, std::string& body);
  Error read(const Fields& fields, const Sample& now, std::string& body) const;
  Error write(const Fields& fields);
  Error write_output(Output& output, const Fields& fields) const;
  std::string value_of(unsigned number, const Sample& now) const;
  bool fits(const Memory& memory) const;
  std::string setting(std::size_t field) const;  // of register 30

  const unsigned base_hz_;
  const bool has_satellites_;
  const Memory factory_;
  Memory saved_, now_{};
  bool is_paused_ = false;
};

}  // namespace sim::vectornav
