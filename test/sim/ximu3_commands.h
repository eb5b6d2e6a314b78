// What an x-IMU3 is told as JSON: {"key":value}, one a line. Keys are compared without regard to
// case and to what is neither letter nor digit.
#pragma once

#include <map>
#include <string>

namespace sim::ximu3 {

enum class Obeys : std::uint8_t { yes, no, mute };

class Commands {
 public:
  struct Manners {
    Obeys obeys = Obeys::yes;
    bool applies_at_once = false;  // settings; else with {"apply":null}
    bool is_old = false;           // the convention of the axes has its older name
    std::string interface = "USB";
  };
  Commands(Manners manners, unsigned divisor, const std::string& attitude, const std::string& world,
           bool is_binary);

  void power_up();
  // The answer without its end; empty: none.
  std::string answer(const std::string& line);

  unsigned number(const std::string& key) const;  // of a setting that is in force
  bool is_on(const std::string& key) const;
  bool is_shut_down() const { return is_shut_down_; }

 private:
  using Values = std::map<std::string, std::string>;  // by the bare key, as JSON

  std::string run(const std::string& key, const std::string& bare, const std::string& value);
  static bool is_valid(const std::string& bare, const std::string& value);

  Manners manners_;
  Values factory_, saved_, written_, in_force_;
  bool is_shut_down_ = false;
};

}  // namespace sim::ximu3
